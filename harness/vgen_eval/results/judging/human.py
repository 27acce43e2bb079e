"""What people said of answers, read from a CSV or JSONL file: labels, preferences, rankings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from vgen_eval.errors import UsageError
from vgen_eval.numerals import read_number
from vgen_eval.results.judging.entries import (
    LABEL_FIELDS,
    PAIR_FIELDS,
    RANKING_FIELDS,
    SHAPES,
    SHOWN,
    Entry,
    read_bytes,
    read_entries,
    refuse,
)

__all__ = ["Human", "Label", "Preference", "read_human"]

MOST_RANKED = 100
"""Models of one ranking at most: of n there are n (n - 1) / 2 pairs."""


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """What one answer was said to be."""

    sample: str
    model: str = ""
    """Model or run; "": of the one that there is."""
    attempt: int | None = None
    """None: of the sample, whatever the attempt."""
    label: float


class Preference(msgspec.Struct, frozen=True, kw_only=True):
    """Of two models' answers at one sample, which is better."""

    sample: str
    better: str
    worse: str


class Human(msgspec.Struct, frozen=True, kw_only=True):
    """A file of human judgements; labels, or else preferences."""

    kind: Literal["labels", "preferences"]
    sha256: str
    """Of the file, as it was read."""
    labels: tuple[Label, ...] = ()
    preferences: tuple[Preference, ...] = ()
    """As they were said, rankings expanded to pairs."""
    rankings: int = 0
    ties: int = 0
    """Pairs that a ranking ties: they say nothing of which is better."""


def read_human(path: Path) -> Human:
    """The judgements in the file; UsageError, with the line, where it holds anything else.

    Other columns than those needed are refused: who the people are is nobody's business here.
    """
    data = read_bytes(path)
    sha256 = hashlib.sha256(data).hexdigest()
    entries = list(read_entries(path, data))
    if not entries:
        raise UsageError(f"{path}: no judgement in it", cure=f"it holds {SHAPES}")
    kinds: dict[str, int] = {}
    for line, entry in entries:
        kinds.setdefault(_shape(path, line, entry), line)
    if "labels" not in kinds:
        return _preferences(path, entries, sha256)
    if len(kinds) > 1:
        refuse(
            path, max(kinds.values()), "labels and preferences in one file",
            cure="give each a file of its own",
        )  # fmt: skip
    return Human(kind="labels", sha256=sha256, labels=tuple(_labels(path, entries)))


def _shape(path: Path, line: int, entry: Entry) -> str:
    """labels, pairs or rankings; UsageError about columns that do not belong there."""
    shapes = {"label": LABEL_FIELDS, "better": PAIR_FIELDS, "worse": PAIR_FIELDS}
    found = next((name for name in (*shapes, "ranking") if name in entry), None)
    known = {*LABEL_FIELDS, *PAIR_FIELDS, *RANKING_FIELDS}
    for name in entry:
        if name not in known:
            refuse(
                path, line, f"column '{name:.{SHOWN}}' is not read",
                cure=f"leave it out, above all where it is of a person; a file holds {SHAPES}",
            )  # fmt: skip
    if found is None:
        refuse(path, line, "neither label, nor better and worse, nor ranking")
    for name in entry:
        if name not in shapes.get(found, RANKING_FIELDS):
            refuse(path, line, f"'{name}' beside '{found}'")
    return {"label": "labels", "ranking": "rankings"}.get(found, "pairs")


def _text(path: Path, line: int, entry: Entry, field: str) -> str:
    value = entry.get(field)
    if not isinstance(value, str) or not value.strip():
        refuse(path, line, f"'{field}' is {'no text' if value else 'missing or empty'}")
    return value


def _labels(path: Path, entries: Sequence[tuple[int, Entry]]) -> Iterator[Label]:
    seen: dict[tuple[str, str, int | None], int] = {}
    for line, entry in entries:
        if "model" in entry and "run" in entry:
            refuse(path, line, "'model' and 'run' both", cure="one of them says whose answer it is")
        owner = next((name for name in ("model", "run") if name in entry), None)
        label = Label(
            sample=_text(path, line, entry, "id"),
            model="" if owner is None else _text(path, line, entry, owner),
            attempt=_attempt(path, line, entry),
            label=_number(path, line, entry),
        )
        key = (label.sample, label.model, label.attempt)
        if key in seen:
            refuse(
                path, line, f"'{label.sample:.{SHOWN}}' has a label already, on line {seen[key]}",
                cure="one label an answer: what several people said is settled before",
            )  # fmt: skip
        seen[key] = line
        yield label


def _attempt(path: Path, line: int, entry: Entry) -> int | None:
    value = entry.get("attempt")
    if value is None:
        return None
    try:
        number = int(value) if isinstance(value, str) else value
    except ValueError:
        number = None
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        refuse(path, line, f"attempt '{value!s:.{SHOWN}}' is no number from 0 on")
    return number


def _number(path: Path, line: int, entry: Entry) -> float:
    value = entry.get("label")
    number = read_number(value)
    if number is None:
        refuse(
            path, line, f"label '{value!s:.{SHOWN}}' is no number",
            cure="write 1 and 0 for yes and no",
        )  # fmt: skip
    return number


def _preferences(path: Path, entries: Sequence[tuple[int, Entry]], sha256: str) -> Human:
    said: list[Preference] = []
    rankings = ties = 0
    for line, entry in entries:
        sample = _text(path, line, entry, "id")
        if "ranking" not in entry:
            better, worse = (_text(path, line, entry, field) for field in ("better", "worse"))
            if better == worse:
                refuse(path, line, f"'{better:.{SHOWN}}' is better than itself")
            said.append(Preference(sample=sample, better=better, worse=worse))
            continue
        places = _ranking(path, line, entry["ranking"])
        rankings += 1
        ties += sum(len(place) * (len(place) - 1) // 2 for place in places)
        said += [
            Preference(sample=sample, better=better, worse=worse)
            for at, place in enumerate(places)
            for better in place
            for later in places[at + 1 :]
            for worse in later
        ]
    return Human(
        kind="preferences", sha256=sha256, preferences=tuple(said), rankings=rankings, ties=ties
    )


def _ranking(path: Path, line: int, value: Any) -> list[list[str]]:
    """Places, the best first, each with those that share it: "a > b = c" or ["a", ["b", "c"]]."""
    if isinstance(value, str):
        places = [[name.strip() for name in place.split("=")] for place in value.split(">")]
    elif isinstance(value, list):
        places = [place if isinstance(place, list) else [place] for place in value]
    else:
        places = []
    names = [name for place in places for name in place]
    if len(names) < 2 or not all(isinstance(name, str) and name for name in names):
        refuse(
            path, line, "no ranking of two or more",
            cure='written "a > b = c" or, in JSONL, ["a", ["b", "c"]]',
        )  # fmt: skip
    if len(names) > MOST_RANKED:
        refuse(
            path, line, f"a ranking of {len(names):,}, more than {MOST_RANKED}",
            cure="rank the models that were run, or give the pairs: id,better,worse",
        )  # fmt: skip
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        refuse(path, line, f"'{twice:.{SHOWN}}' stands twice in the ranking")
    return places
