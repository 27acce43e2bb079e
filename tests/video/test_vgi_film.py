"""Which frames a judge sees of real clips, and under which numbers: ours and the original's."""

from __future__ import annotations

import struct
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from vgen_eval.imaging import Image
from vgen_eval.video import Clip
from vgen_eval_plugins.video.vgi.film import Film, shrink
from vgikit import COMPAT, grey_of, make_clip

WAYS = ("frame_at", "labels", "duration", "grid_end", "scaling")
OURS = {
    "frame_at": "on_screen",
    "labels": "decoded",
    "duration": "stream",
    "grid_end": "last_frame",
    "scaling": "rounded",
}


def film_of(data: bytes, way: Any) -> Film:
    return Film(Clip.open(data), **{key: way[key] for key in WAYS})


def shown(image: Image) -> float:
    return float(image.array.mean())


def test_frames_on_screen_carry_their_own_number_and_time() -> None:
    film = film_of(make_clip(150), OURS)
    seen = film.look(film.grid(4))
    assert len(seen) == 21
    assert [entry.label for entry in seen[:5]] == [0, 7, 15, 22, 30]
    assert [entry.time for entry in seen[:3]] == pytest.approx([0, 7 / 30, 0.5], abs=1e-4)
    assert seen[-1].label == 149
    assert [shown(entry.image) for entry in seen] == pytest.approx(
        [grey_of(entry.label) for entry in seen], abs=2.5
    )
    assert seen[1].line() == "t = 0.233 s, frame 7"


@pytest.mark.parametrize(
    ("frames", "fps", "seen_at_4", "end_at_2"),
    [(300, 30, 40, 9.5), (300, Fraction(30_000, 1001), 40, 9.5), (240, 24, 41, 239 / 24)],
    ids=["30", "29.97", "24"],
)
def test_the_original_loses_the_last_sample_of_whole_second_clips(
    frames: int, fps: Any, seen_at_4: int, end_at_2: float
) -> None:
    data = make_clip(frames, fps=fps)
    film = film_of(data, COMPAT)
    assert len(film.look(film.grid(4))) == seen_at_4
    assert film.look(film.grid(2))[-1].time == pytest.approx(end_at_2, abs=2e-3)
    ours = film_of(data, OURS)
    assert ours.look(ours.grid(4))[-1].label == frames - 1
    assert ours.look(ours.grid(2))[-1].label == frames - 1


def test_the_originals_numbers_are_reckoned_and_miss_the_frame_that_is_shown() -> None:
    film = film_of(make_clip(150), COMPAT)
    seen = film.look(film.grid(4))
    # halves go to even: 7.5 -> 8, 22.5 -> 22, 37.5 -> 38; shown is the first frame from t on
    assert [entry.label for entry in seen[:6]] == [0, 8, 15, 22, 30, 38]
    assert [entry.time for entry in seen[:4]] == [0.0, 0.25, 0.5, 0.75]
    assert shown(seen[1].image) == pytest.approx(grey_of(8), abs=2.5)
    assert shown(seen[3].image) == pytest.approx(grey_of(23), abs=2.5)


def test_a_grid_that_ends_early_still_gets_the_last_frame() -> None:
    data = make_clip(21, fps=4)  # 5.25 s
    ours, original = film_of(data, OURS), film_of(data, COMPAT)
    assert [entry.time for entry in ours.look(ours.grid(2))][-2:] == [4.5, 5.0]
    assert [entry.time for entry in original.look(original.grid(2))][-1] == 5.0
    data = make_clip(63, fps=12)  # 5.25 s, frames up to 5.167
    ours, original = film_of(data, OURS), film_of(data, COMPAT)
    assert ours.look(ours.grid(2))[-1].label == 62
    assert [entry.time for entry in original.look(original.grid(2))][-1] == 5.0


def test_a_slow_clip_is_shown_frame_by_frame_and_no_frame_twice() -> None:
    film = film_of(make_clip(6, fps=2), OURS)
    seen = film.look(film.grid(4))
    assert [entry.label for entry in seen] == [0, 1, 2, 3, 4, 5]


def test_a_variable_rate_has_its_own_numbers() -> None:
    times = [0.0, 0.1, 0.2, 1.0, 1.9]
    film = film_of(make_clip(5, times=times), OURS)
    seen = film.look(film.grid(4))
    assert [entry.label for entry in seen] == [0, 2, 3, 4]
    assert [entry.time for entry in seen] == pytest.approx([0.0, 0.2, 1.0, 1.9], abs=1e-3)


def test_longer_sound_makes_samples_past_the_pictures_only_for_the_original() -> None:
    data = make_clip(30, sound_s=3.0)
    clip = Clip.open(data)
    assert clip.duration == pytest.approx(1.0, abs=1e-3)
    assert clip.container_duration == pytest.approx(3.0, abs=0.05)
    ours, original = film_of(data, OURS), film_of(data, COMPAT)
    assert len(ours.grid(4)) == 5
    assert len(original.grid(4)) == 13
    assert [entry.time for entry in original.look(original.grid(4))] == [0.0, 0.25, 0.5, 0.75]


def test_a_file_that_claims_to_last_for_years_lasts_as_long_as_its_pictures() -> None:
    data = bytearray(make_clip(30, form="matroska"))
    at = data.index(b"\x44\x89\x88") + 3  # Duration, a double, in milliseconds
    data[at : at + 8] = struct.pack(">d", 1e13)
    clip = Clip.open(bytes(data))
    assert clip.container_duration == clip.duration == pytest.approx(1.0, abs=0.01)
    assert len(film_of(bytes(data), COMPAT).grid(4)) == 5


@pytest.mark.parametrize("way", [OURS, COMPAT], ids=["ours", "original"])
def test_a_title_in_another_alphabet_s_bytes_is_no_fault_of_the_video(way: Any) -> None:
    data = make_clip(30, title="caf__").replace(b"caf__", b"caf\xe9\xe8")
    film = film_of(data, way)
    assert len(film.look(film.grid(4))) == (4 if way is COMPAT else 5)


@pytest.mark.parametrize("way", [OURS, COMPAT], ids=["ours", "original"])
def test_a_clip_of_one_frame_has_one_sample(way: Any) -> None:
    film = film_of(make_clip(1), way)
    assert [entry.label for entry in film.look(film.grid(4))] == [0]
    assert [entry.label for entry in film.look(film.grid(2))] == [0]


def test_a_broken_tail_costs_the_frames_after_it() -> None:
    whole = make_clip(60, form="matroska")
    data = whole[: len(whole) * 2 // 3]
    clip = Clip.open(data)
    assert "broken_tail" in clip.flags
    film = film_of(data, OURS)
    seen = film.look(film.grid(4))
    assert 0 < clip.frames < 60
    assert seen[-1].label == clip.frames - 1


def test_frames_shrink_to_512_the_shorter_side_rounded_or_cut() -> None:
    image = Image(np.full((480, 854, 3), 99, np.uint8))
    rounded, cut = shrink(image, 512, "rounded"), shrink(image, 512, "truncated")
    assert (rounded.width, rounded.height) == (512, 288)
    assert (cut.width, cut.height) == (512, 287)
    small = shrink(Image(np.full((48, 64, 3), 99, np.uint8)), 512, "rounded")
    assert (small.width, small.height) == (64, 48)
