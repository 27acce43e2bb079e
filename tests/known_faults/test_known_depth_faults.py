"""Depth that public tools got wrong: read, fitted and scored from files to the result card."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faultkit import DEPTH, npy, picture, run_command, score, write_predictions, write_task
from numpy.typing import NDArray
from vgen_eval import MissingExtra

Map = NDArray[Any]

IMAGE = {"form": "image", "decoder": "luminance"}
DISPARITY = {"options": {"space": "disparity"}}


def ramp(near: float, far: float, *shape: int) -> Map:
    """float64 of the shape, rising row by row."""
    return np.linspace(near, far, int(np.prod(shape))).reshape(shape)


def absrel(pred: Map, target: Map) -> float:
    """Mean of |pred - target| / target, in float64."""
    wide = np.asarray(target, np.float64)
    return float((np.abs(np.asarray(pred, np.float64) - wide) / wide).mean())


def line_of(x: Map, y: Map) -> tuple[float, float]:
    """Slope and shift of the least-squares line, by an orthogonal solver."""
    columns = np.stack([np.ravel(x), np.ones(x.size)], axis=1)
    slope, shift = np.linalg.lstsq(columns, np.ravel(y), rcond=None)[0]
    return float(slope), float(shift)


def rainbow() -> NDArray[np.uint8]:
    """uint8 (256, 3): blue, cyan, yellow, red, each channel a trapezium."""
    at = np.arange(256)[:, None]
    levels = np.clip(382.5 - abs(4 * at - 255 * np.array([3, 2, 1])), 0, 255)
    return np.asarray(levels.round(), np.uint8)


def exr(folder: Path, depth: Map) -> bytes:
    """An uncompressed EXR file with one channel, Z."""
    library = pytest.importorskip("OpenEXR")
    path = folder / "made.exr"
    head = {"compression": library.NO_COMPRESSION, "type": library.scanlineimage}
    library.File(head, {"Z": depth}).write(str(path))
    return path.read_bytes()


# --- how files hold depth -----------------------------------------------------------------


def test_millimetres_in_16_bits_keep_all_their_bits(tmp_path: Path) -> None:
    """https://github.com/python-pillow/Pillow/issues/3011"""
    truth = ramp(500, 9500, 30, 40).round().astype(np.uint16)
    pred = (truth * 1.1).round().astype(np.uint16)
    run = score(
        tmp_path, DEPTH,
        {"a.png": picture(truth), "same.png": picture(truth)},
        {"a.png": picture(pred), "same.png": picture(truth)},
        size=(30, 40), reading={"scale": 0.001}, options={"fit": "none"}, depth_scale=0.001,
    )  # fmt: skip
    expected = absrel(pred, truth)
    assert expected == pytest.approx(0.100009, abs=1e-6)
    assert run.statistics()["absrel"] == pytest.approx(expected, abs=1e-6)
    assert (run.summary("same")["low"], run.summary("same")["high"]) == (0.5, 9.5)
    assert run.statistics("same")["absrel"] == 0.0
    assert run.number() == pytest.approx(expected / 2, abs=1e-6)


@pytest.mark.parametrize("file", ["exr", "npy"])
def test_a_channel_called_z_is_depth_and_a_far_sentinel_is_no_reading(
    tmp_path: Path, file: str
) -> None:
    """https://github.com/opencv/opencv/issues/22592"""
    truth = (1 + 0.025 * np.arange(320).reshape(16, 20)).astype(np.float32)
    truth[0] = np.inf
    truth[1, :5] = 1e10
    data = exr(tmp_path, truth) if file == "exr" else npy(truth)
    near, far = (np.full((16, 20), metres, np.float32) for metres in (10, 20))
    run = score(
        tmp_path, DEPTH,
        {f"near.{file}": data, f"far.{file}": data},
        {"near.npy": npy(near), "far.npy": npy(far)},
        size=(16, 20), reading={"max_depth": 1000}, options={"fit": "none"},
    )  # fmt: skip
    assert [run.statistics(name)["pixels"] for name in ("near", "far")] == [295, 295]
    squares = [run.statistics(name)["rmse"] ** 2 for name in ("near", "far")]
    # two distances to the same depths tell their mean
    mean = (20**2 - 10**2 - (squares[1] - squares[0])) / (2 * (20 - 10))
    assert mean == pytest.approx(5.3, abs=1e-5)


def test_exr_truths_without_their_library_are_an_error_that_names_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """https://github.com/opencv/opencv/issues/22592"""
    monkeypatch.setitem(sys.modules, "OpenEXR", None)
    with pytest.raises(MissingExtra) as caught:
        score(
            tmp_path, DEPTH, {"a.exr": b"v/1\x01" + bytes(64)},
            {"a.npy": npy(np.ones((4, 4), np.float32))}, size=(4, 4), options={"fit": "none"},
        )  # fmt: skip
    assert caught.value.cure == "pip install 'vgen-eval[exr]'"


