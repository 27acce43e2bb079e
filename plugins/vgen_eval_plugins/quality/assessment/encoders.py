"""The answers that a model which knows the opinions would give: words, a grey level, a bar."""

from __future__ import annotations

import math
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.types import NoOptions, Scene

from vgen_eval_plugins.quality.assessment.likelihoods import log_sum
from vgen_eval_plugins.quality.assessment.words import WordOptions
from vgen_eval_plugins.quality.targets import Opinion

__all__ = ["BarLengthEncoder", "GreyLevelEncoder", "WordProbabilityEncoder"]

RGB = NDArray[np.uint8]

INK, PAPER = 0, 255
NARROW = 0.01
"""How far from 0 and 1 a softmax is kept: at the ends its logits are infinite."""
BAR_HEIGHT = 0.2
"""Of the picture's."""


class WordProbabilityEncoder:
    """Opinion -> log-probabilities of the words, whose decoded quality is the scaled opinion."""

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "quality"
    Options: ClassVar[type[msgspec.Struct]] = WordOptions

    def __init__(self, options: WordOptions) -> None:
        self.options = options

    def encode(self, target: Opinion, scene: Scene) -> dict[str, float | None]:
        """Word -> log-probability; they sum up to 1 over the words of both sides.

        Further words that are asked for have None: other readings take these for not listed. The
        quality lies between 0.01 and 0.99 for the softmax, and is linear in the opinion.
        """
        gap = self._gap(target.quality)
        positive, negative = self.options.positive, self.options.negative
        values = dict.fromkeys(positive, gap) | dict.fromkeys(negative, 0.0)
        if self.options.combine == "sum_exp":  # of a longer side each word weighs less
            more = math.log(len(positive) / len(negative))
            values |= dict.fromkeys(positive, gap - more)
        total = log_sum(list(values.values()))
        others: dict[str, float | None] = dict.fromkeys(scene.choices)
        return others | {word: value - total for word, value in values.items()}

    def _gap(self, quality: float) -> float:
        """The difference of the sides' logits that is decoded to this quality."""
        if self.options.score == "diff":
            return quality
        if self.options.score == "argmax":
            return 1.0 if quality > 0.5 else -1.0
        kept = NARROW + (1 - 2 * NARROW) * quality
        return self.options.temperature * math.log(kept / (1 - kept))


class GreyLevelEncoder:
    """Opinion -> one grey, black for the worst and white for the best."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "quality"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def encode(self, target: Opinion, scene: Scene) -> RGB:
        """uint8 (H, W, 3) of the picture's size."""
        height, width = scene.image.height, scene.image.width
        return np.full((height, width, 3), round(255 * target.quality), np.uint8)


class BarLengthEncoder:
    """Opinion -> a black bar on white, from the left edge, as long as the opinion is good."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "quality"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def encode(self, target: Opinion, scene: Scene) -> RGB:
        """uint8 (H, W, 3) of the picture's size; the worst is one pixel long, to be seen."""
        height, width = scene.image.height, scene.image.width
        picture = np.full((height, width, 3), PAPER, np.uint8)
        high = max(1, round(BAR_HEIGHT * height))
        top = (height - high) // 2
        picture[top : top + high, : max(1, round(width * target.quality))] = INK
        return picture
