"""From requests to one call of a pipeline, and from its pictures to answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import numpy as np
from vgen_eval.errors import CallError
from vgen_eval.types import Request

from vgen_eval_plugins.models.editor.kinds import Kind
from vgen_eval_plugins.models.editor.options import EditorOptions, read_size
from vgen_eval_plugins.models.editor.steps import StepCapture
from vgen_eval_plugins.models.local.chatter import chatter_logged
from vgen_eval_plugins.models.local.devices import SEEDS, seed_generator

__all__ = ["Made", "call", "check_request", "group"]

WORDS = re.compile(r"(negative_)?prompt(_\d)?")
"""Arguments that a batch wants once for each prompt."""


class Made(msgspec.Struct, frozen=True):
    """What a pipeline made of one request."""

    id: str
    picture: Any | None
    """uint8 (H, W, 3) or (H, W, 4); None: the safety checker took it."""
    steps: tuple[Any, ...] = ()


def check_request(kind: Kind, request: Request) -> None:
    """CallError for what the pipeline cannot be asked."""
    count = len(request.images)
    if not count:
        raise CallError(f"{kind.name} edits a picture, and the request has none")
    if count > 1 and not kind.references:
        raise CallError(
            f"{kind.name} takes one picture, {count} came: use a model that takes several, "
            "or a protocol that shows one"
        )
    try:
        request.prompt.encode()
    except UnicodeEncodeError as exc:
        raise CallError(f"the prompt is no text: {exc}") from exc


def group(requests: Sequence[Request]) -> list[list[Request]]:
    """Requests that one call may hold together: sizes and settings are equal."""
    groups: dict[str, list[Request]] = {}
    for request in requests:
        sizes = [(image.height, image.width) for image in request.images]
        groups.setdefault(repr((sizes, dict(request.settings))), []).append(request)
    return list(groups.values())


def call(
    pipe: Any, kind: Kind, options: EditorOptions, requests: Sequence[Request], *, device: str
) -> list[Made]:
    """One call of the pipeline, made for one request or, where it takes them, several.

    CallError for what the pipeline says no to, and for a picture that is not finite.
    """
    capture = StepCapture(options.capture_steps) if options.capture_steps else None
    arguments = make_arguments(pipe, kind, options, requests)
    if capture is not None:
        arguments["callback_on_step_end"] = capture.callback
    with chatter_logged(), _watched(requests[0].seed, device) as invalid:
        try:
            output = pipe(**arguments)
        except (ValueError, ZeroDivisionError) as exc:  # its own checks of what it is given
            raise CallError(f"{kind.name}: {exc}") from exc
    pictures = read_pictures(output, kind, len(requests))
    if invalid and any((picture == 0).all(axis=-1).any() for picture in pictures):
        raise CallError("the picture is not finite: a number ran over; -M dtype=bfloat16, float32")
    steps: list[tuple[Any, ...]] = [()] * len(pictures)
    if capture is not None:
        height, width = pictures[0].shape[:2]
        kept = capture.decode(pipe, height=height, width=width)
        steps = [tuple(np.asarray(step[at]) for step in kept) for at in range(len(pictures))]
    unsafe = getattr(output, "nsfw_content_detected", None) or [False] * len(pictures)
    return [
        Made(request.id, None if bad else picture, taken)
        for request, picture, taken, bad in zip(requests, pictures, steps, unsafe, strict=True)
    ]


@contextmanager
def _watched(seed: int, device: str) -> Iterator[list[str]]:
    """Torch's global generator seeded for the while, and a list that grows at each NaN cast.

    Schedulers that draw noise of their own draw it from the global generator; pipelines turn NaN
    into black pixels when they make their pictures.
    """
    import torch

    invalid: list[str] = []
    used = [device] if device.startswith("cuda") else []
    with torch.random.fork_rng(used):
        torch.manual_seed(seed % SEEDS)
        with np.errstate(invalid="call", call=lambda kind, _: invalid.append(kind)):
            yield invalid


def make_arguments(
    pipe: Any, kind: Kind, options: EditorOptions, requests: Sequence[Request]
) -> dict[str, Any]:
    """The call's arguments: settings, prompts, pictures, generators, size."""
    first, count = requests[0], len(requests)
    shown = [[image.to_pil() for image in request.images] for request in requests]
    prompts = [make_prompt(kind, request) for request in requests]
    arguments = dict(first.settings)
    generators = [seed_generator(request.seed) for request in requests]
    if count == 1:
        alone = len(shown[0]) == 1 and not kind.as_list
        arguments |= {
            "prompt": prompts[0],
            kind.picture: shown[0][0] if alone else shown[0],
            "generator": generators[0],
        }
    else:
        arguments = {
            key: [value] * count if WORDS.fullmatch(key) and isinstance(value, str) else value
            for key, value in arguments.items()
        }
        arguments |= {
            "prompt": prompts,
            kind.picture: [pictures[0] for pictures in shown],
            "generator": generators,
        }
    for key, value in choose_size(pipe, kind, options, first).items():
        arguments.setdefault(key, value)
    return arguments


def make_prompt(kind: Kind, request: Request) -> str:
    """The prompt, each picture's mark before it where the pipeline wants marks and it has none."""
    if not kind.placeholders:
        return request.prompt
    marks = [f"<img><|image_{at + 1}|></img>" for at in range(len(request.images))]
    missing = [mark for mark in marks if mark not in request.prompt]
    return " ".join([*missing, request.prompt])


def choose_size(
    pipe: Any, kind: Kind, options: EditorOptions, request: Request
) -> Mapping[str, int]:
    """`height` and `width` for the call; nothing where the pipeline chooses."""
    if not kind.sized or options.size == "auto":
        return {}
    image = request.images[0]
    height, width = read_size(options.size) or (image.height, image.width)
    step = multiple_of(pipe)
    return {"height": to_multiple(height, step), "width": to_multiple(width, step)}


def multiple_of(pipe: Any) -> int:
    """What height and width must be multiples of: the VAE's factor times the patch's."""
    scale = int(getattr(pipe, "vae_scale_factor", 8) or 8)
    processor = getattr(getattr(pipe, "image_processor", None), "config", {})
    transformer = getattr(getattr(pipe, "transformer", None), "config", {})
    patch = transformer.get("patch_size") or 1
    patch = patch if isinstance(patch, int) else patch[-1]
    return int(np.lcm(int(processor.get("vae_scale_factor") or scale), scale * patch))


def to_multiple(length: int, step: int) -> int:
    """The nearest multiple from one step on."""
    return max(step, (length + step // 2) // step * step)


def read_pictures(output: Any, kind: Kind, count: int) -> list[Any]:
    """The call's pictures as arrays; CallError when it gives something else."""
    pictures = getattr(output, "images", None)
    if pictures is None:
        given = ", ".join(output) if isinstance(output, Mapping) else type(output).__name__
        raise CallError(f"{kind.name} gives {given} and no pictures")
    arrays = [np.asarray(picture) for picture in pictures]
    if len(arrays) != count:
        raise CallError(f"{kind.name} gave {len(arrays)} pictures for {count} requests")
    return [array if array.ndim == 3 else np.stack([array] * 3, axis=-1) for array in arrays]
