"""Tables that come with data: queries and counts (CSV, TSV, JSONL), lists of classes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import yaml
from vgen_eval.errors import UsageError, nearest

from vgen_eval_plugins.colours import AnyColour
from vgen_eval_plugins.semantic.labels import LabelClass

__all__ = ["Table", "read_classes", "read_table"]

MOST_BYTES = 1 << 28
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "key", "name", "sample"),
    "image": ("image", "file", "filename", "file_name", "picture", "path", "image_path"),
    "mask": ("mask", "mask_path", "segmentation"),
    "query": ("query", "text", "phrase", "expression", "prompt", "sentence", "object", "label"),
    "count": ("count", "number", "n", "num", "gt"),
    "points": ("points",),
    "group": ("group", "scene"),
}


class Table(msgspec.Struct, frozen=True):
    """Rows of a table by our column names, each with its line, and the columns passed over."""

    rows: tuple[tuple[int, Mapping[str, Any]], ...]
    unused: tuple[str, ...]


def read_table(path: Path) -> Table:
    """The rows of a CSV, TSV or JSONL file; UsageError, with file and line, for what is none."""
    text = _read_text(path)
    raw = _read_jsonl(path, text) if _is_jsonl(path, text) else _read_csv(path, text)
    if not raw:
        raise UsageError(f"{path}: no row")
    seen = list(dict.fromkeys(key for _, row in raw for key in row))
    chosen: dict[str, str] = {}
    for column, names in _COLUMNS.items():
        present = [key for name in names for key in seen if key.strip().lower() == name]
        if present:
            chosen[column] = present[0]
    if "id" not in chosen and "image" not in chosen:
        raise UsageError(
            f"{path}: no column 'id' or 'image'.{nearest('image', seen)}",
            cure=f"its columns are: {', '.join(seen)}",
        )
    rows = tuple(
        (line, {ours: row[key] for ours, key in chosen.items() if row.get(key) not in (None, "")})
        for line, row in raw
    )
    return Table(rows, tuple(key for key in seen if key not in chosen.values()))


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
        except msgspec.DecodeError as exc:
            raise UsageError(f"{path}:{number}: {exc}") from exc
        if not isinstance(row, dict):
            raise UsageError(f"{path}:{number}: a line is one object {{...}}")
        rows.append((number, row))
    return rows


def _read_csv(path: Path, text: str) -> list[tuple[int, dict[str, Any]]]:
    first = text.partition("\n")[0]
    marks = {mark: first.count(mark) for mark in ",\t;"}
    reader = csv.DictReader(
        io.StringIO(text, newline=""),
        delimiter=max(marks, key=lambda mark: marks[mark]),
        strict=True,
    )
    rows: list[tuple[int, dict[str, Any]]] = []
    try:
        for row in reader:
            if None in row or None in row.values():
                raise UsageError(
                    f"{path}:{reader.line_num}: its number of columns is not the heading's",
                    cure='a text that holds a comma stands in quotes: "the cat, left"',
                )
            rows.append((reader.line_num, dict(row)))
    except csv.Error as exc:
        raise UsageError(f"{path}:{reader.line_num}: {exc}") from exc
    return rows


def read_classes(path: Path) -> tuple[LabelClass, ...]:
    """The classes of a file: a name a line, or JSON or YAML.

    JSON and YAML hold a list of names or of {name, value, colour}, or a mapping of values to
    names or to {name, colour}, or of names to values. UsageError for anything else.
    """
    text = _read_text(path)
    kind = path.suffix.lower()
    if kind not in (".json", ".yaml", ".yml"):
        names = [line.strip() for line in text.rstrip().splitlines()]
        if not all(names):
            raise UsageError(
                f"{path}:{names.index('') + 1}: an empty line would shift the values",
                cure="one name a line: the first is value 0",
            )
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
        raise ValueError(f"{value!r} is no whole number")
    if isinstance(entry, str):
        return LabelClass(name=entry, value=int(value))
    if not isinstance(entry, Mapping):
        raise ValueError(f"class {value} is {type(entry).__name__}, no name")
    colour = entry.get("colour", entry.get("color"))
    unknown = set(entry) - {"name", "value", "colour", "color"}
    if "name" not in entry or unknown:
        raise ValueError(f"class {value} is no {{name, value, colour}}")
    if isinstance(colour, Sequence) and not isinstance(colour, str):
        colour = [int(level) for level in colour]
    return LabelClass(
        name=str(entry["name"]),
        value=int(entry.get("value", value)),
        colour=None if colour is None else msgspec.convert(colour, AnyColour),
    )


def _clip(value: Any) -> str:
    return str(value) if isinstance(value, (str, int)) else type(value).__name__


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal()
