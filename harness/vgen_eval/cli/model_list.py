"""`vgen-eval list models`: the rosters, what each model needs, and whether it can run here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from vgen_eval.cards import CardHead
    from vgen_eval.cards.records import ModelCard
    from vgen_eval.plugins import Catalog, Plugin

__all__ = ["HEADS", "fit_titles", "list_models", "model_row"]

HEADS = ["name", "adapter", "answers", "needs", "here", "what it is"]
MOST_FORMS = 3
LEAST_TITLE = 24
"""Columns that a title is worth; with fewer left it is dropped."""


def list_models(
    catalog: Catalog, *, paper: str | None = None, runs_here: bool = False
) -> list[dict[str, Any]]:
    """A record a model, in the catalog's order; UsageError for a paper that no card names.

    A card that is broken further down than its head is listed with what is wrong with it.
    """
    extras: dict[str, bool] = {}
    records = [
        _record(plugin, head, _read(head.path), extras) for plugin, head in catalog.heads("model")
    ]
    if paper is not None:
        _check_paper(paper, records)
        records = [record for record in records if paper in record["papers"]]
    return [record for record in records if record["runs_here"] or not runs_here]


def model_row(record: dict[str, Any]) -> list[str]:
    """The record's line, its cells in the order of HEADS."""
    forms = record["answers"]
    if len(forms) > MOST_FORMS:
        forms = [*forms[: MOST_FORMS - 1], f"+{len(forms) - MOST_FORMS + 1}"]
    here = "yes" if record["runs_here"] else f"no: {', '.join(record['missing'])}"
    wanted = ", ".join(record["needs"]) or "-"
    return [record["typed"], record["adapter"], ", ".join(forms), wanted, here, record["title"]]


def fit_titles(rows: Sequence[Sequence[str]], columns: int) -> list[list[str]]:
    """The rows with titles cut to what is left of the columns, or without any."""
    from vgen_eval.cli.terminal import clip, layout

    used = max(map(len, layout([row[:-1] for row in rows])), default=0)
    room = columns - used - 3
    if room < LEAST_TITLE:
        return [list(row[:-1]) for row in rows]
    return [[*row[:-1], clip(row[-1], room)] for row in rows]


def _read(path: Path) -> ModelCard | str:
    """The card, or the first thing that is wrong with it."""
    from vgen_eval.cards.load import parse_card
    from vgen_eval.cards.yaml_nodes import read_text
    from vgen_eval.errors import CardError

    try:
        # not `load_card`, which makes two digests as well
        return parse_card(read_text(path), file=str(path)).record  # type: ignore[return-value]
    except CardError as exc:
        return str(exc.problems[0])
    except (OSError, UnicodeError) as exc:
        return f"{path}: cannot be read: {exc}"


def _record(
    plugin: Plugin, head: CardHead, card: ModelCard | str, extras: dict[str, bool]
) -> dict[str, Any]:
    from vgen_eval.cli.model_needs import lacks, needs

    qualified = f"{plugin.name}:{head.name}"
    record = {
        "id": qualified,
        "name": head.name,
        "distribution": plugin.name,
        "title": head.title,
        "path": str(head.path),
        "typed": head.name if plugin.builtin else qualified,
    }
    if isinstance(card, str):
        told = {"adapter": "", "answers": [], "needs": [], "missing": ["its card is broken"]}
        return {**record, **told, "runs_here": False, "papers": [], "problem": card}
    missing = lacks(card, extras)
    return record | {
        "adapter": card.adapter,
        "answers": list(card.answers),
        "needs": needs(card),
        "missing": missing,
        "runs_here": not missing,
        "papers": list(card.papers),
        "licence": card.licence,
        "availability": card.availability,
        "verified": card.verified,
        "problem": None,
    }


def _check_paper(paper: str, records: Iterable[dict[str, Any]]) -> None:
    from vgen_eval.errors import UsageError, nearest

    known = set(_papers(records))
    if paper not in known:
        raise UsageError(
            f"no model stands in the roster of '{paper}'.{nearest(paper, known)}",
            cure=f"rosters here: {', '.join(sorted(known)) or 'none'}",
        )


def _papers(records: Iterable[dict[str, Any]]) -> Iterator[str]:
    for record in records:
        yield from record["papers"]
