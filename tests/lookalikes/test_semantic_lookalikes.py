"""The cards of semantic labels read what the look-alikes of their releases hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from vgen_eval.types import Sample

from lookalikes import celebamask_hq, cityscapes, coco
from lookalikes.releases import read

Masks = Mapping[str, NDArray[np.bool_]]

JPEG_LEVELS = 0.7
"""Mean difference that JPEG may make."""


def compare(
    found: Sequence[Sample], masks: Sequence[Masks], pictures: Sequence[Any], *, rest: int
) -> None:
    """Labels to the pixel, `rest` where no mask is; the classes told as present; the pictures."""
    assert len(found) == len(masks)
    assert len({sample.group for sample in found}) == len(found)  # no two are of one picture
    for sample, wanted, picture in zip(found, masks, pictures, strict=True):
        classes, labels = sample.target.classes, sample.target.labels
        expected = np.full(labels.shape, rest)
        for name, mask in wanted.items():
            expected[mask] = classes.index(name)
        assert np.array_equal(labels, expected), sample.id
        there = [name for place, name in enumerate(classes) if (expected == place).any()]
        assert sample.fields["present"].splitlines() == there
        assert sample.images[0].array.shape == picture.shape
        off = np.abs(sample.images[0].array.astype(int) - picture.astype(int))
        assert off.mean() < JPEG_LEVELS


def doubled(array: NDArray[Any]) -> NDArray[Any]:
    return np.repeat(np.repeat(array, 2, axis=0), 2, axis=1)


def halved(rgb: NDArray[np.uint8]) -> NDArray[Any]:
    """Means of two by two pixels."""
    height, width = rgb.shape[:2]
    return np.asarray(rgb.reshape(height // 2, 2, width // 2, 2, 3).mean(axis=(1, 3)))


def test_streets_in_classes_and_in_categories(tmp_path: Path) -> None:
    wanted = cityscapes.write(tmp_path, samples=2)
    for task, key, count in (("cityscapes", "labels", 19), ("cityscapes-7", "categories", 7)):
        found = read(f"semantic/{task}", tmp_path)
        compare(found, [one[key] for one in wanted], [one["picture"] for one in wanted], rest=-1)
        for sample, one in zip(found, wanted, strict=True):
            assert sample.id == one["name"]
            assert sample.tags["city"] == one["city"]
            assert np.array_equal(sample.target.labels >= 0, one["valid"])
            assert len(sample.target.classes) == count


@pytest.mark.parametrize("size", [512, 1024])
def test_faces_in_part_files(tmp_path: Path, size: int) -> None:
    wanted = celebamask_hq.write_official(tmp_path, numbers=(27, 2001))
    numbers = [one["number"] for one in wanted]
    (tmp_path / "celebamask_hq" / "some.json").write_text(json.dumps(numbers))
    found = read("semantic/celebamask-hq", tmp_path, ids="some.json", score_size=size)
    masks = [one["labels"] for one in wanted]
    if size == 1024:
        masks = [{name: doubled(mask) for name, mask in one.items()} for one in masks]
    pictures = [one["picture"] if size == 1024 else halved(one["picture"]) for one in wanted]
    compare(found, masks, pictures, rest=0)
    assert [sample.id for sample in found] == [str(number) for number in numbers]


@pytest.mark.parametrize("size", [512, 1024])
@pytest.mark.parametrize("stored", [(512, 1024), (512,)])
def test_faces_of_the_export(tmp_path: Path, size: int, stored: tuple[int, ...]) -> None:
    wanted = celebamask_hq.write_export(tmp_path, sizes=stored)
    found = read("semantic/celebamask-hq", tmp_path, score_size=size)
    key = "labels" if size == 512 else "labels_1024"
    pictures = [one["picture"] if size == 512 else doubled(one["picture"]) for one in wanted]
    compare(found, [one[key] for one in wanted], pictures, rest=0)
    assert [sample.id for sample in found] == [one["name"] for one in wanted]


def test_segments_of_whole_pictures(tmp_path: Path) -> None:
    wanted = coco.write(tmp_path)
    found = read("semantic/coco-panoptic", tmp_path, draw=None, area="whole")
    compare(found, [one["labels"] for one in wanted], [one["picture"] for one in wanted], rest=0)
    for sample, one in zip(found, wanted, strict=True):
        assert sample.id == f"{one['number']:012d}"
        assert np.array_equal(sample.target.labels == 0, one["unlabelled"])
    assert found[0].target.classes[1:] == tuple(coco.CATEGORIES.values())


def test_segments_of_the_middle_square(tmp_path: Path) -> None:
    wanted = coco.write(tmp_path)
    found = read("semantic/coco-panoptic", tmp_path, draw=None)

    def square(array: NDArray[Any]) -> NDArray[Any]:
        height, width = array.shape[:2]
        side = min(height, width)
        left, top = (width - side) // 2, (height - side) // 2
        picture = Image.fromarray(array[top : top + side, left : left + side])
        return np.asarray(picture.resize((1024, 1024), Image.Resampling.NEAREST))

    masks = [
        {name: square(mask.astype(np.uint8)) > 0 for name, mask in one["labels"].items()}
        for one in wanted
    ]
    compare(found, masks, [square(one["picture"]) for one in wanted], rest=0)
