"""Reads a count from a picture of bright dots on dark: its connected components."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import cv2
import msgspec
import numpy as np
from vgen_eval.errors import Undecodable
from vgen_eval.types import Prediction, Scene

from vgen_eval_plugins.pictures import read_rgb

__all__ = ["Components"]


class Components:
    """Bright components -> count; the dark background is never one of them."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "count"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """What is a component; areas in pixels of the answer."""

        connectivity: Annotated[
            Literal[4, 8],
            msgspec.Meta(description="8: pixels that touch at a corner are one; 4: at a side."),
        ] = 8
        min_area: Annotated[
            int, msgspec.Meta(description="Components of fewer pixels are specks.", ge=1)
        ] = 4
        threshold: Annotated[
            int, msgspec.Meta(description="Grey levels above this are bright.", ge=0, le=254)
        ] = 127

    def __init__(self, options: Options) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """The number of bright components of a uint8 (H, W, 3) or (H, W) picture.

        A component that covers more than half of the picture is counted and flagged `not_dots`.
        """
        grey = scene.geometry.cut(_to_grey(answer))
        bright = np.asarray(grey > self.options.threshold, np.uint8)
        # by keyword: the second positional argument of this call is not the connectivity
        found = cv2.connectedComponentsWithStats(bright, connectivity=self.options.connectivity)
        areas = found[2][1:, cv2.CC_STAT_AREA]  # row 0 is the background
        count = int((areas >= self.options.min_area).sum())
        covers = areas.size > 0 and 2 * int(areas.max()) > bright.size
        return Prediction(
            value=count,
            flags=("not_dots",) if covers else (),
            summary={"count": count, "specks": int(areas.size) - count},
        )


def _to_grey(answer: Any) -> np.ndarray[Any, Any]:
    if isinstance(answer, np.ndarray) and answer.ndim == 2 and answer.dtype == bool:
        return answer.astype(np.uint8) * 255
    if isinstance(answer, np.ndarray) and answer.ndim == 2 and answer.dtype == np.uint8:
        if answer.size == 0:
            raise Undecodable("the picture has no pixels")
        return answer
    return np.asarray(cv2.cvtColor(read_rgb(answer), cv2.COLOR_RGB2GRAY))
