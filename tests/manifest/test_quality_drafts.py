"""Tables of scores and questions become drafts; what is wrong with rows is told all at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from manifestkit import fill_folder
from vgen_eval.drafts import Draft, DraftRequest, FaultyData
from vgen_eval.errors import UsageError
from vgen_eval_plugins.manifest.reader import Manifest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    fill_folder(tmp_path, *(f"images/{name}.png" for name in "abcd"))
    return tmp_path


def draft(folder: Path, text: str, *, name: str = "t.csv", **said: Any) -> Draft:
    (folder / name).write_text(text)
    measures = said.pop("measures", None)
    request = DraftRequest(folder=folder, family="quality", measures=measures, hints=said)
    return Manifest.draft(request)


def draft_rows(folder: Path, *rows: Any, **said: Any) -> Draft:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    return draft(folder, text, name="t.jsonl", **said)


# --- which kind


def test_scores_are_drafted_by_picture(folder: Path) -> None:
    made = draft(folder, "image,MOS,part,std\na.png,3.5,x,1\nb,.5,,1\nimages/c.png,1e1,y,1\n")
    assert made.options == {"target": "score"}
    assert made.like == "samples/quality"
    assert made.lines == (
        {"id": "a", "group": "a", "image": "images/a.png", "score": 3.5, "part": "x"},
        {"id": "b", "group": "b", "image": "images/b.png", "score": 0.5},
        {"id": "c", "group": "c", "image": "images/c.png", "score": 10.0, "part": "y"},
    )
    assert made.left_out == ("images/d.png: no row in t.csv",)
    assert "columns of t.csv passed over: std" in made.guessed
    assert "scores: column 'MOS', 0.5 to 10, higher is better" in made.guessed


def test_lower_scores_can_be_the_better_ones(folder: Path) -> None:
    text = "image,dmos\na,3\nb,4\n"
    assert draft(folder, text, lower_is_better=True).options == {
        "target": "score", "score": {"better": "low"},
    }  # fmt: skip
    assert draft(folder, text, lower_is_better=True).doubts == ()
    (doubt,) = draft(folder, text).doubts
    assert "--lower-is-better" in doubt


def test_scores_that_rank_nothing_are_doubted(folder: Path) -> None:
    assert draft(folder, "image,score\na,3\nb,3\n").doubts == (
        "all scores are 3: nothing can be ranked",
    )


@pytest.mark.parametrize(
    ("heading", "row"),
    [
        ("image,question,A,B,C,answer", "a,How?,red,green,,B"),
        ("image,query,option_1,option_2,correct_answer", "a,How?,red,green,Green."),
        ("image,question,options,answer", "a,How?,red|green,green"),
        ("image,question,candidates,correct_ans", 'a,How?,"[""red"", ""green""]",(b)'),
    ],
)
def test_options_stand_in_columns_or_in_one(folder: Path, heading: str, row: str) -> None:
    made = draft(folder, f"{heading}\n{row}\n")
    assert (made.options, made.like) == ({"target": "choice"}, "samples/perception")
    (line,) = made.lines
    assert line["question"] == "How?"
    assert (line["options"], line["choice"]) == (["red", "green"], "green")


def test_the_right_option_is_written_by_its_text(folder: Path) -> None:
    row = {"image": "a", "question": "Which?", "options": ["B", "C", "D"], "answer": "A"}
    assert draft_rows(folder, row).lines[0]["choice"] == "B"


def test_free_answers_have_one_text_or_several(folder: Path) -> None:
    made = draft_rows(
        folder,
        {"image": "a", "question": "Who?", "answer": ["cat", "a cat"]},
        {"image": "a", "question": "How many?", "answer": 3},
        {"image": "b", "question": "Who?", "answer": "dog|a dog"},
    )
    assert (made.options, made.like) == ({"target": "answer"}, "samples/answers")
    assert [line["id"] for line in made.lines] == ["a", "a-2", "b"]
    assert [line["group"] for line in made.lines] == ["a", "a", "b"]
    assert [line["answer"] for line in made.lines] == [["cat", "a cat"], "3", ["dog", "a dog"]]


def test_one_question_can_be_that_of_all(folder: Path) -> None:
    made = draft(folder, "image,answer\na,cat\nb,dog\n", query="What is it?")
    assert {line["question"] for line in made.lines} == {"What is it?"}


def test_protocols_decide_where_a_table_has_both(folder: Path) -> None:
    text = "image,mos,question,answer\na,3,Who?,cat\n"
    with pytest.raises(UsageError, match="has scores and questions: which are meant") as caught:
        draft(folder, text)
    assert caught.value.cure == "--like samples/quality or --like samples/answers"
    assert draft(folder, text, measures="quality").options["target"] == "score"
    assert draft(folder, text, measures="answer").options["target"] == "answer"
    with pytest.raises(UsageError, match="no column 'options'"):
        draft(folder, text, measures="option")
    with pytest.raises(UsageError, match="that is a description"):
        draft(folder, text, measures="description")


# --- what is wrong


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("image,mos2\na,3\n", "neither scores nor questions .* its columns are: image, mos2"),
        ("image,question\na,Who?\n", "neither scores nor questions"),
        ("image,A,B,answer\na,x,y,A\n", "no column 'question'"),
        ("image,A,B\na,x,y\n", "no column 'question' and no column 'answer'"),
        ("file_nam,mos\na,3\n", "no column 'id' or 'image'"),
        ("image,mos\nx,3\n", r"nothing belongs together: t\.csv:2: no picture 'x'"),
        ("image,mos\n", "no row"),
    ],
)
def test_a_table_that_says_too_little_is_refused(folder: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        draft(folder, text)


def test_a_folder_without_a_table_is_told_what_is_wanted(folder: Path) -> None:
    with pytest.raises(UsageError, match="no table of scores or questions") as caught:
        Manifest.draft(DraftRequest(folder=folder, family="quality"))
    assert "id,score" in (caught.value.cure or "")


def test_all_faulty_scores_are_told_with_their_lines_and_what_is_left_out(folder: Path) -> None:
    text = 'image,mos\na,good\nb,"4,5"\nc,\nz,3\na,1\nd,nan\nd,1_0\nd,1e999\n'
    with pytest.raises(FaultyData) as caught:
        draft(folder, text)
    found = [(Path(p.file).name, p.line, p.path, p.message) for p in caught.value.problems]
    assert found == [
        ("t.csv", 2, "mos", "'good' is no number"),
        ("t.csv", 3, "mos", "'4,5' is no number"),
        ("t.csv", 6, "image", "the picture 'images/a.png' has a score in line 2 too"),
        ("t.csv", 7, "mos", "'nan' is no number"),
        ("t.csv", 8, "mos", "'1_0' is no number"),
        ("t.csv", 9, "mos", "'1e999' is no number"),
    ]
    assert caught.value.left_out == ("t.csv:4: no score for 'c'", "t.csv:5: no picture 'z'")


def test_all_faulty_questions_are_told_with_their_lines(folder: Path) -> None:
    whole = {"image": "a", "question": "Q", "options": ["x", "y"], "answer": "x"}
    odd: list[dict[str, Any]] = [
        {"answer": "z"}, {"question": " "}, {"options": ["x"]}, {"options": ["x", "X."]},
        {"options": ["x", True]}, {"options": {"A": "x"}}, {"options": []}, {"image": ["a"]},
        {"answer": True},
    ]  # fmt: skip
    with pytest.raises(FaultyData) as caught:
        draft_rows(folder, whole, *({**whole, **row} for row in odd))
    found = [(p.line, p.path) for p in caught.value.problems]
    assert found == [
        (2, "answer"), (3, "question"), (4, "options"), (5, "options"), (6, "options"),
        (7, "options"), (8, "options"), (9, "image"), (10, "answer"),
    ]  # fmt: skip
    assert caught.value.problems[0].message == "'z' is none of the options: 'x', 'y'"


def test_an_empty_option_before_another_shifts_no_letter(folder: Path) -> None:
    with pytest.raises(FaultyData) as caught:
        draft(folder, "image,question,A,B,C,answer\na,Q,x,,z,C\n")
    (problem,) = caught.value.problems
    assert (problem.line, problem.path) == (2, "B")


def test_first_frames_are_no_draft_of_a_video_task(folder: Path) -> None:
    with pytest.raises(UsageError, match="first frames alone are no truth of a video"):
        Manifest.draft(DraftRequest(folder=folder, family="video"))
