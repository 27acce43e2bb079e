"""Masks that public tools got wrong: every pixel mode, and a canvas of another shape."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest
from faultkit import MASK, picture, score
from numpy.typing import NDArray

MODES = ("L", "LA", "1", "RGB", "I;16")
PAINTED = {"form": "image", "decoder": "binary_mask"}
OWN: Mapping[str, Any] = {}


def square() -> NDArray[np.uint8]:
    """uint8 (32, 32): 256 white pixels on black."""
    mask = np.zeros((32, 32), np.uint8)
    mask[8:24, 4:20] = 255
    return mask


def in_mode(mask: NDArray[np.uint8], mode: str) -> bytes:
    if mode == "I;16":
        return picture(mask.astype(np.uint16) * 257)
    return picture(PIL.Image.fromarray(mask), mode=mode)


def in_every_mode() -> dict[str, bytes]:
    """The square in PNG files that are named by their modes."""
    files = {}
    for mode in MODES:
        data = in_mode(square(), mode)
        with PIL.Image.open(io.BytesIO(data)) as made:
            assert made.mode == mode
        files[f"{mode.replace(';', '')}.png"] = data
    return files


@pytest.mark.parametrize("answer", [OWN, PAINTED], ids=["mask", "image"])
def test_a_mask_is_the_same_mask_in_every_pixel_mode(
    tmp_path: Path, answer: Mapping[str, Any]
) -> None:
    """https://github.com/mcordts/cityscapesScripts/issues/9"""
    files = in_every_mode()
    run = score(
        tmp_path, MASK, dict.fromkeys(files, picture(square())), files, size=(32, 32),
        answer=answer,
    )  # fmt: skip
    assert run.card.counts.statuses == {"ok": 5}
    for name in run.lines:
        assert (run.statistics(name)["intersection"], run.statistics(name)["union"]) == (256, 256)
    assert run.value("giou") == run.value("ciou") == 1.0


def test_a_truth_is_the_same_truth_in_every_pixel_mode(tmp_path: Path) -> None:
    """https://github.com/mcordts/cityscapesScripts/issues/9"""
    files = in_every_mode()
    run = score(tmp_path, MASK, files, dict.fromkeys(files, picture(square())), size=(32, 32))
    assert run.card.counts.statuses == {"ok": 5}
    assert run.value("giou") == 1.0


@pytest.mark.parametrize("answer", [OWN, PAINTED], ids=["mask", "image"])
@pytest.mark.parametrize(
    ("fit", "expected", "tolerance"), [("letterbox", 1.0, 0.0), ("stretch", 0.558961, 0.01)]
)
def test_a_square_canvas_with_bars_is_laid_on_a_wide_truth_as_the_card_says(
    tmp_path: Path, fit: str, expected: float, tolerance: float, answer: Mapping[str, Any]
) -> None:
    """https://github.com/apple-aiml-research/pico-banana-400k/issues/21"""
    y, x = np.mgrid[:90, :160]
    truth = np.where(((x - 60) / 30) ** 2 + ((y - 40) / 25) ** 2 <= 1, 255, 0).astype(np.uint8)
    canvas = np.pad(truth, ((35, 35), (0, 0)))
    run = score(
        tmp_path, MASK, {"a.png": picture(truth)}, {"a.png": picture(canvas)}, size=(90, 160),
        answer={**answer, "fit": fit},
    )  # fmt: skip
    assert run.number() == pytest.approx(expected, abs=tolerance)
    assert "wrong_aspect" in run.flags()
    assert run.card.counts.flags["wrong_aspect"] == 1
    assert f"1 of another shape: {fit}" in run.report
