"""What is shown of depth: truth and aligned prediction on one scale, and how far they lie apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import NoValidTarget
from vgen_eval.types import Prediction
from vgen_eval.viewing import Pane, ScalarMap, Seen

from vgen_eval_plugins.depth.maps import DepthMap, known_depth
from vgen_eval_plugins.depth.metrics import AffineDepth, Aligned
from vgen_eval_plugins.showing import metric_of, percent, predicted, share

__all__ = ["DepthView"]

NEAR = "Near is bright."
SIGNED_PART = 0.1
"""Part of how far the target reaches at which colours of the signed error end, made round."""
REACH = 98
"""Percentile of the target's depths that says how far it reaches: a few far pixels do not."""
RELATIVE = 0.5
"""Where colours of the relative error end."""

_FITS = {
    "depth_lsq": "least squares to depth",
    "disparity_lsq": "least squares to 1 / depth",
    "disparity_lsq_clamped": "least squares to 1 / depth",
    "midas": "least squares to 1 / depth",
    "depth_affine_robust": "least absolute relative error",
    "log_lsq": "least squares to log depth",
    "median": "medians made equal",
}
_SPACES = {"depth": "depth", "disparity": "1 / depth", "log": "log depth"}


class DepthView:
    """Truth, prediction as the metric aligns it, signed and relative error; metres."""

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "depth"

    def panes(self, seen: Seen) -> Sequence[Pane]:
        """Target, prediction and two errors, (H, W) as the target; the last where it was scored."""
        metric = metric_of(seen, AffineDepth)
        truth = _truth(seen)
        shown = [_map("target", "Target", truth, NEAR)]
        if seen.prediction is None:
            return shown
        aligned = _align(metric, seen)
        if metric is None or aligned is None:
            return [*shown, _as_it_is(seen, seen.prediction.value)]
        return [*shown, *_compared(seen, seen.prediction, metric, aligned)]


def _truth(seen: Seen) -> NDArray[np.float32]:
    """Metres, NaN where no truth is known."""
    with np.errstate(over="ignore"):
        truth = np.asarray(seen.sample.target, np.float32)
    known = known_depth(truth)
    if seen.sample.valid is not None:
        known = known & np.asarray(seen.sample.valid, bool)
    return np.where(known, truth, np.float32(np.nan))


def _map(role: Any, title: str, metres: NDArray[Any], note: str) -> Pane:
    body = ScalarMap(values=metres, unit="m", reverse=True)
    return Pane(role=role, title=title, body=body, note=note, shares="depth")


def _align(metric: AffineDepth | None, seen: Seen) -> Aligned | None:
    """None where no fit can be had: nothing is valid, or a relative map is to be metres."""
    assert seen.prediction is not None
    pred = seen.prediction.value
    if metric is None or (metric.options.fit == "none" and pred.space == "relative"):
        return None
    try:
        return metric.aligned(pred, seen.sample.target, seen.sample.valid)
    except NoValidTarget:
        return None


def _as_it_is(seen: Seen, pred: DepthMap) -> Pane:
    """The prediction without a fit: metres where it says so, else its own numbers."""
    values = np.asarray(pred.values, np.float32)
    if pred.space == "depth":
        return _map("prediction", predicted(seen), values, f"{NEAR} Metres as they are.")
    unit = "1/m" if pred.space == "disparity" else ""
    note = "No fit to the truth: numbers as they were read, on a scale of their own."
    body = ScalarMap(values=values, unit=unit)
    return Pane(role="prediction", title=predicted(seen), body=body, note=note)


def _compared(
    seen: Seen, prediction: Prediction, metric: AffineDepth, aligned: Aligned
) -> Iterator[Pane]:
    pred: DepthMap = prediction.value
    opened = ~np.isfinite(np.asarray(pred.values))
    if aligned.degenerate:
        values = np.asarray(pred.values, np.float32)
        note = (
            f"{_fault(metric, aligned)}: the numbers as they were read, on a scale "
            f"of their own. Scored as {_constant(aligned)} everywhere."
        )
        yield Pane(role="prediction", title=predicted(seen), body=ScalarMap(values=values),
                   note=note)  # fmt: skip
    else:
        metres = np.where(opened, np.float32(np.nan), aligned.metres)
        note = f"{NEAR} {describe_fit(metric, aligned)}{_whose(seen, metric)}"
        if metric.options.max_depth is not None:
            note += f" Kept within {metric.options.min_depth:g} to {metric.options.max_depth:g} m."
        yield _map("prediction", f"{predicted(seen)}{_aligned(metric)}", metres, note)
    yield from _errors(seen, metric, aligned, opened & aligned.scored)


