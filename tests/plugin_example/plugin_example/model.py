"""An image editor that has learned nothing: it paints by simple rules on colours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.adapters import BaseAdapter
from vgen_eval.types import AnswerForm, Output, Request

from plugin_example.grey import luma

__all__ = ["ColourRules"]

RGB = NDArray[np.uint8]


class ColourRules(BaseAdapter):
    """Paints what stands out from the picture's border, or the picture's mean brightness.

    `load` and `close`, the limits on batches and the constructor come from BaseAdapter.
    """

    version: ClassVar[int] = 1
    forms: ClassVar[tuple[AnswerForm, ...]] = ("image",)
    max_batch: int = 8

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Set in the model card's `options`, or with -M contrast=60."""

        contrast: Annotated[
            int,
            msgspec.Meta(
                description="Levels (0-255, sum over R, G, B) from the border's colour that count "
                "as standing out.",
                ge=0,
                le=765,
            ),
        ] = 120

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """One picture a request, as large as its first input picture; None without one."""
        for request in requests:
            answer = self._paint(request) if request.images else None
            yield Output(id=request.id, answer=answer)

    def _paint(self, request: Request) -> RGB:
        picture = request.images[0].array
        # a model that understands language would read request.prompt
        if request.family == "brightness":
            return np.full_like(picture, round(float(luma(picture).mean())))
        return self._silhouette(picture)

    def _silhouette(self, picture: RGB) -> RGB:
        """White where the picture differs from the median colour of its border, else black."""
        border: Any = np.concatenate(
            [picture[0], picture[-1], picture[:, 0], picture[:, -1]]
        )  # (2W + 2H, 3)
        distance = np.abs(picture.astype(int) - np.median(border, axis=0)).sum(axis=2)
        stands_out = distance > self.options.contrast
        return np.repeat(np.where(stands_out, 255, 0).astype(np.uint8)[:, :, None], 3, axis=2)
