"""Unlearned computer vision: a central object by GrabCut, blobs by thresholds and watershed."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.pictures import RGB, resize

__all__ = ["SEED", "cut_centre", "find_blobs", "reduce"]

Mask = NDArray[np.bool_]

CUT_SIDE = 192
"""Long side GrabCut works at: its time grows with the pixels."""

BLOB_SIDE = 512
LEAST_SIDE = 16
MOST_BLOBS = 500
MARGIN = 0.15
"""Border, as a part of each side, that is background at first."""

SEED = 0
"""Of whatever starts from a random draw."""


def reduce(picture: RGB, long_side: int) -> tuple[RGB, float]:
    """The picture with its long side at most this, and the scale that took it there."""
    height, width = picture.shape[:2]
    scale = min(1.0, long_side / max(height, width))
    rows, columns = max(1, round(height * scale)), max(1, round(width * scale))
    return np.asarray(resize(picture, height=rows, width=columns), np.uint8), scale


def cut_centre(picture: RGB) -> Mask:
    """bool (H, W): what GrabCut parts from the border; the central box if that is nothing."""
    height, width = picture.shape[:2]
    small, _ = reduce(picture, CUT_SIDE)
    rows, columns = small.shape[:2]
    top, left = round(rows * MARGIN), round(columns * MARGIN)
    box = np.zeros((rows, columns), bool)
    box[top : rows - top, left : columns - left] = True
    mask = box
    if min(rows, columns) >= LEAST_SIDE and small.std() > 1:  # flat pictures have no two colours
        cut = _grab_cut(small, box)
        mask = cut if cut.any() else box
    grown = cv2.resize(mask.view(np.uint8), (width, height), interpolation=cv2.INTER_NEAREST_EXACT)
    return np.asarray(grown).view(np.bool_)


def _grab_cut(picture: RGB, box: Mask) -> Mask:
    labels = np.where(box, cv2.GC_PR_FGD, cv2.GC_BGD).astype(np.uint8)
    ground, figure = np.zeros((1, 65)), np.zeros((1, 65))
    unused = (0, 0, 1, 1)  # the rectangle: the mask is where it starts from
    bgr = np.ascontiguousarray(picture[:, :, ::-1])
    cv2.setRNGSeed(SEED)  # its colour models start from a random k-means
    cv2.grabCut(bgr, labels, unused, ground, figure, 3, cv2.GC_INIT_WITH_MASK)
    return np.asarray((labels == cv2.GC_FGD) | (labels == cv2.GC_PR_FGD))


def find_blobs(picture: RGB) -> NDArray[np.float64]:
    """(N, 2) x, y of blobs that stand out from the border's brightness, 500 at most."""
    small, scale = reduce(picture, BLOB_SIDE)
    if min(small.shape[:2]) < LEAST_SIDE:
        return np.zeros((0, 2))
    grey = cv2.GaussianBlur(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY), (0, 0), 1.5)
    _, bright = cv2.threshold(grey, 0, 1, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    border = np.concatenate([bright[0], bright[-1], bright[:, 0], bright[:, -1]])
    figure = np.asarray(1 - bright if border.mean() > 0.5 else bright, np.uint8)
    opened = cv2.morphologyEx(figure, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    figure = np.asarray(opened, np.uint8)
    markers, count = _mark_peaks(figure)
    if count == 0:
        return np.zeros((0, 2))
    cv2.watershed(np.ascontiguousarray(small[:, :, ::-1]), markers)
    centres = _region_centres(markers, figure, count)
    return (centres[:MOST_BLOBS] + 0.5) / scale - 0.5


def _mark_peaks(figure: NDArray[np.uint8]) -> tuple[NDArray[np.int32], int]:
    """Watershed markers, 1 the ground and 2... the summits of the distance to it; their number."""
    distance = cv2.distanceTransform(figure, cv2.DIST_L2, 5)
    if not distance.max() > 0 or not (figure == 0).any():
        return np.zeros(figure.shape, np.int32), 0
    smooth = cv2.GaussianBlur(distance, (0, 0), 2)
    top = cv2.dilate(smooth, np.ones((9, 9), np.uint8))
    summits = ((smooth >= top - 1e-4) & (distance > max(2.0, 0.25 * distance.max()))).astype(
        np.uint8
    )
    number, labels = cv2.connectedComponents(summits, connectivity=8)
    markers = np.where(summits > 0, labels + 1, 0).astype(np.int32)
    markers[cv2.dilate(figure, np.ones((3, 3), np.uint8)) == 0] = 1
    return markers, number - 1


def _region_centres(
    markers: NDArray[np.int32], figure: NDArray[np.uint8], count: int
) -> NDArray[np.float64]:
    rows, columns = np.nonzero((markers > 1) & (figure > 0))
    labels = markers[rows, columns] - 2
    area = np.bincount(labels, minlength=count).astype(np.float64)
    x = np.bincount(labels, columns, minlength=count)
    y = np.bincount(labels, rows, minlength=count)
    kept = area > 0
    return np.stack([x[kept] / area[kept], y[kept] / area[kept]], axis=1)
