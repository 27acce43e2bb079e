"""What is known of an attempt in words and numbers, gathered from its lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vgen_eval.engine.usage import AMOUNTS
from vgen_eval.viewer.looking.opened import Lines

__all__ = ["asked_of", "facts_of"]

NOTHING: Mapping[str, Any] = {}
_VOLATILE = (
    "thinking", "cost_usd", "seconds", "tries", "finished", "cached", "request_id",
    "reported_model", "reported_date", "answer_s",
)  # fmt: skip
_ASKED = ("question", "query", "phrase", "instruction")
"""Fields of a sample that a prompt is about, the first first."""
_OF_LINE = ("source", "seed", "request", "geometry", "kind")


def asked_of(fields: Mapping[str, str]) -> dict[str, str]:
    """`asked`: what is asked about this sample alone, question or phrase; {}: nothing is."""
    found = next((fields[name] for name in _ASKED if fields.get(name)), "")
    return {"asked": found} if found else {}


def facts_of(record: Mapping[str, Any], lines: Lines, form: str) -> dict[str, Any]:
    """As `Look.facts` says."""
    line, score = _mapping(lines.line), _mapping(lines.score)
    volatile = _mapping(line.get("volatile"))
    facts: dict[str, Any] = {
        "status": str(score.get("status", line.get("status", "not_run"))),
        "reason": _first_text(score.get("reason"), line.get("reason"), volatile.get("reason")),
        "fault": _first_text(score.get("fault")),
        "flags": tuple(
            dict.fromkeys(str(flag) for part in (line, score) for flag in _list(part.get("flags")))
        ),
        "form": form,
        "values": dict(_mapping(score.get("values"))),
        "files": tuple(_files(line, volatile)),
    }
    if line and score and line.get("status") != score.get("status"):
        facts["answer_status"] = str(line.get("status"))
    text = _first_text(line.get("text"), volatile.get("text"))
    if text:
        facts["text"] = text
    facts |= {name: volatile[name] for name in _VOLATILE if name in volatile}
    facts |= {name: line[name] for name in _OF_LINE if name in line}
    usage = {name: volatile[name] for name in AMOUNTS if name in volatile}
    if usage:
        facts["usage"] = usage
    if _mapping(score.get("prediction")):
        facts["summary"] = dict(score["prediction"])
    if "substitute" in score:
        facts["substitute"] = bool(score["substitute"])
    template = _mapping(record.get("prompt")).get("text")
    if isinstance(template, str) and template:
        facts["prompt_template"] = template
    return facts


def _files(line: Mapping[str, Any], volatile: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The raw files of an attempt: its answer, and pictures that came beside it."""
    named = [("answer", line.get("answer"))]
    named += [(f"picture {k}", p) for k, p in enumerate(_list(volatile.get("pictures")), 1)]
    for name, entry in named:
        kept = _mapping(entry)
        if isinstance(kept.get("file"), str) and isinstance(kept.get("sha256"), str):
            yield {
                "name": name, "sha256": kept["sha256"], "bytes": kept.get("bytes"),
                "file": kept["file"],
            }  # fmt: skip


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else NOTHING


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _first_text(*values: Any) -> str:
    return next((value for value in values if isinstance(value, str) and value), "")
