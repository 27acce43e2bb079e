"""The maze checker: 1 on a right video after H.264, and the name of what a wrong one does."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from puzzlekit import (
    Cell,
    MazeTruth,
    Spoil,
    along,
    at_start,
    film,
    graded,
    maze,
    right_way,
    roll,
    scaled,
    scene_of,
    see_maze,
    shaken,
    straight,
    walk,
)
from vgen_eval.errors import Undecodable
from vgen_eval.types import Scene
from vgen_eval_plugins.video.puzzles.maze_drawing import (
    draw_maze,
    make_truth,
    to_grid,
    to_picture,
)
from vgen_eval_plugins.video.puzzles.maze_rules import Walk
from vgen_eval_plugins.video.puzzles.maze_tracking import MazeWalk, MazeWalkOptions
from vgen_eval_plugins.video.puzzles.maze_videos import MazeVideo
from vgen_eval_plugins.video.puzzles.mazes import make_maze, route
from vgen_eval_plugins.video.puzzles.timing import VideoOptions
from vgen_eval_plugins.video.puzzles.verdict import Verdict

STYLES = ("abstract", "real")
RIGHT = Verdict(1.0, ())


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (4, 7), (9, 16)])
def test_a_maze_has_one_way_between_any_two_cells(rows: int, columns: int) -> None:
    made = make_maze(rows, columns, 5)
    cells = [(r, c) for r in range(rows) for c in range(columns)]
    assert len(made.ways) == len(cells) - 1  # a tree, if it is connected
    assert all(route(made, made.start, cell)[-1] == cell for cell in cells)
    assert made == make_maze(rows, columns, 5)
    assert rows == 2 or made != make_maze(rows, columns, 6)
    lengths = [len(route(made, a, b)) for a in cells[:: len(cells) // 4] for b in cells]
    assert max(lengths) <= len(route(made, made.start, made.goal))


def test_both_styles_show_one_maze_and_the_way_to_cells_and_back_is_exact() -> None:
    plain, real = (maze(style) for style in STYLES)
    assert plain.maze == real.maze
    points = np.array([[0.5, 0.5], [6.5, 3.5], [3.2, 1.7]])
    for truth in (plain, real):
        assert to_grid(truth, to_picture(truth, points)) == pytest.approx(points, abs=1e-9)


@pytest.mark.parametrize(
    ("style", "fps", "count"),
    [
        ("abstract", 8, 24),
        ("real", 8, 20),
        ("abstract", 12, 30),
        ("real", 30, 60),
    ],
)
def test_a_right_video_is_solved_at_any_rate_and_pace(style: str, fps: float, count: int) -> None:
    truth = maze(style)  # 23 steps: in 20 frames 1.2 cells each
    assert see_maze(truth, film(roll(truth, walk(right_way(truth), count)), fps=fps)) == RIGHT


@pytest.mark.parametrize(
    ("style", "spoil"),
    [
        ("abstract", shaken(1, pixels=3)),
        ("real", shaken(1, pixels=3)),
        ("real", scaled(512, 288)),
        ("abstract", scaled(192, 116)),
        ("real", graded(0.8, 12)),
    ],
    ids=["shaken", "shaken photo", "larger", "smaller and of another shape", "toned"],
)
def test_codec_camera_size_and_tone_change_no_verdict(style: str, spoil: Spoil) -> None:
    truth = maze(style, seed=5)
    frames = roll(truth, walk(right_way(truth), 30))
    assert see_maze(truth, film(frames, crf=28, spoil=spoil)) == RIGHT


@pytest.mark.parametrize("style", STYLES)
def test_the_encoder_draws_a_right_video_at_the_size_that_was_seen(style: str) -> None:
    truth = maze(style)
    scene = scene_of(at_start(truth))
    video = MazeVideo(VideoOptions(seconds=2)).encode(truth, scene)
    prediction = MazeWalk(MazeWalkOptions()).decode(video, scene)
    assert prediction.summary["size"] == [320, 192]
    assert prediction.value.check(truth) == RIGHT
    assert video == MazeVideo(VideoOptions(seconds=2)).encode(truth, scene)


def test_a_walk_straight_to_the_goal_crosses_walls() -> None:
    truth = maze()
    points = straight(truth.maze.start, truth.maze.goal, 24)
    verdict = see_maze(truth, film(roll(truth, points)))
    assert verdict.faults == ("wall_crossed",)
    assert verdict.progress == pytest.approx(2 / 23)  # two cells on, the wall comes


@pytest.mark.parametrize(("style", "count"), [("real", 3), ("abstract", 20)])
def test_one_wall_crossed_on_a_right_way_is_named_at_any_pace(style: str, count: int) -> None:
    truth = maze(style, seed=5)
    way = right_way(truth)
    assert abs(way[10][0] - way[13][0]) + abs(way[10][1] - way[13][1]) == 1  # a wall between
    points = [*walk(way[:11], 30), *straight(way[10], way[13], count), *walk(way[13:], 16)]
    verdict = see_maze(truth, film(roll(truth, points)))
    assert verdict == Verdict(10 / 19, ("wall_crossed",))


def test_leaving_the_maze_is_crossing_its_wall() -> None:
    truth = maze()
    outside = [along(right_way(truth), 0), (3.2, 3.6), (3.2, 4.0), (3.2, 4.3), (3.2, 4.6)]
    assert "wall_crossed" in see_maze(truth, film(roll(truth, outside))).faults


@pytest.mark.parametrize("style", STYLES)
def test_a_leap_is_a_jump(style: str) -> None:
    truth = maze(style)
    way = right_way(truth)
    points = [*walk(way[:8], 20), *walk(way[14:], 20)]
    assert see_maze(truth, film(roll(truth, points))) == Verdict(7 / 23, ("jumped",))


def test_a_marker_that_is_at_the_goal_from_the_first_frame_on_jumped_there() -> None:
    truth = maze()
    frames = roll(truth, [along(right_way(truth), 1)] * 6)
    assert see_maze(truth, film(frames)) == Verdict(0.0, ("jumped",))


@pytest.mark.parametrize("frames", [1, 8])
def test_a_still_reaches_nothing(frames: int) -> None:
    truth = maze()
    verdict = see_maze(truth, film([at_start(truth)] * frames))
    assert verdict == Verdict(0.0, ("goal_not_reached",))


def test_half_of_the_way_is_progress_without_the_goal() -> None:
    truth = maze("real")
    verdict = see_maze(truth, film(roll(truth, walk(right_way(truth)[:12], 24))))
    assert verdict == Verdict(11 / 23, ("goal_not_reached",))


def test_a_marker_out_of_sight_for_long_is_lost_and_for_a_moment_is_not() -> None:
    truth = maze("real")
    points: list[tuple[float, float] | None] = [*walk(right_way(truth), 48)]
    blink = [*points[:20], None, None, *points[22:]]
    assert see_maze(truth, film(roll(truth, blink))) == RIGHT
    gone = [*points[:20], *[None] * 12, *points[32:]]
    verdict = see_maze(truth, film(roll(truth, gone)))
    assert verdict.faults == ("lost_marker",)
    assert 0.3 < verdict.progress < 0.45  # as far as it was seen
    never_back = [*points[:30], *[None] * 22]
    assert see_maze(truth, film(roll(truth, never_back))).faults == (
        "lost_marker",
        "goal_not_reached",
    )


@pytest.mark.parametrize(
    ("style", "change"), [("abstract", "gone"), ("real", "gone"), ("real", "new")]
)
def test_a_wall_that_goes_or_comes_changes_the_scene(style: str, change: str) -> None:
    truth = maze(style)
    ways = truth.maze.ways
    wall = next(
        ((r, c), (r, c + 1))
        for r in range(4)
        for c in range(6)
        if not truth.maze.is_open((r, c), (r, c + 1))
    )
    changed = ways | {wall} if change == "gone" else ways - {sorted(ways)[3]}
    other = msgspec.structs.replace(truth, maze=msgspec.structs.replace(truth.maze, ways=changed))
    points = walk(right_way(truth), 40)
    frames = [*roll(truth, points[:24]), *roll(other, points[24:])]
    verdict = see_maze(truth, film(frames))
    assert verdict.faults == ("scene_changed",)
    assert verdict.progress == pytest.approx(22 / 40, abs=0.08)


def test_a_scene_with_no_maze_is_no_walk() -> None:
    truth = maze()
    grey = [np.full((192, 320, 3), 128, np.uint8)] * 6
    faults = see_maze(truth, film(grey)).faults
    assert faults == ("lost_marker", "scene_changed", "goal_not_reached")


def test_an_input_picture_without_a_marker_is_told() -> None:
    truth = maze()
    scene: Scene = scene_of(draw_maze(truth, None))
    with pytest.raises(Undecodable, match="no red marker"):
        MazeWalk(MazeWalkOptions()).decode(film([at_start(truth)] * 2), scene)


def check(points: list[tuple[float, float]], *, fps: float) -> Verdict:
    """The rules alone, on points in cells."""
    truth = maze()
    seen = to_picture(truth, np.array(points))
    doubled = np.zeros(len(points), np.bool_)
    return Walk(np.arange(len(points)) / fps, seen, doubled, None).check(truth)


def test_a_marker_may_come_near_a_wall_but_not_lie_on_it() -> None:
    # the start cell (3, 2) has a wall on its left and open floor on its right
    start = (2.5, 3.5)
    near = [start, (2.3, 3.5), (2.18, 3.5), (2.3, 3.5), start]
    on_it = [start, (2.3, 3.5), (2.1, 3.5), (2.3, 3.5), start]
    assert check(near, fps=10).faults == ("goal_not_reached",)
    assert check(on_it, fps=10).faults == ("wall_crossed", "goal_not_reached")


@pytest.mark.parametrize(("every", "fault"), [(1, None), (2, "too_fast"), (4, "jumped")])
def test_one_cell_between_two_frames_is_fair_and_more_is_too_fast(
    every: int, fault: str | None
) -> None:
    way = right_way(maze())
    shown = [*way[::every], *[way[-1]] * bool((len(way) - 1) % every)]
    verdict = check([(c + 0.5, r + 0.5) for r, c in shown], fps=8)
    assert (verdict == RIGHT) if fault is None else (fault in verdict.faults)


@pytest.mark.parametrize("pace", [0.3, 0.7, 1.0, 1.3, 1.45])
def test_no_right_walk_crosses_a_wall_at_any_pace_and_in_any_maze(pace: float) -> None:
    for seed in range(12):
        truth = maze(seed=seed)
        middles = [(c + 0.5, r + 0.5) for r, c in right_way(truth)]
        for first in (0.0, 0.21, 0.5):
            seen = to_picture(truth, np.array(paced(middles, pace, first=first)))
            doubled = np.zeros(len(seen), np.bool_)
            assert Walk(np.arange(len(seen)) / 8, seen, doubled, None).check(truth) == RIGHT


@pytest.mark.parametrize("pace", [0.3, 0.7, 1.0, 1.05, 1.2, 1.3, 1.45])
def test_every_way_through_a_stub_wall_is_a_crossing_at_any_pace(pace: float) -> None:
    count = 0
    for seed in range(12):
        truth = maze(seed=seed)
        way = right_way(truth)
        middles = [(c + 0.5, r + 0.5) for r, c in way]
        for at in stubs(way):
            cut = [*middles[: at + 1], *middles[at + 3 :]]
            for first in (0.0, 0.21, 0.5):
                seen = to_picture(truth, np.array(paced(cut, pace, first=first)))
                doubled = np.zeros(len(seen), np.bool_)
                walk = Walk(np.arange(len(seen)) / 8, seen, doubled, None)
                assert walk.check(truth).faults == ("wall_crossed",)
                count += 1
    assert count > 50


def paced(
    points: list[tuple[float, float]], pace: float, *, first: float
) -> list[tuple[float, float]]:
    """Points on the line through these, so many cells apart; the first step is shorter."""
    gone = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(np.array(points), axis=0).T))])
    at = np.concatenate([[0.0], np.arange(pace * (1 - first), gone[-1], pace), [gone[-1]]])
    x, y = (np.interp(at, gone, [p[k] for p in points]) for k in (0, 1))
    return list(zip(x.tolist(), y.tolist(), strict=True))


def stubs(way: list[Cell]) -> list[int]:
    """Where the way goes around the end of one wall: three cells on it is next to where it was."""
    return [
        k
        for k in range(2, len(way) - 5)
        if abs(way[k][0] - way[k + 3][0]) + abs(way[k][1] - way[k + 3][1]) == 1
    ]


def smooth(cells: list[Cell]) -> list[tuple[float, float]]:
    """Five cells a second at 16 frames a second."""
    count = max(1, round((len(cells) - 1) * 16 / 5))
    return [along(cells, k / count) for k in range(count + 1)]


def behind_the_stub(style: str) -> tuple[MazeTruth, list[tuple[float, float]], list[Cell]]:
    """A maze, the marker's way to a stub wall, and the cells from behind it on."""
    truth = maze(style, seed=5)
    way = right_way(truth)
    at = stubs(way)[-1]
    return truth, walk(way[: at + 1], len(smooth(way[: at + 1])), still=2), way[at + 3 :]


