"""Writing videos, looking at them on a sheet, and reading them as answers."""

from __future__ import annotations

import io
from fractions import Fraction

import numpy as np
import PIL.Image
import pytest
from clipkit import greys, write
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import Image
from vgen_eval.types import Scene
from vgen_eval.video import Clip, draw_sheet, spread_times, write_animation, write_mp4
from vgen_eval_plugins.video.clip_decoder import ClipDecoder, NoClip

SCENE = Scene(image=Image(np.zeros((48, 64, 3), np.uint8)), size=(48, 64))


@pytest.mark.parametrize(
    ("fps", "exact"), [(8, 8.0), (12.5, 12.5), (29.97, 30000 / 1001), (Fraction(24000, 1001), None)]
)
def test_a_written_video_has_the_rate_and_the_frames_given(
    fps: float | Fraction, exact: float | None
) -> None:
    clip = Clip.open(write_mp4(greys(13), fps=fps, crf=5))
    assert clip.frames == 13
    assert clip.fps == pytest.approx(exact or 24000 / 1001, abs=1e-9)
    assert not clip.is_variable
    levels = [frame.image.array.mean() for frame in clip]
    assert levels == pytest.approx([10 * k for k in range(13)], abs=2)


def test_the_same_frames_give_the_same_bytes() -> None:
    assert write_mp4(greys(5), fps=10) == write_mp4(greys(5), fps=10)
    assert write_mp4(greys(5), fps=10) != write_mp4(greys(6), fps=10)


def test_the_bytes_do_not_hang_on_what_lay_in_memory_before() -> None:
    rng = np.random.default_rng(5)
    for _ in range(12):  # sides that are no multiples of a macroblock, noise: many close choices
        noise = rng.integers(0, 256, (9, 50, 70, 3), dtype=np.uint8)
        written, junk = set(), []
        for _ in range(8):
            junk.append(np.full(int(rng.integers(1, 300_000)), rng.integers(255), np.uint8))
            written.add(write_mp4(noise, fps=16))
        assert len(written) == 1


def test_what_no_video_can_be_made_of_is_told() -> None:
    odd = [np.zeros((47, 64, 3), np.uint8)]
    mixed = [np.zeros((48, 64, 3), np.uint8), np.zeros((48, 62, 3), np.uint8)]
    for frames, reason in (([], "one frame at least"), (odd, "even sides"), (mixed, "the first")):
        with pytest.raises(ValueError, match=reason):
            write_mp4(frames, fps=10)


def test_a_sheet_shows_frames_from_the_first_to_the_last() -> None:
    clip = Clip.open(write(greys(11), options={"crf": "1"}))
    assert spread_times(clip, 3) == pytest.approx([0.0, 0.5, 1.0])
    sheet = PIL.Image.open(io.BytesIO(draw_sheet(clip, count=3, columns=2, long_side=64)))
    assert sheet.size == (2 * 68 + 4, 2 * (48 + 20) + 4)
    grey = np.asarray(sheet.convert("L")).astype(int)
    middles = [grey[28, 36], grey[28, 104], grey[96, 36]]
    assert middles == pytest.approx([0, 50, 100], abs=3)
    assert grey[52:68, 4:68].min() < 100  # words below the frame
    one = Clip.open(write(greys(1)))
    assert PIL.Image.open(io.BytesIO(draw_sheet(one))).size[0] == 64 + 8


@pytest.mark.parametrize("form", ["webp", "gif"])
def test_an_animation_lasts_as_long_as_the_clip(form: str) -> None:
    clip = Clip.open(write(greys(20)))
    data = write_animation(clip, count=10, long_side=32, form=form)  # type: ignore[arg-type]
    with PIL.Image.open(io.BytesIO(data)) as picture:
        assert (picture.n_frames, picture.size) == (10, (32, 24))
        lasts = 0.0
        for k in range(10):
            picture.seek(k)
            picture.load()
            lasts += float(picture.info["duration"])
    assert lasts == pytest.approx(2000, abs=1)


def test_a_video_answer_is_a_clip_with_its_facts_in_the_summary() -> None:
    prediction = ClipDecoder(ClipDecoder.Options()).decode(write(greys(4)), SCENE)
    assert isinstance(prediction.value, Clip)
    assert prediction.flags == ()
    assert prediction.summary == {
        "size": [64, 48], "frames": 4, "fps": 10.0, "variable_rate": False, "duration_s": 0.4,
    }  # fmt: skip
    one = ClipDecoder(ClipDecoder.Options()).decode(write(greys(1)), SCENE)
    assert one.flags == ("one_frame",)


@pytest.mark.parametrize("answer", [b"", b"no video", None, "a video", 3, [b""]])
def test_what_is_no_video_is_undecodable(answer: object) -> None:
    with pytest.raises(Undecodable):
        ClipDecoder(ClipDecoder.Options()).decode(answer, SCENE)


def test_the_options_bound_the_video_and_the_failure_value_reads_none() -> None:
    with pytest.raises(Undecodable, match="over 3 frames"):
        ClipDecoder(ClipDecoder.Options(max_frames=3)).decode(write(greys(4)), SCENE)
    assert NoClip(NoClip.Options()).decode(b"anything", SCENE).value is None
