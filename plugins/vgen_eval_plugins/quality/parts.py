"""Parts of a data set by position: CGIQA-6K's first 3,000 are games, the others movies."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["part_names"]


def part_names(parts: Mapping[str, int], count: int) -> list[str]:
    """The part of each of `count` records; "" where there are no parts, or they are all used up."""
    names = [name for name, size in parts.items() for _ in range(size)][:count]
    return names + [""] * (count - len(names))
