"""A folder of pictures and a table about their looks becomes a task that works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from makingkit import make_photo, save
from vgen_eval.cards import check_card, load_card, protocol
from vgen_eval.cards.records import TaskCard
from vgen_eval.drafts import FaultyData
from vgen_eval.engine.evaluate import evaluate
from vgen_eval.errors import UsageError
from vgen_eval.making.new import Made, NewTask, make_task
from vgen_eval.plugins import Catalog

TABLES = {
    "score": "image,mos\n0.png,1\n1.png,2.5\n2.png,2\n3.png,4\n4.png,3\n5.png,4.5\n",
    "choice": "image,question,A,B,answer\n0.png,Is it red?,Yes,No,B\n1.png,Which?,cat,dog,cat\n"
    "1.png,Is it old?,Yes,No,Yes\n",
    "answer": "image,question,answer\n0.png,Who?,cat|a cat\n1.png,Where?,Home\n",
}
LIKE = {"score": "quality", "choice": "perception", "answer": "answers"}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.discover()


def fill(folder: Path, text: str) -> Path:
    for seed in range(6):
        save(folder / "images" / f"{seed}.png", make_photo(seed))
    (folder / "table.csv").write_text(text)
    return folder


def make(folder: Path, catalog: Catalog, **said: Any) -> Made:
    return make_task(NewTask(folder=folder, **{"family": None, **said}), catalog)


def task_of(path: Path) -> TaskCard:
    record = load_card(path).record
    assert isinstance(record, TaskCard)
    return record


@pytest.mark.parametrize("target", TABLES)
def test_each_kind_becomes_a_task_that_a_perfect_model_solves(
    tmp_path: Path, catalog: Catalog, target: str
) -> None:
    made = make(fill(tmp_path, TABLES[target]), catalog, family="quality")
    assert made.ceiling.score().value == pytest.approx(1)
    card = task_of(made.files["card"])
    assert (card.family, card.dataset.options["target"]) == ("quality", target)
    assert made.like == f"samples/{LIKE[target]}@standard"
    assert check_card(made.files["card"], catalog) == []
    own = task_of(catalog.find("task", f"samples/{LIKE[target]}")[1].path)
    assert list(card.protocols) == list(own.protocols)
    for name in own.protocols:
        assert protocol(card, name) == protocol(own, name)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("score", "score 1.0, low 1.0, high 4.5"),
        ("choice", "right B, options: A Yes, B No"),
        ("answer", "texts: cat, a cat"),
    ],
)
def test_the_preview_says_the_truth(
    tmp_path: Path, catalog: Catalog, target: str, words: str
) -> None:
    made = make(fill(tmp_path, TABLES[target]), catalog, family="quality")
    assert words in made.files["preview"].read_text()


def test_answers_to_own_questions_are_scored(tmp_path: Path, catalog: Catalog) -> None:
    made = make(fill(tmp_path / "d", TABLES["answer"]), catalog, family="quality")
    (card,) = evaluate(
        tasks=str(made.files["card"]), model=lambda _: " a CAT.", forms=["text"],
        output=str(tmp_path / "out"), bounds=False,
    )  # fmt: skip
    assert card.score().value == 0.5


def test_low_scores_that_are_better_turn_the_ranking(tmp_path: Path, catalog: Catalog) -> None:
    made = make(
        fill(tmp_path / "d", TABLES["score"]), catalog, family="quality",
        hints={"lower_is_better": True},
    )  # fmt: skip
    assert made.ceiling.score().value == pytest.approx(1)
    given = {"0": 1.0, "1": 2.5, "2": 2.0, "3": 4.0, "4": 3.0, "5": 4.5}
    (card,) = evaluate(
        tasks=str(made.files["card"]),
        model=lambda request: given[request.sample], forms=["text"],
        output=str(tmp_path / "out"), bounds=False,
    )  # fmt: skip
    assert card.score().value == pytest.approx(-1)


def test_protocols_of_a_benchmark_can_be_taken_without_prompts_that_want_more(
    tmp_path: Path, catalog: Catalog
) -> None:
    fill(tmp_path, TABLES["choice"])
    made = make(tmp_path, catalog, like="quality/llvisionqa")
    card = task_of(made.files["card"])
    judged, chosen = card.protocols["qbench"].answers
    assert judged.judge is not None
    assert list(judged.prompt) == list(chosen.prompt) == ["short", "mid", "long"]
    assert (made.ceiling.answer, made.ceiling.score().value) == ("choice", 1)


def test_protocols_say_which_column_is_meant(tmp_path: Path, catalog: Catalog) -> None:
    fill(tmp_path, "image,mos,question,answer\n0,1,Who?,cat\n1,2,Who?,dog\n2,3,Who?,cow\n")
    with pytest.raises(UsageError, match="which are meant"):
        make(tmp_path, catalog, family="quality")
    made = make(tmp_path, catalog, like="quality/koniq@qbench_argmax")
    assert task_of(made.files["card"]).dataset.options["target"] == "score"
    assert made.like == "quality/koniq@qbench_argmax"


def test_a_task_that_is_judged_alone_has_no_ceiling(tmp_path: Path, catalog: Catalog) -> None:
    fill(tmp_path, TABLES["choice"])
    path = make(tmp_path, catalog, like="quality/llvisionqa").files["card"]
    text = path.read_text()
    at = text.index("    - form: choice")
    other = tmp_path / "other.yaml"
    other.write_text(text[:at] + text[text.index("    metrics:", at) :])
    made = make(tmp_path, catalog, like=str(other), force=True)
    assert made.ceiling is None
    assert made.why_no_ceiling == "its answers are judged"


def test_faulty_rows_leave_nothing(tmp_path: Path, catalog: Catalog) -> None:
    fill(tmp_path, "image,mos\n0,good\n1,bad\n9,3\n")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(FaultyData) as caught:
        make(tmp_path, catalog, family="quality")
    assert [p.line for p in caught.value.problems] == [2, 3]
    assert caught.value.left_out[0] == "table.csv:4: no picture '9'"
    assert sorted(tmp_path.iterdir()) == before
