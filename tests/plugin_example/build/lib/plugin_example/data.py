"""The pictures of `mytask`: grey ramps made by rule, whose brightness is known exactly."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar

import msgspec
import numpy as np
from vgen_eval.imaging import Image
from vgen_eval.types import Item, Sample

__all__ = ["Ramps"]


class Ramps:
    """Ramps from one grey to another; the target is the mean grey level, 0-255."""

    version: ClassVar[int] = 1

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Set in the task card's `dataset.options`."""

        count: Annotated[int, msgspec.Meta(description="How many pictures.", ge=1, le=64)] = 6
        side: Annotated[int, msgspec.Meta(description="Width and height in pixels.", ge=8)] = 64

    def __init__(self, options: Options, *, root: Path | None, folder: Path) -> None:
        # root: the folder of the data, None here; folder: where the card and its files lie
        self.options = options
        self.root = root
        self.folder = folder

    def index(self) -> Sequence[Item]:
        """One item a ramp; each is a group of its own."""
        return [Item(f"ramp-{i:02d}", group=f"ramp-{i:02d}") for i in range(self.options.count)]

    def load(self, item: Item) -> Sample:
        """The ramp and its mean grey level."""
        number = int(item.id.removeprefix("ramp-"))
        low = 200 * number // self.options.count
        row = np.linspace(low, low + 55, self.options.side).round().astype(np.uint8)
        plane = np.tile(row, (self.options.side, 1))  # (H, W)
        return Sample(
            id=item.id,
            group=item.group,
            images=(Image(np.repeat(plane[:, :, None], 3, axis=2)),),
            target=float(row.mean()),
        )

    def fingerprint(self) -> str:
        """Follows from the rule's options: there are no files that could change."""
        return hashlib.sha256(repr(self.options).encode()).hexdigest()
