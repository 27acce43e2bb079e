"""A table of colours that stand for depths: its options, its numbers, its words for prompts."""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.colours import AnyColour, as_code, as_hex, as_rgb
from vgen_eval_plugins.depth.maps import Linear

__all__ = ["DepthColoursOptions", "Table"]

NAMED_STOPS = 9
"""A prompt names this many stops of a longer table."""

Metres = Annotated[float, msgspec.Meta(ge=1e-6, le=1e6)]
"""What 1 / depth and its square can be taken of."""
Distance = Annotated[float, msgspec.Meta(gt=0, le=442)]
"""From black to white it is 441.7."""

Floats = NDArray[np.float64]


class DepthCurve(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """f(d) = 1 - (1 - d / (lambda c)) ^ (lambda + 1): 0 at no distance, 1 at infinity.

    Vision Banana (arXiv 2604.20329) has lambda -3 and c 10/3, so that f = 1 - (1 + d / 10) ^ -2.
    """

    power: Annotated[float, msgspec.Meta(description="lambda.", lt=-1, ge=-100)] = -3.0
    scale: Annotated[float, msgspec.Meta(description="c, in metres.", gt=0, le=1e6)] = 10 / 3
    cap: Annotated[
        float, msgspec.Meta(description="Metres that the last colour, infinity, is read as.", gt=0)
    ] = 1000.0

    def share_of(self, depth: Floats) -> Floats:
        """0..1 along the line, of metres."""
        return np.asarray(1 - (1 - depth / (self.power * self.scale)) ** (self.power + 1))

    def depth_at(self, share: Floats) -> Floats:
        """Metres, `cap` at most, of 0..1 along the line."""
        rest = np.maximum(1 - share, self.share_left)
        found = (1 - rest ** (1 / (self.power + 1))) * self.power * self.scale
        return np.clip(found, 0.0, self.cap) + 0.0  # no minus before 0

    @property
    def share_left(self) -> float:
        """What is left of the line beyond the cap."""
        return float(1 - self.share_of(np.array(self.cap)))


class DepthColoursOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The table; one home for the decoder, the encoder and the prompt."""

    colours: Annotated[
        tuple[AnyColour, ...],
        msgspec.Meta(
            description="Colours in order, each [r, g, b] or '#rrggbb'; between two, a straight "
            "line in RGB.",
            min_length=2,
            max_length=4096,
        ),
    ]
    values: Annotated[
        tuple[Metres, ...] | None,
        msgspec.Meta(
            description="Metres at each colour, rising or falling throughout; null: a relative "
            "map, the first colour the farthest."
        ),
    ] = None
    space: Annotated[
        Linear,
        msgspec.Meta(description="Between two colours, linear in depth or in 1 / depth."),
    ] = "depth"
    curve: Annotated[
        DepthCurve | None,
        msgspec.Meta(
            description="Metres by a power law along the whole line of colours, in place of values."
        ),
    ] = None
    max_distance: Annotated[
        Distance | None,
        msgspec.Meta(
            description="Distance in RGB from the table beyond which a pixel is left open; null: "
            "none is."
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.curve is not None and (self.values is not None or self.space != "depth"):
            raise ValueError("a curve says metres by itself: no values and no space beside it")
        if self.values is None:
            return
        if len(self.values) != len(self.colours):
            raise ValueError(f"{len(self.values)} values for {len(self.colours)} colours")
        steps = np.diff(self.values)
        if not ((steps > 0).all() or (steps < 0).all()):
            raise ValueError("values must rise throughout or fall throughout")


class Table:
    """The numbers of a table of colours."""

    def __init__(self, options: DepthColoursOptions) -> None:
        self.options = options
        self.stops = np.array([as_rgb(colour) for colour in options.colours], np.float64)

    @property
    def is_metric(self) -> bool:
        """Does it say metres?"""
        return self.options.values is not None or self.options.curve is not None

    def depth_at(self, places: Floats) -> Floats:
        """What places on the polyline of colours stand for: metres, or 0..1 in a relative table."""
        last = len(self.stops) - 1
        if self.options.curve is not None:
            return self.options.curve.depth_at(places / last)
        if self.options.values is None:
            return places / last
        values = np.array(self.options.values)
        inverse = self.options.space == "disparity"
        read = np.interp(places, np.arange(len(values)), 1 / values if inverse else values)
        return np.asarray(1 / read if inverse else read)

    def place_of(self, numbers: Floats) -> Floats:
        """Places on the polyline, of metres (what the table does not reach: its end) or of 0..1."""
        last = len(self.stops) - 1
        if self.options.curve is not None:
            return self.options.curve.share_of(numbers) * last
        if self.options.values is None:
            return np.clip(numbers, 0, 1) * last
        values, at = np.array(self.options.values), np.arange(last + 1)
        if self.options.space == "disparity":
            numbers, values = 1 / numbers, 1 / values
        if values[0] > values[-1]:
            values, at = values[::-1], at[::-1]
        return np.interp(numbers, values, at)

    def colour_at(self, places: Floats) -> NDArray[np.uint8]:
        """uint8 (..., 3): the colours of places, rounded."""
        at = np.arange(len(self.stops))
        channels = [np.interp(places, at, self.stops[:, channel]) for channel in range(3)]
        return np.rint(np.stack(channels, axis=-1)).astype(np.uint8)

    def in_words(self) -> str:
        """ "#0000ff = 1 m, #ff0000 = 8 m": the stops, of a long table some."""
        last = len(self.stops) - 1
        count = min(len(self.stops), NAMED_STOPS)
        chosen = sorted({round(i * last / (count - 1)) for i in range(count)})
        words = [as_hex(as_code(self.options.colours[i])) for i in chosen]
        if not self.is_metric:
            return ", ".join([f"{words[0]} (farthest)", *words[1:-1], f"{words[-1]} (nearest)"])
        metres = self.depth_at(np.array(chosen, np.float64)).tolist()
        told = [f"{word} = {m:.3g} m" for word, m in zip(words, metres, strict=True)]
        if self.options.curve is not None:
            told[-1] = f"{words[-1]} = as far as can be seen"
        return ", ".join(told)
