"""Requests made by rule: small pictures of known content, and the prompts that break things."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgen_eval.imaging import Image
from vgen_eval.types import AnswerForm, Request

__all__ = ["ODD_PICTURES", "ODD_PROMPTS", "PICTURES", "make_request", "picture", "toy_answer"]

RGB = NDArray[np.uint8]

PICTURES = ("disc", "stripes", "dots", "noise")
"""The ordinary ones, 48 high and 64 wide."""
SIZE = (48, 64)
ODD_PICTURES: Mapping[str, tuple[int, int]] = {
    "odd 37x53": (37, 53),
    "one pixel": (1, 1),
    "tiny 8x8": (8, 8),
    "wide 20x320": (20, 320),
    "grey": SIZE,
}
"""Name -> height, width."""
ODD_PROMPTS: Mapping[str, str] = {
    "empty": "",
    "quotes": "the \"red\" one, not the 'blue'; `id`",
    "newlines": "first line\nsecond line\r\n\tthird",
    "braces": "{query} {0} {} {unknown!r} {{",
    "percent": "100 % of %s and %(name)d",
    "markup": "<b>disc</b> </prompt> <|endoftext|> $(id) \\n",
    "emoji": "the \U0001f534 disc, \u00e9t\u00e9, \u4e2d\u6587",
    "lone surrogate": "half \ud83d of an emoji",
    "long": "find the disc, " * 400,
}
CHOICES = ("yes", "no")


def picture(name: str) -> Image:
    """A picture of that name, its pixels made anew."""
    height, width = ODD_PICTURES.get(name, SIZE)
    rows, columns = np.mgrid[:height, :width]
    plane = np.zeros((height, width, 3), np.uint8)
    plane[..., 0] = 40 + 60 * columns // max(width, 1)
    plane[..., 1] = 40 + 60 * rows // max(height, 1)
    plane[..., 2] = 70
    if name == "grey":
        plane[:] = (40 + 2 * columns).astype(np.uint8)[..., None]
    elif name == "stripes":
        plane[(columns // 8) % 2 == 0] = (230, 220, 60)
    elif name == "dots":
        plane[(rows % 16 < 5) & (columns % 16 < 5)] = (220, 40, 40)
    elif name == "noise":
        plane[:] = np.random.default_rng(7).integers(0, 256, plane.shape, np.uint8)
    else:
        inside = (rows - height / 2) ** 2 + (columns - width / 2) ** 2 < (height / 3) ** 2
        plane[inside] = (240, 240, 230)
    return Image(plane)


def make_request(
    form: AnswerForm, name: str, *, prompt: str = "Find the bright disc.", seed: int = 0,
    images: tuple[Image, ...] | None = None, settings: Mapping[str, Any] | None = None,
    ideal: bool = False,
) -> Request:  # fmt: skip
    """A request about the picture of that name; `ideal` as models of role `ceiling` get it."""
    shown = (picture(name),) if images is None else images
    height, width = (shown[0].height, shown[0].width) if shown else SIZE
    return Request(
        id=f"{name}#{seed}",
        sample=name,
        attempt=0,
        family="referring",
        form=form,
        prompt=prompt,
        images=shown,
        choices=CHOICES if form == "choice" else (),
        fields={"query": "the bright disc"},
        settings=dict(settings or {}),
        seed=seed,
        ideal=toy_answer(form, height, width) if ideal else None,
    )


def toy_answer(form: AnswerForm, height: int, width: int) -> Any:
    """A sound answer of the form."""
    rows, columns = np.mgrid[:height, :width]
    left = columns < width / 2
    answers: Mapping[str, Any] = {
        "image": np.repeat((left * 255).astype(np.uint8)[..., None], 3, axis=2),
        "text": "1",
        "choice": dict.fromkeys(CHOICES, -0.6931471805599453),
        "video": b"\x00\x00\x00\x18ftypmp42" + bytes(16),
        "depth_map": 1.0 + rows / max(height, 1),
        "normal_map": np.broadcast_to(np.array([0.0, 0.0, 1.0]), (height, width, 3)).copy(),
        "mask": left,
        "label_map": left.astype(np.int32),
        "points": np.array([[width / 2, height / 2]]),
    }
    return answers[form]
