"""Masks and labels drawn from polygons."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.samples.annotations import Layer, Polygon

__all__ = ["draw_labels", "draw_mask"]


def draw_mask(
    polygons: Sequence[Polygon], holes: Sequence[Polygon], *, height: int, width: int
) -> NDArray[np.bool_]:
    """bool (height, width): the union of the filled polygons, borders included, less the holes."""
    planes = []
    for each in (polygons, holes):
        plane = np.zeros((height, width), np.uint8)
        for polygon in each:  # one by one: together, overlaps would be filled by parity
            cv2.fillPoly(plane, [np.array(polygon, np.int32)], 1)
        planes.append(plane.view(np.bool_))
    return planes[0] & ~planes[1]


def draw_labels(
    layers: Sequence[Layer], rest: str | None, classes: Sequence[str], *, height: int, width: int
) -> NDArray[np.int32]:
    """int32 (height, width): places in `classes`, -1 for null; later layers cover earlier ones."""
    place: dict[str | None, int] = {name: at for at, name in enumerate(classes)}
    place[None] = -1
    labels = np.full((height, width), place[rest], np.int32)
    for layer in layers:
        mask = draw_mask(layer.polygons, layer.holes, height=height, width=width)
        labels[mask] = place[layer.label]
    return labels
