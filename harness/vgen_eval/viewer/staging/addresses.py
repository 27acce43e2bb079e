"""Where a page finds the pictures, numbers and files of an attempt: on the server that it is of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from vgen_eval.viewer.drawing.fields import has_field
from vgen_eval.viewer.drawing.render import Style
from vgen_eval.viewer.looking import Look, Shown
from vgen_eval.viewer.records import key_of
from vgen_eval.viewer.staging.links import query_string

__all__ = ["LiveMedia", "Media", "Telling"]

VERSION_LENGTH = 12


class Media(Protocol):
    """Addresses for `_panes.html`: of the live viewer, or inside a report."""

    def image(self, look: Look, shown: Shown, style: Style) -> str:
        """The pane as a picture."""
        ...

    def field(self, look: Look, shown: Shown) -> str:
        """Its numbers; "" where there are none. "#id" names a script of the page."""
        ...

    def values(self, look: Look) -> str:
        """What says every pane's value at a point, exactly; "" where nobody answers."""
        ...

    def file(self, look: Look, sha256: str) -> str:
        """A raw file of the run; "" where it is not at hand."""
        ...

    def frame(self, look: Look, shown: Shown, index: int) -> str:
        """A frame of a clip."""
        ...

    @property
    def maps(self) -> str:
        """The colour tables; "" where the page carries them."""
        ...


@runtime_checkable
class Telling(Protocol):
    """A media that has an address for every text; others show what a page holds of it."""

    def words(self, look: Look, name: str) -> str:
        """All of a text: of a pane, or of the facts `text` and `thinking`."""
        ...


class LiveMedia:
    """Addresses on the server that serves the page."""

    def __init__(self, runs: Mapping[Path, str], *, maps: str) -> None:
        """`runs`: path of each run that is shown -> its key. `maps`: address of the tables."""
        self._runs = runs
        self.maps = maps

    def image(self, look: Look, shown: Shown, style: Style) -> str:
        """The pane as a PNG; its address changes with what it shows, so it never goes stale."""
        pairs = [*style.pairs(), ("v", shown.key[:VERSION_LENGTH])]
        return f"{self._attempt(look)}/{shown.name}.png{query_string(pairs)}"

    def field(self, look: Look, shown: Shown) -> str:
        """Its numbers as whole numbers, gzipped."""
        if not has_field(shown):
            return ""
        version = query_string([("v", shown.key[:VERSION_LENGTH])])
        return f"{self._attempt(look)}/{shown.name}.field{version}"

    def values(self, look: Look) -> str:
        """JSON: pane -> what it says at `x`, `y`."""
        return f"{self._attempt(look)}/values"

    def file(self, look: Look, sha256: str) -> str:
        """A raw file, by its digest."""
        return f"/r/{self._runs[look.run]}/o/{sha256}"

    def frame(self, look: Look, shown: Shown, index: int) -> str:
        """A frame of a clip, as WebP."""
        return f"{self._attempt(look)}/{shown.name}/frame/{index}.webp"

    def words(self, look: Look, name: str) -> str:
        """All of a text, as plain text."""
        return f"{self._attempt(look)}/{name}.txt"

    def _attempt(self, look: Look) -> str:
        """Attempts count from 1 in addresses."""
        return f"/r/{self._runs[look.run]}/s/{key_of(look.sample)}/{look.attempt + 1}"
