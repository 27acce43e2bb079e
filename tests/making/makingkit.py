"""Folders of somebody's data, one a family, small and with known truths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image

__all__ = [
    "FAMILIES",
    "HEIGHT",
    "HOSTILE",
    "WIDTH",
    "make_folder",
    "make_photo",
    "make_truth",
    "save",
]

FAMILIES = ("depth", "normals", "referring", "semantic", "counting")
HEIGHT, WIDTH = 60, 80
HOSTILE = '<script>alert("1")</script> & \'the "red"\' {one}\n{query} 100% %s \u202eevil'


def make_photo(seed: int) -> Any:
    """uint8 (HEIGHT, WIDTH, 3) of soft colours without red."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(60, 200, (6, 8, 3)).astype(np.uint8)
    coarse[..., 0] = 40
    picture = PIL.Image.fromarray(coarse)
    return np.asarray(picture.resize((WIDTH, HEIGHT), PIL.Image.Resampling.BICUBIC))


def make_truth(family: str, seed: int) -> Any:
    """What a file of that family holds for the picture of this seed."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    if family == "depth":
        return (1000 + 40 * rows + 100 * np.sin(columns / 9 + seed)).astype(np.uint16)
    if family == "normals":
        vectors = np.dstack([np.sin(columns / 20 + seed), np.cos(rows / 20), np.ones(rows.shape)])
        return (vectors / np.linalg.norm(vectors, axis=2, keepdims=True)).astype(np.float32)
    if family == "referring":
        disc = (columns - 30 - 5 * seed) ** 2 + (rows - 30) ** 2 < 300
        return disc.astype(np.uint8) * np.uint8(255)
    labels = (columns // 20 + seed) % 4
    labels[:4] = 255
    return labels.astype(np.uint8)


def save(path: Path, array: Any) -> None:
    """Writes .npy or a picture."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".npy":
        np.save(path, array)
    else:
        PIL.Image.fromarray(np.asarray(array)).save(path)


def make_folder(folder: Path, family: str, *, count: int = 4) -> dict[str, Any]:
    """Writes pictures and truths, and returns the hints that `task new` wants beside them."""
    for seed in range(count):
        save(folder / "images" / f"{seed}.png", make_photo(seed))
        if family == "normals":
            save(folder / "normals" / f"{seed}.npy", make_truth(family, seed))
        elif family != "counting":
            save(folder / "targets" / f"{seed}.png", make_truth(family, seed))
    if family == "counting":
        rows = "".join(f"{seed},dots,{seed}\n" for seed in range(count))
        (folder / "counts.csv").write_text(f"id,query,count\n{rows}")
    return {"depth": {"depth_scale": 0.001}, "referring": {"query": "the disc"}}.get(family, {})
