"""Masks that public tools got wrong: pixel modes, other shapes, emptiness, loss, broken files."""

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


# --- empty, lossy, tinted, broken ---------------------------------------------------------


def boxed(rows: slice, columns: slice) -> NDArray[np.uint8]:
    """uint8 (16, 16): white where rows and columns cross."""
    mask = np.zeros((16, 16), np.uint8)
    mask[rows, columns] = 255
    return mask


def test_nothing_to_find_and_nothing_found_is_right(tmp_path: Path) -> None:
    """https://github.com/milesial/Pytorch-UNet/issues/241"""
    nothing = boxed(slice(0), slice(0))
    whole, part = boxed(slice(5, 10), slice(5, 10)), boxed(slice(5, 10), slice(5, 9))
    pairs = {"s1": (nothing, nothing), "s2": (whole, nothing), "s3": (nothing, whole),
             "s4": (part, whole)}  # fmt: skip
    run = score(
        tmp_path, MASK, {f"{name}.png": picture(truth) for name, (_, truth) in pairs.items()},
        {f"{name}.png": picture(pred) for name, (pred, _) in pairs.items()}, size=(16, 16),
    )  # fmt: skip
    assert run.card.counts.statuses == {"ok": 4}
    each = [run.lines[name]["values"]["iou"] for name in pairs]
    assert each == pytest.approx([1.0, 0.0, 0.0, 0.8], abs=1e-6)
    assert run.number("giou") == pytest.approx(0.45, abs=1e-6)
    assert run.number("ciou") == pytest.approx(0.266667, abs=1e-6)


@pytest.mark.parametrize("method", ["otsu", "fixed"])
def test_a_mask_that_a_lossy_file_smeared_is_cut_at_the_middle(tmp_path: Path, method: str) -> None:
    """https://github.com/mantasu/glasses-detector/issues/23"""
    y, x = np.mgrid[:120, :120]
    disc = np.where((x - 60) ** 2 + (y - 60) ** 2 <= 35**2, 255, 0).astype(np.uint8)
    lossy = picture(disc, file="JPEG", quality=60)
    with PIL.Image.open(io.BytesIO(lossy)) as made:
        levels = np.asarray(made)
    assert len(np.unique(levels)) > 50
    for wrong in (levels > 0, levels == 255):
        assert (wrong & (disc > 0)).sum() / (wrong | (disc > 0)).sum() < 0.95
    run = score(
        tmp_path, MASK, {"a.png": picture(disc)}, {"a.jpg": lossy}, size=(120, 120),
        answer={**PAINTED, "options": {"method": method}},
    )  # fmt: skip
    assert run.status() == "ok"
    assert run.number() >= 0.99


def test_a_tint_over_the_photo_is_said_to_be_no_mask(tmp_path: Path) -> None:
    """No public report of it was found."""
    photo = np.random.default_rng(31).integers(40, 216, (60, 60, 3)).astype(np.uint8)
    tinted = photo.copy()
    tinted[20:45, 10:40] = (tinted[20:45, 10:40] / 2 + (127.5, 0, 0)).astype(np.uint8)
    truth = np.zeros((60, 60), np.uint8)
    truth[20:45, 10:40] = 255
    run = score(
        tmp_path, MASK, {"a.png": picture(truth)}, {"a.png": picture(tinted)}, size=(60, 60),
        answer=PAINTED, photo=picture(photo),
    )  # fmt: skip
    assert run.status() == "ok"
    assert "not_a_mask" in run.flags()
    assert run.card.counts.flags["not_a_mask"] == 1
    assert run.summary()["far_fraction"] == pytest.approx(1.0, abs=0.02)


def test_files_that_are_cut_empty_or_no_picture_are_failed_answers_by_name(tmp_path: Path) -> None:
    """https://github.com/python-pillow/Pillow/issues/4414"""
    noise = np.random.default_rng(9).integers(0, 255, (96, 96, 3)).astype(np.uint8)
    png, jpeg = picture(noise), picture(noise, file="JPEG")
    files = {
        "cut_png.png": png[: len(png) // 2], "cut_jpg.jpg": jpeg[: len(jpeg) // 2],
        "empty.png": b"",
        "html.png": b"<!DOCTYPE html><html><body>Too many requests</body></html>",
        "fine.png": picture(np.full((96, 96), 255, np.uint8)),
    }  # fmt: skip
    names = [Path(name).stem for name in files]
    truth = picture(np.full((96, 96), 255, np.uint8))
    run = score(
        tmp_path, MASK, {f"{name}.png": truth for name in names}, files, size=(96, 96),
        answer=PAINTED,
    )  # fmt: skip
    assert {name: run.status(name) for name in names} == {
        **dict.fromkeys(names, "undecodable"), "fine": "ok",
    }  # fmt: skip
    assert run.card.counts.statuses == {"ok": 1, "undecodable": 4}
    assert (run.number(), run.card.score().n) == (0.2, 5)
    for file in files:
        if file != "fine.png":
            assert run.lines[Path(file).stem]["reason"].startswith(f"{file}: ")
