"""How likely a prompt's own tokens are: what a mean over prompt and answer needs beside the answer.

Q-Bench's demonstration of its closed set takes every input token as a label, so that its mean loss
covers the prompt as well, with a weight that hangs on the answer's length. Places that stand for
a picture are no words, and are left out there and here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec
from vgen_eval.errors import CallError

from vgen_eval_plugins.models.mllm.chats import Inputs, place
from vgen_eval_plugins.models.mllm.writing import NOT_FINITE

__all__ = ["PromptScore", "mean_with_prompt", "score_prompt"]

AT_ONCE = 256
"""Places whose softmax over the vocabulary is in memory at one time."""
_PICTURES = ("image_token_id", "image_token_index", "video_token_id")


class PromptScore(msgspec.Struct, frozen=True):
    """A prompt's tokens, the first apart, which nothing comes before."""

    total: float
    """Sum of their natural log-probabilities."""
    tokens: int


def score_prompt(model: Any, prompt: Inputs) -> PromptScore:
    """Of one prompt, the places of pictures left out; the softmax is taken in float32."""
    import torch

    ids = prompt["input_ids"][0].tolist()
    skipped = {getattr(model.config, name, None) for name in _PICTURES}
    wanted = [at for at in range(1, len(ids)) if ids[at] not in skipped]
    total = 0.0
    with torch.inference_mode():
        logits = model(**place(prompt, model), use_cache=False).logits[0]  # (places, vocabulary)
        for start in range(0, len(wanted), AT_ONCE):
            part = wanted[start : start + AT_ONCE]
            before = torch.tensor([at - 1 for at in part], device=logits.device)
            logprobs = torch.log_softmax(logits[before].float(), dim=-1)
            said = torch.tensor([[ids[at]] for at in part], device=logits.device)
            total += float(logprobs.gather(1, said).double().sum())
    if math.isnan(total):
        raise CallError(NOT_FINITE)
    return PromptScore(total, len(wanted))


def mean_with_prompt(
    sums: Mapping[str, tuple[float, int]], prompt: PromptScore
) -> dict[str, float]:
    """Choice -> mean log-probability over prompt and choice, of its (sum, tokens)."""
    return {
        word: (prompt.total + total) / (prompt.tokens + tokens)
        for word, (total, tokens) in sums.items()
    }
