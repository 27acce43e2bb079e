"""Videos as values: which frame is on screen when, at which size, and what a broken file gives."""

from __future__ import annotations

import threading
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from clipkit import RGB, add_sound, box, greys, turned, write
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import Image
from vgen_eval.video import Clip, Limits

SHARP = {"crf": "1", "bf": "0"}


def level(image: Image) -> int:
    """The number of a frame of `greys`, by its middle pixel."""
    return round(float(image.array[20:28, 28:36].mean()) / 10)


@pytest.mark.parametrize(
    ("form", "codec", "pixels"),
    [
        ("mp4", "libx264", "yuv420p"),
        ("webm", "libvpx-vp9", "yuv420p"),
        ("gif", "gif", "rgb8"),
        ("avi", "mpeg4", "yuv420p"),
    ],
)
def test_each_kind_of_file_gives_its_frames_and_times(form: str, codec: str, pixels: str) -> None:
    frames = greys(12) if form != "gif" else [np.full((48, 64, 3), v, np.uint8) for v in (0, 255)]
    clip = Clip.open(write(frames, form=form, codec=codec, pixels=pixels))
    assert (clip.size, clip.frames, clip.flags) == ((64, 48), len(frames), ())
    assert clip.times == pytest.approx([k / 10 for k in range(len(frames))], abs=1e-9)
    assert clip.duration == pytest.approx(len(frames) / 10)
    assert clip.fps == pytest.approx(10)
    assert not clip.is_variable
    shown = [frame.image.array.mean() for frame in clip]
    assert shown == pytest.approx([f.mean() for f in frames], abs=3)


def test_the_frame_at_a_time_is_the_one_on_screen() -> None:
    clip = Clip.open(write(greys(5), options=SHARP))
    asked = [-1.0, 0.0, 0.099, 0.1, 0.25, 0.4, 0.5, 99.0, 0.0]
    found = list(clip.at(asked))
    assert [frame.index for frame in found] == [0, 0, 0, 1, 2, 4, 4, 4, 0]
    assert [level(frame.image) for frame in found] == [frame.index for frame in found]
    assert found[4].time == pytest.approx(0.2)


def test_seeking_with_three_decimals_finds_the_next_frame_or_none() -> None:
    third = write(greys(4), pts=[0, 1, 2, 3], base=Fraction(1, 3), options=SHARP)
    clip = Clip.open(third)
    found = list(clip.first_at_or_after([0.0, 0.001, 1 / 3, 0.667, 1.0, 1.001]))
    # 1/3 is sought as .333, which frame 1 follows; .667 lies behind frame 2
    assert [None if f is None else f.index for f in found] == [0, 1, 1, 3, 3, None]


def test_frames_that_depend_on_later_ones_come_in_the_order_shown() -> None:
    clip = Clip.open(write(greys(15), options={"bf": "3", "g": "15", "crf": "5"}))
    assert [level(frame.image) for frame in clip] == list(range(15))
    assert clip.times[0] == 0
    assert clip.duration == pytest.approx(1.5)


def test_variable_rates_keep_their_own_times() -> None:
    ticks = [0, 1, 2, 7, 8, 20]
    clip = Clip.open(write(greys(6), pts=ticks, base=Fraction(1, 20), options=SHARP))
    assert clip.times == pytest.approx([t / 20 for t in ticks], abs=1e-9)
    assert clip.is_variable
    assert [frame.index for frame in clip.at([0.3, 0.35, 0.99, 1.0])] == [2, 3, 4, 5]


def test_longer_sound_makes_the_pictures_no_longer() -> None:
    clip = Clip.open(add_sound(greys(10), seconds=3.0))
    assert clip.duration == pytest.approx(1.0)
    assert clip.frames == 10


def corner(image: Image) -> str:
    bright = image.array.mean(axis=2) > 160
    rows, columns = np.nonzero(bright)
    up = "top" if rows.mean() < image.height / 2 else "bottom"
    return f"{up}-{'left' if columns.mean() < image.width / 2 else 'right'}"


def marked() -> list[RGB]:
    frame = np.full((48, 64, 3), 100, np.uint8)
    frame[:16, :16] = 255
    return [frame] * 3


@pytest.mark.parametrize(
    ("matrix", "size", "place"),
    [
        ((1, 0, 0, 1), (64, 48), "top-left"),
        ((0, 1, -1, 0), (48, 64), "top-right"),  # a quarter turn clockwise
        ((-1, 0, 0, -1), (64, 48), "bottom-right"),
        ((0, -1, 1, 0), (48, 64), "bottom-left"),
        ((-1, 0, 0, 1), (64, 48), "top-right"),  # mirrored
        ((0, 1, 1, 0), (48, 64), "top-left"),
    ],
)
def test_the_display_matrix_is_applied_once_and_the_right_way(
    matrix: tuple[int, int, int, int], size: tuple[int, int], place: str
) -> None:
    clip = Clip.open(turned(write(marked(), options=SHARP), *matrix))
    (frame,) = clip.take([0])
    assert clip.size == size == (frame.image.width, frame.image.height)
    assert corner(frame.image) == place


@pytest.mark.parametrize(
    ("shape", "size"), [(Fraction(4, 3), (85, 48)), (Fraction(1, 2), (64, 96))]
)
def test_pixels_that_are_not_square_are_made_so(shape: Fraction, size: tuple[int, int]) -> None:
    clip = Clip.open(write(greys(2), pixel_shape=shape))
    (frame,) = clip.take([1])
    assert clip.size == size == (frame.image.width, frame.image.height)


