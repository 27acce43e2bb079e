"""The answers of one who sees perfectly: a letter, the option's words, log-probabilities."""

from __future__ import annotations

import math
from typing import ClassVar

import msgspec
from vgen_eval.types import NoOptions, Scene

from vgen_eval_plugins.quality.perception.targets import OptionTarget

__all__ = ["ClosedSetEncoder", "OptionTextEncoder", "OptionWordsEncoder"]

SURE = 0.97
"""Probability of the right option; the others share the rest."""


class OptionTextEncoder:
    """target -> the right option's letter."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "option"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def encode(self, target: OptionTarget, scene: Scene) -> str:  # noqa: ARG002
        """`B`."""
        return target.right


class OptionWordsEncoder:
    """target -> the right option's letter and words, for a judge to read."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "option"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def encode(self, target: OptionTarget, scene: Scene) -> str:  # noqa: ARG002
        """`B. Blurry`."""
        return f"{target.right}. {target.options[target.right]}"


class ClosedSetEncoder:
    """target -> log-probabilities of the options, the right one's the highest by far."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "option"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def encode(self, target: OptionTarget, scene: Scene) -> dict[str, float]:  # noqa: ARG002
        """Option's text -> natural log of its probability."""
        others = math.log((1 - SURE) / (len(target.options) - 1))
        return {
            text: math.log(SURE) if letter == target.right else others
            for letter, text in target.options.items()
        }
