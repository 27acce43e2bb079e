"""Frames for pages: exact numbers and times, marked where a judge looked, kept within bounds."""

from __future__ import annotations

import importlib
import io
import threading
from fractions import Fraction

import av
import numpy as np
import pytest
from vgen_eval.video import Clip, write_mp4
from vgen_eval.viewer.looking.answers import answer_pane
from vgen_eval.viewer.strips import Frames, frame_on_screen, strip_of
from vgen_eval.viewing import Film, Moment

TIMES = [0.0, 0.04, 0.5, 0.54, 0.58, 1.2, 1.25, 2.0]
"""Seconds at which the frames of an uneven clip come on."""


def write(times: list[float], *, size: tuple[int, int] = (64, 48)) -> bytes:
    """Frame k is grey of level 20 + 10 k (k up to 20), and comes on at `times[k]`."""
    buffer = io.BytesIO()
    base = Fraction(1, 90_000)
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.options = {"preset": "ultrafast", "bf": "0", "qp": "4"}
        stream.codec_context.time_base = base
        for k, time in enumerate(times):
            grey = np.full((size[1], size[0], 3), 20 + 10 * (k % 21), np.uint8)
            frame = av.VideoFrame.from_ndarray(grey, format="rgb24")
            frame.pts, frame.time_base = round(time * 90_000), base
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return buffer.getvalue()


def even(count: int, **more: tuple[int, int]) -> Clip:
    return Clip.open(write([k / 10 for k in range(count)], **more))


def level(image: object) -> int:
    return round((float(np.asarray(image).mean()) - 20) / 10)


@pytest.fixture(scope="module")
def uneven() -> Clip:
    return Clip.open(write(TIMES))


def test_a_short_clip_of_variable_rate_has_all_its_frames_at_their_times(uneven: Clip) -> None:
    strip = strip_of(Film(clip=uneven))
    assert strip.indices == tuple(range(len(TIMES)))
    assert [frame.time_s for frame in strip.frames] == pytest.approx(TIMES, abs=1e-4)
    assert [frame.time_s for frame in strip.frames] == list(uneven.times)
    assert strip.is_variable
    assert strip.count == len(TIMES)
    assert strip.notices == ()
    assert not any(frame.looked_at for frame in strip.frames)


def test_sixteen_frames_are_spread_from_the_first_to_the_last() -> None:
    clip = even(31)
    strip = strip_of(Film(clip=clip))
    assert strip.indices == tuple(2 * k for k in range(16))
    assert [frame.time_s for frame in strip.frames] == pytest.approx([k / 5 for k in range(16)])
    assert strip_of(Film(clip=even(31)), count=3).indices == (0, 15, 30)
    assert not strip.is_variable
    assert (strip.fps, strip.duration_s) == (clip.fps, clip.duration)


def test_frames_that_a_judge_looked_at_are_in_the_strip_and_marked(uneven: Clip) -> None:
    # 0.6 falls between two frames: the one from 0.58 on is on the screen
    film = Film(clip=uneven, shown=(0.6, uneven.times[2], 99.0))
    strip = strip_of(film, count=2)
    assert [(frame.index, frame.looked_at) for frame in strip.frames] == [
        (0, False), (2, True), (4, True), (7, True),
    ]  # fmt: skip


def test_frames_of_remarks_are_in_the_strip_but_not_marked() -> None:
    moments = (Moment(time_s=0.7, words="here"), Moment(time_s=None, words="all of it"))
    strip = strip_of(Film(clip=even(31), moments=moments), count=2)
    assert [(frame.index, frame.looked_at) for frame in strip.frames] == [
        (0, False), (7, False), (30, False),
    ]  # fmt: skip


def test_of_very_many_looked_at_some_are_shown_and_the_number_is_told() -> None:
    clip = even(100)
    strip = strip_of(Film(clip=clip, shown=clip.times[:90]), count=4, most=10)
    assert [(frame.index, frame.looked_at) for frame in strip.frames] == [
        (0, True), (30, True), (33, True), (59, True), (66, True), (89, True), (99, False),
    ]  # fmt: skip
    assert strip.notices == ("90 frames were looked at; 6 of them are here",)


def test_a_checker_that_looked_at_each_frame_makes_no_long_strip() -> None:
    clip = even(40)
    moments = (Moment(time_s=clip.times[7], words="here"),)
    strip = strip_of(Film(clip=clip, shown=clip.times, moments=moments))
    assert len(strip.frames) == 17
    assert 7 in strip.indices
    assert all(frame.looked_at for frame in strip.frames)
    assert strip.notices == ("40 frames were looked at; 17 of them are here",)
    judged = strip_of(Film(clip=clip, shown=clip.times[::2][:19]))
    assert sum(frame.looked_at for frame in judged.frames) == 19
    assert judged.notices == ()


