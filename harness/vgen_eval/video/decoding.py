"""One pass over a video's frames, in the order in which they are shown, as far as they decode."""

from __future__ import annotations

import io
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from vgen_eval.errors import Undecodable
from vgen_eval.imaging import MAX_PIXELS, check_pixels
from vgen_eval.video.containers import name_container
from vgen_eval.video.library import load_av

__all__ = ["Pass"]


class Pass:
    """A file opened once more: a pass shares nothing with another, so threads may each have one.

    `damaged` is set when the pass stopped at a frame that does not decode, or skipped such frames
    before the first good one.
    """

    def __init__(self, data: bytes, *, what: str) -> None:
        """Undecodable, naming `what`, when it is no video, or a size is over the limits."""
        self.damaged = False
        self._lost_from: int | None = None
        self._av = load_av()
        container = name_container(data)
        if container is None:
            seen = f"it begins with {data[:8]!r}" if data else "it is empty"
            raise Undecodable(f"{what}: no video file ({seen}): MP4, WebM, GIF or AVI is wanted")
        self._container = self._open(data, container, what)
        lasts = self._container.duration
        self.declared_s: float | None = lasts / self._av.time_base if lasts else None
        """Seconds that the file as a whole says it lasts; None: it does not say."""
        self.stream = self._find_stream(what)
        self.stream.codec_context.thread_count = 1  # frames and faults come in one order
        self.stream.codec_context.options = {"max_pixels": str(MAX_PIXELS)}

    def _open(self, data: bytes, container: str, what: str) -> Any:
        try:
            return self._av.open(
                io.BytesIO(data), format=container, metadata_errors="replace",
                options={"max_pixels": str(MAX_PIXELS)},  # looking for the streams decodes, too
            )  # fmt: skip
        except self._av.error.FFmpegError as exc:
            reason = exc.strerror or type(exc).__name__
            raise Undecodable(
                f"{what}: no frames: the {container} file cannot be opened, its index is broken "
                f"or gone ({reason})"
            ) from exc

    def _find_stream(self, what: str) -> Any:
        """The first stream of pictures that is no cover; its declared size is checked."""
        cover = self._av.stream.Disposition.attached_pic
        streams = [s for s in self._container.streams.video if not s.disposition & cover]
        if not streams or streams[0].codec_context is None:
            self.close()
            raise Undecodable(f"{what}: no frames: the file has no video stream that can be read")
        stream = streams[0]
        width, height = stream.codec_context.width, stream.codec_context.height
        try:
            if not width or not height:  # the library gives none where it is over its limit
                raise Undecodable(
                    f"{what}: no frames: no size can be read, or it is over the limit of "
                    f"{MAX_PIXELS} pixels"
                )
            check_pixels(width, height, what=what)
        except Undecodable:
            self.close()
            raise
        return stream

    def __enter__(self) -> Pass:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the file."""
        self._container.close()

    def frames(self) -> Iterator[Any]:
        """The library's frames; after the first good one the pass ends at the first bad one."""
        any_good = False
        for good in self._groups():
            for frame in good:
                if frame.is_corrupt:
                    self.damaged = True
                    if any_good:
                        return
                    continue
                any_good = True
                yield frame
            if self.damaged and any_good:
                yield from self._held_back()
                return

    def _groups(self) -> Iterator[list[Any]]:
        """What each packet gives; [] for one that does not decode."""
        fault = self._av.error.FFmpegError
        packets = self._container.demux(self.stream)
        while True:
            try:
                packet = next(packets)
            except StopIteration:
                return
            except fault:
                self.damaged = True
                yield []
                return
            try:
                yield packet.decode()
            except fault:
                self.damaged = True
                self._lost_from = packet.pts
                yield []

    def _held_back(self) -> Iterator[Any]:
        """Frames that wait in the decoder to be put in order, up to the one that was lost."""
        try:
            waiting = self.stream.codec_context.decode(None)
        except self._av.error.FFmpegError:
            return
        for frame in waiting:
            is_late = None not in (self._lost_from, frame.pts) and frame.pts > self._lost_from
            if frame.is_corrupt or is_late:
                return
            yield frame

    def time_of(self, frame: Any) -> Fraction | None:
        """Seconds at which the frame comes on, by the stream's own clock."""
        base = frame.time_base or self.stream.time_base
        return None if frame.pts is None or not base else frame.pts * Fraction(base)
