"""What people said of answers, read from a CSV or JSONL file: labels, preferences, rankings."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn

import msgspec

from vgen_eval import jsonio
from vgen_eval.errors import UsageError
from vgen_eval.wording import plural

__all__ = ["Human", "Label", "Preference", "read_human"]

LABEL_FIELDS = ("id", "model", "run", "attempt", "label")
PAIR_FIELDS = ("id", "better", "worse")
RANKING_FIELDS = ("id", "ranking")
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
"""What else tables are written with, and what it is called."""
MOST_RANKED = 100
"""Models of one ranking at most: of n there are n (n - 1) / 2 pairs."""
SHAPES = "id,label[,model|run][,attempt]; or id,better,worse; or id,ranking (a > b = c)"


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
    labels: tuple[Label, ...] = ()
    preferences: tuple[Preference, ...] = ()
    """As they were said, rankings expanded to pairs."""
    rankings: int = 0
    ties: int = 0
    """Pairs that a ranking ties: they say nothing of which is better."""


Entry = Mapping[str, Any]


def read_human(path: Path) -> Human:
    """The judgements in the file; UsageError, with the line, where it holds anything else.

    Other columns than those needed are refused: who the people are is nobody's business here.
    """
    entries = list(_entries(path))
    if not entries:
        raise UsageError(f"{path}: no judgement in it", cure=f"it holds {SHAPES}")
    kinds: dict[str, int] = {}
    for line, entry in entries:
        kinds.setdefault(_shape(path, line, entry), line)
    if "labels" not in kinds:
        return _preferences(path, entries)
    if len(kinds) > 1:
        _refuse(
            path, max(kinds.values()), "labels and preferences in one file",
            cure="give each a file of its own",
        )  # fmt: skip
    return Human(kind="labels", labels=tuple(_labels(path, entries)))


def _refuse(path: Path, line: int, what: str, *, cure: str | None = None) -> NoReturn:
    raise UsageError(f"{path}:{line}: {what}", cure=cure or f"a file holds {SHAPES}")


# --- files


def _entries(path: Path) -> Iterator[tuple[int, Entry]]:
    """Line numbers and what stands there."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file", cure="--human FILE.csv or FILE.jsonl") from None
    except OSError as exc:
        raise UsageError(
            f"{path}: cannot be read: {exc.strerror or exc}",
            cure="--human takes FILE.csv or FILE.jsonl, which you may read",
        ) from exc
    except UnicodeDecodeError as exc:
        raise UsageError(f"{path}: no UTF-8 text ({exc.reason})", cure="save it as UTF-8") from exc
    readers: Mapping[str, Callable[[Path, str], Iterator[tuple[int, Entry]]]]
    readers = {".csv": _csv_lines, ".jsonl": _json_lines, ".ndjson": _json_lines}
    if path.suffix.lower() not in readers:
        raise UsageError(
            f"{path}: '{path.suffix}' is no kind of file that is read here",
            cure="--human takes FILE.csv or FILE.jsonl",
        )
    yield from readers[path.suffix.lower()](path, text)


def _csv_lines(path: Path, text: str) -> Iterator[tuple[int, Entry]]:
    _refuse_separator(path, text)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    fields: list[str] | None = None
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if fields is None:
                fields = cells
                twice = [name for name in fields if fields.count(name) > 1]
                if twice:
                    _refuse(path, reader.line_num, f"two columns are called '{twice[0]}'")
                continue
            if len(cells) != len(fields):
                _refuse(
                    path, reader.line_num,
                    f"{plural(len(cells), 'cell')} where the head has {len(fields)}",
                )  # fmt: skip
            pairs = zip(fields, cells, strict=True)
            # an empty cell stands for nothing, but for the needed ones, which are told as empty
            yield reader.line_num, {k: v for k, v in pairs if v or k in ("id", "label")}
    except csv.Error as exc:
        _refuse(path, reader.line_num, f"no CSV: {exc}")


