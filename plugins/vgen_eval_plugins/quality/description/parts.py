"""What stands for a description that is not there, and the one of one who sees perfectly."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
from vgen_eval.types import NoOptions, Prediction, Scene

from vgen_eval_plugins.quality.description.targets import DIMENSIONS, GoldenText, NoJudgements

__all__ = ["GoldenTextEncoder", "NoDescription"]


class NoDescription:
    """The failure value: 0 in all dimensions, weighing as the descriptions that were judged do."""

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "description"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """Always nothing."""
        return Prediction(value=NoJudgements(), summary=dict.fromkeys(DIMENSIONS, 0.0))


class GoldenTextEncoder:
    """target -> the expert's own words."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "description"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def encode(self, target: GoldenText, scene: Scene) -> str:  # noqa: ARG002
        """The golden text."""
        return target.text
