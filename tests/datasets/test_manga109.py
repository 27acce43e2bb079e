"""Manga109: one sample a page and class, its outlines joined once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from referkit import CORNER, HEIGHT, SQUARE, WIDTH, quiet, write_book, write_json, write_photo
from vgen_eval.errors import BadSample, MissingData
from vgen_eval_plugins.datasets.manga109 import QUERIES, Manga109, name_class
from vgen_eval_plugins.datasets.segments import draw_segments, pack_mask

SIZE = (HEIGHT, WIDTH)
RUNS = {"size": list(SIZE), "counts": [HEIGHT * 20, 30, HEIGHT * WIDTH - HEIGHT * 20 - 30]}


def reader(root: Path, **options: Any) -> Manga109:
    return Manga109(Manga109.Options(**options), root=root, folder=root)


def prepared(root: Path) -> Manga109:
    packed = {"size": list(SIZE), "counts": pack_mask(draw_segments([CORNER], SIZE))}
    write_book(
        root,
        "BookB",
        {
            "BookB/010.jpg": {"face": [[SQUARE]]},
            "BookB/002.jpg": {"body": [packed], "text": [RUNS]},
        },
    )
    write_book(root, "BookA", {"000.jpg": {"balloon": [[SQUARE], RUNS]}, "001.jpg": {}})
    made = reader(root)
    made.prepare(quiet)
    return made


def test_a_class_on_a_page_is_a_sample_with_all_its_outlines(tmp_path: Path) -> None:
    made = prepared(tmp_path)
    items = list(made.index())
    assert [item.id for item in items] == [
        "BookA/000/balloon", "BookB/002/text", "BookB/002/body", "BookB/010/face",
    ]  # fmt: skip
    assert items[1].group == items[2].group == "BookB/002"
    assert items[0].tags == {"class": "balloon", "book": "BookA"}
    sample = made.load(items[0])
    assert sample.fields == {"query": "speech balloon"}
    joined = draw_segments([SQUARE], SIZE) | draw_segments(RUNS, SIZE)
    assert np.array_equal(sample.target, joined)
    assert np.array_equal(made.load(items[2]).target, draw_segments([CORNER], SIZE))


def test_pages_are_found_under_the_books_own_name(tmp_path: Path) -> None:
    write_book(tmp_path, "BookC", {"Other/003.jpg": {"frame": [[SQUARE]]}})
    made = reader(tmp_path)
    made.prepare(quiet)
    (item,) = made.index()
    assert item.group == "BookC/003"
    assert made.look([item]) == []


def test_classes_books_and_small_areas_can_be_chosen(tmp_path: Path) -> None:
    prepared(tmp_path)
    assert [i.id for i in reader(tmp_path, classes=("face",)).index()] == ["BookB/010/face"]
    assert len(reader(tmp_path, books=("BookB",)).index()) == 3
    assert [i.id for i in reader(tmp_path, min_area=90).index()] == ["BookA/000/balloon"]
    with pytest.raises(MissingData, match="none of the classes and books"):
        reader(tmp_path, books=("BookZ",)).index()


def test_prepared_lines_are_all_that_a_run_reads(tmp_path: Path) -> None:
    prepared(tmp_path)
    for file in (tmp_path / "segmentation").glob("*.json"):
        file.unlink()
    made = reader(tmp_path)
    assert len(made.index()) == 4
    assert made.verify(made.index()) == []


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("text/dialog", "text"),
        ("Character_Body", "body"),
        ("character face", "face"),
        ("Balloon", "balloon"),
        ("panel number", None),
        *[(name, name) for name in QUERIES],
    ],
)
def test_classes_are_known_under_their_several_names(name: str, known: str | None) -> None:
    assert name_class(name) == known


def test_other_classes_are_left_out_and_told_of(tmp_path: Path) -> None:
    more = {"categories": [{"id": 1, "name": "frame"}, {"id": 2, "name": "car"}]}
    write_book(tmp_path, "BookA", {"000.jpg": {"frame": [[SQUARE]], "text": [RUNS]}}, **more)
    said: list[str] = []
    reader(tmp_path).prepare(said.append)
    assert any("left out, of other classes: car" in line for line in said)
    assert [i.id for i in reader(tmp_path).index()] == ["BookA/000/frame"]


@pytest.mark.parametrize(
    ("book", "reason"),
    [
        ({"images": []}, "annotations"),
        ([], "Expected `object`"),
        (
            {
                "images": [{"id": 1, "file_name": "000.jpg", "width": 5, "height": 5}],
                "annotations": [{"image_id": 1, "category_id": 1, "segmentation": RUNS}],
                "categories": [{"id": 1, "name": "frame"}],
            },
            r"frame on 000\.jpg: run lengths of the size \[24, 32\]",
        ),
        (
            {
                "images": [],
                "annotations": [{"image_id": 9, "category_id": 1, "segmentation": [SQUARE]}],
                "categories": [{"id": 1, "name": "frame"}],
            },
            "outlines on image 9",
        ),
    ],
)
def test_a_file_that_is_no_annotation_is_named(book: Any, reason: str, tmp_path: Path) -> None:
    write_json(tmp_path / "segmentation/BookA.json", book)
    with pytest.raises(MissingData, match=rf"BookA\.json.*{reason}"):
        reader(tmp_path).prepare(quiet)
    assert not (tmp_path / "segmentation/masks.jsonl").exists()


def test_what_is_missing_is_named_with_its_cure(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"no <Book>\.json"):
        reader(tmp_path).prepare(quiet)
    with pytest.raises(MissingData, match="was not made") as caught:
        reader(tmp_path).index()
    assert "data prepare referring/manga109" in (caught.value.cure or "")


def test_pages_of_another_size_and_missing_ones_are_named(tmp_path: Path) -> None:
    made = prepared(tmp_path)
    items = list(made.index())
    write_photo(tmp_path / "images/BookA/000.jpg", (HEIGHT, 2 * WIDTH))
    with pytest.raises(BadSample, match=r"BookA/000\.jpg: the picture is 64x24, its mask 32x24"):
        made.load(items[0])
    (tmp_path / "images/BookA/000.jpg").unlink()
    (problem,) = made.look(items)
    assert problem.path == "BookA/000/balloon"


def test_fingerprint_hangs_on_the_masks(tmp_path: Path) -> None:
    made = prepared(tmp_path)
    made.index()
    before = made.fingerprint()
    write_book(tmp_path, "BookA", {"000.jpg": {"balloon": [[SQUARE]]}})
    again = reader(tmp_path)
    again.prepare(quiet)
    again.index()
    assert again.fingerprint() != before


def test_classes_are_named_once() -> None:
    with pytest.raises(ValueError, match="twice"):
        Manga109.Options(classes=("face", "face"))
