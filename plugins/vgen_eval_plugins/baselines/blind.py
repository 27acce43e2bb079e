"""The floor: a prior of the family that looks at no pixel, only at the picture's size."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.adapters import BaseAdapter
from vgen_eval.types import FORMS, AnswerForm, Output, Request

from vgen_eval_plugins.counting.encoders import RedDotsEncoderOptions, dots_for
from vgen_eval_plugins.counting.layout import paint_red, spread

__all__ = ["Blind", "BlindOptions"]

NO_PICTURE = (512, 512)
"""Size answered with when a request carries no picture."""


class BlindOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The priors."""

    count: Annotated[int, msgspec.Meta(description="Counting: how many there are.", ge=0)] = 5
    box: Annotated[
        float,
        msgspec.Meta(
            description="Referring: sides of a centred box, as a part of the picture's.", gt=0, le=1
        ),
    ] = 0.5


def centre_box(height: int, width: int, part: float) -> NDArray[np.bool_]:
    """bool (height, width): a centred rectangle of this part of each side."""
    mask = np.zeros((height, width), bool)
    rows, columns = max(1, round(height * part)), max(1, round(width * part))
    top, left = (height - rows) // 2, (width - columns) // 2
    mask[top : top + rows, left : left + columns] = True
    return mask


class Blind(BaseAdapter):
    """Answers every sample of a family alike: what a score above this floor has seen."""

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = BlindOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = FORMS

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """An answer of the form that was asked for; None where a form has no prior."""
        for request in requests:
            yield Output(id=request.id, answer=self.answer(request))

    def answer(self, request: Request) -> Any:
        """The family's prior in the request's form, or the form's own where there is none."""
        size = NO_PICTURE
        if request.images:
            size = (request.images[0].height, request.images[0].width)
        prior = self._priors().get((request.family, request.form))
        return (
            prior(*size) if prior is not None else _plain_answer(request, *size, self.options.box)
        )

    def _priors(self) -> Mapping[tuple[str, str], Callable[[int, int], Any]]:
        count, box = self.options.count, self.options.box
        return {
            ("counting", "image"): self._paint_dots,
            ("counting", "text"): lambda height, width: str(count),  # noqa: ARG005
            ("counting", "points"): lambda height, width: spread(count, height=height, width=width),
            ("referring", "image"): lambda height, width: _paint_mask(
                centre_box(height, width, box)
            ),
        }

    def _paint_dots(self, height: int, width: int) -> NDArray[np.uint8]:
        points = spread(self.options.count, height=height, width=width)
        dots = dots_for(points, height=height, width=width, options=RedDotsEncoderOptions())
        return paint_red(np.zeros((height, width, 3), np.uint8), dots)


def _paint_mask(mask: NDArray[np.bool_]) -> NDArray[np.uint8]:
    return np.repeat(mask[:, :, None].view(np.uint8) * np.uint8(255), 3, axis=2)


def _plain_answer(request: Request, height: int, width: int, part: float) -> Any:
    """What says least in each form, for families that have no prior here."""
    if request.form == "image":
        return np.full((height, width, 3), 128, np.uint8)
    if request.form == "text":
        return ""
    if request.form == "choice":
        return {word: -math.log(len(request.choices)) for word in request.choices}
    if request.form == "mask":
        return centre_box(height, width, part)
    if request.form == "label_map":
        return np.zeros((height, width), np.int64)
    if request.form == "depth_map":
        return np.ones((height, width))
    if request.form == "normal_map":
        return np.broadcast_to(np.array([0.0, 0.0, 1.0]), (height, width, 3)).copy()
    if request.form == "points":
        return np.zeros((0, 2))
    return None  # a video has no cheap prior
