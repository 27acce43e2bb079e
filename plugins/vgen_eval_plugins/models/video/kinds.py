"""What an image-to-video pipeline's class takes, and how fast its frames were made to be shown."""

from __future__ import annotations

import inspect
from collections.abc import Container, Iterable, Mapping
from typing import Any

import msgspec
from vgen_eval.errors import NotRunnable, UsageError

from vgen_eval_plugins.models.arguments import check_arguments

__all__ = ["OURS", "VideoKind", "check_settings", "is_plain", "read_kind"]

PICTURE = "image"
COUNTS = ("num_frames", "frames")
"""Names that pipelines give the number of frames."""
ALSO_WANTED = ("mask_image", "control_video", "mask", "video", "pose_video", "reference_images")
"""Further inputs that no task gives."""
OURS = frozenset({
    "callback", "callback_on_step_end", "callback_on_step_end_tensor_inputs", "callback_steps",
    "frame_rate", "generator", "image", "last_image", "latents", "num_videos_per_prompt",
    "output_type", "prompt", "return_dict", "seed", "self",
})  # fmt: skip
"""Arguments that the adapter fills itself, or that no task fills, ..."""
EMBEDDINGS = ("_embeds", "_embeds_2", "_mask", "_mask_2")
"""... and ends of the names of those that stand for the prompt or the picture."""
FRAME_RATES: dict[str, int] = {
    "CogVideoXImageToVideoPipeline": 8,
    "HunyuanSkyreelsImageToVideoPipeline": 15,
    "HunyuanVideo15ImageToVideoPipeline": 24,
    "HunyuanVideoImageToVideoPipeline": 15,
    "Kandinsky5I2VPipeline": 24,
    "MotifVideoImage2VideoPipeline": 24,
    "SanaImageToVideoPipeline": 16,
    "SkyReelsV2ImageToVideoPipeline": 24,
    "WanImageToVideoPipeline": 16,
}
"""Class -> frames a second in its own example (diffusers 0.42.1)."""


class VideoKind(msgspec.Struct, frozen=True):
    """How pipelines of one class are called."""

    pipeline: Any
    arguments: Mapping[str, Any]
    """All that `__call__` names -> its default, inspect.Parameter.empty where there is none."""

    @property
    def name(self) -> str:
        """The class's name."""
        return str(self.pipeline.__name__)

    @property
    def sized(self) -> bool:
        """Does it take the size of its frames?"""
        return {"height", "width"} <= set(self.arguments)

    @property
    def rated(self) -> bool:
        """Is it told how fast its frames will be shown?"""
        return "frame_rate" in self.arguments

    @property
    def count(self) -> str:
        """The argument of the number of frames."""
        return next(name for name in COUNTS if name in self.arguments)

    def fps(self, chosen: float | None) -> float:
        """Frames a second; UsageError where neither the card nor its class says."""
        if chosen is not None:
            return chosen
        if self.rated:
            return float(self.arguments["frame_rate"])
        for base in self.pipeline.__mro__:
            if base.__name__ in FRAME_RATES:
                return float(FRAME_RATES[base.__name__])
        raise UsageError(
            f"nothing says how many frames a second {self.name} makes", cure="-M fps=NUMBER"
        )


def is_plain(arguments: Container[str]) -> bool:
    """Do these arguments make a video of a prompt and a first frame, and want nothing more?"""
    counted = any(name in arguments for name in COUNTS)
    given = PICTURE in arguments and "prompt" in arguments
    return given and counted and not any(name in arguments for name in ALSO_WANTED)


def read_kind(pipeline: Any) -> VideoKind:
    """How pipelines of the class are called; NotRunnable when they make no video of a picture."""
    given = inspect.signature(pipeline.__call__).parameters
    named = {key: entry.default for key, entry in given.items() if entry.kind != entry.VAR_KEYWORD}
    if not is_plain(named):
        raise NotRunnable(
            f"{pipeline.__name__} makes no video of a prompt and a first frame alone",
            cure="name its image-to-video class: -M pipeline=...ImageToVideoPipeline",
        )
    return VideoKind(pipeline=pipeline, arguments=named)


def check_settings(kind: VideoKind, settings: Iterable[str], *, options: frozenset[str]) -> None:
    """UsageError, with the nearest names, unless the pipeline's `__call__` names each setting.

    `options`: of the adapter, for settings that stand in the wrong place.
    """
    made_of_others = {name for name in kind.arguments if name.endswith(EMBEDDINGS)}
    filled = dict.fromkeys(OURS | made_of_others, "the adapter fills it")
    elsewhere = {
        name: f"options.{name} in the card, or -M {name}=..."
        for name in options - set(kind.arguments)
    }
    rate = {"frame_rate": "options.fps in the card, or -M fps=..."}
    check_arguments(settings, known=kind.arguments, ours=elsewhere | filled | rate, call=kind.name)
