"""Scenes with known geometry at the size that a release has, rendered once."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import msgspec
from vgen_eval_plugins.raycast.render import Rendering, render
from vgen_eval_plugins.raycast.scenes import Scene

SCENES = Path(__file__).parents[2] / "task_cards" / "samples" / "scenes.json"


@functools.cache
def view(place: int, height: int, width: int) -> Rendering:
    """The scene of that number, its camera widened or narrowed to the size."""
    scenes = json.loads(SCENES.read_text())
    scene = msgspec.convert(scenes[place % len(scenes)], Scene)
    camera = msgspec.structs.replace(
        scene.camera,
        width=width,
        height=height,
        focal_px=scene.camera.focal_px * height / scene.camera.height,
        principal_px=((width - 1) / 2, (height - 1) / 2),
    )
    return render(msgspec.structs.replace(scene, camera=camera))
