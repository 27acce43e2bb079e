"""The view of puzzles: faults at the frames that show them, and only those of the score line."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from puzzlekit import SIZE, at_start, film, maze, play, right_way, roll, states_of, tower, walk
from vgen_eval.imaging import Image
from vgen_eval.types import NoOptions, Prediction, Sample, Scene
from vgen_eval.video import Clip
from vgen_eval.viewing import Film, Marks, Moment, Seen, Words
from vgen_eval_plugins.video.clip_decoder import ClipDecoder
from vgen_eval_plugins.video.puzzles.hanoi import HanoiTruth
from vgen_eval_plugins.video.puzzles.hanoi_drawing import draw_discs, places
from vgen_eval_plugins.video.puzzles.hanoi_rules import Stacks
from vgen_eval_plugins.video.puzzles.maze_drawing import to_picture
from vgen_eval_plugins.video.puzzles.maze_rules import Walk
from vgen_eval_plugins.video.puzzles.maze_tracking import MazeWalk, MazeWalkOptions
from vgen_eval_plugins.video.puzzles.unsolved import UnsolvedValue
from vgen_eval_plugins.video.puzzles.verdict import Puzzle
from vgen_eval_plugins.video.puzzles.view import PuzzleView
from vgen_eval_plugins.video.view import ClipView

FPS = 16


def seen_of(video: bytes | None, truth: Any, prediction: Prediction, **score: Any) -> Seen:
    metric = Puzzle(NoOptions())
    found = metric.update(prediction.value, truth, None)
    picture = Image(np.zeros((SIZE[1], SIZE[0], 3), np.uint8))
    line = {
        "status": "ok",
        "prediction": dict(prediction.summary),
        "statistics": {"puzzle": found},
        "values": dict(metric.compute(found)),
    }
    return Seen(
        sample=Sample(id="a", group="a", images=(picture,), target=truth),
        scene=Scene(image=picture, size=(SIZE[1], SIZE[0])),
        form="video", answer=video, prediction=prediction, substitute=False,
        score={**line, **score}, metrics={"puzzle": metric},
    )  # fmt: skip


def film_in(panes: Any) -> Film:
    (found,) = [pane.body for pane in panes if isinstance(pane.body, Film)]
    return found


def facts_in(panes: Any, title: str) -> dict[str, str]:
    (found,) = [pane.body for pane in panes if pane.title == title]
    assert isinstance(found, Words)
    return dict(found.facts)


TRUTH = maze()
WAY = right_way(TRUTH)
POINTS = walk(WAY, 10 * len(WAY))
STILL = film([at_start(TRUTH)] * len(POINTS), fps=FPS)
"""A clip as long as the walks below; what it shows does not matter to them."""


def walked(
    cells: list[tuple[float, float]], *, hidden: slice = slice(0), doubled: slice = slice(0),
    changed_from: int | None = None,
) -> Walk:  # fmt: skip
    """The marker at these places, in cells, one a frame; out of sight, or two, in some."""
    count = len(cells)
    points = to_picture(TRUTH, np.array(cells))
    points[hidden] = points[doubled] = np.nan
    is_doubled = np.zeros(count, np.bool_)
    is_doubled[doubled] = True
    return Walk(np.arange(count) / FPS, points, is_doubled, changed_from)


def moments(trace: Any, truth: Any = TRUTH, video: bytes = STILL) -> dict[str, float | None]:
    panes = PuzzleView().panes(seen_of(video, truth, Prediction(value=trace)))
    return {each.words.partition(":")[0]: each.time_s for each in film_in(panes).moments}


def test_a_solved_maze_says_so_at_its_end_and_its_progress_grows_to_one() -> None:
    trace = walked(POINTS)
    panes = PuzzleView().panes(seen_of(STILL, TRUTH, Prediction(value=trace)))
    shown = film_in(panes)
    end = (len(POINTS) - 1) / FPS
    assert shown.moments == (Moment(time_s=end, words="solved", good=True),)
    assert shown.shown == tuple(k / FPS for k in range(len(POINTS)))
    assert shown.curve[0] == (0.0, 0.0)
    assert shown.curve[-1] == (end, 1.0)
    assert [value for _, value in shown.curve] == sorted(value for _, value in shown.curve)
    told = facts_in(panes, "The checker's verdict")
    assert (told["solved"], told["progress"], told["faults"]) == ("1", "1", "none")


def test_a_leap_is_told_at_the_frame_after_it() -> None:
    cut = len(POINTS) // 3
    far = len(POINTS) - 5
    found = moments(walked(POINTS[:cut] + POINTS[far:]))
    assert found == {"jumped": cut / FPS}


def test_two_markers_and_another_scene_are_told_where_they_begin() -> None:
    found = moments(walked(POINTS, doubled=slice(7, 9), changed_from=11))
    assert found == {"marker_doubled": 7 / FPS, "scene_changed": 11 / FPS}


def test_a_marker_that_is_gone_is_told_where_it_was_lost_and_the_goal_at_the_end() -> None:
    found = moments(walked(POINTS, hidden=slice(20, None)))
    assert found == {"lost_marker": 20 / FPS, "goal_not_reached": (len(POINTS) - 1) / FPS}


def test_a_marker_that_is_nowhere_is_told_so() -> None:
    nowhere = Prediction(value=walked(POINTS, hidden=slice(0, None)))
    panes = PuzzleView().panes(seen_of(STILL, TRUTH, nowhere))
    (track,) = [pane for pane in panes if pane.title == "Where the marker was seen"]
    assert isinstance(track.body, Marks)
    assert (track.body.marks, track.note) == ((), "In no frame.")


def test_the_right_way_is_drawn_on_the_picture_and_told() -> None:
    panes = PuzzleView().panes(seen_of(STILL, TRUTH, Prediction(value=walked(POINTS))))
    way, track = (
        next(pane.body for pane in panes if pane.title == title)
        for title in ("The right way", "Where the marker was seen")
    )
    assert isinstance(way, Marks)
    assert isinstance(track, Marks)
    middles = to_picture(TRUTH, np.array([(column + 0.5, row + 0.5) for row, column in WAY]))
    assert np.array([(mark.x, mark.y) for mark in way.marks]) == pytest.approx(middles)
    seen = to_picture(TRUTH, np.array(POINTS))
    ends = np.array([(mark.x, mark.y) for mark in (track.marks[0], track.marks[-1])])
    assert ends == pytest.approx(seen[[0, -1]])
    (note,) = [pane.note for pane in panes if pane.body is track]
    assert note == f"200 of {len(POINTS)} places are drawn."
    told = facts_in(panes, "The maze")
    assert told["right way"] == f"{len(WAY) - 1} steps"
    assert told["goal"] == f"row {WAY[-1][0] + 1}, column {WAY[-1][1] + 1}"


def test_a_real_video_of_the_right_way_is_seen_as_it_was_rolled() -> None:
    points = walk(WAY, 3 * len(WAY))
    video = film(roll(TRUTH, points), fps=FPS)
    first = Image(at_start(TRUTH))
    scene = Scene(image=first, size=(first.height, first.width))
    prediction = MazeWalk(MazeWalkOptions()).decode(video, scene)
    panes = PuzzleView().panes(seen_of(video, TRUTH, prediction))
    told = facts_in(panes, "The checker's verdict")
    summary = prediction.summary
    assert told["looked at"] == f"{summary['looked_at']} of {summary['frames']} frames"
    assert told["one marker in"] == f"{summary['seen']} frames"
    assert told["faults"] == "none"
    assert film_in(panes).shown == Clip.open(video).times


TOWER = tower(discs=2)


def stacked(truth: HanoiTruth, states: list[Any]) -> Stacks:
    """The discs at rest in each of these states, one a frame."""
    points = [places(truth, state).get(disc) for state in states for disc in range(truth.discs)]
    return Stacks(
        times=np.arange(len(states)) / FPS, colours=truth.colours, points=np.array(points),
        extra=np.zeros(len(states), np.int64),
    )  # fmt: skip


def test_a_larger_disc_on_a_smaller_one_is_told_at_its_frame() -> None:
    way = states_of(TOWER)
    first, second = way[0], way[1]
    peg = next(at for at, stack in enumerate(second) if stack == (0,))
    wrong = tuple((0, 1) if at == peg else () for at in range(3))
    video = film(play(TOWER, way, each=4), fps=FPS)
    found = moments(stacked(TOWER, [first, first, second, wrong]), TOWER, video)
    assert found == {"larger_on_smaller": 3 / FPS, "goal_not_reached": 3 / FPS}
    assert moments(stacked(TOWER, way), TOWER, video) == {"solved": (len(way) - 1) / FPS}


def test_a_disc_that_is_gone_or_too_many_is_told_where_that_begins() -> None:
    way = states_of(TOWER)
    states = [way[0]] * 12
    video = film([draw_discs(TOWER, places(TOWER, way[0]))] * 12, fps=FPS)
    trace = stacked(TOWER, states)
    extra = trace.extra.copy()
    extra[4:7] = 1
    found = moments(msgspec.structs.replace(trace, extra=extra), TOWER, video)
    assert found["disc_appeared"] == 4 / FPS
    points = trace.points.copy()
    points[2 * 5 :: 2] = np.nan  # the smaller of two discs, from frame 5 on
    found = moments(msgspec.structs.replace(trace, points=points), TOWER, video)
    assert found["disc_lost"] == 5 / FPS
    panes = PuzzleView().panes(seen_of(video, TOWER, Prediction(value=trace)))
    told = facts_in(panes, "The tower")
    assert told["fewest moves"] == "3"
    assert told["discs, the smallest first"] == ", ".join(TOWER.colours)


def test_faults_that_the_score_line_has_not_are_not_shown_and_its_own_always() -> None:
    seen = seen_of(STILL, TRUTH, Prediction(value=walked(POINTS[:30])))
    told = {**seen.score["statistics"]["puzzle"], "goal_not_reached": 0, "too_fast": 1}
    changed = msgspec.structs.replace(
        seen, score={**seen.score, "statistics": {"puzzle": {**told, "progress": 0.123}}}
    )
    shown = film_in(PuzzleView().panes(changed))
    assert [(each.words.partition(":")[0], each.time_s) for each in shown.moments] == [
        ("too_fast", None)
    ]
    assert shown.curve == ()


def test_no_video_shows_the_truth_and_why() -> None:
    failure = UnsolvedValue(NoOptions()).decode(None, None)  # type: ignore[arg-type]
    score = {"status": "undecodable", "reason": "no frames"}
    seen = msgspec.structs.replace(seen_of(None, TRUTH, failure, **score), substitute=True)
    panes = PuzzleView().panes(seen)
    told = facts_in(panes, "The checker's verdict")
    assert told["reason"] == "no frames"
    assert told["counted as"] == "not solved, no progress, no rule broken"
    assert [pane.role for pane in panes] == ["target", "target", "detail"]


def test_a_clip_by_itself_tells_its_facts() -> None:
    prediction = ClipDecoder(ClipDecoder.Options()).decode(STILL, None)  # type: ignore[arg-type]
    seen = seen_of(STILL, TRUTH, Prediction(value=walked(POINTS)))
    panes = ClipView().panes(msgspec.structs.replace(seen, prediction=prediction))
    assert film_in(panes).clip.frames == len(POINTS)
    told = facts_in(panes, "Clip")
    assert told["frames"] == str(prediction.summary["frames"])
    assert told["frames a second"] == "16"
    broken = msgspec.structs.replace(seen, prediction=None, answer=b"no video")
    assert ClipView().panes(broken) == []
