"""From a request to one call of a pipeline, and from its frames to an MP4 file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import CallError
from vgen_eval.types import Request
from vgen_eval.video import write_mp4

from vgen_eval_plugins.models.local.chatter import chatter_logged
from vgen_eval_plugins.models.local.devices import SEEDS, seed_generator
from vgen_eval_plugins.models.parts import sound
from vgen_eval_plugins.models.video.kinds import VideoKind
from vgen_eval_plugins.models.video.options import VideoOptions

__all__ = ["ROUNDED", "Film", "check_request", "make_film"]

ROUNDED = "frames_rounded"
"""Flag: the pipeline made another number of frames than it was asked for."""


class Film(msgspec.Struct, frozen=True):
    """What a pipeline made of one request."""

    data: bytes
    """An MP4 file."""
    seconds: float
    flags: tuple[str, ...] = ()


def check_request(kind: VideoKind, request: Request) -> None:
    """CallError for what the pipeline cannot be asked."""
    count = len(request.images)
    if count != 1:
        raise CallError(f"{kind.name} films one first frame, and the request has {count} pictures")


def make_film(
    pipe: Any, kind: VideoKind, options: VideoOptions, request: Request, *, device: str
) -> Film:
    """One call of the pipeline, and its frames as a file.

    CallError for what the pipeline says no to, and for frames that are not finite.
    """
    arguments = make_arguments(pipe, kind, options, request)
    with chatter_logged(), _seeded(request.seed, device):
        try:
            output = pipe(**arguments)
        except (ValueError, ZeroDivisionError) as exc:  # its own checks of what it is given
            raise CallError(f"{kind.name}: {exc}") from exc
    frames = read_frames(output, kind)
    fps = kind.fps(options.fps)
    asked = arguments.get(kind.count) or kind.arguments[kind.count]
    return Film(
        data=write_mp4(frames, fps=fps, crf=options.crf),
        seconds=len(frames) / fps,
        flags=(ROUNDED,) if isinstance(asked, int) and asked != len(frames) else (),
    )


def make_arguments(
    pipe: Any, kind: VideoKind, options: VideoOptions, request: Request
) -> dict[str, Any]:
    """The call's arguments: settings, prompt, first frame, generator, size, frame rate."""
    arguments = {
        **choose_size(pipe, kind, options, request),
        **request.settings,
        "prompt": sound(request.prompt),
        "image": request.images[0].to_pil(),
        "generator": seed_generator(request.seed),
        "output_type": "np",
    }
    if kind.rated:
        arguments["frame_rate"] = kind.fps(options.fps)
    return arguments


def choose_size(
    pipe: Any, kind: VideoKind, options: VideoOptions, request: Request
) -> Mapping[str, int]:
    """`height` and `width` for the call; nothing where the pipeline chooses."""
    if not kind.sized or options.size == "auto":
        return {}
    image = request.images[0]
    height, width = float(image.height), float(image.width)
    named = options.size.removeprefix("area:")
    if named != "input":
        asked_width, asked_height = map(int, named.split("x"))
        if named == options.size:
            height, width = asked_height, asked_width
        else:
            scale = math.sqrt(asked_width * asked_height / (height * width))
            height, width = height * scale, width * scale
    step = multiple_of(pipe)
    return {"height": to_multiple(height, step), "width": to_multiple(width, step)}


def multiple_of(pipe: Any) -> int:
    """What height and width must be multiples of: the VAE's factor times the patch's."""
    names = ("vae_scale_factor_spatial", "vae_spatial_compression_ratio", "vae_scale_factor")
    scale = next((int(getattr(pipe, name)) for name in names if hasattr(pipe, name)), 8)
    denoiser = getattr(pipe, "transformer", None) or getattr(pipe, "transformer_2", None)
    patch = getattr(denoiser, "config", {}).get("patch_size") or 1
    return scale * int(patch if isinstance(patch, int) else patch[-1])


def to_multiple(length: float, step: int) -> int:
    """The nearest multiple from one step on."""
    return max(step, math.floor(length / step + 0.5) * step)


def read_frames(output: Any, kind: VideoKind) -> NDArray[np.uint8]:
    """The call's frames, uint8 (frames, H, W, 3); CallError when it gives something else."""
    films = getattr(output, "frames", None)
    if films is None or len(films) != 1:
        given = ", ".join(output) if isinstance(output, Mapping) else type(output).__name__
        raise CallError(f"{kind.name} gives {given} and not one film")
    frames = np.asarray(films[0])
    if frames.ndim != 4 or frames.shape[-1] != 3 or not len(frames):
        raise CallError(f"{kind.name} gives frames of shape {frames.shape}")
    if not np.isfinite(frames).all():
        raise CallError(
            "frames are not finite: a number ran over; -M dtype=bfloat16, -M vae_dtype=float32"
        )
    whole: NDArray[np.uint8] = np.round(np.clip(frames, 0.0, 1.0) * 255).astype(np.uint8)
    height, width = whole.shape[1:3]
    return whole[:, : height // 2 * 2, : width // 2 * 2]  # H.264 has even sides


@contextmanager
def _seeded(seed: int, device: str) -> Iterator[None]:
    """Torch's global generator seeded for the while: schedulers may draw noise from it."""
    import torch

    with torch.random.fork_rng([device] if device.startswith("cuda") else []):
        torch.manual_seed(seed % SEEDS)
        yield
