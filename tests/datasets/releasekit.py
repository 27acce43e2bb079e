"""Small files in the layouts of public releases."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow
from vgen_eval.types import Item, Sample


def write_png(path: Path, array: NDArray[Any]) -> None:
    """8-bit colour or grey, or 16-bit grey."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Pillow.fromarray(array).save(path)


def write_npy(path: Path, array: NDArray[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    path.write_bytes(file.getvalue())


def photo(height: int, width: int, seed: int = 0) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def load_all(reader: Any) -> list[Sample]:
    return [reader.load(item) for item in reader.index()]


def item_of(name: str) -> Item:
    return Item(id=name, group=name)
