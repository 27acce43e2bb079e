"""Unlearned regions: a picture's colours in a few clusters, numbered or painted."""

from __future__ import annotations

import functools
import re

import cv2
import numpy as np
import PIL.ImageColor
from numpy.typing import NDArray

from vgen_eval_plugins.baselines.vision import SEED, reduce
from vgen_eval_plugins.colours import as_rgb
from vgen_eval_plugins.pictures import RGB

__all__ = ["cluster_colours", "colours_named", "paint_clusters"]

REGION_SIDE = 160
"""Long side that clusters are found at."""

CLUSTERS = 4
"""How many there are where the prompt names no colours."""

MOST_CLUSTERS = 12
VOID = "#000000"
"""The colour that prompts give to nothing at all: no region's."""

_CODE = re.compile(r"#[0-9a-fA-F]{6}\b")
_LEVELS = re.compile(r"\[(\d{1,3}), (\d{1,3}), (\d{1,3})\]")


def colours_named(prompt: str) -> list[tuple[int, int, int]]:
    """R, G, B of a prompt's colours in order, each once; black, the void, left out.

    Colours are all #rrggbb; where there is none all [r, g, b], and else all words that CSS has for
    one, "light green" for lightgreen.
    """
    codes = [code.lower() for code in _CODE.findall(prompt)]
    for levels in () if codes else _LEVELS.findall(prompt):
        codes += [f"#{bytes(min(int(level), 255) for level in levels).hex()}"]
    if not codes:
        words = (word.replace(" ", "") for word in _words().findall(prompt))
        codes = [f"#{bytes(PIL.ImageColor.getrgb(word)).hex()}" for word in words]
    return [as_rgb(code) for code in dict.fromkeys(codes) if code != VOID]


@functools.cache
def _words() -> re.Pattern[str]:
    """Any word for a colour, "light green" before "green"."""
    shades = "dark|light|medium|pale|deep|hot"
    names = "|".join(sorted(PIL.ImageColor.colormap, key=len, reverse=True))
    spaced = re.sub(rf"(?<![a-z])({shades})(?=[a-z])", r"\1 ?", names)
    return re.compile(rf"\b(?:{spaced})\b")


def cluster_colours(picture: RGB, count: int) -> NDArray[np.int32]:
    """int32 (H, W): k-means clusters of the blurred colours, the largest 0, `count` at most."""
    height, width = picture.shape[:2]
    small, _ = reduce(picture, REGION_SIDE)
    smooth = cv2.GaussianBlur(np.ascontiguousarray(small), (0, 0), 1.5)
    colours = np.float32(cv2.cvtColor(smooth, cv2.COLOR_RGB2LAB)).reshape(-1, 3)
    distinct = len(np.unique(colours, axis=0))
    wanted = min(max(1, count), MOST_CLUSTERS, distinct)
    found = np.zeros(len(colours), np.int32)
    if wanted > 1:
        cv2.setRNGSeed(SEED)  # the centres start from a random draw
        stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 20, 0.5)
        _, labels, _ = cv2.kmeans(colours, wanted, None, stop, 1, cv2.KMEANS_PP_CENTERS)  # type: ignore[call-overload]
        found = np.asarray(labels, np.int32).ravel()
    sizes = np.bincount(found, minlength=wanted)
    place = np.empty(wanted, np.int32)
    place[np.argsort(-sizes, kind="stable")] = np.arange(wanted, dtype=np.int32)
    regions = place[found].reshape(small.shape[:2])
    grown = cv2.resize(regions, (width, height), interpolation=cv2.INTER_NEAREST_EXACT)
    return np.asarray(grown, np.int32)


def paint_clusters(picture: RGB, palette: list[tuple[int, int, int]]) -> RGB:
    """uint8 (H, W, 3): the clusters in the colours of a palette, the largest in the first."""
    return np.array(palette, np.uint8)[cluster_colours(picture, len(palette))]
