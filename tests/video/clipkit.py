"""Small video files, well made and broken."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

RGB = NDArray[np.uint8]


def greys(count: int, *, height: int = 48, width: int = 64) -> list[RGB]:
    """Frame k is grey of level 10 k."""
    return [np.full((height, width, 3), 10 * k, np.uint8) for k in range(count)]


def write(
    frames: Sequence[RGB],
    *,
    form: str = "mp4",
    codec: str = "libx264",
    pixels: str = "yuv420p",
    pts: Sequence[int] | None = None,
    base: Fraction = Fraction(1, 10),
    options: Mapping[str, str] | None = None,
    muxer: Mapping[str, str] | None = None,
    pixel_shape: Fraction | None = None,
    file: Path | None = None,
) -> bytes:
    """A file of these frames at 10 a second, or at `pts` in units of `base`.

    `file`: where it is written first, for muxers that go back.
    """
    buffer = io.BytesIO()
    target = str(file) if file else buffer
    with av.open(target, "w", format=form, options=dict(muxer or {})) as container:
        stream = container.add_stream(codec, rate=10)
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = pixels
        stream.options = dict(options or {})
        if pixel_shape is not None:
            stream.sample_aspect_ratio = pixel_shape
        stream.codec_context.time_base = base
        for k, frame in enumerate(frames):
            picture = av.VideoFrame.from_ndarray(frame)
            picture.pts = k if pts is None else pts[k]
            picture.time_base = base
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    return file.read_bytes() if file else buffer.getvalue()


def add_sound(frames: Sequence[RGB], *, seconds: float) -> bytes:
    """An MP4 file of these frames at 10 a second, with silence that lasts so long."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        sound = container.add_stream("aac", rate=8000)
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame)))
        container.mux(stream.encode(None))
        count = int(8000 * seconds)
        silence = av.AudioFrame.from_ndarray(np.zeros((1, count), np.float32), "fltp", "mono")
        silence.sample_rate = 8000
        container.mux(sound.encode(silence))
        container.mux(sound.encode(None))
    return buffer.getvalue()


def box(name: bytes, body: bytes) -> bytes:
    """A box of an MP4 file."""
    return (len(body) + 8).to_bytes(4, "big") + name + body


def turned(data: bytes, a: int, b: int, c: int, d: int) -> bytes:
    """An MP4 file with the display matrix of its track replaced: x' = ax + cy, y' = bx + dy."""
    at = data.index(b"tkhd") + 4 + 40  # version 0: the matrix lies 40 bytes on
    numbers = [a << 16, b << 16, 0, c << 16, d << 16, 0, 0, 0, 1 << 30]
    matrix = b"".join(n.to_bytes(4, "big", signed=True) for n in numbers)
    return data[:at] + matrix + data[at + 36 :]
