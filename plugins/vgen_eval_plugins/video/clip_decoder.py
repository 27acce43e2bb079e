"""A video answer as a clip: what judges look at."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec
from vgen_eval.errors import Undecodable
from vgen_eval.types import NoOptions, Prediction, Scene
from vgen_eval.video import Clip, Limits

__all__ = ["ClipDecoder", "NoClip", "open_answer"]


def open_answer(answer: Any, *, limits: Limits | None = None) -> Clip:
    """The clip in an answer of form video; Undecodable for what holds no frame."""
    if not isinstance(answer, (bytes, bytearray, memoryview)):
        raise Undecodable(f"a video is bytes, {type(answer).__name__} seen")
    return Clip.open(bytes(answer), limits=limits)


class ClipDecoder:
    """Video -> clip: looked through once, its pictures decoded again by whoever asks."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "clip"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """How much a video may be."""

        max_frames: Annotated[int, msgspec.Meta(description="Most frames.", ge=1)] = 20_000
        max_seconds: Annotated[float, msgspec.Meta(description="Most seconds.", gt=0)] = 1800.0

    def __init__(self, options: Options) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """The clip; Undecodable when there is no frame, or more than the options allow.

        Flags: `broken_tail`, and `one_frame` for what is a picture rather than a video.
        """
        limits = Limits(frames=self.options.max_frames, seconds=self.options.max_seconds)
        clip = open_answer(answer, limits=limits)
        flags = (*clip.flags, *(("one_frame",) if clip.frames == 1 else ()))
        return Prediction(value=clip, flags=flags, summary=clip.summary())


class NoClip:
    """The failure value: no clip at all, None."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "clip"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """Always None."""
        return Prediction(value=None)
