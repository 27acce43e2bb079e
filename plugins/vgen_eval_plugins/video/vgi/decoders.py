"""A painted answer for a judge to look at, and the verdict that stands for a failure."""

from __future__ import annotations

from typing import Any, ClassVar

from vgen_eval.imaging import Image
from vgen_eval.types import NoOptions, Prediction, Scene

from vgen_eval_plugins.pictures import read_rgb
from vgen_eval_plugins.video.vgi.records import VgiVerdict

__all__ = ["Picture", "VgiFailure"]


class Picture:
    """Image -> the picture itself."""

    version: ClassVar[int] = 1
    Options: ClassVar[type[NoOptions]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """uint8 (H, W, 3) -> Image, as large as it came.

        Flags: `copied_input` where it is the first picture pixel by pixel, `constant` where it has
        one colour. Undecodable when it is no picture.
        """
        picture = Image(read_rgb(answer))
        flags = []
        if picture.sha256 == scene.image.sha256:
            flags.append("copied_input")
        if (picture.array == picture.array[0, 0]).all():
            flags.append("constant")
        summary = {"size": [picture.width, picture.height]}
        return Prediction(value=picture, flags=tuple(flags), summary=summary)


class VgiFailure:
    """The failure value: scores of 0, and no success."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "VGI verdict"
    Options: ClassVar[type[NoOptions]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """Always the same."""
        verdict = VgiVerdict(rubric=0.0, completeness=0.0, final=0.0, success=False)
        return Prediction(value=verdict, summary={"final": 0.0, "success": False})
