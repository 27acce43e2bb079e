"""The truth of a counting sample: how many, and where they are if that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["MOST", "CountTarget"]


MOST = 10**9
"""Nobody counts farther; larger numbers are faults of a file."""


class CountTarget(msgspec.Struct, frozen=True, eq=False):
    """A count, and the objects' places where they were annotated."""

    count: int
    points: NDArray[np.float64] | Any | None = None
    """(N, 2) x, y in pixels of the original picture; None when only the count is known."""

    def __post_init__(self) -> None:
        if not 0 <= self.count <= MOST:
            raise ValueError(f"a count is 0 to {MOST:,}, {str(self.count)[:20]} given")
        if self.points is not None and len(self.points) != self.count:
            raise ValueError(f"{len(self.points)} points for a count of {self.count}")
