"""Frames to the bytes of an H.264 file: the same frames, the same bytes."""

from __future__ import annotations

import io
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from vgen_eval.video.library import load_av

if TYPE_CHECKING:
    from numpy.typing import NDArray

    RGB = NDArray[np.uint8]

__all__ = ["write_mp4"]


def write_mp4(
    frames: Iterable[RGB], *, fps: float | Fraction, crf: int = 18, preset: str = "medium"
) -> bytes:
    """An MP4 file, H.264 (libx264) in yuv420p, of frames uint8 (H, W, 3) RGB of one even size.

    `fps`: frames a second; 29.97 is meant as 30000/1001. `crf`: 0 (no loss) to 51. One thread, no
    date, and no macroblock tree (it reads memory that x264 has not set, and chooses other
    quantizers from call to call), so the bytes follow from the arguments and the library.
    ValueError for no frames, odd or changing sizes. MissingExtra without PyAV.
    """
    av = load_av()
    rate = fps if isinstance(fps, Fraction) else _rate(fps)
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4", options={"fflags": "+bitexact"}) as container:
        stream = None
        for frame in frames:
            if stream is None:
                height, width = _even_size(frame)
                stream = container.add_stream("libx264", rate=rate)
                stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
                stream.codec_context.thread_count = 1
                stream.options = {"crf": str(crf), "preset": preset, "x264-params": "mbtree=0"}
            if frame.shape != (height, width, 3):
                raise ValueError(f"a frame is {frame.shape}, the first was {(height, width, 3)}")
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
            container.mux(stream.encode(picture))
        if stream is None:
            raise ValueError("a video has one frame at least")
        container.mux(stream.encode(None))
    return buffer.getvalue()


def _rate(fps: float) -> Fraction:
    exact = Fraction(fps).limit_denominator(1001)
    for whole in (24, 30, 60, 120):
        if abs(fps - whole * 1000 / 1001) < 0.005:
            return Fraction(whole * 1000, 1001)
    return exact


def _even_size(frame: RGB) -> tuple[int, int]:
    height, width = frame.shape[:2]
    if height % 2 or width % 2 or not height or not width:
        raise ValueError(f"H.264 in yuv420p has even sides, {width}x{height} given")
    return height, width
