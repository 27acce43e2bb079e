"""PixMo-Count: how many things of a common kind a picture shows, 2 to 10 where it is tested."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from vgen_eval_plugins.datasets.pixmo import LeftOut, PixMo, PixMoOptions, Points, Row

__all__ = ["PixMoCount"]


class PixMoCount(PixMo):
    """`data/{train,validation,test}-*.parquet`: address and sha256 of a picture, label, count.

    540 rows in validation and in test, without points; 36,916 in train, with points in pixels.
    """

    title = "PixMo-Count"

    class Options(PixMoOptions, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which split, and how many pictures of it are prepared."""

        split: Annotated[
            Literal["train", "validation", "test"], msgspec.Meta(description="Which split.")
        ] = "test"

    options: Options

    @property
    def part(self) -> str:
        """The split."""
        return self.options.split

    def splits(self) -> Sequence[str]:
        """Its name in the files."""
        return ("validation", "val") if self.part == "validation" else (self.part,)

    def check_row(self, row: Row) -> None:
        """LeftOut for a row whose count is not the number of its points, where it has any."""
        if row.points and len(row.points) != row.count:
            raise LeftOut("rows whose count is not that of their points")

    def place_points(self, row: Row, size: tuple[int, int]) -> Points | None:
        """As they are, in pixels; None where only the count is known."""
        width, height = size
        if not row.points and row.count:
            return None
        points = row.points or ()
        if not all(0 <= x <= width and 0 <= y <= height for x, y in points):
            raise LeftOut("rows with a point outside the picture")
        return points
