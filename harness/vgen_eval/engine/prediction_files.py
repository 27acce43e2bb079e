"""Files that another program wrote as answers: which form a suffix speaks for, and how it is read.

A picture may be the answer itself, or a mask, labels, normals or depth in the shape of one. It is
taken for the latter where that was asked for, or where the protocol takes no picture. What may be
either is asked about, see `sniffing`.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from vgen_eval.engine.sniffing import ask_what_pictures_are
from vgen_eval.errors import MissingData, Undecodable, UsageError
from vgen_eval.imaging import (
    decode_depth,
    decode_labels,
    decode_mask,
    decode_normals,
    load_exr_library,
    read_bytes,
)
from vgen_eval.types import AnswerForm

__all__ = ["FileRules", "make_rules"]

log = logging.getLogger(__name__)

_PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff")
_EXACT = (".png", ".tif", ".tiff")
"""Pictures that keep the numbers they are given."""
_LABELS = (*_EXACT, ".bmp")
_ARRAYS = (".npy", ".npz")
_FLOATS = (*_ARRAYS, ".exr", ".pfm")
_SUFFIXES: Mapping[AnswerForm, tuple[str, ...]] = {
    "image": _PICTURES,
    "text": (".txt",),
    "video": (".mp4", ".webm"),
    "depth_map": _FLOATS,
    "normal_map": _FLOATS,
    "mask": _ARRAYS,
    "label_map": _ARRAYS,
}
_AS_PICTURE: Mapping[AnswerForm, tuple[str, ...]] = {
    "depth_map": _EXACT,
    "normal_map": _PICTURES,
    "mask": _PICTURES,
    "label_map": _LABELS,
}


class FileRules(msgspec.Struct, frozen=True, kw_only=True):
    """How the files of one set of predictions are taken."""

    forms: tuple[AnswerForm, ...]
    """Answer forms that may be meant, best first."""
    pictures: bool = False
    """May a picture be something else than an image?"""
    depth_scale: float | None = None
    """Metres per unit of depth files that hold whole numbers."""

    def suffixes(self, form: AnswerForm) -> tuple[str, ...]:
        """Lower-case suffixes of the files that can hold an answer of this form."""
        pictures = self.depth_scale is not None if form == "depth_map" else self.pictures
        return _SUFFIXES.get(form, ()) + (_AS_PICTURE.get(form, ()) if pictures else ())

    def choose(self, files: Iterable[Path], where: Path) -> AnswerForm:
        """The best form that these files speak for; MissingData, with what there is, if none."""
        found = Counter(file.suffix.lower() for file in files)
        for form in self.forms:
            if found.keys() & set(self.suffixes(form)):
                self._tell_others(form, found, where)
                return form
        named = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
        listed = ", ".join(f"{n} {suffix or 'without suffix'}" for suffix, n in named)
        raise MissingData(
            f"no_predictions_matched: no file in {where} can be an answer (found: "
            f"{listed or 'no file'})",
            cure="wanted: " + "; ".join(map(self._wanted, self.forms)),
        )

    def _tell_others(self, form: AnswerForm, found: Mapping[str, int], where: Path) -> None:
        taken = set(self.suffixes(form))
        for other in self.forms:
            left = found.keys() & set(self.suffixes(other)) - taken
            if left:
                log.warning(
                    "%s: %s files are taken, %s passed over (--answer %s takes those)",
                    where, " ".join(sorted(found.keys() & taken)), " ".join(sorted(left)), other,
                )  # fmt: skip

    def _wanted(self, form: AnswerForm) -> str:
        suffixes = self.suffixes(form)
        if not suffixes:
            return f"{form} in lines of a .jsonl file"
        text = f"{form} in {' '.join(suffixes)}"
        if form == "depth_map" and self.depth_scale is None:
            return f"{text} ({' '.join(_EXACT)} with --depth-scale)"
        if form in _AS_PICTURE and not self.pictures:
            return f"{text} ({' '.join(_AS_PICTURE[form])} with --answer {form})"
        return text

    def ask_what_pictures_are(self, form: AnswerForm, files: Sequence[Path], where: Path) -> None:
        """UsageError where pictures taken as images look like something else that is taken."""
        if form != "image":
            return
        others = [other for other in self.forms if other in ("depth_map", "label_map", "mask")]
        exact = [file for file in files if file.suffix.lower() in _LABELS]
        ask_what_pictures_are(exact, others, where=where)

    def check_extras(self, form: AnswerForm, files: Iterable[Path]) -> None:
        """MissingExtra when a library that these files need is not installed."""
        readers = ("depth_map", "normal_map")
        if form in readers and any(file.suffix.lower() == ".exr" for file in files):
            load_exr_library()

    def read(self, form: AnswerForm, file: Path) -> Any:
        """The answer in a file; an Undecodable, naming it, as a value when there is none."""
        try:
            data = read_bytes(file)
            if form == "text":
                return data.decode("utf-8", "replace")
            if form == "depth_map":
                return decode_depth(data, what=file.name, scale=self.depth_scale)
            reader = _READERS.get(form)
            return data if reader is None else reader(data, what=file.name)
        except Undecodable as exc:
            return exc


_READERS: Mapping[AnswerForm, Any] = {
    "mask": decode_mask,
    "label_map": decode_labels,
    "normal_map": decode_normals,
}


def make_rules(
    forms: Sequence[AnswerForm], *, answer: str | None, depth_scale: float | None
) -> FileRules:
    """The rules for a protocol's `forms`, best first, and what the user said.

    `answer`: the form asked for. UsageError for a form that the protocol does not take.
    """
    if depth_scale is not None:
        if not 0 < depth_scale < float("inf"):
            raise UsageError(f"--depth-scale: {depth_scale:g} is no number of metres per unit")
        if answer not in (None, "depth_map"):
            raise UsageError(f"--depth-scale goes with depth_map, not with --answer {answer}")
        answer = "depth_map"
    if answer is not None and answer not in forms:
        raise UsageError(f"the protocol takes no {answer} (only {', '.join(forms)})")
    return FileRules(
        forms=tuple(form for form in forms if answer in (None, form)),
        pictures=answer is not None or "image" not in forms,
        depth_scale=depth_scale,
    )
