"""Requests, adapters and frames for the tests of diffusers_video."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import av
import numpy as np
from vgen_eval.cards.records import ModelCard
from vgen_eval.imaging import Image
from vgen_eval.types import Output, Request
from vgen_eval_plugins.models.video.adapter import DiffusersVideo
from vgen_eval_plugins.models.video.options import VideoOptions

__all__ = ["SHORT", "ask", "filmer", "first_frame", "frames", "make_card", "rate", "request"]

SHORT = {"num_inference_steps": 2, "num_frames": 9}


def first_frame(height: int = 48, width: int = 64, level: int = 128) -> Image:
    """A plain picture of that size."""
    return Image(np.full((height, width, 3), level, np.uint8))


def request(
    name: str = "a", *images: Image, prompt: str = "the ball rolls", seed: int = 0, **settings: Any
) -> Request:
    """A request under that id, with settings of a short film."""
    return Request(
        id=name, sample=name, attempt=0, family="video", form="video", prompt=prompt,
        images=images or (first_frame(),), settings=SHORT | settings, seed=seed,
    )  # fmt: skip


def make_card(**generation: Any) -> ModelCard:
    """A model card with those arguments of each call."""
    return ModelCard(
        model="tiny", adapter="diffusers_video", answers=("video",), licence="none",
        generation=generation,
    )  # fmt: skip


def filmer(
    folder: Path, *, device: str = "cpu", generation: Any = None, **options: Any
) -> DiffusersVideo:
    """The adapter over a folder, loaded."""
    card = None if generation is None else make_card(**generation)
    adapter = DiffusersVideo(VideoOptions(model=str(folder), **options), card=card, device=device)
    adapter.load()
    return adapter


def ask(adapter: DiffusersVideo, *requests: Request) -> dict[str, Output]:
    """Output by id of one call."""
    return {output.id: output for output in adapter.generate(requests)}


def frames(data: bytes) -> Any:
    """uint8 (frames, H, W, 3) of a file, by PyAV alone."""
    with av.open(io.BytesIO(data)) as container:
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])


def rate(data: bytes) -> float:
    """Frames a second that a file declares."""
    with av.open(io.BytesIO(data)) as container:
        return float(container.streams.video[0].average_rate)
