"""The floor: a prior of the family that looks at no pixel, only at the picture's size."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.adapters import BaseAdapter
from vgen_eval.errors import MissingExtra
from vgen_eval.types import FORMS, AnswerForm, Output, Request

from vgen_eval_plugins.counting.targets import CountTarget
from vgen_eval_plugins.quality.description.targets import GoldenText
from vgen_eval_plugins.quality.perception.targets import (
    LETTERS,
    AcceptedTexts,
    OptionTarget,
    letter_options,
)
from vgen_eval_plugins.semantic.labels import LabelMap

__all__ = ["Blind", "BlindOptions", "plain_answer"]

NO_PICTURE = (512, 512)
"""Size answered with when a request carries no picture."""

A_PICTURE = "The picture is of average quality."
"""The description that fits most."""
A_WORD = "yes"
"""The answer to a question without options that fits most."""


class BlindOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The priors."""

    count: Annotated[int, msgspec.Meta(description="Counting: how many there are.", ge=0)] = 5
    box: Annotated[
        float,
        msgspec.Meta(
            description="Referring: sides of a centred box, as a part of the picture's.", gt=0, le=1
        ),
    ] = 0.5
    near_m: Annotated[
        float, msgspec.Meta(description="Depth: metres at the bottom of the picture.", gt=0, le=1e6)
    ] = 2.0
    far_m: Annotated[
        float, msgspec.Meta(description="Depth: metres at the top of the picture.", gt=0, le=1e6)
    ] = 10.0


def depth_ramp(height: int, width: int, *, near_m: float, far_m: float) -> NDArray[np.float32]:
    """float32 (height, width) in metres: a floor that runs away, from the bottom to the top."""
    rows = np.linspace(far_m, near_m, height, dtype=np.float32)
    return np.repeat(rows[:, None], width, axis=1)


def facing_normals(height: int, width: int) -> NDArray[np.float32]:
    """float32 (height, width, 3): x right, y up, z toward the camera; all face the camera."""
    return np.tile(np.array([0, 0, 1], np.float32), (height, width, 1))


def centre_box(height: int, width: int, part: float) -> NDArray[np.bool_]:
    """bool (height, width): a centred rectangle of this part of each side."""
    mask = np.zeros((height, width), bool)
    rows, columns = max(1, round(height * part)), max(1, round(width * part))
    top, left = (height - rows) // 2, (width - columns) // 2
    mask[top : top + rows, left : left + columns] = True
    return mask


class Blind(BaseAdapter):
    """Answers every sample of a family alike: what a score above this floor has seen."""

    version: ClassVar[int] = 3
    Options: ClassVar[type[msgspec.Struct]] = BlindOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = FORMS

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """An answer of the form that was asked for; None where a form has no prior."""
        for request in requests:
            yield Output(id=request.id, answer=self.answer(request))

    def answer(self, request: Request) -> Any:
        """The family's prior, written as the protocol writes truths; the form's own otherwise."""
        if request.family == "quality":
            prior = looks_prior(request)
        else:
            prior = self._prior(request.family, *size_of(request))
        if prior is None or request.encode is None:
            return plain_answer(request, box=self.options.box)
        return request.encode(prior)

    def _prior(self, family: str, height: int, width: int) -> Any:
        """What the family's samples are taken for, without a look at them; None: no idea."""
        if family == "counting":
            return CountTarget(count=self.options.count, points=None)
        if family == "referring":
            return centre_box(height, width, self.options.box)
        if family == "depth":
            near_m, far_m = self.options.near_m, self.options.far_m
            return depth_ramp(height, width, near_m=near_m, far_m=far_m)
        if family == "normals":
            return facing_normals(height, width)
        if family == "semantic":
            return LabelMap(np.zeros((height, width), np.int32))  # the first class, whatever it is
        return None


class _Average(GoldenText, frozen=True):
    """A picture as most are: in words where those are asked for, in the middle of a scale."""

    quality: float = 0.5


_AVERAGE = _Average(A_PICTURE)


def looks_prior(request: Request) -> Any:
    """The first option of a question, yes without options, a sentence for a description and the
    middle for a rating in digits; None: of words for quality none is likelier than another."""
    if "options" in request.fields and request.choices:
        return OptionTarget(letter_options(request.choices), LETTERS[0])
    if "question" in request.fields and not request.choices:
        return AcceptedTexts((A_WORD,))
    return _AVERAGE if request.form == "text" and not request.choices else None


def size_of(request: Request) -> tuple[int, int]:
    """(height, width) of the first picture, or of a stand-in where there is none."""
    if not request.images:
        return NO_PICTURE
    return request.images[0].height, request.images[0].width


def plain_answer(request: Request, *, box: float = 0.5) -> Any:
    """What says least in each form, for families that have no prior here.

    `box`: sides of the centred mask, as a part of the picture's.
    """
    height, width = size_of(request)
    if request.form == "image":
        return np.full((height, width, 3), 128, np.uint8)
    if request.form == "text":
        return ""
    if request.form == "choice":
        return {word: -math.log(len(request.choices)) for word in request.choices}
    if request.form == "mask":
        return centre_box(height, width, box)
    if request.form == "label_map":
        return np.zeros((height, width), np.int64)
    if request.form == "depth_map":
        return np.ones((height, width))
    if request.form == "normal_map":
        return facing_normals(height, width)
    if request.form == "points":
        return np.zeros((0, 2))
    return still_video(height, width)


def still_video(height: int, width: int) -> bytes | None:
    """Half a second of plain grey of about that size; None where no video can be written."""
    from vgen_eval.video import write_mp4

    frame = np.full((max(2, height - height % 2), max(2, width - width % 2), 3), 128, np.uint8)
    try:
        return write_mp4([frame] * 4, fps=8)
    except MissingExtra:
        return None
