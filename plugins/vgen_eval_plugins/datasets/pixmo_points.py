"""PixMo-Points: people's points on everything that a label names, with many high counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from vgen_eval_plugins.datasets.pixmo import LeftOut, PixMo, PixMoOptions, Points, Row

__all__ = ["PixMoPoints"]


class PixMoPoints(PixMo):
    """`data/train-*.parquet`: the address and the sha256 of a picture, a label, points, a count.

    The one split has 2,376,222 rows, several a picture; the truth is the count, which must be the
    number of points. Points are per cent of the picture's width and height: its card says pixels,
    its makers' own loader and the numbers in it say per cent.
    """

    title = "PixMo-Points"

    class Options(PixMoOptions, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which rows, and how many pictures of them are prepared."""

        collection: Annotated[
            Literal["counting", "pointing", "all"],
            msgspec.Meta(description="Pictures chosen for many objects, for pointing, or both."),
        ] = "counting"
        count: Annotated[
            int | None, msgspec.Meta(description="Pictures to prepare; null: all of them.")
        ] = 500

    options: Options

    @property
    def part(self) -> str:
        """The collection."""
        return self.options.collection

    def splits(self) -> Sequence[str]:
        """The one that there is."""
        return ("train",)

    def methods(self) -> Sequence[str]:
        """The collection; none for both."""
        return () if self.options.collection == "all" else (self.options.collection,)

    def check_row(self, row: Row) -> None:
        """LeftOut for a row whose count is not the number of its points, or a point outside."""
        if row.points is None or len(row.points) != row.count:
            raise LeftOut("rows whose count is not that of their points")
        if not all(0 <= x <= 100 and 0 <= y <= 100 for x, y in row.points):  # nor for NaN
            raise LeftOut("rows with a point outside the picture")

    def place_points(self, row: Row, size: tuple[int, int]) -> Points:
        """Per cent -> pixels."""
        width, height = size
        return tuple((x * width / 100, y * height / 100) for x, y in row.points or ())
