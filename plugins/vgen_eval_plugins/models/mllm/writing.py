"""Text answers: tokens generated, cut at the end of the turn, thinking kept apart."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from vgen_eval.errors import CallError
from vgen_eval.types import Output, Request, Usage

from vgen_eval_plugins.models.local.devices import SEEDS
from vgen_eval_plugins.models.mllm.chats import Inputs, collate, group_alike, place
from vgen_eval_plugins.models.mllm.settings import generation_config, is_sampling
from vgen_eval_plugins.models.parts import UNFORCED
from vgen_eval_plugins.models.thinking import split_thinking

__all__ = ["NOT_FINITE", "SKIPPED", "Writer"]

NOT_FINITE = "the model's scores are not finite: a number ran over; -M dtype=bfloat16, float32"

SKIPPED = "thinking_skipped"
"""Flag of an answer before which the trace that the template opens was shut at once."""
TRUNCATED = "truncated"
"""Flag of an answer that the limit of new tokens ended."""


class Writer:
    """Generates answers with one model, and reads them."""

    def __init__(self, model: Any, tokenizer: Any, *, tags: tuple[str, str], opened: bool) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._tags = tags
        self._opened = opened
        self._own = model.generation_config
        """As the checkpoint has it; the model's own is replaced by what a call asks for."""
        self.unforced = bool(model.config.is_encoder_decoder)
        """Does the answer begin apart from the prompt, out of reach of a prefix?"""

    def write(self, asked: Sequence[tuple[Request, Inputs]]) -> list[Output]:
        """An output for each request, in their order; those of one kind in one batch.

        CallError where the model's numbers ran over: the likeliest of NaN is no word.
        """
        outputs: dict[str, Output] = {}
        for members in group_alike([inputs for _, inputs in asked]):
            part = [asked[at] for at in members]
            settings = part[0][0].settings
            made = self._generate([inputs for _, inputs in part], settings, part[0][0].seed)
            for (request, inputs), tokens in zip(part, made, strict=True):
                outputs[request.id] = self._read(request, inputs, tokens)
        return [outputs[request.id] for request, _ in asked]

    def _generate(
        self, rows: Sequence[Inputs], settings: Mapping[str, Any], seed: int
    ) -> list[list[int]]:
        """New tokens of each row, the end token among them, padding not."""
        import torch

        model = self._model
        model.generation_config = generation_config(self._own, settings)
        if model.generation_config.pad_token_id is None:
            model.generation_config.pad_token_id = self._tokenizer.pad_token_id
        batch = collate(rows, pad=self._tokenizer.pad_token_id, side="left")
        more = {"tokenizer": self._tokenizer} if settings.get("stop_strings") else {}
        seeded = _seeded(model, seed) if is_sampling(settings) else contextlib.nullcontext()
        watch = _NotFinite()
        with torch.inference_mode(), seeded:
            try:
                made = model.generate(**place(batch, model), logits_processor=[watch], **more)
            except RuntimeError as exc:  # drawing from what is no probability
                if watch.seen:
                    raise CallError(NOT_FINITE) from exc
                raise
        if watch.seen:
            raise CallError(NOT_FINITE)
        asked = batch["input_ids"].to(made.device)
        start = asked.shape[1]
        # encoder-decoders, and models that are asked by embeddings, do not repeat the prompt
        repeats = made.shape[1] >= start and torch.equal(made[:, :start], asked)
        return [self._cut(row) for row in made[:, start if repeats else 0 :].tolist()]

    def _cut(self, tokens: list[int]) -> list[int]:
        """Up to the first end token: padding after it may be any token."""
        for at, token in enumerate(tokens):
            if token in self._ends:
                return tokens[: at + 1]
        kept = len(tokens)
        while kept and tokens[kept - 1] == self._tokenizer.pad_token_id:
            kept -= 1  # a row that a stop string ended
        return tokens[:kept]

    @property
    def _ends(self) -> frozenset[int]:
        given = self._model.generation_config.eos_token_id
        return frozenset([] if given is None else [given] if isinstance(given, int) else given)

    def _read(self, request: Request, inputs: Inputs, tokens: list[int]) -> Output:
        text = self._decode(tokens)
        stops = request.settings.get("stop_strings") or ()
        stops = (stops,) if isinstance(stops, str) else stops
        ended = (bool(tokens) and tokens[-1] in self._ends) or any(stop in text for stop in stops)
        prefixed = bool(request.prefix) and not self.unforced
        thought = split_thinking(text, self._tags, opened=self._opened and not prefixed)
        reason = None
        if thought.answer is None:
            reason = f"thinking did not end within {len(tokens)} tokens"
            if ended:
                reason = f"the answer ended within its thinking, after {len(tokens)} tokens"
        elif not thought.answer:
            reason = f"the answer is empty ({len(tokens)} tokens)"
        return Output(
            id=request.id,
            answer=thought.answer or None,
            usage=Usage(
                input_tokens=int(inputs["input_ids"].shape[1]),
                output_tokens=len(tokens),
                thinking_tokens=self._count_thinking(tokens) if thought.thinking else None,
            ),
            reason=reason,
            thinking=thought.thinking,
            flags=self._flags(request, cut=not ended and not reason),
        )

    def _flags(self, request: Request, *, cut: bool) -> tuple[str, ...]:
        flags = [TRUNCATED] if cut else []
        if request.prefix:
            flags += [UNFORCED] * self.unforced
            flags += [SKIPPED] * (self._opened and not self.unforced)
        return tuple(flags)

    @cached_property
    def _tag_ids(self) -> dict[str, int]:
        """Thinking tag -> its token, of those that are one."""
        added = self._tokenizer.get_added_vocab()
        return {tag: added[tag] for tag in self._tags if tag in added}

    @cached_property
    def _dropped(self) -> frozenset[int]:
        """Special tokens, which are no words; a thinking tag stays even where it is one."""
        added = self._tokenizer.added_tokens_decoder
        special = {number for number, token in added.items() if token.special}
        return frozenset(special - set(self._tag_ids.values()))

    def _decode(self, tokens: Sequence[int]) -> str:
        kept = [token for token in tokens if token not in self._dropped]
        return str(self._tokenizer.decode(kept, clean_up_tokenization_spaces=False))

    def _count_thinking(self, tokens: Sequence[int]) -> int | None:
        """Tokens up to the end of the trace; None where its tag is several."""
        closing = self._tag_ids.get(self._tags[1])
        if closing is None:
            return None
        return tokens.index(closing) + 1 if closing in tokens else len(tokens)


class _NotFinite:
    """Notes NaN among the scores of the next token; the device is waited for only when asked."""

    def __init__(self) -> None:
        self._found: Any = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:  # noqa: ARG002
        """What transformers calls before each token; changes nothing."""
        found = scores.isnan().any()
        self._found = found if self._found is None else self._found | found
        return scores

    @property
    def seen(self) -> bool:
        """Was there any?"""
        return self._found is not None and bool(self._found)


@contextlib.contextmanager
def _seeded(model: Any, seed: int) -> Iterator[None]:
    """torch's generators seeded, and afterwards as they were."""
    import torch

    kind = model.device.type
    devices = list(range(torch.cuda.device_count())) if kind == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed % SEEDS)
        yield