def test_transparent_pixels_lie_on_white() -> None:
    import io

    import PIL.Image

    first = PIL.Image.new("RGBA", (8, 8), (0, 0, 0, 0))
    first.putpixel((3, 3), (255, 0, 0, 255))
    second = PIL.Image.new("RGBA", (8, 8), (0, 0, 255, 255))
    buffer = io.BytesIO()
    first.save(buffer, "GIF", save_all=True, append_images=[second], duration=100, disposal=2)
    (frame,) = Clip.open(buffer.getvalue()).take([0])
    assert tuple(frame.image.array[0, 0]) == (255, 255, 255)
    assert tuple(frame.image.array[3, 3]) == (255, 0, 0)


def test_one_frame_is_a_clip() -> None:
    clip = Clip.open(write(greys(1)))
    assert clip.times == (0.0,)
    assert clip.duration == pytest.approx(0.1)
    assert [frame.index for frame in clip.at([0, 5])] == [0, 0]


def test_an_mp4_that_is_cut_before_its_index_has_no_frames() -> None:
    whole = write(noisy(4), options=SHARP)
    assert whole.index(b"moov") > len(whole) / 2  # the index comes last
    with pytest.raises(Undecodable, match=r"no frames: .* index is broken or gone"):
        Clip.open(whole[: len(whole) // 2])


NO_TRACK = box(b"ftyp", b"isom\0\0\2\0isom") + box(
    b"moov", box(b"mvhd", bytes(12) + (1000).to_bytes(4, "big") + bytes(84))
)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (NO_TRACK, "no frames"),
        (b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n", "no video file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(40), "no video file"),
        (b"\x00\x00\x00\x18ftypmp42" + bytes(16), "no frames"),
    ],
    ids=["no bytes", "no track", "a play list", "a picture", "a head alone"],
)
def test_what_holds_no_frame_is_told(data: bytes, reason: str) -> None:
    with pytest.raises(Undecodable, match=reason):
        Clip.open(data)


def noisy(count: int) -> list[RGB]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, 255, (48, 64, 3), dtype=np.uint8) for _ in range(count)]


def test_an_mp4_whose_index_comes_first_keeps_the_frames_before_the_cut(tmp_path: Path) -> None:
    whole = write(
        noisy(20), muxer={"movflags": "faststart"}, options=SHARP, file=tmp_path / "a.mp4"
    )
    assert Clip.open(whole).flags == ()
    clip = Clip.open(whole[: len(whole) * 2 // 3])
    assert 8 < clip.frames < 16
    assert clip.flags == ("broken_tail",)
    assert clip.duration == pytest.approx(clip.frames / 10)
    assert len(list(clip)) == clip.frames  # the second pass stops at the same frame


@pytest.mark.parametrize(("form", "codec", "pixels"), [("webm", "libvpx-vp9", "yuv420p"),
                                                       ("gif", "gif", "rgb8")])  # fmt: skip
def test_a_stream_that_ends_early_is_flagged(form: str, codec: str, pixels: str) -> None:
    whole = write(noisy(10), form=form, codec=codec, pixels=pixels)
    clip = Clip.open(whole[: len(whole) // 2])
    assert 0 < clip.frames < 10
    assert clip.flags == ("broken_tail",)


def test_frames_after_a_bad_one_are_not_made_up() -> None:
    whole = bytearray(write(noisy(10), options={**SHARP, "g": "1"}))
    middle = whole.index(b"mdat") + (whole.index(b"moov") - whole.index(b"mdat")) // 2
    whole[middle : middle + 9000] = b"\x55" * 9000
    clip = Clip.open(bytes(whole))
    assert 0 < clip.frames < 10
    assert clip.flags == ("broken_tail",)


def test_a_declared_size_is_checked_before_anything_is_decoded() -> None:
    gif = write(greys(1), form="gif", codec="gif", pixels="rgb8")
    with pytest.raises(Undecodable, match="over the limit of 100000000 pixels"):
        Clip.open(gif[:6] + b"\xff\x4f\xff\x4f" + gif[10:])


@pytest.mark.parametrize(
    "limits", [Limits(frames=5), Limits(seconds=0.5), Limits(pixels=64 * 48 * 5)]
)
def test_a_video_over_the_limits_is_refused(limits: Limits) -> None:
    data = write(greys(10))
    assert Clip.open(data).frames == 10
    with pytest.raises(Undecodable, match=r"over|limit"):
        Clip.open(data, limits=limits)


def test_a_frame_that_is_held_for_an_hour_is_refused() -> None:
    data = write(greys(2), pts=[0, 4000], base=Fraction(1, 1))
    with pytest.raises(Undecodable, match="the limit is 1800 s"):
        Clip.open(data)


def test_threads_may_share_a_clip() -> None:
    clip = Clip.open(write(greys(12), options=SHARP))
    found: dict[int, list[int]] = {}

    def look(who: int) -> None:
        found[who] = [level(frame.image) for frame in clip]

    threads = [threading.Thread(target=look, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {k: list(range(12)) for k in range(4)}


def test_clips_are_equal_when_their_bytes_are() -> None:
    data = write(greys(2))
    assert Clip.open(data) == Clip.open(bytes(data)) != Clip.open(write(greys(3)))
    with pytest.raises(IndexError, match="frame 2 of 2"):
        list(Clip.open(data).take([2]))
