"""Label maps that public tools got wrong: encoded, resized, mapped and averaged, file to card."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest
from faultkit import LABELS, npy, picture, run_command, score, write_predictions, write_task
from numpy.typing import NDArray
from vgen_eval import Request, evaluate

Labels = NDArray[np.uint8]


def ious(statistics: Any) -> list[float | None]:
    """IoU of each class from what was counted; None for a class that is in neither."""
    union = [
        pred + target - both
        for pred, target, both in zip(
            statistics["pred"], statistics["target"], statistics["intersection"], strict=True
        )
    ]
    return [
        both / whole if whole else None
        for both, whole in zip(statistics["intersection"], union, strict=True)
    ]


def rows(*values: int, height: int = 3) -> Labels:
    """The same row of labels, `height` times."""
    return np.tile(np.array(values, np.uint8), (height, 1))


# --- files --------------------------------------------------------------------------------


def indexed(labels: Labels, *colours: tuple[int, int, int]) -> bytes:
    """A palette PNG, its entries from 0 in these colours."""
    made = PIL.Image.fromarray(labels)
    made.putpalette([level for colour in colours for level in colour])
    return picture(made)


def test_a_palette_png_is_its_indices_however_dark_its_colours(tmp_path: Path) -> None:
    """https://github.com/wkentaro/labelme/pull/2494"""
    labels = rows(*np.repeat(range(5), 5), height=20)
    data = indexed(labels, (0, 0, 0), (0, 0, 1), (128, 0, 0), (0, 128, 0), (0, 0, 128))
    with PIL.Image.open(io.BytesIO(data)) as made:
        assert made.mode == "P"
        grey = np.unique(np.asarray(made.convert("L")))
    assert grey.tolist() == [0, 15, 38, 75]  # in luminance the first two classes are one
    run = score(
        tmp_path, LABELS, {"a.png": data}, {"a.png": data}, size=(20, 25),
        reading={"classes": [f"c{n}" for n in range(5)], "encoding": "index"},
    )  # fmt: skip
    assert run.statistics()["target"] == [100] * 5
    assert run.statistics()["intersection"] == [100] * 5
    assert run.value() == 1.0


INKS = {"a": [200, 40, 40], "b": [40, 200, 40], "c": [40, 40, 200], "d": [220, 220, 220]}
QUADRANTS: Labels = np.array([[0, 1], [2, 3]], np.uint8).repeat(32, axis=0).repeat(32, axis=1)


def cmyk_jpeg() -> bytes:
    """A CMYK JPEG of four flat quadrants, 64x64, with Adobe's marker and so of inverted inks."""
    inks = 255 - np.array(list(INKS.values()), np.uint8)[QUADRANTS]
    planes = [PIL.Image.fromarray(np.ascontiguousarray(inks[..., n])) for n in range(3)]
    made = PIL.Image.merge("CMYK", [*planes, PIL.Image.new("L", (64, 64), 0)])
    data = picture(made, file="JPEG", quality=95)
    assert b"Adobe" in data
    return data


def test_a_cmyk_jpeg_is_not_inverted_as_an_answer(tmp_path: Path) -> None:
    """https://github.com/libvips/libvips/issues/1313"""
    answer = {
        "form": "image", "decoder": "nearest_colour", "prompt": {"mid": "{palette}"},
        # 12 levels in each channel
        "options": {"palette": INKS, "max_distance": 20.8},
    }  # fmt: skip
    run = score(
        tmp_path, LABELS, {"a.png": picture(QUADRANTS)}, {"a.jpg": cmyk_jpeg()},
        size=(64, 64), reading={"classes": list(INKS)}, answer=answer,
    )  # fmt: skip
    assert run.status() == "ok"
    assert run.number() == 1.0
    assert run.summary()["open_fraction"] == 0.0


