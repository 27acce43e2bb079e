"""A table as CSV: one line a number, as exact as it is in the result card."""

from __future__ import annotations

import csv
import io

from vgen_eval.exporting import csv_text
from vgen_eval.results.tables.record import Table

__all__ = ["COLUMNS", "render_csv"]

COLUMNS = (
    "row", "column", "model", "role", "task", "protocol", "prompt", "answer", "subset", "metric",
    "unit", "higher_is_better", "value", "low", "high", "n", "best", "complete", "exposure",
    "reason", "run",
)  # fmt: skip


def render_csv(table: Table) -> str:
    """One line a cell; what is unknown is empty, truth values are 1 and 0."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row, col, cell in table.filled():
        told = {
            "row": row.name,
            "column": col.name,
            "metric": cell.measure.metric,
            "unit": cell.measure.unit,
            "higher_is_better": int(cell.measure.higher_is_better),
            "best": int(cell.best),
            "complete": int(cell.complete),
            "exposure": "; ".join(cell.exposure),
        }
        fields = (told.get(name, getattr(cell, name, None)) for name in COLUMNS)
        writer.writerow([_field(field) for field in fields])
    return text.getvalue()


def _field(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return csv_text(value)
    return repr(value) if isinstance(value, float) else str(value)  # repr reads back as it was
