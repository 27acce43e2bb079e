"""Unknown pixels of a truth stand for the nearest known ones, so that resizing spreads no gap."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["nearest_known"]


def nearest_known(known: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(H, W): place, in the flattened map, of the known pixel that lies nearest to each.

    At least one must be known. Near by OpenCV's 5x5 chamfer distance, which errs by some 2 %.
    """
    _, labels = cv2.distanceTransformWithLabels(
        (~known).view(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    place = np.zeros(int(labels.max()) + 1, np.int64)
    place[labels[known]] = np.flatnonzero(known)
    return np.asarray(place[labels])
