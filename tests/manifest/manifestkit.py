"""Small folders of somebody's data, written by Pillow and numpy alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
from vgen_eval.cards import convert
from vgen_eval.drafts import Draft, DraftRequest
from vgen_eval_plugins.manifest.reader import Manifest

__all__ = [
    "DEPTH_M",
    "HEIGHT",
    "WIDTH",
    "draft",
    "fill_folder",
    "make_photo",
    "open_manifest",
    "save",
    "write_lines",
]

HEIGHT, WIDTH = 24, 32
DEPTH_M = np.full((HEIGHT, WIDTH), 2.5, np.float32)


def make_photo(seed: int = 0, *, height: int = HEIGHT, width: int = WIDTH) -> Any:
    """uint8 (height, width, 3) of smooth colours."""
    rng = np.random.default_rng(seed)
    coarse = PIL.Image.fromarray(rng.integers(0, 255, (3, 4, 3), np.uint8))
    return np.asarray(coarse.resize((width, height), PIL.Image.Resampling.BICUBIC))


def save(path: Path, array: Any) -> Path:
    """Writes an array by the suffix: .npy, .npz, or a picture."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".npy":
        np.save(path, array)
    elif path.suffix == ".npz":
        np.savez(path, array)
    else:
        PIL.Image.fromarray(np.asarray(array)).save(path)
    return path


def write_lines(folder: Path, *lines: Any) -> Path:
    """manifest.jsonl of these objects, or raw texts."""
    path = folder / "manifest.jsonl"
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def open_manifest(folder: Path, *lines: Any, **options: Any) -> Manifest:
    """The reader of a folder, its options read as a card's would be."""
    if lines:
        write_lines(folder, *lines)
    read = convert(Manifest.Options, options, file="task.yaml", path="dataset.options")
    return Manifest(read, root=None, folder=folder)


def draft(folder: Path, family: str, **said: Any) -> Draft:
    """The draft of a folder; images, targets and hints by their names."""
    places = {key: said.pop(key) for key in ("images", "targets") if key in said}
    return Manifest.draft(DraftRequest(folder=folder, family=family, hints=said, **places))


def fill_folder(folder: Path, *names: str) -> None:
    """Files of these names: depth, masks without anything, photographs."""
    for name in names:
        if name.endswith(".npy"):
            save(folder / name, DEPTH_M)
        elif any(word in name for word in ("mask", "label")):
            save(folder / name, np.zeros((HEIGHT, WIDTH), np.uint8))
        else:
            save(folder / name, make_photo())
