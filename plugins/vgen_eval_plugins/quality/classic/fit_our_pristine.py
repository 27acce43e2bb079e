"""Fits NIQE's pristine model again: python -m vgen_eval_plugins.quality.classic.fit_our_pristine.

The photographs are those of the installed scikit-image package whose terms are free and which no
sample of quality shows. The model of NIQE's authors is theirs and is not here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import msgspec
from vgen_eval.imaging import decode_image

from vgen_eval_plugins.quality.classic.niqe import OUR_MODEL, PristineModel, fit_pristine

__all__ = ["ABOUT", "PHOTOGRAPHS", "fit", "main"]

PHOTOGRAPHS = (
    "brick.png", "camera.png", "coins.png", "grass.png", "gravel.png", "rocket.jpg",
)  # fmt: skip

ABOUT = (
    "Fitted by the vgen-eval project on six photographs that scikit-image ships (brick, camera, "
    "grass, gravel: CC0; rocket: public domain; coins: no known copyright restrictions). Not the "
    "model of NIQE's authors: numbers made with it rank pictures and cannot be compared with "
    "published NIQE values."
)


def fit() -> PristineModel:
    """The model of PHOTOGRAPHS, whose pixels scikit-image pins."""
    folder = files("skimage").joinpath("data")
    pictures = [
        (name, decode_image(folder.joinpath(name).read_bytes(), what=name)) for name in PHOTOGRAPHS
    ]
    return fit_pristine(pictures, about=ABOUT)


def main(words: Sequence[str]) -> None:
    """Writes the model to the named file, or over the one that ships."""
    path = Path(words[0]) if words else Path(__file__).with_name(OUR_MODEL)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(fit()), indent=0) + b"\n")


if __name__ == "__main__":
    main(sys.argv[1:])
