"""Panes as pictures: uint8 RGB, and files of them."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from vgen_eval.errors import UsageError, nearest
from vgen_eval.imaging import encode_png, resize
from vgen_eval.viewer.drawing.bands import bands
from vgen_eval.viewer.drawing.fields import steps_of
from vgen_eval.viewer.drawing.legend import colours_of
from vgen_eval.viewer.drawing.maps import BY_KIND, HATCH_PERIOD, TABLES
from vgen_eval.viewer.drawing.numbers import (
    colour_directions,
    colour_numbers,
    hatch,
    reduce_colours,
)
from vgen_eval.viewer.drawing.overlays import DOTS, draw_classes, draw_marks, paper
from vgen_eval.viewer.drawing.ranges import Range, apart, range_of, shared_ranges
from vgen_eval.viewer.drawing.sheets import draw_bars, draw_film, draw_words
from vgen_eval.viewer.looking.records import Look, Shown
from vgen_eval.viewing import (
    Bars,
    ClassMap,
    Colour,
    Directions,
    Film,
    Picture,
    ScalarMap,
    Words,
)
from vgen_eval.wording import describe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["SCALES", "Style", "draw", "encode_png", "encode_webp"]

Scale = Literal["linear", "log", "inverse"]
SCALES: tuple[Scale, ...] = ("linear", "log", "inverse")
MOST_OFF = 4096
MOST = 1e30
"""Of the numbers of a style: sums and differences of such ones are numbers of float32."""
UNKNOWN = (240, 320)
"""(height, width) of marks on a picture that is not here."""
ENOUGH = 4
"""Numbers a side that stand behind a pixel of a picture that is made small."""
DENSE = 0.5
"""Part of a map that has numbers, below which each of them may be all that a pixel has."""
PATTERN = math.lcm(HATCH_PERIOD, DOTS)
"""Rows after which what is hatched or dotted begins anew."""


class Style(msgspec.Struct, frozen=True, kw_only=True):
    """How a pane is drawn, where the reader wants it another way."""

    map: str = ""
    """A name of `maps.TABLES`; "": by the pane's kind (viridis, diverging, inferno)."""
    low: float | None = None
    high: float | None = None
    """Ends of the colours; None: the shared range."""
    scale: Scale = "linear"
    """Of a map of numbers that are all above 0; linear for others."""
    off: tuple[int, ...] = ()
    """Classes that are hidden: the picture is seen there, or gray."""
    opacity: float | None = None
    """Of a map of classes over the picture; None: the pane's own."""

    @classmethod
    def read(cls, given: Mapping[str, str]) -> Style:
        """From an address's `map`, `lo`, `hi`, `scale`, `off` (ids with dots between), `opacity`.

        UsageError naming what a field cannot be.
        """
        name, scale = given.get("map", ""), given.get("scale", "") or "linear"
        if name and name not in TABLES:
            raise UsageError(f"map: no colours '{name[:40]}'.{nearest(name[:40], TABLES)}")
        if scale not in SCALES:
            raise UsageError(f"scale: '{scale[:40]}' is none.{nearest(scale[:40], SCALES)}")
        low, high = _number(given, "lo"), _number(given, "hi")
        if low is not None and high is not None and not low < high:
            raise UsageError(f"lo, hi: {low:g} is not below {high:g}")
        opacity = _number(given, "opacity")
        if opacity is not None and not 0 <= opacity <= 1:
            raise UsageError(f"opacity: {opacity:g} is not from 0 to 1")
        off = [part for part in given.get("off", "").split(".") if part]
        if len(off) > MOST_OFF or not all(part.isascii() and part.isdigit() for part in off):
            raise UsageError("off: ids of classes with dots between wanted: 3.17")
        ids = tuple(sorted({int(part[:9]) for part in off}))
        return cls(map=name, low=low, high=high, scale=scale, off=ids, opacity=opacity)

    def pairs(self) -> list[tuple[str, str]]:
        """What an address says of it, defaults left out."""
        given = {
            "map": self.map,
            "lo": "" if self.low is None else f"{self.low:.9g}",
            "hi": "" if self.high is None else f"{self.high:.9g}",
            "scale": "" if self.scale == "linear" else self.scale,
            "off": ".".join(map(str, self.off)),
            "opacity": "" if self.opacity is None else f"{self.opacity:.3g}",
        }
        return [(name, value) for name, value in given.items() if value]


def _number(given: Mapping[str, str], name: str) -> float | None:
    said = given.get(name, "")
    if not said:
        return None
    try:
        number = float(said)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"{name}: '{said[:40]}' is no number")
    if abs(number) > MOST:
        raise UsageError(f"{name}: {number:g} is too large: at most {MOST:g}")
    return number


