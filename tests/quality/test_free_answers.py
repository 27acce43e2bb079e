"""Free answers: how they are read, and which of them are the same as an accepted one."""

from __future__ import annotations

import unicodedata

import pytest
from gradekit import scene_of
from vgen_eval.errors import Undecodable
from vgen_eval.types import NoOptions
from vgen_eval_plugins.quality.perception.exact_match import ExactMatch
from vgen_eval_plugins.quality.perception.free_answers import (
    AnswerText,
    AnswerTextEncoder,
    WrongAnswer,
)
from vgen_eval_plugins.quality.perception.targets import AcceptedTexts

SEEN = scene_of()


def read(text: object) -> str:
    value = AnswerText(NoOptions()).decode(text, SEEN).value
    assert isinstance(value, str)
    return value


def mark(said: str | None, *accepted: str) -> float | None:
    metric = ExactMatch(NoOptions())
    return metric.compute(metric.update(said, AcceptedTexts(accepted), None))["exact_match"]


@pytest.mark.parametrize(
    ("gold", "said", "right"),
    [
        ("NASA 7", "NASA 7", 1),
        ("nasa 7", "NASA 7", 1),
        (unicodedata.normalize("NFC", "Café"), unicodedata.normalize("NFD", "Café"), 1),
        (unicodedata.normalize("NFD", "CAFÉ"), unicodedata.normalize("NFC", "café"), 1),
        ("Grey", " grey.\n", 1),
        ("(Grey)", "grey", 1),
        ("x", "X-ray", 0),
        ("cat", "the cat", 0),
        ("1000", "1,000", 0),
        ("+", "-", 0),
    ],
)
def test_both_sides_are_normalised_alike(gold: str, said: str, right: int) -> None:
    assert mark(read(said), gold) == right


def test_any_accepted_text_is_right_and_no_answer_is_wrong() -> None:
    assert mark("A cat", "cat", "a cat") == 1
    assert mark("dog", "cat", "a cat") == 0
    assert mark(WrongAnswer(NoOptions()).decode("cat", SEEN).value, "cat") == 0


def test_the_mean_is_over_questions() -> None:
    metric = ExactMatch(NoOptions())
    target = AcceptedTexts(("cat",))
    first = metric.update("cat", target, None)
    merged = metric.merge(metric.merge(first, metric.update("dog", target, None)), first)
    assert metric.compute(merged) == {"exact_match": pytest.approx(2 / 3)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<think>a dog? no</think> Cat", "Cat"),
        (r"It is fur, so \boxed{cat}.", "cat"),
        ("<answer>cat</answer>", "cat"),
        ("I choose [[cat]]", "cat"),
        ("<answer>cat</answer> or rather <answer>Cat.</answer>", "cat"),
        ("The answer is cat", "The answer is cat"),
    ],
)
def test_marked_words_go_before_the_whole_and_no_sentence_is_cut(text: str, words: str) -> None:
    prediction = AnswerText(NoOptions()).decode(text, SEEN)
    assert prediction.value == words
    assert ("by_mark" in prediction.flags) == (words == "cat")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "the answer is empty"),
        ("  \n", "the answer is empty"),
        ("<think>cat", "only a thinking trace"),
        ("<answer> </answer>", "marked answer is empty"),
        (r"\boxed{cat} or \boxed{dog}", "2 answers are marked, and they differ"),
        (7, "text was wanted, int came"),
    ],
)
def test_what_holds_no_one_answer_is_refused_with_the_reason(answer: object, reason: str) -> None:
    with pytest.raises(Undecodable, match=reason):
        read(answer)


def test_the_best_answer_is_the_first_accepted_one_and_is_read_back() -> None:
    target = AcceptedTexts(("cat", "a cat"))
    said = AnswerTextEncoder(NoOptions()).encode(target, SEEN)
    assert said == "cat"
    assert mark(read(said), *target.texts) == 1


@pytest.mark.parametrize("texts", [(), ("",), ("cat", " ")])
def test_a_question_has_a_right_answer(texts: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="right answer"):
        AcceptedTexts(texts)
