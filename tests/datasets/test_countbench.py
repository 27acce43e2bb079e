"""CountBench: pictures out of the Parquet file, captions that do not give the number away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from countkit import CUT, files_below, picture, sha256, write_rows
from releasekit import load_all
from vgen_eval.errors import MissingData
from vgen_eval.imaging import decode_image
from vgen_eval_plugins.datasets.countbench import CountBench, blank_number

IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
PLAIN = pa.schema([("image", IMAGE), ("text", pa.string()), ("number", pa.int64())])
ASKED = pa.schema([*PLAIN.remove(2), ("question", pa.string()), ("number", pa.int32())])
QA = "test-00000-of-00001"


def row(data: bytes | None, text: str | None, number: int | None, **more: Any) -> dict[str, Any]:
    image = None if data is None else {"bytes": data, "path": None}
    return {"image": image, "text": text, "number": number, **more}


def reader_of(root: Path) -> CountBench:
    return CountBench(CountBench.Options(), root=root, folder=root)


def prepare(root: Path) -> tuple[list[Any], dict[str, Any]]:
    reader_of(root).prepare(str)
    return load_all(reader_of(root)), json.loads((root / "prepared.json").read_text())["all"]


def test_rows_with_a_picture_become_samples_in_their_order(tmp_path: Path) -> None:
    jpeg = picture(2, form="JPEG")
    rows = [
        row(picture(1), "Two cats, and two dogs", 2),
        row(None, "Three trees", 3),
        row(jpeg, "A set of 10 cups", 10),
    ]
    write_rows(tmp_path, rows, name="train-00000-of-00001-cf54c241ba947306", schema=PLAIN, group=2)
    samples, record = prepare(tmp_path)
    assert [s.id for s in samples] == [
        f"{sha256(picture(1))[:12]}/cats-and-___-dogs",
        f"{sha256(jpeg)[:12]}/a-set-of-___-cups",
    ]
    assert [s.target.count for s in samples] == [2, 10]
    assert samples[0].target.points is None
    assert samples[0].fields["query"] == "___ cats, and ___ dogs"
    assert "___ cats, and ___ dogs" in samples[0].fields["question"]
    assert [s.tags["count"] for s in samples] == ["1-5", "6-10"]
    pixels = decode_image(picture(1), what="it")
    assert np.array_equal(samples[0].images[0].array, pixels)
    assert files_below(tmp_path / "images") == sorted(
        [f"{sha256(picture(1))}.png", f"{sha256(jpeg)}.jpg"]
    )
    assert record["samples"] == 2
    assert record["left_out"] == {"rows without a picture": 1}


def test_the_questions_of_countbenchqa_are_asked_where_they_are_given(tmp_path: Path) -> None:
    question = "How many hats are there in the picture?"
    rows = [row(picture(1), "six hats", 6, question=question)]
    write_rows(tmp_path, rows, name=QA, schema=ASKED)
    write_rows(tmp_path, [row(picture(2), "two", 2)], name="train-0", schema=PLAIN)
    (sample,), _ = prepare(tmp_path)
    assert sample.fields == {"query": "___ hats", "question": question}


@pytest.mark.parametrize(
    ("text", "number", "blank"),
    [
        ("Five red-and-white mugs", 5, "___ red-and-white mugs"),
        ("FIVE mugs in 2015", 5, "___ mugs in 2015"),
        ("a five-piece set of 5", 5, "a ___-piece set of ___"),
        ("fifty-five, 15, 5.5 and 1,005", 5, "fifty-___, 15, 5.5 and 1,005"),
        ("someone has one.", 1, "someone has ___."),
        ("10 of 10", 10, "___ of ___"),
        ("room 101 with 1 bed", 1, "room 101 with ___ bed"),
        ("seven  \n dwarfs", 7, "___ dwarfs"),
        ("many birds", 4, "many birds"),
    ],
)
def test_the_number_of_a_caption_is_left_blank(text: str, number: int, blank: str) -> None:
    assert blank_number(text, number) == blank


def test_a_caption_without_the_number_is_asked_about_otherwise(tmp_path: Path) -> None:
    write_rows(tmp_path, [row(picture(1), "many birds", 4)], name=QA, schema=PLAIN)
    (sample,), _ = prepare(tmp_path)
    assert sample.fields["question"].startswith("How many")
    assert "___" not in sample.fields["question"]


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (row(b"", "Two cats", 2), "rows without a picture"),
        (row(picture(3)[CUT], "Two cats", 2), "unreadable pictures"),
        (row(b"<html></html>", "Two cats", 2), "unreadable pictures"),
        (row(picture(3), "Two cats", None), "rows without a number or a caption"),
        (row(picture(3), "Two cats", -2), "rows without a number or a caption"),
        (row(picture(3), None, 2), "rows without a number or a caption"),
    ],
)
def test_what_cannot_be_scored_is_left_out_and_counted(
    tmp_path: Path, bad: dict[str, Any], kind: str
) -> None:
    write_rows(tmp_path, [bad, row(picture(1), "Two dogs", 2)], name=QA, schema=PLAIN)
    samples, record = prepare(tmp_path)
    assert [s.fields["query"] for s in samples] == ["___ dogs"]
    assert record["left_out"] == {kind: 1}


def test_two_rows_of_a_picture_are_two_samples(tmp_path: Path) -> None:
    rows = [row(picture(1), "Two dogs", 2), row(picture(1), "three dogs", 3)]
    write_rows(tmp_path, rows, name=QA, schema=PLAIN)
    samples, _ = prepare(tmp_path)
    assert len({s.id for s in samples}) == 2
    assert len({s.group for s in samples}) == 1


def test_a_file_without_rows_and_a_cut_one_are_told(tmp_path: Path) -> None:
    path = write_rows(tmp_path, [], name=QA, schema=PLAIN)
    reader_of(tmp_path).prepare(str)
    with pytest.raises(MissingData, match="no sample of 'all' could be prepared"):
        reader_of(tmp_path).index()
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(MissingData, match="cannot be read as Parquet"):
        reader_of(tmp_path).prepare(str)


def test_preparing_again_mends_a_picture_and_changes_nothing_else(tmp_path: Path) -> None:
    write_rows(tmp_path, [row(picture(1), "Two dogs", 2)], name=QA, schema=PLAIN)
    prepare(tmp_path)
    before = (tmp_path / "index.jsonl").read_bytes()
    path = tmp_path / "images" / f"{sha256(picture(1))}.png"
    path.write_bytes(picture(1)[CUT])
    assert len(reader_of(tmp_path).verify(reader_of(tmp_path).index())) == 1
    reader_of(tmp_path).prepare(str)
    assert path.read_bytes() == picture(1)
    assert (tmp_path / "index.jsonl").read_bytes() == before
