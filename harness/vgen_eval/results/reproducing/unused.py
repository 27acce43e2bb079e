"""Why a run that the user named gives a table no number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from vgen_eval.engine.models import BOUNDS
from vgen_eval.errors import nearest
from vgen_eval.results.card import ResultCard
from vgen_eval.results.reproducing.asking import Part
from vgen_eval.results.reproducing.finding import Library, measure
from vgen_eval.results.reproducing.planning import Outlook

__all__ = ["why_unused"]

MOST_NAMED = 3


def why_unused(outlook: Outlook, library: Library) -> Iterator[tuple[Path, str]]:
    """Each run of `library.named` that no number of the table is taken from, and the reason.

    Ceilings and floors, which a folder of runs brings along, come last.
    """
    founds = [need.found for need in outlook.needs.values() if need.found is not None]
    used = {found.path.resolve() for found in founds}
    unused = [(path, library.run_at(path)) for path in sorted(library.named - used)]
    unused.sort(
        key=lambda each: each[1] is not None and each[1].card.model_info.get("role") in BOUNDS
    )
    for path, run in unused:
        yield path, "it cannot be read" if run is None else _why(path, run.card, outlook, library)


def _why(path: Path, card: ResultCard, outlook: Outlook, library: Library) -> str:
    parts = [need.part for need in outlook.needs.values()]
    of_task = [part for part in parts if part.ref.name == card.task]
    if not of_task:
        tasks = [part.ref.name for part in parts]
        return f"it is of {card.task}; the table looks for runs of {_listed(tasks)}"
    of_both = [part for part in of_task if part.model.card.model == card.model]
    if not of_both:
        return _other_model(card, outlook, [part.model.card.model for part in of_task])
    fitting = [part for part in of_both if any(r.path == path for r in library.candidates(part))]
    if not fitting:
        task, model = card.task_info.get("distribution"), card.model_info.get("distribution")
        part = of_both[0]
        return (
            f"it is of task {task}:{card.task} and model {model}:{card.model}; the table looks for "
            f"{part.ref.distribution}:{part.ref.name} and {part.model.distribution}:{card.model}"
        )
    values = _values(fitting)
    if not any(measure(card, name, part.row) for part in fitting for name in values):
        return f"it has no number for {_listed(values)}" + _why_no_number(card)
    return _not_taken(fitting, outlook)


def _other_model(card: ResultCard, outlook: Outlook, models: Sequence[str]) -> str:
    """Of a label that is so called, the model that its cells look for."""
    meant = [
        f"; the row '{asked.cell.label}' looks for {asked.cell.model}"
        for asked in outlook.asked
        if asked.cell.model and _plain(asked.cell.label) == _plain(card.model)
    ]
    looked_for = meant[0] if meant else f"; of {card.task} the table looks for {_listed(models)}"
    near = "" if meant else nearest(card.model, set(models))
    return f"its model is called '{card.model}'{looked_for}{near and '.' + near}"


def _plain(name: str) -> str:
    return name.casefold().replace("_", "-").replace(" ", "-")


def _values(parts: Sequence[Part]) -> list[str]:
    """The values that the rows of these parts hold."""
    found = {name for part in parts for cell in part.row.cells for name in part.row.names(cell)}
    return sorted(found)


def _why_no_number(card: ResultCard) -> str:
    reasons = [score.reason for score in card.scores if score.value is None and score.reason]
    return f" ({reasons[0]})" if reasons else ""


def _not_taken(parts: Sequence[Part], outlook: Outlook) -> str:
    """Of a run that could be taken: which was, or why none was."""
    for part in parts:
        need = outlook.needs[part.key]
        if need.found is not None:
            return f"another run of the same is taken: {need.found.path}"
    return outlook.needs[parts[0].key].why_not or "no cell of the table needs it"


def _listed(names: Sequence[str]) -> str:
    found = list(dict.fromkeys(names))
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return ", ".join(found[:MOST_NAMED]) + more if found else "nothing"
