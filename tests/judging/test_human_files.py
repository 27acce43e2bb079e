"""Files of human judgements: what they may hold, and how anything else is told."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from vgen_eval.errors import UsageError
from vgen_eval.results.judging.human import Label, Preference, read_human


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refusal(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        read_human(path)
    assert caught.value.cure
    return caught.value.what


def test_labels_are_read_from_csv_with_model_and_attempt(tmp_path: Path) -> None:
    text = "id,model,attempt,label\na,wan,0,1\n\na,wan,1,0.5\nb,,,0\n"
    assert read_human(write(tmp_path, "said.csv", text)).labels == (
        Label(sample="a", model="wan", attempt=0, label=1.0),
        Label(sample="a", model="wan", attempt=1, label=0.5),
        Label(sample="b", label=0.0),
    )


def test_labels_are_read_from_json_lines(tmp_path: Path) -> None:
    text = '{"id": "a", "label": 2}\n\n{"id": "b", "run": "1f2e", "label": 0, "attempt": null}\n'
    assert read_human(write(tmp_path, "said.jsonl", text)).labels == (
        Label(sample="a", label=2.0),
        Label(sample="b", model="1f2e", label=0.0),
    )


def test_a_byte_order_mark_and_windows_lines_are_no_part_of_it(tmp_path: Path) -> None:
    text = "\ufeffid,label\r\na,1\r\n"
    assert read_human(write(tmp_path, "said.csv", text)).labels == (Label(sample="a", label=1.0),)


def test_a_line_ends_where_json_lines_do(tmp_path: Path) -> None:
    path = write(tmp_path, "said.jsonl", '{"id": "a\u2028b", "label": 1}\r\n')
    assert read_human(path).labels == (Label(sample="a\u2028b", label=1.0),)


def test_preferences_and_rankings_may_stand_in_one_file(tmp_path: Path) -> None:
    text = (
        '{"id": "a", "better": "x", "worse": "y"}\n'
        '{"id": "b", "ranking": ["x", ["y", "z"]]}\n'
        '{"id": "c", "ranking": "z > x = y"}\n'
    )
    found = read_human(write(tmp_path, "said.jsonl", text))
    assert found.kind == "preferences"
    assert found.preferences == (
        Preference(sample="a", better="x", worse="y"),
        Preference(sample="b", better="x", worse="y"),
        Preference(sample="b", better="x", worse="z"),
        Preference(sample="c", better="z", worse="x"),
        Preference(sample="c", better="z", worse="y"),
    )
    assert (found.rankings, found.ties) == (2, 2)


def test_a_ranking_of_three_is_three_pairs(tmp_path: Path) -> None:
    found = read_human(write(tmp_path, "said.csv", "id,ranking\na,x > y > z\n"))
    pairs = [(one.better, one.worse) for one in found.preferences]
    assert pairs == [("x", "y"), ("x", "z"), ("y", "z")]


@pytest.mark.parametrize("column", ["name", "e-mail", "rater", "age", "seconds"])
def test_columns_about_people_are_refused_by_name(tmp_path: Path, column: str) -> None:
    told = refusal(write(tmp_path, "said.csv", f"id,label,{column}\na,1,x\n"))
    assert told.endswith(f"said.csv:2: column '{column}' is not read")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id,label\na,1\na,0\n", ":3: 'a' has a label already, on line 2"),
        ("id,label\na,good\n", ":2: label 'good' is no number"),
        ("id,label\na,nan\n", ":2: label 'nan' is no number"),
        ("id,label\na,\n", ":2: label '' is no number"),
        ("id,label\n,1\n", ":2: 'id' is missing or empty"),
        ("id,label,attempt\na,1,-1\n", ":2: attempt '-1' is no number from 0 on"),
        ("id,label,attempt\na,1,first\n", ":2: attempt 'first' is no number from 0 on"),
        ("id,label,model,run\na,1,x,y\n", ":2: 'model' and 'run' both"),
        ("id,label\na,1,2\n", ":2: 3 cells where the head has 2"),
        ("id,id,label\na,a,1\n", ":1: two columns are called 'id'"),
        ('id,label\n"a,1\n', ":2: no CSV: unexpected end of data"),
        ("id,better,worse\na,x,x\n", ":2: 'x' is better than itself"),
        ("id,better,worse\na,x,\n", ":2: 'worse' is missing or empty"),
        ("id,better,label\na,x,1\n", ":2: 'better' beside 'label'"),
        ("id,ranking\na,x\n", ":2: no ranking of two or more"),
        ("id,ranking\na,x > \n", ":2: no ranking of two or more"),
        ("id,ranking\na,x > y = x\n", ":2: 'x' stands twice in the ranking"),
        ("id\na\n", ":2: neither label, nor better and worse, nor ranking"),
        ("id,label\n", ": no judgement in it"),
        ("", ": no judgement in it"),
    ],
)
def test_faults_of_a_csv_file_are_told_with_their_line(
    tmp_path: Path, text: str, told: str
) -> None:
    assert refusal(write(tmp_path, "said.csv", text)).endswith(f"said.csv{told}")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"id": "a", "label": true}', ":1: label 'True' is no number"),
        ('{"id": "a", "label": [1]}', ":1: label '[1]' is no number"),
        ('{"id": 7, "label": 1}', ":1: 'id' is no text"),
        ('{"id": "a", "label": 1, "attempt": true}', ":1: attempt 'True' is no number from 0 on"),
        ('{"id": "a", "label": 1, "attempt": 0.5}', ":1: attempt '0.5' is no number from 0 on"),
        ("[1]", ":1: one JSON object a line is wanted"),
        ('{"id": "a", "ranking": 3}', ":1: no ranking of two or more"),
        ('{"id": "a", "ranking": [["x", 1]]}', ":1: no ranking of two or more"),
        ('{"id": "a", "label": 1, "label": 0}', ":1: no JSON: 'label' stands in it twice"),
        (
            '{"id": "a", "label": 1}\n{"id": "a", "better": "x", "worse": "y"}',
            ":2: labels and preferences in one file",
        ),
    ],
)
def test_faults_of_json_lines_are_told_with_their_line(
    tmp_path: Path, text: str, told: str
) -> None:
    assert refusal(write(tmp_path, "said.jsonl", text)).endswith(f"said.jsonl{told}")


def test_what_is_no_json_is_told(tmp_path: Path) -> None:
    assert "said.jsonl:1: no JSON: " in refusal(write(tmp_path, "said.jsonl", "id,label"))


def test_no_more_of_a_file_is_repeated_than_shows_what_is_meant(tmp_path: Path) -> None:
    for text in ("id,label\na,{}", "id,label,{}\na,1,1", "id,label,attempt\na,1,{}"):
        assert len(refusal(write(tmp_path, "said.csv", text.format("x" * 50_000)))) < 400


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "said.csv")
    assert "said.csv: cannot be read: is no file of bytes" in refusal(tmp_path / "said.csv")


def test_the_digest_is_that_of_what_was_read(tmp_path: Path) -> None:
    path = write(tmp_path, "said.csv", "id,label\r\na,1\r\n")
    assert read_human(path).sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    assert refusal(tmp_path / "gone.csv").endswith("gone.csv: no such file")
    assert "'.xlsx' is no kind of file" in refusal(write(tmp_path, "said.xlsx", "id,label"))
    (tmp_path / "latin.csv").write_bytes(b"id,label\n\xe9,1\n")
    assert "no UTF-8 text" in refusal(tmp_path / "latin.csv")
    (tmp_path / "folder.csv").mkdir()
    assert "folder.csv: cannot be read: " in refusal(tmp_path / "folder.csv")


@pytest.mark.parametrize(
    ("head", "separator"),
    [
        ("id;label", "semicolons"),
        ('"id";"label"', "semicolons"),
        ("\ufeffid;label", "semicolons"),
        ("id\tlabel", "tabs"),
        ("id | label", "bars"),
    ],
)
def test_columns_that_no_commas_separate_are_told_by_what_does(
    tmp_path: Path, head: str, separator: str
) -> None:
    path = write(tmp_path, "said.csv", f"\n{head}\na;0,5\n")
    told = f"said.csv:2: the columns are separated by {separator}, not by commas"
    assert refusal(path).endswith(told)


def test_a_ranking_is_of_a_hundred_at_most(tmp_path: Path) -> None:
    names = [f"m{at}" for at in range(101)]
    found = read_human(
        write(tmp_path, "said.csv", "id,ranking\na," + " > ".join(names[:100]) + "\n")
    )
    assert len(found.preferences) == 4950
    for ranking in (" > ".join(names), " = ".join(names)):
        told = refusal(write(tmp_path, "more.csv", f"id,ranking\na,{ranking}\n"))
        assert told.endswith("more.csv:2: a ranking of 101, more than 100")
