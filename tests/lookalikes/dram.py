"""DRAM: paintings with labels by PASCAL's numbers, in lists by movement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lookalikes.files import write_indexed, write_jpeg
from lookalikes.scenes import room

__all__ = ["CLASSES", "write"]

CLASSES = {
    3: "bird", 4: "boat", 5: "bottle", 8: "cat", 9: "chair", 10: "cow", 12: "dog", 13: "horse",
    15: "person", 16: "pottedplant", 17: "sheep",
}  # fmt: skip
"""PASCAL's numbers that are kept beside 0, the background; every other one is ignored."""

PLACES = (
    "realism/gustave_courbet/a_walk", "impressionism/berthe_morisot/the_garden",
    "unseen/ukiyo_e/hiroshige/a_bridge", "realism/jean_millet/a_field",
)  # fmt: skip
"""An unseen movement lies one folder deeper."""

KINDS = ({"red ball": 15, "cabinet": 9}, {"red ball": 13, "cabinet": 15}, {"cabinet": 17},
         {"red ball": 16, "cabinet": 16})  # fmt: skip


def write(
    root: Path, *, samples: int = 3, extension: str = "", movements: str = "dram_with_unseen"
) -> list[dict[str, Any]]:
    """`dram/DRAM_processed/test/<movements>.txt`, pictures and labels; `samples` pictures.

    One entry a picture and class, by the list and then by PASCAL's number. The label files are of
    mode P, whose palette is not grey; the green ball is an aeroplane (1) and, with the contour
    (255), ignored. `extension`: what the lines end in, ".jpg" or nothing.
    """
    home = root / "dram" / "DRAM_processed"
    palette = [(37 * k % 256, 91 * k % 256, 151 * k % 256) for k in range(256)]
    lines, found = [], []
    for place in range(samples):
        name, view = PLACES[place], room(place)
        numbers = np.zeros(view.places.shape, np.uint8)
        for thing, number in KINDS[place].items():
            numbers[view.mask(thing)] = number
        numbers[view.mask("green ball")] = 1
        numbers[:, 300:303] = 255
        write_jpeg(home / "test" / f"{name}.jpg", view.rgb)
        write_indexed(home / "labels" / f"{name}.png", numbers, palette)
        lines.append(f"{name}{extension}\n")
        found += [
            {
                "name": name,
                "picture": view.rgb,
                "lossy": True,
                "class": kind,
                "mask": numbers == number,
                "valid": np.isin(numbers, [0, *CLASSES]),
                "group": name,
                "movement": name.removeprefix("unseen/").split("/")[0],
            }
            for number, kind in CLASSES.items()
            if (numbers == number).any()
        ]
    (home / "test" / f"{movements}.txt").write_text("".join(lines), encoding="ascii")
    return found
