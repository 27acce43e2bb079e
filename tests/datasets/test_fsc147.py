"""FSC-147: points, splits and classes from three lists, pictures beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from countkit import CUT, picture
from releasekit import item_of, load_all
from vgen_eval.errors import BadSample, CardError, MissingData
from vgen_eval_plugins.datasets.fsc147 import FSC147

POINTS = {
    "2.jpg": [[10.5, 20.25], [30, 4]],
    "7.jpg": [[1.0, 1.0]],
    "900.jpg": [[5, 5]] * 60,
}
CLASSES = "2.jpg\tsea shells\n7.jpg\tpeppers\n900.jpg\tpolka dot tiles\n"


def write(root: Path, *, points: Any = None, splits: Any = None, classes: str = CLASSES) -> Path:
    folder = root / "images_384_VarV2"
    folder.mkdir()
    for at, name in enumerate(POINTS):
        data = picture(at, width=512, height=384, form="JPEG")
        (folder / name).write_bytes(data)
    annotations = {
        name: {"H": 768, "W": 1024, "box_examples_coordinates": [[[0, 0], [4, 4]]], "points": them}
        for name, them in (POINTS if points is None else points).items()
    }
    lists = splits or {"train": ["7.jpg"], "val": [], "test": ["900.jpg", "2.jpg"]}
    (root / "annotation_FSC147_384.json").write_text(json.dumps(annotations))
    (root / "Train_Test_Val_FSC_147.json").write_text(json.dumps(lists))
    (root / "ImageClasses_FSC147.txt").write_text(classes)
    return root


def reader_of(root: Path, **options: Any) -> FSC147:
    return FSC147(FSC147.Options(**options), root=root, folder=root)


def test_a_picture_of_the_split_is_a_sample_with_its_points(tmp_path: Path) -> None:
    tiles, shells = load_all(reader_of(write(tmp_path)))
    assert (tiles.id, shells.id) == ("900", "2")  # the list's order
    assert (tiles.target.count, shells.target.count) == (60, 2)
    assert shells.target.points.tolist() == [[10.5, 20.25], [30.0, 4.0]]
    assert shells.fields == {"query": "sea shells"}
    assert shells.group == "2.jpg"
    assert tiles.tags == {"class": "polka dot tiles", "count": "51+"}
    assert shells.images[0].array.shape == (384, 512, 3)


def test_another_split_is_asked_for_by_its_name(tmp_path: Path) -> None:
    write(tmp_path)
    assert [item.id for item in reader_of(tmp_path, split="train").index()] == ["7"]
    with pytest.raises(MissingData, match="no picture of 'val'"):
        reader_of(tmp_path, split="val").index()
    with pytest.raises(MissingData, match="no picture of 'test_coco'"):
        reader_of(tmp_path, split="test_coco").index()


@pytest.mark.parametrize(
    "name",
    ["annotation_FSC147_384.json", "Train_Test_Val_FSC_147.json", "ImageClasses_FSC147.txt"],
)
def test_a_list_that_is_not_there_is_missing_data(tmp_path: Path, name: str) -> None:
    (write(tmp_path) / name).unlink()
    with pytest.raises(MissingData, match=name):
        reader_of(tmp_path).index()


@pytest.mark.parametrize("name", ["annotation_FSC147_384.json", "Train_Test_Val_FSC_147.json"])
@pytest.mark.parametrize("text", ["{", "[]", '{"2.jpg": {"points": [[1]]}, "test": [3]}'])
def test_a_list_of_another_kind_is_missing_data(tmp_path: Path, name: str, text: str) -> None:
    (write(tmp_path) / name).write_text(text)
    with pytest.raises(MissingData, match=name):
        reader_of(tmp_path).index()


def test_every_picture_without_points_or_class_is_told_at_once(tmp_path: Path) -> None:
    names = ["2.jpg", "7.jpg", "900.jpg", "8.jpg", "2.jpg"]
    write(tmp_path, splits={"test": names}, classes="2.jpg\tshells\n900.jpg\ttiles\n")
    with pytest.raises(CardError) as caught:
        reader_of(tmp_path).index()
    assert [problem.path for problem in caught.value.problems] == ["7.jpg", "8.jpg", "2.jpg"]


@pytest.mark.parametrize("bad", ["gone", "cut", "empty", "text"])
def test_a_faulty_picture_is_a_bad_sample_named(tmp_path: Path, bad: str) -> None:
    path = write(tmp_path) / "images_384_VarV2" / "2.jpg"
    data = path.read_bytes()
    if bad == "gone":
        path.unlink()
    else:
        path.write_bytes({"cut": data[CUT], "empty": b"", "text": b"<html>"}[bad])
    reader = reader_of(tmp_path)
    items = reader.index()  # which opens no picture
    with pytest.raises(BadSample, match=r"2\.jpg"):
        reader.load(items[1])
    assert reader.load(items[0]).target.count == 60
    assert [problem.path for problem in reader.verify(items)] == ["2"]
    looked = [problem.path for problem in reader.look(items)]
    assert looked == (["2"] if bad in ("gone", "empty") else [])
    assert reader.look(items[:1]) == []


def test_points_a_little_outside_count_and_are_brought_to_the_border(tmp_path: Path) -> None:
    write(tmp_path, points={**POINTS, "2.jpg": [[513.0, 20.0], [-2.0, 384.5]]})
    _, shells = load_all(reader_of(tmp_path))
    assert shells.target.points.tolist() == [[512.0, 20.0], [0.0, 384.0]]


def test_points_far_outside_are_of_another_release(tmp_path: Path) -> None:
    write(tmp_path, points={**POINTS, "2.jpg": [[10.0, 20.0], [900.0, 500.0]]})
    reader = reader_of(tmp_path)
    with pytest.raises(BadSample, match=r"\(900, 500\) lies outside the picture, 512x384"):
        reader.load(reader.index()[1])


def test_a_name_that_leads_out_of_the_folder_is_a_bad_sample(tmp_path: Path) -> None:
    name = "../secret.jpg"
    write(tmp_path, points={name: [[1, 1]]}, splits={"test": [name]}, classes=f"{name}\tthings\n")
    (tmp_path / "secret.jpg").write_bytes(picture(1))
    reader = reader_of(tmp_path)
    with pytest.raises(BadSample):
        reader.load(reader.index()[0])


def test_a_picture_without_things_has_no_points(tmp_path: Path) -> None:
    write(tmp_path, points={**POINTS, "2.jpg": []})
    _, shells = load_all(reader_of(tmp_path))
    assert shells.target.count == 0
    assert np.shape(shells.target.points) == (0, 2)


def test_an_unknown_sample_is_a_bad_one(tmp_path: Path) -> None:
    with pytest.raises(BadSample, match="no sample '77'"):
        reader_of(write(tmp_path)).load(item_of("77"))


def test_the_fingerprint_follows_the_lists_and_the_split(tmp_path: Path) -> None:
    write(tmp_path)
    before = reader_of(tmp_path).fingerprint()
    assert reader_of(tmp_path).fingerprint() == before
    assert reader_of(tmp_path, split="train").fingerprint() != before
    (tmp_path / "ImageClasses_FSC147.txt").write_text(CLASSES.replace("peppers", "cups"))
    assert reader_of(tmp_path).fingerprint() != before
