"""Reads depth from a picture painted with a table of colours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from vgen_eval.types import Prediction, Scene

from vgen_eval_plugins.depth.maps import DepthMap, Space, resize_map, summarise
from vgen_eval_plugins.depth.polyline import project, unique_colours
from vgen_eval_plugins.depth.table import DepthColoursOptions, Table
from vgen_eval_plugins.pictures import channel_range, read_painted

__all__ = ["DepthColours"]

CONSTANT_RANGE = 2

DRIFT_DISTANCE = 32.0
"""Distance in RGB from the table above which a pixel has none of its colours: compression stays
within some 15."""

DRIFT_SHARE = 0.1
"""Share of such pixels above which a picture was painted with another palette."""


class DepthColours:
    """Coloured picture -> depth: each pixel is taken for the nearest point of the table's line.

    The table is a polyline in RGB (Vision Banana, arXiv 2604.20329, walks the edges of the RGB
    cube); the projection onto it is exact, and of equally near segments the earlier one counts.
    Colours are read before the map is brought to the original's size: a mixture of two colours
    stands for anything but the mean of their depths.
    """

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "depth"
    Options: ClassVar[type[DepthColoursOptions]] = DepthColoursOptions

    def __init__(self, options: DepthColoursOptions) -> None:
        self.options = options
        self.table = Table(options)

    def fields(self, scene: Scene) -> Mapping[str, str]:  # noqa: ARG002
        """{depth_colours}: the table in words."""
        return {"depth_colours": self.table.in_words()}

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """DepthMap, float32 at `scene.size`, of uint8 (H, W, 3) RGB.

        Metres, or 0..1 where the table has no values. Undecodable when the answer is no picture or
        when no pixel is near enough to the table.
        """
        painted, flags = read_painted(answer, scene)
        if channel_range(painted) <= CONSTANT_RANGE:
            flags.append("constant")

        colours, index = unique_colours(painted)
        places, distances = project(colours, self.table.stops)
        numbers = self.table.depth_at(places).astype(np.float32)
        if self.options.max_distance is not None:
            numbers[distances > self.options.max_distance] = np.nan
        far = float(np.count_nonzero((distances > DRIFT_DISTANCE)[index]) / index.size)
        if far > DRIFT_SHARE:
            flags.append("palette_drift")

        values = resize_map(numbers[index], scene.size)
        space: Space = "depth" if self.table.is_metric else "relative"
        summary = summarise(values, space)
        summary |= {"far_fraction": round(far, 4), "fit": scene.fit}
        return Prediction(value=DepthMap(values, space), flags=tuple(flags), summary=summary)
