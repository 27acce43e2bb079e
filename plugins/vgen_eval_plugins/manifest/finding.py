"""Which files of a folder are pictures, which truths, and which belong together."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

import msgspec
from vgen_eval.errors import UsageError, nearest
from vgen_eval.paths import confined

from vgen_eval_plugins.files import Folder

__all__ = [
    "ARRAYS",
    "PICTURES",
    "Found",
    "Pairs",
    "find_files",
    "guess_folder",
    "has_word",
    "key_of",
    "pair",
    "split_words",
    "words_of",
]

PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".gif", ".ppm", ".pgm")
ARRAYS = (".npy", ".npz", ".exr", ".pfm")

_SEPARATORS = re.compile(r"[_\-. ]+")


class Found(msgspec.Struct, frozen=True):
    """Files of one kind: names below the data's folder, and the sub-folder they were found in."""

    place: str
    """ "" for the folder itself."""
    names: tuple[str, ...]

    def stem(self, name: str) -> str:
        """The name below `place`, without its suffix."""
        below = name.removeprefix(f"{self.place}/") if self.place else name
        return str(PurePosixPath(below).with_suffix(""))


class Pairs(msgspec.Struct, frozen=True):
    """Picture -> truth, and what has no partner."""

    of: Mapping[str, str]
    left_out: tuple[str, ...]


def find_files(
    folder: Folder, place: str, suffixes: Collection[str], *, deep: bool = True
) -> tuple[Found, list[str]]:
    """Files with these suffixes, sorted, and those that may not be used, each with the reason.

    Hidden files are passed over and linked folders not entered; `deep`: sub-folders too.
    UsageError for a folder that may not be read.
    """
    names: list[str] = []
    refused: list[str] = []
    root = folder.root / place
    for here, folders, files in os.walk(root, onerror=_refuse):
        folders[:] = sorted(f for f in folders if deep and not f.startswith("."))
        below = Path(here).relative_to(folder.root).as_posix()
        for file in files:
            if file.startswith(".") or not file.lower().endswith(tuple(suffixes)):
                continue
            name = file if below == "." else f"{below}/{file}"
            try:
                folder.find(name)
                name.encode()
            except ValueError as exc:
                if isinstance(exc.__cause__, PermissionError):
                    raise UsageError(f"{folder.path / name}: {exc.__cause__.strerror}") from exc
                refused.append(f"{name!a}: {exc}" if not name.isprintable() else str(exc))
            else:
                names.append(name)
    return Found(place, tuple(sorted(names))), refused


def _refuse(exc: OSError) -> None:
    raise UsageError(f"{exc.filename}: {exc.strerror}") from exc


def guess_folder(folder: Folder, said: str | None, known: Sequence[str], *, option: str) -> str:
    """The sub-folder that was said, or the one with a known name; "" when there is none.

    UsageError when the one said is none, or when several have a known name.
    """
    inside = sorted(
        entry.name
        for entry in os.scandir(folder.root)
        if entry.is_dir() and not entry.name.startswith(".")
    )
    if said is not None:
        name = PurePosixPath(said).as_posix()
        if name == ".":
            return ""
        if not _is_inside(folder, name):
            raise UsageError(
                f"{option} '{said}' is no folder in {folder.path}.{nearest(said, inside)}",
                cure=f"it holds: {', '.join(inside) or 'no folder'}",
            )
        return name
    near = [name for name in inside if name.lower().replace("-", "_") in known]
    if len(near) > 1:
        raise UsageError(
            f"{folder.path} has {' and '.join(near)}: which is meant?", cure=f"{option} {near[0]}"
        )
    return near[0] if near else ""


def _is_inside(folder: Folder, name: str) -> bool:
    try:
        return confined(folder.root, name).is_dir()
    except (ValueError, OSError, RuntimeError):
        return False


def split_words(stem: str) -> list[str]:
    """The words of the last part of a stem, in small letters."""
    return [word.lower() for word in _SEPARATORS.split(stem.rpartition("/")[2]) if word]


def key_of(stem: str, noise: Collection[str]) -> str:
    """The stem without the words that only say what kind of file it is, such as `depth`."""
    above, slash, last = stem.rpartition("/")
    words = [word for word in _SEPARATORS.split(last) if word]
    kept = [word for word in words if word.lower() not in noise]
    return above + slash + "_".join(kept or words)


def has_word(stem: str, words: Collection[str]) -> bool:
    """Does one of these words stand in the last part of the stem?"""
    return any(word in words for word in split_words(stem))


def pair(images: Found, targets: Found, *, noise: Collection[str], what: str) -> Pairs:
    """Every picture with its one truth: by equal stems, else by stems without their kind."""
    exact = _group(targets, lambda stem: stem)
    loose = _group(targets, lambda stem: key_of(stem, noise))
    twins = _group(images, lambda stem: stem)
    of: dict[str, str] = {}
    left_out: list[str] = []
    for name in images.names:
        stem = images.stem(name)
        if len(twins[stem]) > 1:
            left_out.append(f"{name}: {len(twins[stem])} pictures have this name")
            continue
        found = exact.get(stem) or loose.get(key_of(stem, noise)) or []
        if len(found) == 1:
            of[name] = found[0]
        elif found:
            left_out.append(f"{name}: {len(found)} {what} files: {', '.join(found[:3])}")
        else:
            left_out.append(f"{name}: no {what} file")
    of, shared = _drop_shared(of, what)
    used = {*of.values(), *(t for _, t in shared)}
    left_out += [text for text, _ in shared]
    left_out += [f"{name}: no picture" for name in targets.names if name not in used]
    return Pairs(of, tuple(left_out))


def _drop_shared(of: dict[str, str], what: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The pairs without truths that several pictures would have, and those."""
    users: dict[str, list[str]] = {}
    for name, target in of.items():
        users.setdefault(target, []).append(name)
    shared = [
        (f"{name}: its {what} file {target} is also that of another picture", target)
        for name, target in of.items()
        if len(users[target]) > 1
    ]
    return {n: t for n, t in of.items() if len(users[t]) == 1}, shared


def _group(found: Found, key: Callable[[str], str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name in found.names:
        groups.setdefault(key(found.stem(name)), []).append(name)
    return groups


def words_of(stem: str, noise: Iterable[str] = ()) -> str:
    """The words of a stem, numbers and kinds left out: "red_car_01" is "red car"."""
    drop = set(noise)
    parts = _SEPARATORS.split(stem.rpartition("/")[2])
    return " ".join(p for p in parts if p and not p.isdigit() and p.lower() not in drop)
