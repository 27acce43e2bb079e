"""What a checked video comes to, and the metric that sums it up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec
from vgen_eval.scoring import SumMetric
from vgen_eval.types import NoOptions, Statistics, Value

__all__ = [
    "FAULTS",
    "HANOI_FAULTS",
    "LOST_PART",
    "LOST_S",
    "MAZE_FAULTS",
    "Course",
    "Puzzle",
    "Unsolved",
    "Verdict",
]

MAZE_FAULTS = (
    "wall_crossed", "jumped", "too_fast", "lost_marker", "marker_doubled", "scene_changed",
    "goal_not_reached",
)  # fmt: skip
HANOI_FAULTS = (
    "illegal_move", "larger_on_smaller", "two_discs_at_once", "disc_lost", "disc_appeared",
    "goal_not_reached",
)  # fmt: skip
FAULTS = tuple(dict.fromkeys((*MAZE_FAULTS, *HANOI_FAULTS)))
LOST_S = 0.2
"""Seconds for which a marker, or a disc, may be out of sight."""
LOST_PART = 0.25
"""Part of the frames in which it may be."""
_UNDONE = "goal_not_reached"
_NAMES = ("solved", "progress", "rule_broken", _UNDONE)


class Verdict(msgspec.Struct, frozen=True):
    """What one video did."""

    progress: float
    """Part of the way to the goal, 0 to 1, before the first rule was broken."""
    faults: tuple[str, ...] = ()
    """Each named once, in the order in which they came."""

    @property
    def is_solved(self) -> bool:
        """Was the goal reached with no rule broken?"""
        return not self.faults


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """How one video came to its verdict: frames are counted among those that were looked at."""

    faults: Mapping[str, int]
    """Each fault -> the first frame that shows it."""
    progress: tuple[tuple[int, float], ...]
    """(frame, part of the way gone up to there), where it grows."""

    def verdict(self, order: Sequence[str]) -> Verdict:
        """What it comes to; `order`: of the faults."""
        gone = self.progress[-1][1] if self.progress else 0.0
        return Verdict(gone, tuple(fault for fault in order if fault in self.faults))


class Unsolved(msgspec.Struct, frozen=True):
    """A prediction of no video: nothing was done."""


class Puzzle(SumMetric):
    """Was the puzzle solved, how far did it go, and which rule was broken: the last as flags.

    `solved`: the goal is reached and no rule broken. `progress`: part of the way before the first
    broken rule; 1 where solved. `rule_broken`: any fault but `goal_not_reached`.
    """

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "puzzle"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    values: ClassVar[tuple[Value, ...]] = tuple(
        Value(
            name=name, of=name, aggregation="mean", higher_is_better=name in _NAMES[:2],
            low=0.0, high=1.0,
        )
        for name in _NAMES
    )  # fmt: skip

    def update(self, pred: Any, target: Any, valid: Any) -> Statistics:  # noqa: ARG002
        """n, solved, progress, broken, and a count of each fault; `pred`: a trace, or Unsolved."""
        verdict = Verdict(0.0, (_UNDONE,)) if isinstance(pred, Unsolved) else pred.check(target)
        broken = any(fault != _UNDONE for fault in verdict.faults)
        return {
            "n": 1,
            "solved": int(verdict.is_solved),
            "progress": float(verdict.progress),
            "broken": int(broken),
            **{fault: int(fault in verdict.faults) for fault in FAULTS},
        }

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        """Parts of 1; None over no videos."""
        n = statistics["n"]
        if not n:
            return dict.fromkeys(_NAMES)
        return {
            "solved": statistics["solved"] / n,
            "progress": statistics["progress"] / n,
            "rule_broken": statistics["broken"] / n,
            _UNDONE: statistics[_UNDONE] / n,
        }

    def flags(self, statistics: Statistics) -> Sequence[str]:
        """The names of the faults."""
        return [fault for fault in FAULTS if statistics[fault]]
