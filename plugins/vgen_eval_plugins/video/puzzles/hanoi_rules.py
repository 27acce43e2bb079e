"""A video of the tower of Hanoi, checked: legal moves only, one disc at a time, none lost or made.

Each frame is read as a state: what lies on the pegs, and at most one disc on its way. From one
frame to the next at most one move's worth may happen (`FASTEST`: a disc is laid down and another
one taken, or one taken and laid down), and no frame may show two discs on their way. A disc that
is out of sight, for `LOST_S` at most, counts as lying where it was seen last; so it can make one
move meanwhile, and the others none that it would forbid. How a disc travels through the air is not
looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from vgen_eval_plugins.video.puzzles.hanoi import (
    HanoiTruth,
    Pegs,
    State,
    distance,
    is_sound,
    operations,
)
from vgen_eval_plugins.video.puzzles.hanoi_drawing import places
from vgen_eval_plugins.video.puzzles.verdict import (
    HANOI_FAULTS,
    LOST_PART,
    LOST_S,
    Course,
    Verdict,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Stacks", "check_stacks", "follow_stacks"]

FASTEST = 2
"""Liftings and layings between two frames."""
AT_REST = 0.45
"""Thicknesses by which a disc may lie above or below its place."""
ON_PEG = 0.12
"""Of the distance between two pegs, by which it may lie beside its own."""
LASTING = 2
"""Frames for which a thing must be seen to be there, in a video that has them."""


class Stacks(msgspec.Struct, frozen=True, eq=False):
    """Where each disc was seen; discs are told apart by their colours."""

    times: NDArray[np.float64]
    """(N,) seconds of the frames that were looked at."""
    colours: tuple[str, ...]
    """Of the K discs that the first picture shows."""
    points: NDArray[np.float64]
    """(N K, 2) x, y in pixels of the original picture, frame by frame; NaN: not seen."""
    extra: NDArray[np.int64]
    """(N,) discs that the first picture does not show, second ones of a colour among them."""

    def check(self, truth: HanoiTruth) -> Verdict:
        """What the video comes to for this tower."""
        return check_stacks(self, truth)

    def follow(self, truth: HanoiTruth) -> Course:
        """How it comes to that."""
        return follow_stacks(self, truth)


class _Sight(msgspec.Struct, frozen=True):
    """A frame as a state."""

    pegs: Pegs
    moving: tuple[int, ...]
    """Discs that lie in no place."""


def check_stacks(stacks: Stacks, truth: HanoiTruth) -> Verdict:
    """Faults, and the part of the shortest way that was gone before the first of them."""
    return follow_stacks(stacks, truth).verdict(HANOI_FAULTS)


def follow_stacks(stacks: Stacks, truth: HanoiTruth) -> Course:
    """The faults with their frames, and how far along the shortest way it was when."""
    known = set(stacks.colours)
    end = max(0, len(stacks.times) - 1)
    if not set(truth.colours) <= known or not len(stacks.times):
        return Course(faults={"disc_lost": 0, "goal_not_reached": end}, progress=())
    order = [stacks.colours.index(colour) for colour in truth.colours]
    points = stacks.points.reshape(len(stacks.times), len(stacks.colours), 2)[:, order]
    seen = np.asarray(np.isfinite(points).all(axis=2))
    never = len(stacks.times)
    lost = min(_lost_from(stacks.times, seen[:, disc]) for disc in range(truth.discs))
    made = _lasting_from(stacks.extra > 0)
    player = _Player(truth, until=min(lost, made))
    for number in np.flatnonzero(stacks.extra == 0):
        if made < never and number and stacks.extra[number - 1]:
            player.lose_track()
        player.see(int(number), points[number])
    faults = dict(player.faults)
    if lost < never:
        faults["disc_lost"] = lost
    if made < never:
        faults["disc_appeared"] = made
    is_last_seen = bool(seen[-1].all()) and stacks.extra[-1] == 0
    if player.state != (truth.goal, None) or not player.is_last_clear or not is_last_seen:
        faults["goal_not_reached"] = end
    return Course(faults=faults, progress=tuple(player.progress))


def _lost_from(times: NDArray[np.float64], seen: NDArray[np.bool_]) -> int:
    """The frame from which a disc is out of sight for too long, or to the end.

    The first frame, where it is out of sight in too many others; their number, where it is not
    lost.
    """
    last = -1
    for number, is_seen in enumerate(seen):
        if is_seen:
            last = number
        elif times[number] - times[last + 1] > LOST_S:
            return last + 1
    if not seen[-1]:
        return last + 1
    return 0 if (~seen).mean() > LOST_PART else len(seen)


def _lasting_from(there: NDArray[np.bool_]) -> int:
    """The first of two frames one after another, or of all of a video of fewer, in which it is.

    The number of frames, where there are none such.
    """
    run = 0
    for number, is_there in enumerate(there):
        run = run + 1 if is_there else 0
        if run >= min(LASTING, len(there)):
            return number + 1 - run
    return len(there)


def read_sight(truth: HanoiTruth, points: NDArray[np.float64]) -> _Sight:
    """The state in a frame: `points` (discs, 2), x, y of each disc's middle."""
    spacing = truth.pegs[1] - truth.pegs[0]
    columns: list[list[int]] = [[], [], []]
    moving = []
    for disc, (x, _) in enumerate(points):
        peg = int(np.argmin([abs(x - p) for p in truth.pegs]))
        if abs(x - truth.pegs[peg]) <= ON_PEG * spacing:
            columns[peg].append(disc)
        else:
            moving.append(disc)
    pegs = []
    for column in columns:
        stack: list[int] = []
        for disc in sorted(column, key=lambda d: -points[d][1]):
            if abs(points[disc][1] - truth.slot(len(stack))) <= AT_REST * truth.thickness:
                stack.append(disc)
            else:
                moving.append(disc)
        pegs.append(tuple(stack))
    return _Sight(tuple(pegs), tuple(sorted(moving)))