def _refuse_separator(path: Path, text: str) -> None:
    """UsageError where the head separates its columns by anything but commas."""
    lines = enumerate(text.splitlines(), 1)
    line, head = next(((at, one) for at, one in lines if one.strip()), (1, ""))
    if "," in head:
        return
    for sign, name in SEPARATORS.items():
        fields = {field.strip().strip('"') for field in head.split(sign)}
        if len(fields) > 1 and fields & {*LABEL_FIELDS, *PAIR_FIELDS, *RANKING_FIELDS}:
            _refuse(
                path, line, f"the columns are separated by {name}, not by commas",
                cure=f"save it with commas between the columns; a file holds {SHAPES}",
            )  # fmt: skip


def _json_lines(path: Path, text: str) -> Iterator[tuple[int, Entry]]:
    for number, line in enumerate(text.split("\n"), 1):  # strings may hold other ends of lines
        if not line.strip():
            continue
        try:
            entry = jsonio.loads(line)
        except ValueError as exc:
            _refuse(path, number, f"no JSON: {exc}")
        if not isinstance(entry, dict):
            _refuse(path, number, "one JSON object a line is wanted")
        yield number, {key: value for key, value in entry.items() if value is not None}


def _shape(path: Path, line: int, entry: Entry) -> str:
    """labels, pairs or rankings; UsageError about columns that do not belong there."""
    shapes = {"label": LABEL_FIELDS, "better": PAIR_FIELDS, "worse": PAIR_FIELDS}
    found = next((name for name in (*shapes, "ranking") if name in entry), None)
    known = {*LABEL_FIELDS, *PAIR_FIELDS, *RANKING_FIELDS}
    for name in entry:
        if name not in known:
            _refuse(
                path, line, f"column '{name}' is not read",
                cure=f"leave it out, above all where it is of a person; a file holds {SHAPES}",
            )  # fmt: skip
    if found is None:
        _refuse(path, line, "neither label, nor better and worse, nor ranking")
    for name in entry:
        if name not in shapes.get(found, RANKING_FIELDS):
            _refuse(path, line, f"'{name}' beside '{found}'")
    return {"label": "labels", "ranking": "rankings"}.get(found, "pairs")


# --- what a line says


def _text(path: Path, line: int, entry: Entry, field: str) -> str:
    value = entry.get(field)
    if not isinstance(value, str) or not value.strip():
        _refuse(path, line, f"'{field}' is {'no text' if value else 'missing or empty'}")
    return value


def _labels(path: Path, entries: Sequence[tuple[int, Entry]]) -> Iterator[Label]:
    seen: dict[tuple[str, str, int | None], int] = {}
    for line, entry in entries:
        if "model" in entry and "run" in entry:
            _refuse(
                path, line, "'model' and 'run' both", cure="one of them says whose answer it is"
            )
        owner = next((name for name in ("model", "run") if name in entry), None)
        label = Label(
            sample=_text(path, line, entry, "id"),
            model="" if owner is None else _text(path, line, entry, owner),
            attempt=_attempt(path, line, entry),
            label=_number(path, line, entry),
        )
        key = (label.sample, label.model, label.attempt)
        if key in seen:
            _refuse(
                path, line, f"'{label.sample}' has a label already, on line {seen[key]}",
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
        _refuse(path, line, f"attempt '{value}' is no number from 0 on")
    return number


def _number(path: Path, line: int, entry: Entry) -> float:
    value = entry.get("label")
    try:
        number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        _refuse(path, line, f"label '{value}' is no number", cure="write 1 and 0 for yes and no")
    return number


def _preferences(path: Path, entries: Sequence[tuple[int, Entry]]) -> Human:
    said: list[Preference] = []
    rankings = ties = 0
    for line, entry in entries:
        sample = _text(path, line, entry, "id")
        if "ranking" not in entry:
            better, worse = (_text(path, line, entry, field) for field in ("better", "worse"))
            if better == worse:
                _refuse(path, line, f"'{better}' is better than itself")
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
    return Human(kind="preferences", preferences=tuple(said), rankings=rankings, ties=ties)


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
        _refuse(
            path, line, "no ranking of two or more",
            cure='written "a > b = c" or, in JSONL, ["a", ["b", "c"]]',
        )  # fmt: skip
    if len(names) > MOST_RANKED:
        _refuse(
            path, line, f"a ranking of {len(names):,}, more than {MOST_RANKED}",
            cure="rank the models that were run, or give the pairs: id,better,worse",
        )  # fmt: skip
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        _refuse(path, line, f"'{twice}' stands twice in the ranking")
    return places
