"""The program's side of the command protocol: a model is loaded once, then answers line by line."""

from __future__ import annotations

import base64
import importlib.metadata
import io
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["array", "device_of", "grey", "picture_of", "place_of", "read_config", "speak"]

PROTOCOL = 1

Answer = Mapping[str, Any]
Answerer = Callable[[Mapping[str, Any]], Answer]


def speak(
    load: Callable[[Mapping[str, Any]], Answerer],
    *,
    forms: Sequence[str],
    packages: Sequence[str] = (),
) -> None:
    """Answers requests until stdin ends. stdout is the protocol's alone: prints go to stderr.

    `load`: hello -> a function that answers one request with {form: answer}; what it raises ends
    the program with the reason. `packages`: those whose versions decide the answers.
    """
    answer: Answerer | None = None
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)
        for line in sys.stdin:
            message = json.loads(line)
            if message["type"] == "close":
                return
            if message["type"] == "hello":
                try:
                    answer = load(message)
                except Exception as exc:
                    _say(out, {"type": "error", "message": _words(exc)})
                    raise SystemExit(1) from exc
                _say(out, _ready(message, forms, packages))
            for request in message.get("requests", ()):
                _say(out, _reply(answer, request, forms))


def _ready(
    hello: Mapping[str, Any], forms: Sequence[str], packages: Sequence[str]
) -> dict[str, Any]:
    versions = {name: importlib.metadata.version(name) for name in packages}
    ready = {"type": "ready", "protocol": PROTOCOL, "forms": list(forms), "versions": versions}
    return ready | {"name": place_of(hello)[0], "deterministic": device_of(hello) == "cpu"}


def _reply(
    answer: Answerer | None, request: Mapping[str, Any], forms: Sequence[str]
) -> dict[str, Any]:
    reply = {"id": request["id"]}
    try:
        if answer is None:
            raise RuntimeError("generate came before hello")
        if request["form"] not in forms:
            raise ValueError(f"it gives {', '.join(forms)}, and no {request['form']}")
        return {"type": "answer", **reply, **answer(request)}
    except Exception as exc:
        return {"type": "error", **reply, "message": _words(exc)}


def _words(exc: Exception) -> str:
    return f"{type(exc).__name__}: {exc}"[:2000]


def _say(out: Any, message: Mapping[str, Any]) -> None:
    print(json.dumps(message), file=out, flush=True)


# --- what the card says -----------------------------------------------------------------------


def place_of(hello: Mapping[str, Any]) -> tuple[str, str | None]:
    """Folder or hub repository of the weights, and the revision; ValueError when none is named."""
    checkpoint = hello.get("checkpoint") or {}
    place = checkpoint.get("path") or checkpoint.get("repo")
    if not place:
        raise ValueError("the card names no checkpoint: checkpoint: {repo: ORG/NAME}")
    return str(place), None if checkpoint.get("path") else checkpoint.get("revision")


def device_of(hello: Mapping[str, Any]) -> str:
    """The device asked for, else the first that is here of cuda, mps, cpu."""
    import torch

    if hello.get("device"):
        return str(hello["device"])
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def read_config(hello: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The card's options.config over the defaults; ValueError for a key that there is none of."""
    given = dict(hello.get("config") or {})
    unknown = sorted(given.keys() - defaults.keys())
    if unknown:
        known = ", ".join(defaults) or "nothing"
        raise ValueError(f"options.config has '{unknown[0]}'; known here: {known}")
    return {**defaults, **given}


# --- pictures and arrays ----------------------------------------------------------------------


def picture_of(request: Mapping[str, Any]) -> Any:
    """The request's picture, RGB, as Pillow has it; ValueError unless there is exactly one."""
    from PIL import Image

    images = request["images"]
    if len(images) != 1:
        raise ValueError(f"it looks at one picture, {len(images)} came")
    return Image.open(io.BytesIO(base64.b64decode(images[0]))).convert("RGB")


def array(values: Any) -> str:
    """A NumPy array as the bytes of a .npy file in base64."""
    import numpy as np

    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(values), allow_pickle=False)
    return base64.b64encode(file.getvalue()).decode()


def grey(values: Any) -> str:
    """A map (H, W) as a grey PNG in base64: its least value black, its greatest white.

    A flat map is black.
    """
    import numpy as np
    from PIL import Image

    low, high = float(np.min(values)), float(np.max(values))
    scaled = (values - low) / (high - low) if high > low else np.zeros_like(values)
    levels = np.rint(scaled * 255).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(np.stack([levels] * 3, axis=-1)).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()
