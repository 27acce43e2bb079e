"""Numbers of options: within bounds, or written as fractions as the steps of depth files are."""

from __future__ import annotations

import math
from typing import Any

import click

__all__ = ["Fraction", "Number"]


class Number(click.FloatRange):
    """A number within bounds; nan, which is within none and beyond none, is no number."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number; click's error for anything else."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"'{value}' is no number", param, ctx)
        return number


class Fraction(click.ParamType[float]):
    """A number above 0, or a fraction: 0.001, 1/256."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number; click's error for anything else."""
        above, slash, below = str(value).partition("/")
        try:
            number = float(above) / float(below) if slash else float(above)
        except (ValueError, ZeroDivisionError):
            number = math.nan
        if not (math.isfinite(number) and number > 0):
            self.fail(f"'{value}' is no number above 0, such as 0.001 or 1/256", param, ctx)
        return number
