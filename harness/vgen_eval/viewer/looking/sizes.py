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
"""Bytes that are in hand at one time for a pixel of an answer: its colours, what is read off it,
its difference from the truth."""
BASE = 128 * 2**20
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
    """Bytes that it takes to make the attempt's panes, about."""
    answer = (line or {}).get("answer")
    name = answer.get("file") if isinstance(answer, Mapping) else None
    if not isinstance(name, str) or "/" in name or name.startswith("."):
        return BASE
    try:
        with open_regular(opened.store.path / "outputs" / name, within=opened.root) as file:
            head = file.read(HEAD)
            if head[:4] == b"RIFF":  # whose reader wants all of it
                head += file.read()
    except (OSError, ValueError):
        return BASE
    size = size_of(head)
    if size is None or size[0] * size[1] > MOST_SHOWN:
        return BASE
    return max(BASE, A_PIXEL * size[0] * size[1])
