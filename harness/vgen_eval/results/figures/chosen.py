"""The runs that one figure may show together, what they are called, and what its caption says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from vgen_eval.errors import UsageError
from vgen_eval.results.card import Score
from vgen_eval.results.reading import Run
from vgen_eval.results.tables.alike import keep_newest
from vgen_eval.results.tables.apart import name_apart, varying
from vgen_eval.results.tables.axes import ROLES, Dimension, is_of_model, role_of
from vgen_eval.results.tables.entries import Entry, read_entries
from vgen_eval.results.tables.one_task import listed, of_task
from vgen_eval.wording import part_of, plural

__all__ = ["Chosen", "axis_label", "choose", "label_of"]


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

    def head(self, kind: str, drawn: Iterable[str] | None = None) -> dict[str, Any]:
        """What every record of a figure says first; `drawn`: the runs in it, all where None."""
        score = self.first
        names = self.runs if drawn is None else drawn
        part = [name for name in names if not self.runs[name].card.complete]
        return {
            "kind": kind,
            "metric": score.metric,
            "unit": score.unit,
            "higher_is_better": score.higher_is_better,
            "caption": self.caption + (f"; incomplete: {'; '.join(part)}" if part else ""),
            "notes": list(self.notes),
        }


def choose(
    runs: Sequence[Run], *, metric: str | None = None, task: str | None = None,
    anyway: bool = False, leave: Sequence[str] = (),
) -> Chosen:  # fmt: skip
    """Those of `task` (NAME or NAME@PROTOCOL, or a part that means one; all where None).

    UsageError where they do not belong in one figure: where they differ in more than the model,
    unless `anyway`, and in what is measured always. Fields in `leave` may differ. Of runs that
    differ in versions alone the newest is taken.
    """
    runs = of_task(runs, task)
    entries, left_out = read_entries(runs, (Dimension("model"),), (metric,) if metric else ())
    if not entries:
        raise UsageError(
            f"{plural(len(runs), 'run')} without a value to draw"
            + (f": {left_out[0]}" if left_out else ""),
            cure="vgen-eval score RUN makes their cards anew",
        )
    entries, alike = keep_newest(entries)
    entries.sort(key=lambda entry: ROLES.index(role_of(entry.run.card)))
    fields = list(dict.fromkeys(field for entry in entries for field in entry.facts))
    facts = [entry.facts for entry in entries]
    differ = [f for f in varying(facts, fields) if not is_of_model(f) and not _is_below(f, leave)]
    if differ and not anyway:
        raise _refusal(entries, differ)
    _check_measures(entries)
    names = _names(entries, fields)
    told = [*left_out, *alike]
    if differ:
        told.append(f"the runs differ in {listed(differ)}")
    return Chosen(
        {name: entry.run for name, entry in zip(names, entries, strict=True)},
        {name: entry.score for name, entry in zip(names, entries, strict=True)},
        _caption(entries),
        tuple(told),
    )


def _refusal(entries: Sequence[Entry], differ: Sequence[str]) -> UsageError:
    """Why these are not drawn together: first of all for being of several tasks."""
    tasks = sorted({entry.run.card.task for entry in entries})
    protocols = sorted({entry.run.task for entry in entries})
    for kind, found in (("tasks", tasks), ("protocols", protocols)):
        if len(found) > 1:
            return UsageError(
                f"these are runs of several {kind}: {listed(found)}",
                cure=f"--task NAME draws those of one: --task {found[0]}",
            )
    return UsageError(
        f"{plural(len(entries), 'run')} that differ in {listed(differ)}",
        cure="name runs that go together, or --anyway",
    )


def _check_measures(entries: Sequence[Entry]) -> None:
    """UsageError for numbers of several metrics or units: one axis has room for one."""
    units = {(entry.score.metric, entry.score.unit): None for entry in entries if entry.known}
    if len(units) > 1:
        named = [f"{metric} ({unit})" if unit else metric for metric, unit in units]
        raise UsageError(
            f"these are values of several metrics: {listed(named)}",
            cure="--task NAME, or --metric NAME of one that all have",
        )


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
    samples = card.selection.get("samples") or score.n
    part = part_of(samples, card.selection.get("of") or samples, "sample")
    prompt = f"prompt {card.prompt}" if card.prompt else "no prompt"
    return f"{entries[0].run.task}, {prompt}, {card.answer} answers, {part}"


def label_of(drawn: Mapping[str, Any]) -> str:
    """A run's name in a figure, and the role of its model where that is a particular one."""
    role = drawn["role"]
    return drawn["name"] if role == "model" else f"{drawn['name']} ({role})"


def axis_label(record: Mapping[str, Any], more: str = "", *, comma: str = ", ") -> str:
    """ "mae (objects), lower is better"; `comma`: a line feed where an axis is short."""
    unit = f" ({record['unit']})" if record["unit"] else ""
    better = "higher" if record["higher_is_better"] else "lower"
    return f"{record['metric']}{more}{unit}{comma}{better} is better"
