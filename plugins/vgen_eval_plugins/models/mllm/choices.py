"""Log-probabilities of given words as the model's answer: exact, by teacher forcing.

A word is scored where it would stand: right after what the chat template writes before an answer,
with a space before it where the template puts one. It is cut into the tokens that it has there.
A prefix stands in the same place, with the same space before it, and the word after it. So does
the prefix of a text, from which the model goes on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from vgen_eval.errors import CallError
from vgen_eval.types import Request

from vgen_eval_plugins.models.mllm.chats import (
    Chats,
    Inputs,
    collate,
    extend,
    group_alike,
    place,
)
from vgen_eval_plugins.models.mllm.options import MLLMOptions
from vgen_eval_plugins.models.mllm.perplexity import PromptScore, mean_with_prompt
from vgen_eval_plugins.models.mllm.writing import NOT_FINITE, SKIPPED
from vgen_eval_plugins.models.parts import sound

__all__ = ["Row", "Scored", "Wording", "make_rows", "score_rows", "score_words"]

Tokens = tuple[int, ...]


class Row(msgspec.Struct, frozen=True):
    """One forward pass: a prompt and tokens forced after it."""

    inputs: Inputs
    start: int
    """Length of the prompt in tokens."""
    forced: Tokens
    wanted: tuple[Tokens, ...]
    """Token sequences to be scored: each is a beginning of `forced` and one token more."""


class Scored(msgspec.Struct, frozen=True):
    """The words of one request, scored."""

    logprobs: Mapping[str, float]
    flags: tuple[str, ...]


class Wording:
    """Words as tokens, under one model's template and tokenizer, after one prefix."""

    def __init__(self, chats: Chats, options: MLLMOptions, prefix: str = "") -> None:
        self._chats = chats
        # as Qwen3's template writes a trace that is not wanted
        closing = f"\n{options.thinking_tags[1]}\n\n" if chats.is_thinking else ""
        self.prefix = closing
        """What is put after the prompt before each word."""
        if prefix:
            spaced = prefix[0].isspace()  # its own space is the one that counts
            self.prefix += ("" if spaced else self._gap(options)) + sound(prefix)
        self.skips_thinking = bool(closing)
        self._space = self._gap(options)
        self._known: dict[str, Tokens] = {}

    def _gap(self, options: MLLMOptions) -> str:
        """The space before what follows the prompt and the prefix as it is so far."""
        if options.leading_space != "auto":
            return " " if options.leading_space == "yes" else ""
        return self._chats.gap_after(self.prefix) if self.prefix else self._chats.gap

    @property
    def prefix_tokens(self) -> Tokens:
        """The prefix, in tokens."""
        return self._chats.continue_with(self._chats.opening, self.prefix)

    def tokens(self, word: str) -> Tokens:
        """The word, in the tokens it has where it is scored; CallError when it has none."""
        if word not in self._known:
            context = self._chats.opening + self.prefix
            found = self._chats.continue_with(context, self._space + word)
            if not found:
                raise CallError(f"the choice {word!r} has no token")
            self._known[word] = found
        return self._known[word]


def make_rows(prompt: Inputs, words: Sequence[Tokens]) -> list[Row]:
    """The forward passes that score the words: one for all that begin alike.

    Words of one token need nothing but the prompt itself; a word of more is forced all but its
    last token, and shares the pass of a longer one that begins so.
    """
    start = prompt["input_ids"].shape[1]
    stems = sorted({word[:-1] for word in words}, key=len, reverse=True)
    kept: list[Tokens] = []
    for stem in stems:
        if not any(other[: len(stem)] == stem for other in kept):
            kept.append(stem)
    rows = []
    left = list(dict.fromkeys(words))
    for stem in kept:
        mine = tuple(word for word in left if stem[: len(word) - 1] == word[:-1])
        left = [word for word in left if word not in mine]
        rows.append(Row(extend(prompt, stem), start, stem, mine))
    return rows


def score_rows(model: Any, rows: Sequence[Row], *, pad: int) -> list[dict[Tokens, list[float]]]:
    """Of each row: token sequence -> natural log-probability of each of its tokens.

    The softmax is taken in float32 whatever the weights are. Rows of one kind share a forward
    pass, padded on the right.
    """
    found: list[dict[Tokens, list[float]]] = [{} for _ in rows]
    for members in group_alike([row.inputs for row in rows]):
        part = [rows[at] for at in members]
        for at, scores in zip(members, _forward(model, part, pad=pad), strict=True):
            found[at] = scores
    return found


def _forward(model: Any, rows: Sequence[Row], *, pad: int) -> list[dict[Tokens, list[float]]]:
    import torch

    batch = collate([row.inputs for row in rows], pad=pad, side="right")
    places = sorted(
        {row.start - 1 + step for row in rows for step in range(len(row.forced) + 1)}
    )  # positions whose next token is asked for
    keep = torch.tensor(places, device=model.device)
    with torch.inference_mode():
        logits = model(
            **place(batch, model),
            use_cache=False,
            logits_to_keep=keep,
        ).logits  # (rows, places, vocabulary)
        if logits.shape[1] != len(places):  # a model that keeps them all
            logits = logits[:, keep]
        logprobs = torch.log_softmax(logits.float(), dim=-1).cpu()
    at = {place: column for column, place in enumerate(places)}
    return [
        {
            word: [
                float(logprobs[number, at[row.start - 1 + step], token])
                for step, token in enumerate(word)
            ]
            for word in row.wanted
        }
        for number, row in enumerate(rows)
    ]


def score_words(
    request: Request, found: Mapping[Tokens, Sequence[float]], wording: Wording, scoring: str,
    prompt: PromptScore | None = None,
) -> Scored:  # fmt: skip
    """The request's words with their scores: sums, or means under closed_set.

    `prompt`: whose tokens join the mean, under closed_set_full.
    """
    sums: dict[str, tuple[float, int]] = {}
    several = False
    for word in request.choices:
        parts = found[wording.tokens(word)]
        several = several or len(parts) > 1
        total = sum(parts)
        if math.isnan(total):
            raise CallError(NOT_FINITE)
        sums[word] = total, len(parts)
    if prompt is not None:
        logprobs = mean_with_prompt(sums, prompt)
    elif scoring == "closed_set":
        logprobs = {word: total / tokens for word, (total, tokens) in sums.items()}
    else:
        logprobs = {word: total for word, (total, _) in sums.items()}
    flags = []
    if several and scoring == "next_token":
        flags.append("multi_token")
    if wording.skips_thinking:
        flags.append(SKIPPED)
    return Scored(logprobs, tuple(flags))
