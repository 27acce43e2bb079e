"""What people said laid beside a judge's numbers, over all answers and over parts of them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from vgen_eval.errors import UsageError, nearest
from vgen_eval.results.judging.entries import SHOWN
from vgen_eval.results.judging.human import Human, Label
from vgen_eval.results.judging.measures import (
    Units,
    categories_of,
    measure_labels,
    measure_pairs,
)
from vgen_eval.results.judging.preferences import Settled
from vgen_eval.results.judging.record import Row
from vgen_eval.results.judging.settings import Judged, Numbers, Setting
from vgen_eval.types import Item, Value
from vgen_eval.wording import plural

__all__ = ["Beside", "empty_row"]

EVERY_TAG = "all"
MOST_VALUES = 40
"""Values of a tag at most that are shown: more are an id, no breakdown."""
MOST_NAMED = 3


def empty_row(setting: Setting, variant: str, reason: str) -> Row:
    """A row of which nothing was measured, and why."""
    return Row(
        setting=setting.facts.label, variant=variant, subset="all", n=0, missing=0, reason=reason
    )


class _Unit(msgspec.Struct, frozen=True):
    """One label, or one pair, beside the judge's number; None: the judge has none."""

    item: Item
    judge: float | None
    human: float


class Beside:
    """What people said, ready to be laid beside the judge's numbers."""

    def __init__(
        self, human: Human, settled: Settled, value: Value, band: float, by: Sequence[str]
    ) -> None:
        self._human = human
        self._settled = settled
        self._value = value
        self._band = band
        self._by = by
        labels = np.array([one.label for one in human.labels])
        self.categories = categories_of(labels) if labels.size else ()
        """What labels may be; () where they are no categories."""
        self.samples = frozenset(
            [one.sample for one in human.labels] + [one.sample for one in settled.pairs]
        )
        self._strange_samples: set[str] = set(self.samples)
        self._strange_models: set[str] = self._models()
        self._beyond = False

    def _models(self) -> set[str]:
        pairs = self._settled.pairs
        named = {name for one in pairs for name in (one.better, one.worse)}
        return named | {one.model for one in self._human.labels if one.model}

    def rows(self, setting: Setting, variant: str, numbers: Mapping[int, Numbers]) -> Iterator[Row]:
        """The measures over all, and over each value of the tags asked for."""
        units = self._units(setting, numbers)
        for subset, part in self._subsets(units, setting).items():
            yield self._row(setting, variant, subset, part)

    def _row(self, setting: Setting, variant: str, subset: str, units: Sequence[_Unit]) -> Row:
        both = [unit for unit in units if unit.judge is not None]
        missing = len(units) - len(both)
        empty = empty_row(setting, variant, self._nothing(units))
        if not both:
            return msgspec.structs.replace(empty, subset=subset, missing=missing)
        numbered = {name: at for at, name in enumerate(sorted({u.item.group for u in both}))}
        arrays = Units(
            judge=np.array([unit.judge for unit in both], np.float64),
            human=np.array([unit.human for unit in both], np.float64),
            groups=np.array([numbered[unit.item.group] for unit in both], np.int64),
        )
        if self._human.kind == "labels":
            self._look_beyond(arrays)
            measures = measure_labels(arrays, self.categories)
        else:
            measures = measure_pairs(arrays, band=self._band)
        return msgspec.structs.replace(
            empty, subset=subset, n=len(both), missing=missing, measures=measures, reason=None
        )

    def _nothing(self, units: Sequence[_Unit]) -> str:
        """Why nothing can be measured."""
        if units:
            return "the judge has no number for what people spoke of"
        if self._human.kind == "labels":
            return "people said nothing of these answers"
        return "no pair of answers that were both judged so"

    def _look_beyond(self, units: Units) -> None:
        """Are the judge's numbers on another scale than the labels?"""
        if len(self.categories) > 1:
            low, high = self.categories[0], self.categories[-1]
            self._beyond |= bool(units.judge.min() < low or units.judge.max() > high)

    def _units(self, setting: Setting, numbers: Mapping[int, Numbers]) -> list[_Unit]:
        items = {item.id: item for one in setting.runs for item in one.job.items}
        self._strange_samples -= set(items)
        if self._human.kind == "labels":
            return self._label_units(setting, numbers, items)
        sign = 1.0 if self._value.higher_is_better else -1.0
        run_of = functools.cache(setting.run_of)  # pairs are many, names are few
        found = []
        for pair in self._settled.pairs:
            better, worse = run_of(pair.better), run_of(pair.worse)
            self._strange_models -= {pair.better} if better else set()
            self._strange_models -= {pair.worse} if worse else set()
            if better is None or worse is None or pair.sample not in items:
                continue
            one = _mean(numbers[id(better)], better, pair.sample)
            other = _mean(numbers[id(worse)], worse, pair.sample)
            difference = None if one is None or other is None else sign * (one - other)
            found.append(_Unit(items[pair.sample], difference, 1.0))
        return found

    def _label_units(
        self, setting: Setting, numbers: Mapping[int, Numbers], items: Mapping[str, Item]
    ) -> list[_Unit]:
        run_of = functools.cache(setting.run_of)
        found = []
        for label in self._human.labels:
            judged = run_of(label.model)
            if judged is None or label.sample not in items:
                continue
            self._strange_models.discard(label.model)
            number = _of_label(numbers[id(judged)], judged, label)
            found.append(_Unit(items[label.sample], number, label.label))
        return found

    def _subsets(self, units: Sequence[_Unit], setting: Setting) -> dict[str, list[_Unit]]:
        """all, and each value of the tags asked for, in the order of their names."""
        known = {tag for one in setting.runs for item in one.job.items for tag in item.tags}
        tags = sorted(known) if EVERY_TAG in self._by else list(self._by)
        found = {"all": list(units)}
        for tag in tags:
            if tag not in known:
                raise UsageError(
                    f"--by: the samples have no tag '{tag}'.{nearest(tag, known)}",
                    cure=(
                        f"one of {', '.join(sorted(known))}"
                        if known
                        else "leave --by out: the samples have no tags at all"
                    ),
                )
            values: dict[str, list[_Unit]] = {}
            for unit in units:
                if tag in unit.item.tags:
                    values.setdefault(unit.item.tags[tag], []).append(unit)
            if len(values) <= MOST_VALUES:
                found |= {f"{tag}={name}": values[name] for name in sorted(values)}
        return found

    def refuse_strangers(self, path: Path) -> None:
        """UsageError where the file and the runs have no sample, or no model, in common."""
        if self.samples and self._strange_samples == self.samples:
            raise UsageError(
                f"{path}: no sample of these runs: {_few(self._strange_samples)}",
                cure="'id' is a sample's id as in the run: vgen-eval show RUN",
            )
        models = self._models()
        if models and self._strange_models == models:
            raise UsageError(
                f"{path}: no model of these runs: {_few(models)}",
                cure="names are those of the runs' models, or the runs' ids; name all their runs",
            )

    def notes(self) -> Iterator[str]:
        """What has to be said beside the numbers."""
        if self._strange_samples:
            count = plural(len(self._strange_samples), "sample")
            yield f"said of {count} that no run has: {_few(self._strange_samples)}"
        if self._strange_models:
            count = plural(len(self._strange_models), "model")
            yield f"said of {count} that no run is of: {_few(self._strange_models)}"
        if self._beyond:
            yield (
                f"some of the judge's numbers lie beyond the labels, {self.categories[0]:g} to "
                f"{self.categories[-1]:g}: agreement is of numbers on one scale"
            )


def _few(names: set[str] | frozenset[str]) -> str:
    more = ", ..." if len(names) > MOST_NAMED else ""
    return ", ".join(f"{name:.{SHOWN}}" for name in sorted(names)[:MOST_NAMED]) + more


def _mean(numbers: Numbers, judged: Judged, sample: str) -> float | None:
    """Mean of the sample's attempts that have a number; None without any."""
    found = [numbers.get((sample, attempt)) for attempt in range(judged.job.attempts)]
    known = [number for number in found if number is not None]
    return sum(known) / len(known) if known else None


def _of_label(numbers: Numbers, judged: Judged, label: Label) -> float | None:
    if label.attempt is None:
        return _mean(numbers, judged, label.sample)
    return numbers.get((label.sample, label.attempt))
