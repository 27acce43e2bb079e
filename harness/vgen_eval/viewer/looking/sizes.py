"""How large a kept picture is, told by its header: asked before anything of it is decoded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vgen_eval.errors import Undecodable
from vgen_eval.imaging.opening import open_picture
from vgen_eval.store.regular import open_regular

if TYPE_CHECKING:
    from vgen_eval.viewer.looking.opened import Opened

__all__ = ["BASE", "MOST_SHOWN", "size_of", "weigh"]

MOST_SHOWN = 25_000_000
"""Pixels of an answer above which it is not decoded for a page."""
A_PIXEL = 30
"""Bytes that are in hand at one time for a pixel of an answer while it is decoded."""
AN_ORIGINAL = 60
"""And for a pixel of the picture that it is about: its colours, the truth, what is read off the
answer, their differences."""
BASE = 48 * 2**20
"""Bytes for an attempt of a usual size."""
HEAD = 256 * 1024


def size_of(data: bytes) -> tuple[int, int] | None:
    """(width, height) that a picture's header declares; None where it is none within limits."""
    try:
        with open_picture(data, what="answer") as picture:
            return picture.size
    except Undecodable:
        return None


def weigh(opened: Opened, line: Mapping[str, Any] | None) -> int:
    """Bytes that it takes to make the attempt's panes, about; BASE at least."""
    return max(BASE, A_PIXEL * _answered(opened, line), AN_ORIGINAL * _asked(line))


def _asked(line: Mapping[str, Any] | None) -> int:
    """Pixels of the pictures that the model was asked about; 0 where the line does not tell."""
    try:
        sizes = (line or {})["geometry"]["original"]
        return sum(int(height) * int(width) for height, width in sizes)
    except (KeyError, TypeError, ValueError, OverflowError):
        return 0


def _answered(opened: Opened, line: Mapping[str, Any] | None) -> int:
    """Pixels of its answer; 0 where it is no picture, or one that is not decoded."""
    answer = (line or {}).get("answer")
    name = answer.get("file") if isinstance(answer, Mapping) else None
    if not isinstance(name, str) or "/" in name or name.startswith("."):
        return 0
    try:
        with open_regular(opened.store.path / "outputs" / name, within=opened.root) as file:
            head = file.read(HEAD)
            if head[:4] == b"RIFF":  # whose reader wants all of it
                head += file.read()
    except (OSError, ValueError):
        return 0
    width, height = size_of(head) or (0, 0)
    return width * height if width * height <= MOST_SHOWN else 0