def _aligned(metric: AffineDepth) -> str:
    return "" if metric.options.fit == "none" else ", aligned"


def _errors(
    seen: Seen, metric: AffineDepth, aligned: Aligned, opened: NDArray[np.bool_]
) -> Iterator[Pane]:
    truth = np.asarray(seen.sample.target, np.float64)
    error = np.full(truth.shape, np.nan)
    np.subtract(aligned.metres, truth, out=error, where=aligned.scored)
    relative = np.full(truth.shape, np.nan)
    np.divide(np.abs(error), truth, out=relative, where=aligned.scored)
    reach = float(np.percentile(truth[aligned.scored], REACH))
    clip = _make_round(SIGNED_PART * reach)
    scored = int(aligned.scored.sum())
    rest, filled = "", opened if opened.any() else None
    if opened.any():
        count = int(opened.sum())
        rest = f" Open pixels ({percent(count, scored)}) count as the mean of the others."
    if metric.options.crop != "none":
        rest += f" Of the crop {metric.options.crop}."
    yield Pane(
        role="error",
        title="Signed error",
        body=ScalarMap(
            values=error.astype(np.float32),
            unit="m",
            kind="diverging",
            low=-clip,
            high=clip,
            filled=filled,
        ),
        note=(
            "Prediction - target: below 0 too near, above 0 too far. "
            f"Colours end at ±{clip:g} m, about a tenth of "
            f"how far the target reaches ({reach:.3g} m, {REACH}th percentile).{rest}"
        ),
    )
    mean = float(relative[aligned.scored].mean())
    yield Pane(
        role="error",
        title="Relative error",
        body=ScalarMap(
            values=relative.astype(np.float32), kind="error", low=0.0, high=RELATIVE, filled=filled
        ),
        note=f"|prediction - target| / target; mean (AbsRel) {share(mean)} over {scored:,} px."
        f"{rest}",
    )


def _make_round(metres: float) -> float:
    """The nearest by ratio of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(metres))
    steps = np.array([1.0, 2.0, 5.0, 10.0])
    nearest = steps[np.argmin(np.abs(np.log(steps * power / metres)))]
    return float(f"{nearest * power:.1g}")


def describe_fit(metric: AffineDepth, aligned: Aligned) -> str:
    """How the prediction became metres, with the numbers of its line; x is what was predicted."""
    line = aligned.line
    if line is None:
        return "No fit: metres as they are."
    told = f"Fitted by {_FITS[metric.options.fit]}: {_SPACES[aligned.space]} = {line.slope:.4g} x"
    if line.shift:
        told += f" {'-' if line.shift < 0 else '+'} {abs(line.shift):.4g}"
    if aligned.space == "disparity":
        told += f", at least {aligned.floor:.3g}"
    return f"{told}.{' It runs the other way round.' if aligned.inverted else ''}"


def _whose(seen: Seen, metric: AffineDepth) -> str:
    """Which of several metrics' fits it is."""
    found: dict[str, Any] = {k: m for k, m in seen.metrics.items() if isinstance(m, AffineDepth)}
    if len(found) < 2:
        return ""
    return f" As {next(key for key, other in found.items() if other is metric)} has it."


def _fault(metric: AffineDepth, aligned: Aligned) -> str:
    if metric.options.fit == "none":
        return "Every pixel is open"
    return f"No line can be fitted{' the right way round' if aligned.inverted else ''}"


def _constant(aligned: Aligned) -> str:
    values = aligned.metres[aligned.scored]
    return f"{float(values[0]):.3g} m" if len(values) else "one depth"
