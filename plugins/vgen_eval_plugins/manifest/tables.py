"""Tables that come with data: queries and counts (CSV, TSV, JSONL), lists of classes."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import yaml
from vgen_eval.errors import UsageError, nearest

from vgen_eval_plugins.colours import AnyColour
from vgen_eval_plugins.manifest.lines import keys_twice
from vgen_eval_plugins.semantic.labels import LabelClass

__all__ = [
    "ID_COLUMNS",
    "Table",
    "choose_columns",
    "read_classes",
    "read_rows",
    "read_table",
    "shorten",
]

MOST_BYTES = 1 << 28
MOST = (1 << 63) - 1
"""The largest whole number that JSON files hold here."""
MOST_LABEL = (1 << 31) - 1
SHOWN = 60
"""Characters of a cell in a message."""
_LINE_END = re.compile(r"\r\n|\r|\n")
ID_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "key", "name", "sample"),
    "image": ("image", "file", "filename", "file_name", "picture", "path", "image_path",
              "img_path", "image_name"),
    "group": ("group", "scene"),
}  # fmt: skip
"""Column of ours that says which picture -> what it may be called."""
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    **ID_COLUMNS,
    "mask": ("mask", "mask_path", "segmentation"),
    "query": ("query", "text", "phrase", "expression", "prompt", "sentence", "object", "label"),
    "count": ("count", "number", "n", "num", "gt"),
    "points": ("points",),
}


class Table(msgspec.Struct, frozen=True):
    """Rows of a table by our column names, each with its line, and the columns passed over."""

    rows: tuple[tuple[int, Mapping[str, Any]], ...]
    unused: tuple[str, ...]


def read_table(path: Path) -> Table:
    """The rows of a CSV, TSV or JSONL file; UsageError, with file and line, for what is none."""
    raw = read_rows(path)
    chosen, unused = choose_columns(path, raw, _COLUMNS)
    rows = tuple(
        (
            line,
            {
                ours: _to_cell(ours, row[key], f"{path}:{line}")
                for ours, key in chosen.items()
                if row.get(key) not in (None, "")
            },
        )
        for line, row in raw
    )
    return Table(rows, unused)


def read_rows(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """Rows as the file has them, each with its line; UsageError for what is no table."""
    text = _read_text(path)
    is_jsonl = _is_jsonl(path, text)
    raw = _read_jsonl(path, text) if is_jsonl else _read_csv(path, text)
    if not raw:
        raise UsageError(f"{path}: no row")
    seen = dict.fromkeys(key for _, row in raw for key in row)
    _refuse_twins(seen, f"{path}:{raw[0][0] if is_jsonl else 1}")
    return raw


def choose_columns(
    path: Path,
    rows: Iterable[tuple[int, Mapping[str, Any]]],
    columns: Mapping[str, Sequence[str]],
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Column of ours -> the table's, and the table's that are passed over.

    UsageError where no column says which picture a row is about.
    """
    seen = list(dict.fromkeys(key for _, row in rows for key in row))
    chosen: dict[str, str] = {}
    for column, names in columns.items():
        present = [key for name in names for key in seen if key.strip().lower() == name]
        if present:
            chosen[column] = present[0]
    if "id" not in chosen and "image" not in chosen:
        raise UsageError(
            f"{path}: no column 'id' or 'image'.{nearest('image', seen)}",
            cure=f"its columns are: {', '.join(seen)}",
        )
    return chosen, tuple(key for key in seen if key not in chosen.values())


def _refuse_twins(columns: Iterable[str], where: str) -> None:
    known = [column.strip().lower() for column in columns]
    twice = sorted({name for name in known if known.count(name) > 1})
    if twice:
        raise UsageError(f"{where}: several columns are called '{twice[0]}'")


def _to_cell(column: str, value: Any, where: str) -> Any:
    """What a row holds in a column of ours; UsageError for what cannot stand there."""
    if column == "count":
        return _to_count(value, where)
    if column == "points":
        return _to_points(value, where)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise UsageError(f"{where}: {column} is {_kind(value)}, no text: {shorten(value)}")
    return value


def _to_count(value: Any, where: str) -> int:
    try:
        count = msgspec.convert(value, int, strict=False)
    except msgspec.ValidationError:
        count = -1
    if isinstance(value, bool) or not 0 <= count <= MOST:
        raise UsageError(f"{where}: count {shorten(value)} is no whole number from 0 (to 2^63 - 1)")
    return count


def _to_points(value: Any, where: str) -> list[list[float]]:
    try:
        read = msgspec.json.decode(value) if isinstance(value, str) else value
        points = msgspec.convert(read, list[tuple[float, float]])
        if all(math.isfinite(number) for point in points for number in point):
            return [[*point] for point in points]
    except (msgspec.DecodeError, ValueError, OverflowError):
        pass
    raise UsageError(f"{where}: points are [[x, y], ...] in pixels, {shorten(value)} seen")


def _kind(value: Any) -> str:
    kinds = {list: "a list", dict: "an object", bool: "true or false"}
    return kinds.get(type(value), type(value).__name__)