def test_readings_that_are_none_are_not_scored(tmp_path: Path) -> None:
    """https://github.com/alexsax/2D-3D-Semantics/issues/8"""
    truth = np.full((8, 8), 2, np.float32)
    truth[:4] = np.array([np.nan, np.inf, 0, -1])[:, None]
    run = score(
        tmp_path, DEPTH, {"a.npy": npy(truth)}, {"a.npy": npy(np.full((8, 8), 2.2, np.float32))},
        size=(8, 8), reading={"invalid": [0, 65535]}, options={"fit": "none"},
    )  # fmt: skip
    assert run.statistics()["pixels"] == 32
    assert run.number() == pytest.approx(0.1, abs=1e-5)


def test_values_that_mean_no_reading_are_the_files_own(tmp_path: Path) -> None:
    """https://github.com/alexsax/2D-3D-Semantics/issues/8"""
    truth = np.full((8, 8), 2000, np.uint16)
    truth[:3], truth[3] = 65535, 0
    run = score(
        tmp_path, DEPTH, {"a.png": picture(truth)},
        {"a.png": picture(np.full((8, 8), 2200, np.uint16))},
        size=(8, 8), reading={"scale": 0.001, "invalid": [0, 65535]}, options={"fit": "none"},
        depth_scale=0.001,
    )  # fmt: skip
    assert run.statistics()["pixels"] == 32
    assert run.number() == pytest.approx(0.1, abs=1e-5)


def test_a_picture_without_a_valid_pixel_leaves_the_mean_to_the_others(tmp_path: Path) -> None:
    """https://github.com/open-mmlab/mmsegmentation/issues/1601"""
    truths = {"a.npy": npy(np.zeros((4, 4), np.float32)), "b.npy": npy(np.full((4, 4), 2.0))}
    flat = npy(np.full((4, 4), 2.5, np.float32))
    run = score(
        tmp_path, DEPTH, truths, {"a.npy": flat, "b.npy": flat}, size=(4, 4),
        options={"fit": "none"},
    )  # fmt: skip
    assert (run.status("a"), run.status("b")) == ("no_valid_target", "ok")
    assert run.card.counts.statuses == {"no_valid_target": 1, "ok": 1}
    assert run.number() == pytest.approx(0.25, abs=1e-6)
    assert run.card.score().n == 1


@pytest.mark.parametrize(("steps", "scale"), [(256, 1 / 256), (1000, 0.001)])
def test_the_step_of_a_depth_file_is_the_cards(tmp_path: Path, steps: int, scale: float) -> None:
    """https://github.com/vinvino02/GLPDepth/issues/28"""
    metres = ramp(2, 60, 10, 20)
    truth = (metres * steps).round().astype(np.uint16)
    run = score(
        tmp_path, DEPTH, {"a.png": picture(truth)}, {"a.npy": npy(metres.astype(np.float32))},
        size=(10, 20), reading={"scale": scale}, options={"fit": "none"},
    )  # fmt: skip
    assert run.number() == pytest.approx(0, abs=2e-3)
    assert run.number() == pytest.approx(absrel(metres, truth * scale), abs=1e-7)


def test_a_wrong_step_shows_where_nothing_is_fitted(tmp_path: Path) -> None:
    """https://github.com/vinvino02/GLPDepth/issues/28"""
    metres = ramp(2, 60, 10, 20)
    truth = (metres * 256).round().astype(np.uint16)
    run = score(
        tmp_path, DEPTH, {"a.png": picture(truth)}, {"a.npy": npy(metres.astype(np.float32))},
        size=(10, 20), reading={"scale": 0.001}, options={"fit": "none"},
    )  # fmt: skip
    assert run.number() == pytest.approx(2.90625, abs=2e-3)


# --- fits ---------------------------------------------------------------------------------


def test_a_flat_answer_is_the_mean_depth_everywhere_and_flagged(tmp_path: Path) -> None:
    """https://github.com/antocad/FocusOnDepth/issues/22"""
    truth = ramp(1, 5, 20, 30).astype(np.float32)
    run = score(
        tmp_path, DEPTH, {"a.npy": npy(truth)},
        {"a.png": picture(np.full((20, 30), 128, np.uint8))},
        size=(20, 30), options={"fit": "depth_lsq"}, answer=IMAGE,
    )  # fmt: skip
    assert run.number() == pytest.approx(0.442108, abs=1e-4)
    assert run.number() == pytest.approx(absrel(np.full_like(truth, 3.0), truth), abs=1e-6)
    assert run.number("rmse") == pytest.approx(float(truth.std(dtype=np.float64)), abs=1e-6)
    assert run.flags() == {"constant", "degenerate_fit"}
    assert run.card.counts.flags["degenerate_fit"] == 1


