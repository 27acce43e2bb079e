"""The judge of answers with options: five votes, the majority, and no score without one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from gradekit import case_of, drive, words_of
from vgen_eval.errors import JudgeError
from vgen_eval.imaging import Image
from vgen_eval.judging import Case, Question
from vgen_eval_plugins.quality.perception.grader import OptionGrader
from vgen_eval_plugins.quality.perception.targets import Chosen, OptionTarget, letter_options

TARGET = OptionTarget(letter_options(("Very blurry", "Blurry", "Sharp")), "B")
OPTIONS = "A. Very blurry\nB. Blurry\nC. Sharp"


def case(answer: str = "It is hazy all over.", target: OptionTarget = TARGET) -> Case:
    return case_of(answer, target, question="How sharp is it?")


def grader(**options: Any) -> OptionGrader:
    return OptionGrader(OptionGrader.Options(**options))


def votes(*replies: str | None) -> dict[str, str | None]:
    return {f"grade/{at}": reply for at, reply in enumerate(replies)}


def test_the_majority_of_five_votes_holds() -> None:
    replies = votes("Score: 1", "Score: 0", "1", "Score: 1", "Score: 0")
    prediction, transcript = drive(grader(), case(), replies)
    assert prediction.value == Chosen("B", right=True)
    assert prediction.flags == ("judge_split",)
    assert prediction.summary == {
        "right": True, "votes": [1, 0, 1, 1, 0], "unread": 0, "letter": "B",
    }  # fmt: skip
    (asked,) = transcript  # all at once
    assert [(question.name, question.round) for question in asked] == [
        (f"grade/{at}", at) for at in range(5)
    ]


def test_the_judge_is_told_all_but_the_picture_and_each_round_the_same() -> None:
    _, ((*asked,),) = drive(grader(), case("My {answer}"), lambda _: "Score: 0")
    words = words_of(asked[0])
    for told in ("How sharp is it?", OPTIONS, "Right option: B. Blurry", "My {answer}"):
        assert told in words
    assert all(words_of(one) == words_of(other) for one, other in pairwise(asked))
    assert not any(isinstance(part, Image) for question in asked for part in question.parts)


def test_wrong_by_all_votes_keeps_what_the_answer_says_if_it_says_it() -> None:
    prediction, _ = drive(grader(), case("C. Sharp"), lambda _: "Score: 0")
    assert prediction.value == Chosen("C", right=False)
    assert prediction.flags == ()
    prediction, _ = drive(grader(), case(), lambda _: "Score: 0")
    assert prediction.value == Chosen(None, right=False)
    assert prediction.flags == ()


def test_an_answer_that_names_the_right_option_and_is_marked_wrong_says_nothing() -> None:
    prediction, _ = drive(grader(), case("B"), lambda _: "Score: 0")
    assert prediction.value == Chosen(None, right=False)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [("I cannot view the image.", "refusal"), ("D. Something else", "extra_option")],
)
def test_prompt_failures_are_counted_by_kind(answer: str, kind: str) -> None:
    prediction, _ = drive(grader(), case(answer), lambda _: "Score: 0")
    assert prediction.value == Chosen(None, right=False, failed=True)
    assert prediction.flags == (f"prompt_failure_{kind}",)


def test_what_cannot_be_read_is_asked_again_then_dropped() -> None:
    def reply(question: Question) -> str:
        if question.name.startswith("grade/0"):
            return "Score: 7"  # out of range, always
        if question.name == "grade/1":
            return "I would say it is quite right."
        return "Score: 1"

    prediction, transcript = drive(grader(), case(), reply)
    assert [[question.name for question in asked] for asked in transcript] == [
        [f"grade/{at}" for at in range(5)],
        ["grade/0?1", "grade/1?1"],
        ["grade/0?2"],
        ["grade/0?3"],
    ]
    assert prediction.summary["votes"] == [None, 1, 1, 1, 1]
    assert prediction.summary["unread"] == 1
    assert prediction.flags == ("votes_dropped",)
    assert prediction.value.right is True


def test_a_tie_is_no_measurement() -> None:
    with pytest.raises(JudgeError, match="tie: 1 for right, as many for wrong"):
        drive(grader(rounds=2), case(), votes("Score: 1", "Score: 0"))
    replies = votes("Score: 1", "Score: 0", None)
    with pytest.raises(JudgeError, match="tie"):
        drive(grader(rounds=3, re_asks=0), case(), replies)


@pytest.mark.parametrize("reply", ["", None, "Score: 2", "Score: -1", "perhaps", "1 0", "0.5"])
def test_no_vote_that_can_be_read_is_no_measurement(reply: str | None) -> None:
    with pytest.raises(JudgeError, match="none of 5 votes"):
        drive(grader(), case(), lambda _: reply)


def test_one_round_is_one_question() -> None:
    prediction, transcript = drive(grader(rounds=1, re_asks=0), case(), lambda _: "Score: 1")
    assert prediction.value.right is True
    assert [len(asked) for asked in transcript] == [1]
    assert grader(rounds=3).expected_calls() == 3.0


def test_the_prompts_digest_stands_on_the_template() -> None:
    (template,) = grader().prompts().values()
    for field in ("{question}", "{options}", "{right}", "{answer}"):
        assert field in template


def test_an_answer_to_nobody_knows_what_is_not_judged() -> None:
    with pytest.raises(JudgeError, match="no field 'question'"):
        drive(grader(), case_of("B", TARGET), lambda _: "Score: 1")


@pytest.mark.parametrize(
    "answer", ["{question} {nope", '{"answer": "A", "answer": "B"}', "画面模糊", "<p>", "=" * 10]
)
def test_whatever_the_answer_is_it_is_marked(answer: str) -> None:
    prediction, ((*asked,),) = drive(grader(), case(answer), lambda _: "Score: 0")
    assert answer in words_of(asked[0])
    assert prediction.value.right is False
