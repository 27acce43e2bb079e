"""When a video is looked at: worked by hand from the frame rates and the durations."""

from __future__ import annotations

import pytest
from vgen_eval_plugins.video.vgi.grid import (
    choose_nominations,
    merge_intervals,
    nomination_cap,
    sample_interval,
    sample_times,
    split_groups,
    split_windows,
)

LAST = 1 / 30


@pytest.mark.parametrize(
    ("seconds", "frames", "windows"), [(5.0, 21, 3), (10.0, 41, 5)], ids=["5 s", "10 s"]
)
def test_four_frames_a_second_come_in_windows_of_ten_with_one_shared(
    seconds: float, frames: int, windows: int
) -> None:
    times = sample_times(seconds, 4, limit=seconds - LAST)
    assert len(times) == frames
    assert times[:3] == [0.0, 0.25, 0.5]
    assert times[-2:] == [seconds - 0.25, seconds - LAST]
    assert len(split_windows(frames)) == windows


def test_neighbouring_windows_share_one_frame_and_none_is_left_out() -> None:
    assert split_windows(21) == [range(10), range(9, 19), range(18, 21)]
    assert split_windows(41)[-1] == range(36, 41)
    assert split_windows(19) == [range(10), range(9, 19)]
    assert split_windows(10) == [range(10)]
    assert split_windows(11) == [range(10), range(9, 11)]
    assert split_windows(1) == [range(1)]
    assert split_windows(0) == []


def test_the_grid_rounds_half_to_even_and_stops_before_the_end() -> None:
    # 5.25 s at 2 frames a second: 10.5 rounds to 10, so the last sample is at 5.0
    assert sample_times(5.25, 2, limit=5.25 - LAST)[-1] == 5.0
    # 5.75 s: 11.5 rounds to 12, whose 6.0 is clamped
    assert sample_times(5.75, 2, limit=5.75 - LAST)[-1] == 5.75 - LAST
    with_last = sample_times(5.25, 2, limit=5.25 - LAST, add_last=True)
    assert with_last[-2:] == [5.0, 5.25 - LAST]


def test_times_that_are_clamped_to_the_same_stand_once() -> None:
    assert sample_times(1.0, 4, limit=0.5) == [0.0, 0.25, 0.5]
    assert sample_times(1 / 30, 4, limit=0.0) == [0.0]
    assert sample_times(1 / 30, 4, limit=0.0, add_last=True) == [0.0]


def test_times_that_are_sought_alike_stand_once_and_others_stay_apart() -> None:
    limit = 5.0000003
    assert sample_times(5.2, 4, limit=limit, digits=3)[-2:] == [4.75, 5.0]
    assert sample_times(5.2, 4, limit=limit)[-2:] == [5.0, limit]
    assert sample_interval((4.5, 5.5), 8, limit=limit, digits=3)[-2:] == [4.875, 5.0]
    assert sample_interval((4.5, 5.5), 8, limit=limit)[-2:] == [5.0, limit]
    # 5.0006 is sought as 5.001
    assert sample_interval((4.5, 5.5), 8, limit=5.0006, digits=3)[-2:] == [5.0, 5.0006]


@pytest.mark.parametrize(("frames", "cap"), [(1, 1), (3, 2), (9, 5), (10, 5)])
def test_half_of_a_window_rounded_up_may_be_nominated(frames: int, cap: int) -> None:
    assert nomination_cap(frames) == cap


def test_nominations_are_cleaned_before_they_are_capped() -> None:
    known = {0, 8, 15, 22, 30, 38, 45, 52, 60, 68}
    told = [99, "8", 8.0, True, None, 60, 8, 60, 15, 0, 22, 30]
    assert choose_nominations(told, known) == [60, 8, 15, 0, 22]
    assert choose_nominations([22, 15], {15, 22, 30}) == [22, 15]
    assert choose_nominations([0, 8, 15], {0, 8, 15}) == [0, 8]


def test_the_cap_is_of_frames_not_of_their_numbers() -> None:
    assert choose_nominations([0, 1, 2, 3], [0, 0, 1, 2, 2, 3]) == [0, 1, 2]
    assert choose_nominations([3, 2, 1, 0], [0, 0, 0, 1, 1, 2, 2, 3]) == [3, 2, 1, 0]


@pytest.mark.parametrize("told", [None, "8", 8, {"8": 8}])
def test_nominations_that_are_no_list_are_none(told: object) -> None:
    assert choose_nominations(told, {8}) == []


def test_intervals_reach_half_a_second_and_merge_where_they_touch() -> None:
    assert merge_intervals([2.0]) == [(1.5, 2.5)]
    assert merge_intervals([3.0, 2.0, 2.0]) == [(1.5, 3.5)]
    assert merge_intervals([2.0, 3.001]) == [(1.5, 3.501)]
    assert merge_intervals([2.0, 3.0011]) == [(1.5, 2.5), (2.5011, 3.5011)]
    assert merge_intervals([0.25]) == [(0.0, 0.75)]
    assert merge_intervals([]) == []


def test_one_nomination_gives_nine_samples_at_eight_a_second() -> None:
    assert sample_interval((1.5, 2.5), 8, limit=4.9) == [
        1.5, 1.625, 1.75, 1.875, 2.0, 2.125, 2.25, 2.375, 2.5,
    ]  # fmt: skip


def test_the_grid_starts_at_the_interval_and_has_its_end() -> None:
    assert sample_interval((0.0, 0.3), 8, limit=9) == [0.0, 0.125, 0.25, 0.3]
    assert sample_interval((4.5, 5.5), 8, limit=4.75) == [4.5, 4.625, 4.75]


def test_no_group_spans_a_gap() -> None:
    assert split_groups([0.0, 0.125, 0.3, 0.476, 2.0]) == [[0.0, 0.125, 0.3], [0.476], [2.0]]
    assert split_groups([]) == []
