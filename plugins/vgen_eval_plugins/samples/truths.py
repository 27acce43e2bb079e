"""The truth of a sample: what its line says of a photograph, or what its scene is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.counting.targets import CountTarget
from vgen_eval_plugins.quality.description.targets import GoldenText
from vgen_eval_plugins.quality.perception.targets import AcceptedTexts, OptionTarget, letter_options
from vgen_eval_plugins.quality.targets import Opinion
from vgen_eval_plugins.raycast.render import Rendering
from vgen_eval_plugins.samples.annotations import (
    AnswersPhoto,
    CountingPhoto,
    CountingScene,
    Crop,
    DepthPhoto,
    DepthScene,
    DescriptionPhoto,
    Disparity,
    NormalsPhoto,
    NormalsScene,
    PerceptionPhoto,
    PhotoLine,
    QualityPhoto,
    ReferringPhoto,
    ReferringScene,
    SceneLine,
    SemanticPhoto,
    SemanticScene,
)
from vgen_eval_plugins.samples.polygons import draw_labels, draw_mask
from vgen_eval_plugins.samples.stereo import depth_from_disparity, normals_from_depth
from vgen_eval_plugins.semantic.labels import LabelMap

__all__ = ["measured_truth", "photo_truth", "points_of", "scene_truth"]


def points_of(line: PhotoLine) -> Iterator[NDArray[np.float64]]:
    """(N, 2) x, y: every list of points of a line, in pixels of the whole photograph."""
    if isinstance(line, CountingPhoto):
        yield np.array(line.points or (), np.float64).reshape(-1, 2)
    elif isinstance(line, ReferringPhoto):
        yield from (np.array(polygon, np.float64) for polygon in (*line.polygons, *line.holes))
    elif isinstance(line, SemanticPhoto):
        for layer in line.layers:
            polygons = (*layer.polygons, *layer.holes)
            yield from (np.array(polygon, np.float64) for polygon in polygons)


def photo_truth(line: PhotoLine, *, height: int, width: int, classes: tuple[str, ...]) -> Any:
    """The target of a line that needs no other file; `height` and `width` of the whole photo."""
    crop = line.crop or (0, 0, height, width)
    if isinstance(line, CountingPhoto):
        return _count(line, crop)
    if isinstance(line, ReferringPhoto):
        return _cut(draw_mask(line.polygons, line.holes, height=height, width=width), crop)
    if isinstance(line, SemanticPhoto):
        labels = draw_labels(line.layers, line.rest, classes, height=height, width=width)
        return LabelMap(_cut(labels, crop), classes)
    if isinstance(line, QualityPhoto):
        score = float(line.levels - line.level)
        return Opinion(score, part=line.series, high=float(line.levels))
    if isinstance(line, PerceptionPhoto):
        options = letter_options(line.options)
        (right,) = (letter for letter, text in options.items() if text == line.answer)
        return OptionTarget(options, right)
    if isinstance(line, AnswersPhoto):
        return AcceptedTexts(line.answers)
    if isinstance(line, DescriptionPhoto):
        return GoldenText(line.golden)
    raise TypeError(f"no truth is known for {type(line).__name__}")


def measured_truth(line: DepthPhoto, disparity: NDArray[np.float32]) -> NDArray[np.float32]:
    """Depth (H, W) in metres or, of a NormalsPhoto, normals (H, W, 3); NaN where unknown.

    Normals are derived on the whole photograph, so that a crop loses none at its own border.
    """
    stereo: Disparity = line.disparity
    truth = depth_from_disparity(
        disparity, focal_px=stereo.focal_px, baseline_mm=stereo.baseline_mm, doffs=stereo.doffs
    )
    if isinstance(line, NormalsPhoto) and stereo.principal_px is not None:
        truth = normals_from_depth(
            truth, focal_px=stereo.focal_px, principal_px=stereo.principal_px
        )
    return truth if line.crop is None else _cut(truth, line.crop)


def scene_truth(line: SceneLine, rendering: Rendering, *, classes: tuple[str, ...]) -> Any:
    """The target of a line about a scene: exact, but for the float32 of depth and normals."""
    if isinstance(line, CountingScene):
        points = rendering.points(line.label)
        return CountTarget(len(points), points)
    if isinstance(line, ReferringScene):
        return rendering.mask(line.objects)
    if isinstance(line, DepthScene):
        return rendering.depth.astype(np.float32)
    if isinstance(line, NormalsScene):
        return rendering.normals.astype(np.float32)
    if isinstance(line, SemanticScene):
        return LabelMap(rendering.labels(classes, names=line.classes), classes)
    raise TypeError(f"no truth is known for {type(line).__name__}")


def _count(line: CountingPhoto, crop: Crop) -> CountTarget:
    """The count, and the points within the crop, whose pixels' centres are whole numbers."""
    if line.points is None:
        return CountTarget(line.count)
    points = np.array(line.points, np.float64).reshape(-1, 2)
    if line.crop is not None:
        top, left, height, width = crop
        points = points - [left, top]
        points = points[((points >= -0.5) & (points < [width - 0.5, height - 0.5])).all(axis=1)]
    return CountTarget(len(points), points)


def _cut(truth: NDArray[Any], crop: Crop) -> Any:
    top, left, height, width = crop
    return np.ascontiguousarray(truth[top : top + height, left : left + width])
