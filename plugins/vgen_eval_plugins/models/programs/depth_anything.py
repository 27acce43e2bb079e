"""Depth estimators of transformers (Depth Anything V2): relative inverse depth, larger is nearer.

`image`: the map in grey, near white, which every protocol for painted depth reads; 8 bits.
`depth_map`: float32 (H, W), affine in 1 / metre: a protocol whose decoder has `space: disparity`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from speaking import array, device_of, grey, picture_of, place_of, read_config, speak  # type: ignore[import-not-found]


def load(hello: Mapping[str, Any]) -> Any:
    """The model of the card's checkpoint, as a function of a request."""
    read_config(hello, {})
    place, revision = place_of(hello)

    import torch
    from transformers import AutoImageProcessor, AutoModelForDepthEstimation

    device = device_of(hello)
    processor = AutoImageProcessor.from_pretrained(place, revision=revision)
    model = AutoModelForDepthEstimation.from_pretrained(place, revision=revision)
    model = model.to(device).eval()

    def answer(request: Mapping[str, Any]) -> dict[str, str]:
        picture = picture_of(request)
        inputs = processor(images=picture, return_tensors="pt").to(device)
        with torch.inference_mode():
            outputs = model(**inputs)
        size = [(picture.height, picture.width)]
        [found] = processor.post_process_depth_estimation(outputs, target_sizes=size)
        depth = found["predicted_depth"].float().cpu().numpy()  # (H, W)
        form = request["form"]
        return {form: grey(depth) if form == "image" else array(depth)}

    return answer


if __name__ == "__main__":
    speak(load, forms=("image", "depth_map"), packages=("torch", "transformers"))
