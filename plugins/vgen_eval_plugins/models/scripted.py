"""Answers from rules that somebody wrote down: for pipelines that must be repeated to the digit."""

from __future__ import annotations

import fnmatch
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec
from vgen_eval.adapters import BaseAdapter
from vgen_eval.cards.records import ModelCard
from vgen_eval.errors import CallError, NotRunnable, UsageError
from vgen_eval.types import Output, Request

__all__ = ["Rule", "Scripted", "ScriptedOptions"]

MAX_BYTES = 64 << 20


def _doc(text: str) -> msgspec.Meta:
    return msgspec.Meta(description=text)


def _place(text: str) -> msgspec.Meta:
    """Of an option that only says where the rules are: their digest is the identity."""
    return msgspec.Meta(description=text, extra={"provenance": True})


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A reply, and what it is a reply to: all that is named has to hold."""

    reply: Annotated[str | None, _doc("The words; null: none come.")]
    sample: Annotated[str | None, _doc("Id of the sample; * stands for anything.")] = None
    question: Annotated[str | None, _doc("Name of a judge's question; * stands for anything.")] = (
        None
    )
    round: Annotated[int | None, _doc("Which of several votes, from 0.")] = None
    words: Annotated[
        str | None, _doc("Regular expression that is found in what is asked, any case.")
    ] = None

    def __post_init__(self) -> None:
        if self.words is not None:
            try:
                _pattern(self.words)
            except (re.error, OverflowError, RecursionError) as exc:
                raise ValueError(f"words {self.words!r:.80}: no regular expression: {exc}") from exc


class ScriptedOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where the rules are."""

    rules: Annotated[tuple[Rule, ...], _place("Rules, tried in their order.")] = ()
    file: Annotated[
        str | None, _place("JSON list of more rules, tried after them; below the card, or a path.")
    ] = None
    folder: Annotated[str | None, _place("What `file` lies below; null: the card's folder.")] = None


class Scripted(BaseAdapter):
    """The reply of the first rule that fits; a request that none fits is an error of the call."""

    version: ClassVar[int] = 2
    Options: ClassVar[type[msgspec.Struct]] = ScriptedOptions
    forms = ("text",)
    stub: ClassVar[Mapping[str, Any]] = {"rules": [{"reply": "3"}]}
    max_batch = 64

    def __init__(
        self, options: ScriptedOptions, *, card: ModelCard | None = None, device: str | None = None
    ) -> None:
        super().__init__(options, card=card, device=device)
        self._rules = _read(options)

    @classmethod
    def identify(cls, options: ScriptedOptions, card: ModelCard) -> Mapping[str, Any]:  # noqa: ARG003
        """The digest of the rules, wherever they are written."""
        return {"rules": hashlib.sha256(msgspec.json.encode(_read(options))).hexdigest()}

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """The reply to each request. CallError, naming the question, where no rule fits."""
        for request in requests:
            reply = self._reply(request)
            yield Output(id=request.id, answer=reply, reason=None if reply else "no words")

    def _reply(self, request: Request) -> str | None:
        question, turn = request.fields.get("question", ""), request.fields.get("round", "0")
        for rule in self._rules:
            if not (_is_meant(rule.sample, request.sample) and _is_meant(rule.question, question)):
                continue
            if rule.round is not None and str(rule.round) != turn:
                continue
            if rule.words is None or _pattern(rule.words).search(request.prompt):
                return rule.reply
        told = f" ({question}, round {turn})" if question else ""
        raise CallError(f"no rule replies to sample '{request.sample}'{told}")


def _is_meant(told: str | None, name: str) -> bool:
    """Is the name the one that a rule tells, or one of its pattern? None: any is."""
    # ids may hold brackets, which a pattern reads as a choice of signs
    return told is None or told == name or fnmatch.fnmatchcase(name, told)


@cache
def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)


def _read(options: ScriptedOptions) -> tuple[Rule, ...]:
    if options.file is None:
        if not options.rules:
            raise UsageError(
                "the scripted model has no rules", cure="options.rules, or options.file"
            )
        return options.rules
    path = Path(options.folder or ".") / Path(options.file).expanduser()
    try:
        if path.stat().st_size > MAX_BYTES:
            raise NotRunnable(f"{path}: larger than {MAX_BYTES >> 20} MiB")
        data = path.read_bytes()
    except OSError as exc:
        raise NotRunnable(f"{path}: cannot be read: {exc.strerror or exc}") from exc
    try:
        more = msgspec.json.decode(data, type=tuple[Rule, ...])
    except msgspec.DecodeError as exc:
        raise UsageError(
            f"{path}: no rules: {exc}", cure='a JSON list of rules: [{"reply": "Score: 2"}, ...]'
        ) from exc
    if not more and not options.rules:
        raise UsageError(f"{path}: the list of rules is empty")
    return (*options.rules, *more)
