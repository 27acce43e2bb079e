"""Normals derived from depth recover the exact ones of a scene, away from its edges."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from vgen_eval_plugins.raycast.render import render
from vgen_eval_plugins.raycast.scenes import parse_scenes
from vgen_eval_plugins.samples.stereo import normals_from_depth

SCENES = parse_scenes(
    files("vgen_eval.task_cards").joinpath("samples/scenes.json").read_bytes(), file="scenes.json"
)


def errors(name: str, depth_type: type = np.float64) -> tuple[Any, Any]:
    """Angles in degrees, NaN where no normal is derived, and the pixels that no edge is near."""
    rendering = render(SCENES[name])
    camera = rendering.scene.camera
    derived = normals_from_depth(
        rendering.depth.astype(depth_type),
        focal_px=camera.focal_px,
        principal_px=camera.principal_px,
    )
    gap = np.linalg.norm(derived - rendering.normals, axis=2)
    angles = np.degrees(2 * np.arcsin(np.minimum(gap / 2, 1)))
    inner = np.zeros(gap.shape, bool)
    middle = rendering.objects[1:-1, 1:-1]
    around = [rendering.objects[1 + v : -1 + v or None, 1 + u : -1 + u or None]
              for v, u in ((0, 1), (0, -1), (1, 0), (-1, 0))]  # fmt: skip
    inner[1:-1, 1:-1] = (middle >= 0) & np.logical_and.reduce([middle == other for other in around])
    return angles, inner


@pytest.mark.parametrize("name", ["balls", "close_ball"])
def test_scene_normals_are_recovered_from_depth(name: str) -> None:
    angles, inner = errors(name)
    known = np.isfinite(angles)
    assert known[inner].mean() > 0.98
    found = angles[inner & known]
    assert np.median(found) < 0.02
    assert np.percentile(found, 99) < 1.0
    assert found.max() < 10  # where a ball turns away within a pixel


def test_planes_are_recovered_to_the_precision_of_depth() -> None:
    rendering = render(SCENES["corridor"])
    planes = np.isin(rendering.objects, range(5))
    for depth_type, room in ((np.float64, 1e-4), (np.float32, 0.15)):
        angles, inner = errors("corridor", depth_type)
        found = angles[inner & planes & np.isfinite(angles)]
        assert len(found) > 100_000
        assert found.max() < room


def test_a_depth_map_too_small_for_neighbours_has_no_normals() -> None:
    found = normals_from_depth(np.ones((2, 9)), focal_px=5.0, principal_px=(4.0, 1.0))
    assert found.shape == (2, 9, 3)
    assert np.isnan(found).all()
