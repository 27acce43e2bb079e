"""What a checked video is shown as: the clip with its faults at their times, and the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, ClassVar

import numpy as np
from vgen_eval.viewing import Mark, Marks, Moment, Pane, Seen, Words

from vgen_eval_plugins.telling import Fact, number, outcome, summary_of, value_facts
from vgen_eval_plugins.video.puzzles import hanoi
from vgen_eval_plugins.video.puzzles.hanoi import HanoiTruth
from vgen_eval_plugins.video.puzzles.hanoi_rules import Stacks
from vgen_eval_plugins.video.puzzles.maze_drawing import to_picture
from vgen_eval_plugins.video.puzzles.maze_rules import Walk
from vgen_eval_plugins.video.puzzles.mazes import MazeTruth, route
from vgen_eval_plugins.video.puzzles.verdict import FAULTS, Course
from vgen_eval_plugins.video.view import clip_facts, clip_of, film_pane

__all__ = ["PuzzleView"]

MOST_MARKS = 200
"""Places of a marker that are drawn."""

SAID: Mapping[str, str] = {
    "wall_crossed": "the marker crosses a wall",
    "jumped": "the marker leaps",
    "too_fast": "the marker goes further between two frames than can be followed",
    "lost_marker": "the marker is out of sight for too long",
    "marker_doubled": "there is more than one marker",
    "scene_changed": "the scene is no longer that of the first picture",
    "goal_not_reached": "the goal is not reached at the end",
    "illegal_move": "a move that the rules forbid",
    "larger_on_smaller": "a disc lies on a smaller one",
    "two_discs_at_once": "two discs move at once",
    "disc_lost": "a disc is gone",
    "disc_appeared": "there is a disc too many",
}


class PuzzleView:
    """The clip with the checker's verdict; progress along the time; truth as facts."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "puzzle"

    def panes(self, seen: Seen) -> Sequence[Pane]:
        """Faults and numbers are those of the score line; the checker says when they came."""
        panes: list[Pane] = []
        truth = seen.sample.target
        clip = clip_of(seen)
        trace = _trace(seen, truth)
        told = _statistics(seen)
        if clip is not None:
            course = None if trace is None else trace.follow(truth)
            times = () if trace is None else tuple(float(time) for time in trace.times)
            curve = _curve(course, times, told)
            panes.append(
                film_pane(
                    clip,
                    moments=_moments(told, course, times),
                    shown=times,
                    curve=curve,
                    note="Line: part of the way gone before the first fault." if curve else "",
                )
            )
        if isinstance(trace, Walk):
            panes.append(_track(trace))
        panes += _truth(truth)
        facts = _verdict(seen, told)
        facts += [] if clip is None else clip_facts(clip)
        facts += _looked_at(summary_of(seen))
        if facts:
            panes.append(
                Pane(role="detail", title="The checker's verdict", body=Words(facts=tuple(facts)))
            )
        return panes


def _trace(seen: Seen, truth: Any) -> Walk | Stacks | None:
    """What was followed through the video; None where nothing was, or the truth is not its."""
    value = None if seen.prediction is None else seen.prediction.value
    if isinstance(value, Walk) and isinstance(truth, MazeTruth):
        return value
    return value if isinstance(value, Stacks) and isinstance(truth, HanoiTruth) else None


def _statistics(seen: Seen) -> Mapping[str, Any]:
    """Those of the puzzle metric; {} where nothing was scored."""
    for told in (seen.score.get("statistics") or {}).values():
        if isinstance(told, Mapping) and {"solved", "progress", "goal_not_reached"} <= set(told):
            return told
    return {}


def _moments(
    told: Mapping[str, Any], course: Course | None, times: Sequence[float]
) -> list[Moment]:
    """One a fault of the score line, at the first frame that shows it."""
    if not told:
        return []
    at = {} if course is None else course.faults
    faults = [fault for fault in FAULTS if told.get(fault)]
    found = [
        Moment(
            time_s=times[at[fault]] if fault in at and at[fault] < len(times) else None,
            words=f"{fault}: {SAID.get(fault, fault)}",
            good=False,
        )
        for fault in faults
    ]
    if not faults:
        found.append(Moment(time_s=times[-1] if times else None, words="solved", good=True))
    return found


