"""Ratings in digits: a number of a model, a person or a file is the quality as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vgen_eval
from vgen_eval.cards import load_card, protocol
from vgen_eval.cards.records import TaskCard
from vgen_eval.engine.importing import import_predictions
from vgen_eval.engine.naming import expand_tasks
from vgen_eval.engine.tasks import open_task
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import Image
from vgen_eval.plugins import Catalog
from vgen_eval.types import NoOptions, Scene
from vgen_eval_plugins.quality.assessment.rating import Rating, RatingEncoder
from vgen_eval_plugins.quality.targets import Opinion

CATALOG = Catalog.discover()
SCENE = Scene(image=Image(np.zeros((8, 8, 3), np.uint8)), size=(8, 8))
RATING = Rating(NoOptions())
TASKS = ("samples/quality", "samples/fidelity")


def truths() -> dict[str, float]:
    (ref,) = expand_tasks(["samples/quality"], CATALOG, notices=[])
    task = open_task(ref, CATALOG, overrides={}, data_root=None)
    return {item.id: task.dataset.load(item).target.score for item in task.items}


def test_the_number_is_the_quality_and_another_scale_is_flagged() -> None:
    plain, of_five = RATING.decode("Rating: 72", SCENE), RATING.decode("4/5", SCENE)
    assert (plain.value, plain.flags) == (72.0, ())
    assert (of_five.value, of_five.flags) == (4.0, ("other_scale",))
    assert of_five.summary["out_of"] == 5.0
    assert RATING.decode("72 %", SCENE).flags == ()
    for answer in ("good", 3.5, {"good": 0.0}):
        with pytest.raises(Undecodable):
            RATING.decode(answer, SCENE)


@pytest.mark.parametrize("score", [1.0, 2.5, 1 + 1e-9, 4.5])
def test_what_is_encoded_is_decoded(score: float) -> None:
    target = Opinion(score, low=1.0, high=4.5)
    answer = RatingEncoder(NoOptions()).encode(target, SCENE)
    assert RATING.decode(answer, SCENE).value == 100 * target.quality


@pytest.mark.parametrize("task", TASKS)
def test_sample_tasks_take_ratings_after_words_and_q_bench_s_protocols_do_not(task: str) -> None:
    record = load_card(CATALOG.find("task", task)[1].path).record
    assert isinstance(record, TaskCard)
    first, second = protocol(record, "standard").answers
    assert (first.form, first.decoder) == ("choice", "word_probability")
    assert (second.form, second.decoder, second.encoder) == ("text", "rating", "rating")
    assert all("100" in prompt for prompt in second.prompt.values())
    paper = load_card(CATALOG.find("task", "quality/koniq")[1].path).record
    assert isinstance(paper, TaskCard)
    assert {a.form for name in paper.protocols for a in protocol(paper, name).answers} == {
        "choice", "image",
    }  # fmt: skip


@pytest.mark.parametrize("task", TASKS)
def test_the_ceiling_of_ratings_is_one_and_the_floor_has_no_correlation(
    tmp_path: Path, task: str
) -> None:
    (oracle,) = vgen_eval.evaluate(
        tasks=task, model="oracle", answer="text", output=str(tmp_path), bounds=False
    )
    assert oracle.score().value == pytest.approx(1)
    (blind,) = vgen_eval.evaluate(
        tasks=task, model="blind", answer="text", output=str(tmp_path), bounds=False
    )
    assert (blind.score().reason or "").startswith("constant_input")
    assert blind.counts.statuses["ok"] == 12


@pytest.mark.parametrize("model", ["oracle", "blind", "classical", "niqe"])
def test_models_that_choose_words_go_on_choosing_them(tmp_path: Path, model: str) -> None:
    (card,) = vgen_eval.evaluate(
        tasks="samples/quality", model=model, output=str(tmp_path), bounds=False, limit=1
    )
    assert card.answer == "choice"


def test_a_function_that_returns_numbers_is_scored(tmp_path: Path) -> None:
    given = truths()
    (card,) = vgen_eval.evaluate(
        tasks="samples/quality", model=lambda request: given[request.sample] / 7,
        forms=["text"], output=str(tmp_path),
    )  # fmt: skip
    assert card.score().value == pytest.approx(1)
    assert (card.answer, card.counts.statuses["ok"]) == ("text", 12)
    assert card.ceiling is not None
    assert card.ceiling.value == pytest.approx(1)


def test_numbers_in_lines_are_ratings(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    lines = [{"id": name, "output": 3.25 - score / 7} for name, score in truths().items()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    card = score(path, tmp_path)
    assert (card.answer, card.counts.statuses["ok"]) == ("text", 12)
    assert card.score().value == pytest.approx(-1)


def score(path: Path, tmp_path: Path, **more: Any) -> Any:
    (card,) = import_predictions(
        task="samples/quality", predictions=path, model_name="own/ratings", catalog=CATALOG,
        output=str(tmp_path / "out"), **more,
    )  # fmt: skip
    return card
