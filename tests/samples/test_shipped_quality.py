"""The shipped samples of quality: they load, and the baselines score what can be worked out."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import vgen_eval
from vgen_eval.cards import convert, load_card
from vgen_eval_plugins.quality.classic.fit_our_pristine import PHOTOGRAPHS
from vgen_eval_plugins.samples.reader import Samples

CARDS = Path(str(files("vgen_eval.task_cards"))) / "samples"
TASKS = ("quality", "fidelity", "perception", "answers", "description")


def lines(name: str) -> list[dict[str, Any]]:
    text = (CARDS / f"{name}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def run(task: str, model: Any, folder: Path, **more: Any) -> vgen_eval.ResultCard:
    (card,) = vgen_eval.evaluate(
        tasks=f"samples/{task}", model=model, output=str(folder), bounds=False, **more
    )
    return card


def scores(task: str, model: str, folder: Path, **more: Any) -> dict[str, float | None]:
    card = run(task, model, folder, **more)
    return {score.metric: score.value for score in card.scores if score.subset == "all"}


@pytest.mark.parametrize("name", TASKS)
def test_shipped_samples_load_and_number_what_the_card_says(name: str) -> None:
    record: Any = load_card(CARDS / f"{name}.yaml").record
    options = convert(Samples.Options, record.dataset.options, file=name)
    data = Samples(options, root=None, folder=CARDS)
    items = data.index()
    assert len(items) == record.dataset.n <= 12
    for item in items:
        assert len(data.load(item).images) == (2 if name == "fidelity" else 1)


def test_series_are_whole_and_of_one_photograph_and_one_distortion() -> None:
    series: dict[str, list[dict[str, Any]]] = {}
    for line in lines("quality"):
        series.setdefault(line["series"], []).append(line)
    assert len(series) == 3
    for name, members in series.items():
        photo, kind = name.split("/")
        assert [line["level"] for line in members] == [0, 1, 2, 3]
        assert {line["image"] for line in members} == {f"{photo}.png"}
        assert {each["kind"] for line in members for each in line.get("distortions", ())} == {kind}


def test_no_sample_shows_a_photograph_that_niqe_was_fitted_on() -> None:
    shown = {line["image"] for name in ("quality", "perception", "answers", "description")
             for line in lines(name)}  # fmt: skip
    assert shown == {"astronaut.png", "chelsea.png", "coffee.png"}
    assert not shown & set(PHOTOGRAPHS)


@pytest.mark.parametrize(
    ("task", "model"),
    [("quality", "oracle"), ("quality", "classical"), ("fidelity", "psnr"), ("fidelity", "ssim")],
)
def test_measures_rank_known_strengths_rightly(tmp_path: Path, task: str, model: str) -> None:
    found = scores(task, model, tmp_path)
    assert found["srcc"] == pytest.approx(1)
    assert found["krcc"] == pytest.approx(1)


def test_a_constant_rater_has_no_correlation_and_the_reason_says_so(tmp_path: Path) -> None:
    (card,) = vgen_eval.evaluate(
        tasks="samples/quality", model="blind", output=str(tmp_path), bounds=False
    )
    for name in ("srcc", "plcc", "krcc"):
        (score,) = (each for each in card.scores if each.metric == name and each.subset == "all")
        assert score.value is None
        assert (score.reason or "").startswith("constant_input")
    kept = [path.read_text() for path in (tmp_path / card.run).rglob("*.json*")]
    assert kept
    assert not any("NaN" in text or "Infinity" in text for text in kept)


def test_a_measure_without_a_second_picture_has_no_answer(tmp_path: Path) -> None:
    (card,) = vgen_eval.evaluate(
        tasks="samples/quality", model="psnr", output=str(tmp_path), bounds=False
    )
    assert card.score().value is None


@pytest.mark.parametrize("form", ["text", "choice"])
def test_questions_are_answered_rightly_by_the_ceiling_and_by_the_first_option_by_the_floor(
    tmp_path: Path, form: str
) -> None:
    asked = lines("perception")
    first = sum(line["answer"] == line["options"][0] for line in asked) / len(asked)
    assert scores("perception", "oracle", tmp_path, answer=form)["accuracy"] == 1
    floor = scores("perception", "blind", tmp_path, answer=form)
    assert floor["accuracy"] == pytest.approx(first)
    assert floor["share_yes"] == 1
    assert scores("perception", "classical", tmp_path, answer=form)["accuracy"] == 1


def test_free_answers_are_right_for_the_ceiling_and_for_any_accepted_word(tmp_path: Path) -> None:
    assert scores("answers", "oracle", tmp_path)["exact_match"] == 1
    assert scores("answers", "blind", tmp_path)["exact_match"] == 0
    said = {"Blurry.": 1, "It is blurry": 0, "noise": 0}
    for words, value in said.items():
        card = run("answers", lambda _, said=words: said, tmp_path, forms=["text"],
                   samples=["chelsea-blur"])  # fmt: skip
        assert card.score().value == value


def test_questions_lean_to_no_letter_and_to_no_answer() -> None:
    asked = lines("perception")
    letters = Counter("ABCD"[line["options"].index(line["answer"])] for line in asked)
    assert max(letters.values()) <= len(asked) / 2
    yes = [line["answer"] == "Yes" for line in asked if "Yes" in line["options"]]
    assert 0 < sum(yes) < len(yes)


def test_the_scripted_judge_marks_to_the_digit(tmp_path: Path) -> None:
    found = scores("description", "oracle", tmp_path)
    assert [found[name] for name in ("completeness", "preciseness", "relevance")] == [2, 2, 2]
    floor = scores("description", "blind", tmp_path)  # one sentence: no fault named, none denied
    assert [floor[name] for name in ("completeness", "preciseness", "relevance")] == [0, 2, 1]
    assert floor["sum"] == 3
    assert scores("description", "classical", tmp_path)["sum"] == 6


@pytest.mark.parametrize(
    ("said", "marks"),
    [
        ("It is blurry.", (2, 2, 2)),
        ("It is sharp and clean.", (0, 0, 2)),
        ("A cat.", (0, 2, 0)),
        ("The quality is fine.", (0, 2, 1)),
    ],
)
def test_the_scripted_judge_looks_for_words(
    tmp_path: Path, said: str, marks: tuple[int, int, int]
) -> None:
    (card,) = vgen_eval.evaluate(
        tasks="samples/description", model=lambda _: said, forms=["text"],
        samples=["chelsea-blur"], output=str(tmp_path), bounds=False,
    )  # fmt: skip
    found = {score.metric: score.value for score in card.scores if score.subset == "all"}
    assert (found["completeness"], found["preciseness"], found["relevance"]) == marks