def _curve(
    course: Course | None, times: Sequence[float], told: Mapping[str, Any]
) -> list[tuple[float, float]]:
    """Progress as steps over the looked-at time; [] unless it ends where the score line says."""
    if course is None or not course.progress or not times or not told:
        return []
    if abs(course.progress[-1][1] - told["progress"]) > 1e-9:
        return []
    points: list[tuple[float, float]] = []
    for frame, gone in course.progress:
        if points:
            points.append((times[frame], points[-1][1]))
        points.append((times[frame], gone))
    points.append((times[-1], points[-1][1]))
    return list(dict.fromkeys(points))


def _track(walk: Walk) -> Pane:
    """Where the marker was seen, each place joined to the next."""
    places = walk.points[np.isfinite(walk.points).all(axis=1)]
    count = min(len(places), MOST_MARKS)
    chosen = np.unique(np.linspace(0, max(0, len(places) - 1), count).round().astype(int))
    points = [(float(x), float(y)) for x, y in places[chosen]] if len(places) else []
    marks = tuple(
        Mark(x=x, y=y, shape="dot", meaning="marker seen", to=after)
        for (x, y), after in zip_longest(points, points[1:])
    )
    left = len(places) - len(points)
    told = f"{len(points):,} of {len(places):,} places are drawn." if left > 0 else ""
    return Pane(
        role="detail",
        title="Where the marker was seen",
        body=Marks(marks=marks),
        note="In no frame." if not points else told,
    )


def _verdict(seen: Seen, told: Mapping[str, Any]) -> list[Fact]:
    facts = outcome(seen, counted_as="not solved, no progress, no rule broken")
    if told:
        facts += value_facts(seen, "solved", "progress", "rule_broken", "goal_not_reached")
        faults = [fault for fault in FAULTS if told.get(fault)]
        facts.append(("faults", ", ".join(faults) or "none"))
    return facts


def _looked_at(summary: Mapping[str, Any]) -> list[Fact]:
    """What the checker saw in how many frames."""
    facts: list[Fact] = []
    if "looked_at" in summary and "frames" in summary:
        facts.append(("looked at", f"{summary['looked_at']} of {summary['frames']} frames"))
    if "discs" in summary:
        each = zip(summary["discs"], summary["seen"], strict=False)
        told = ", ".join(f"{disc} in {count}" for disc, count in each)
        facts += [("discs seen", told), ("frames with something extra", number(summary["extra"]))]
    elif "seen" in summary:
        facts += [
            ("one marker in", f"{summary['seen']} frames"),
            ("several markers in", f"{summary['doubled']} frames"),
            ("another scene in", f"{summary['changed']} frames"),
        ]
    return facts


def _truth(truth: Any) -> list[Pane]:
    if isinstance(truth, MazeTruth):
        return _maze(truth)
    return _tower(truth) if isinstance(truth, HanoiTruth) else []


def _maze(truth: MazeTruth) -> list[Pane]:
    """The right way on the picture, and in words; rows and columns counted from 1."""
    maze = truth.maze
    way = route(maze, maze.start, maze.goal)
    middles = np.array([(column + 0.5, row + 0.5) for row, column in way])
    points = [(float(x), float(y)) for x, y in to_picture(truth, middles)]
    marks = tuple(
        Mark(x=x, y=y, shape="ring", meaning="right way", to=after)
        for (x, y), after in zip_longest(points, points[1:])
    )
    facts = (
        ("maze", f"{maze.rows} rows, {maze.columns} columns"),
        ("start", _cell(maze.start)),
        ("goal", _cell(maze.goal)),
        ("right way", f"{len(way) - 1} steps"),
        ("style", truth.style),
        ("seed", number(truth.seed)),
    )
    return [
        Pane(role="target", title="The right way", body=Marks(marks=marks)),
        Pane(role="target", title="The maze", body=Words(facts=facts)),
    ]


def _cell(cell: tuple[int, int]) -> str:
    return f"row {cell[0] + 1}, column {cell[1] + 1}"


def _tower(truth: HanoiTruth) -> list[Pane]:
    source, goal = (
        ", ".join(hanoi.PEGS[at] for at, stack in enumerate(pegs) if stack)
        for pegs in (truth.start, truth.goal)
    )
    facts = (
        ("discs, the smallest first", ", ".join(truth.colours)),
        ("from", source),
        ("to", goal),
        ("fewest moves", number(hanoi.distance(truth.start, truth.goal))),
        ("style", truth.style),
        ("seed", number(truth.seed)),
    )
    return [Pane(role="target", title="The tower", body=Words(facts=facts))]
