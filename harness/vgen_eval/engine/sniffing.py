"""Are these pictures answers, or masks, labels or depth in the shape of one? Asked, not guessed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from vgen_eval.errors import Undecodable, UsageError
from vgen_eval.imaging import decode_image, read_bytes
from vgen_eval.imaging.opening import open_picture
from vgen_eval.imaging.samples import read_samples
from vgen_eval.types import AnswerForm

__all__ = ["ask_what_pictures_are"]

LOOKED_AT = 8
MOST_LABEL = 63
"""A picture of one channel with no number above this, 255 aside, looks like labels."""
VOID = 255
_CURES: dict[AnswerForm, str] = {
    "depth_map": "--answer depth_map --depth-scale 1/1000 takes them as depth, in millimetres here",
    "label_map": "--answer label_map takes them as the numbers of classes",
    "mask": "--answer mask takes them as masks",
}


class _Look(msgspec.Struct, frozen=True):
    """What is seen of one picture of one channel."""

    deep: bool
    """More than 8 bits."""
    largest: int | float
    label: int
    """The largest number, 255 aside."""
    brightest: int
    """The brightest level of the picture as it is shown."""


def ask_what_pictures_are(
    files: Sequence[Path], forms: Sequence[AnswerForm], *, where: Path
) -> None:
    """UsageError when these pictures may be of one of `forms` as well as images.

    `forms`: what the protocol takes beside images. A few files are opened, evenly spaced; those
    that are broken are their samples' fault and say nothing here.
    """
    if not files or not forms:
        return
    step = max(1, len(files) // LOOKED_AT)
    looks: list[_Look] = []
    for file in files[::step][:LOOKED_AT]:
        try:
            look = _look(file)
        except Undecodable:
            continue
        if look is None:  # of colours, and so all of them are
            return
        looks.append(look)
    if not looks:
        return
    doubted, what = _doubt(looks, forms)
    if doubted:
        raise UsageError(
            f"{where}: {what}: answers painted as pictures, or {', '.join(doubted)}?",
            cure="; ".join([*(_CURES[form] for form in doubted), "--answer image: as pictures"]),
        )


def _doubt(looks: Sequence[_Look], forms: Sequence[AnswerForm]) -> tuple[list[AnswerForm], str]:
    """The forms that these pictures may be of, and what of them says so."""
    if any(look.deep for look in looks):
        deep = [form for form in forms if form in _CURES]
        return deep, f"pictures of one channel and more than 8 bits, up to {_largest(looks)}"
    said = f"pictures of one channel, with no number above {_largest(looks)}"
    doubted: list[AnswerForm] = []
    if "label_map" in forms and max(look.label for look in looks) <= MOST_LABEL:
        doubted.append("label_map")
    if "mask" in forms and max(look.brightest for look in looks) == 1:
        doubted.append("mask")
    return doubted, said


def _largest(looks: Sequence[_Look]) -> str:
    return f"{max(look.largest for look in looks):,g}"


def _look(file: Path) -> _Look | None:
    """What is seen of a picture; None of one in colours."""
    import numpy as np

    data = read_bytes(file)
    with open_picture(data, what=file.name) as picture:
        stored = read_samples(picture, data).array
    if stored.ndim != 2 or not stored.size:
        return None
    deep = stored.dtype != np.uint8
    brightest = 0 if deep else int(decode_image(data, what=file.name).max())
    return _Look(
        deep=deep,
        largest=stored.max().item(),
        label=int(stored.max(initial=0, where=stored != VOID)) if not deep else 0,
        brightest=brightest,
    )
