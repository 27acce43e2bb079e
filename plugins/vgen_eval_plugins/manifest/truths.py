"""The truth of a line, as the families' metrics take it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.imaging import decode_depth, decode_image, decode_labels, decode_mask, decode_normals

from vgen_eval_plugins.counting.targets import CountTarget
from vgen_eval_plugins.manifest.lines import Line
from vgen_eval_plugins.manifest.options import DepthFiles, LabelFiles, NormalFiles, Options
from vgen_eval_plugins.manifest.questions import find_right
from vgen_eval_plugins.normals.frames import to_house
from vgen_eval_plugins.normals.vectors import normalise
from vgen_eval_plugins.quality.perception.targets import (
    AcceptedTexts,
    OptionTarget,
    letter_options,
)
from vgen_eval_plugins.quality.targets import Opinion
from vgen_eval_plugins.semantic.labels import LabelMap, from_colours, to_labels

__all__ = ["leave_open", "read_depth", "read_labels", "read_normals", "read_truth", "read_valid"]

Reader = Callable[[str], bytes]
Size = tuple[int, int]
"""(height, width) of the picture that the truth lies on."""
Scale = tuple[float, float]
"""Least and most of the scores, as the manifest has them."""


def read_truth(line: Line, options: Options, read: Reader, size: Size, scale: Scale) -> Any:
    """The target of a line; `read` gives a file's bytes.

    ValueError or Undecodable, with the reason, for a truth that is none for this picture.
    """
    target = options.target
    if target in ("count", "points"):
        return _count(line, size)
    if target == "score":
        return _opinion(line, scale, turned=options.score.better == "low")
    if target == "choice":
        return _option(line)
    if target == "answer":
        return AcceptedTexts(line.accepted)
    value = getattr(line, target)
    made = _MAPS[target](read(value), value, options)
    _check_size(made.labels if isinstance(made, LabelMap) else made, f"{target} {value}", size)
    return made


def read_valid(line: Line, read: Reader, size: Size) -> NDArray[np.bool_] | None:
    """bool (H, W): the pixels whose truth is known; None when the line names no such mask."""
    if line.valid is None:
        return None
    valid = decode_mask(read(line.valid), what=line.valid)
    _check_size(valid, f"valid {line.valid}", size)
    return valid


def leave_open(truth: Any, valid: NDArray[np.bool_] | None) -> Any:
    """The truth, with no value where `valid` is False: NaN in maps of floats, -1 in labels.

    An encoder sees nothing but the truth: what lies outside of its mask may not steer what a
    perfect answer looks like. Masks of things have no third value and stay as they are.
    """
    if valid is None:
        return truth
    if isinstance(truth, LabelMap):
        return msgspec.structs.replace(truth, labels=np.where(valid, truth.labels, np.int32(-1)))
    if isinstance(truth, np.ndarray) and truth.dtype.kind == "f":
        known = valid[:, :, None] if truth.ndim == 3 else valid
        return np.where(known, truth, truth.dtype.type(np.nan))
    return truth


def read_depth(data: bytes, what: str, options: DepthFiles) -> NDArray[np.float32]:
    """float32 (H, W) metres, NaN where there is no reading.

    No reading: what is not finite, zero and below, the values named `invalid` as the file holds
    them, and what lies outside of min_depth and max_depth.
    """
    # the values named are the file's own, so it is read without its scale
    raw = decode_depth(data, what=what, scale=options.scale and 1.0, key=options.key)
    # bounds are met in float64; numbers without a scale are exact in float32, which is faster
    depth = raw if options.scale in (None, 1.0) else raw * np.float64(options.scale)
    with np.errstate(invalid="ignore"):
        known = np.isfinite(depth) & (depth > 0)
        if options.min_depth is not None:
            known &= depth >= np.float64(options.min_depth)
        if options.max_depth is not None:
            known &= depth <= np.float64(options.max_depth)
    if options.invalid:
        known &= ~np.isin(raw, np.array(options.invalid, raw.dtype))
    metres = depth.astype(np.float32, copy=False)
    metres[~known] = np.nan
    return metres


def read_normals(data: bytes, what: str, options: NormalFiles) -> NDArray[np.float32]:
    """float32 (H, W, 3) unit vectors, x right, y up, z towards the camera; NaN where none."""
    return normalise(to_house(decode_normals(data, what=what), options.frame))


def read_labels(data: bytes, what: str, options: LabelFiles) -> LabelMap:
    """Label map (H, W) by the table of classes, -1 where a value is ignored."""
    if options.encoding == "colour":
        rgb = decode_image(data, what=what)
        return from_colours(rgb, options.table, ignore=options.ignore_colours)
    raw = decode_labels(data, what=what)
    return to_labels(raw, options.table, offset=options.offset, ignore=options.ignore)


_MAPS: Mapping[str, Callable[[bytes, str, Options], Any]] = {
    "depth": lambda data, what, options: read_depth(data, what, options.depth),
    "normals": lambda data, what, options: read_normals(data, what, options.normals),
    "labels": lambda data, what, options: read_labels(data, what, options.labels),
    "mask": lambda data, what, _options: decode_mask(data, what=what),
}


def _count(line: Line, size: Size) -> CountTarget:
    points = line.points
    if points is None:
        assert line.count is not None
        return CountTarget(line.count)
    places = np.array(points, np.float64).reshape(-1, 2)
    height, width = size
    outside = ~((places >= 0) & (places <= [width, height])).all(axis=1)
    if outside.any():
        raise ValueError(
            f"points: {places[outside][0].tolist()} lies outside the picture, {width}x{height}"
        )
    return CountTarget(len(points), places)


def _opinion(line: Line, scale: Scale, *, turned: bool) -> Opinion:
    """Higher is better: scores of which the low ones are better change their sign."""
    assert line.score is not None
    score, (low, high) = line.score, scale
    if turned:
        score, low, high = -score, -high, -low
    return Opinion(score, part=line.part or "", low=low, high=high)


def _option(line: Line) -> OptionTarget:
    assert line.options is not None
    assert line.choice is not None
    right = find_right(line.choice, line.options)
    assert right is not None  # told of when the line was read
    return OptionTarget(letter_options(line.options), right)


def _check_size(truth: NDArray[Any], what: str, size: Size) -> None:
    height, width = truth.shape[:2]
    if (height, width) != size:
        raise ValueError(f"{what} is {width}x{height}, the picture {size[1]}x{size[0]}")
