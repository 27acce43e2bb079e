"""Requests and adapters for the tests of diffusers_editor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from vgen_eval.cards.records import ModelCard
from vgen_eval.imaging import Image
from vgen_eval.types import Output, Request
from vgen_eval_plugins.models.editor.adapter import DiffusersEditor
from vgen_eval_plugins.models.editor.options import EditorLora, EditorOptions

__all__ = ["KLEIN", "QWEN", "STEPS", "ask", "card", "editor", "picture", "read_loras", "request"]

STEPS = {"num_inference_steps": 2}
KLEIN = {**STEPS, "text_encoder_out_layers": [1, 2]}
QWEN = {**STEPS, "true_cfg_scale": 2.0, "negative_prompt": " "}


def picture(height: int = 64, width: int = 96, seed: int = 0) -> Image:
    """Noise of that size."""
    rng = np.random.default_rng(seed)
    return Image(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))


def request(
    name: str = "a", *images: Image, prompt: str = "paint it red", seed: int = 0, **settings: Any
) -> Request:
    """A request under that id; a picture of noise where none is given."""
    return Request(
        id=name, sample=name, attempt=0, family="referring", form="image", prompt=prompt,
        images=images or (picture(),), settings=settings, seed=seed,
    )  # fmt: skip


def card(**generation: Any) -> ModelCard:
    """A model card with those arguments of each call."""
    return ModelCard(
        model="tiny", adapter="diffusers_editor", answers=("image",), licence="none",
        generation=generation,
    )  # fmt: skip


def editor(
    folder: Path, *, device: str = "cpu", generation: Any = None, **options: Any
) -> DiffusersEditor:
    """The adapter over a folder, loaded."""
    given = None if generation is None else card(**generation)
    adapter = DiffusersEditor(
        EditorOptions(model=str(folder), **options), card=given, device=device
    )
    adapter.load()
    return adapter


def ask(adapter: DiffusersEditor, *requests: Request) -> dict[str, Output]:
    """Output by id of one call."""
    return {output.id: output for output in adapter.generate(requests)}


def read_loras(given: list[dict[str, Any]]) -> tuple[EditorLora, ...]:
    """The option `loras`."""
    return tuple(msgspec.convert(entry, EditorLora) for entry in given)
