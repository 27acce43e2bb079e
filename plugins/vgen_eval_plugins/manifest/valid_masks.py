"""Masks of the pixels that have a truth: which file is whose, and whether there are any unnamed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath

from vgen_eval_plugins.files import Folder
from vgen_eval_plugins.manifest.finding import (
    ARRAYS,
    PICTURES,
    Found,
    Pairs,
    has_word,
    key_of,
    split_words,
)

__all__ = ["MASK_WORDS", "pair_masks", "unnamed_masks"]

MASK_WORDS = frozenset({"mask", "masks", "valid", "valids", "validmask"})


def pair_masks(
    images: Found, truths: Mapping[str, str], masks: Found, *, noise: Collection[str]
) -> Pairs:
    """Picture -> its one mask, of pictures that have a truth.

    A mask is called as its picture. In the folder of the picture or of the truth it has a word
    more than they have, and neither of them is ever its own mask; of several, those called mask
    or valid are meant.
    """
    taken = {*truths, *truths.values()}
    exact: dict[str, list[str]] = {}
    loose: dict[str, list[str]] = {}
    for name in masks.names:
        if name not in taken:
            exact.setdefault(masks.stem(name), []).append(name)
            loose.setdefault(key_of(masks.stem(name), noise), []).append(name)
    of: dict[str, str] = {}
    left_out: list[str] = []
    for image, truth in truths.items():
        stem = images.stem(image)
        named = dict.fromkeys([*exact.get(stem, ()), *loose.get(key_of(stem, noise), ())])
        found = [name for name in named if _is_told_apart(name, (image, truth))]
        called = [name for name in found if has_word(masks.stem(name), MASK_WORDS)]
        found = [name for name in found if name in exact.get(stem, ())] or called or found
        if len(found) == 1:
            of[image] = found[0]
        elif found:
            left_out.append(f"{image}: {len(found)} valid files: {', '.join(found[:3])}")
        else:
            left_out.append(f"{image}: no valid file")
    return Pairs(of, tuple(left_out))


def unnamed_masks(
    folder: Folder, images: Found, truths: Found, *, used: Collection[str]
) -> list[str]:
    """Sub-folders that hold masks by their names, "." for the folder itself.

    `used`: pictures and truths that are taken, whatever they are called.
    """
    places = {
        _place_of(name, found)
        for found in (images, truths)
        for name in found.names
        if name not in used
    }
    inside = {"", images.place, truths.place}
    inside |= {str(PurePosixPath(place).parent) for place in inside if place}
    for above in sorted(inside):
        with os.scandir(folder.root / above) as entries:
            places |= {
                (PurePosixPath(above) / entry.name).as_posix()
                for entry in entries
                if not entry.name.startswith(".")
                and entry.is_dir(follow_symlinks=False)
                and has_word(entry.name, MASK_WORDS)
                and _holds_maps(entry.path)
            }
    places -= {place for place in (images.place, truths.place) if has_word(place, MASK_WORDS)}
    return sorted(filter(None, places))


def _place_of(name: str, found: Found) -> str | None:
    """The folder of a file that is called a mask; None for any other."""
    below = PurePosixPath(name.removeprefix(f"{found.place}/") if found.place else name)
    for folder in below.parents:
        if folder.name and has_word(folder.name, MASK_WORDS):
            return (PurePosixPath(found.place) / folder).as_posix()
    return (found.place or ".") if has_word(below.stem, MASK_WORDS) else None


def _holds_maps(path: str) -> bool:
    suffixes = (*PICTURES, *ARRAYS)
    return any(file.lower().endswith(suffixes) for _, _, files in os.walk(path) for file in files)


def _is_told_apart(name: str, others: Iterable[str]) -> bool:
    """Is it in another folder than these, or has it a word that those beside it do not have?"""
    own = PurePosixPath(name)
    beside = [PurePosixPath(other) for other in others]
    words = {
        word for other in beside if other.parent == own.parent for word in split_words(other.stem)
    }
    return not any(other.parent == own.parent for other in beside) or bool(
        set(split_words(own.stem)) - words
    )
