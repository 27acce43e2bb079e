"""Requests as chats: rendered by the model's own template, tokenized, put side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from vgen_eval.errors import CallError, UsageError
from vgen_eval.imaging import Image
from vgen_eval.types import Request

from vgen_eval_plugins.models.mllm.options import MLLMOptions
from vgen_eval_plugins.models.parts import shown, sound
from vgen_eval_plugins.models.thinking import is_open

__all__ = ["Chats", "Inputs", "collate", "extend", "group_alike", "place"]

Inputs = Mapping[str, Any]
"""What a processor gives for one chat: name -> tensor; its token tensors are (1, length)."""

TAIL = 64
"""Characters of a prompt's end that decide how what follows is cut into tokens."""


class Chats:
    """Turns requests into a model's inputs, by its processor and chat template."""

    def __init__(self, processor: Any, options: MLLMOptions) -> None:
        self.processor = processor
        self.tokenizer = processor.tokenizer
        self._options = options
        self._template = _template_text(processor)
        self._more: dict[str, Any] = {}
        if options.enable_thinking is not None:
            if "enable_thinking" not in self._template:
                raise UsageError(
                    "options.enable_thinking: the model's chat template does not know it",
                    cure="leave it out",
                )
            self._more["enable_thinking"] = options.enable_thinking

    def inputs(self, request: Request) -> Inputs:
        """The request's chat as the model reads it, up to where its answer begins.

        Control tokens (`<|im_end|>`, `<image>`) in the request's own words stay words: they
        neither end a turn nor stand for a picture. CallError where the processor takes no such
        request, or cannot keep them apart.
        """
        parts = shown(request)
        if not any(isinstance(part, str) for part in parts):
            parts = (*parts, "")  # some templates want words
        words = [part for part in parts if isinstance(part, str)]
        written = [token for token in self._added if any(token in text for text in words)]
        if not written:
            return self._apply(parts)
        try:
            made = self._apply(parts, sanitize_control_tokens=True)
        except (CallError, NotImplementedError) as exc:
            raise _uncontrolled(written) from exc
        # some processors drop that argument on the way to their tokenizer
        plain = tuple("words" if isinstance(part, str) else part for part in parts)
        if self._controls(made) != self._controls(self._apply(plain)):
            raise _uncontrolled(written)
        return made

    def _apply(self, parts: Sequence[str | Image], **more: bool) -> Inputs:
        try:
            made = self.processor.apply_chat_template(
                [self._messages(parts)],
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
                # never empty: some processors take the template's arguments for theirs then
                processor_kwargs={"padding": False},
                **more,
                **self._more,
            )
        except (ValueError, TypeError, ZeroDivisionError, IndexError) as exc:
            told = " ".join(str(exc).split())[:300]
            raise CallError(f"the processor takes no such request: {told}") from exc
        return {key: value for key, value in made.items() if hasattr(value, "shape")}

    def _messages(self, parts: Sequence[str | Image]) -> list[dict[str, Any]]:
        content: list[dict[str, Any]] = [
            {"type": "text", "text": sound(part)}
            if isinstance(part, str)
            else {"type": "image", "image": part.to_pil()}
            for part in parts
        ]
        messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
        if self._options.system is not None:
            text = {"type": "text", "text": sound(self._options.system)}
            messages.insert(0, {"role": "system", "content": [text]})
        return messages

    @cached_property
    def _added(self) -> tuple[str, ...]:
        """Tokens that the tokenizer finds in any text before it cuts it up."""
        added = self.tokenizer.added_tokens_decoder.values()
        return tuple(token.content for token in added if token.content.strip())

    @cached_property
    def _control_ids(self) -> frozenset[int]:
        """Those of them that mean something to the model: special, or written by its template."""
        added = self.tokenizer.added_tokens_decoder.items()
        return frozenset(
            number
            for number, token in added
            if token.special or (token.content.strip() and token.content in self._template)
        )

    def _controls(self, inputs: Inputs) -> list[int]:
        return [token for token in inputs["input_ids"][0].tolist() if token in self._control_ids]

    # --- how an answer begins ------------------------------------------------------------

    @cached_property
    def opening(self) -> str:
        """The end of every prompt: what the template writes before an answer."""
        return self._render(None)[-TAIL:]

    @cached_property
    def is_thinking(self) -> bool:
        """Does the template begin the answer within a thinking trace?"""
        return is_open(self._render(None), self._options.thinking_tags)

    @cached_property
    def gap(self) -> str:
        """What the template puts between that and an answer's first word: "", " ", ..."""
        word = "word"
        prompt, whole = self._render(None), self._render(word)
        if whole.startswith(prompt):
            space, found, _ = whole[len(prompt) :].partition(word)
            if found and not space.strip():
                return space
        return self.gap_after(prompt)

    def gap_after(self, text: str) -> str:
        """A space, except after white space and control tokens."""
        ends = text == "" or text[-1].isspace() or text.endswith(self._added)
        return "" if ends else " "

    def _render(self, answer: str | None) -> str:
        messages: list[dict[str, Any]] = [
            {"role": "user", "content": [{"type": "text", "text": "question"}]}
        ]
        if answer is not None:
            messages.append({"role": "assistant", "content": [{"type": "text", "text": answer}]})
        return str(
            self.processor.apply_chat_template(
                messages, add_generation_prompt=answer is None, tokenize=False, **self._more
            )
        )

    def continue_with(self, context: str, text: str) -> tuple[int, ...]:
        """Token ids of the text where it stands right after the context."""
        if not text:
            return ()
        before = self._encode(context)
        both = self._encode(context + text)
        if both[: len(before)] == before:
            return tuple(both[len(before) :])
        return tuple(self._encode(text))  # a token would reach over the border

    def _encode(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text, add_special_tokens=False))