@pytest.mark.parametrize("fit", ["disparity_lsq", "disparity_lsq_clamped"])
def test_inverse_depth_is_fitted_to_inverse_depth_whatever_its_scale(
    tmp_path: Path, fit: str
) -> None:
    """https://github.com/isl-org/MiDaS/issues/129"""
    truth = np.geomspace(1, 40, 600).reshape(20, 30)
    inverse = 1 / truth
    pred = (inverse - inverse.min()) / (inverse.max() - inverse.min())
    run = score(
        tmp_path, DEPTH, {"a.npy": npy(truth.astype(np.float32))},
        {"a.npy": npy(pred.astype(np.float32))},
        size=(20, 30), options={"fit": fit}, answer=DISPARITY,
    )  # fmt: skip
    assert 0 <= run.number() <= 1e-4
    assert run.flags() == set()
    slope, shift = line_of(pred, truth)
    naive = absrel(slope * pred + shift, truth)
    assert naive == pytest.approx(1.328213, abs=1e-5)  # a line to depth is far off
    assert fit in run.report


def test_aligned_inverse_depth_below_zero_is_as_far_as_the_farthest(tmp_path: Path) -> None:
    """https://github.com/DepthAnything/Depth-Anything-V2/issues/257"""
    truth = np.array([[1, 2, 4, 8, 16, 80]], np.float64)
    pred = np.array([[1, 0.5, 0.25, 0.125, 0.0625, -0.02]])
    run = score(
        tmp_path, DEPTH, {"a.npy": npy(truth)}, {"a.npy": npy(pred)}, size=(1, 6),
        options={"fit": "disparity_lsq_clamped"}, answer=DISPARITY,
    )  # fmt: skip
    slope, shift = line_of(pred, 1 / truth)
    aligned = slope * pred + shift
    assert aligned.min() == pytest.approx(-0.009375, abs=1e-4)
    expected = absrel(1 / np.maximum(aligned, 1 / 80), truth)
    assert expected == pytest.approx(0.038136, abs=1e-6)
    assert run.number() == pytest.approx(expected, abs=1e-6)
    assert run.statistics()["pixels"] == 6


# --- colours ------------------------------------------------------------------------------


def paint(depth: Map) -> bytes:
    at = ((depth - depth.min()) / (depth.max() - depth.min()) * 255).round().astype(int)
    return picture(rainbow()[at])


def test_a_rainbow_in_place_of_grey_is_flagged(tmp_path: Path) -> None:
    """https://github.com/kijai/ComfyUI-DepthAnythingV2/issues/5"""
    truth = ramp(1, 5, 20, 30)
    run = score(
        tmp_path, DEPTH, {"a.npy": npy(truth.astype(np.float32))}, {"a.png": paint(truth)},
        size=(20, 30), options={"fit": "depth_lsq"}, answer=IMAGE,
    )  # fmt: skip
    assert "colour_in_gray" in run.flags()
    assert run.card.counts.flags["colour_in_gray"] == 1
    assert run.number() > 0.3


def test_a_rainbow_is_depth_again_by_its_own_table(tmp_path: Path) -> None:
    """https://github.com/kijai/ComfyUI-DepthAnythingV2/issues/5"""
    truth = ramp(1, 5, 20, 30)
    table = ["#{:02x}{:02x}{:02x}".format(*colour) for colour in rainbow().tolist()]
    answer = {"form": "image", "decoder": "depth_colours", "options": {"colours": table[::-1]}}
    run = score(
        tmp_path, DEPTH, {"a.npy": npy(truth.astype(np.float32))}, {"a.png": paint(truth)},
        size=(20, 30), options={"fit": "depth_lsq"}, answer=answer,
    )  # fmt: skip
    assert 0 < run.number() <= 0.01
    assert run.flags() == set()


# --- through the command ------------------------------------------------------------------


def test_the_command_scores_millimetres_as_the_library_does(tmp_path: Path) -> None:
    """https://github.com/python-pillow/Pillow/issues/3011"""
    truth = ramp(500, 9500, 30, 40).round().astype(np.uint16)
    pred = (truth * 1.1).round().astype(np.uint16)
    task = write_task(
        tmp_path, DEPTH, {"a.png": picture(truth)}, size=(30, 40), reading={"scale": 0.001},
        options={"fit": "none"},
    )  # fmt: skip
    write_predictions(tmp_path, {"a.png": picture(pred)})
    done = run_command(tmp_path, task, "--depth-scale", "0.001")
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    (value,) = [s["value"] for s in result["scores"] if s["metric"] == "absrel"]
    assert value == pytest.approx(0.100009, abs=1e-4)
