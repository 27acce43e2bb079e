"""Follows the discs of a tower through a video by their colours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
import numpy as np
from vgen_eval.errors import Undecodable
from vgen_eval.types import Prediction, Scene

from vgen_eval_plugins.video.clip_decoder import open_answer
from vgen_eval_plugins.video.puzzles.hanoi_rules import Stacks
from vgen_eval_plugins.video.puzzles.hanoi_strangers import Strangers
from vgen_eval_plugins.video.puzzles.seeing import HUES, Bench, Blob, find_blobs, mask_of, to_hsv

if TYPE_CHECKING:
    from numpy.typing import NDArray

    RGB = NDArray[np.uint8]

__all__ = ["HanoiStacks", "HanoiStacksOptions"]

_LEAST = 0.0004
"""Part of the picture below which a patch of colour is no disc."""


class HanoiStacksOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is taken for a disc; areas as parts of the disc's in the first picture."""

    max_size: Annotated[
        float, msgspec.Meta(description="Area above which it is two that touch.", ge=1)
    ] = 1.7
    min_size: Annotated[
        float,
        msgspec.Meta(
            description="Least area of a disc, the first or a second one of its colour.", gt=0, le=1
        ),
    ] = 0.45
    foreign: Annotated[
        float,
        msgspec.Meta(
            description="Least area of a thing that was not there, as a part of the smallest's.",
            gt=0,
        ),
    ] = 0.35


class HanoiStacks:
    """Video -> where each disc was, frame by frame, and how many there were too many.

    A disc is the part of its colour (red, yellow, green, cyan, blue, magenta) that the input
    picture shows. Looked at are all frames of a video of up to 900, else 900 spread evenly over
    it, each at the size of the input picture (its long side 192 to 512 pixels), moved back by what
    the camera shook. A second part of a colour, or a part twice as large, is a disc that appeared;
    so is a thing of any colour that was not there, of the size of a disc. Undecodable: no frames.
    What it is worth, `hanoi_rules` says.
    """

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "puzzle"
    Options: ClassVar[type[msgspec.Struct]] = HanoiStacksOptions

    def __init__(self, options: HanoiStacksOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """Stacks in pixels of the original picture; flags as the clip's."""
        clip = open_answer(answer)
        bench = Bench(scene)
        discs = self._discs(bench.first)
        if not discs:
            raise Undecodable("the input picture shows no disc of a known colour")
        strangers = Strangers(bench.first, discs.values())
        times, points, extra = [], [], []
        for time, picture in bench.frames(clip):
            found, more = self._read(picture, discs, strangers)
            times.append(time)
            points += found
            extra.append(more)
        seen = [not np.isnan(x) for x, _ in points]
        stacks = Stacks(
            times=np.array(times), colours=tuple(discs), points=bench.restore(points),
            extra=np.array(extra, np.int64),
        )  # fmt: skip
        summary = {
            **clip.summary(), "looked_at": len(times), "discs": list(discs),
            "seen": [sum(seen[k :: len(discs)]) for k in range(len(discs))],
            "extra": int((stacks.extra > 0).sum()),
        }  # fmt: skip
        return Prediction(value=stacks, flags=clip.flags, summary=summary)

    @staticmethod
    def _discs(first: RGB) -> dict[str, Blob]:
        """Colour -> the disc of it that the first picture shows."""
        found, hsv = {}, to_hsv(first)
        for colour in HUES:
            blobs = find_blobs(mask_of(hsv, colour), least=_LEAST * first[..., 0].size)
            if blobs:
                found[colour] = blobs[0]
        largest = max((blob[2] for blob in found.values()), default=0.0)
        return {colour: blob for colour, blob in found.items() if blob[2] > 0.1 * largest}

    def _read(
        self, picture: RGB, discs: Mapping[str, Blob], strangers: Strangers
    ) -> tuple[list[tuple[float, float]], int]:
        """x, y of each disc, NaN where it is not seen; things that are too many."""
        places: list[tuple[float, float]] = []
        known: list[Blob] = []
        extra, hsv = 0, to_hsv(picture)
        for colour, disc in discs.items():
            blobs = find_blobs(mask_of(hsv, colour), least=self.options.min_size * disc[2])
            extra += max(0, len(blobs) - 1)
            extra += int(bool(blobs) and blobs[0][2] > self.options.max_size * disc[2])
            places.append(blobs[0][:2] if blobs else (np.nan, np.nan))
            known += blobs[:1]
        least = self.options.foreign * min(disc[2] for disc in discs.values())
        return places, extra + len(strangers.find(picture, known, least=least))
