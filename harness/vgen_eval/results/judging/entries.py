"""Files of what people said, line by line: CSV with a header, or a JSON object a line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from vgen_eval import jsonio
from vgen_eval.errors import UsageError
from vgen_eval.store.regular import open_regular
from vgen_eval.wording import plural

__all__ = [
    "LABEL_FIELDS",
    "PAIR_FIELDS",
    "RANKING_FIELDS",
    "SHAPES",
    "SHOWN",
    "Entry",
    "read_bytes",
    "read_entries",
    "refuse",
]

Entry = Mapping[str, Any]

LABEL_FIELDS = ("id", "model", "run", "attempt", "label")
PAIR_FIELDS = ("id", "better", "worse")
RANKING_FIELDS = ("id", "ranking")
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
"""What else tables are written with, and what it is called."""
LARGEST = 1 << 28
"""Bytes of a file."""
SHOWN = 80
"""Characters of what a file says that a message repeats."""
SHAPES = "id,label[,model|run][,attempt]; or id,better,worse; or id,ranking (a > b = c)"


def refuse(path: Path, line: int, what: str, *, cure: str | None = None) -> NoReturn:
    """UsageError naming the line; without a cure of its own, with what a file may hold."""
    raise UsageError(f"{path}:{line}: {what}", cure=cure or f"a file holds {SHAPES}")


def read_bytes(path: Path) -> bytes:
    """The file's bytes; UsageError for a pipe or a device, whose end would be waited for."""
    if path.suffix.lower() not in _READERS:
        raise UsageError(
            f"{path}: '{path.suffix}' is no kind of file that is read here",
            cure="--human takes FILE.csv or FILE.jsonl",
        )
    try:
        with open_regular(path) as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file", cure="--human FILE.csv or FILE.jsonl") from None
    except OSError as exc:
        raise UsageError(
            f"{path}: cannot be read: {exc.strerror or exc}",
            cure="--human takes FILE.csv or FILE.jsonl, which you may read",
        ) from exc
    if len(data) > LARGEST:
        raise UsageError(f"{path}: larger than {LARGEST:,} bytes", cure=f"a file holds {SHAPES}")
    return data


def read_entries(path: Path, data: bytes) -> Iterator[tuple[int, Entry]]:
    """Line numbers and what stands there."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise UsageError(f"{path}: no UTF-8 text ({exc.reason})", cure="save it as UTF-8") from exc
    yield from _READERS[path.suffix.lower()](path, text)


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
                    refuse(path, reader.line_num, f"two columns are called '{twice[0]:.{SHOWN}}'")
                continue
            if len(cells) != len(fields):
                refuse(
                    path, reader.line_num,
                    f"{plural(len(cells), 'cell')} where the head has {len(fields)}",
                )  # fmt: skip
            pairs = zip(fields, cells, strict=True)
            # an empty cell stands for nothing, but for the needed ones, which are told as empty
            yield reader.line_num, {k: v for k, v in pairs if v or k in ("id", "label")}
    except csv.Error as exc:
        refuse(path, reader.line_num, f"no CSV: {exc}")


def _refuse_separator(path: Path, text: str) -> None:
    """UsageError where the head separates its columns by anything but commas."""
    lines = enumerate(text.splitlines(), 1)
    line, head = next(((at, one) for at, one in lines if one.strip()), (1, ""))
    if "," in head:
        return
    for sign, name in SEPARATORS.items():
        fields = {field.strip().strip('"') for field in head.split(sign)}
        if len(fields) > 1 and fields & {*LABEL_FIELDS, *PAIR_FIELDS, *RANKING_FIELDS}:
            refuse(
                path, line, f"the columns are separated by {name}, not by commas",
                cure=f"save it with commas between the columns; a file holds {SHAPES}",
            )  # fmt: skip


def _json_lines(path: Path, text: str) -> Iterator[tuple[int, Entry]]:
    for number, line in enumerate(text.split("\n"), 1):  # strings may hold other ends of lines
        if not line.strip():
            continue
        try:
            entry = jsonio.loads(line)
            json.loads(line, object_pairs_hook=_refuse_twins)  # strict readers take the last
        except (ValueError, RecursionError) as exc:
            refuse(path, number, f"no JSON: {exc}")
        if not isinstance(entry, dict):
            refuse(path, number, "one JSON object a line is wanted")
        yield number, {key: value for key, value in entry.items() if value is not None}


def _refuse_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object; ValueError for a key that it has twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twin = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"'{twin:.{SHOWN}}' stands in it twice")
    return found


_READERS: Mapping[str, Callable[[Path, str], Iterator[tuple[int, Entry]]]] = {
    ".csv": _csv_lines, ".jsonl": _json_lines, ".ndjson": _json_lines,
}  # fmt: skip
