"""People's answers: id, answer and seconds; whatever else a file has of them is refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from vgen_eval.engine.importing import import_predictions
from vgen_eval.errors import MissingData, UsageError
from vgen_eval.importing import Imported, Scope
from vgen_eval.plugins import Catalog
from vgen_eval.store.journal import read_lines
from vgen_eval.types import AnswerForm, NoOptions
from vgen_eval_plugins.importers.human import Human

CATALOG = Catalog.discover()


def read(path: Path, *forms: AnswerForm, choices: tuple[str, ...] = ()) -> Imported:
    scope = Scope(task="a/b@c", family="counting", forms=forms or ("text",), choices=choices)
    return Human(NoOptions()).read(path, scope)


def write(tmp_path: Path, text: str, name: str = "people.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("people.csv", 'id,answer,seconds\nx,3,4.5\ny,"a, b",\nx,,7\ny,4,\n'),
        (
            "people.csv",
            '\ufeffanswer,id,seconds\r\n3,x,4.5\r\n"a, b",y,\r\n\r\n,x,7\r\n4,y,\r\n',
        ),
        ("people.csv", 'id,answer,seconds,,\nx,3,4.5,,\ny,"a, b",,, \nx,,7,,\ny,4,,,\n'),
        (
            "people.jsonl",
            '{"id": "x", "answer": 3, "seconds": 4.5}\n\n{"id": "y", "answer": "a, b"}\n'
            '{"id": "x", "answer": null, "seconds": "7"}\n{"id": "y", "answer": 4}',
        ),
    ],
)
def test_answers_are_read_with_their_attempts_and_seconds(
    tmp_path: Path, name: str, text: str
) -> None:
    found = read(write(tmp_path, text, name))
    assert (found.form, found.role, found.samples) == ("text", "human", None)
    assert [(a.sample, a.attempt, a.value, a.seconds) for a in found.answers] == [
        ("x", 0, "3", 4.5), ("y", 0, "a, b", None), ("x", 1, None, 7.0),
        ("y", 1, "4", None),
    ]  # fmt: skip


@pytest.mark.parametrize("column", ["name", "email", "age", "Seconds", "worker_id"])
def test_any_other_column_is_refused_by_its_name(tmp_path: Path, column: str) -> None:
    table = write(tmp_path, f"id,answer,{column}\nx,3,\n")
    with pytest.raises(UsageError, match=rf"column '{column}' is not taken"):
        read(table)
    lines = write(tmp_path, json.dumps({"id": "x", "answer": "3", column: "y"}), "people.jsonl")
    with pytest.raises(UsageError, match=rf":1: column '{column}' is not taken"):
        read(lines)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no answer in it"),
        ("id,answer\n", "no answer in it"),
        ("id,seconds\nx,3\n", ":2: no 'answer'"),
        ("id,answer\nx\n", ":2: 1 cells for 2 columns"),
        ("id,answer,seconds\nx,3,soon\n", "'seconds' is no length of time"),
        ("id,answer,seconds\nx,3,-1\n", "'seconds' is no length of time"),
        ("id,answer,seconds\nx,3,nan\n", "'seconds' is no length of time"),
        ('{"id": "x", "answer": 3, "seconds": 1' + "0" * 400 + "}", "'seconds' is no length of"),
        ("id,answer,id\nx,3,y\n", "column 'id' stands twice"),
        ('{"id": "x", "answer": 3, "answer": 4}', ":1: 'answer' stands in it twice"),
        ("id,answer\n ,3\n", "'id' is empty"),
        ('id,answer\nx,"3\n', "no CSV"),
        ('{"id": "x", "answer": 3}\n{', ":2: no JSON"),
        ('{"id": ["x"], "answer": 3}', "'id' is list"),
        ('{"id": "x", "answer": [3]}', "'answer' is list"),
        ('{"id": "x\\ud800", "answer": 3}', r":1: 'id' is no text: 'x.ud800'"),
        ('{"id": "x", "answer": 3, "": ""}', "column '' is not taken"),
        ("id,answer,\nx,3,\ny,4,Ann\n", ":3: column '' is not taken"),
        ("id,,answer\nx,,3\n", ":1: column '' is not taken"),
        ("id,answer,\nx,3\n", ":2: 2 cells for 3 columns"),
        ("id;answer;seconds\nx;3;1\n", ":1: the columns are parted by semicolons"),
        ('"answer"\t"id"\n3\tx\n', ":1: the columns are parted by tabs"),
        ('\ufeff[{"id": "x", "answer": 3}]', "a JSON array"),
    ],
)
def test_what_is_no_row_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read(write(tmp_path, text))


@pytest.mark.parametrize(
    ("rows", "told"),
    [("x,3 y,4 z,1 x,5", r"'x' has 2 answers \(lines 2, 5\), 'y' has 1 \(line 3\)"),
     ("x,1 y,1 " + "x,1 " * 7 + "y,1", r"lines 2, 4, 5, 6, 7, \.\.\.\), 'y' has 2 \(line 3\)")],
)  # fmt: skip
def test_attempts_that_nobody_made_do_not_count_as_failures(
    tmp_path: Path, rows: str, told: str
) -> None:
    path = write(tmp_path, "\n".join(["id,answer", *rows.split()]))
    with pytest.raises(UsageError, match=told) as caught:
        read(path)
    assert "nobody made" in str(caught.value.cure)


def test_ids_of_no_sample_may_have_more_answers(tmp_path: Path) -> None:
    path = write(tmp_path, "id,answer\nx,3\nnobody,1\nnobody,2\n")
    scope = Scope(task="a/b@c", family="counting", forms=("text",), known={"x", "y"})
    assert len(Human(NoOptions()).read(path, scope).answers) == 3


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85"])
def test_json_lines_end_at_line_feeds_alone(tmp_path: Path, sign: str) -> None:
    line = json.dumps({"id": "x", "answer": f"one{sign}two"}, ensure_ascii=False)
    found = read(write(tmp_path, f"{line}\r\n", "people.jsonl"))
    assert [answer.value for answer in found.answers] == [f"one{sign}two"]


def test_of_a_choice_the_word_that_was_taken_is_certain(tmp_path: Path) -> None:
    path = write(tmp_path, "id,answer\nx,good\n")
    found = read(path, "choice", choices=("good", "poor"))
    assert found.answers[0].value == {"good": 0.0, "poor": -900.0}
    assert "the others at -900" in found.remarks[0]
    with pytest.raises(UsageError, match="'answer' is 'good'"):
        read(path, "choice", choices=("A", "B"))
    with pytest.raises(UsageError, match="takes no words"):
        read(path, "image")


def test_words_and_text_tell_which_form_a_protocol_that_takes_both_is_answered_in(
    tmp_path: Path,
) -> None:
    both: dict[str, Any] = {"choices": ("good", "poor")}
    numbers = read(write(tmp_path, "id,answer\nx,3.5\ny,\n"), "choice", "text", **both)
    assert (numbers.form, [a.value for a in numbers.answers]) == ("text", ["3.5", None])
    words = read(write(tmp_path, "id,answer\nx,Good\ny,\n"), "choice", "text", **both)
    assert (words.form, words.answers[1].value) == ("choice", None)
    assert words.answers[0].value == {"good": 0.0, "poor": -900.0}
    mixed = write(tmp_path, "id,answer\nx,good\ny,3.5\n")
    with pytest.raises(UsageError, match=r":3: 'answer' is '3.5', and at .*:2 it is the word"):
        read(mixed, "choice", "text", **both)


def rate(task: str, answers: list[str], tmp_path: Path) -> tuple[Any, list[Any]]:
    """A run of people's answers to the first samples, and what each was read as."""
    from vgen_eval.engine.naming import expand_tasks
    from vgen_eval.engine.tasks import open_task

    (ref,) = expand_tasks([task], CATALOG, notices=[])
    items = open_task(ref, CATALOG, overrides={}, data_root=None).items
    rows = [f"{item.id},{said}" for item, said in zip(items, answers, strict=False)]
    path = write(tmp_path, "\n".join(["id,answer", *rows]))
    (card,) = import_predictions(
        task=task, predictions=path, model_name="people/one", catalog=CATALOG,
        output=str(tmp_path / "out"), format_name="human",
    )  # fmt: skip
    (scores,) = (tmp_path / "out" / card.run / "scores").glob("*.jsonl")
    lines = [line for _, line in read_lines(scores)]
    by_sample = {line["sample"]: line for line in lines}
    found = [by_sample[item.id] for item, _ in zip(items, answers, strict=False)]
    return card, found


