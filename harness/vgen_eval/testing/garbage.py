"""Answers that are none: what a decoder must expect of anybody's model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

__all__ = ["garbage"]


def garbage(form: str) -> Iterator[tuple[str, Any]]:
    """Answers of the form that are none, each with its name."""
    wrong = np.float64("nan")
    common: Mapping[str, Any] = {"bytes": b"\x00\x01 no file", "a number": 5, "an empty list": []}
    if form in ("text", "choice"):
        texts: Mapping[str, Any] = {
            "empty text": "", "long text": "x y " * 5000, "a lone surrogate": "\ud83d",
            "text of braces": "{}{0}%s", "an empty mapping": {}, "a foreign word": {"?": -1.0},
            "a word without a number": {"yes": None}, "a list of texts": ["a"],
        }  # fmt: skip
        yield from {**common, **texts}.items()
        return
    yield from {**common, "text": "here is your picture"}.items()
    if form == "video":
        yield "empty bytes", b""
        return
    if form == "points":
        points: tuple[tuple[str, Any], ...] = (
            ("no points", np.zeros((0, 2))), ("one number a point", np.zeros(3)),
            ("three numbers a point", np.zeros((2, 3))), ("NaN points", np.full((2, 2), wrong)),
            ("points far away", np.full((2, 2), 1e30)),
            ("infinite points", np.full((1, 2), np.inf)),
        )  # fmt: skip
        yield from points
        return
    arrays: tuple[tuple[str, Any], ...] = (
        ("an empty array", np.zeros((0, 0), np.uint8)),
        ("an empty picture", np.zeros((0, 0, 3), np.uint8)),
        ("one axis", np.zeros(5, np.uint8)),
        ("four axes", np.zeros((2, 2, 2, 2), np.uint8)),
        ("five channels", np.zeros((8, 8, 5), np.uint8)),
        ("two channels", np.zeros((8, 8, 2), np.uint8)),
        ("NaN in (H, W)", np.full((8, 8), wrong)),
        ("NaN in (H, W, 3)", np.full((8, 8, 3), wrong)),
        ("infinity in (H, W)", np.full((8, 8), np.inf)),
        ("large whole numbers", np.full((8, 8), 10**6, np.int64)),
        ("large whole numbers in (H, W, 3)", np.full((8, 8, 3), 10**6, np.int64)),
        ("negative numbers", np.full((8, 8), -3, np.int32)),
        ("complex numbers", np.ones((8, 8), complex)),
        ("objects", np.full((8, 8), None, object)),
        ("texts", np.full((8, 8), "a")),
        ("a picture of one row", np.zeros((1, 4000, 3), np.uint8)),
        ("a map of one column", np.zeros((4000, 1), np.uint8)),
    )  # fmt: skip
    yield from arrays