def _uncontrolled(written: Sequence[str]) -> CallError:
    return CallError(
        f"the prompt holds {', '.join(written)}: control tokens of this model, which its processor "
        "cannot keep plain text"
    )


def _template_text(processor: Any) -> str:
    template = processor.chat_template
    return template if isinstance(template, str) else "\n".join(template.values())


# --- inputs side by side ---------------------------------------------------------------------


def extend(inputs: Inputs, tokens: Sequence[int]) -> Inputs:
    """The inputs with tokens of the model's own turn after them."""
    if not tokens:
        return inputs
    made = dict(inputs)
    for name, value in inputs.items():
        if not _is_of_tokens(name, inputs):
            continue
        if name == "input_ids":
            more = value.new_tensor([list(tokens)])
        elif name == "attention_mask":
            more = value.new_ones((1, len(tokens)))
        elif value.ndim == 2:  # kinds of tokens: 0 is text
            more = value.new_zeros((1, len(tokens)))
        else:  # which pictures a token may look at: as the one before it
            more = value[:, -1:].expand(-1, len(tokens), *value.shape[2:])
        made[name] = _cat([value, more], dim=1)
    return made


def group_alike(rows: Sequence[Inputs]) -> Iterator[list[int]]:
    """Indices of the rows that can stand in one batch: with pictures of one shape, or with none."""
    groups: dict[Any, list[int]] = {}
    for at, row in enumerate(rows):
        groups.setdefault(_kind(row), []).append(at)
    yield from groups.values()


def _kind(row: Inputs) -> tuple[tuple[str, tuple[int, ...]], ...]:
    return tuple(
        (name, tuple(value.shape[2 if _is_of_tokens(name, row) else 1 :]))
        for name, value in sorted(row.items())
    )


def _is_of_tokens(name: str, row: Inputs) -> bool:
    """Does the tensor hold something of each token, rather than of pictures?"""
    if name.startswith(("pixel", "image", "video")):
        return False
    return bool(row[name].shape[:2] == row["input_ids"].shape)


def collate(rows: Sequence[Inputs], *, pad: int, side: str) -> dict[str, Any]:
    """One batch of rows of one kind, their tokens padded on that side (left, right).

    Left for generation, which goes on after the last token; right for a forward pass, where
    padding is then out of sight of every token before it.
    """
    if len(rows) == 1:
        return dict(rows[0])
    longest = max(row["input_ids"].shape[1] for row in rows)
    made = {}
    for name in rows[0]:
        parts = []
        for row in rows:
            value = row[name]
            if _is_of_tokens(name, row):
                shape = (1, longest - value.shape[1], *value.shape[2:])
                filling = value.new_full(shape, pad if name == "input_ids" else 0)
                pieces = [filling, value] if side == "left" else [value, filling]
                value = _cat(pieces, dim=1)
            parts.append(value)
        made[name] = _cat(parts, dim=0)
    return made


def place(batch: Inputs, model: Any) -> dict[str, Any]:
    """The batch on the model's device, pictures in its number type."""
    return {
        name: value.to(model.device, model.dtype) if value.is_floating_point()
        else value.to(model.device)
        for name, value in batch.items()
    }  # fmt: skip


def _cat(parts: Sequence[Any], *, dim: int) -> Any:
    import torch

    return torch.cat(list(parts), dim=dim)
