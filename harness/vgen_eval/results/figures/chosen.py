"""The runs that one figure may show together, what they are called, and what its caption says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from vgen_eval.errors import UsageError, nearest
from vgen_eval.results.card import Score
from vgen_eval.results.reading import Run
from vgen_eval.results.tables.apart import name_apart, varying
from vgen_eval.results.tables.axes import ROLES, Dimension, is_of_model, role_of
from vgen_eval.results.tables.entries import Entry, keep_newest, read_entries
from vgen_eval.wording import part_of, plural

__all__ = ["Chosen", "axis_label", "choose"]

MOST_FIELDS = 6


class Chosen(msgspec.Struct, frozen=True):
    """Runs by what they are called in the figure, each with its score."""

    runs: Mapping[str, Run]
    scores: Mapping[str, Score]
    caption: str
    notes: tuple[str, ...]

    @property
    def first(self) -> Score:
        """Of the first run: metric, unit and direction are those of all."""
        return next(iter(self.scores.values()))

    def role(self, name: str) -> str:
        """The role of that run's model."""
        return role_of(self.runs[name].card)

    def head(self, kind: str) -> dict[str, Any]:
        """What every record of a figure says first."""
        score = self.first
        return {
            "kind": kind,
            "metric": score.metric,
            "unit": score.unit,
            "higher_is_better": score.higher_is_better,
            "caption": self.caption,
            "notes": list(self.notes),
        }


def choose(
    runs: Sequence[Run], *, metric: str | None = None, task: str | None = None,
    anyway: bool = False, leave: Sequence[str] = (),
) -> Chosen:  # fmt: skip
    """Those of `task` (NAME or NAME@PROTOCOL; all where None), if they belong in one figure.

    UsageError where they differ in more than the model, unless `anyway`; fields in `leave` may
    differ. Of runs that differ in versions alone the newest is taken.
    """
    runs = _of_task(runs, task)
    entries, left_out = read_entries(runs, (Dimension("model"),), (metric,) if metric else ())
    entries, alike = keep_newest(entries)
    entries.sort(key=lambda entry: ROLES.index(role_of(entry.run.card)))
    fields = list(dict.fromkeys(field for entry in entries for field in entry.facts))
    facts = [entry.facts for entry in entries]
    differ = [f for f in varying(facts, fields) if not is_of_model(f) and not _is_below(f, leave)]
    if differ and not anyway:
        more = f" and {len(differ) - MOST_FIELDS} more" if len(differ) > MOST_FIELDS else ""
        raise UsageError(
            f"{plural(len(entries), 'run')} that differ in {', '.join(differ[:MOST_FIELDS])}{more}",
            cure=_cure(runs),
        )
    names = _names(entries, fields)
    told = [*left_out, *alike]
    if differ:
        told.append(f"the runs differ in {', '.join(differ[:MOST_FIELDS])}")
    return Chosen(
        {name: entry.run for name, entry in zip(names, entries, strict=True)},
        {name: entry.score for name, entry in zip(names, entries, strict=True)},
        _caption(entries),
        tuple(told),
    )


def _of_task(runs: Sequence[Run], task: str | None) -> list[Run]:
    if task is None:
        return list(runs)
    found = [run for run in runs if task in (run.task, run.card.task)]
    if not found:
        known = sorted({run.task for run in runs})
        raise UsageError(
            f"no run here is of '{task}'.{nearest(task, known)}",
            cure=f"there are: {', '.join(known[:8])}",
        )
    return found


def _cure(runs: Sequence[Run]) -> str:
    tasks = sorted({run.task for run in runs})
    if len(tasks) > 1:
        return f"--task {tasks[0]}, or another of their {len(tasks)} tasks"
    return "name runs that go together, or --anyway"


def _is_below(field: str, names: Sequence[str]) -> bool:
    return any(field == name or field.startswith(f"{name}.") for name in names)


def _names(entries: Sequence[Entry], fields: Sequence[str]) -> list[str]:
    """The models, and where two are of one name what tells these apart."""
    by_model: dict[str, list[Entry]] = {}
    for entry in entries:
        by_model.setdefault(entry.run.card.model, []).append(entry)
    names: dict[int, str] = {}
    for model, group in by_model.items():
        heads, _ = name_apart([entry.facts for entry in group], fields)
        for entry, apart in zip(group, heads, strict=True):
            told = (f"{field.removeprefix('model.')} {value}" for field, value in apart)
            names[id(entry)] = ", ".join([model, *told])
    return [names[id(entry)] for entry in entries]


def _caption(entries: Sequence[Entry]) -> str:
    """Task, protocol, prompt, answer form and samples; of the first run where they differ."""
    card, score = entries[0].run.card, entries[0].score
    samples = card.selection.get("samples", score.n)
    part = part_of(samples, card.selection.get("of", samples), "sample")
    prompt = f"prompt {card.prompt}" if card.prompt else "no prompt"
    told = f"{entries[0].run.task}, {prompt}, {card.answer} answers, {part}"
    incomplete = [entry.run.card.model for entry in entries if not entry.run.card.complete]
    return told + (f"; incomplete: {', '.join(incomplete)}" if incomplete else "")


def axis_label(record: Mapping[str, Any], more: str = "") -> str:
    """ "mae (objects), lower is better"."""
    unit = f" ({record['unit']})" if record["unit"] else ""
    better = "higher" if record["higher_is_better"] else "lower"
    return f"{record['metric']}{more}{unit}, {better} is better"