@pytest.mark.parametrize(("style", "frames"), [("abstract", 3), ("real", 4), ("abstract", 5)])
def test_a_marker_that_hides_before_a_wall_is_not_behind_it_next(style: str, frames: int) -> None:
    truth, before, after = behind_the_stub(style)
    hidden = [*before, *[None] * frames, *smooth(after), along(after, 1)]
    verdict = see_maze(truth, film(roll(truth, hidden)))
    assert verdict.faults == (("wall_crossed",) if frames < 4 else ("lost_marker",))


@pytest.mark.parametrize(("style", "frames"), [("abstract", 5), ("real", 1)])
def test_two_markers_at_once_are_a_fault_though_one_goes_on(style: str, frames: int) -> None:
    truth, before, after = behind_the_stub(style)
    both = draw_maze(truth, before[-1])
    other = draw_maze(truth, along(after, 0))
    is_ball = np.abs(other.astype(int) - draw_maze(truth, None)).sum(axis=2) > 30
    both[is_ball] = other[is_ball]
    rest = list(roll(truth, [*smooth(after), along(after, 1)]))
    faults = see_maze(truth, film([*roll(truth, before), *[both] * frames, *rest])).faults
    assert "marker_doubled" in faults


@pytest.mark.parametrize("style", STYLES)
def test_a_frame_on_the_wall_is_a_crossing(style: str) -> None:
    truth, before, after = behind_the_stub(style)
    (x, y), (u, v) = before[-1], along(after, 0)
    points = [*before, ((x + u) / 2, (y + v) / 2), *smooth(after), along(after, 1)]
    assert see_maze(truth, film(roll(truth, points), fps=8)).faults == ("wall_crossed",)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("change", ["goal turned magenta", "second goal", "blue patch"])
