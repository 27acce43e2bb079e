"""Requests, loaded adapters, and models whose every word is known beforehand."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from vgen_eval.cards.records import ModelCard
from vgen_eval.imaging import Image
from vgen_eval.types import Output, Request
from vgen_eval_plugins.models.mllm.adapter import TransformersMLLM

__all__ = ["ask", "load", "make_request", "noise", "script"]


def noise(seed: int, height: int = 48, width: int = 64) -> Image:
    """A picture of noise."""
    generator = np.random.default_rng(seed)
    return Image(generator.integers(0, 256, (height, width, 3), np.uint8))


def make_request(
    name: str = "a", *, form: Any = "text", prompt: str = "How many?",
    images: Sequence[Image] | None = None, choices: tuple[str, ...] = (), seed: int = 0,
    **settings: Any,
) -> Request:  # fmt: skip
    """A request, one picture of noise where none is given."""
    return Request(
        id=f"{name}#0", sample=name, attempt=0, family="counting", form=form, prompt=prompt,
        images=(noise(1),) if images is None else tuple(images), choices=choices,
        settings=settings, seed=seed,
    )  # fmt: skip


def load(
    folder: Path, *, device: str | None = "cpu", generation: dict[str, Any] | None = None,
    **options: Any,
) -> TransformersMLLM:  # fmt: skip
    """The adapter on the model in the folder, loaded."""
    card = ModelCard(
        model="tiny", adapter="transformers_mllm", answers=("text", "choice"), licence="CC0-1.0",
        generation=generation or {},
    )  # fmt: skip
    chosen = TransformersMLLM.Options(model=str(folder), **options)
    adapter = TransformersMLLM(chosen, card=card, device=device)
    adapter.load()
    return adapter


def ask(adapter: TransformersMLLM, *requests: Request) -> list[Output]:
    """Outputs of one call, in the requests' order."""
    found = {output.id: output for output in adapter.generate(list(requests))}
    return [found[request.id] for request in requests]


def script(source: Path, folder: Path, words: Sequence[str]) -> Path:
    """A copy of the ChatML model that says those tokens, one after the other, whatever it is asked.

    Its layers add nothing, so that each token alone decides the next; all but the first are
    different. The first follows the newline that ends every prompt.
    """
    import torch
    from transformers import AutoModelForImageTextToText, AutoProcessor

    processor = AutoProcessor.from_pretrained(source)
    model = AutoModelForImageTextToText.from_pretrained(source)
    chain = processor.tokenizer.convert_tokens_to_ids(["Ċ", *words])
    assert None not in chain
    assert len(set(chain)) == len(chain)
    with torch.no_grad():
        for layer in model.model.language_model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        seen = model.get_input_embeddings().weight
        model.lm_head.weight.zero_()
        for token, following in itertools.pairwise(chain):
            direction = seen[token] / seen[token].norm()
            model.lm_head.weight[following] = 10 * direction
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
