"""Base of metrics whose statistics are sums: merge adds, entry by entry."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from vgen_eval.types import NoOptions, Statistics

__all__ = ["SumMetric", "add"]


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
