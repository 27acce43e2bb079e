"""The journal's append against plain json, write, flush, and fsync every 32 lines."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from figures import interleave, ratio, report, seconds
from vgen_eval.store.journal import GROUP, Journal, read_lines

LINES = 20_000


def typical_line(number: int) -> dict[str, Any]:
    """What a finished image attempt writes."""
    digest = hashlib.sha256(str(number).encode()).hexdigest()
    return {
        "sample": f"COCO_train2014_{number:012}",
        "attempt": 0,
        "form": "image",
        "status": "ok",
        "request": digest,
        "seed": number,
        "geometry": {"original": [[480, 640]], "seen": [[768, 1024]]},
        "answer": {"sha256": digest, "file": f"{digest}.png", "bytes": 183_211 + number},
        "volatile": {"finished": 1.7e9 + number, "seconds": 4.125, "tries": 1, "batch": 1},
    }


def append_plainly(path: Path, lines: list[dict[str, Any]]) -> None:
    """The same lines with the standard library alone."""
    with path.open("w", encoding="utf-8") as file:
        for number, line in enumerate(lines, 1):
            file.write(json.dumps(line) + "\n")
            file.flush()
            if number % GROUP == 0:
                os.fsync(file.fileno())
        os.fsync(file.fileno())


def append_to_journal(path: Path, lines: list[dict[str, Any]]) -> None:
    """The lines through the journal, into a new file."""
    path.unlink(missing_ok=True)
    journal = Journal(path)
    for line in lines:
        journal.append(line)
    journal.close()


def main() -> None:
    lines = [typical_line(number) for number in range(LINES)]
    with tempfile.TemporaryDirectory() as name:
        ours, plain = Path(name) / "journal.jsonl", Path(name) / "plain.jsonl"
        mine, theirs = interleave(
            seconds(lambda: append_to_journal(ours, lines)),
            seconds(lambda: append_plainly(plain, lines)),
        )
        if [record for _, record in read_lines(ours)] != lines:
            raise SystemExit("the journal holds other lines: its figures say nothing")
    report(f"append of {LINES} lines / json and fsync", ratio(mine, theirs), most=2)


if __name__ == "__main__":
    main()
