"""Angular error of normals, averaged over pictures and over all their pixels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import NoValidTarget
from vgen_eval.scoring import SumMetric
from vgen_eval.types import Statistics, Value

from vgen_eval_plugins.normals.angles import angle_map, compare, median_of_bins

__all__ = ["LIMITS", "AngularError"]

LIMITS: Mapping[str, float] = {
    "within_5": 5.0,
    "within_7_5": 7.5,
    "within_11_25": 11.25,
    "within_22_5": 22.5,
    "within_30": 30.0,
}
"""Degrees."""

_POOLED = ("mean", "median", "rmse", *LIMITS)


def _value(name: str, *, pooled: bool) -> Value:
    share = name.startswith("within")
    full = f"pooled_{name}" if pooled else name
    return Value(
        name=full,
        of=full,
        aggregation="pooled" if pooled else "mean",
        higher_is_better=share,
        unit="" if share else "deg",
        low=0.0,
        high=1.0 if share else 180.0,
    )


class AngularError(SumMetric):
    """Degrees between predicted and true normals, and the parts of the pixels within limits.

    `mean`, `median`, `rmse` and `within_*` are of one picture and then averaged, as arXiv
    2605.04566 and Marigold do it; `pooled_*` are over the pixels of all pictures, as DSINE and
    Lotus do it. A pixel that the prediction leaves open counts as 90 degrees and as within no
    limit; `open` is the share of such pixels. Under `short: drop`, which is what all that public
    code does, such a pixel is left out, unless a picture has fewer than `min_valid` others. The
    pooled median comes from bins of 0.1 degree and is within 0.1 of the exact one.
    """

    version: ClassVar[int] = 3
    measures: ClassVar[str] = "normals"
    values: ClassVar[tuple[Value, ...]] = (
        *(_value(name, pooled=False) for name in ("mean", "median", "rmse", *LIMITS)),
        *(_value(name, pooled=True) for name in _POOLED),
        Value(
            name="open", of="open", aggregation="pooled", higher_is_better=False, low=0.0, high=1.0
        ),
    )

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which pictures count."""

        min_valid: Annotated[
            int,
            msgspec.Meta(
                description="Pictures of fewer pixels with a known truth are left out.", ge=1
            ),
        ] = 1
        short: Annotated[
            Literal["right_angle", "drop"],
            msgspec.Meta(description="Pixels that an answer leaves open: 90 degrees, or left out."),
        ] = "right_angle"

    def update(self, pred: Any, target: Any, valid: Any) -> Statistics:
        """Sums over the picture's pixels, and its own values; `pred` and `target` (H, W, 3).

        The truth is unknown where `valid` is False and where the target is NaN or (0, 0, 0).
        NoValidTarget when it is known for fewer than `min_valid` pixels; ValueError when shapes
        differ.
        """
        found, truth = _fitting(pred, target, valid)
        limits, least = tuple(LIMITS.values()), max(1, self.options.min_valid)
        angles = compare(found, truth, valid, limits=limits, drop=self.options.short == "drop")
        known = angles.pixels + (angles.opened if self.options.short == "drop" else 0)
        if angles.pixels < least <= known:  # who answers next to nothing is not let off
            angles = compare(found, truth, valid, limits=limits)
        if known < least:
            raise NoValidTarget(
                f"{known} pixels of the normals have a known truth, "
                f"{self.options.min_valid} are wanted"
            )
        n = angles.pixels
        within = dict(zip(LIMITS, angles.within, strict=True))
        return {
            "n": 1,
            "mean": angles.total / n,
            "median": angles.median,
            "rmse": math.sqrt(angles.squares / n),
            **{name: count / n for name, count in within.items()},
            "pixels": n,
            "known": known,
            "open": angles.opened,
            "sum": angles.total,
            "squares": angles.squares,
            **{f"pixels_{name}": within[name] for name in LIMITS},
            "exact": angles.exact,
            "bins": angles.bins.tolist(),
        }

    def angles(self, pred: Any, target: Any, valid: Any) -> NDArray[np.float32]:
        """Degrees (H, W) of the pixels that `update` counts, NaN elsewhere; ValueError as there."""
        found, truth = _fitting(pred, target, valid)
        shown = angle_map(found, truth, valid, drop=self.options.short == "drop")
        if np.count_nonzero(np.isfinite(shown)) < max(1, self.options.min_valid):
            return angle_map(found, truth, valid)
        return shown

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        """Degrees, and parts of the pixels in 0..1; None over no pictures."""
        n, pixels = statistics["n"], statistics["pixels"]
        if not n or not pixels:
            return {value.of: None for value in self.values}
        # sums of the pictures' own values: for one picture, the values themselves
        each = {name: statistics[name] / n for name in ("mean", "median", "rmse", *LIMITS)}
        return {
            **each,
            "open": statistics["open"] / statistics["known"],
            "pooled_mean": statistics["sum"] / pixels,
            "pooled_median": median_of_bins(
                np.asarray(statistics["bins"]), exact=statistics["exact"]
            ),
            "pooled_rmse": math.sqrt(statistics["squares"] / pixels),
            **{f"pooled_{name}": statistics[f"pixels_{name}"] / pixels for name in LIMITS},
        }


def _fitting(pred: Any, target: Any, valid: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both as arrays (H, W, 3); ValueError when shapes differ."""
    found, truth = np.asarray(pred), np.asarray(target)
    fits = found.shape == truth.shape and truth.ndim == 3 and truth.shape[2] == 3
    if not fits or (valid is not None and np.shape(valid) != truth.shape[:2]):
        raise ValueError(
            f"pred {found.shape}, target {truth.shape} and valid "
            f"{None if valid is None else np.shape(valid)} do not fit one another"
        )
    return found, truth
