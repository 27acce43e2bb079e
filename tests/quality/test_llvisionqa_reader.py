"""LLVisionQA: both layouts give the same questions; what is wrong with a record is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from lookalikes import llvisionqa
from lookalikes.files import jpeg_bytes, write_jpeg
from lookalikes.releases import open_reader, read
from vgen_eval.errors import BadSample, MissingData
from vgen_eval.types import Sample

RECORD = {
    "img_path": "a.jpg",
    "question": "Is it sharp?",
    "candidates": ["Yes", "No"],
    "type": 0,
    "concern": 0,
    "correct_ans": "No",
}


def write_records(root: Path, *records: Any, split: str = "dev") -> Path:
    folder = root / "llvisionqa"
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for name in ("a.jpg", "b.jpg"):
        write_jpeg(folder / "images" / name, np.full((8, 9, 3), 90, np.uint8))
    (folder / f"llvisionqa_{split}.json").write_text(json.dumps(list(records)), "utf-8")
    return folder


def check(samples: list[Sample], wanted: list[dict[str, Any]]) -> None:
    assert [sample.id for sample in samples] == [want["id"] for want in wanted]
    for sample, want in zip(samples, wanted, strict=True):
        assert sample.fields["question"] == want["question"]
        assert sample.choices == want["candidates"]
        assert sample.target.options[sample.target.right] == want["right"]
        assert sample.tags == want["tags"]
        drift = np.abs(sample.images[0].array.astype(int) - want["picture"].astype(int)).mean()
        assert drift < 6.0


def test_the_original_list_is_read_as_it_is(tmp_path: Path) -> None:
    wanted = llvisionqa.write(tmp_path)
    samples = read("quality/llvisionqa", tmp_path)
    check(samples, wanted)
    assert samples[2].fields["options"] == "A. Dark\nB. Medium\nC. Bright\nD. Too bright"
    assert [sample.target.right for sample in samples] == ["A", "B", "A", "A"]
    assert not (tmp_path / "llvisionqa" / "prepared_dev.json").exists()


def test_the_hubs_files_give_the_same_questions_once_they_are_written_out(tmp_path: Path) -> None:
    wanted = llvisionqa.write_hub(tmp_path)
    samples = read("quality/llvisionqa", tmp_path)
    check(samples, wanted)
    original = read("quality/llvisionqa", _original(tmp_path / "other"))
    for one, other in zip(samples, original, strict=True):
        assert (one.id, one.choices, one.fields, one.tags, one.target) == (
            other.id, other.choices, other.fields, other.tags, other.target,
        )  # fmt: skip
        assert np.array_equal(one.images[0].array, other.images[0].array)


def test_both_splits_of_the_hub_keep_pictures_of_one_name_apart(tmp_path: Path) -> None:
    wanted = llvisionqa.write_hub(tmp_path)
    told = llvisionqa.write_hub(tmp_path, split="test")
    (path,) = (tmp_path / "llvisionqa" / "data").glob("test-*")
    table = pq.read_table(path)
    rows = table.to_pylist()
    for row, want in zip(rows, told, strict=True):
        want["picture"] = 255 - want["picture"]
        row["image"]["bytes"] = jpeg_bytes(want["picture"])
    pq.write_table(type(table).from_pylist(rows, schema=table.schema), path)
    check(read("quality/llvisionqa-test", tmp_path), told)
    check(read("quality/llvisionqa", tmp_path), wanted)


def _original(root: Path) -> Path:
    llvisionqa.write(root)
    return root


def test_the_hubs_files_that_were_not_written_out_are_asked_for(tmp_path: Path) -> None:
    llvisionqa.write(tmp_path)
    reader = open_reader("quality/llvisionqa", tmp_path)
    (tmp_path / "llvisionqa" / "llvisionqa_dev.json").unlink()
    llvisionqa.write_hub(tmp_path)
    with pytest.raises(MissingData, match="not written out") as caught:
        reader.index()
    assert "data prepare" in str(caught.value.cure)


def test_a_file_of_the_hub_that_is_cut_off_is_named(tmp_path: Path) -> None:
    llvisionqa.write_hub(tmp_path)
    (path,) = (tmp_path / "llvisionqa" / "data").iterdir()
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(MissingData, match="cannot be read as Parquet"):
        open_reader("quality/llvisionqa", tmp_path)


def test_faulty_rows_of_the_hub_become_faulty_records(tmp_path: Path) -> None:
    llvisionqa.write_hub(tmp_path)
    (path,) = (tmp_path / "llvisionqa" / "data").iterdir()
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows[0]["image"] = None
    rows[1]["correct_choice"] = "D"
    rows[2]["image"]["path"] = None
    rows[3]["question_type"] = None
    pq.write_table(type(table).from_pylist(rows, schema=table.schema), path)
    reader = open_reader("quality/llvisionqa", tmp_path)
    assert [item.id for item in reader.index()] == ["record-1", "00001.jpg", "2.jpg", "00003.jpg"]
    found = {problem.path: problem.message for problem in reader.verify(reader.index())}
    assert "names no picture" in found["record-1"]
    assert "'D (an option that is not there)' is none of the candidates" in found["00001.jpg"]
    assert "type is ''" in found["00003.jpg"]
    assert set(found) == {"record-1", "00001.jpg", "00003.jpg"}


def test_type_one_is_what_and_two_is_how(tmp_path: Path) -> None:
    # README of Q-Bench: "How is the lighting of this building?" is type 2, concern 3
    llvisionqa.write(tmp_path)
    tags = {s.fields["question"]: s.tags for s in read("quality/llvisionqa", tmp_path)}
    assert tags["How is the light of the wall?"] == {
        "type": "how",
        "concern": "in-context others",
    }
    assert tags["What is the main distortion?"]["type"] == "what"


def test_test_without_answers_says_what_to_bring(tmp_path: Path) -> None:
    llvisionqa.write(tmp_path, split="test", answers=False)
    reader = open_reader("quality/llvisionqa-test", tmp_path)
    with pytest.raises(MissingData, match="holds no right answers") as caught:
        reader.index()
    assert "not published" in str(caught.value.cure)
    assert "answers.json" in str(caught.value)


@pytest.mark.parametrize("hub", [False, True])
@pytest.mark.parametrize("form", ["list", "object", "letters"])
def test_test_with_answers_of_the_users_own(tmp_path: Path, form: str, hub: bool) -> None:
    writer = llvisionqa.write_hub if hub else llvisionqa.write
    wanted = writer(tmp_path, split="test", answers=False)
    told: Any = [{"img_path": want["id"], "correct_ans": want["right"]} for want in wanted]
    if form == "object":
        told = {want["id"]: want["right"] for want in wanted}
    if form == "letters":
        told = {
            want["id"]: f"({'ABCD'[want['candidates'].index(want['right'])]})" for want in wanted
        }
    (tmp_path / "llvisionqa" / "answers.json").write_text(json.dumps(told))
    check(read("quality/llvisionqa-test", tmp_path), wanted)


def test_an_answers_file_elsewhere_is_named_by_its_option(tmp_path: Path) -> None:
    wanted = llvisionqa.write(tmp_path, split="test", answers=False)
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({want["id"]: want["right"] for want in wanted}))
    check(read("quality/llvisionqa-test", tmp_path, answers=str(path)), wanted)
    for name, told in (
        ("other.json", r"is no .*llvisionqa/other\.json"),
        ("~/other.json", f"is no {Path.home()}/other.json"),
        ("x" * 400, "is no .*xxx$"),
    ):
        with pytest.raises(MissingData, match=told):
            open_reader("quality/llvisionqa-test", tmp_path, answers=name).index()


def test_an_answers_file_with_a_faulty_record_is_refused_with_its_number(tmp_path: Path) -> None:
    llvisionqa.write(tmp_path, split="test", answers=False)
    path = tmp_path / "llvisionqa" / "answers.json"
    for told, message in (
        ([{"img_path": "00000.jpg", "correct_ans": "Yes"}, {"img_path": "00001.jpg"}], "record 2"),
        ([{"img_path": "00000.jpg", "correct_ans": "Yes"}] * 2, "is that of record 1 too"),
        ("yes", "a list of records was wanted"),
    ):
        path.write_text(json.dumps(told))
        with pytest.raises(MissingData, match=message):
            open_reader("quality/llvisionqa-test", tmp_path).index()


def test_what_pictures_show_comes_from_the_users_file_or_the_record(tmp_path: Path) -> None:
    second = {**RECORD, "img_path": "b.jpg", "content": "a bridge"}
    folder = write_records(tmp_path, RECORD, second)
    told = [s.fields.get("content") for s in read("quality/llvisionqa", tmp_path)]
    assert told == [None, "a bridge"]
    (folder / "content.json").write_text(json.dumps([{"img_path": "a.jpg", "content": "a cat"}]))
    told = [s.fields.get("content") for s in read("quality/llvisionqa", tmp_path)]
    assert told == ["a cat", "a bridge"]


def test_files_may_begin_with_a_mark_and_write_paths_their_own_way(tmp_path: Path) -> None:
    record = {**RECORD, "img_path": "./a.jpg", "correct_ans": None}
    folder = write_records(tmp_path, record, split="test")
    name = "llvisionqa_test.json"
    (folder / name).write_text(json.dumps([record]), "utf-8-sig")
    told = [{"img_path": "a.jpg", "correct_ans": "No", "content": "a cat"}]
    for name in ("answers.json", "content.json"):
        (folder / name).write_text(json.dumps(told), "utf-8-sig")
    (sample,) = read("quality/llvisionqa-test", tmp_path)
    assert (sample.id, sample.target.right, sample.fields["content"]) == ("a.jpg", "B", "a cat")


def test_one_picture_under_two_paths_is_told(tmp_path: Path) -> None:
    write_records(tmp_path, RECORD, {**RECORD, "img_path": ".//a.jpg"})
    reader = open_reader("quality/llvisionqa", tmp_path)
    with pytest.raises(BadSample, match=r"the picture 'a\.jpg' is that of record 1 too"):
        reader.load(reader.index()[1])


@pytest.mark.parametrize("name", ["llvisionqa_dev.json", "answers.json", "content.json"])
def test_a_file_that_is_nested_too_deep_is_named(tmp_path: Path, name: str) -> None:
    folder = write_records(tmp_path, RECORD)
    (folder / name).write_text("[" * 100_000)
    with pytest.raises(MissingData, match=rf"{name}: it is nested too deep"):
        open_reader("quality/llvisionqa", tmp_path).index()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"correct_ans": "Maybe"}, "'Maybe' is none of the candidates: 'Yes', 'No'"),
        ({"correct_ans": ""}, "no right answer is known"),
        ({"correct_ans": None}, "no right answer is known"),
        ({"candidates": ["Yes", "yes."]}, "two candidates are the same: 'Yes' and 'yes.'"),
        ({"candidates": ["No"]}, "1 candidates, 2 to 4 were wanted"),
        ({"candidates": ["a", "b", "c", "d", "No"]}, "5 candidates"),
        ({"candidates": []}, "0 candidates"),
        ({"candidates": ["No", "  "]}, "a candidate is empty"),
        ({"candidates": "No"}, "candidates"),
        ({"candidates": [1, 2]}, "candidates"),
        ({"question": " "}, "the question is empty"),
        ({"question": None}, "question"),
        ({"type": 3}, "type is 3"),
        ({"type": -1}, "type is -1"),
        ({"concern": "colour"}, "concern is 'colour'"),
        ({"img_path": ""}, "names no picture"),
    ],
)
def test_a_faulty_record_is_named_with_its_file_and_costs_no_other(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    folder = write_records(tmp_path, {**RECORD, "img_path": "b.jpg"}, {**RECORD, **change})
    reader = open_reader("quality/llvisionqa", tmp_path)
    first, second = reader.index()
    assert reader.load(first).target.right == "B"
    with pytest.raises(BadSample, match=message) as caught:
        reader.load(second)
    assert f"{folder / 'llvisionqa_dev.json'}: record 2" in str(caught.value)
    (problem,) = reader.verify(reader.index())
    assert problem.path == second.id


def test_records_that_are_no_records_and_pictures_that_come_twice(tmp_path: Path) -> None:
    write_records(tmp_path, 7, RECORD, RECORD, {**RECORD, "question": "Is it dark?"})
    reader = open_reader("quality/llvisionqa", tmp_path)
    assert [item.id for item in reader.index()] == ["record-1", "a.jpg", "a.jpg-2", "a.jpg-3"]
    found = {problem.path: problem.message for problem in reader.verify(reader.index())}
    assert set(found) == {"record-1", "a.jpg-2", "a.jpg-3"}
    assert "record 4 (a.jpg): the picture 'a.jpg' is that of record 2 too" in found["a.jpg-3"]


def test_a_right_answer_is_found_whatever_its_case_and_outer_space(tmp_path: Path) -> None:
    write_records(tmp_path, {**RECORD, "correct_ans": " no.\n"})
    (sample,) = read("quality/llvisionqa", tmp_path)
    assert sample.target.right == "B"


def test_a_list_that_is_no_list_is_missing_data(tmp_path: Path) -> None:
    folder = write_records(tmp_path, RECORD)
    for text in ("{}", "[", ""):
        (folder / "llvisionqa_dev.json").write_text(text)
        with pytest.raises(MissingData, match=r"llvisionqa_dev\.json"):
            open_reader("quality/llvisionqa", tmp_path).index()


def test_pictures_that_are_not_there_or_lead_out_are_named_before_a_run(tmp_path: Path) -> None:
    write_records(tmp_path, {**RECORD, "img_path": "c.jpg"}, {**RECORD, "img_path": "../../x.jpg"})
    reader = open_reader("quality/llvisionqa", tmp_path)
    assert {problem.path for problem in reader.look(reader.index())} == {"c.jpg", "../../x.jpg"}


def test_the_fingerprint_follows_answers_and_contents(tmp_path: Path) -> None:
    folder = write_records(tmp_path, RECORD)
    seen = {open_reader("quality/llvisionqa", tmp_path).fingerprint()}
    (folder / "content.json").write_text('{"a.jpg": "a cat"}')
    seen.add(open_reader("quality/llvisionqa", tmp_path).fingerprint())
    write_records(tmp_path, {**RECORD, "correct_ans": "Yes"})
    seen.add(open_reader("quality/llvisionqa", tmp_path).fingerprint())
    assert len(seen) == 3
