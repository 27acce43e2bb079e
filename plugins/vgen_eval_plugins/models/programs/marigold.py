"""Marigold pipelines of diffusers, depth and normals: which one, the checkpoint says.

Depth is affine-invariant. `image`: in grey, near white; `depth_map`: float32 (H, W), affine in
metres, far is large. `normal_map`: float32 (H, W, 3), x right, y up, z toward the camera.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from speaking import array, device_of, grey, picture_of, place_of, read_config, speak  # type: ignore[import-not-found]

DEFAULTS = {"num_inference_steps": None, "ensemble_size": 1, "processing_resolution": None}
"""Arguments of each call; null: what the checkpoint says."""
FORMS = {
    "MarigoldDepthPipeline": ("image", "depth_map"),
    "MarigoldNormalsPipeline": ("normal_map",),
}
LEAST = 1e-3
"""Added to every depth, so that the nearest is not 0, which would be no depth."""


def load(hello: Mapping[str, Any]) -> Any:
    """The pipeline of the card's checkpoint, as a function of a request."""
    config = read_config(hello, DEFAULTS)
    place, revision = place_of(hello)

    import numpy as np
    import torch
    from diffusers import DiffusionPipeline

    pipe = DiffusionPipeline.from_pretrained(place, revision=revision).to(device_of(hello))
    pipe.set_progress_bar_config(disable=True)
    kind = type(pipe).__name__
    if kind not in FORMS:
        raise ValueError(f"{place} holds {kind}, no Marigold pipeline of depth or normals")
    if pipe.config.get("prediction_type") == "disparity":
        raise ValueError(f"{place} predicts disparity, and this program speaks of depth")

    def answer(request: Mapping[str, Any]) -> dict[str, str]:
        form = request["form"]
        if form not in FORMS[kind]:
            raise ValueError(f"{kind} gives {', '.join(FORMS[kind])}, and no {form}")
        generator = torch.Generator().manual_seed(request["seed"])
        made = pipe(picture_of(request), generator=generator, output_type="np", **config)
        [found] = np.asarray(made.prediction, np.float32)  # (H, W, 1) or (H, W, 3)
        if form == "normal_map":
            return {form: array(found)}
        depth = found[..., 0]
        return {form: grey(-depth) if form == "image" else array(depth + LEAST)}

    return answer


if __name__ == "__main__":
    speak(load, forms=("image", "depth_map", "normal_map"), packages=("torch", "diffusers"))
