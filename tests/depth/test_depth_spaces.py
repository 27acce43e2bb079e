"""A perfect map in one space under a fit in the other: what the ceiling of each codec is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skimage
from numpy.typing import NDArray
from vgen_eval.imaging import Image
from vgen_eval.types import NoOptions, Scene
from vgen_eval_plugins.depth.colours import DepthColours
from vgen_eval_plugins.depth.encoders import (
    DepthColoursEncoder,
    DepthMapEncoder,
    LuminanceDepthEncoder,
    LuminanceDisparityEncoder,
)
from vgen_eval_plugins.depth.luminance import Luminance
from vgen_eval_plugins.depth.metrics import AffineDepth
from vgen_eval_plugins.depth.native_map import DepthMapOptions, NativeDepth
from vgen_eval_plugins.depth.table import DepthColoursOptions

Map = NDArray[np.float32]


def motorcycle() -> Map:
    """Metres of Middlebury's motorcycle at the size that scikit-image ships, NaN where unknown."""
    path = Path(skimage.__file__).parent / "data" / "motorcycle_disp.npz"
    with np.load(path) as file:
        disparity = file["arr_0"].astype(np.float64)
    known = np.isfinite(disparity)
    depth = np.full(disparity.shape, np.nan, np.float32)
    depth[known] = 0.193001 * 994.978 / (disparity[known] + 31.086)
    return depth


def corridor() -> Map:
    """A floor that runs from 0.6 m to 9.9 m, with blocks standing on it."""
    rows, columns = np.mgrid[:240, :320]
    depth = 0.6 * 9.9 / (9.9 - (9.9 - 0.6) * (1 - rows / 239))
    depth[60:160, 40:110] = 3.0
    depth[100:210, 200:260] = 1.2
    depth[columns > 300] = np.nan
    return np.asarray(depth, np.float32)


SCENES = {"motorcycle": motorcycle, "corridor": corridor}


def scene_of(target: Map, side: float = 1.0) -> Scene:
    height, width = (round(length * side) for length in target.shape)
    return Scene(image=Image(np.zeros((height, width, 3), np.uint8)), size=target.shape[:2])


def score(encoder: Any, decoder: Any, target: Map, fit: Any, side: float = 1.0) -> dict[str, Any]:
    scene = scene_of(target, side)
    prediction = decoder.decode(encoder.encode(target, scene), scene)
    return AffineDepth(AffineDepth.Options(fit=fit)).update(prediction.value, target, None)


def grey_score(target: Map, drawn: str, fit: str) -> dict[str, Any]:
    encoder = {"depth": LuminanceDepthEncoder, "disparity": LuminanceDisparityEncoder}[drawn]
    return score(encoder(NoOptions()), Luminance(Luminance.Options()), target, fit)


@pytest.mark.parametrize("name", SCENES)
def test_grey_map_is_near_perfect_in_its_own_space(name: str) -> None:
    target = SCENES[name]()
    for drawn, fit in (("depth", "depth_lsq"), ("disparity", "disparity_lsq_clamped")):
        found = grey_score(target, drawn, fit)
        assert found["delta1"] == 1.0
        assert found["absrel"] <= 0.01
        assert (found["degenerate"], found["inverted"]) == (0, 0)


@pytest.mark.parametrize("name", SCENES)
def test_grey_map_is_clearly_worse_in_the_other_space(name: str) -> None:
    target = SCENES[name]()
    for drawn, own, other in (
        ("depth", "depth_lsq", "disparity_lsq_clamped"),
        ("disparity", "disparity_lsq_clamped", "depth_lsq"),
    ):
        crossed = grey_score(target, drawn, other)
        assert crossed["absrel"] > 5 * grey_score(target, drawn, own)["absrel"]
        assert crossed["inverted"] == 0
        if name == "corridor":  # over a wide range the fit's space decides, as on DIODE indoors
            assert crossed["absrel"] > 0.07
            assert crossed["delta1"] < 0.98


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("space", ["depth", "disparity"])
@pytest.mark.parametrize("fit", ["none", "depth_lsq", "disparity_lsq", "disparity_lsq_clamped"])
def test_arrays_are_perfect_under_every_fit(name: str, space: Any, fit: str) -> None:
    options = DepthMapOptions(space=space)
    found = score(DepthMapEncoder(options), NativeDepth(options), SCENES[name](), fit)
    assert (found["delta1"], found["open"]) == (1.0, 0)
    assert found["absrel"] < 1e-5


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("space", ["depth", "disparity"])
def test_colours_in_metres_need_no_fit(name: str, space: Any) -> None:
    options = DepthColoursOptions(
        colours=("#ff0000", "#ffff00", "#00ff00", "#00ffff", "#0000ff"),
        values=(0.5, 1, 2, 4, 12),
        space=space,
    )
    found = score(DepthColoursEncoder(options), DepthColours(options), SCENES[name](), "none")
    assert found["delta1"] == 1.0
    assert found["absrel"] <= 0.01


@pytest.mark.parametrize("side", [0.5, 1.5])
def test_codecs_hold_through_other_sizes(side: float) -> None:
    target = corridor()
    table = DepthColoursOptions(colours=("#ff0000", "#ffff00", "#00ff00"), values=(0.5, 2, 12))
    native = DepthMapOptions()
    for encoder, decoder, fit in (
        (LuminanceDepthEncoder(NoOptions()), Luminance(Luminance.Options()), "depth_lsq"),
        (LuminanceDisparityEncoder(NoOptions()), Luminance(Luminance.Options()), "disparity_lsq"),
        (DepthColoursEncoder(table), DepthColours(table), "none"),
        (DepthMapEncoder(native), NativeDepth(native), "none"),
    ):
        found = score(encoder, decoder, target, fit, side)
        assert found["delta1"] > 0.98
        assert found["absrel"] < 0.02