def shorten(value: Any) -> str:
    """A cell for a message."""
    text = repr(value) if not isinstance(value, int) or abs(value) <= MOST else "a huge number"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _read_text(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES or not path.is_file():
            raise UsageError(f"{path} is no table of text: a CSV or JSONL file is wanted")
        return path.read_text(encoding="utf-8-sig")
    except OSError as exc:
        raise UsageError(f"{path}: cannot be read: {exc.strerror or exc}") from exc
    except UnicodeDecodeError as exc:
        raise UsageError(f"{path}: not UTF-8: {exc}", cure="save it as UTF-8") from exc


def _is_jsonl(path: Path, text: str) -> bool:
    return path.suffix.lower() in (".jsonl", ".ndjson") or text.lstrip()[:1] == "{"


def _read_jsonl(path: Path, text: str) -> list[tuple[int, dict[str, Any]]]:
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line)
            twice = keys_twice(line)
        except (msgspec.DecodeError, ValueError, RecursionError) as exc:
            raise UsageError(f"{path}:{number}: {exc}") from exc
        if not isinstance(row, dict):
            raise UsageError(f"{path}:{number}: a line is one object {{...}}")
        if twice:
            raise UsageError(f"{path}:{number}: the key '{twice[0]}' stands twice")
        rows.append((number, row))
    return rows


def _read_csv(path: Path, text: str) -> list[tuple[int, dict[str, Any]]]:
    first = text.partition("\n")[0]
    marks = {mark: first.count(mark) for mark in ",\t;"}
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=max(marks, key=lambda mark: marks[mark]),
        strict=True,
    )
    rows: list[tuple[int, dict[str, Any]]] = []
    heading: list[str] = []
    start = 1
    try:
        for cells in reader:
            if heading and cells and len(cells) != len(heading):
                raise UsageError(
                    f"{path}:{start}: its number of columns is {len(cells)}, not the heading's "
                    f"{len(heading)}",
                    cure='a text that holds a comma stands in quotes: "the cat, left"',
                )
            if heading and cells:
                rows.append((start, dict(zip(heading, cells, strict=True))))
            elif cells:
                heading = cells
                _refuse_twins(heading, f"{path}:{start}")
            start = reader.line_num + 1
    except csv.Error as exc:  # told with the line that its row begins in: a quote may be open
        raise UsageError(f"{path}:{start}: {exc}", cure=_csv_cure(str(exc))) from exc
    return rows


def _csv_cure(said: str) -> str | None:
    if "end of data" in said or "limit" in said:
        return "a quote that opens here is not closed, or a text is too long"
    return None


def read_classes(path: Path) -> tuple[LabelClass, ...]:
    """The classes of a file: a name a line, or JSON or YAML.

    JSON and YAML hold a list of names or of {name, value, colour}, or a mapping of values to
    names or to {name, colour}, or of names to values. UsageError for anything else.
    """
    text = _read_text(path)
    kind = path.suffix.lower()
    if kind not in (".json", ".yaml", ".yml"):
        # not splitlines: a form feed in a name would shift the values
        names = [line.strip(" \t") for line in _LINE_END.split(text.rstrip())]
        if not all(names):
            raise UsageError(
                f"{path}:{names.index('') + 1}: an empty line would shift the values",
                cure="one name a line: the first is value 0",
            )
        for number, name in enumerate(names, 1):
            try:
                LabelClass(name=name)
            except ValueError as exc:
                raise UsageError(f"{path}:{number}: {exc}") from exc
        return tuple(LabelClass(name=name, value=at) for at, name in enumerate(names))
    try:
        # every YAML scalar as text: a class may be called no, or 1e3
        read = json.loads(text) if kind == ".json" else yaml.load(text, yaml.BaseLoader)  # noqa: S506
        return _to_classes(read)
    except (ValueError, TypeError, yaml.YAMLError, RecursionError) as exc:
        raise UsageError(
            f"{path}: {' '.join(str(exc).split())}",
            cure="a list of names, or a mapping of values to names or to {name, colour}",
        ) from exc


def _to_classes(read: Any) -> tuple[LabelClass, ...]:
    if isinstance(read, list):
        entries = [(str(at), entry) for at, entry in enumerate(read)]
    elif isinstance(read, Mapping):
        entries = [(str(key), entry) for key, entry in read.items()]
        if not all(_is_whole(key) for key, _ in entries):
            entries = [(_clip(value), key) for key, value in entries]
    else:
        raise ValueError(f"{type(read).__name__} seen")
    classes = tuple(_to_class(value, entry) for value, entry in entries)
    if not classes:
        raise ValueError("no class is named")
    return classes


def _to_class(value: str, entry: Any) -> LabelClass:
    if not _is_whole(value):
        raise ValueError(f"{shorten(value)} is no whole number")
    if isinstance(entry, str):
        return LabelClass(name=entry, value=_to_value(value))
    if not isinstance(entry, Mapping):
        raise ValueError(f"class {value} is {type(entry).__name__}, no name")
    colour = entry.get("colour", entry.get("color"))
    unknown = set(entry) - {"name", "value", "colour", "color"}
    if not isinstance(entry.get("name"), str) or unknown:
        raise ValueError(f"class {value} is no {{name, value, colour}}")
    if isinstance(colour, Sequence) and not isinstance(colour, str):
        colour = [int(level) for level in colour]
    return LabelClass(
        name=entry["name"],
        value=_to_value(str(entry.get("value", value))),
        colour=None if colour is None else msgspec.convert(colour, AnyColour),
    )


def _to_value(text: str) -> int:
    if not _is_whole(text) or len(text) > SHOWN or abs(int(text)) > MOST_LABEL:
        raise ValueError(f"{shorten(text)} is no value of a label file: whole, up to 2^31 - 1")
    return int(text)


def _clip(value: Any) -> str:
    return str(value) if isinstance(value, (str, int)) else type(value).__name__


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal()
