"""A seeded part of a data set, as a paper drew it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Annotated, TypeVar

import msgspec

__all__ = ["Draw"]

Name = TypeVar("Name", int, str)


class Draw(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A seeded subset of the sorted pictures, as `random.sample` takes it."""

    seed: int
    count: Annotated[int, msgspec.Meta(ge=1)]

    def take(self, names: Sequence[Name]) -> list[Name]:
        """Of the sorted names, sorted; ValueError when there are fewer than `count`."""
        return sorted(random.Random(self.seed).sample(names, self.count))
