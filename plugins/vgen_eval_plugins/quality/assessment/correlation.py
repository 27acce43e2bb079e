"""How well measured quality goes with opinions: rank and linear correlations over all pictures."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import NoValidTarget
from vgen_eval.scoring import ColumnMetric
from vgen_eval.types import Statistics, Value

from vgen_eval_plugins.quality.assessment.logistic import PARAMETERS, Kind
from vgen_eval_plugins.quality.assessment.ranks import Pairs, krcc_lacks
from vgen_eval_plugins.quality.targets import Opinion

__all__ = ["Correlation"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FITS: Mapping[str, Kind] = {"plcc_logistic4": "logistic4", "plcc_logistic5": "logistic5"}
NAMES = ("srcc", "plcc", "krcc", *FITS)


class Correlation(ColumnMetric):
    """SRCC, PLCC (plain, and after logistic fits of 4 and 5 parameters) and KRCC with opinions.

    Spearman's with ties at their average rank, Kendall's tau-b. Q-Bench's PLCC is the plain one;
    fits are the custom of image quality assessment (VQEG). A picture without an answer, where the
    card names no substitute, leaves all of them undefined.
    """

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "quality"
    columns: ClassVar[tuple[str, ...]] = ("pred", "target", "part", "answered")

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        """Over what."""

        by_part: Annotated[
            bool,
            msgspec.Meta(description="Mean of the correlations in each part of the data set."),
        ] = False

    values: ClassVar[tuple[Value, ...]] = tuple(
        Value(name=name, of=name, aggregation="pooled", higher_is_better=True, low=-1.0, high=1.0)
        for name in NAMES
    )
    options: Options

    def update(self, pred: Any, target: Opinion, valid: Any) -> Statistics:  # noqa: ARG002
        """One row of a picture; `pred` is its quality, None where there is none.

        The part stands as a number that its name gives.
        """
        if not isinstance(target, Opinion):
            raise NoValidTarget(f"an opinion score is wanted, {type(target).__name__} is the truth")
        return {
            "pred": [0.0 if pred is None else float(pred)],
            "target": [target.score],
            "part": [zlib.crc32(target.part.encode())],
            "answered": [int(pred is not None)],
        }

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        """Each correlation, None where it is undefined; of one picture none is defined."""
        if len(statistics["pred"]) == 1:
            return dict.fromkeys(NAMES)
        return super().compute(statistics)

    def compute_columns(
        self, columns: Floats, weights: NDArray[np.integer], names: Sequence[str]
    ) -> Floats:
        """(m, names): see ColumnMetric."""
        found: Floats = np.full((len(weights), len(names)), np.nan)
        answered = columns[3] > 0
        parts = [(rows, Pairs(*columns[:2, rows])) for rows in self._parts(columns)]
        for at, row in enumerate(weights.astype(np.int64)):
            if not answered[row > 0].all():
                continue
            each = [_correlate(pairs, row[rows], names) for rows, pairs in parts]
            if each:
                found[at] = np.mean(each, axis=0)
        return found

    def _parts(self, columns: Floats) -> Iterator[Ints]:
        """Row numbers of each part that is scored apart."""
        if not self.options.by_part:
            yield np.arange(columns.shape[1], dtype=np.int64)
            return
        for part in np.unique(columns[2]):
            yield np.flatnonzero(columns[2] == part).astype(np.int64)

    def explain(self, statistics: Statistics) -> Mapping[str, str]:
        """Why values are undefined: no answers, too few pictures, constants, fits that failed.

        Or a package that is not there.
        """
        columns = np.array([statistics[name] for name in self.columns], np.float64)
        count = columns.shape[1]
        unanswered = int((columns[3] == 0).sum())
        if unanswered:
            told = (
                f"no_substitute: {unanswered:,} of {count:,} pictures have no answer that came to "
                "a quality, and the protocol names nothing in their place: answered_only is over "
                "the others; --set protocol.failure_value=constant_quality puts one there"
            )
            return dict.fromkeys(NAMES, told)
        reasons: dict[str, str] = {}
        lacking = krcc_lacks()
        if lacking is not None:
            reasons["krcc"] = f"missing_package: pip install {lacking}"
        for rows in self._parts(columns):
            pairs, ones = Pairs(*columns[:2, rows]), np.ones(rows.size, np.int64)
            fault = pairs.fault(ones)
            if fault is not None:
                return dict.fromkeys(NAMES, fault)
            for name, kind in FITS.items():
                if rows.size <= PARAMETERS[kind]:
                    more = f"{rows.size} pairs for {PARAMETERS[kind]} parameters"
                    reasons.setdefault(name, f"too_few_samples: {more}")
                elif not np.isfinite(pairs.plcc_fitted(ones, kind)):
                    reasons.setdefault(name, "fit_failed: no least squares were found")
        return reasons


_PLAIN: Mapping[str, Callable[[Pairs, Ints], float]] = {
    "srcc": Pairs.srcc,
    "plcc": Pairs.plcc,
    "krcc": Pairs.krcc,
}


def _correlate(pairs: Pairs, weights: Ints, names: Sequence[str]) -> Floats:
    """(names,): NaN where one is undefined."""
    if pairs.fault(weights) is not None:
        return np.full(len(names), np.nan)
    return np.array(
        [
            _PLAIN[name](pairs, weights)
            if name in _PLAIN
            else pairs.plcc_fitted(weights, FITS[name])
            for name in names
        ]
    )