class _Player:
    """Follows the states, and names what no legal player could have done."""

    def __init__(self, truth: HanoiTruth, *, until: int) -> None:
        self._truth = truth
        self._until = until
        self.state: State = (truth.start, None)
        self.faults: dict[str, int] = {}
        """Each with the first frame that shows it."""
        self.is_last_clear = True
        self._whole = distance(truth.start, truth.goal) or 1
        self._best = self._whole
        start = places(truth, truth.start)
        self._last = np.array([start[disc] for disc in range(truth.discs)])
        self._is_off = False
        self.progress: list[tuple[int, float]] = [(0, 0.0)]
        """Frame, and the part of the way gone before the first fault, where it grows."""

    def lose_track(self) -> None:
        """The next state is taken as it is: a fault is named that makes it unlike the last."""
        self._is_off = True

    def see(self, number: int, points: NDArray[np.float64]) -> None:
        """Takes in frame `number`: `points` (discs, 2), NaN for a disc that is out of sight."""
        points = np.where(np.isfinite(points), points, self._last)
        self._last = points
        sight = read_sight(self._truth, points)
        self.is_last_clear = len(sight.moving) < 2
        if not self.is_last_clear:
            self.faults.setdefault(self._name_strange(sight, points), number)
            self.lose_track()
            return
        state: State = (sight.pegs, sight.moving[0] if sight.moving else None)
        if state != self.state:
            if not self._is_off and operations(self.state, state, FASTEST) is None:
                self.faults.setdefault(self._name_step(state), number)
            self.state = state
        self._is_off = False
        left = distance(state[0], self._truth.goal) if state[1] is None else None
        is_sound = not self.faults and number < self._until
        if is_sound and left is not None and left < self._best:
            self._best = left
            self.progress.append((number, max(0.0, 1 - left / self._whole)))

    def _name_strange(self, sight: _Sight, points: NDArray[np.float64]) -> str:
        """Two discs lie in no place: did both move, or was one taken from below the other?"""
        before = places(self._truth, self.state[0])
        moved = [
            disc
            for disc in sight.moving
            if disc not in before
            or np.hypot(*(points[disc] - before[disc])) > AT_REST * self._truth.thickness
        ]
        return "two_discs_at_once" if len(moved) > 1 else "illegal_move"

    def _name_step(self, state: State) -> str:
        """What makes a step illegal."""
        if not is_sound(state[0]) and is_sound(self.state[0]):
            return "larger_on_smaller"
        before, after = _homes(self.state), _homes(state)
        moved = [disc for disc, home in after.items() if before.get(disc) != home]
        return "two_discs_at_once" if len(moved) > 1 else "illegal_move"


def _homes(state: State) -> dict[int, int]:
    """Disc -> its peg, 3 for the hand."""
    homes = {disc: peg for peg, stack in enumerate(state[0]) for disc in stack}
    return homes if state[1] is None else {**homes, state[1]: 3}
