"""The checker of the tower of Hanoi: 1 on a right video after H.264, and each fault by its name."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import cv2
import numpy as np
import pytest
from puzzlekit import (
    RGB,
    Spoil,
    film,
    graded,
    play,
    scaled,
    scene_of,
    see_tower,
    shaken,
    states_of,
    tower,
)
from vgen_eval.errors import Undecodable
from vgen_eval_plugins.video.puzzles.hanoi import (
    HanoiTruth,
    Pegs,
    distance,
    operations,
    solution,
)
from vgen_eval_plugins.video.puzzles.hanoi_drawing import Places, draw_discs, places
from vgen_eval_plugins.video.puzzles.hanoi_tracking import HanoiStacks, HanoiStacksOptions
from vgen_eval_plugins.video.puzzles.hanoi_videos import HanoiVideo, between
from vgen_eval_plugins.video.puzzles.timing import VideoOptions
from vgen_eval_plugins.video.puzzles.verdict import Verdict

STYLES = ("abstract", "real")
RIGHT = Verdict(1.0, ())


@pytest.mark.parametrize("discs", [1, 2, 3, 5])
def test_the_solution_is_legal_and_as_short_as_can_be(discs: int) -> None:
    start, goal = (tuple(range(discs - 1, -1, -1)), (), ()), ((), (), tuple(range(discs)[::-1]))
    states = solution(start, goal)
    assert len(states) - 1 == 2**discs - 1 == distance(start, goal)
    for before, after in itertools.pairwise(states):
        assert operations((before, None), (after, None), 4) == 2
        assert all(list(stack) == sorted(stack, reverse=True) for stack in after)


def test_what_no_legal_player_can_do_takes_no_number_of_operations() -> None:
    start: Pegs = ((1, 0), (), ())
    assert operations((start, None), (start, None), 0) == 0
    assert operations((start, None), (((1,), (), ()), 0), 3) == 1
    assert operations((start, None), (((0,), (1,), ()), None), 5) is None  # six are needed
    assert operations((start, None), (((), (0, 1), ()), None), 50) is None
    assert distance(((), (0, 1), ()), start) is None


@pytest.mark.parametrize(
    ("style", "fps", "each", "rest"),
    [("abstract", 8, 1, 0), ("real", 8, 1, 0), ("abstract", 8, 2, 1), ("real", 30, 7, 1)],
)
def test_a_right_video_is_solved_at_any_rate_and_pace(
    style: str, fps: float, each: int, rest: int
) -> None:
    truth = tower(style)
    frames = play(truth, states_of(truth), each=each, rest=rest)
    first = [draw_discs(truth, places(truth, truth.start))]
    assert see_tower(truth, film([*first, *frames], fps=fps)) == RIGHT


@pytest.mark.parametrize(
    ("style", "spoil"),
    [
        ("real", shaken(1, pixels=3)),
        ("abstract", scaled(512, 288)),
        ("real", scaled(192, 116)),
        ("real", graded(0.8, 12)),
    ],
    ids=["shaken", "larger", "smaller and of another shape", "toned"],
)
def test_codec_camera_size_and_tone_change_no_verdict(style: str, spoil: Spoil) -> None:
    truth = tower(style, seed=4)
    frames = play(truth, states_of(truth), each=3, rest=1)
    assert see_tower(truth, film(frames, crf=28, spoil=spoil)) == RIGHT


@pytest.mark.parametrize(("style", "discs"), [("abstract", 2), ("real", 3)])
def test_the_encoder_draws_a_right_video(style: str, discs: int) -> None:
    truth = tower(style, discs=discs)
    scene = scene_of(draw_discs(truth, places(truth, truth.start)))
    video = HanoiVideo(VideoOptions()).encode(truth, scene)
    assert HanoiStacks(HanoiStacksOptions()).decode(video, scene).value.check(truth) == RIGHT


@pytest.mark.parametrize(("style", "each"), [("abstract", 1), ("real", 4)])
def test_two_discs_that_move_at_once_are_named_at_any_pace(style: str, each: int) -> None:
    truth = tower(style)
    states = states_of(truth)
    verdict = see_tower(truth, film(play(truth, [states[0], *states[2:]], each=each)))
    assert verdict == Verdict(0.0, ("two_discs_at_once",))


@pytest.mark.parametrize(("style", "each"), [("abstract", 1), ("real", 4)])
def test_a_larger_disc_on_a_smaller_one_is_named(style: str, each: int) -> None:
    truth = tower(style)
    states = states_of(truth)
    bad = onto_the_smallest(states[1])
    verdict = see_tower(truth, film(play(truth, [*states[:2], bad, *states[1:]], each=each)))
    assert verdict.faults == ("larger_on_smaller",)
    assert verdict.progress == pytest.approx(1 / 7)


def onto_the_smallest(state: Pegs) -> Pegs:
    """Disc 1 laid on disc 0."""
    without = [tuple(disc for disc in stack if disc != 1) for stack in state]
    return tuple((*stack, 1) if 0 in stack else stack for stack in without)


def pulled_out(truth: HanoiTruth) -> tuple[Pegs, Iterator[RGB]]:
    """Disc 1 goes to an empty peg from below disc 0, which waits and then falls."""
    source = next(k for k, stack in enumerate(truth.start) if stack)
    stacks = [tuple(disc for disc in stack if disc != 1) for stack in truth.start]
    stacks[(source + 1) % 3] = (1,)
    after: Pegs = tuple(stacks)

    def frames() -> Iterator[RGB]:
        yield from [draw_discs(truth, places(truth, truth.start))] * 2
        for k in range(6):
            at = between(truth, truth.start, after, k / 5)
            yield draw_discs(truth, {**at, 0: places(truth, truth.start)[0]})
        yield from [draw_discs(truth, places(truth, after))] * 3

    return after, frames()


@pytest.mark.parametrize("style", STYLES)
def test_a_disc_taken_from_below_another_is_an_illegal_move(style: str) -> None:
    truth = tower(style)
    after, frames = pulled_out(truth)
    faults = ("illegal_move", "goal_not_reached")
    assert see_tower(truth, film(frames)) == Verdict(0.0, faults)
    at_once = play(truth, [truth.start, after], each=1)
    assert see_tower(truth, film(at_once)) == Verdict(0.0, faults)


def test_half_of_the_moves_are_progress_without_the_goal() -> None:
    truth = tower("real")
    verdict = see_tower(truth, film(play(truth, states_of(truth)[:4], each=4)))
    assert verdict == Verdict(pytest.approx(3 / 7), ("goal_not_reached",))


def test_a_disc_in_the_air_at_the_end_is_not_at_the_goal() -> None:
    truth = tower()
    frames = list(play(truth, states_of(truth), each=4, rest=0))
    assert see_tower(truth, film(frames[:-2])).faults == ("goal_not_reached",)


def without(truth: HanoiTruth, disc: int, first: int, last: int) -> Iterator[RGB]:
    """A right video, a disc out of sight in the frames from first to last."""
    states, count = states_of(truth), 0
    for before, after in itertools.pairwise(states):
        for k in range(1, 6):
            at = between(truth, before, after, min(1, k / 4))
            if first <= count <= last:
                del at[disc]
            count += 1
            yield draw_discs(truth, at)


def test_a_disc_out_of_sight_for_long_is_lost_and_for_a_moment_is_not() -> None:
    truth = tower("real")
    assert see_tower(truth, film(without(truth, 1, 10, 11))) == RIGHT
    verdict = see_tower(truth, film(without(truth, 1, 10, 21)))
    assert verdict == Verdict(pytest.approx(2 / 7), ("disc_lost",))
    never_back = see_tower(truth, film(without(truth, 0, 25, 99)))
    assert never_back.faults == ("disc_lost", "goal_not_reached")


@pytest.mark.parametrize(("style", "colour"), [("abstract", "magenta"), ("real", "red")])
def test_a_disc_that_was_not_there_has_appeared(style: str, colour: str) -> None:
    truth = tower(style)
    assert truth.colours == ("cyan", "red", "yellow")  # magenta is new, red a second one
    states = states_of(truth)
    place = (truth.pegs[1], truth.top - 1.5 * truth.thickness)
    frames = list(play(truth, states, each=4))
    more = [draw_discs(truth, places(truth, states[1]), extra={colour: place})] * 6
    verdict = see_tower(truth, film([*frames[:8], *more, *frames[8:]]))
    assert verdict == Verdict(pytest.approx(1 / 7), ("disc_appeared",))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "paint",
    [(240, 130, 30), (150, 90, 40), (120, 40, 200), (150, 230, 40), (10, 10, 10), (118, 118, 118)],
    ids=["orange", "brown", "purple", "lime", "black", "grey"],
)
def test_a_disc_of_any_colour_that_was_not_there_has_appeared(
    style: str, paint: tuple[int, int, int]
) -> None:
    truth = tower(style)
    empty = next(k for k in range(3) if not truth.start[k] and not truth.goal[k])
    frames = list(play(truth, states_of(truth), each=2, rest=1))
    x, y = round(truth.pegs[empty]), round(truth.top - 1.6 * truth.thickness)
    wide, high = round(truth.widths[1] / 2), round(truth.thickness / 2)
    for frame in frames[1:]:
        cv2.rectangle(frame, (x - wide, y - high), (x + wide, y + high), paint, -1)
    assert "disc_appeared" in see_tower(truth, film(frames)).faults


@pytest.mark.parametrize("style", STYLES)
def test_a_disc_that_appears_where_the_tower_was_is_seen_too(style: str) -> None:
    truth = tower(style)
    source = next(k for k in range(3) if truth.start[k])
    frames = list(play(truth, states_of(truth), each=2, rest=1))
    x, y = round(truth.pegs[source]), round(truth.slot(1))
    wide, high = round(truth.widths[1] / 2), round(truth.thickness / 2)
    for frame in frames[-4:]:  # the tower is gone from there
        cv2.rectangle(frame, (x - wide, y - high), (x + wide, y + high), (120, 40, 200), -1)
    assert "disc_appeared" in see_tower(truth, film(frames)).faults


def drawn(truth: HanoiTruth, states: list[Places], *, each: int = 3) -> list[RGB]:
    """Each of them for some frames."""
    return [draw_discs(truth, state) for state in states for _ in range(each)]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("fps", [8, 30])
def test_a_game_in_which_discs_fly_in_pairs_is_not_solved(style: str, fps: float) -> None:
    truth = tower(style)
    rest = [places(truth, state) for state in states_of(truth)]
    frames = drawn(truth, rest[:1])
    for k in (0, 2, 4):
        flying = [disc for disc in rest[k] if rest[k][disc] != rest[k + 2][disc]]
        air = {
            disc: (
                (rest[k][disc][0] + rest[k + 2][disc][0]) / 2,
                truth.top - (0.75 - 1.2 * n) * truth.thickness,
            )
            for n, disc in enumerate(flying)
        }
        frames += [draw_discs(truth, {**rest[k], **air}), *drawn(truth, rest[k + 2 : k + 3])]
    frames += play(truth, states_of(truth)[6:], each=3)
    assert see_tower(truth, film(frames, fps=fps)).faults == ("two_discs_at_once",)


@pytest.mark.parametrize(("style", "fps", "hidden"), [("abstract", 16, 3), ("real", 30, 5)])
@pytest.mark.parametrize("disc", [0, 2])
def test_a_disc_out_of_sight_hides_no_more_than_its_own_move(
    style: str, fps: float, hidden: int, disc: int
) -> None:
    truth = tower(style)
    rest = [places(truth, state) for state in states_of(truth)]
    gone = {other: place for other, place in rest[0].items() if other != disc}
    frames = [
        *drawn(truth, rest[:1]),
        *drawn(truth, [gone], each=hidden),
        *drawn(truth, rest[6:7], each=12),
        *play(truth, states_of(truth)[6:], each=3),
    ]
    assert see_tower(truth, film(frames, fps=fps)).faults == ("two_discs_at_once",)


def test_two_discs_are_not_solved_by_one_frame_without_one_of_them() -> None:
    truth = tower(discs=2)
    start, goal = places(truth, truth.start), places(truth, truth.goal)
    frames = [*drawn(truth, [start]), draw_discs(truth, {1: start[1]}), *drawn(truth, [goal])]
    assert see_tower(truth, film(frames, fps=8)).faults == ("two_discs_at_once",)


@pytest.mark.parametrize("style", STYLES)
def test_the_lowest_disc_pulled_out_for_one_frame_is_an_illegal_move(style: str) -> None:
    truth = tower(style)
    start = places(truth, truth.start)
    pulled = {**start, 2: (start[2][0], truth.top - 0.75 * truth.thickness)}
    frames = [*drawn(truth, [start]), draw_discs(truth, pulled)]
    frames += play(truth, states_of(truth), each=3)
    assert see_tower(truth, film(frames)).faults == ("illegal_move",)


@pytest.mark.parametrize("style", STYLES)
def test_a_tower_beside_its_peg_is_not_at_the_goal(style: str) -> None:
    truth = tower(style)
    beside = {
        disc: (x + 1.2 * truth.thickness, y) for disc, (x, y) in places(truth, truth.goal).items()
    }
    frames = [*play(truth, states_of(truth), each=3), *drawn(truth, [beside])]
    assert "goal_not_reached" in see_tower(truth, film(frames)).faults


def test_the_encoder_keeps_the_tempo_of_many_discs() -> None:
    truth = tower(discs=5)
    scene = scene_of(draw_discs(truth, places(truth, truth.start)))
    video = HanoiVideo(VideoOptions(fps=8, seconds=1)).encode(truth, scene)
    assert HanoiStacks(HanoiStacksOptions()).decode(video, scene).value.check(truth) == RIGHT


@pytest.mark.parametrize("frames", [1, 5])
def test_a_still_reaches_nothing(frames: int) -> None:
    truth = tower()
    still = [draw_discs(truth, places(truth, truth.start))] * frames
    assert see_tower(truth, film(still)) == Verdict(0.0, ("goal_not_reached",))


def test_a_tower_that_is_at_the_goal_at_once_was_not_moved_by_the_rules() -> None:
    truth = tower()
    verdict = see_tower(truth, film([draw_discs(truth, places(truth, truth.goal))] * 5))
    assert verdict == Verdict(0.0, ("two_discs_at_once",))


def test_a_picture_with_no_disc_is_told() -> None:
    grey = np.full((192, 320, 3), 128, np.uint8)
    with pytest.raises(Undecodable, match="no disc"):
        HanoiStacks(HanoiStacksOptions()).decode(film([grey] * 2), scene_of(grey))
