"""What stands for an answer that came to nothing: no quality at all, or one that a card names."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec
from vgen_eval.types import NoOptions, Prediction, Scene

__all__ = ["ConstantQuality", "NoQuality"]


class NoQuality:
    """The failure value of correlations: nothing, so that they are undefined and say why."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "quality"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """Always None."""
        return Prediction(value=None, summary={"quality": None})


class ConstantQuality:
    """A failure value: one quality, whatever the answer."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "quality"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        """Which quality."""

        quality: Annotated[
            float, msgspec.Meta(description="The quality that is returned.", ge=0, le=1)
        ] = 0.5

    def __init__(self, options: Options) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """Always the option's quality."""
        return Prediction(value=self.options.quality, summary={"quality": self.options.quality})