def test_a_cmyk_jpeg_is_not_inverted_as_what_a_model_sees(tmp_path: Path) -> None:
    """https://github.com/libvips/libvips/issues/1313"""
    task = write_task(
        tmp_path, LABELS, {"a.png": picture(QUADRANTS)}, size=(64, 64), photo=cmyk_jpeg(),
        reading={"classes": list(INKS)},
    )  # fmt: skip
    seen: list[Any] = []

    def look(request: Request) -> Any:
        seen.append(request.images[0].array)
        return QUADRANTS

    (card,) = evaluate(
        tasks=task, model=look, forms=["label_map"], output=str(tmp_path / "results"), bounds=False
    )
    assert card.score().value == 1.0
    centres = seen[0][16:64:32, 16:64:32].reshape(4, 3)
    assert np.abs(centres.astype(int) - list(INKS.values())).max() <= 12


# --- sizes --------------------------------------------------------------------------------


def test_labels_of_another_size_stay_labels(tmp_path: Path) -> None:
    """https://github.com/divamgupta/image-segmentation-keras/issues/11"""
    small = rows(*np.repeat([0, 10, 20], 4), height=12)
    large = np.kron(small, np.ones((2, 2), np.uint8))
    values = {"z0": 0, "z10": 10, "z20": 20}
    run = score(
        tmp_path, LABELS, {"a.png": picture(large)}, {"a.png": picture(small)}, size=(24, 24),
        reading={"classes": [{"name": k, "value": v} for k, v in values.items()]},
        answer={"options": {"classes": values}},
    )  # fmt: skip
    assert run.value() == 1.0
    assert run.statistics()["pred"] == [192] * 3
    assert run.statistics()["unknown"] == 0  # no class was invented
    assert run.summary()["open_fraction"] == 0.0
    assert run.flags() == {"resized"}


def test_nearest_means_between_centres(tmp_path: Path) -> None:
    """https://github.com/albumentations-team/albumentations/issues/850"""
    row = [0, 1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8, 9, 9]
    assert row == [int((at + 0.5) * 10 / 15) for at in range(15)]
    run = score(
        tmp_path, LABELS, {"a.png": picture(rows(*row))}, {"a.png": picture(rows(*range(10)))},
        size=(3, 15), reading={"classes": [f"k{n}" for n in range(10)]},
    )  # fmt: skip
    assert run.value() == 1.0
    assert "resized" in run.flags()


def test_a_mirrored_answer_is_enlarged_to_the_mirrored_labels(tmp_path: Path) -> None:
    """https://github.com/albumentations-team/albumentations/issues/850"""
    # 10 -> 14: no centre falls on a boundary, so both ways are one
    large = rows(*(int((at + 0.5) * 10 / 14) for at in range(14)))
    small = rows(*range(10))
    run = score(
        tmp_path, LABELS,
        {"as_is.png": picture(large), "mirrored.png": picture(large[:, ::-1])},
        {"as_is.png": picture(small), "mirrored.png": picture(small[:, ::-1])},
        size=(3, 14), reading={"classes": [f"k{n}" for n in range(10)]},
    )  # fmt: skip
    assert [run.statistics(name)["correct"] for name in ("as_is", "mirrored")] == [42, 42]


# --- ignored pixels and shifted numbers ---------------------------------------------------


def test_what_is_said_of_ignored_pixels_counts_nowhere(tmp_path: Path) -> None:
    """https://github.com/Lightning-AI/torchmetrics/issues/312"""
    truth = picture(rows(2, 1, 1, 255, height=1))
    run = score(
        tmp_path, LABELS, {"one.png": truth, "two.png": truth},
        {"one.png": picture(rows(1, 2, 1, 1, height=1)),
         "two.png": picture(rows(1, 2, 1, 0, height=1))},
        size=(1, 4), reading={"classes": ["k0", "k1", "k2"], "ignore": [255]},
    )  # fmt: skip
    one, two = (run.statistics(name) for name in ("one", "two"))
    assert one == two
    assert ious(one) == [None, pytest.approx(1 / 3, abs=1e-6), 0.0]
    assert run.number("image_miou") == pytest.approx(1 / 6, abs=1e-6)
    assert run.number("miou") == pytest.approx(1 / 6, abs=1e-6)


