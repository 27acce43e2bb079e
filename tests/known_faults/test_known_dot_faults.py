"""Painted dots that public tools miscounted: touching at a corner, specks, the background."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from faultkit import Scored, picture, read_run, write_predictions
from linekit import COUNT, write_line_task
from numpy.typing import NDArray
from vgen_eval.engine.importing import import_predictions
from vgen_eval.plugins import Catalog

Plane = NDArray[np.uint8]


def plane(side: int, *boxes: tuple[int, int, int]) -> Plane:
    """uint8 (side, side): black, with white squares (row, column, side)."""
    made = np.zeros((side, side), np.uint8)
    for row, column, length in boxes:
        made[row : row + length, column : column + length] = 255
    return made


def count_dots(folder: Path, painted: Mapping[str, Plane], **options: Any) -> Scored:
    """Reads pictures of dots, of which each is said to hold three."""
    answer = {"form": "image", "decoder": "components", "options": options}
    (card,) = import_predictions(
        task=write_line_task(
            folder, COUNT, {name: {"count": 3} for name in painted}, answer=answer
        ),
        predictions=write_predictions(
            folder, {f"{name}.png": picture(each) for name, each in painted.items()}
        ),
        model_name="theirs",
        catalog=Catalog.discover(),
        output=str(folder / "results"),
    )
    return read_run(folder / "results", card)


def test_whether_a_corner_joins_dots_is_as_the_card_says(tmp_path: Path) -> None:
    """https://github.com/opencv/opencv-python/issues/809"""
    dots = {"a": plane(12, (1, 1, 3), (4, 4, 3), (8, 8, 3))}
    found = {
        told: count_dots(tmp_path / str(told), dots, connectivity=told).summary()["count"]
        for told in (4, 8)
    }
    assert found == {4: 3, 8: 2}
    assert count_dots(tmp_path / "plain", dots).summary()["count"] == 2


def test_neither_the_background_nor_a_speck_is_a_dot(tmp_path: Path) -> None:
    """https://github.com/LBL-EESA/TECA/issues/404"""
    blobs = [(5, 5, 6), (5, 25, 6), (25, 10, 6)]
    painted = {
        "empty": plane(20), "specks": plane(40, *blobs, (2, 38, 1), (35, 35, 1)),
        "full": plane(20, (0, 0, 20)),
    }  # fmt: skip
    run = count_dots(tmp_path, painted, min_area=4)
    assert {name: run.summary(name)["count"] for name in painted} == {
        "empty": 0, "specks": 3, "full": 1,
    }  # fmt: skip
    assert run.summary("specks")["specks"] == 2
    assert run.flags("full") >= {"not_dots"}
    assert "not_dots" not in run.flags("specks") | run.flags("empty")
