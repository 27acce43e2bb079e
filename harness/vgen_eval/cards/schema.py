"""JSON Schemas of the cards, for editors: `python -m vgen_eval.cards.schema DIR` writes them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.cards.load import RECORDS, Kind
from vgen_eval.errors import UsageError, nearest

__all__ = ["FILES", "json_schema", "write_schemas"]

FILES: Mapping[Kind, str] = {
    "task": "task_card.schema.json",
    "model": "model_card.schema.json",
    "suite": "suite.schema.json",
}


def json_schema(kind: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of one kind of card: task, model or suite."""
    for known, record in RECORDS.items():
        if kind == known:
            return {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$id": f"urn:vgen-eval:schema:{kind}-card",
                "title": f"vgen-eval {kind} card",
                "description": (record.__doc__ or "").strip(),
                **msgspec.json.schema(record),
            }
    raise UsageError(f"no kind of card {kind!r}.{nearest(kind, RECORDS)}")


def write_schemas(folder: Path) -> list[Path]:
    """Write every schema into `folder`, which is made when missing; the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for kind, name in FILES.items():
        target = folder / name
        target.write_text(jsonio.pretty(json_schema(kind)), encoding="utf-8")
        written.append(target)
    return written


def main(arguments: Sequence[str]) -> int:
    """Write the schemas to the one folder named; 2 when none or several are."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m vgen_eval.cards.schema DIR\n")
        return 2
    write_schemas(Path(arguments[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
