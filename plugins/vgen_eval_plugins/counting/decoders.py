"""Counts from text and from points, and the count that stands for a failure."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec
from vgen_eval.errors import Undecodable
from vgen_eval.types import NoOptions, Prediction, Scene

from vgen_eval_plugins.parsing.counts import parse_count

__all__ = ["CountText", "Points", "ZeroCount"]


class CountText:
    """Free text -> count, by rules that never guess."""

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "count"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """The count that the text states; Undecodable when it states none, or several."""
        if not isinstance(answer, str):
            raise Undecodable(f"text was wanted, {type(answer).__name__} came")
        parsed = parse_count(answer)
        return Prediction(
            value=parsed.count,
            summary={"count": parsed.count, "rule": parsed.rule, "extracted": parsed.extracted},
        )


class Points:
    """Points -> count of those that lie in the picture."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "count"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """The number of (x, y) in 0..width, 0..height of the input picture, edges included.

        `answer`: (N, 2) numbers; an empty list is 0. Points elsewhere are not counted and
        flagged `points_outside`. Undecodable for other shapes and for NaN.
        """
        import numpy as np

        if isinstance(answer, (str, bytes)) or answer is None:
            raise Undecodable(f"points were wanted, {type(answer).__name__} came")
        try:
            points = np.asarray(answer, dtype=np.float64)
        except (TypeError, ValueError) as exc:
            raise Undecodable(f"points were wanted, (N, 2) numbers: {exc}") from exc
        if points.ndim >= 1 and points.shape[0] == 0:
            points = np.zeros((0, 2))
        if points.ndim != 2 or points.shape[1] != 2:
            raise Undecodable(f"points were wanted, (N, 2) numbers; the shape is {points.shape}")
        if not np.isfinite(points).all():
            raise Undecodable("a point is not finite")
        limit = np.array([scene.image.width, scene.image.height])
        inside = ((points >= 0) & (points <= limit)).all(axis=1)
        count = int(inside.sum())
        outside = len(points) - count
        return Prediction(
            value=count,
            flags=("points_outside",) if outside else (),
            summary={"count": count, "outside": outside},
        )


class ZeroCount:
    """The failure value: a fixed count, whatever the answer."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "count"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        """Which count."""

        count: Annotated[int, msgspec.Meta(description="The count that is returned.", ge=0)] = 0

    def __init__(self, options: Options) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """Always the option's count."""
        return Prediction(value=self.options.count, summary={"count": self.options.count})
