"""Lines of scores, choices and answers: the truths they become, and every fault they have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manifestkit import fill_folder, open_manifest
from vgen_eval.errors import CardError
from vgen_eval_plugins.quality.perception.targets import AcceptedTexts, OptionTarget
from vgen_eval_plugins.quality.targets import Opinion


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    fill_folder(tmp_path, "a.png")
    return tmp_path


def line(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "image": "a.png", **more}


def samples(folder: Path, *lines: Any, **options: Any) -> list[Any]:
    data = open_manifest(folder, *lines, **options)
    return [data.load(item) for item in data.index()]


def faults(folder: Path, *lines: Any, **options: Any) -> list[tuple[int | None, str, str]]:
    with pytest.raises(CardError) as caught:
        open_manifest(folder, *lines, **options).index()
    assert all(Path(problem.file).name == "manifest.jsonl" for problem in caught.value.problems)
    return [(p.line, p.path, p.message) for p in caught.value.problems]


# --- scores


def test_scores_are_opinions_on_the_scale_that_they_span(folder: Path) -> None:
    one, two = samples(folder, line("1", score=20), line("2", score=70.5, part="game",
                       tags={"lens": "wide"}), target="score")  # fmt: skip
    assert one.target == Opinion(20.0, low=20.0, high=70.5)
    assert two.target == Opinion(70.5, part="game", low=20.0, high=70.5)
    assert (one.tags, two.tags) == ({}, {"part": "game", "lens": "wide"})
    assert (one.choices, one.fields) == ((), {})


def test_a_stated_scale_is_the_scale(folder: Path) -> None:
    (one,) = samples(folder, line("1", score=3), target="score", score={"low": 1, "high": 5})
    assert (one.target.low, one.target.high, one.target.quality) == (1, 5, 0.5)


def test_scores_that_are_all_alike_have_a_scale_around_them(folder: Path) -> None:
    (one,) = samples(folder, line("1", score=3), target="score")
    assert one.target.quality == 0.5


def test_low_scores_that_are_better_are_turned(folder: Path) -> None:
    best, worst = samples(folder, line("1", score=10), line("2", score=60), target="score",
                          score={"better": "low"})  # fmt: skip
    assert (best.target.quality, worst.target.quality) == (1, 0)
    assert best.target.score > worst.target.score


def test_every_fault_of_scores_is_told_with_its_line(folder: Path) -> None:
    found = faults(
        folder,
        line("1", score="3"), line("2"), line("3", score=6), line("4", score=0.5),
        line("5", scor=1),
        target="score", score={"low": 1, "high": 5},
    )  # fmt: skip
    assert [(number, path) for number, path, _ in found] == [
        (1, "score"), (2, "score"), (3, "score"), (4, "score"), (5, "scor"),
    ]  # fmt: skip
    assert "got str" in found[0][2]
    assert found[1][2].startswith("this is the task's target, and the line has none")
    assert found[2][2] == "6 lies outside of the scale, 1 to 5"
    assert "Nearest: score" in found[4][2]


def test_a_scale_that_goes_down_is_refused(folder: Path) -> None:
    with pytest.raises(CardError, match="a scale goes up: low 5, high 1"):
        open_manifest(folder, line("1", score=3), target="score", score={"low": 5, "high": 1})


# --- questions


@pytest.mark.parametrize("choice", ["B", "(b)", "sharp", "Sharp."])
def test_a_choice_is_the_letter_or_the_text_of_an_option(folder: Path, choice: str) -> None:
    (one,) = samples(folder, line("1", question="How is it?", options=["Blurry", "Sharp"],
                     choice=choice), target="choice")  # fmt: skip
    assert one.target == OptionTarget({"A": "Blurry", "B": "Sharp"}, "B")
    assert one.choices == ("Blurry", "Sharp")
    assert one.fields == {"question": "How is it?", "options": "A. Blurry\nB. Sharp"}


def test_a_text_goes_before_a_letter(folder: Path) -> None:
    (one,) = samples(folder, line("1", options=["B", "A"], choice="A"), target="choice")
    assert one.target.right == "B"


def test_every_fault_of_choices_is_told_with_its_line(folder: Path) -> None:
    found = faults(
        folder,
        line("1", options=["a", "b"], choice="c"),
        line("2", choice="a"),
        line("3", options=["a"], choice="a"),
        line("4", options=["a", "A."], choice="a"),
        line("5", options=["a", " "], choice="a"),
        line("6", options=["a", "b"]),
        line("7", options=["a", "b"], choice="a", question="x", fields={"question": "y"}),
        line("8", options=[str(n) for n in range(27)], choice="1"),
        target="choice",
    )
    assert [(number, path) for number, path, _ in found] == [
        (1, "choice"), (2, "options"), (3, "options"), (4, "options"), (5, "options"),
        (6, "choice"), (7, "fields.question"), (8, "options"),
    ]  # fmt: skip
    assert found[0][2] == "'c' is none of the options: 'a', 'b'"
    assert "'a' and 'A.'" in found[3][2]
    assert found[7][2] == "27 options, 2 to 26 are wanted"


@pytest.mark.parametrize(
    ("answer", "texts"), [("cat", ("cat",)), (["cat", "a cat"], ("cat", "a cat"))]
)
def test_an_answer_is_a_text_or_all_that_are_accepted(
    folder: Path, answer: Any, texts: tuple[str, ...]
) -> None:
    (one,) = samples(folder, line("1", question="Who?", answer=answer), target="answer")
    assert one.target == AcceptedTexts(texts)
    assert (one.choices, one.fields) == ((), {"question": "Who?"})


def test_every_fault_of_answers_is_told_with_its_line(folder: Path) -> None:
    found = faults(
        folder, line("1", answer=[]), line("2", answer=["a", " "]), line("3", answer=4),
        target="answer",
    )  # fmt: skip
    assert [(number, path) for number, path, _ in found] == [
        (1, "answer"), (2, "answer"), (3, "answer"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("target", "kind"), [("score", "quality"), ("choice", "option"), ("answer", "answer")]
)
def test_the_reader_says_what_its_truth_is(folder: Path, target: str, kind: str) -> None:
    assert open_manifest(folder, target=target).measures == kind
