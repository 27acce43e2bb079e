"""A card file as a validated, frozen record with its two digests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from vgen_eval.cards.digests import card_digest, identity_digest
from vgen_eval.cards.problems import Problems, did_you_mean, join
from vgen_eval.cards.records import ModelCard, SuiteCard, TaskCard
from vgen_eval.cards.salvage import LOST, prune
from vgen_eval.cards.walk import build, walk_record
from vgen_eval.cards.yaml_nodes import Node, compose, read_text
from vgen_eval.errors import CardError, Problem

__all__ = [
    "RECORDS",
    "CardRecord",
    "Kind",
    "LoadedCard",
    "ParsedCard",
    "load_card",
    "parse_card",
    "salvage_card",
]

Kind = Literal["task", "model", "suite"]
CardRecord = TaskCard | ModelCard | SuiteCard

RECORDS: Mapping[Kind, type[CardRecord]] = {
    "task": TaskCard,
    "model": ModelCard,
    "suite": SuiteCard,
}


class LoadedCard(msgspec.Struct, frozen=True):
    """A card that keeps to its schema. `extends` of its protocols is already resolved."""

    kind: Kind
    name: str
    record: CardRecord
    path: Path
    card_digest: str
    """Of everything in the card."""
    identity_digest: str
    """Of what can change an answer or a score."""


class ParsedCard(msgspec.Struct, frozen=True):
    """A card with the lines its values stand on."""

    kind: Kind
    record: CardRecord
    lines: Mapping[str, int]

    @property
    def name(self) -> str:
        """The card's name: the value of the key that tells its kind."""
        return str(getattr(self.record, self.kind))

    def line_of(self, path: str) -> int | None:
        """The line of a path, or of the nearest value that holds it."""
        while path and path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self.lines.get(path)


def load_card(path: Path) -> LoadedCard:
    """The card in a YAML file; CardError with every problem of it.

    Only the schema is checked here: whether the components it names exist is `check_card`'s.
    """
    parsed = parse_card(read_text(path), file=str(path))
    return LoadedCard(
        kind=parsed.kind,
        name=parsed.name,
        record=parsed.record,
        path=path,
        card_digest=card_digest(parsed.record),
        identity_digest=identity_digest(parsed.record),
    )


def parse_card(text: str, *, file: str) -> ParsedCard:
    """The card in a YAML text; CardError with every problem of it. `file` is for the messages."""
    problems = Problems(file)
    parsed = _parse(text, problems)
    problems.check()
    assert parsed is not None
    return parsed


def salvage_card(text: str, *, file: str) -> tuple[ParsedCard | None, list[Problem]]:
    """The sound part of a card, None when too little is left of it, and the problems found."""
    problems = Problems(file)
    try:
        return _parse(text, problems, salvage=True), problems.in_order()
    except CardError as exc:
        return None, list(exc.problems)


def _parse(text: str, problems: Problems, *, salvage: bool = False) -> ParsedCard | None:
    root, lines = compose(text, problems)
    if root.kind != "mapping":
        if root.kind != "bad":
            problems.add("a card is a mapping: task: ..., model: ... or suite: ...", line=1)
        problems.check()
    kind = _kind_of(root, problems)
    data = walk_record(RECORDS[kind], root, problems)
    if problems.found:
        if not salvage:
            return None
        data = prune(RECORDS[kind], root, {problem.path for problem in problems.found})
        if data is LOST:
            return None
    if kind == "task":
        known = len(problems.found)
        _resolve_extends(data["protocols"], problems, lines)
        if len(problems.found) > known and not salvage:
            return None
    return ParsedCard(kind, build(RECORDS[kind], data, problems), lines)


def _kind_of(root: Node, problems: Problems) -> Kind:
    """The kind that the top-level keys tell; CardError when they tell none or two."""
    kinds: list[Kind] = [kind for kind in RECORDS if kind in root.value]
    if len(kinds) == 1:
        return kinds[0]
    if kinds:
        raise problems.fatal(
            f"one file holds one card, this has the keys {' and '.join(kinds)}",
            line=root.value[kinds[1]].line,
        )
    near = next((hint for key in root.value if (hint := did_you_mean(key, RECORDS))), "")
    raise problems.fatal(
        f"no card: none of the keys task, model, suite stands at the top level{near}",
        line=root.line,
    )


def _resolve_extends(
    protocols: dict[str, dict[str, Any]], problems: Problems, lines: Mapping[str, int]
) -> None:
    """Fill each protocol that extends another, in place.

    It happens on what was written and not on the records, where a key that says the default
    cannot be told from one that is silent.
    """
    extends = {
        name: body["extends"] for name, body in protocols.items() if body.get("extends") is not None
    }
    for name, parent in extends.items():
        at = join(join("protocols", name), "extends")
        if parent not in protocols:
            hint = did_you_mean(parent, protocols)
            problems.add(f"no protocol {parent!r} in this card{hint}", line=lines[at], path=at)
        elif parent in extends:
            problems.add(
                f"{parent!r} itself extends {extends[parent]!r}; only a complete protocol can be"
                " extended",
                line=lines[at],
                path=at,
            )
    for name, parent in extends.items():
        if parent in protocols and parent not in extends:
            protocols[name] = {**protocols[parent], **protocols[name], "extends": None}
