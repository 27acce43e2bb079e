"""Small files in the layouts of public releases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from lookalikes import files
from lookalikes.files import write_npy
from numpy.typing import NDArray
from vgen_eval.types import Item, Sample

__all__ = ["item_of", "load_all", "photo", "write_npy", "write_png"]


def write_png(path: Path, array: NDArray[Any]) -> None:
    """8-bit colour or grey, or 16-bit grey; a JPEG where the name says so."""
    (files.write_jpeg if path.suffix == ".jpg" else files.write_png)(path, array)


def photo(height: int, width: int, seed: int = 0) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def load_all(reader: Any) -> list[Sample]:
    return [reader.load(item) for item in reader.index()]


def item_of(name: str) -> Item:
    return Item(id=name, group=name)
