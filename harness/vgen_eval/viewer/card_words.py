"""A result card as tables and facts, section by section, for a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vgen_eval.results.card import ResultCard, Score
from vgen_eval.results.markdown import format_value

__all__ = ["Section", "pairs", "sections", "subsets", "tell"]

DEEPEST = 6


class Section(NamedTuple):
    """A title, and names with what they hold."""

    title: str
    facts: tuple[tuple[str, str], ...]


def sections(card: ResultCard) -> list[Section]:
    """What the card says besides numbers: settings, provenance, machine, cost."""
    model = {key: value for key, value in card.model_info.items() if not _is_empty(value)}
    found = [
        Section("Protocol", pairs(card.protocol_info, leave=("prompt_text", "choices"))),
        Section("Model", pairs(model)),
        Section("Task and data", pairs({**card.task_info, **card.dataset_info})),
        Section("Selection", pairs(card.selection)),
        *(Section(f"Plugin {plugin.get('name')}", pairs(plugin)) for plugin in card.plugins),
        Section("Versions", pairs(card.versions)),
        Section("Hardware", pairs(card.hardware)),
        Section("What it took (may differ between equal runs)", pairs(card.volatile)),
        Section(
            "Identity",
            (
                ("run", card.run),
                ("content digest", card.content_digest),
                ("schema", f"result card {card.schema_version}"),
            ),
        ),
    ]
    return [section for section in found if section.facts]


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (str, tuple, list, dict)) and not value)


def pairs(mapping: Mapping[str, Any], *, leave: Sequence[str] = ()) -> tuple[tuple[str, str], ...]:
    """Name and value in words, in the mapping's order."""
    return tuple((str(key), tell(value)) for key, value in mapping.items() if key not in leave)


def tell(value: Any, depth: int = 0) -> str:
    """Any value of a record on one line."""
    if isinstance(value, Mapping):
        if depth > DEEPEST:
            return "…"
        told = ((str(key), tell(inner, depth + 1)) for key, inner in value.items())
        return ", ".join(f"{key} {text}" for key, text in told) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(tell(inner, depth + 1) for inner in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return "none" if value is None or value == "" else str(value)


def subsets(card: ResultCard) -> tuple[list[str], list[tuple[str, list[str], int]]]:
    """The metrics, and of each tag's value their numbers and its samples."""
    found: dict[str, dict[str, Score]] = {}
    for score in card.scores:
        if score.subset != "all" and score.selection == "mean":
            found.setdefault(score.subset, {})[score.metric] = score
    metrics = list(dict.fromkeys(metric for scores in found.values() for metric in scores))
    rows = []
    for subset, scores in found.items():
        cells = [format_value(scores[m].value) if m in scores else "" for m in metrics]
        rows.append((subset, cells, next(iter(scores.values())).n))
    return metrics, rows