@pytest.mark.parametrize(
    ("time", "frame"), [(-1.0, 0), (0.0, 0), (0.039, 0), (0.04, 1), (1.9999, 6), (5.0, 7)]
)
def test_the_frame_on_screen_is_the_last_that_came_on(
    uneven: Clip, time: float, frame: int
) -> None:
    assert frame_on_screen(uneven, time) == frame


def test_one_frame_and_a_broken_end_are_told() -> None:
    one = Clip.open(write([0.0]))
    assert strip_of(Film(clip=one)).indices == (0,)
    assert strip_of(Film(clip=one)).notices == ("the video has one frame",)
    noise = np.random.default_rng(0).integers(0, 255, (12, 64, 64, 3), np.uint8)
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="webm") as container:
        stream = container.add_stream("libvpx", rate=10)
        stream.width = stream.height = 64
        stream.pix_fmt = "yuv420p"
        for picture in noise:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))
    data = buffer.getvalue()
    clip = Clip.open(data[: len(data) * 2 // 3])
    assert 0 < clip.frames < 12
    (told,) = strip_of(Film(clip=clip)).notices
    head = f"the video breaks off: {clip.frames} frames can be decoded"
    assert told == f"{head}, {clip.duration:.3f} s"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b"no video at all", "no video file"),
        (b"\0\0\0\x18ftypmp42" + b"\0" * 40, "no frames"),
    ],
)
def test_what_is_no_video_gives_its_reason(data: bytes, why: str) -> None:
    pane, notice = answer_pane("video", {"status": "ok"}, data, data)
    assert pane is not None
    assert notice == ""
    assert pane.body.text == "no frames: open the raw file"
    assert why in dict(pane.body.facts)["reason"]


def test_without_the_library_the_command_that_installs_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = write([0.0])
    real = importlib.import_module

    def missing(name: str, package: str | None = None) -> object:
        if name == "av":
            raise ImportError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", missing)
    pane, told = answer_pane("video", {"status": "ok"}, data, data)
    assert pane is None
    assert told.startswith("the video cannot be shown: ")
    assert "pip install 'vgen-eval[video]'" in told


def test_each_frame_is_its_own_picture(uneven: Clip) -> None:
    frames = Frames()
    for at in (7, 0, 3, 3, 5):
        assert level(frames.image(uneven, at)) == at
    for at in (-1, 8):
        with pytest.raises(IndexError, match="frames 0 to 7"):
            frames.image(uneven, at)


def test_a_frame_is_shrunk_to_its_long_side_and_never_enlarged(uneven: Clip) -> None:
    frames = Frames()
    small, whole = frames.image(uneven, 2, long_side=32), frames.image(uneven, 2, long_side=999)
    assert (small.width, small.height) == (32, 24)
    assert (whole.width, whole.height) == (64, 48)
    assert level(small) == level(whole) == 2


def test_a_strip_is_decoded_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    clip = even(12)
    passes = []
    take = Clip.take

    def counted(self: Clip, indices: list[int]) -> object:
        passes.append(list(indices))
        return take(self, passes[-1])

    monkeypatch.setattr(Clip, "take", counted)
    frames = Frames()
    wanted = (0, 4, 8, 11)
    found = [frames.image(clip, at, long_side=16, beside=wanted) for at in wanted]
    assert [level(image) for image in found] == [0, 4, 8, 11]
    assert passes == [[0, 4, 8, 11]]


def test_pictures_are_kept_within_the_bound_and_the_oldest_go_first() -> None:
    clip = even(8)
    each = 64 * 48 * 3
    frames = Frames(most_bytes=3 * each)
    first = frames.image(clip, 0)
    for at in range(1, 3):
        frames.image(clip, at)
    assert frames.held == 3 * each
    assert frames.image(clip, 0) is first
    frames.image(clip, 3)  # 1 goes
    assert frames.held == 3 * each
    assert frames.image(clip, 0) is first
    none = Frames(most_bytes=10)
    assert level(none.image(clip, 4, beside=range(8))) == 4
    assert none.held == 0


def test_several_threads_get_the_same_picture_from_one_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clip = even(20)
    passes = []
    take = Clip.take

    def counted(self: Clip, indices: list[int]) -> object:
        passes.append(indices)
        return take(self, indices)

    monkeypatch.setattr(Clip, "take", counted)
    frames = Frames()
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.append(frames.image(clip, 19))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(image) for image in found}) == 1
    assert len(passes) == 1


def test_clips_with_equal_numbers_of_frames_are_not_mixed_up() -> None:
    grey = [np.full((32, 32, 3), 200, np.uint8)] * 3
    frames, one, other = Frames(), even(3), Clip.open(write_mp4(grey, fps=10))
    assert level(frames.image(one, 1)) == 1
    assert float(frames.image(other, 1).array.mean()) == pytest.approx(200, abs=3)
