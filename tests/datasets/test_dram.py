"""DRAM: one sample a painting and class, numbers that are not kept unknown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as Pillow
from referkit import quiet, write_dram, write_photo
from vgen_eval.errors import BadSample, MissingData
from vgen_eval_plugins.datasets.dram import CLASSES, Dram


def label() -> NDArray[np.uint8]:
    made = np.zeros((20, 30), np.uint8)
    made[2:8, 3:9] = 15
    made[10:12, 10:12] = 15
    made[12:18, 20:28] = 16
    made[0, :10] = 255
    made[19, :10] = 7  # a car: not kept
    return made


def reader(root: Path, **options: Any) -> Dram:
    return Dram(Dram.Options(**options), root=root, folder=root)


def prepared(root: Path, **lists: list[str]) -> Dram:
    plain = np.zeros((10, 10), np.uint8)
    boat = np.full((10, 10), 4, np.uint8)
    names = {"realism/a man/one": label(), "expressionism/b/two": plain, "unseen/c/three": boat}
    write_dram(root, names, **(lists or {"dram": ["realism/a man/one", "expressionism/b/two"]}))
    made = reader(root)
    made.prepare(quiet)
    return made


def test_a_class_of_a_painting_is_a_sample_with_all_its_pixels(tmp_path: Path) -> None:
    made = prepared(tmp_path)
    items = list(made.index())
    assert [item.id for item in items] == [
        "realism/a man/one/person",
        "realism/a man/one/potted_plant",
    ]
    assert {item.group for item in items} == {"realism/a man/one"}
    assert items[1].tags == {"class": "potted plant", "movement": "realism"}
    sample = made.load(items[0])
    assert np.array_equal(sample.target, label() == 15)
    assert np.array_equal(sample.valid, np.isin(label(), [0, 15, 16]))
    assert made.load(items[1]).fields == {"query": "potted plant"}


def test_classes_are_pascals_eleven() -> None:
    assert dict(CLASSES) == {
        3: "bird", 4: "boat", 5: "bottle", 8: "cat", 9: "chair", 10: "cow", 12: "dog",
        13: "horse", 15: "person", 16: "potted plant", 17: "sheep",
    }  # fmt: skip


def test_lists_name_paintings_with_or_without_suffix(tmp_path: Path) -> None:
    prepared(tmp_path, dram=["realism/a man/one.jpg", ""], unseen=["unseen/c/three"])
    assert len(reader(tmp_path).index()) == 2
    (item,) = reader(tmp_path, list="unseen").index()
    assert item.id == "unseen/c/three/boat"
    sample = reader(tmp_path, list="unseen").load(item)
    assert sample.target.all()
    assert sample.valid is None


def test_small_areas_can_be_left_out(tmp_path: Path) -> None:
    prepared(tmp_path)
    assert [i.tags["class"] for i in reader(tmp_path, min_area=41).index()] == ["potted plant"]


def test_palette_labels_are_their_indices_and_the_old_folder_is_known(tmp_path: Path) -> None:
    prepared(tmp_path)
    file = tmp_path / "DRAM_processed/labels/realism/a man/one.png"
    painted = Pillow.fromarray(label()).convert("P")
    painted.putdata(label().ravel().tolist())
    painted.putpalette([at * 7 % 256 for at in range(768)])
    painted.save(file)
    (tmp_path / "DRAM_processed").rename(tmp_path / "DRAM_500")
    made = reader(tmp_path)
    assert np.array_equal(made.load(made.index()[0]).target, label() == 15)


def test_no_label_is_opened_by_the_index(tmp_path: Path) -> None:
    made = prepared(tmp_path)
    before = [item.id for item in made.index()]
    for file in (tmp_path / "DRAM_processed/labels").rglob("*.png"):
        file.unlink()
    again = reader(tmp_path)
    assert [item.id for item in again.index()] == before
    assert len(again.look(again.index())) == 2


def test_what_is_missing_is_named_with_its_cure(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"DRAM_processed/test holds no <list>\.txt"):
        reader(tmp_path).prepare(quiet)
    with pytest.raises(MissingData, match=r"no file 'DRAM_processed/test/dram\.txt'"):
        reader(tmp_path).index()
    prepared(tmp_path)
    prepared_file = tmp_path / "DRAM_processed/labels.jsonl"
    (tmp_path / "DRAM_processed/test/dram.txt").write_text("realism/other\n")
    with pytest.raises(MissingData, match="'realism/other' is in no line of"):
        reader(tmp_path).index()
    with pytest.raises(MissingData, match=r"no file 'DRAM_processed/labels/realism/other\.png'"):
        reader(tmp_path).prepare(quiet)
    prepared_file.unlink()
    with pytest.raises(MissingData, match="was not made") as caught:
        reader(tmp_path).index()
    assert caught.value.cure is not None
    assert "data prepare referring/dram" in caught.value.cure


def test_labels_that_changed_are_of_another_size_or_cut_are_refused(tmp_path: Path) -> None:
    made = prepared(tmp_path)
    item = made.index()[0]
    file = tmp_path / "DRAM_processed/labels/realism/a man/one.png"
    photo = tmp_path / "DRAM_processed/test/realism/a man/one.jpg"
    write_photo(photo, (20, 31))
    with pytest.raises(BadSample, match="the picture is 31x20, its mask 30x20"):
        made.load(item)
    whole = file.read_bytes()
    changed = label()
    changed[3, 3] = 0
    Pillow.fromarray(changed).save(file)
    with pytest.raises(BadSample, match="changed since it was prepared"):
        made.load(item)
    file.write_bytes(whole[:40])
    with pytest.raises(BadSample, match=r"one\.png"):
        made.load(item)
    assert [problem.path for problem in made.verify([item])] == [item.id]


def test_fingerprint_hangs_on_the_labels(tmp_path: Path) -> None:
    made = prepared(tmp_path)
    before = made.fingerprint()
    assert before == reader(tmp_path).fingerprint()
    changed = label()
    changed[3, 3] = 0
    Pillow.fromarray(changed).save(tmp_path / "DRAM_processed/labels/realism/a man/one.png")
    made.prepare(quiet)
    assert reader(tmp_path).fingerprint() != before
