"""ReasonSeg: shapes painted from large to small, ignored ones unknown, odd files read or named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from referkit import HEIGHT, WIDTH, box, shape, write_photo, write_reason
from vgen_eval.errors import BadSample, MissingData, NoValidTarget
from vgen_eval_plugins.datasets.reasonseg import ReasonSeg
from vgen_eval_plugins.segmentation.metrics import MaskIoU


def reader(root: Path, **options: Any) -> ReasonSeg:
    return ReasonSeg(ReasonSeg.Options(**options), root=root, folder=root)


def only(root: Path, **options: Any) -> Any:
    made = reader(root, **options)
    (item,) = made.index()
    return made.load(item)


def test_shapes_are_painted_outline_and_inside_from_the_largest(tmp_path: Path) -> None:
    shapes = [
        box("ignored_part", 6, 6, 9, 9),
        box("target", 2, 2, 20, 16),
        box("target", 7, 7, 8, 8),
        box("flag", 0, 0, 31, 23),
    ]
    write_reason(tmp_path, "a", shapes)
    sample = only(tmp_path)
    expected = np.zeros((HEIGHT, WIDTH), np.uint8)
    expected[2:17, 2:21] = 1  # the corners' own pixels too
    expected[6:10, 6:10] = 255
    expected[7:9, 7:9] = 1
    assert np.array_equal(sample.target, expected == 1)
    assert np.array_equal(sample.valid, expected != 255)
    assert sample.fields == {"query": "what is warm?"}


def test_points_lose_their_fractions(tmp_path: Path) -> None:
    write_reason(tmp_path, "a", [box("target", 2.9, 2.9, 5.9, 5.9)])
    expected = np.zeros((HEIGHT, WIDTH), bool)
    expected[2:6, 2:6] = True
    assert np.array_equal(only(tmp_path).target, expected)


def test_shapes_beyond_the_border_are_cut(tmp_path: Path) -> None:
    write_reason(tmp_path, "a", [box("target", -5, -5, 3, 3)])
    sample = only(tmp_path)
    assert sample.target[:4, :4].all()
    assert sample.target.sum() == 16
    assert sample.valid is None


def test_one_text_or_all_of_them(tmp_path: Path) -> None:
    write_reason(tmp_path, "a", [box("target", 1, 1, 4, 4)], text=["one", "two"])
    write_reason(tmp_path, "b", [box("target", 1, 1, 4, 4)], text=["three"])
    assert [i.id for i in reader(tmp_path).index()] == ["a", "b"]
    every = reader(tmp_path, texts="all")
    assert [(i.id, i.group) for i in every.index()] == [("a-0", "a"), ("a-1", "a"), ("b-0", "b")]
    assert [every.load(i).fields["query"] for i in every.index()] == ["one", "two", "three"]


@pytest.mark.parametrize("shapes", [[], [box("flag", 1, 1, 3, 3)]])
def test_a_picture_without_a_shape_has_an_empty_truth_or_is_skipped(
    shapes: Any, tmp_path: Path
) -> None:
    write_reason(tmp_path, "a", shapes)
    write_reason(tmp_path, "b", [box("target", 1, 1, 3, 3)])
    made = reader(tmp_path)
    target = made.load(made.index()[0]).target
    assert not target.any()
    metric = MaskIoU(MaskIoU.Options())
    assert metric.compute(metric.update(target, target, None)) == {"iou": 1.0}
    assert [i.id for i in reader(tmp_path, no_polygon="skip").index()] == ["b"]


def test_a_truth_that_is_ignored_everywhere_is_no_valid_target(tmp_path: Path) -> None:
    write_reason(tmp_path, "a", [box("ignore", 0, 0, WIDTH - 1, HEIGHT - 1)])
    sample = only(tmp_path)
    assert not sample.valid.any()
    with pytest.raises(NoValidTarget):
        MaskIoU(MaskIoU.Options()).update(sample.target, sample.target, sample.valid)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_texts_of_either_encoding_are_read(encoding: str, tmp_path: Path) -> None:
    write_reason(
        tmp_path, "a", [box("t", 1, 1, 3, 3)], text=["the caf\u00e9\u2019s door"], encoding=encoding
    )
    assert only(tmp_path).fields == {"query": "the caf\u00e9\u2019s door"}


@pytest.mark.parametrize(
    ("shapes", "reason"),
    [
        ([box("target", 100, 100, 120, 120)], r"shapes\[0\] lies outside .* 32x24"),
        ([shape("target")], r"shapes\[0\] has no points"),
        ([shape("target", (1e9, 2), (3, 4), (5, 6))], r"shapes\[0\] has no points within"),
        ([{"label": "target"}], "points"),
        ([shape("target", (1, 2, 3))], "length 2"),
        ("none", "shapes"),
    ],
)
def test_shapes_of_another_picture_are_refused(shapes: Any, reason: str, tmp_path: Path) -> None:
    write_reason(tmp_path, "a", shapes)
    with pytest.raises(BadSample, match=rf"a\.json.*{reason}"):
        only(tmp_path)


@pytest.mark.parametrize("data", [b"", b"{", b'{"text": []}', b'{"text": "x"}', b"\x81\x8d", b"[]"])
@pytest.mark.parametrize("texts", ["first", "all"])
def test_a_broken_annotation_is_that_pictures_fault_alone(
    data: bytes, texts: Any, tmp_path: Path
) -> None:
    write_reason(tmp_path, "a", [])
    write_reason(tmp_path, "b", [box("target", 1, 1, 3, 3)])
    (tmp_path / "ReasonSeg/test/a.json").write_bytes(data)
    made = reader(tmp_path, texts=texts)
    first, second = made.index()
    with pytest.raises(BadSample, match=r"a\.json"):
        made.load(first)
    assert made.load(second).target.sum() == 9
    assert [problem.path for problem in made.verify([first, second])] == [first.id]


def test_missing_files_are_named_before_a_run(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"ReasonSeg/test holds no \*\.jpg"):
        reader(tmp_path).index()
    write_reason(tmp_path, "a", [])
    made = reader(tmp_path)
    assert made.look(made.index()) == []
    (tmp_path / "ReasonSeg/test/a.json").unlink()
    (problem,) = made.look(made.index())
    assert "no file 'ReasonSeg/test/a.json'" in problem.message
    write_photo(tmp_path / "ReasonSeg/test/a.jpg")
    (tmp_path / "ReasonSeg/test/a.jpg").write_bytes(b"no picture")
    (problem,) = made.verify(made.index())
    assert "a.json" in problem.message


def test_fingerprint_hangs_on_the_annotations(tmp_path: Path) -> None:
    write_reason(tmp_path, "a", [box("target", 1, 1, 3, 3)])
    before = reader(tmp_path).fingerprint()
    assert before == reader(tmp_path).fingerprint()
    assert before != reader(tmp_path, texts="all").fingerprint()
    write_reason(tmp_path, "a", [box("target", 1, 1, 4, 3)])
    assert before != reader(tmp_path).fingerprint()
