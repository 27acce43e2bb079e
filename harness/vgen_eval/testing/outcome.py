"""How a check ends, and what a child says of an exception."""

from __future__ import annotations

from pathlib import Path
from traceback import extract_tb

__all__ = ["Failed", "Skipped", "Unavailable", "clip", "tell"]

_LONGEST = 400
_HERE = Path(__file__).parent


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


def tell(exc: BaseException) -> str:
    """An exception as one line: class, message, and the place in the code that raised it."""
    words = clip(" ".join(str(exc).split()))
    text = f"{type(exc).__name__}: {words}" if words else type(exc).__name__
    frames = extract_tb(exc.__traceback__)
    if not frames or Path(frames[-1].filename).parent == _HERE:  # our own line helps nobody
        return text
    return f"{text} ({Path(frames[-1].filename).name}:{frames[-1].lineno})"


def clip(text: str, *, longest: int = _LONGEST) -> str:
    """The text as UTF-8 can hold it, cut to what is worth reading."""
    clean = text.encode("utf-8", "replace").decode()
    return clean if len(clean) <= longest else clean[: longest - 3] + "..."
