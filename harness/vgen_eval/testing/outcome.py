"""How a check ends, and what a child says of an exception."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from traceback import extract_tb

__all__ = [
    "Failed",
    "Skipped",
    "Unavailable",
    "clip",
    "is_below",
    "own_code",
    "place_of",
    "short_place",
    "tell",
]

_LONGEST = 400
_HERE = Path(__file__).parent
_own: list[Path] = []


class Failed(Exception):
    """The check found a fault; the message says which sample and value."""

    def __init__(self, detail: str, *, cure: str = "") -> None:
        super().__init__(detail)
        self.detail = detail
        self.cure = cure


class Skipped(Exception):
    """The check has nothing to ask here; the message says why."""


class Unavailable(Exception):
    """What the check and those after it need is not on this machine; the message says what."""


def own_code(folders: Iterable[Path]) -> None:
    """From here on, code below these folders is the plugin's: its lines are the ones told."""
    _own[:] = [folder.resolve() for folder in folders]


def tell(exc: BaseException) -> str:
    """An exception as one line: class, message, and the place in the plugin's code."""
    said = exc.msg if isinstance(exc, SyntaxError) and exc.msg else str(exc)
    words = clip(" ".join(said.split()))
    text = f"{type(exc).__name__}: {words}" if words else type(exc).__name__
    place = place_of(exc)
    return f"{text} ({place})" if place else text


def place_of(exc: BaseException) -> str:
    """file:line, innermost first, of the plugin's own code; else of any but ours; "" for none."""
    if isinstance(exc, SyntaxError) and exc.filename and Path(exc.filename).is_file():
        return short_place(exc.filename, exc.lineno or 0, _own)
    frames = [(frame.filename, frame.lineno or 0) for frame in extract_tb(exc.__traceback__)]
    for filename, line in reversed(frames):
        if is_below(filename, _own):
            return short_place(filename, line, _own)
    if not frames or Path(frames[-1][0]).parent == _HERE:  # our own line helps nobody
        return ""
    return short_place(*frames[-1], _own)


def is_below(filename: str, folders: Iterable[Path]) -> bool:
    """Does the file lie in one of the folders?"""
    path = Path(filename).resolve()
    return any(path.is_relative_to(folder) for folder in folders)


def short_place(filename: str, line: int, folders: Iterable[Path]) -> str:
    """package/file.py:line for a file below the folders, file.py:line for any other."""
    path = Path(filename).resolve()
    for folder in folders:
        if path.is_relative_to(folder):
            return f"{path.relative_to(folder.parent).as_posix()}:{line}"
    return f"{path.name}:{line}"


def clip(text: str, *, longest: int = _LONGEST) -> str:
    """The text as UTF-8 can hold it, cut to what is worth reading."""
    clean = text.encode("utf-8", "replace").decode()
    return clean if len(clean) <= longest else clean[: longest - 3] + "..."
