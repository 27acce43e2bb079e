"""The list of a card's faults, and how places and values are named in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from vgen_eval.errors import CardError, Problem

__all__ = ["Problems", "did_you_mean", "join", "join_index", "show"]

MAX_PROBLEMS = 100
_SIMPLE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SHOWN = 60


class Problems:
    """Collects every fault of one file; stops at a hundred, since a hostile file has no end."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[Problem] = []

    def add(self, message: str, *, line: int | None = None, path: str = "") -> None:
        """Note one fault; CardError once there are too many to be worth reading."""
        self.found.append(Problem(message, file=self.file, line=line, path=path))
        if len(self.found) >= MAX_PROBLEMS:
            self.found.append(
                Problem(f"reading stopped after {MAX_PROBLEMS} problems", file=self.file)
            )
            self.check()

    def fatal(self, message: str, *, line: int | None = None, path: str = "") -> CardError:
        """The error to raise for a fault after which nothing more can be read."""
        # last: what was found before it, such as a foreign tag, is what to look at first
        last = Problem(message, file=self.file, line=line, path=path)
        return CardError([*self.in_order(), last])

    def check(self) -> None:
        """CardError with all faults, in the order of their lines, when there is any."""
        if self.found:
            raise CardError(self.in_order())

    def in_order(self) -> list[Problem]:
        """The faults by line; those without one last."""
        return sorted(self.found, key=lambda p: (p.line is None, p.line or 0))


def join(path: str, key: str) -> str:
    """The path of a key below `path`: a.b, or a["x.y"] for keys with other characters."""
    if _SIMPLE_KEY.fullmatch(key):
        return f"{path}.{key}" if path else key
    short = key if len(key) <= _SHOWN else key[: _SHOWN - 3] + "..."
    escaped = short.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{path}["{escaped}"]'


def join_index(path: str, index: int) -> str:
    """The path of an entry of the list at `path`."""
    return f"{path}[{index}]"


def show(value: Any) -> str:
    """What was seen, in words, short: text 'abc', the number 3, true, nothing (null), a list."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"text {clip(value)}"
    if isinstance(value, (int, float)):
        return f"the number {value!r}"
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, (list, tuple)) else f"a {type(value).__name__}"


def clip(text: str) -> str:
    """The text, quoted, cut to what fits a line."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")


def did_you_mean(name: str, known: Iterable[object]) -> str:
    """ " (did you mean 'decoder'?)", or "" when nothing is near."""
    import difflib

    if len(name) > _SHOWN:
        return ""
    pool = {str(candidate).lower(): str(candidate) for candidate in known}
    near = difflib.get_close_matches(name.lower(), sorted(pool), n=1, cutoff=0.6)
    return f" (did you mean {pool[near[0]]!r}?)" if near else ""
