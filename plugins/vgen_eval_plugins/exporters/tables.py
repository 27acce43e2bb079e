"""Per-sample scores as CSV or Parquet: one table of all runs, and what its columns are."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import msgspec
from vgen_eval.errors import MissingExtra
from vgen_eval.exporting import File, KeptRun, LeftOut, csv_text
from vgen_eval.types import NoOptions

from vgen_eval_plugins.exporters.columns import Columns

__all__ = ["Csv", "Parquet"]

CHUNK = 4096
"""Rows that are held at a time."""


class Csv:
    """scores.csv: a row an attempt, numbers to the last digit; columns.json: what they are.

    Flags have blanks between them; what is not there is empty. Texts stand as
    `vgen_eval.exporting.csv_text` gives them, so that a spreadsheet runs none of them.
    """

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def export(self, runs: Sequence[KeptRun]) -> Iterator[File | LeftOut]:
        """One table of all runs."""
        columns = Columns(runs)
        yield File("scores.csv", _csv_parts(columns))
        yield File("columns.json", [columns.describe()])


def _csv_parts(columns: Columns) -> Iterator[bytes]:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(map(csv_text, columns.kinds()))
    for row in columns.rows():
        writer.writerow([_cell(value) for value in row])
        if buffer.tell() > 1 << 16:
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)  # reads back as the same number
    if isinstance(value, int):
        return str(value)
    return csv_text(" ".join(value) if isinstance(value, tuple) else str(value))


class Parquet:
    """scores.parquet: a row an attempt, typed columns; columns.json: what they are."""

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def export(self, runs: Sequence[KeptRun]) -> Iterator[File | LeftOut]:
        """One table of all runs; MissingExtra without pyarrow."""
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ImportError as exc:
            raise MissingExtra("data") from exc
        columns = Columns(runs)
        yield File("scores.parquet", [_parquet_bytes(columns, pa, parquet)])
        yield File("columns.json", [columns.describe()])


def _parquet_bytes(columns: Columns, pa: Any, parquet: Any) -> bytes:
    types = {
        "text": pa.string(),
        "texts": pa.list_(pa.string()),
        "integer": pa.int64(),
        "boolean": pa.bool_(),
        "number": pa.float64(),
    }
    schema = pa.schema([(name, types[kind]) for name, kind in columns.kinds().items()])
    sink = io.BytesIO()
    with parquet.ParquetWriter(sink, schema) as writer:
        for rows in _chunks(columns.rows()):
            # row by row would cost a table each
            arrays = [
                pa.array(list(column), type=field.type)
                for column, field in zip(zip(*rows, strict=True), schema, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
    return sink.getvalue()


def _chunks(rows: Iterator[list[Any]]) -> Iterator[list[list[Any]]]:
    held: list[list[Any]] = []
    for row in rows:
        held.append(row)
        if len(held) == CHUNK:
            yield held
            held = []
    if held:
        yield held
