"""Depth errors after an affine fit to the truth, or without one, per picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.scoring import SumMetric
from vgen_eval.types import Statistics, Value

from vgen_eval_plugins.depth.crops import Crop, crop_of
from vgen_eval_plugins.depth.differences import Aligner, compare
from vgen_eval_plugins.depth.fits import (
    FitSpace,
    Line,
    fit_line,
    fit_median,
    fit_robust,
    flat_line,
)
from vgen_eval_plugins.depth.maps import DepthMap, Linear
from vgen_eval_plugins.depth.pixels import (
    Numbers,
    convert,
    is_answered,
    known_pixels,
    spread_pixels,
    valid_pixels,
)

__all__ = ["AffineDepth", "AffineDepthOptions", "Aligned"]

Fit = Literal[
    "depth_lsq", "disparity_lsq", "disparity_lsq_clamped", "midas", "depth_affine_robust",
    "log_lsq", "median", "none",
]  # fmt: skip
Polarity = Literal["near_is_bright", "near_is_dark"]
Metres = Annotated[float, msgspec.Meta(gt=0, le=1e6)]
Mask = NDArray[np.bool_]

LEAST_DISPARITY = 1e-3
"""1 / metre: what `disparity_lsq` takes for the least aligned one (Marigold, Lotus)."""

ROBUST_SIDE = 64
"""Of the grid of pixels that the robust line is fitted to (MoGe)."""

NAMES = ("delta1", "delta2", "delta3", "absrel", "rmse", "log10")


class AffineDepthOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The space of the fit, and which pixels count."""

    fit: Annotated[
        Fit,
        msgspec.Meta(
            description="Scale and shift to depth (depth_lsq; depth_affine_robust: with the least "
            "absolute error), to 1 / depth (disparity_lsq, disparity_lsq_clamped, midas: kept "
            "above 1e-3, above 1 / the largest valid depth, above 1 / max_depth), to log depth "
            "(log_lsq); scale alone (median); none: metres as they are."
        ),
    ] = "disparity_lsq_clamped"
    min_depth: Annotated[
        float, msgspec.Meta(description="Metres; nearer targets are not valid.", gt=0, le=1e6)
    ] = 1e-3
    max_depth: Annotated[
        Metres | None,
        msgspec.Meta(description="Metres; farther targets are not valid; null: no limit."),
    ] = None
    min_valid: Annotated[
        int, msgspec.Meta(description="Valid pixels below which a picture has no target.", ge=1)
    ] = 1
    crop: Annotated[
        Crop,
        msgspec.Meta(
            description="Part that is scored: eigen_nyu of 640x480, eigen or garg of KITTI; none: "
            "all of it."
        ),
    ] = "none"
    require_polarity: Annotated[
        Polarity | None,
        msgspec.Meta(
            description="A fit that says otherwise is replaced by the constant one; null: either "
            "way is right."
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.max_depth is not None and self.max_depth <= self.min_depth:
            raise ValueError(f"max_depth {self.max_depth} is not above min_depth {self.min_depth}")


class Aligned(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A prediction in metres, by the fit that its score is made of."""

    metres: NDArray[np.float32]
    """(H, W), all of the picture; a pixel that the prediction leaves open is what it is scored as,
    or NaN where no open pixel counts."""
    scored: Mask
    """bool (H, W): the pixels that count, of the crop alone."""
    line: Line | None
    """From predicted numbers to `space`; None: they are metres already."""
    space: FitSpace
    floor: float
    """Least aligned 1 / metre, where `space` is disparity."""
    degenerate: bool
    inverted: bool


class _Fitted(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The scored pixels of a picture, and the way from their numbers to metres."""

    numbers: Numbers
    depth: Numbers
    align: Aligner
    line: Line | None
    inverted: bool
    opened: int
    stand_in: float
    """What pixels without an answer are taken for, before the line; NaN where none is asked for."""

    @property
    def degenerate(self) -> bool:
        return self.opened == len(self.numbers) if self.line is None else self.line.degenerate


def _value(name: str, *, unit: str = "", higher: bool = False) -> Value:
    return Value(
        name=name,
        of=name,
        aggregation="mean",
        higher_is_better=higher,
        unit=unit,
        low=0.0,
        high=1.0 if higher else None,
    )


class AffineDepth(SumMetric):
    """delta1-3, AbsRel, RMSE in metres and log10 error, each the mean over pictures.

    Per picture one line, scale and shift, is fitted by least squares from the prediction to the
    depth (Marigold, arXiv 2312.02145; arXiv 2605.04566), to 1 / depth, which is inverted again
    (MiDaS, arXiv 1907.01341; MoGe, arXiv 2410.19115), or to log depth (Open Vision Banana).
    `depth_affine_robust` is MoGe's: the least absolute error, weighted by 1 / depth. A valid target
    lies strictly between the bounds, compared in float32; aligned depth is clipped to them.

    A map in metres is taken as 1 / metre where the fit is to 1 / depth, and the other way round; a
    relative map as it is. `disparity_lsq` fits where the prediction is above 0 and scores every
    pixel. Under `disparity_lsq_clamped` aligned 1 / depth is at least 1 / the largest valid depth
    of the picture, whatever max_depth is. Pixels that the prediction leaves open leave the fit and
    are scored as the mean of the others; where all are open it is the constant fit, or, without a
    fit, the mean of the whole map, or min_depth. `open` is their share, over all pictures.

    A constant prediction has no line: the mean of the targets stands for it (`degenerate_fit`).
    `inverted`: the fit has the other sign than near = bright (or than `require_polarity`), or than
    a map in metres or 1 / metre says of itself.
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "depth"
    Options: ClassVar[type[AffineDepthOptions]] = AffineDepthOptions
    values: ClassVar[tuple[Value, ...]] = (
        _value("delta1", higher=True),
        _value("delta2", higher=True),
        _value("delta3", higher=True),
        _value("absrel"),
        _value("rmse", unit="m"),
        _value("log10"),
        Value(
            name="open", of="open", aggregation="pooled", higher_is_better=False, low=0.0, high=1.0
        ),
    )

    def __init__(self, options: AffineDepthOptions) -> None:
        super().__init__(options)
        self.inverse = options.fit in ("disparity_lsq", "disparity_lsq_clamped", "midas")
        self.space: Linear = "disparity" if self.inverse else "depth"
        self.fit_space: FitSpace = "log" if options.fit == "log_lsq" else self.space

    def update(self, pred: Any, target: Any, valid: Any) -> Statistics:
        """One picture: its values, n, whether its fit is degenerate or inverted, pixels, open.

        `pred`: DepthMap (H, W); `target`: metres (H, W); `valid`: bool (H, W) or None.
        NoValidTarget with fewer than min_valid valid pixels; ValueError when shapes differ, and
        for a relative map under the fit `none`.
        """
        found = self._fitted(*self._cut(pred, target, valid))
        return {
            "n": 1,
            **compare(found.numbers, found.depth, found.align),
            "degenerate": int(found.degenerate),
            "inverted": int(found.inverted),
            "pixels": len(found.numbers),
            "open": found.opened,
        }

    def aligned(self, pred: DepthMap, target: Any, valid: Any) -> Aligned:
        """All of the prediction in metres, by the fit that `update` scores. Errors as there."""
        options = self.options
        found = self._fitted(*self._cut(pred, target, valid))
        values = np.ravel(np.asarray(pred.values, np.float64))
        whole = convert(values, pred.space, to=self.space)
        whole = np.where(np.isfinite(whole), whole, found.stand_in)
        align = Aligner(
            whole[np.isfinite(whole)], found.line, space=self.fit_space, floor=found.align.floor,
            low=options.min_depth, high=found.align.high,
        )  # fmt: skip
        align(whole)
        known = known_pixels(target, valid, low=options.min_depth, high=found.align.high)
        part = crop_of(options.crop, known.shape)
        scored = np.zeros(known.shape, bool)
        scored[part] = known[part]
        return Aligned(
            metres=whole.reshape(known.shape).astype(np.float32), scored=scored, line=found.line,
            space=self.fit_space, floor=found.align.floor, degenerate=found.degenerate,
            inverted=found.inverted,
        )  # fmt: skip

    def _fitted(self, pred: Any, target: Any, valid: Any) -> _Fitted:
        """Numbers and metres of the pixels that count, and how the first become the second."""
        options = self.options
        high = math.inf if options.max_depth is None else options.max_depth
        values, depth = valid_pixels(
            pred, target, valid, low=options.min_depth, high=high, least=options.min_valid
        )
        if options.fit == "none" and pred.space == "relative":
            raise ValueError(
                "a relative map has no metres: give the metric a fit, or the decoder a table of "
                "metres"
            )
        numbers = convert(values, pred.space, to=self.space)
        answered = is_answered(numbers)
        line, inverted = None, False
        if options.fit != "none":
            some = (numbers, depth, answered)
            if options.fit == "depth_affine_robust" and (answered is None or answered.any()):
                some = self._spread(pred, target, valid)
            line, inverted = self._fit(*some, pred.space)
        opened, stand_in = 0, math.nan
        if answered is not None:
            opened = len(numbers) - int(np.count_nonzero(answered))
            stand_in = self._stand_in(numbers, answered, pred)
            numbers = np.where(answered, numbers, stand_in)
        align = Aligner(
            numbers,
            line,
            space=self.fit_space,
            floor=self._floor(depth),
            low=options.min_depth,
            high=high,
        )
        return _Fitted(
            numbers=numbers, depth=depth, align=align, line=line, inverted=inverted, opened=opened,
            stand_in=stand_in,
        )  # fmt: skip

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        """delta1-3 in 0..1, absrel, rmse in metres, log10, open in 0..1; None over no pictures."""
        n = statistics["n"]
        values: dict[str, float | None] = {
            name: statistics[name] / n if n else None for name in NAMES
        }
        return values | {"open": statistics["open"] / statistics["pixels"] if n else None}

    def flags(self, statistics: Statistics) -> Sequence[str]:
        """degenerate_fit and inverted, of one picture's statistics."""
        told = {"degenerate_fit": statistics["degenerate"], "inverted": statistics["inverted"]}
        return [name for name, is_so in told.items() if is_so]

    def _cut(self, pred: Any, target: Any, valid: Any) -> tuple[Any, Any, Any]:
        """The part of all three that is scored."""
        if self.options.crop == "none" or not isinstance(pred, DepthMap):
            return pred, target, valid
        part = crop_of(self.options.crop, np.shape(target))
        values = np.asarray(pred.values)
        if values.shape != np.shape(target):
            return pred, target, valid  # told apart below
        return (
            DepthMap(values[part], pred.space),
            np.asarray(target)[part],
            None if valid is None else np.asarray(valid)[part],
        )

    def _fit(
        self, x: Numbers, depth: Numbers, answered: Mask | None, space: str
    ) -> tuple[Line, bool]:
        """The line of the fit, and whether it runs the wrong way."""
        used, y = answered, depth
        if self.options.fit == "disparity_lsq" and not x.min() > 0:
            used = x > 0 if answered is None else answered & (x > 0)
        if used is not None:
            x, y = x[used], depth[used]
        if not len(x):
            return flat_line(depth, space=self.fit_space), False
        line = self._line(x, y)
        rises = space != "relative" or (
            self.inverse == (self.options.require_polarity != "near_is_dark")
        )
        inverted = line.slope < 0 if rises else line.slope > 0
        if inverted and self.options.require_polarity is not None:
            flat = flat_line(y, space=self.fit_space)
            return flat, True
        return line, inverted

    def _spread(self, pred: DepthMap, target: Any, valid: Any) -> tuple[Numbers, Numbers, None]:
        """Numbers and metres of valid pixels with an answer, evenly over the picture."""
        options = self.options
        high = math.inf if options.max_depth is None else options.max_depth
        numbers = convert(np.ravel(pred.values), pred.space, to=self.space)
        known = known_pixels(target, valid, low=options.min_depth, high=high)
        known &= np.isfinite(numbers).reshape(known.shape)
        some = spread_pixels(known, ROBUST_SIDE)
        return numbers[some], np.ravel(np.asarray(target, np.float32))[some], None

    def _line(self, x: Numbers, y: Numbers) -> Line:
        if self.options.fit == "median":
            return fit_median(x, y)
        if self.options.fit == "depth_affine_robust":
            return fit_robust(x, y)
        line = fit_line(x, y, space=self.fit_space)
        if self.options.fit == "midas" and line.degenerate:
            return Line(0.0, 0.0, 0.0, degenerate=True)  # its closed form gives 0 and 0
        return line

    def _floor(self, depth: Numbers) -> float:
        """Least aligned 1 / depth."""
        if self.options.fit == "disparity_lsq":
            return LEAST_DISPARITY
        cap: float = float(depth.max())
        if self.options.fit == "midas" and self.options.max_depth is not None:
            cap = self.options.max_depth
        return 1 / cap

    def _stand_in(self, numbers: Numbers, answered: Mask, pred: DepthMap) -> float:
        """What a pixel without an answer is taken for."""
        if answered.any():
            return float(numbers[answered].mean(dtype=np.float64))
        if self.options.fit != "none":
            return 0.0  # the line is flat
        whole = convert(np.ravel(pred.values), pred.space, to=self.space)
        whole = whole[np.isfinite(whole)]
        return float(whole.mean(dtype=np.float64)) if len(whole) else self.options.min_depth
