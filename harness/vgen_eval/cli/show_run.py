"""A run as `show` prints it: its card, or how far it is; and its failures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vgen_eval import jsonio
from vgen_eval.cli import terminal
from vgen_eval.cli.card_text import card_lines
from vgen_eval.cli.run_facts import count_done, list_failed
from vgen_eval.errors import NotRunnable
from vgen_eval.store.run import RunStore

__all__ = ["describe_failed", "describe_run"]

Described = tuple[dict[str, Any], list[str]]


def describe_run(path: Path) -> Described:
    """Record and lines of a run."""
    asked = RunStore(path).record
    try:
        done, expected = count_done(path, asked)
        task, model = asked["task"], asked["model"]
    except (KeyError, TypeError) as exc:
        raise NotRunnable(f"{path}/run.json: damaged: {exc} is missing") from exc
    record: dict[str, Any] = {
        "kind": "run", "path": str(path), "task": task, "model": model,
        "done": done, "expected": expected, "card": None,
    }  # fmt: skip
    lines = [f"run {path}"]
    try:
        card = jsonio.loads((path / "result_card.json").read_bytes())
        if not isinstance(card, dict):
            raise ValueError("no JSON object")
        record["card"] = card
        lines += ["", *card_lines((path / "result_card.md").read_text(encoding="utf-8"))]
    except FileNotFoundError:
        lines.append(f"  {task}   {model}   no result card yet: {done:,} of {expected:,} are done")
        lines.append("  The command that began it goes on with it.")
    except (OSError, ValueError) as exc:
        raise NotRunnable(
            f"{path}: the result card cannot be read: {exc}", cure=f"vgen-eval score {path}"
        ) from exc
    return record, lines


def describe_failed(path: Path) -> Described:
    """Record and lines of the attempts of a run that are not ok."""
    asked = RunStore(path).record
    try:
        failed, not_run = list_failed(path, asked)
        attempts = asked["attempts"] > 1
    except (KeyError, TypeError) as exc:
        raise NotRunnable(f"{path}/run.json: damaged: {exc} is missing") from exc
    record = {"run": str(path), "failed": failed, "not_run": not_run}
    rows = [["sample", "attempt" if attempts else "", "status", "kind", "reason"]]
    for entry in failed:
        kind, reason = entry["kind"] or "-", entry["reason"] or "-"
        rows.append(
            [
                entry["sample"],
                str(entry["attempt"]) if attempts else "",
                entry["status"],
                kind,
                reason.removeprefix(f"{kind}: "),
            ]
        )
    if all(row[3] == "-" for row in rows[1:]):
        for row in rows:
            row[3] = ""
    lines = terminal.fitted(rows)
    if not failed:
        lines = ["no attempt failed"]
    if not_run:
        lines.append(f"{terminal.plural(not_run, 'attempt')} not made yet")
    return record, lines
