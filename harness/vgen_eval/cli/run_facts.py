"""What a run directory says without its task, model or data: how far it is, and what failed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from vgen_eval.store.journal import read_lines
from vgen_eval.store.run import RunStore
from vgen_eval.types import STATUS_GROUP

__all__ = ["count_done", "list_failed"]

Key = tuple[str, int]
"""Sample id and attempt."""


def _wanted(record: Mapping[str, Any]) -> set[Key]:
    return {(s, a) for s in record["samples"] for a in range(record["attempts"])}


def count_done(
    path: Path, record: Mapping[str, Any], *, retry: Collection[str] = ()
) -> tuple[int, int]:
    """Attempts that were made, whatever they came to, and all that run.json asks for.

    `retry`: statuses whose attempts are not counted, as they are to be made again.
    """
    wanted = _wanted(record)
    statuses: dict[Key, str] = {}
    for _, line in read_lines(RunStore(path).predictions_path):
        key = (line["sample"], line["attempt"])
        if key in wanted:
            statuses[key] = line["status"]
    return sum(status not in retry for status in statuses.values()), len(wanted)


def list_failed(path: Path, record: Mapping[str, Any]) -> tuple[list[dict[str, Any]], int]:
    """Every attempt that is not ok (sample, attempt, status, group, kind, reason, text), in the
    order of the samples; and how many were never made.
    """
    store = RunStore(path)
    wanted = _wanted(record)
    statuses: dict[Key, str] = {}
    bad: dict[Key, dict[str, Any]] = {}
    for _, line in read_lines(store.predictions_path):
        key = (line["sample"], line["attempt"])
        statuses[key] = line["status"]
        if line["status"] == "ok":
            bad.pop(key, None)
        else:
            bad[key] = line
    failed = {key: _failure(key, line["status"], line, line) for key, line in bad.items()}
    # an answer that arrived may still be unreadable: only its score tells
    for _, score in read_lines(store.scores_path(record["score_digest"])):
        key = (score["sample"], score["attempt"])
        if score["of"].partition(":")[0] != statuses.get(key):
            continue  # of a line that is superseded
        if score["status"] == "ok":
            failed.pop(key, None)
        else:
            failed[key] = _failure(key, score["status"], score, bad.get(key, {}))
    order = {sample: at for at, sample in enumerate(record["samples"])}
    keys = sorted((key for key in failed if key in wanted), key=lambda k: (order[k[0]], k[1]))
    return [failed[key] for key in keys], len(wanted - statuses.keys())


def _failure(
    key: tuple[str, int], status: str, said: Mapping[str, Any], line: Mapping[str, Any]
) -> dict[str, Any]:
    reason = said.get("reason") or line.get("reason") or line.get("volatile", {}).get("reason")
    return {
        "sample": key[0],
        "attempt": key[1],
        "status": status,
        "group": STATUS_GROUP.get(status),
        "kind": line.get("kind"),
        "reason": reason,
        "text": line.get("text"),
    }
