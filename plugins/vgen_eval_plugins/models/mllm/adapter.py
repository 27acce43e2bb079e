"""Drives image-text-to-text chat models of transformers: words, and probabilities of words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from vgen_eval.adapters import BaseAdapter
from vgen_eval.cards.records import ModelCard
from vgen_eval.errors import CallError
from vgen_eval.types import AnswerForm, Output, Request, Usage

from vgen_eval_plugins.models.local.batches import Batches
from vgen_eval_plugins.models.local.devices import is_exact, release
from vgen_eval_plugins.models.local.hub import find_source, identity_facts, resolve
from vgen_eval_plugins.models.local.weights import wanted_libraries
from vgen_eval_plugins.models.mllm.chats import Chats, Inputs, extend
from vgen_eval_plugins.models.mllm.choices import Wording, make_rows, score_rows, score_words
from vgen_eval_plugins.models.mllm.loading import EXTRA, import_transformers, load_model
from vgen_eval_plugins.models.mllm.options import MLLMOptions
from vgen_eval_plugins.models.mllm.perplexity import score_prompt
from vgen_eval_plugins.models.mllm.settings import check_settings, is_sampling
from vgen_eval_plugins.models.mllm.writing import Writer

__all__ = ["TransformersMLLM"]

ROWS = 8
"""Passes of one request's choices that may share a forward pass, at batch 1 too."""
LIBRARIES = ("torch", "torchvision", "transformers", "tokenizers")
CURE = (
    "smaller pictures (-M max_pixels=N, a protocol's input.long_side), "
    "-M quantization=bitsandbytes_4bit, or a larger device"
)


