"""What is shown of counts: the places counted and those of the truth, paired, or the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from vgen_eval.types import Prediction
from vgen_eval.viewing import Mark, Marks, Pane, Seen, Words

from vgen_eval_plugins.counting.matching import LARGEST, match_points, reach_of
from vgen_eval_plugins.counting.targets import CountTarget
from vgen_eval_plugins.showing import predicted

__all__ = ["CountView"]

Points = NDArray[np.float64]
Shape = Literal["ring", "square", "cross", "dot"]


class CountView:
    """True and counted places as marks, paired where both are known; else the numbers in words."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "count"

    def panes(self, seen: Seen) -> Sequence[Pane]:
        """Target and prediction; an error pane where the places of both are known."""
        target: CountTarget = seen.sample.target
        truth = None if target.points is None else _points(target.points)
        shown = [_target(target, truth)]
        if seen.prediction is None:
            return shown
        found = _counted(seen, seen.prediction)
        shown.append(_prediction(seen, seen.prediction, target, found))
        if truth is not None and found is not None:
            shown.append(_paired(seen, int(seen.prediction.value), found, truth))
        return shown


def _points(given: Any) -> Points:
    """float (N, 2) x, y of whatever sequence of pairs."""
    return np.asarray(given, np.float64).reshape(-1, 2)


def _counted(seen: Seen, prediction: Prediction) -> Points | None:
    """Places in pixels of the original that were counted; None where they are not known."""
    told = prediction.summary.get("points")
    if told is not None:
        return _points(told)
    if seen.form != "points" or seen.answer is None or seen.substitute:
        return None
    given = _points(seen.answer)
    limit = np.array([seen.scene.image.width, seen.scene.image.height])
    inside = ((given >= 0) & (given <= limit)).all(axis=1)
    return _points(seen.scene.geometry.restore_points(given[inside]))


def _marks(points: Points, shape: Shape, meaning: str) -> Marks:
    return Marks(marks=tuple(Mark(x=x, y=y, shape=shape, meaning=meaning)
                             for x, y in points.tolist()))  # fmt: skip


def _target(target: CountTarget, truth: Points | None) -> Pane:
    if truth is None:
        body = Words(text=str(target.count), facts=(("places", "not known"),))
        return Pane(role="target", title=f"Target: {target.count}", body=body)
    note = "" if len(truth) == target.count else f"Places of {len(truth)} are known."
    return Pane(
        role="target", title=f"Target: {target.count}", body=_marks(truth, "dot", "object"),
        note=note,
    )  # fmt: skip


def _prediction(
    seen: Seen, prediction: Prediction, target: CountTarget, found: Points | None
) -> Pane:
    count = int(prediction.value)
    off = count - target.count
    title = f"{predicted(seen)}: {count} ({format(off, '+d') if off else 'right'})"
    if found is not None:
        return Pane(
            role="prediction", title=title, body=_marks(found, "dot", "counted"),
            note=_left_out(count, found),
        )  # fmt: skip
    facts = [("counted", str(count)), ("truth", str(target.count))]
    facts += [
        (name, str(value))
        for name, value in prediction.summary.items()
        if name != "count" and isinstance(value, str | int | float)
    ]
    return Pane(role="prediction", title=title, body=Words(text=str(count), facts=tuple(facts)))


def _left_out(count: int, found: Points) -> str:
    return "" if len(found) >= count else f"Places of {len(found)} of {count} were kept."


def _paired(seen: Seen, count: int, found: Points, truth: Points) -> Pane:
    reach = reach_of(truth, seen.scene.size)
    pairs = match_points(found, truth, reach)
    ours, theirs = {at for at, _ in pairs}, {at for _, at in pairs}
    marks = [
        Mark(x=float(found[at, 0]), y=float(found[at, 1]), shape="ring", meaning="matched",
             to=(float(truth[of, 0]), float(truth[of, 1])))
        for at, of in pairs
    ]  # fmt: skip
    rest: tuple[tuple[Points, set[int], Shape, str], ...] = (
        (found, ours, "square", "extra"),
        (truth, theirs, "cross", "missed"),
    )
    for points, taken, shape, meaning in rest:
        marks += [
            Mark(x=x, y=y, shape=shape, meaning=meaning)
            for at, (x, y) in enumerate(points.tolist())
            if at not in taken
        ]
    extra, missed = len(found) - len(pairs), len(truth) - len(pairs)
    way = "most pairs, then least distance"
    if min(len(found), len(truth)) > LARGEST:
        way += f" (nearest first where over {LARGEST} lie close together)"
    note = f"Paired within {reach:.3g} px, for looking only: {way}. The score compares the numbers."
    return Pane(
        role="error", title=f"{len(pairs)} matched, {extra} extra, {missed} missed",
        body=Marks(marks=tuple(marks)), note=f"{note} {_left_out(count, found)}".rstrip(),
    )  # fmt: skip
