"""A folder of somebody's pictures and truths as a draft of a task: what belongs together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from vgen_eval.drafts import Draft, DraftRequest
from vgen_eval.errors import Undecodable, UsageError, nearest
from vgen_eval.imaging import read_bytes

from vgen_eval_plugins.files import Folder
from vgen_eval_plugins.manifest.finding import (
    ARRAYS,
    PICTURES,
    Found,
    find_files,
    guess_folder,
    has_word,
    pair,
)
from vgen_eval_plugins.manifest.valid_masks import MASK_WORDS, pair_masks, unnamed_masks

__all__ = ["Paired", "find_both", "find_images", "find_pairs", "look_at", "make_draft", "read_file"]

_IMAGE_FOLDERS = (
    "images", "image", "imgs", "img", "rgb", "rgbs", "photos", "photo", "pictures", "picture",
    "inputs", "input", "color", "colour", "leftimg8bit", "jpegimages",
)  # fmt: skip
_TARGET_FOLDERS = (
    "targets", "target", "gt", "gts", "truth", "truths", "groundtruth", "ground_truth",
    "annotations", "annotation",
)  # fmt: skip
_FIELD_FOLDERS: Mapping[str, tuple[str, ...]] = {
    "depth": ("depth", "depths", "depth_map", "depth_maps"),
    "normals": ("normals", "normal", "normal_map", "normal_maps"),
    "mask": ("masks", "mask", "segmentations", "segmentation"),
    "labels": ("labels", "label", "label_maps", "segmentation", "segmentations", "semantic",
               "segmentationclass", "gtfine", "masks"),
    "valid": ("valid", "valids", "valid_masks", "valid_mask"),
}  # fmt: skip
_IMAGE_WORDS = frozenset(
    {"rgb", "image", "img", "photo", "input", "color", "colour", "leftimg8bit"}
)
_TARGET_WORDS = frozenset({"gt", "target", "truth", "groundtruth"})
_FIELD_WORDS: Mapping[str, frozenset[str]] = {
    "depth": frozenset({"depth", "depths", "depthmap"}),
    "normals": frozenset({"normal", "normals", "normalmap"}),
    "mask": frozenset({"mask", "masks", "seg", "segmentation"}),
    "labels": frozenset(
        {"label", "labels", "labelids", "gtfine", "seg", "segmentation", "semantic"}
    ),
}  # fmt: skip
_MAPS = ("depth", "normals")
"""Fields whose files have masks beside them, and are none."""

CURE = (
    "a truth has the name of its picture, one each: images/a.jpg and targets/a.png, or a.jpg and "
    "a_{family}.png; --images and --targets name the folders"
)
_ROWS = "a row of the table names its picture: a.jpg or a of images/a.jpg"
LOOKED_AT = 20
"""Files that are opened to tell how all of them are written."""


class Paired(msgspec.Struct, frozen=True):
    """Pictures with their truths, and what is to be said of how they were found."""

    images: Found
    of: Mapping[str, str]
    valid: Mapping[str, str]
    """Picture -> its mask of known pixels, where there is one."""
    guessed: tuple[str, ...]
    left_out: tuple[str, ...]
    doubts: tuple[str, ...] = ()

    def name_of(self, image: str) -> str:
        """A sample's id: the picture's name below its folder, without suffix."""
        return self.images.stem(image)

    def lines(self, field: str) -> tuple[dict[str, Any], ...]:
        """A line a pair, the truth in this field."""
        made = []
        for image, target in self.of.items():
            line = {"id": self.name_of(image), "image": image, field: target}
            if image in self.valid:
                line["valid"] = self.valid[image]
            made.append(line)
        return tuple(made)


def make_draft(request: DraftRequest) -> Draft:
    """The draft of a folder; UsageError, with what to say, where it cannot be told."""
    from vgen_eval_plugins.manifest import (
        draft_labels,
        draft_maps,
        draft_quality,
        draft_queries,
    )

    families: Mapping[str, Callable[[DraftRequest, Folder], Draft]] = {
        "depth": draft_maps.draft_depth,
        "normals": draft_maps.draft_normals,
        "semantic": draft_labels.draft_semantic,
        "referring": draft_queries.draft_referring,
        "counting": draft_queries.draft_counting,
        "quality": draft_quality.draft_quality,
    }
    if request.family == "video":
        raise UsageError(
            "no draft of the family 'video' is made: first frames alone are no truth of a video",
            cure=f"the families are: {', '.join(families)}",
        )
    if request.family not in families:
        raise UsageError(
            f"no draft of the family '{request.family}' can be made."
            f"{nearest(request.family, families)}",
            cure=f"the families are: {', '.join(families)}",
        )
    draft = families[request.family](request, Folder(request.folder))
    if not draft.lines:
        raise UsageError(
            f"{request.folder}: nothing belongs together"
            + (f": {draft.left_out[0]}" if draft.left_out else ""),
            cure=_ROWS if request.family == "quality" else CURE.format(family=request.family),
        )
    return draft


def find_images(request: DraftRequest, folder: Folder) -> tuple[Found, list[str], list[str]]:
    """The pictures, what was guessed, and what may not be used."""
    place = guess_folder(folder, request.images, _IMAGE_FOLDERS, option="--images")
    deep = bool(place) or request.images is not None
    found, refused = find_files(folder, place, PICTURES, deep=deep)
    if not found.names:
        where = folder.path / place if place else folder.path
        raise UsageError(f"no picture in {where}", cure="--images SUB names their sub-folder")
    guessed = [] if request.images else [f"pictures: {_say(place)}, {len(found.names):,} files"]
    return found, guessed, refused


def find_pairs(request: DraftRequest, folder: Folder, field: str) -> Paired:
    """Every picture with the file that holds its truth; UsageError when there is no pair."""
    images, targets, guessed, refused = find_both(request, folder, field)
    noise = _IMAGE_WORDS | _TARGET_WORDS | _FIELD_WORDS[field]
    pairs = pair(images, targets, noise=noise, what=field)
    left_out = [*refused, *pairs.left_out]
    if not pairs.of:
        raise _nothing_paired(request, images, targets, left_out, what=field)
    valid, more, without = _find_valid(request, folder, images, pairs.of, noise)
    masks = set(valid.values())  # which had no partner only as truths and pictures
    left_out = [line for line in left_out if line.partition(": ")[0] not in masks]
    doubts = []
    if not valid and field in _MAPS and request.hints.get("valid") is None:
        doubts = [
            f"there are masks in {place}: --valid {place}?"
            for place in unnamed_masks(
                folder, images, targets, used={*pairs.of, *pairs.of.values()}
            )
        ]
    left = (*left_out, *without)
    return Paired(images, pairs.of, valid, (*guessed, *more), left, tuple(doubts))


def look_at(
    folder: Folder, names: Iterable[str], *, most: int = LOOKED_AT
) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of some of these files, evenly spaced; what is faulty is told later."""
    every = list(names)
    step = max(1, len(every) // most)
    for name in every[::step][:most]:
        data = read_file(folder, name)
        if data is not None:
            yield name, data


def read_file(folder: Folder, name: str) -> bytes | None:
    """The bytes of a file; None where it is faulty, which is told when all are read.

    UsageError where it may not be read: nothing can be said of files that are closed to us.
    """
    try:
        return read_bytes(Path(folder.find(name).path))
    except (Undecodable, ValueError) as exc:
        if isinstance(exc.__cause__, PermissionError):
            raise UsageError(f"{folder.path / name}: {exc.__cause__.strerror}") from exc
        return None


def _nothing_paired(
    request: DraftRequest,
    images: Found,
    targets: Found,
    left_out: Sequence[str],
    *,
    what: str,
) -> UsageError:
    sides = [f"a {kind} is called {found.names[0]}" for kind, found in (
        ("picture", images), (f"{what} file", targets)) if found.names]  # fmt: skip
    sides += [] if targets.names else [f"no {what} file was found"]
    several = [line for line in left_out if f" {what} files: " in line]
    return UsageError(
        f"{request.folder}: nothing belongs together: {'; '.join([*sides, *several[:1]])}",
        cure=CURE.format(family=what),
    )


def find_both(
    request: DraftRequest, folder: Folder, field: str
) -> tuple[Found, Found, list[str], list[str]]:
    """The pictures and the files of truths; in one folder they are told apart by a word."""
    images, guessed, refused = find_images(request, folder)
    known = _FIELD_FOLDERS[field]
    said = request.targets
    place = guess_folder(folder, said, known, option="--targets")
    if said is None and not place:
        place = guess_folder(folder, None, _TARGET_FOLDERS, option="--targets")
    suffixes = (*PICTURES, *ARRAYS)
    if place == images.place:
        words = _FIELD_WORDS[field] | _TARGET_WORDS
        found, more = find_files(folder, place, suffixes, deep=bool(place))
        targets = Found(place, tuple(n for n in found.names if _is_target(found, n, words)))
        images = Found(
            images.place, tuple(n for n in images.names if not has_word(images.stem(n), words))
        )
        refused = more
        guessed = [f"pictures: {_say(place)}, {len(images.names):,} files"]
    else:
        targets, more = find_files(folder, place, suffixes)
        refused = [*refused, *more]
    if said is None:
        guessed.append(f"{field}: {_say(place)}, {len(targets.names):,} files")
    return images, targets, guessed, refused


def _find_valid(
    request: DraftRequest,
    folder: Folder,
    images: Found,
    truths: Mapping[str, str],
    noise: frozenset[str],
) -> tuple[Mapping[str, str], list[str], list[str]]:
    """Picture -> mask of known pixels where there are such, what was guessed, what is left out."""
    said = request.hints.get("valid")
    place = guess_folder(folder, said, _FIELD_FOLDERS["valid"], option="--valid")
    if said is None and not place:
        return {}, [], []
    found, refused = find_files(folder, place, (*PICTURES, *ARRAYS), deep=bool(place))
    words = MASK_WORDS.union(noise, *(_FIELD_WORDS[field] for field in _MAPS))
    masks = pair_masks(images, truths, found, noise=words)
    if said is not None and not masks.of:
        raise UsageError(
            f"--valid '{said}': no mask there belongs to a picture",
            cure="a mask has its picture's name, with the word mask or valid where it lies beside "
            "it: a.png, a_depth.npy, a_mask.png",
        )
    guessed = [] if said else [f"known pixels: {_say(place)}, {len(masks.of):,} masks"]
    return masks.of, guessed, [*refused, *masks.left_out]


def _is_target(found: Found, name: str, words: frozenset[str]) -> bool:
    return name.lower().endswith(ARRAYS) or has_word(found.stem(name), words)


def _say(place: str) -> str:
    return f"{place}/" if place else "the folder itself"
