"""From the lines of attempts to what a sample came to."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import isnan

import msgspec

from vgen_eval import jsonio

__all__ = ["NONE", "Part", "Whole", "join", "pack", "pack_flags", "pack_tags", "unpack"]

NONE = float("nan")


class Part(msgspec.Struct, array_like=True):
    """One attempt: what its current prediction and score lines say of it."""

    attempt: int
    answered: str = ""
    """Status of its prediction line; "": it has none."""
    excuse: str = ""
    scored: str = ""
    """Status of its score line, which wins."""
    reason: str = ""
    flags: tuple[str, ...] = ()
    vals: bytes = b""
    """As `pack` gives them."""
    asked_at: int = -1
    """Where its current prediction line begins in its file; -1: it has none."""
    scored_at: int = -1
    """And its score line."""

    @property
    def status(self) -> str:
        """What it came to."""
        return self.scored or self.answered

    @property
    def states(self) -> tuple[str, str, str]:
        """By which it is counted: `status`, `scored`, `answered`."""
        return self.status, self.scored, self.answered

    @property
    def why(self) -> str:
        """The reason of its status; score lines leave out what differs from run to run."""
        return self.reason or (self.excuse if self.answered == self.status else "")


class Whole(msgspec.Struct, frozen=True):
    """A sample over its attempts."""

    status: str
    reason: str
    flags: tuple[str, ...]
    vals: bytes


def pack(values: Mapping[str, float | None], names: list[str]) -> bytes:
    """Little-endian float64 in the order of `names`, to which new names are added."""
    if len(values) == len(names) and list(values) == names:  # nearly all of them
        numbers = [NONE if value is None else value for value in values.values()]
    else:
        known = set(names)
        names += [name for name in values if name not in known]
        found = [values.get(name) for name in names]
        numbers = [NONE if value is None else value for value in found]
    return struct.pack(f"<{len(numbers)}d", *numbers)


def unpack(vals: bytes) -> tuple[float, ...]:
    """The numbers of `pack`."""
    return struct.unpack(f"<{len(vals) // 8}d", vals)


def join(parts: Sequence[Part]) -> Whole:
    """The sample that these attempts, in order and each with a line, are of."""
    if not parts:
        return Whole("not_run", "", (), b"")
    first = parts[0]
    if len(parts) == 1:
        return Whole(first.status, first.why, first.flags, first.vals)
    told = next((part for part in parts if part.status != "ok"), first)
    same = (part.why for part in parts if part.status == told.status)
    flags = dict.fromkeys(flag for part in parts for flag in part.flags)
    return Whole(told.status, next(filter(None, same), ""), tuple(flags), _mean(parts))


def _mean(parts: Iterable[Part]) -> bytes:
    """The mean of each value over the attempts that have it."""
    rows = [unpack(part.vals) for part in parts]
    means = []
    for at in range(max(map(len, rows))):
        found = [row[at] for row in rows if at < len(row) and not isnan(row[at])]
        means.append(sum(found) / len(found) if found else NONE)
    return struct.pack(f"<{len(means)}d", *means)


@lru_cache(4096)
def pack_flags(flags: tuple[str, ...]) -> str:
    """`,"a","b",`."""
    return f",{jsonio.dumps(list(flags)).decode()[1:-1]}," if flags else ""


def pack_tags(tags: Mapping[str, str]) -> str:
    """`,"a":"x","b":"y",`."""
    return _pack_tags(tuple(tags.items())) if tags else ""


@lru_cache(4096)
def _pack_tags(tags: tuple[tuple[str, str], ...]) -> str:
    return f",{jsonio.dumps(dict(tags)).decode()[1:-1]},"
