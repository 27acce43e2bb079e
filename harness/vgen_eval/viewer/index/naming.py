"""One value under its two names: its card's, and the one that score lines have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import msgspec

from vgen_eval.viewer.index.meaning import Meaning

if TYPE_CHECKING:
    from vgen_eval.results.card import ResultCard

__all__ = ["ValueNames", "names_of"]

Number = TypeVar("Number")


class ValueNames(msgspec.Struct, frozen=True, kw_only=True):
    """Of the values of one run's samples."""

    keys: Mapping[str, str] = {}
    """Name of the card -> key of the lines, where the two differ: giou -> iou."""
    titles: Mapping[str, str] = {}
    """Key of the lines -> name of the card, where no value of the card has the key's own name."""

    def key(self, name: str) -> str:
        """The key of a value of the card; a key is its own."""
        return self.keys.get(name, name)

    def title(self, key: str) -> str:
        """What the card calls the value; a name of the card is its own."""
        return self.titles.get(key, key)

    def titled(self, values: Mapping[str, Number]) -> dict[str, Number]:
        """The values under the names of the card, in their order."""
        return {self.title(key): value for key, value in values.items()}


def names_of(meaning: Meaning, keys: Sequence[str], card: ResultCard | None) -> ValueNames:
    """The primary goes before other values that are made of the same numbers."""
    told = {score.metric for score in card.scores} if card is not None else {meaning.primary}
    titles: dict[str, str] = {}
    for name, key in meaning.keys.items():
        if name in told and key in keys and key not in told:
            titles.setdefault(key, name)
    if meaning.key is not None and meaning.key not in told:
        titles[meaning.key] = meaning.primary
    return ValueNames(keys=meaning.keys, titles=titles)