def test_colours_that_change_or_come_change_the_scene(style: str, change: str) -> None:
    truth = maze(style)
    points = walk(right_way(truth), 30)
    frames = list(roll(truth, points))
    row, column = (0, 0) if (0, 0) not in right_way(truth)[:9] else (3, 6)
    corners = np.array([[column + x, row + y] for x, y in ((0.2, 0.2), (0.8, 0.2), (0.8, 0.8))])
    low = to_picture(truth, corners).min(axis=0).round().astype(int)
    high = to_picture(truth, corners).max(axis=0).round().astype(int)
    for frame in frames[8:16]:
        if change == "goal turned magenta":
            levels = frame.astype(int)
            is_green = levels[..., 1] > np.maximum(levels[..., 0], levels[..., 2]) + 35
            assert is_green.any()
            frame[is_green] = (196, 42, 178)
        else:
            paint = (44, 160, 60) if change == "second goal" else (36, 78, 206)
            frame[low[1] : high[1], low[0] : high[0]] = paint
    assert see_maze(truth, film(frames)).faults == ("scene_changed",)


@pytest.mark.parametrize(("rows", "size"), [(9, (320, 192)), (3, (192, 320))])
def test_the_encoder_keeps_the_tempo_in_any_maze(rows: int, size: tuple[int, int]) -> None:
    truth = make_truth(rows, round(rows * size[0] / size[1]), 2, style="abstract", size=size)
    scene = scene_of(at_start(truth))
    video = MazeVideo(VideoOptions(fps=8, seconds=1)).encode(truth, scene)
    assert MazeWalk(MazeWalkOptions()).decode(video, scene).value.check(truth) == RIGHT
