"""Counts and exceptions in words: where a noun takes its plural, what anyone's code raised."""

from __future__ import annotations

__all__ = ["describe", "is_opencv", "message", "part_of", "plural"]


def plural(count: int, noun: str, many: str | None = None) -> str:
    """ "1 run", "1,154 runs"; `many`: a plural that is more than an s ("entries")."""
    return f"{count:,} {noun if count == 1 else many or f'{noun}s'}"


def part_of(count: int, whole: int, noun: str) -> str:
    """ "500 samples" where that is all of them, else "1 of 654 samples"."""
    return plural(count, noun) if count == whole else f"{count:,} of {plural(whole, noun)}"


def describe(exc: BaseException) -> str:
    """An exception as one line: its class and its message."""
    if is_opencv(exc) or not str(exc):
        return message(exc) or type(exc).__name__
    return f"{type(exc).__name__}: {message(exc)}"


def is_opencv(exc: BaseException) -> bool:
    """Is it OpenCV's own? The library need not be loaded to ask."""
    return type(exc).__module__.partition(".")[0] == "cv2"


def message(exc: BaseException) -> str:
    """What an exception says, on one line.

    OpenCV's names a line of its own sources and a constant: what it did not take is told instead.
    """
    if not is_opencv(exc):
        return " ".join(str(exc).split())
    words = " ".join((str(getattr(exc, "err", "")) or str(exc)).split())
    what = words.removeprefix("> Overload resolution failed: > - ").partition(" > - ")[0]
    return f"OpenCV's {getattr(exc, 'func', None) or 'function'} cannot take this: {what}"
