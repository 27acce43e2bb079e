"""Long texts of a report: whole where there is room for them, else as the live pages cut them."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.viewer.staging.templating import FOLD, environment, said, visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["LongText", "Texts"]


class LongText(msgspec.Struct, frozen=True):
    """A text above FOLD letters, at one place of the page."""

    task: str
    sample: str
    text: str
    more: int
    """Bytes that it takes beside those of its beginning where it is carried whole."""


class Texts:
    """The filter `whole` of the report's templates, and what was asked of it in a rendering."""

    def __init__(self) -> None:
        self._carried: AbstractSet[str] = frozenset()
        self._at = ("", "")
        self._more: dict[str, int] = {}
        self.found: list[LongText] = []

    def environment(self) -> Environment:
        """The viewer's, with this filter in the place of the one that always cuts."""
        found = environment().overlay()
        found.filters = {**found.filters, "whole": self.whole}
        return found

    def reset(self, carried: AbstractSet[str]) -> None:
        """Before a rendering: the texts that stand in it whole."""
        self._carried, self._at, self.found = carried, ("", ""), []

    def begin(self, task: str, sample: str) -> str:
        """What follows is of this sample; prints nothing."""
        self._at = (task, sample)
        return ""

    def whole(self, text: Any, address: str = "") -> Markup:
        """As `said`; all of it where it is carried."""
        full = str(text)
        if len(full) <= FOLD:
            return said(full, address)
        if full not in self._more:
            cut, all_of = (len(_bytes(one)) for one in (said(full, address), visible(full)))
            self._more[full] = max(all_of - cut, 0) + len("<bdi></bdi>")
        self.found.append(LongText(*self._at, full, self._more[full]))
        return visible(full) if full in self._carried else said(full, address)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
