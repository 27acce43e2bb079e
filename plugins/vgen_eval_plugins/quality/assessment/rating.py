"""A number in words -> quality: the number as it is, on whatever scale it was given."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
from vgen_eval.errors import Undecodable
from vgen_eval.types import NoOptions, Prediction, Scene

from vgen_eval_plugins.parsing.ratings import parse_rating
from vgen_eval_plugins.quality.targets import Opinion

__all__ = ["OTHER_SCALE", "Rating", "RatingEncoder"]

OTHER_SCALE = "other_scale"
"""Flag: the answer names a scale that ends elsewhere than at 100, where prompts put it."""
SCALE_END = 100.0


class Rating:
    """Text -> quality: the one number that it states, unscaled: correlations need no scale.

    All answers of a run are taken to be on one scale; flag `other_scale` where one names another
    than 0 to 100.
    """

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "quality"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """The number; Undecodable for no number, a range, a bound, and several that differ."""
        if not isinstance(answer, str):
            raise Undecodable(f"text was wanted, {type(answer).__name__} came")
        parsed = parse_rating(answer)
        summary = {
            "quality": parsed.rating,
            "rule": parsed.rule,
            "extracted": parsed.extracted,
        }
        return Prediction(
            value=parsed.rating,
            flags=(OTHER_SCALE,) if parsed.out_of not in (None, SCALE_END) else (),
            summary=summary if parsed.out_of is None else {**summary, "out_of": parsed.out_of},
        )


class RatingEncoder:
    """Opinion -> a number from 0 to 100 in digits."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "quality"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def encode(self, target: Opinion, scene: Scene) -> str:  # noqa: ARG002
        """The scaled opinion, with all its digits: what differs stays apart."""
        return repr(SCALE_END * target.quality)