class TransformersMLLM(BaseAdapter):
    """Qwen-VL, InternVL, LLaVA, SmolVLM, Gemma and their kin, by hub repository or folder."""

    Options = MLLMOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = ("text", "choice")
    extra = EXTRA

    @classmethod
    def identify(cls, options: MLLMOptions, card: ModelCard) -> Mapping[str, Any]:
        """The commit or the folder's contents, of the LoRA too, and versions of libraries."""
        source = find_source(options.model, options.revision, card=card, extra=EXTRA)
        if not options.loras:
            return identity_facts(source, libraries=LIBRARIES)
        found = identity_facts(source, libraries=(*LIBRARIES, "peft"))
        loras = [resolve(lora.model, lora.revision, extra=EXTRA) for lora in options.loras]
        return {**found, "loras": [identity_facts(lora, libraries=()) for lora in loras]}

    @classmethod
    def lacks(cls, options: MLLMOptions, card: ModelCard) -> Sequence[str]:  # noqa: ARG003
        """Libraries that its quantization and LoRAs need and that are not installed."""
        return wanted_libraries(options.quantization, options.loras)

    @staticmethod
    @contextmanager
    def stub(card: ModelCard, folder: Path) -> Iterator[Mapping[str, Any]]:  # noqa: ARG004
        """A Qwen2.5-VL of a few thousand random weights, built in the folder."""
        from vgen_eval_plugins.standins.tiny_mllms import build_qwen2_5_vl

        # no thinking tag, no blank: an answer, whatever the card's settings draw
        place = build_qwen2_5_vl(folder / "tiny", letters_only=True)
        yield {
            "model": str(place), "revision": None, "loras": [], "dtype": "auto",
            "quantization": "none", "device_map": None, "attn_implementation": None,
            "chat_template": None, "enable_thinking": None, "min_pixels": None, "max_pixels": None,
        }  # fmt: skip

    def __init__(
        self, options: MLLMOptions, *, card: ModelCard | None = None, device: str | None = None
    ) -> None:
        super().__init__(options, card=card, device=device)
        self.max_batch = options.batch
        # a larger batch is another shape of the same sums, which even a CPU may order otherwise
        self.deterministic = options.batch == 1 and is_exact(options.dtype, device)
        self._model: Any = None

    def load(self) -> None:
        """Checks the card's generation arguments, then loads processor and weights."""
        options: MLLMOptions = self.options
        import_transformers()
        check_settings({} if self.card is None else _settings(self.card.generation))
        source = find_source(options.model, options.revision, card=self.card, extra=EXTRA)
        processor, self._model, device = load_model(source, options, asked_device=self.device)
        self._device = device
        self.deterministic = options.batch == 1 and is_exact(options.dtype, device)
        self._chats = Chats(processor, options)
        self._pad = self._chats.tokenizer.pad_token_id
        self._batches = Batches(options.batch, device=device, cure=CURE)
        self._rows = Batches(max(ROWS, options.batch), device=device, cure=CURE)
        self._writer = Writer(
            self._model,
            self._chats.tokenizer,
            tags=options.thinking_tags,
            opened=self._chats.is_thinking,
        )
        self._wordings: dict[str, Wording] = {}
        text = self._model.config.get_text_config()
        self._longest = getattr(text, "max_position_embeddings", None)

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """Text or choices; a request that the processor does not take fails alone, at the end."""
        faults: list[CallError] = []
        ready: list[tuple[Request, Inputs]] = []
        for request in requests:
            try:
                inputs = self._prepare(request)
            except CallError as exc:
                faults.append(exc)
                continue
            length = inputs["input_ids"].shape[1]
            if self._longest is not None and length > self._longest:
                yield _too_long(request, length, self._longest)
            else:
                ready.append((request, inputs))
        yield from self._write([entry for entry in ready if entry[0].form == "text"])
        yield from self._choose([entry for entry in ready if entry[0].form == "choice"])
        if faults:
            raise faults[0]

    def _prepare(self, request: Request) -> Inputs:
        if request.form not in self.forms:
            raise CallError(f"it gives {' and '.join(self.forms)}, and no {request.form}")
        if request.form == "choice" and not request.choices:
            raise CallError("the request names no choices")
        if request.form == "choice" and self._model.config.is_encoder_decoder:
            raise CallError("choices are scored with decoders alone: this model has an encoder too")
        return self._chats.inputs(request)

    def _write(self, ready: Sequence[tuple[Request, Inputs]]) -> Iterator[Output]:
        begun = [(request, self._begin(request, inputs)) for request, inputs in ready]
        sampling = [entry for entry in begun if is_sampling(entry[0].settings)]
        greedy = [entry for entry in begun if not is_sampling(entry[0].settings)]
        yield from self._batches.run(greedy, self._writer.write)
        for entry in sampling:  # what a seed draws would hang on the others in its batch
            yield from self._batches.run([entry], self._writer.write)

    def _begin(self, request: Request, inputs: Inputs) -> Inputs:
        """The chat with the prefix of the answer after it."""
        if not request.prefix or self._writer.unforced:
            return inputs
        return extend(inputs, self._worded(request.prefix).prefix_tokens)

    def _worded(self, prefix: str) -> Wording:
        if prefix not in self._wordings:
            self._wordings[prefix] = Wording(self._chats, self.options, prefix)
        return self._wordings[prefix]

    def _choose(self, ready: Sequence[tuple[Request, Inputs]]) -> Iterator[Output]:
        most = self.max_batch
        for at in range(0, len(ready), most):
            yield from self._choose_together(ready[at : at + most])

    def _choose_together(self, ready: Sequence[tuple[Request, Inputs]]) -> Iterator[Output]:
        rows, owners, wordings = [], [], []
        for number, (request, inputs) in enumerate(ready):
            # a card names its model's own habit on purpose: the protocol's words are for the rest
            wording = self._worded(self.options.choice_prefix or request.prefix)
            wordings.append(wording)
            prompt = extend(inputs, wording.prefix_tokens)
            mine = make_rows(prompt, [wording.tokens(word) for word in request.choices])
            rows += mine
            owners += [number] * len(mine)
        made = self._rows.run(rows, lambda part: score_rows(self._model, part, pad=self._pad))
        found: list[dict[tuple[int, ...], list[float]]] = [{} for _ in ready]
        for number, scores in zip(owners, made, strict=True):
            found[number] |= scores
        for (request, inputs), scores, wording in zip(ready, found, wordings, strict=True):
            scoring = request.choice_scoring or self.options.choice_scoring
            asked = extend(inputs, wording.prefix_tokens)
            whole = score_prompt(self._model, asked) if scoring == "closed_set_full" else None
            scored = score_words(request, scores, wording, scoring, whole)
            yield Output(
                id=request.id,
                answer=scored.logprobs,
                flags=scored.flags,
                usage=Usage(input_tokens=int(inputs["input_ids"].shape[1]), output_tokens=0),
            )

    def close(self) -> None:
        """Lets go of the weights."""
        if self._model is not None:
            del self._model, self._writer, self._chats, self._wordings
            self._model = None
            release(self._device)


def _settings(generation: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in generation.items() if key != "seed"}


def _too_long(request: Request, length: int, longest: int) -> Output:
    return Output(
        id=request.id,
        answer=None,
        reason=f"the prompt has {length} tokens, and the model reads {longest}",
        usage=Usage(input_tokens=length, output_tokens=0),
    )