def test_an_offset_of_the_truth_alone_lines_both_up(tmp_path: Path) -> None:
    """https://github.com/open-mmlab/mmsegmentation/issues/2146"""
    truth = np.array([[0, 0, 1, 1], [2, 2, 3, 3]], np.uint8)
    pred = np.array([[0, 1, 0, 0], [1, 1, 2, 2]], np.uint8)
    run = score(
        tmp_path, LABELS, {"a.png": picture(truth)}, {"a.png": picture(pred)}, size=(2, 4),
        reading={"classes": ["k1", "k2", "k3"], "offset": -1, "ignore": [0]},
    )  # fmt: skip
    assert ious(run.statistics()) == [1.0, 1.0, 1.0]
    assert run.value() == 1.0
    assert run.statistics()["total"] == 6


def test_without_the_offset_the_slide_shows(tmp_path: Path) -> None:
    """https://github.com/open-mmlab/mmsegmentation/issues/2146"""
    truth = np.array([[0, 0, 1, 1], [2, 2, 3, 3]], np.uint8)
    pred = np.array([[0, 1, 0, 0], [1, 1, 2, 2]], np.uint8)
    run = score(
        tmp_path, LABELS, {"a.png": picture(truth)}, {"a.png": picture(pred)}, size=(2, 4),
        reading={"classes": ["background", "k1", "k2", "k3"]},
    )  # fmt: skip
    assert ious(run.statistics()) == [0.25, 0.0, 0.0, 0.0]


def test_a_truth_that_is_all_ignored_has_no_score_and_not_nan(tmp_path: Path) -> None:
    """https://github.com/open-mmlab/mmsegmentation/issues/1601"""
    run = score(
        tmp_path, LABELS, {"c.png": picture(np.full((4, 4), 255, np.uint8))},
        {"c.png": picture(np.zeros((4, 4), np.uint8))},
        size=(4, 4), reading={"classes": ["x", "y"], "ignore": [255]},
    )  # fmt: skip
    assert run.status("c") == "no_valid_target"
    assert run.value() is None
    assert run.card.score().reason == "no sample was scored"
    assert run.card.counts.statuses == {"no_valid_target": 1}


def test_the_command_says_that_nothing_could_be_scored(tmp_path: Path) -> None:
    """https://github.com/open-mmlab/mmsegmentation/issues/1601"""
    task = write_task(
        tmp_path, LABELS, {"c.png": picture(np.full((4, 4), 255, np.uint8))}, size=(4, 4),
        reading={"classes": ["x", "y"], "ignore": [255]},
    )  # fmt: skip
    write_predictions(tmp_path, {"c.npy": npy(np.zeros((4, 4), np.uint8))})
    done = run_command(tmp_path, task)
    assert done.returncode == 1, done.stderr
    (result,) = json.loads(done.stdout, parse_constant=_refuse)["results"]
    assert {entry["value"] for entry in result["scores"]} == {None}


def _refuse(token: str) -> Any:
    raise AssertionError(f"{token} is no JSON")


# --- painted answers ----------------------------------------------------------------------


def test_a_blended_seam_is_a_third_class_and_both_means_are_told(tmp_path: Path) -> None:
    """https://github.com/vanvalenlab/deepcell-tf/issues/369"""
    truth = rows(*[0] * 20, *[1] * 20, height=40)
    palette = {"red": [255, 0, 0], "blue": [0, 0, 255], "purple": [128, 0, 128]}
    painted = np.array(list(palette.values()), np.uint8)[truth]
    painted[:, 19:21] = palette["purple"]
    answer = {
        "form": "image", "decoder": "nearest_colour", "prompt": {"mid": "{palette}"},
        "options": {"palette": palette},
    }  # fmt: skip
    run = score(
        tmp_path, LABELS, {"a.png": picture(truth)}, {"a.png": picture(painted)}, size=(40, 40),
        reading={"classes": list(palette)}, answer=answer,
    )  # fmt: skip
    assert run.statistics()["pred"] == [760, 760, 80]
    assert ious(run.statistics()) == [0.95, 0.95, 0.0]
    assert run.number("miou_in_truth") == pytest.approx(0.95, abs=1e-6)
    assert run.number("miou") == pytest.approx(1.9 / 3, abs=1e-6)
    assert run.summary()["policy"].startswith("each pixel to its nearest entry")
    for name in ("miou_in_truth", "miou", "nearest_colour"):
        assert name in run.report
