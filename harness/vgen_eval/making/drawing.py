"""Truths, answers and predictions as pictures, by what they are made of, never by family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.imaging import Colour, resize
from vgen_eval.wording import plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    RGB = NDArray[np.uint8]

__all__ = ["LONG_SIDE", "Drawing", "draw"]

LONG_SIDE = 480
"""Pixels at most, so that a page of twelve pictures stays small."""
NOTHING: Colour = (96, 64, 112)
"""What has no value: a colour that no grey ramp holds."""
DOT: Colour = (255, 0, 64)
MOST_CLASSES = 24
MOST_TEXT = 600
_SOFT = 0.01


class Drawing(msgspec.Struct, frozen=True, kw_only=True):
    """A picture, what it shows in words, and what its colours mean."""

    picture: Any = None
    """uint8 (H, W, 3), None for what is words alone."""
    caption: str = ""
    legend: tuple[tuple[Colour, str], ...] = ()


def draw(value: Any, photo: RGB | None, *, colours: Mapping[str, Colour] | None = None) -> Drawing:
    """The drawing of any target, answer or prediction.

    bool (H, W) is white on black; whole numbers (H, W) are classes; floats (H, W) a grey ramp
    between their percentiles 1 and 99; floats (H, W, 3) components from -1 to 1; uint8 (H, W, 3)
    is a picture; (N, 2) are points on `photo`. Of a record, its first array is drawn and its
    words are said. `colours`: class -> colour, for records that name their classes.
    """
    import numpy as np

    if isinstance(value, msgspec.Struct):
        return _draw_record(value, photo, colours or {})
    if not isinstance(value, np.ndarray):
        return Drawing(caption=_say(value))
    if value.ndim == 2 and value.shape[1] == 2 and value.dtype.kind in "fi" and photo is not None:
        return _draw_points(value, photo)
    if value.ndim == 3 and value.shape[2] in (3, 4) and value.dtype == np.uint8:
        return Drawing(picture=_shrink(value[:, :, :3], "photo"), caption=_size(value))
    small = _shrink(value, "labels") if value.ndim in (2, 3) and value.size else value
    if value.ndim == 2 and value.dtype == np.bool_ and value.size:
        return _draw_mask(small, value)
    if value.ndim == 2 and value.dtype.kind in "iu" and value.size:
        return _draw_classes(small, (), {}, _size(value))
    if value.ndim == 2 and value.dtype.kind == "f" and value.size:
        return _draw_ramp(small, value)
    if value.ndim == 3 and value.shape[2] == 3 and value.dtype.kind == "f" and value.size:
        return _draw_vectors(small, value)
    return Drawing(caption=f"{value.dtype} {value.shape}")


def _draw_record(
    record: msgspec.Struct, photo: RGB | None, colours: Mapping[str, Colour]
) -> Drawing:
    import numpy as np

    fields = {name: getattr(record, name) for name in record.__struct_fields__}
    arrays = {name: v for name, v in fields.items() if isinstance(v, np.ndarray)}
    names = next((v for v in fields.values() if _are_names(v)), ())
    words = [
        f"{name} {v}"
        for name, v in fields.items()
        if isinstance(v, (str, int, float)) and not isinstance(v, bool) and v != ""
    ]
    if not arrays:
        return Drawing(caption=_shorten(", ".join([*words, *_listed(fields)])))
    array = next(iter(arrays.values()))
    if array.ndim == 2 and array.dtype.kind in "iu" and array.size and array.shape[1] != 2:
        drawn = _draw_classes(_shrink(array, "labels"), names, colours, _size(array))
    else:
        drawn = draw(array, photo)
    return msgspec.structs.replace(drawn, caption=", ".join(filter(None, [*words, drawn.caption])))


def _listed(fields: Mapping[str, Any]) -> list[str]:
    """Lists of words and tables of them: options, texts that are accepted."""
    found = []
    for name, value in fields.items():
        if isinstance(value, Mapping) and value:
            found.append(f"{name}: " + ", ".join(f"{k} {v}" for k, v in value.items()))
        elif _are_names(value):
            found.append(f"{name}: " + ", ".join(value))
    return found


def _are_names(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and all(isinstance(v, str) for v in value)


def _draw_mask(small: Any, mask: Any) -> Drawing:
    import numpy as np

    grey = small.astype(np.uint8) * np.uint8(255)
    share = float(mask.mean())
    return Drawing(
        picture=np.repeat(grey[:, :, None], 3, axis=2), caption=f"{_size(mask)}, {share:.1%} white"
    )


def _draw_ramp(small: Any, full: Any) -> Drawing:
    import numpy as np

    known = np.isfinite(full)
    share = 1 - float(known.mean())
    if not known.any():
        return Drawing(picture=_flat(small.shape, NOTHING), caption=f"{_size(full)}, no value")
    low, high = (float(v) for v in np.percentile(full[known], [100 * _SOFT, 100 - 100 * _SOFT]))
    with np.errstate(invalid="ignore", over="ignore"):
        level = np.clip((small.astype(np.float64) - low) / ((high - low) or 1.0), 0, 1)
    grey = np.where(np.isfinite(small), np.nan_to_num(level) * 255, 0).astype(np.uint8)
    picture = np.repeat(grey[:, :, None], 3, axis=2)
    picture[~np.isfinite(small)] = NOTHING
    legend: list[tuple[Colour, str]] = [
        ((0, 0, 0), f"black: {low:.4g}"),
        ((255, 255, 255), f"white: {high:.4g}"),
    ]
    if share:
        legend.append((NOTHING, f"no value, {share:.1%}"))
    span = f"{float(full[known].min()):.4g} to {float(full[known].max()):.4g}"
    caption = f"{_size(full)}, {span}, bright is larger"
    return Drawing(picture=picture, caption=caption, legend=tuple(legend))


def _draw_vectors(small: Any, full: Any) -> Drawing:
    import numpy as np

    known = np.isfinite(small).all(axis=2)
    share = 1 - float(np.isfinite(full).all(axis=2).mean())
    with np.errstate(invalid="ignore"):
        picture = np.clip(np.nan_to_num(small) * 127.5 + 127.5, 0, 255).round().astype(np.uint8)
    picture[~known] = NOTHING
    legend = ((NOTHING, f"no value, {share:.1%}"),) if share else ()
    caption = f"{_size(full)}, x y z from -1 to 1 as red green blue"
    return Drawing(picture=picture, caption=caption, legend=legend)


def _draw_classes(
    small: Any, names: Sequence[str], colours: Mapping[str, Colour], caption: str
) -> Drawing:
    import numpy as np

    values, counts = np.unique(small, return_counts=True)
    picture = _flat(small.shape, NOTHING)
    legend: list[tuple[Colour, str]] = []
    order = np.argsort(-counts, kind="stable")
    for value, count in zip(values[order].tolist(), counts[order].tolist(), strict=True):
        name = names[value] if 0 <= value < len(names) else f"{value}"
        colour = NOTHING if value < 0 else colours.get(name, _any_colour(value))
        picture[small == value] = colour
        legend.append((colour, f"{'no class' if value < 0 else name}, {count / small.size:.1%}"))
    if len(legend) > MOST_CLASSES:
        caption += f", {plural(len(legend) - MOST_CLASSES, 'more class', 'more classes')}"
    return Drawing(picture=picture, caption=caption, legend=tuple(legend[:MOST_CLASSES]))


def _draw_points(points: Any, photo: RGB) -> Drawing:
    import cv2
    import numpy as np

    shown = _shrink(photo, "photo")
    picture = np.ascontiguousarray(shown).copy()
    scale = shown.shape[1] / photo.shape[1]
    radius = max(3, round(max(shown.shape[:2]) / 120))
    for x, y in np.asarray(points, np.float64) * scale:
        centre = (round(float(np.clip(x, -99, 9999))), round(float(np.clip(y, -99, 9999))))
        cv2.circle(picture, centre, radius + 1, (255, 255, 255), -1, cv2.LINE_AA)
        cv2.circle(picture, centre, radius, DOT, -1, cv2.LINE_AA)
    return Drawing(picture=picture, caption=f"{plural(len(points), 'point')}")


def _shrink(array: Any, kind: Any) -> Any:
    height, width = array.shape[:2]
    scale = LONG_SIDE / max(height, width)
    if scale >= 1:
        return array
    rows, columns = max(1, round(height * scale)), max(1, round(width * scale))
    return resize(array, height=rows, width=columns, kind=kind)


def _flat(shape: tuple[int, ...], colour: Colour) -> Any:
    import numpy as np

    picture = np.empty((*shape[:2], 3), np.uint8)
    picture[:] = colour
    return picture


def _any_colour(value: int) -> Colour:
    """A colour for a class that has none: hues a golden angle apart."""
    import colorsys

    red, green, blue = colorsys.hsv_to_rgb(value * 0.618034 % 1, 0.55 + 0.3 * (value % 2), 0.95)
    return round(red * 255), round(green * 255), round(blue * 255)


def _size(array: Any) -> str:
    return f"{array.shape[1]} x {array.shape[0]}"


def _say(value: Any) -> str:
    return _shorten(str(value))


def _shorten(text: str) -> str:
    return text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + "..."
