"""The tower of Hanoi: its states, its legal moves, and its truth in a picture."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import lru_cache

import msgspec

__all__ = [
    "PEGS", "HanoiTruth", "Pegs", "State", "distance", "is_sound", "make_truth", "operations",
    "solution", "tower",
]  # fmt: skip

PEGS = ("left", "middle", "right")
COLOURS = ("red", "yellow", "green", "blue", "magenta", "cyan")

Pegs = tuple[tuple[int, ...], ...]
"""The discs on each of the three pegs, from below; disc 0 is the smallest."""
State = tuple[Pegs, int | None]
"""What stands on the pegs, and the disc in the hand."""


class HanoiTruth(msgspec.Struct, frozen=True, kw_only=True):
    """Start, goal, and how they lie in the picture: enough to draw it, and to check a video."""

    start: Pegs
    goal: Pegs
    colours: tuple[str, ...]
    """Of each disc, the smallest first."""
    widths: tuple[float, ...]
    """Of each disc, in pixels, as all that follows."""
    thickness: float
    """Of a disc."""
    pegs: tuple[float, float, float]
    """x of each."""
    floor: float
    """y on which the lowest disc stands."""
    top: float
    """y of the pegs' upper end."""
    size: tuple[int, int]
    """(width, height) of the picture."""
    style: str
    seed: int

    @property
    def discs(self) -> int:
        """How many there are."""
        return len(self.widths)

    def slot(self, level: int) -> float:
        """y of the middle of a disc that lies on so many others."""
        return self.floor - (level + 0.5) * self.thickness


def make_truth(discs: int, seed: int, *, style: str, size: tuple[int, int]) -> HanoiTruth:
    """The tower of that seed in a picture of that (width, height): the same in either style."""
    rng = random.Random(f"hanoi {discs} {seed}")
    first, last = rng.sample(range(3), 2)
    colours = rng.sample(COLOURS, discs)
    width, height = size
    spacing = width * 0.3
    thickness = min(height * 0.5 / discs, height * 0.105)
    floor = height * 0.82
    widest, least = spacing * 0.9, spacing * 0.34
    step = (widest - least) / max(1, discs - 1)
    middle = width / 2 - 0.5
    return HanoiTruth(
        start=tower(discs, first), goal=tower(discs, last), colours=tuple(colours),
        widths=tuple(least + step * k for k in range(discs)), thickness=thickness,
        pegs=(middle - spacing, middle, middle + spacing), floor=floor,
        top=floor - (discs + 0.8) * thickness, size=size, style=style, seed=seed,
    )  # fmt: skip


def tower(discs: int, peg: int) -> Pegs:
    """All discs on one peg."""
    whole = tuple(range(discs - 1, -1, -1))
    return tuple(whole if k == peg else () for k in range(3))


def is_sound(pegs: Pegs) -> bool:
    """Does no disc lie on a smaller one?"""
    return all(stack == tuple(sorted(stack, reverse=True)) for stack in pegs)


def _with(pegs: Pegs, peg: int, stack: tuple[int, ...]) -> Pegs:
    return tuple(stack if k == peg else other for k, other in enumerate(pegs))


def _lifts(pegs: Pegs) -> Iterator[tuple[Pegs, int]]:
    for peg, stack in enumerate(pegs):
        if stack:
            yield _with(pegs, peg, stack[:-1]), stack[-1]


def _drops(pegs: Pegs, disc: int) -> Iterator[State]:
    for peg, stack in enumerate(pegs):
        if not stack or stack[-1] > disc:
            yield _with(pegs, peg, (*stack, disc)), None


def _options(pegs: Pegs, hand: int | None) -> Iterator[State]:
    yield from _lifts(pegs) if hand is None else _drops(pegs, hand)


def operations(a: State, b: State, most: int) -> int | None:
    """Legal liftings and layings from a to b, the fewest; None when more than `most` are needed."""
    edge, seen = {a}, {a}
    for count in range(most + 1):
        if b in edge:
            return count
        after = {near for pegs, hand in edge for near in _options(pegs, hand)}
        edge = after - seen
        seen |= edge
    return None


def _moves(pegs: Pegs) -> Iterator[Pegs]:
    for rest, disc in _lifts(pegs):
        for after, _ in _drops(rest, disc):
            if after != pegs:
                yield after


@lru_cache(maxsize=64)
def _ways_to(goal: Pegs) -> dict[Pegs, tuple[int, Pegs]]:
    """Every state -> (moves to the goal, the state after the first of them)."""
    found = {goal: (0, goal)}
    edge = [goal]
    while edge:
        after = []
        for here in edge:
            for near in _moves(here):  # a legal move can be taken back
                if near not in found:
                    found[near] = (found[here][0] + 1, here)
                    after.append(near)
        edge = after
    return found


def distance(pegs: Pegs, goal: Pegs) -> int | None:
    """Legal moves to the goal, the fewest; None from a state that no legal move leads to."""
    found = _ways_to(goal).get(pegs)
    return None if found is None else found[0]


def solution(start: Pegs, goal: Pegs) -> list[Pegs]:
    """The states of a shortest solution, both ends included."""
    ways, states = _ways_to(goal), [start]
    while states[-1] != goal:
        states.append(ways[states[-1]][1])
    return states
