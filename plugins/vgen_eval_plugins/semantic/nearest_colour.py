"""Reads classes from a picture painted in a palette: every pixel to its nearest colour."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.imaging import resize
from vgen_eval.types import Prediction, Scene

from vgen_eval_plugins.colours import AnyColour, Paint, as_code, as_hex, as_rgb, spell
from vgen_eval_plugins.pictures import RGB, read_painted
from vgen_eval_plugins.semantic.colour_table import ColourTable
from vgen_eval_plugins.semantic.labels import OPEN, LabelMap

__all__ = ["DRIFT_DISTANCE", "DRIFT_SHARE", "NearestColour", "NearestColourOptions"]

DRIFT_DISTANCE = 60.0
"""Distance in RGB to its nearest entry beyond which a pixel has drifted from the palette."""

DRIFT_SHARE = 0.2
"""Share of drifted pixels above which an answer is flagged: seams alone stay far below."""

DRIFT_PIXELS = 1 << 18

POLICY = "each pixel to its nearest entry, blended seams too"

Colour = AnyColour | Paint


class NearestColourOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The palette: known to the prompt, to the decoder and to the encoder."""

    palette: Annotated[
        dict[str, Colour],
        msgspec.Meta(
            description='Class -> "#rrggbb", [r, g, b] or {rgb: "#rrggbb", word: red}, in order.',
            min_length=1,
        ),
    ]
    void: Annotated[
        Colour | None,
        msgspec.Meta(description="Colour that stands for none of them; null: there is none."),
    ] = Paint("#000000", "black")
    max_distance: Annotated[
        Annotated[float, msgspec.Meta(ge=0, le=442)] | None,
        msgspec.Meta(description="RGB distance beyond which a pixel is left open."),
    ] = None

    def __post_init__(self) -> None:
        seen: dict[int, str] = {}
        named = list(self.palette.items())
        if self.void is not None:
            named.append(("void", self.void))
        for name, colour in named:
            code = as_code(colour)
            if code in seen:
                raise ValueError(f"'{seen[code]}' and '{name}' share the colour {as_hex(code)}")
            seen[code] = name


class NearestColour:
    """Picture -> label map: nearest pixel to the original's size, then nearest colour.

    Euclidean distance in RGB, ties to the earlier entry, the void colour last; void pixels are
    open. Nothing is smoothed: where two colours blend, the seam goes to whatever entry lies
    nearest, a third class if there is one between them; `max_distance` leaves such pixels open.
    Source: "Open-Source Image Editing Models Are Zero-Shot Vision Learners" (arXiv 2605.04566).
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "labels"
    Options: ClassVar[type[msgspec.Struct]] = NearestColourOptions

    def __init__(self, options: NearestColourOptions) -> None:
        self.options = options

    def fields(self, scene: Scene) -> Mapping[str, str]:  # noqa: ARG002
        """{palette}, "road: red (#ff0000); sky: ...", and {void}, "black (#000000)", if any."""
        entries = self.options.palette.items()
        words = {"palette": "; ".join(f"{name}: {spell(colour)}" for name, colour in entries)}
        if self.options.void is not None:
            words["void"] = spell(self.options.void)
        return words

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """LabelMap at `scene.size` from uint8 (H, W, 3) RGB; Undecodable for anything else.

        Flags: wrong_aspect; constant (one label everywhere); copied_input; palette_drift (over
        20 % of the pixels lie farther than 60 from every entry).
        """
        painted, flags = read_painted(answer, scene)
        height, width = scene.size
        restored = resize(painted, height=height, width=width, kind="labels")
        codes = self._table.look_up(restored)
        labels = _to_labels(codes, len(self.options.palette))
        low, high, _, _ = cv2.minMaxLoc(labels)
        if low == high:
            flags.append("constant")
        drift = self._drift(restored, codes)
        if drift > DRIFT_SHARE:
            flags.append("palette_drift")
        still_open = float(np.count_nonzero(labels == OPEN) / labels.size)
        return Prediction(
            value=LabelMap(labels, tuple(self.options.palette)),
            flags=tuple(flags),
            summary={
                "open_fraction": round(still_open, 6),
                "drift_fraction": round(drift, 4),
                "policy": POLICY,
                "fit": scene.fit,
            },
        )

    @cached_property
    def _table(self) -> ColourTable:
        entries = [as_rgb(colour) for colour in self.options.palette.values()]
        if self.options.void is not None:
            entries.append(as_rgb(self.options.void))
        return ColourTable(entries, max_distance=self.options.max_distance)

    def _drift(self, picture: RGB, codes: NDArray[Any]) -> float:
        """Share of drifted pixels; large pictures are read on evenly spaced rows."""
        step = max(1, codes.size // DRIFT_PIXELS)
        distance = self._table.distance(picture[::step], codes[::step])
        return float(np.count_nonzero(distance > DRIFT_DISTANCE) / distance.size)


def _to_labels(codes: NDArray[Any], classes: int) -> NDArray[np.int32]:
    """int32 labels of the table's codes: 0 and the void's code are open."""
    table = np.full(max(256, classes + 2), OPEN, np.int32)
    table[1 : classes + 1] = np.arange(classes)
    if codes.dtype == np.uint8:
        return np.asarray(cv2.LUT(codes, table[:256]))
    return np.asarray(table.take(codes))
