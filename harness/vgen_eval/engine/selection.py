"""Which samples of a data set are run: nested subsets by hash of the group, or named ids."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from vgen_eval.cards.records import Sampling
from vgen_eval.types import Item

__all__ = ["select"]


def select(
    items: Sequence[Item],
    *,
    sampling: Sampling,
    limit: int | None = None,
    ids: Sequence[str] = (),
) -> tuple[tuple[Item, ...], Mapping[str, Any]]:
    """The samples to run, in the data set's order, and the selection as the identity holds it.

    Groups are taken in the order of sha256(seed, group), so the 10 lie within the 100 whatever
    the data set's order is. A limit that cuts nothing off is no selection.
    """
    if ids:
        wanted = set(ids)
        return tuple(item for item in items if item.id in wanted), {"ids": sorted(wanted)}
    pool = _one_a_group(items, sampling.seed) if sampling.unit == "image" else list(items)
    count = min([n for n in (limit, sampling.limit) if n is not None], default=len(pool))
    if count >= len(pool):
        chosen = {item.id for item in pool}
        label: dict[str, Any] = {} if len(pool) == len(items) else {"unit": "image"}
    else:
        pool.sort(key=lambda item: _rank(sampling.seed, item))
        chosen = {item.id for item in pool[:count]}
        label = {"limit": count, "unit": sampling.unit, "seed": sampling.seed}
    return tuple(item for item in items if item.id in chosen), label


def _rank(seed: int, item: Item) -> tuple[bytes, bytes, str]:
    return _hash(seed, item.group), _hash(seed, item.id), item.id


def _one_a_group(items: Sequence[Item], seed: int) -> list[Item]:
    first: dict[str, Item] = {}
    for item in items:
        kept = first.get(item.group)
        if kept is None or _rank(seed, item) < _rank(seed, kept):
            first[item.group] = item
    return list(first.values())


def _hash(seed: int, text: str) -> bytes:
    return hashlib.sha256(f"{seed}\n{text}".encode()).digest()
