"""Tables that come with data: every fault with its line, and what no class can be called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from manifestkit import HEIGHT, WIDTH, draft, fill_folder, save
from vgen_eval.errors import UsageError

HUGE = "9" * 30


@pytest.fixture
def street(tmp_path: Path) -> Path:
    fill_folder(tmp_path, "images/a.png")
    raw = np.zeros((HEIGHT, WIDTH), np.uint8)
    raw[5:], raw[0] = 2, 255
    save(tmp_path / "labels" / "a.png", raw)
    return tmp_path


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    fill_folder(tmp_path, "images/red_cat.png", "images/0002.png")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"id,query,count\n0002,a,1\n0002,b,{HUGE}\n", r"csv:3: count .* no whole number"),
        (f"id,query,count\n0002,a,1\n0002,b,{'9' * 5000}\n", r"csv:3: count .* no whole number"),
        ("id,id,query,count\na,0002,x,1\n", r"csv:1: several columns are called 'id'"),
        ("id,ID ,query,count\na,0002,x,1\n", r"csv:1: several columns are called 'id'"),
        (f'id,query,count\n0002,a,1\n0002,"{"x" * 200_000}",1\n', r"csv:3: field larger"),
        ('id,query,count\n0002,a,1\n0002,"x,1\n0002,y,2\n0002,z,3\n', r"csv:3: unexpected end"),
        ('id,query,count\n0002,"a\nb",1\n0002,"x"y,1\n', r"csv:4: ',' expected"),
        ('id,query,count\n0002,"a\nb",1\n\n0002,y\n', r"csv:5: its number of columns is 2"),
        ("id,query,points\n0002,a,7\n", r"csv:2: points are .* seen"),
    ],
)
def test_faults_of_a_csv_are_told_with_the_line_that_they_begin_in(
    pets: Path, text: str, words: str
) -> None:
    (pets / "counts.csv").write_text(text)
    with pytest.raises(UsageError, match=words) as caught:
        draft(pets, "counting")
    assert len(caught.value.what) < 300


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"count": int(HUGE)}, "count a huge number"),
        ({"count": True}, "count True is no whole number"),
        ({"count": -1}, "count -1 is no whole number"),
        ({"points": 7}, "points are"),
        ({"points": [[1, 2], [3]]}, "points are"),
        ({"points": [["1", 2]]}, "points are"),
        ({"points": [[1, 2]], "count": 5}, "1 points for a count of 5"),
        ({"count": 1, "query": ["x"]}, "query is a list, no text"),
        ({"count": 1, "query": {"x": 1}}, "query is an object, no text"),
        ({"count": 1, "id": ["0002"]}, "id is a list, no text"),
        ({"count": 1, "group": True}, "group is true or false, no text"),
        ('{"id": "0002", "id": "b", "query": "x", "count": 1}', "key 'id' stands twice"),
        ('{"id": "0002", "ID": "b", "query": "x", "count": 1}', "columns are called 'id'"),
        ('{"id": "0002", "query": "x", "count": ' + "9" * 5000 + "}", "out of range"),
    ],
)
def test_faults_of_jsonl_rows_are_told_with_their_line(
    pets: Path, row: dict[str, Any] | str, words: str
) -> None:
    text = row if isinstance(row, str) else json.dumps({"id": "0002", "query": "x", **row})
    (pets / "counts.jsonl").write_text(f"\n{text}\n")
    with pytest.raises(UsageError, match=rf"counts\.jsonl:2: .*{words}"):
        draft(pets, "counting")


def test_points_of_a_table_may_be_json_in_a_cell(pets: Path) -> None:
    (pets / "counts.csv").write_text('id,query,points\n0002,a,"[[1, 2], [3.5, 4]]"\n')
    [line] = draft(pets, "counting").lines
    assert (line["count"], line["points"]) == (2, [[1, 2], [3.5, 4]])


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("names.txt", "sky\nro\x1b[31mad\n"),
        ("names.txt", "sky\nro\x0cad\n"),
        ("names.txt", "sky\nro\x85ad\n"),
        ("names.json", '["sky", "ro\\u0000ad"]'),
        ("names.json", '["sky", "ro\\ud800ad"]'),
        ("names.json", '{"0": {"name": "sky"}, "1": {"name": "ro\\nad"}}'),
    ],
)
def test_control_characters_are_no_part_of_a_classes_name(
    street: Path, file: str, text: str
) -> None:
    path = street / file
    path.write_text(text)
    with pytest.raises(UsageError, match="holds a control character") as caught:
        draft(street, "semantic", classes=str(path))
    assert caught.value.what.isprintable()


@pytest.mark.parametrize("value", [HUGE, "9" * 5000, str(1 << 31)])
def test_values_that_no_label_file_holds_are_refused(street: Path, value: str) -> None:
    path = street / "names.json"
    path.write_text(json.dumps({"0": "sky", value: "road"}))
    with pytest.raises(UsageError, match="no value of a label file"):
        draft(street, "semantic", classes=str(path))


def test_negative_values_are_no_classes_unless_they_are_named(tmp_path: Path) -> None:
    fill_folder(tmp_path, "images/a.png")
    raw = np.tile(np.array([-1, 0, 1, 2], np.int32), (HEIGHT, WIDTH // 4))
    save(tmp_path / "labels" / "a.npy", raw)
    with pytest.raises(UsageError, match="negative values, which are no classes: -1") as caught:
        draft(tmp_path, "semantic")
    assert str(caught.value.cure).startswith("--ignore -1 leaves them out")
    made = draft(tmp_path, "semantic", ignore=(-1,))
    assert [c["value"] for c in made.options["labels"]["classes"]] == [0, 1, 2]
