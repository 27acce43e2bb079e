"""Words of the user's own about a release's pictures: answers, descriptions, what they show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from vgen_eval.errors import MissingData, Undecodable
from vgen_eval.imaging import read_bytes

from vgen_eval_plugins.datasets.release import Release, parse_json, picture_name
from vgen_eval_plugins.manifest.lines import keys_twice

__all__ = ["NAME_KEYS", "Told", "find_told", "place_of", "read_told", "unique_id"]

NAME_KEYS = ("img_path", "image", "id")
"""What a line names its picture by; the first that it has."""


class Told(msgspec.Struct, frozen=True):
    """One line of such a file."""

    number: int
    """Of the record, from 1."""
    name: str
    """Of the picture."""
    words: str
    fault: str | None = None
    """What is wrong with it, if anything."""


def place_of(release: Release, file: str) -> Path:
    """Where the file lies: below the release's folder unless its path is absolute."""
    return release.root / Path(file).expanduser()


def find_told(release: Release, file: str) -> Path | None:
    """The file; None when it is not there.

    A file that is named differently from the option's default has to be there: the caller says.
    """
    path = place_of(release, file)
    try:
        return path if path.exists() else None
    except OSError:  # a name that no file can have
        return None


def read_told(release: Release, path: Path, keys: Sequence[str], *, cure: str) -> list[Told]:
    """What a file says of pictures, in its order, faulty records marked as such.

    JSON: a list of records that name a picture (`img_path`) and have the words under one of
    `keys`, or an object of name -> words. MissingData, with the cure, when it is neither, and for
    a name or a key that stands twice: a reader would take the last in silence.
    """
    try:
        data = read_bytes(path)
        found, twice = parse_json(data, msgspec.json.decode), parse_json(data, keys_twice)
    except (Undecodable, ValueError) as exc:
        reason = exc.what if isinstance(exc, Undecodable) else str(exc)
        raise MissingData(f"{release.title}: {path}: {reason}", cure=cure) from exc
    if twice:
        raise MissingData(
            f"{release.title}: {path}: '{twice[0]:.80}' stands twice in one object", cure=cure
        )
    if isinstance(found, dict) and any(key in found for key in keys):
        raise MissingData(
            f"{release.title}: {path}: one record, where a list of them was wanted", cure=cure
        )
    if isinstance(found, dict):
        found = [{NAME_KEYS[0]: name, keys[0]: words} for name, words in found.items()]
    if not isinstance(found, list):
        raise MissingData(
            f"{release.title}: {path}: a list of records was wanted, {type(found).__name__} found",
            cure=cure,
        )
    lines = []
    seen: dict[str, int] = {}
    for number, record in enumerate(found, 1):
        line = _read_record(number, record, keys)
        if line.fault is None and line.name in seen:
            fault = f"the picture '{line.name}' is that of record {seen[line.name]} too"
            line = msgspec.structs.replace(line, fault=fault)
        seen.setdefault(line.name, number)
        lines.append(line)
    return lines


def unique_id(name: str, taken: set[str]) -> str:
    """The name, told apart by -2, -3 from those that are taken, which it joins."""
    made, at = name, 2
    while made in taken:
        made, at = f"{name}-{at}", at + 1
    taken.add(made)
    return made


def _read_record(number: int, record: Any, keys: Sequence[str]) -> Told:
    if not isinstance(record, Mapping):
        return Told(number, "", "", f"is {type(record).__name__}, no record")
    name = next((record[key] for key in NAME_KEYS if key in record), None)
    if not isinstance(name, str) or not name.strip():
        return Told(number, "", "", f"names no picture ({NAME_KEYS[0]})")
    name = picture_name(name)
    words = next((record[key] for key in keys if key in record), None)
    if not isinstance(words, str):
        return Told(number, name, "", f"has no words under '{keys[0]}'")
    if not words.strip():
        return Told(number, name, "", f"'{keys[0]}' is empty")
    return Told(number, name, words.strip())