def draw(
    shown: Shown,
    look: Look,
    *,
    style: Style | None = None,
    ranges: Mapping[str, Range] | None = None,
    long_side: int | None = None,
) -> NDArray[np.uint8]:
    """The pane as uint8 RGB (H, W, 3), at its own size, or reduced to `long_side`.

    Never enlarged. `ranges`: as `shared_ranges` gives them; None: those of `look` alone.
    Words and bars are drawn as a card. Always gives a picture.
    """
    style = style or Style()
    body, title = shown.pane.body, shown.pane.title
    if isinstance(body, Words):
        return draw_words(body, title, long_side)
    if isinstance(body, Bars):
        return draw_bars(body, title, long_side)
    if isinstance(body, Film):
        try:
            return draw_film(body, title, long_side)
        except Exception as exc:  # the library of videos raises its own errors
            return draw_words(Words(text=f"no frames: {describe(exc)}"), title, long_side)
    height, width = _fit(shown, long_side)
    if isinstance(body, Picture):
        return resize(body.image.array, height=height, width=width, kind="photo")
    if isinstance(body, ScalarMap | Directions):
        return _draw_map(shown, look, style, ranges, height, width)
    under = _under(look, height, width)
    if isinstance(body, ClassMap):
        return _draw_classes(body, colours_of(shown, look), under, style, height, width)
    base = paper(height, width) if under is None else under
    scale = (width / max(1, shown.width), height / max(1, shown.height))
    return draw_marks(body.marks, base, scale=scale)


def _fit(shown: Shown, long_side: int | None) -> tuple[int, int]:
    """(height, width) of the picture that is made."""
    height, width = (shown.height, shown.width) if shown.width else UNKNOWN
    longest = max(height, width)
    if long_side is None or longest <= long_side:
        return height, width
    return max(1, round(height * long_side / longest)), max(1, round(width * long_side / longest))


def _under(look: Look, height: int, width: int) -> NDArray[np.uint8] | None:
    """The input picture at that size."""
    picture = look.picture
    if picture is None or not isinstance(picture.pane.body, Picture):
        return None
    return resize(picture.pane.body.image.array, height=height, width=width, kind="photo")


def _draw_classes(
    body: ClassMap, colours: Sequence[Colour], under: NDArray[np.uint8] | None, style: Style,
    height: int, width: int,
) -> NDArray[np.uint8]:  # fmt: skip
    import numpy as np

    opacity = body.opacity if style.opacity is None else style.opacity
    ids = resize(body.ids, height=height, width=width, kind="labels")
    rgb = np.empty((height, width, 3), np.uint8)
    for rows in bands(height, width, step=PATTERN):
        part = msgspec.structs.replace(body, ids=ids[rows])
        rgb[rows] = draw_classes(
            part, colours, None if under is None else under[rows], height=rows.stop - rows.start,
            width=width, off=style.off, opacity=opacity,
        )  # fmt: skip
    return rgb


def _draw_map(
    shown: Shown, look: Look, style: Style, ranges: Mapping[str, Range] | None, height: int,
    width: int,
) -> NDArray[np.uint8]:  # fmt: skip
    import numpy as np

    body: Any = shown.pane.body
    values = _thin(body.values, height, width)
    colour = _colours(shown, look, style, ranges)
    rgb = np.empty((*values.shape[:2], 3), np.uint8)
    is_there = np.empty(values.shape[:2], np.bool_)
    for rows in bands(*values.shape[:2]):
        rgb[rows], is_there[rows] = colour(values[rows])
    rgb, is_there = reduce_colours(rgb, is_there, height=height, width=width)
    if not is_there.all():
        for rows in bands(height, width, step=PATTERN):
            is_none = ~is_there[rows]
            rgb[rows][is_none] = hatch(*is_none.shape)[is_none]
    return rgb


def _colours(
    shown: Shown, look: Look, style: Style, ranges: Mapping[str, Range] | None
) -> Callable[[NDArray[Any]], tuple[NDArray[np.uint8], NDArray[np.bool_]]]:
    """What makes colours of some of the map's numbers, and tells where there are none."""
    body: Any = shown.pane.body
    if isinstance(body, Directions):
        return colour_directions
    known = shared_ranges([look]) if ranges is None else ranges
    low, high = range_of(shown, known) or (0.0, 1.0)
    ends = apart(
        low if style.low is None else style.low, high if style.high is None else style.high
    )
    return partial(
        colour_numbers, ends=ends, name=style.map or BY_KIND[body.kind], scale=style.scale,
        reverse=body.reverse, steps=steps_of(body),
    )  # fmt: skip


def _thin(values: NDArray[Any], height: int, width: int) -> NDArray[Any]:
    """Of a map many times larger than its picture, numbers enough to take means of."""
    import numpy as np

    step = min(values.shape[0] // height, values.shape[1] // width)
    if step < 2 * ENOUGH or not np.isfinite(values).mean() > DENSE:
        return values
    rows, columns = (min(side, part * ENOUGH) for side, part in zip(
        values.shape[:2], (height, width), strict=True))  # fmt: skip
    return resize(values, height=rows, width=columns, kind="labels")


def encode_webp(array: NDArray[Any], *, lossless: bool = False) -> bytes:
    """A WebP file of uint8 (H, W, 3), quality 75; `lossless` for flat colours and words."""
    import PIL.Image

    buffer = io.BytesIO()
    # method 2 of 6: at thumbnails' sizes half the time of 4, for a few per cent of bytes
    PIL.Image.fromarray(array).save(buffer, format="WEBP", quality=75, method=2, lossless=lossless)
    return buffer.getvalue()
