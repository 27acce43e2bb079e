"""Which sample and attempt a file of predictions is of, by its name."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

__all__ = ["name_samples"]

log = logging.getLogger(__name__)

_LAST_WORD = re.compile(r"(.+)([_\-. ][A-Za-z]+)")
_FIRST_WORD = re.compile(r"([A-Za-z]+[_\-. ])(.+)")


def name_samples(
    folder: Path, files: Sequence[Path], *, known: Collection[str]
) -> Iterator[tuple[Path, tuple[str, int]]]:
    """Each file with its sample's id and its attempt, the id unknown where the name is none.

    Files are `<id>.png` or `<id>.<attempt>.png`; an id with slashes is a path of folders. Where
    none is, but one word that all have more makes ids of them, it is left out, and that is told.
    """
    names = {file: file.relative_to(folder).with_suffix("").as_posix() for file in files}
    if not any(_split_attempt(name, known)[0] in known for name in names.values()):
        names |= _without_word(names, known, folder)
    return ((file, _split_attempt(name, known)) for file, name in names.items())


def _split_attempt(name: str, known: Collection[str]) -> tuple[str, int]:
    stem, dot, number = name.rpartition(".")
    if name not in known and stem in known and dot and number.isdecimal():
        return stem, int(number)
    return name, 0


def _without_word(
    names: Mapping[Path, str], known: Collection[str], folder: Path
) -> dict[Path, str]:
    """The ids that names become without one word, `a_depth` of `a`; none of several words."""
    words: dict[str, dict[Path, str]] = {}
    for file, name in names.items():
        for word, rest in _split_word(name):
            if rest in known:
                words.setdefault(word, {})[file] = rest
    if len(words) != 1:
        return {}
    ((word, found),) = words.items()
    log.warning("%s: '%s' in the files' names is left out: ids have none", folder, word)
    return found


def _split_word(name: str) -> Iterator[tuple[str, str]]:
    """The word that ends or begins the last part of a name, with its separator, and the rest."""
    above, slash, last = name.rpartition("/")
    if match := _LAST_WORD.fullmatch(last):
        yield match[2], above + slash + match[1]
    if match := _FIRST_WORD.fullmatch(last):
        yield match[1], above + slash + match[2]
