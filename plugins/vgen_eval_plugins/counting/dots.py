"""Where the dots of a red mask are: its blobs, its components, or its deepest places."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["LIMIT_STEP", "Centres", "DotOptions", "Mask", "Method", "build_detector", "find_dots"]

Mask = NDArray[np.uint8]
Centres = NDArray[np.float64]
"""(N, 2) x, y in pixels of the mask."""

Method = Literal["components", "components+diff", "blob", "blob+diff", "peak_dt"]

LIMIT_STEP = 0.10
"""How far a limit is moved to see whether the count hangs on it."""

_NO_LIMIT = 1e-6
"""OpenCV wants limits above zero, even for tests that are off."""


class DotOptions(Protocol):
    """What the three ways of finding dots are told: options of `red_dots`."""

    @property
    def method(self) -> Method: ...
    @property
    def min_area(self) -> float: ...
    @property
    def max_area(self) -> float: ...
    @property
    def min_circularity(self) -> float | None: ...
    @property
    def min_inertia(self) -> float | None: ...
    @property
    def min_convexity(self) -> float | None: ...
    @property
    def blob_color(self) -> int | None: ...
    @property
    def min_threshold(self) -> float: ...
    @property
    def max_threshold(self) -> float: ...
    @property
    def threshold_step(self) -> float: ...
    @property
    def min_repeatability(self) -> int: ...
    @property
    def min_distance(self) -> float: ...
    @property
    def peak_min_value(self) -> float: ...


def find_dots(mask: Mask, options: DotOptions) -> tuple[Centres, bool]:
    """Centres of the dots of a mask of 0 and 255, and whether their number hangs on a limit.

    It does when it changes as a limit of areas, or of peaks, is moved by 10 % either way.
    """
    if options.method.startswith("blob"):
        return find_blobs(mask, options)
    if options.method.startswith("components"):
        return find_components(mask, min_area=options.min_area)
    return find_peaks(mask, min_value=options.peak_min_value, min_distance=options.min_distance)


def build_detector(
    options: DotOptions, *, min_area: float | None = None, max_area: float | None = None
) -> Any:
    """OpenCV's blob detector with every parameter set: its own defaults look for dark blobs.

    `min_area`, `max_area`: in place of the options'.
    """
    params = cv2.SimpleBlobDetector.Params()
    params.minThreshold = options.min_threshold
    params.maxThreshold = options.max_threshold
    params.thresholdStep = options.threshold_step
    params.minRepeatability = options.min_repeatability
    params.minDistBetweenBlobs = options.min_distance
    params.filterByColor = options.blob_color is not None
    params.blobColor = options.blob_color or 0
    params.filterByArea = True
    params.minArea = options.min_area if min_area is None else min_area
    params.maxArea = options.max_area if max_area is None else max_area
    params.filterByCircularity = options.min_circularity is not None
    params.minCircularity = options.min_circularity or _NO_LIMIT
    params.maxCircularity = float(np.finfo(np.float32).max)
    params.filterByInertia = options.min_inertia is not None
    params.minInertiaRatio = options.min_inertia or _NO_LIMIT
    params.maxInertiaRatio = float(np.finfo(np.float32).max)
    params.filterByConvexity = options.min_convexity is not None
    params.minConvexity = options.min_convexity or _NO_LIMIT
    params.maxConvexity = float(np.finfo(np.float32).max)
    return cv2.SimpleBlobDetector.create(params)


def find_blobs(mask: Mask, options: DotOptions) -> tuple[Centres, bool]:
    """Blobs of a dot's area, roundness and inertia; areas are those of contours."""
    blobs = build_detector(options).detect(mask)
    centres = np.array([blob.pt for blob in blobs], np.float64).reshape(-1, 2)
    contours, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
    areas = np.array([cv2.contourArea(contour) for contour in contours])
    for name, limit in (("min_area", options.min_area), ("max_area", options.max_area)):
        near = np.abs(areas - limit) <= LIMIT_STEP * limit * 1.001
        if not near.any():  # no blob can cross, so the detector need not run again
            continue
        for factor in (1 - LIMIT_STEP, 1 + LIMIT_STEP):
            moved = build_detector(options, **{name: limit * factor})
            if len(moved.detect(mask)) != len(blobs):
                return centres, True
    return centres, False


def find_components(mask: Mask, *, min_area: float) -> tuple[Centres, bool]:
    """Components, joined at sides and corners, of `min_area` pixels or more, however large."""
    _, _, stats, found = cv2.connectedComponentsWithStats(mask, connectivity=8)
    areas = stats[1:, cv2.CC_STAT_AREA]  # row 0 is the background
    return np.asarray(found[1:][areas >= min_area], np.float64), _hangs(areas, min_area)


def find_peaks(mask: Mask, *, min_value: float, min_distance: float) -> tuple[Centres, bool]:
    """Local maxima of the Euclidean distance to the mask's rim, `min_value` pixels or more.

    A pixel is a peak when none within `min_distance` lies deeper; peaks that touch are one. Two
    dots that run together are told apart, one dot that is long or ragged counts several times.
    """
    # what leaves the picture has its rim there
    framed = cv2.copyMakeBorder(mask, 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0)
    depth = cv2.distanceTransform(framed, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)[1:-1, 1:-1]
    deepest = (depth >= cv2.dilate(depth, _disc(min_distance))) & (mask > 0)
    _, labels, _, found = cv2.connectedComponentsWithStats(deepest.astype(np.uint8), connectivity=8)
    values = np.zeros(len(found), np.float32)
    np.maximum.at(values, labels[deepest].astype(np.intp), depth[deepest])
    kept = values[1:] >= min_value
    return np.asarray(found[1:][kept], np.float64), _hangs(values[1:], min_value)


@lru_cache(maxsize=16)
def _disc(radius: float) -> Mask:
    """1 where a pixel is no farther than `radius`; OpenCV's own ellipses reach beyond."""
    along = np.arange(-int(radius), int(radius) + 1)
    return np.asarray(along[:, None] ** 2 + along[None, :] ** 2 <= radius**2, np.uint8)


def _hangs(sizes: NDArray[Any], limit: float) -> bool:
    """Do as many sizes reach the limit when it moves by 10 % either way?"""
    lower, upper = (1 - LIMIT_STEP) * limit, (1 + LIMIT_STEP) * limit
    return bool(((sizes >= lower) != (sizes >= upper)).any())
