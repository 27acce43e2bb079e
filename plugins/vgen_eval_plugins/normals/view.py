"""What is shown of normals: truth and prediction in one frame, and the angle between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from vgen_eval.viewing import Directions, Pane, ScalarMap, Seen

from vgen_eval_plugins.normals.angles import SHORT, lengths
from vgen_eval_plugins.normals.frames import HOUSE
from vgen_eval_plugins.normals.metrics import AngularError
from vgen_eval_plugins.showing import metric_of, percent, predicted

__all__ = ["NormalsView"]

CLIP = 45.0
"""Degrees at which the colours of the error end, whatever the sample."""
TICKS = (11.25, 22.5, 30.0)
COLOURS = "Red points right, green up, blue toward the camera."


class NormalsView:
    """Truth, prediction, and the angle between them in degrees."""

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "normals"

    def panes(self, seen: Seen) -> Sequence[Pane]:
        """Target, prediction and error, (H, W) as the target; the last where it was scored."""
        truth = _unit(np.asarray(seen.sample.target), seen.sample.valid)
        shown = [_directions("target", "Target", truth, COLOURS)]
        if seen.prediction is None:
            return shown
        pred = np.asarray(seen.prediction.value)
        note = COLOURS
        frame = seen.prediction.summary.get("frame")
        if frame is not None:
            note += f" The answer was read as {frame}."
        unit = _unit(pred, None)
        shown.append(_directions("prediction", predicted(seen), unit, note))
        return [*shown, _angles(seen, pred, np.isnan(unit[..., 0]))]


def _directions(role: Any, title: str, values: NDArray[Any], note: str) -> Pane:
    return Pane(role=role, title=title, body=Directions(values=values, frame=HOUSE), note=note)


def _unit(vectors: NDArray[Any], valid: Any) -> NDArray[np.float32]:
    """Vectors (H, W, 3) at length 1; NaN where there is none."""
    plane = np.ascontiguousarray(vectors, np.float32)
    with np.errstate(all="ignore"):
        reach = lengths(plane)
        known = (reach >= SHORT) & (reach < np.inf)
        if valid is not None:
            known &= np.asarray(valid, bool)
        unit = plane / reach[..., None]
    unit[~known] = np.nan
    return np.asarray(unit, np.float32)


def _angles(seen: Seen, pred: NDArray[Any], opened: NDArray[np.bool_]) -> Pane:
    metric = metric_of(seen, AngularError) or AngularError(AngularError.Options())
    angles = metric.angles(pred, seen.sample.target, seen.sample.valid)
    counted = angles[np.isfinite(angles)]
    note = f"Colours end at {CLIP:g} deg."
    if counted.size:
        within = int(np.count_nonzero(counted < TICKS[0]))
        note = (
            f"Mean {counted.mean(dtype=np.float64):.1f}, median {np.median(counted):.1f} deg; "
            f"{percent(within, counted.size)} within {TICKS[0]:g}. {note}"
        )
        if not np.isfinite(pred).all():
            open_ones = "left out" if metric.options.short == "drop" else "90 deg"
            note += f" Pixels that the answer leaves open: {open_ones}."
    filled = opened & np.isfinite(angles)
    body = ScalarMap(
        values=angles, unit="deg", kind="error", low=0.0, high=CLIP, ticks=TICKS,
        filled=filled if filled.any() else None,
    )  # fmt: skip
    return Pane(role="error", title="Angle to the target", body=body, note=note)
