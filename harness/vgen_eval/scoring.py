"""Bases of metrics: statistics that are sums, and statistics that are columns of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from vgen_eval.types import NoOptions, Statistics, Value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ColumnMetric", "SumMetric", "add"]


def add(a: Statistics, b: Statistics) -> Statistics:
    """Entrywise sum of two sets of statistics: numbers, or lists of numbers of one length."""
    if a.keys() != b.keys():
        raise ValueError(f"statistics differ: {sorted(a)} and {sorted(b)}")
    return {key: _plus(value, b[key]) for key, value in a.items()}


def _plus(a: Any, b: Any) -> Any:
    if isinstance(a, list):
        return [x + y for x, y in zip(a, b, strict=True)]
    return a + b


class SumMetric:
    """A metric whose statistics add up; subclasses write `update`, `compute` and `values`.

    The engine recognises it and resamples whole data sets as one matrix product.
    """

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: Any) -> None:
        self.options = options

    def merge(self, a: Statistics, b: Statistics) -> Statistics:
        """The sum of both."""
        return add(a, b)


class ColumnMetric:
    """A metric of all samples beside one another, such as a correlation: a row each.

    `update` gives one number of each of `columns`, in a list of one. Subclasses write it, `values`
    and `compute_columns`. The engine recognises it, keeps the rows as an array and weighs them
    where others are merged again and again.
    """

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    columns: ClassVar[tuple[str, ...]]
    values: ClassVar[tuple[Value, ...]]

    def __init__(self, options: Any) -> None:
        self.options = options

    def compute_columns(
        self, columns: NDArray[np.float64], weights: NDArray[np.integer], names: Sequence[str]
    ) -> NDArray[np.float64]:
        """(m, names): the values of these names (`Value.of`), NaN where one is undefined.

        `columns` (k, n) in the order of the class's; `weights` (m, n), m times how often each row
        counts: whole numbers, 0 for not at all.
        """
        raise NotImplementedError

    def merge(self, a: Statistics, b: Statistics) -> Statistics:
        """The rows of both."""
        return {name: [*a[name], *b[name]] for name in self.columns}

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        """The values over all rows; None where one is undefined."""
        import numpy as np

        names = [value.of for value in self.values]
        columns = np.array([statistics[name] for name in self.columns], np.float64)
        weights = np.ones((1, columns.shape[1]), np.int64)
        found = self.compute_columns(columns, weights, names)[0].tolist()
        return {
            name: number if np.isfinite(number) else None
            for name, number in zip(names, found, strict=True)
        }
