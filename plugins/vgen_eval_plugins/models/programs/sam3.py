"""SAM 3 of transformers: everything that a short text names, as one mask.

The text is the sample's field `query`, else the whole prompt; of one longer than the model reads
(32 tokens), the beginning. `options.config`: `threshold`, the
least score of an instance, and `mask_threshold`, that of a pixel; the defaults are transformers'.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from speaking import array, device_of, picture_of, place_of, read_config, speak  # type: ignore[import-not-found]

DEFAULTS = {"threshold": 0.3, "mask_threshold": 0.5}


def load(hello: Mapping[str, Any]) -> Any:
    """The model of the card's checkpoint, as a function of a request."""
    config = read_config(hello, DEFAULTS)
    place, revision = place_of(hello)

    import numpy as np
    import torch
    from transformers import Sam3Model, Sam3Processor

    device = device_of(hello)
    processor = Sam3Processor.from_pretrained(place, revision=revision)
    model = Sam3Model.from_pretrained(place, revision=revision).to(device).eval()
    most = model.config.text_config.max_position_embeddings

    def answer(request: Mapping[str, Any]) -> dict[str, str]:
        picture = picture_of(request)
        text = request["fields"].get("query") or request["prompt"]
        inputs = processor(images=picture, text=text, return_tensors="pt").to(device)
        for name in ("input_ids", "attention_mask"):
            tokens = inputs[name]
            if tokens.shape[1] > most:  # its last stays: the model looks for the end of the text
                inputs[name] = torch.cat([tokens[:, : most - 1], tokens[:, -1:]], dim=1)
        with torch.inference_mode():
            outputs = model(**inputs)
        size = [(picture.height, picture.width)]
        [found] = processor.post_process_instance_segmentation(outputs, target_sizes=size, **config)
        masks = np.asarray(found["masks"].cpu()).astype(bool)  # (N, H, W)
        return {"mask": array(masks.any(axis=0) if len(masks) else np.zeros(size[0], bool))}

    return answer


if __name__ == "__main__":
    speak(load, forms=("mask",), packages=("torch", "transformers"))
