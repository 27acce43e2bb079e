"""A model of no learned weights that looks at the picture and cannot read the prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import msgspec
import numpy as np
from vgen_eval.adapters import BaseAdapter
from vgen_eval.types import AnswerForm, NoOptions, Output, Request

from vgen_eval_plugins.baselines.vision import cut_centre, find_blobs
from vgen_eval_plugins.counting.encoders import RedDotsEncoderOptions, dots_for
from vgen_eval_plugins.counting.layout import paint_red
from vgen_eval_plugins.pictures import RGB

__all__ = ["Classical"]


class Classical(BaseAdapter):
    """GrabCut from a central prior for masks, distance-transform watershed for counts."""

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = ("image", "text", "mask", "points")

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """An answer to each; None, no answer, where it has no method."""
        for request in requests:
            answer = _answer(request) if request.images else None
            yield Output(id=request.id, answer=answer)


def _answer(request: Request) -> Any:
    picture = request.images[0].array
    if request.form == "mask":
        return cut_centre(picture)
    if request.form == "points":
        return find_blobs(picture)
    if request.form == "text":
        return str(len(find_blobs(picture))) if request.family == "counting" else ""
    if request.form != "image":
        return None
    if request.family == "counting":
        return _paint_blobs(picture)
    if request.family == "referring":
        mask = cut_centre(picture).view(np.uint8) * np.uint8(255)
        return np.repeat(mask[:, :, None], 3, axis=2)
    return _paint_grey(picture)


def _paint_blobs(picture: RGB) -> RGB:
    height, width = picture.shape[:2]
    points = find_blobs(picture)
    dots = dots_for(points, height=height, width=width, options=RedDotsEncoderOptions())
    return paint_red(picture, dots)


def _paint_grey(picture: RGB) -> RGB:
    """The picture in grey: brightness is the best guess of a map that nobody described."""
    import cv2

    return np.asarray(
        cv2.cvtColor(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB), np.uint8
    )