def test_words_that_people_take_are_good_and_poor_and_never_between(tmp_path: Path) -> None:
    card, lines = rate("samples/quality", ["good", "poor", "fine"], tmp_path)
    good, poor, fine = lines
    assert card.answer == "choice"
    assert good["prediction"]["quality"] > 0.99
    assert poor["prediction"]["quality"] < 0.01
    # of good and poor alone, which are read, "fine" says nothing
    assert fine["status"] == "undecodable"


def test_people_rate_by_numbers_where_a_task_takes_text(tmp_path: Path) -> None:
    card, lines = rate("samples/quality", ["5", "72.5", "about 60", "4-5"], tmp_path)
    assert card.answer == "text"
    assert [line["prediction"]["quality"] for line in lines[:3]] == [5.0, 72.5, 60.0]
    assert lines[3]["status"] == "undecodable"


def score(path: Path, out: Path, **more: Any) -> Any:
    return import_predictions(
        task="samples/counting", predictions=path, model_name="people/one", catalog=CATALOG,
        output=str(out), format_name="human", **more,
    )  # fmt: skip


def test_people_are_a_model_of_role_human_whose_seconds_are_kept(tmp_path: Path) -> None:
    from vgen_eval.engine.naming import expand_tasks
    from vgen_eval.engine.tasks import open_task

    (ref,) = expand_tasks(["samples/counting"], CATALOG, notices=[])
    first, *others = open_task(ref, CATALOG, overrides={}, data_root=None).items
    path = write(tmp_path, f"id,answer,seconds\n{first.id},12,6.25\nnobody,3,1\n")
    (card,) = score(path, tmp_path / "out")
    assert card.model_info["role"] == "human"
    assert card.answer == "text"
    assert (card.counts.answered, card.counts.statuses["missing"]) == (1, len(others))
    assert card.counts.unknown_ids == ("nobody",)
    run = tmp_path / "out" / card.run
    lines = [line for _, line in read_lines(run / "predictions.jsonl")]
    (kept,) = [line for line in lines if line["status"] == "ok"]
    assert kept["answer"]["value"] == "12"
    assert kept["volatile"]["answer_s"] == 6.25
    with pytest.raises(MissingData, match="nothing in"):
        score(write(tmp_path, "id,answer\nnobody,3\n"), tmp_path / "out")
