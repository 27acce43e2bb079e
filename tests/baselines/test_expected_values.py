"""What the baselines score on the shipped samples, worked out from the annotations alone.

Nothing here imports the harness: annotations are read with json, polygons filled with OpenCV,
the balls of scenes cast once more, Otsu's threshold found by trying all of them. The harness is
run in a process of its own. Only the colours of a scene, which are no truth, come from its
renderer.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import skimage
from numpy.typing import NDArray
from vgen_eval_plugins.raycast.render import render
from vgen_eval_plugins.raycast.scenes import parse_scenes

CARDS = Path(__file__).parents[2] / "task_cards" / "samples"
PHOTOS = Path(skimage.__file__).parent / "data"
BLIND_COUNT = 5
BLIND_BOX = 0.5

Mask = NDArray[np.bool_]


def annotations(name: str) -> list[dict[str, Any]]:
    lines = (CARDS / f"{name}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def scene(line: Mapping[str, Any]) -> dict[str, Any]:
    scenes = json.loads((CARDS / "scenes.json").read_text())
    (found,) = (entry for entry in scenes if entry["name"] == line["scene"])
    return dict(found)


def photo(line: Mapping[str, Any]) -> NDArray[np.uint8]:
    """uint8 (H, W, 3), blue first; grey photographs have three equal channels."""
    if "scene" in line:
        scenes = parse_scenes((CARDS / "scenes.json").read_bytes(), file="scenes.json")
        return render(scenes[line["scene"]]).rgb[:, :, ::-1]
    picture = cv2.imread(str(PHOTOS / line["image"]), cv2.IMREAD_COLOR)
    assert picture is not None
    return np.asarray(picture, np.uint8)


def count_of(line: Mapping[str, Any]) -> int:
    """In the scenes that are counted, every object of the label is seen."""
    if "scene" in line:
        return sum(entry["label"] == line["label"] for entry in scene(line)["objects"])
    return int(line["count"])


def balls_mask(line: Mapping[str, Any]) -> Mask:
    """Where a named ball is the nearest of all balls; nothing else hides the ones that we name."""
    found = scene(line)
    camera = found["camera"]
    x = (np.arange(camera["width"])[None, :] - camera["principal_px"][0]) / camera["focal_px"]
    y = (np.arange(camera["height"])[:, None] - camera["principal_px"][1]) / -camera["focal_px"]
    angle = np.arctan(camera.get("down", 0.0))
    nearest = np.full((camera["height"], camera["width"]), np.inf)
    named = np.zeros(nearest.shape, bool)
    for entry in found["objects"]:
        if entry["shape"] != "sphere":
            continue
        right, height, back = entry["centre"]
        height -= camera["eye_m"]
        up = height * np.cos(angle) - back * np.sin(angle)
        toward = height * np.sin(angle) + back * np.cos(angle)
        b = x * right + y * up - toward
        a = x * x + y * y + 1
        c = right**2 + up**2 + toward**2 - entry["radius"] ** 2
        inside = b * b - a * c
        t = np.where(inside >= 0, (b - np.sqrt(np.abs(inside))) / a, np.inf)
        named = np.where(t < nearest, entry["name"] in line["objects"], named)
        nearest = np.minimum(t, nearest)
    return named


def truth(line: Mapping[str, Any]) -> Mask:
    if "scene" in line:
        return balls_mask(line)
    height, width = photo(line).shape[:2]
    inside = np.zeros((height, width), np.uint8)
    for polygon in line["polygons"]:
        cv2.fillPoly(inside, [np.array(polygon, np.int32)], 255)
    for hole in line.get("holes", ()):
        cv2.fillPoly(inside, [np.array(hole, np.int32)], 0)
    return inside > 0


def iou(pred: Mask, target: Mask) -> float:
    union = int((pred | target).sum())
    return int((pred & target).sum()) / union if union else 1.0


def otsu(grey: NDArray[np.uint8]) -> int:
    """The threshold that parts the two classes best: all are tried, the first of equals."""
    counts = np.bincount(grey.ravel(), minlength=256).astype(np.float64)
    levels = np.arange(256)
    best, found = -1.0, 0
    for cut in range(255):
        low, high = counts[: cut + 1], counts[cut + 1 :]
        if not low.sum() or not high.sum():
            continue
        means = (low @ levels[: cut + 1] / low.sum(), high @ levels[cut + 1 :] / high.sum())
        between = low.sum() * high.sum() * (means[0] - means[1]) ** 2
        if between > best * (1 + 1e-12):
            best, found = between, cut
    return found


def centred_box(line: Mapping[str, Any]) -> Mask:
    height, width = photo(line).shape[:2]
    box = np.zeros((height, width), bool)
    rows, columns = round(height * BLIND_BOX), round(width * BLIND_BOX)
    top, left = (height - rows) // 2, (width - columns) // 2
    box[top : top + rows, left : left + columns] = True
    return box


def bright_part(line: Mapping[str, Any]) -> Mask:
    """What the photograph itself is when it is read as a mask."""
    picture = photo(line).astype(np.float64)
    luma = 0.114 * picture[:, :, 0] + 0.587 * picture[:, :, 1] + 0.299 * picture[:, :, 2]
    grey = np.floor(luma + 0.5).astype(np.uint8)
    return np.asarray(grey > otsu(grey))


def scores_of(folder: Path, *arguments: str) -> dict[str, dict[str, Any]]:
    """Evaluates in a process of its own; the score lines by sample."""
    code = (
        "import sys, json, vgen_eval\n"
        "(card,) = vgen_eval.evaluate(tasks=sys.argv[1], model=sys.argv[2], answer=sys.argv[3],\n"
        "                             output=sys.argv[4], bounds=False)\n"
        "print(json.dumps([card.run, card.score().metric, card.score().value]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments, str(folder)],
        check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run, metric, value = json.loads(done.stdout)
    (file,) = (folder / run / "scores").glob("*.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return {
        "card": {"metric": metric, "value": value},
        **{line["sample"]: line for line in lines},
    }


@pytest.mark.parametrize(
    ("model", "protocol", "form", "count"),
    [
        ("blind", "standard", "image", BLIND_COUNT),
        ("blind", "standard", "text", BLIND_COUNT),
        ("blind", "standard", "points", BLIND_COUNT),
        ("blind", "white_dots", "image", BLIND_COUNT),
        ("copy", "standard", "image", 0),
    ],
)
def test_counting_errors_of_models_that_always_say_the_same(
    tmp_path: Path, model: str, protocol: str, form: str, count: int
) -> None:
    errors = {line["id"]: abs(count - count_of(line)) for line in annotations("counting")}
    found = scores_of(tmp_path, f"samples/counting@{protocol}", model, form)
    card = found.pop("card")
    assert {name: line["values"]["mae"] for name, line in found.items()} == errors
    assert card["metric"] == "mae"
    assert card["value"] == pytest.approx(sum(errors.values()) / len(errors), abs=1e-12)


@pytest.mark.parametrize(
    ("model", "form", "answer", "room"),
    [
        ("blind", "image", centred_box, 1e-12),
        ("blind", "mask", centred_box, 1e-12),
        # luma is rounded in fixed point by one side, so that single pixels at the cut may differ
        ("copy", "image", bright_part, 2e-3),
    ],
)
def test_overlaps_of_models_that_do_not_read_the_phrase(
    tmp_path: Path, model: str, form: str, answer: Callable[[Any], Mask], room: float
) -> None:
    lines = annotations("referring")
    expected = {line["id"]: iou(answer(line), truth(line)) for line in lines}
    found = scores_of(tmp_path, "samples/referring", model, form)
    card = found.pop("card")
    assert card["metric"] == "giou"
    for name, overlap in expected.items():
        assert found[name]["values"]["iou"] == pytest.approx(overlap, abs=room), name
    assert card["value"] == pytest.approx(np.mean(list(expected.values())), abs=room)


@pytest.mark.parametrize("form", ["image", "text", "points"])
def test_the_ceiling_counts_exactly(tmp_path: Path, form: str) -> None:
    found = scores_of(tmp_path, "samples/counting", "oracle", form)
    assert found.pop("card")["value"] == 0
    counts = {line["id"]: count_of(line) for line in annotations("counting")}
    assert {name: line["prediction"]["count"] for name, line in found.items()} == counts


@pytest.mark.parametrize("form", ["image", "mask"])
def test_the_ceiling_finds_every_mask(tmp_path: Path, form: str) -> None:
    found = scores_of(tmp_path, "samples/referring", "oracle", form)
    assert found.pop("card")["value"] >= 0.995
    for line in annotations("referring"):
        target = truth(line)
        parts = found[line["id"]]["statistics"]["mask_iou"]
        assert parts["intersection"] / parts["union"] >= 0.995
        assert parts["union"] == pytest.approx(int(target.sum()), rel=0.005)


@pytest.mark.parametrize("protocol", ["standard", "red_left"])
@pytest.mark.parametrize(("form", "room"), [("image", 0.6), ("normal_map", 1e-3)])
def test_the_ceiling_sees_every_normal(
    tmp_path: Path, protocol: str, form: str, room: float
) -> None:
    found = scores_of(tmp_path, f"samples/normals@{protocol}", "oracle", form)
    card = found.pop("card")
    assert card["metric"] == "mean"
    assert len(found) == len(annotations("normals"))
    assert 0 <= max(line["values"]["mean"] for line in found.values()) <= room
