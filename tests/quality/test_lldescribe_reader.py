"""LLDescribe: golden texts are the user's; without them nothing is scored, and it is said why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lookalikes import lldescribe
from lookalikes.releases import open_reader, read
from vgen_eval.errors import BadSample, MissingData

TASK = "quality/lldescribe"


def write_golden(root: Path, told: Any) -> None:
    lldescribe.write(root, golden=False)
    (root / "lldescribe" / "golden.json").write_text(json.dumps(told), "utf-8")


def test_pictures_with_their_golden_texts(tmp_path: Path) -> None:
    wanted = lldescribe.write(tmp_path)
    samples = read(TASK, tmp_path)
    assert [(s.id, s.target.text) for s in samples] == [(w["id"], w["text"]) for w in wanted]
    for sample, want in zip(samples, wanted, strict=True):
        drift = np.abs(sample.images[0].array.astype(int) - want["picture"].astype(int)).mean()
        assert drift < 6.0
        assert not sample.fields  # no prompt may give the golden text away


def test_without_golden_texts_the_cure_is_a_file_of_ones_own(tmp_path: Path) -> None:
    lldescribe.write(tmp_path, golden=False)
    with pytest.raises(MissingData, match="no golden texts") as caught:
        open_reader(TASK, tmp_path).index()
    assert "not public" in str(caught.value.cure)
    assert "golden.json" in str(caught.value)


@pytest.mark.parametrize(
    "told", [[{"img_path": "000.jpg", "ref": " Sharp. "}], {"000.jpg": "Sharp."}]
)
def test_other_ways_to_write_the_file(tmp_path: Path, told: Any) -> None:
    write_golden(tmp_path, told)
    (sample,) = read(TASK, tmp_path)
    assert sample.target.text == "Sharp."


def test_a_mark_of_the_byte_order_is_no_part_of_the_file(tmp_path: Path) -> None:
    lldescribe.write(tmp_path, golden=False)
    (tmp_path / "lldescribe" / "golden.json").write_text('{"000.jpg": "Sharp."}', "utf-8-sig")
    (sample,) = read(TASK, tmp_path)
    assert sample.target.text == "Sharp."


def test_a_picture_is_one_however_its_path_is_written(tmp_path: Path) -> None:
    told = [
        {"img_path": "./000.jpg", "golden": "Sharp."},
        {"img_path": "000.jpg", "golden": "Bad."},
    ]
    write_golden(tmp_path, told)
    first, second = open_reader(TASK, tmp_path).index()
    assert (first.id, first.group, second.group) == ("000.jpg", "000.jpg", "000.jpg")
    with pytest.raises(BadSample, match="that of record 1 too"):
        open_reader(TASK, tmp_path).load(second)


@pytest.mark.parametrize(
    ("text", "twin"),
    [
        ('{"000.jpg": "Sharp.", "001.jpg": "Dark.", "000.jpg": "Bad."}', "000.jpg"),
        ('[{"img_path": "000.jpg", "golden": "Sharp.", "golden": "Bad."}]', "golden"),
    ],
)
def test_a_name_that_stands_twice_is_told_and_neither_text_is_taken(
    tmp_path: Path, text: str, twin: str
) -> None:
    lldescribe.write(tmp_path, golden=False)
    (tmp_path / "lldescribe" / "golden.json").write_text(text)
    with pytest.raises(MissingData, match=rf"golden\.json: '{twin}' stands twice in one object"):
        open_reader(TASK, tmp_path).index()


def test_a_file_elsewhere(tmp_path: Path) -> None:
    lldescribe.write(tmp_path, golden=False)
    path = tmp_path / "theirs.json"
    path.write_text('{"001.jpg": "Dark."}')
    (sample,) = read(TASK, tmp_path, golden=str(path))
    assert (sample.id, sample.target.text) == ("001.jpg", "Dark.")


def test_faulty_records_are_named_and_cost_no_other(tmp_path: Path) -> None:
    good = {"img_path": "000.jpg", "golden": "Sharp."}
    told = [
        good, {**good, "golden": "Blurry."}, {"img_path": "001.jpg", "golden": " "},
        {"golden": "Dark."}, "Dark.", {"img_path": "001.jpg", "golden": ["Dark."]},
    ]  # fmt: skip
    write_golden(tmp_path, told)
    reader = open_reader(TASK, tmp_path)
    first, *others = reader.index()
    assert reader.load(first).target.text == "Sharp."
    messages = []
    for item in others:
        with pytest.raises(BadSample) as caught:
            reader.load(item)
        messages.append(str(caught.value))
    for number, message, words in zip(
        range(2, 7),
        messages,
        ("that of record 1 too", "is empty", "names no picture", "is str", "no words"),
        strict=True,
    ):
        assert f"golden.json: record {number}" in message
        assert words in message
    assert len(reader.verify(reader.index())) == 5


DEEP = "[" * 100_000
NO_FILES = ["", "[", "7", "[]", DEEP, '{"img_path": "000.jpg", "golden": "Sharp."}']


@pytest.mark.parametrize("text", NO_FILES)
def test_a_file_without_texts_is_missing_data(tmp_path: Path, text: str) -> None:
    lldescribe.write(tmp_path, golden=False)
    (tmp_path / "lldescribe" / "golden.json").write_text(text)
    with pytest.raises(MissingData, match=r"golden\.json"):
        open_reader(TASK, tmp_path).index()


def test_the_fingerprint_follows_the_texts(tmp_path: Path) -> None:
    write_golden(tmp_path, {"000.jpg": "Sharp."})
    before = open_reader(TASK, tmp_path).fingerprint()
    write_golden(tmp_path, {"000.jpg": "Blurry."})
    assert open_reader(TASK, tmp_path).fingerprint() != before
