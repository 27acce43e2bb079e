"""The views of questions: the right option marked, the rule told, votes by round, free answers."""

from __future__ import annotations

import math
from typing import Any

import pytest
from gradekit import scene_of
from quality_views import bars, facts, pane, seen_of, text
from vgen_eval.types import NoOptions
from vgen_eval_plugins.quality.perception.decoders import ClosedSet, OptionText, WrongChoice
from vgen_eval_plugins.quality.perception.exact_match import ExactMatch
from vgen_eval_plugins.quality.perception.free_answers import AnswerText, WrongAnswer
from vgen_eval_plugins.quality.perception.grader import OptionGrader
from vgen_eval_plugins.quality.perception.metric import OptionAccuracy
from vgen_eval_plugins.quality.perception.targets import (
    AcceptedTexts,
    OptionTarget,
    letter_options,
)
from vgen_eval_plugins.quality.perception.view import AnswerView, OptionView
from vgen_eval_plugins.quality.rounds import RoundOptions
from vgen_eval_plugins.quality.words import Words as WordsDecoder

TEXTS = ("Very blurry", "Blurry", "Sharp")
TARGET = OptionTarget(letter_options(TEXTS), "B")
NO = NoOptions()


def look(answer: Any, form: Any, decoder: Any, **more: Any) -> Any:
    seen = seen_of(
        answer, TARGET, form=form, decoder=decoder, metric=OptionAccuracy(NO),
        failure=WrongChoice(NO), choices=TEXTS, question="How sharp is it?", **more,
    )  # fmt: skip
    return OptionView().panes(seen)


def marks(panes: Any, title: str = "Options") -> list[tuple[str, Any, bool, bool]]:
    return [(bar.label, bar.value, bar.right, bar.chosen) for bar in bars(panes, title).bars]


def test_options_of_a_text_answer_are_marked_chosen_and_right() -> None:
    answer = "The answer is (C), since edges are crisp."
    panes = look(answer, "text", OptionText(NO))
    assert marks(panes) == [
        ("A. Very blurry", None, False, False),
        ("B. Blurry", None, True, False),
        ("C. Sharp", None, False, True),
    ]
    told = facts(panes, "How the answer was read")
    scored = OptionText(NO).decode(answer, scene_of(*TEXTS)).summary
    assert "question" not in told  # it stands above the panes
    assert told["chosen"] == "C. Sharp"
    assert told["rule"] == scored["rule"]
    assert told["extracted"] == scored["extracted"]
    assert text(panes, "How the answer was read") == answer


def test_probabilities_of_a_choice_are_the_stored_ones() -> None:
    answer = {"Very blurry": math.log(0.1), "Blurry": math.log(0.6), "Sharp": None}
    panes = look(answer, "choice", ClosedSet(NO))
    assert marks(panes, "Options with their probabilities") == [
        ("A. Very blurry", pytest.approx(0.1), False, False),
        ("B. Blurry", pytest.approx(0.6), True, True),
        ("C. Sharp", None, False, False),
    ]
    assert facts(panes, "How the answer was read")["rule"] == "the likeliest option"


def test_numbers_above_zero_are_no_probabilities() -> None:
    panes = look({"Very blurry": 2.0, "Blurry": -1.0, "Sharp": 0.5}, "choice", ClosedSet(NO))
    shown = bars(panes, "Options with their probabilities")
    assert [bar.value for bar in shown.bars] == [2.0, -1.0, 0.5]
    assert (shown.low, shown.high) == (-1.0, 2.0)


def test_an_answer_that_names_no_option_tells_why() -> None:
    panes = look("I cannot tell.", "text", OptionText(NO))
    told = facts(panes, "How the answer was read")
    assert told["status"] == "undecodable"
    assert told["counted as"] == "no option, which is wrong"
    assert not any(chosen for *_, chosen in marks(panes))
    assert pane(panes, "Options").note == "No option was read off the answer."


def test_votes_stand_by_round_with_the_reply_that_counted() -> None:
    replies = {
        "grade/0": "Score: 1", "grade/1": "well...", "grade/1?1": "Score: 0", "grade/2": "hm",
        "grade/2?1": "hm!", "grade/3": "Score: 1", "grade/4": "It fits. Score: 1",
    }  # fmt: skip
    judge = OptionGrader(RoundOptions(rounds=5, re_asks=1))
    panes = look(
        "It is hazy.", "text", WordsDecoder(WordsDecoder.Options()), judge=judge, replies=replies
    )
    told = facts(panes, "The judge's votes")
    rounds = [told[f"round {at}"] for at in range(1, 6)]
    assert rounds == ["right", "wrong", "unread", "right", "right"]
    assert told["votes that could not be read"] == "1"
    assert told["judge, grade/1"] == "Score: 0"
    assert told["judge, grade/2"] == "hm!"
    assert told["judge, grade/4"] == "It fits. Score: 1"
    assert marks(panes)[1] == ("B. Blurry", None, True, True)
    read = facts(panes, "How the answer was read")
    assert read["right, says the judge"] == "yes"
    assert text(panes, "How the answer was read") == "It is hazy."


FREE = AcceptedTexts(("blur", "blurry"))


def free(answer: str) -> Any:
    seen = seen_of(
        answer, FREE, form="text", decoder=AnswerText(NO), metric=ExactMatch(NO),
        failure=WrongAnswer(NO), question="What is wrong?",
    )  # fmt: skip
    return AnswerView().panes(seen)


def test_a_free_answer_tells_what_was_taken_of_it_and_by_which_rule() -> None:
    panes = free("I think that it is <answer>Blurry.</answer>")
    assert text(panes, "Answer as read") == "Blurry."
    told = facts(panes, "Answer as read")
    assert told == {"rule": "what the answer marks as such"}
    assert text(panes, "Right answer") == "blur"
    assert facts(panes, "Right answer") == {"also accepted": "blurry"}
    panes = free("noise")
    assert facts(panes, "Answer as read")["rule"] == "all of it, outside of a thinking trace"
    assert facts(panes, "Answer as read") == {"rule": "all of it, outside of a thinking trace"}


def test_a_long_free_answer_is_shown_whole_though_its_summary_is_cut() -> None:
    answer = "word " * 99 + "end"
    assert text(free(answer), "Answer as read") == answer


def test_no_free_answer_tells_why() -> None:
    panes = free("")
    assert text(panes, "Answer as read") == ""
    told = facts(panes, "Answer as read")
    assert told["counted as"] == "no words, which are wrong"
    assert told["reason"] == "the answer is empty"
