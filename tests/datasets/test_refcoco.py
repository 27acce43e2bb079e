"""RefCOCO: converted once from its pickle, then every sentence with the mask of what it means."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pycocotools.mask
import pytest
from referkit import (
    CORNER,
    HEIGHT,
    SQUARE,
    WIDTH,
    instances,
    quiet,
    refs,
    write_photo,
    write_refcoco,
)
from vgen_eval.errors import BadSample, MissingData, StorageError
from vgen_eval_plugins.datasets.refcoco import RefCoco


def reader(root: Path, **options: Any) -> RefCoco:
    return RefCoco(RefCoco.Options(**options), root=root, folder=root)


def prepared(root: Path, **options: Any) -> RefCoco:
    write_refcoco(root)
    made = reader(root, **options)
    made.prepare(quiet)
    return made


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_every_sentence_is_a_sample_with_the_union_of_its_parts(tmp_path: Path) -> None:
    made = prepared(tmp_path)
    items = list(made.index())
    assert [item.id for item in items] == ["1-10", "1-11", "1-12", "2-20", "3-30", "3-31"]
    assert {item.group for item in items} == {
        f"COCO_train2014_{number:012d}.jpg" for number in (7, 8)
    }
    assert items[0].tags == {"category": "person", "split": "val"}
    sample = made.load(items[1])
    assert sample.fields == {"query": "man in red"}
    assert sample.images[0].array.shape == (HEIGHT, WIDTH, 3)
    parts = pycocotools.mask.frPyObjects([SQUARE, CORNER], HEIGHT, WIDTH)
    assert np.array_equal(sample.target, pycocotools.mask.decode(parts).max(axis=2) > 0)
    assert sample.valid is None
    by_runs = made.load(items[4]).target
    assert by_runs.sum() == 6
    assert by_runs[:6, 5].all()


def test_prepared_lines_are_all_that_a_run_reads(tmp_path: Path) -> None:
    made = prepared(tmp_path)
    (tmp_path / "refcoco/refs(unc).p").unlink()
    (tmp_path / "refcoco/instances.json").unlink()
    again = reader(tmp_path)
    assert [item.id for item in again.index()] == [item.id for item in made.index()]
    assert again.look(again.index()) == []
    assert again.verify(again.index()) == []
    assert [i.id for i in reader(tmp_path, split="testA").index()] == ["4-40"]


def test_until_it_was_prepared_the_cure_is_named(tmp_path: Path) -> None:
    write_refcoco(tmp_path)
    with pytest.raises(MissingData, match=r"refs\(unc\)\.jsonl was not made") as caught:
        reader(tmp_path).index()
    assert "vgen-eval data prepare referring/refcoco" in (caught.value.cure or "")


def test_one_sentence_a_thing_is_the_first_or_one_drawn(tmp_path: Path) -> None:
    prepared(tmp_path)
    assert [i.id for i in reader(tmp_path, sentences="first").index()] == ["1-10", "2-20", "3-30"]
    drawn = [i.id for i in reader(tmp_path, sentences="one_per_ref").index()]
    assert [name[0] for name in drawn] == ["1", "2", "3"]
    assert drawn == [i.id for i in reader(tmp_path, sentences="one_per_ref").index()]


def test_a_thing_of_several_annotations_is_all_of_them(tmp_path: Path) -> None:
    data = refs()
    data[0]["ann_id"] = [102, 101]
    data[1]["ann_id"] = []
    write_refcoco(tmp_path, data=data)
    made = reader(tmp_path)
    made.prepare(quiet)
    samples = [made.load(item) for item in made.index()]
    assert samples[0].target.sum() > 0
    assert not samples[3].target.any()


def test_a_pickle_with_a_payload_is_refused_and_does_nothing(tmp_path: Path) -> None:
    class Payload:
        def __reduce__(self) -> Any:
            return Path.touch, (tmp_path / "made",)

    write_refcoco(tmp_path)
    (tmp_path / "refcoco/refs(unc).p").write_bytes(pickle.dumps([*refs(), Payload()], 2))
    with pytest.raises(MissingData, match=r"refs\(unc\)\.p: it names .*: a pickle that names"):
        reader(tmp_path).prepare(quiet)
    assert not (tmp_path / "made").exists()
    assert not (tmp_path / "refcoco/refs(unc).jsonl").exists()


def change(key: str, value: Any) -> Any:
    made = instances()
    made["annotations"][0][key] = value
    return made


@pytest.mark.parametrize(
    ("shapes", "reason"),
    [
        (change("id", 5), "ref 1 cannot be used: there is no annotation 101"),
        (change("image_id", 8), "annotation 101 is of image 8, not 7"),
        (change("segmentation", {"size": [3, 3], "counts": [9]}), r"run lengths of the size \[3"),
        (change("segmentation", [[1, 2, 3]]), "x, y"),
        ({**instances(), "images": []}, "there is no image 7"),
        ({"images": [{"id": 1}], "annotations": []}, "file_name"),
        ([], "Expected `object`"),
    ],
)
def test_another_release_is_named_by_what_is_wrong(
    shapes: Any, reason: str, tmp_path: Path
) -> None:
    write_refcoco(tmp_path, shapes=shapes or [0])
    with pytest.raises(MissingData, match=rf"instances\.json.*{reason}"):
        reader(tmp_path).prepare(quiet)
    assert list((tmp_path / "refcoco").glob("*.jsonl")) == []
    assert list((tmp_path / "refcoco").glob(".*")) == []


@pytest.mark.parametrize("end", [0, 10, -1])
def test_a_cut_pickle_or_a_missing_file_is_named(end: int, tmp_path: Path) -> None:
    write_refcoco(tmp_path)
    file = tmp_path / "refcoco/refs(unc).p"
    file.write_bytes(file.read_bytes()[:end])
    with pytest.raises(MissingData, match=r"refs\(unc\)\.p: it is no whole pickle"):
        reader(tmp_path).prepare(quiet)
    file.unlink()
    with pytest.raises(MissingData, match=r"no file 'refcoco/refs\(unc\)\.p'"):
        reader(tmp_path).prepare(quiet)


def test_references_of_another_kind_are_refused(tmp_path: Path) -> None:
    write_refcoco(tmp_path, data=[{"ref_id": "one"}])
    with pytest.raises(MissingData, match=r"refs\(unc\)\.p.*ref_id"):
        reader(tmp_path).prepare(quiet)


@pytest.mark.parametrize(
    "harm",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[: data.rindex(b'{"end"')],
        lambda data: data.replace(b"vgen-eval masks 1", b"vgen-eval masks 0"),
        lambda data: data.replace(b'"end":4', b'"end":5'),
        lambda _: b"",
        lambda _: b"\xff\xfe",
    ],
)
def test_a_prepared_file_that_is_not_whole_is_refused(harm: Any, tmp_path: Path) -> None:
    made = prepared(tmp_path)
    file = tmp_path / "refcoco/refs(unc).jsonl"
    file.write_bytes(harm(file.read_bytes()))
    with pytest.raises(MissingData, match="is no prepared file"):
        reader(tmp_path).index()
    made.prepare(quiet)
    assert len(reader(tmp_path).index()) == 6


def test_a_prepared_file_that_changes_under_a_run_gives_no_wrong_mask(tmp_path: Path) -> None:
    made = prepared(tmp_path)
    items = list(made.index())
    file = tmp_path / "refcoco/refs(unc).jsonl"
    file.write_bytes(file.read_bytes().replace(b'"ref":1', b'"ref":9'))
    with pytest.raises(BadSample, match="have moved"):
        made.load(items[0])


def test_photographs_that_are_missing_empty_cut_or_of_another_size_are_named(
    tmp_path: Path,
) -> None:
    made = prepared(tmp_path)
    items = list(made.index())
    folder = tmp_path / "images/mscoco/images/train2014"
    first, second = sorted(folder.iterdir())
    write_photo(first, (HEIGHT, WIDTH + 1))
    with pytest.raises(BadSample, match=r"000000000007\.jpg: the picture is 33x24, its mask 32x24"):
        made.load(items[0])
    data = second.read_bytes()
    second.write_bytes(data[: len(data) // 2])
    with pytest.raises(BadSample, match=r"000000000008\.jpg"):
        made.load(items[4])
    assert len(made.verify(items)) == 6
    second.write_bytes(b"")
    first.unlink()
    problems = made.look(items)
    assert [problem.path for problem in problems] == [item.id for item in items]
    assert "no file" in problems[0].message
    assert problems[4].message == "is empty"


def test_only_the_photographs_of_the_samples_named_are_needed(tmp_path: Path) -> None:
    made = prepared(tmp_path)
    items = list(made.index())
    (tmp_path / "images/mscoco/images/train2014/COCO_train2014_000000000008.jpg").unlink()
    assert made.look(items[:4]) == []
    assert made.load(items[3]).fields == {"query": "dog"}


def test_fingerprint_hangs_on_the_splits_phrases_and_masks(tmp_path: Path) -> None:
    def mark(**options: Any) -> str:
        made = reader(tmp_path, **options)
        made.index()
        return made.fingerprint()

    prepared(tmp_path)
    before, other = mark(), mark(split="testA")
    assert before == mark()
    assert before != other
    assert before != mark(sentences="first")
    write_refcoco(tmp_path, shapes=change("segmentation", [CORNER]))
    reader(tmp_path).prepare(quiet)
    assert mark() != before
    assert mark(split="testA") == other


@pytest.mark.parametrize(
    "options",
    [
        {"dataset": "refcoco+", "split_by": "google"},
        {"dataset": "refcocog", "split_by": "unc"},
        {"dataset": "refcocog", "split_by": "umd", "split": "testA"},
    ],
)
def test_splits_that_do_not_exist_are_refused(options: Any) -> None:
    with pytest.raises(ValueError, match="split"):
        RefCoco.Options(**options)


def test_a_folder_that_cannot_be_written_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tempfile

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    write_refcoco(tmp_path)
    monkeypatch.setattr(tempfile, "NamedTemporaryFile", full)
    with pytest.raises(StorageError, match="No space left"):
        reader(tmp_path).prepare(quiet)
