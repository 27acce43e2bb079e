"""CLIP of transformers: chooses among words by how well a sentence with each fits the picture.

The answer is the log of the softmax over the choices. `options.config`: `template`, the sentence,
in which {choice} stands for the word. The prompt is not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from speaking import device_of, picture_of, place_of, read_config, speak  # type: ignore[import-not-found]

DEFAULTS = {"template": "a photo of {choice}"}


def load(hello: Mapping[str, Any]) -> Any:
    """The model of the card's checkpoint, as a function of a request."""
    config = read_config(hello, DEFAULTS)
    if "{choice}" not in config["template"]:
        raise ValueError("options.config.template holds no {choice}")
    place, revision = place_of(hello)

    import torch
    from transformers import CLIPModel, CLIPProcessor

    device = device_of(hello)
    processor = CLIPProcessor.from_pretrained(place, revision=revision)
    model = CLIPModel.from_pretrained(place, revision=revision).to(device).eval()

    def answer(request: Mapping[str, Any]) -> dict[str, dict[str, float]]:
        choices = request["choices"]
        texts = [config["template"].replace("{choice}", choice) for choice in choices]
        inputs = processor(
            text=texts, images=picture_of(request), return_tensors="pt", padding=True,
            truncation=True,
        ).to(device)  # fmt: skip
        with torch.inference_mode():
            scores = model(**inputs).logits_per_image[0].float()
        found = torch.log_softmax(scores, dim=0).tolist()
        return {"choice": dict(zip(choices, found, strict=True))}

    return answer


if __name__ == "__main__":
    speak(load, forms=("choice",), packages=("torch", "transformers"))
