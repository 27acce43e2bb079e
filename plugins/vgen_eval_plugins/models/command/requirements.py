"""Requirements of a card: names with versions, https addresses, files of the folder; no options.

A requirements file of pip may hold far more: other indexes, other files, paths anywhere, variables
of the environment. A card may not.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
from vgen_eval.errors import UsageError
from vgen_eval.paths import confined

__all__ = ["Requirements", "read_requirements"]

# blanks are spaces alone: whatever else ends a line would begin another, which may be an option
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?: *\[[A-Za-z0-9._, -]*\])?"
_BOUND = r"(?:===?|~=|!=|<=?|>=?) *[A-Za-z0-9.*+!_-]+"
_VERSION = rf"(?: *\(? *{_BOUND} *(?:, *{_BOUND} *)*\)?)?"
_WORD = r"[A-Za-z0-9_.+ ]*"
_TERM = rf"(?:[a-z_]++|'{_WORD}'|\"{_WORD}\"|[()]|===?|~=|!=|<=?|>=?)"
_MARKER = rf"(?: *;(?: *{_TERM})+)?"
"""Environment markers (PEP 508): variables, quoted words, comparisons; no dash, which may begin an
option."""
_HASHES = r"(?: +--hash=sha(?:256|384|512):[0-9a-fA-F]+)*"
_NAMED = re.compile(rf"{_NAME}{_VERSION}{_MARKER}{_HASHES}")
_URL = r"(?:git\+)?https://[^\s@:/?#$]+(?::\d+)?/[^\s$]*"
"""No user and no password in it."""
_ADDRESS = re.compile(rf"(?:{_NAME} *@ *)?{_URL}{_MARKER}{_HASHES}")
_FILE = re.compile(r"(?:file:)?(?P<path>[^\s:$@;]+)")
_ARCHIVES = (".whl", ".tar.gz", ".zip")

CURE = "docs/command.md: NAME==VERSION, NAME @ https://..., or ./FILE.whl below the card's folder"


class Requirements(msgspec.Struct, frozen=True):
    """A checked list, and the digests of the files that it names."""

    lines: tuple[str, ...]
    """As the installer takes them; files as file: URLs of their whole path."""
    files: Mapping[str, str]
    """Name, as the card has it -> sha256."""
    given: tuple[str, ...]
    """As the card has them."""


def read_requirements(lines: Iterable[str], *, file: str | None, folder: Path) -> Requirements:
    """The requirements of a list and of a file of the folder, comments left out.

    UsageError, naming the line, for an option, an address that is not https, a path that leads out
    of the folder, or anything else that is no requirement.
    """
    given = [line.strip() for line in (*lines, *(_file_lines(file, folder) if file else ()))]
    made: list[str] = []
    files: dict[str, str] = {}
    for line in given:
        path = _local(line, folder)
        if path is not None:
            files[line] = _digest(path)
            made.append(path.as_uri())  # its folder's name may hold blanks
        elif _NAMED.fullmatch(line) or _ADDRESS.fullmatch(line):
            made.append(line)
        else:
            raise UsageError(f"options.env: '{line[:120]}' is no requirement", cure=CURE)
    return Requirements(lines=tuple(made), files=files, given=tuple(given))


def _file_lines(name: str, folder: Path) -> Iterator[str]:
    try:
        text = confined(folder, name).read_text(encoding="utf-8")
    except (OSError, ValueError) as exc:
        why = getattr(exc, "strerror", None) or exc
        raise UsageError(f"options.env.requirements_file: '{name}': {why}") from exc
    for line in text.splitlines():
        bare = re.sub(r"(^|\s)#.*", "", line).strip()
        if bare:
            yield bare


def _local(line: str, folder: Path) -> Path | None:
    """The archive or project that the line names, None when it names none."""
    match = _FILE.fullmatch(line)
    path = match["path"] if match else ""
    if not (path.startswith("./") or path.endswith(_ARCHIVES) or line.startswith("file:")):
        return None
    try:
        found = confined(folder, path)
    except ValueError as exc:
        raise UsageError(f"options.env: requirement {exc}", cure=CURE) from exc
    if not found.exists():
        raise UsageError(f"options.env: requirement '{line[:120]}': no such file in {folder}")
    return found


def _digest(path: Path) -> str:
    """sha256 of an archive, or of all files of a project."""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file()):
        digest.update(f"{file.relative_to(path).as_posix()}\n".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
