"""The prediction that stands for a failure: a puzzle that nothing was done about."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
from vgen_eval.types import NoOptions, Prediction, Scene

from vgen_eval_plugins.video.puzzles.verdict import Unsolved

__all__ = ["UnsolvedValue"]


class UnsolvedValue:
    """The failure value: not solved, no progress, no rule broken, whatever the answer."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "puzzle"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """Always the same."""
        return Prediction(value=Unsolved(), summary={"unsolved": True})
