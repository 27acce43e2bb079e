"""A model of no learned weights that looks at the picture and hardly reads the prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.adapters import BaseAdapter
from vgen_eval.types import AnswerForm, NoOptions, Output, Request

from vgen_eval_plugins.baselines.looks import judge_looks
from vgen_eval_plugins.baselines.regions import (
    CLUSTERS,
    cluster_colours,
    colours_named,
    paint_clusters,
)
from vgen_eval_plugins.baselines.surfaces import (
    guess_depth,
    guess_normals,
    paint_nearness,
    paint_normals,
)
from vgen_eval_plugins.baselines.vision import cut_centre, find_blobs
from vgen_eval_plugins.counting.encoders import RedDotsEncoderOptions, dots_for
from vgen_eval_plugins.counting.layout import paint_red
from vgen_eval_plugins.pictures import RGB

__all__ = ["Classical"]


class Classical(BaseAdapter):
    """One unlearned method a family; of the prompt it reads no more than its colours.

    Masks: GrabCut from a central prior. Counts: watershed of the distance transform. Depth: lower
    in the picture and richer in detail is nearer. Normals: slopes of smoothed brightness over a
    floor, red to the right and green up. Classes: k-means of the colours, the largest cluster the
    first class. Quality: NIQE for how good a picture looks, measured facts for questions and
    descriptions.
    """

    version: ClassVar[int] = 4
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = (
        "image", "text", "choice", "mask", "points", "depth_map", "normal_map", "label_map",
    )  # fmt: skip

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """An answer to each; None, no answer, where it has no method."""
        for request in requests:
            answer, reason = None, None
            if request.images and request.family == "quality" and request.form in _SAID:
                answer, reason = judge_looks(request)
            elif request.images:
                answer = _answer(request)
                if answer is None:
                    reason = f"no method gives a {request.form} of {request.family}"
            yield Output(id=request.id, answer=answer, reason=reason)


_SAID: tuple[AnswerForm, ...] = ("text", "choice")


def _answer(request: Request) -> Any:
    picture = request.images[0].array
    if request.form == "image":
        return _PAINTERS.get(request.family, _paint_grey)(picture, request.prompt)
    if request.form == "text":
        return str(len(find_blobs(picture))) if request.family == "counting" else ""
    if request.form == "label_map":
        return cluster_colours(picture, len(colours_named(request.prompt)) or CLUSTERS)
    method = _ARRAYS.get(request.form)
    return None if method is None else method(picture)


_ARRAYS: Mapping[AnswerForm, Callable[[RGB], NDArray[Any]]] = {
    "mask": cut_centre,
    "points": find_blobs,
    "depth_map": guess_depth,
    "normal_map": guess_normals,
}


def _paint_blobs(picture: RGB, prompt: str) -> RGB:  # noqa: ARG001
    height, width = picture.shape[:2]
    points = find_blobs(picture)
    dots = dots_for(points, height=height, width=width, options=RedDotsEncoderOptions())
    return paint_red(picture, dots)


def _paint_mask(picture: RGB, prompt: str) -> RGB:  # noqa: ARG001
    mask = cut_centre(picture).view(np.uint8) * np.uint8(255)
    return np.repeat(mask[:, :, None], 3, axis=2)


def _paint_classes(picture: RGB, prompt: str) -> RGB:
    palette = colours_named(prompt)
    return paint_clusters(picture, palette) if palette else _paint_grey(picture, prompt)


def _paint_grey(picture: RGB, prompt: str) -> RGB:  # noqa: ARG001
    """The picture in grey: brightness is the best guess of a map that nobody described."""
    import cv2

    return np.asarray(
        cv2.cvtColor(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB), np.uint8
    )


_PAINTERS: Mapping[str, Callable[[RGB, str], RGB]] = {
    "counting": _paint_blobs,
    "referring": _paint_mask,
    "depth": lambda picture, _: paint_nearness(picture),
    "normals": lambda picture, _: paint_normals(picture),
    "semantic": _paint_classes,
}
