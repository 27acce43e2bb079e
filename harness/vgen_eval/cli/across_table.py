"""What a ranking of models over tasks says on a terminal, readable at 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from vgen_eval.cli import terminal
from vgen_eval.cli.compare_table import shorten, wrap
from vgen_eval.cli.numbers import number
from vgen_eval.wording import plural

if TYPE_CHECKING:
    from vgen_eval.results.across import Across, RankedTask
    from vgen_eval.results.across_cells import LeftOut

__all__ = ["table"]

LONGEST_LABEL = 36
MOST_COLUMNS = 8
"""Models whose wins are shown as a square; the document has all."""
MOST_LEFT_OUT = 12
MOST_NAMED = 3


def table(found: Across) -> list[str]:
    """The lines that say what `rank_across` found."""
    count = plural(len(found.models), "model")
    lines = [
        f"{count} over {plural(len(found.tasks), 'task')}, ranked by each task's primary value",
        "",
        *_models(found),
        "",
        *wrap(_agreement(found)),
        "",
        "order on each task",
        *(line for at in range(len(found.tasks)) for line in _task(found, found.tasks[at], at)),
    ]
    if len(found.models) <= MOST_COLUMNS:
        lines += ["", *_wins(found)]
    if found.left_out:
        lines += ["", "left out", *_left_out(found)]
    return lines


def _left_out(found: Across) -> Iterator[str]:
    """Each by its name; of many with one reason their number, and whose they are."""
    reasons: dict[str, list[LeftOut]] = {}
    for one in found.left_out:
        reasons.setdefault(one.reason, []).append(one)
    for reason, those in list(reasons.items())[:MOST_LEFT_OUT]:
        told = ", ".join(one.what for one in those[:MOST_NAMED])
        if len(those) > MOST_NAMED:
            models = list(dict.fromkeys(one.model for one in those if one.model))
            told = f"{plural(len(those), 'run')}"
            told += f" of {', '.join(models[:MOST_NAMED])}" if models else ""
            told += ", ..." if len(models) > MOST_NAMED else ""
        yield from wrap(shorten(f"{told}: {reason}"), 2)
    if len(reasons) > MOST_LEFT_OUT:
        yield f"  and for {len(reasons) - MOST_LEFT_OUT} more reasons: --json"


def _labels(found: Across) -> list[str]:
    return [terminal.clip(model.model, LONGEST_LABEL) for model in found.models]


def _models(found: Across) -> list[str]:
    rows = [["", "model", "mean place", "best", "last"]]
    last = len(found.models)
    for at, (model, label) in enumerate(zip(found.models, _labels(found), strict=True)):
        rows.append(
            [
                str(at + 1),
                label,
                number(model.mean_rank),
                str(sum(place == 1 for place in model.places)),
                str(sum(place == last for place in model.places)),
            ]
        )
    return terminal.fitted(rows, right="rlrrr", indent="  ")


def _agreement(found: Across) -> str:
    agreement = found.agreement
    if agreement.w is None or agreement.p_value is None:
        return f"agreement of the tasks: none ({agreement.reason})"
    told = {
        "shared": "the tasks share an order: who is good at one tends to be good at the others",
        "not_shown": "no shared order is shown: each task may have its own, or these are too few",
    }
    numbers = f"Kendall's W {number(agreement.w)}, p {number(agreement.p_value)}"
    return f"agreement of the tasks: {numbers}: {told[agreement.finding]}"


def _task(found: Across, task: RankedTask, at: int) -> Iterator[str]:
    labels = _labels(found)
    placed = sorted(
        (model.places[at], label, value)
        for model, label, value in zip(found.models, labels, task.values, strict=True)
    )
    tied = groupby(placed, key=lambda entry: entry[0])
    order = " > ".join(
        " = ".join(f"{label} {number(value)}" for _, label, value in group) for _, group in tied
    )
    unit = f" in {task.unit}" if task.unit else ""
    yield from wrap(f"{task.task}@{task.protocol}, {task.metric}{unit}: {order}", 2)


def _wins(found: Across) -> list[str]:
    """A square: on how many tasks the model of the row is better than that of the column."""
    count = len(found.models)
    rows = [["", "tasks won against", *(str(at + 1) for at in range(count))]]
    for at, (label, wins) in enumerate(zip(_labels(found), found.wins, strict=True)):
        numbers = ["-" if other == at else str(won) for other, won in enumerate(wins)]
        rows.append([str(at + 1), label, *numbers])
    return terminal.fitted(rows, right=f"rl{'r' * count}", indent="  ")
