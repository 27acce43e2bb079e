"""Answers to questions with options: letters, probabilities, failures, and what they come to."""

from __future__ import annotations

import math
from typing import Any

import pytest
from gradekit import scene_of
from vgen_eval.errors import Undecodable
from vgen_eval.types import NoOptions
from vgen_eval_plugins.quality.perception.decoders import ClosedSet, OptionText, WrongChoice
from vgen_eval_plugins.quality.perception.encoders import (
    ClosedSetEncoder,
    OptionTextEncoder,
    OptionWordsEncoder,
)
from vgen_eval_plugins.quality.perception.metric import OptionAccuracy
from vgen_eval_plugins.quality.perception.targets import Chosen, OptionTarget, letter_options
from vgen_eval_plugins.quality.words import Words

SHARP = ("Very blurry", "Blurry", "Sharp", "Very sharp")
YES = OptionTarget(letter_options(("Yes", "No")), "A")
NO = OptionTarget(letter_options(("Yes", "No")), "B")
SEEN = scene_of(*SHARP)


def metric() -> OptionAccuracy:
    return OptionAccuracy(NoOptions())


def total(*pairs: tuple[Chosen, OptionTarget]) -> dict[str, float | None]:
    made = metric()
    statistics = [made.update(pred, target, None) for pred, target in pairs]
    merged = statistics[0]
    for each in statistics[1:]:
        merged = made.merge(merged, each)
    return dict(made.compute(merged))


# --- letters


@pytest.mark.parametrize(
    ("text", "letter"),
    [("B", "B"), ("(c) Sharp", "C"), ("**A**", "A"), ("The answer is D.", "D"), ("sharp", "C")],
)
def test_text_that_names_an_option_gives_its_letter_and_how_it_was_read(
    text: str, letter: str
) -> None:
    prediction = OptionText(NoOptions()).decode(text, SEEN)
    assert prediction.value == Chosen(letter)
    assert prediction.summary["letter"] == letter
    assert prediction.summary["option"] == SHARP["ABCD".index(letter)]
    assert prediction.summary["rule"]
    assert prediction.summary["extracted"]


def test_an_answer_that_is_more_than_an_option_is_flagged_with_its_rule() -> None:
    decoder = OptionText(NoOptions())
    assert decoder.decode("B", SEEN).flags == ()
    assert decoder.decode("The answer is D.", SEEN).flags == ("by_stated_answer",)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        ("<think>A or B", "empty"),
        ("I cannot view the image.", "refusal"),
        ("E", "extra_option"),
        ('{"answer": "A", "answer": "B"}', ""),
        ("Both A and B", "several_options"),
        ("The picture is fine.", "no_option"),
        ("画面质量不错", "no_option"),
        ("<html><body></body></html>", ""),
        ("word " * 10_000, "no_option"),
    ],
)
def test_text_that_names_none_is_undecodable_with_the_kind_of_its_failure(
    text: str, kind: str
) -> None:
    with pytest.raises(Undecodable, match=f"^{kind}") as caught:
        OptionText(NoOptions()).decode(text, SEEN)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("answer", [None, 3, b"A", {"A": 1.0}])
def test_what_is_no_text_is_undecodable(answer: Any) -> None:
    with pytest.raises(Undecodable, match="text was wanted"):
        OptionText(NoOptions()).decode(answer, SEEN)


def test_a_sample_without_options_has_nothing_to_choose_from() -> None:
    for decoder, answer in ((OptionText(NoOptions()), "A"), (ClosedSet(NoOptions()), {"A": -1.0})):
        with pytest.raises(Undecodable, match="no options"):
            decoder.decode(answer, scene_of())


# --- probabilities


def test_the_likeliest_option_is_chosen() -> None:
    answer = {"Sharp": -0.7, "Blurry": -2.5, "Very blurry": -3.0, "Very sharp": -math.inf}
    prediction = ClosedSet(NoOptions()).decode(answer, SEEN)
    assert prediction.value == Chosen("C")
    assert prediction.flags == ()
    assert prediction.summary == {
        "letter": "C",
        "option": "Sharp",
        "logprobs": {"A": -3.0, "B": -2.5, "C": -0.7, "D": None},
    }


def test_an_option_that_a_service_does_not_list_lies_below_those_that_it_does() -> None:
    answer = {"Yes": None, "No": -5.0, "Well": -0.1}
    prediction = ClosedSet(NoOptions()).decode(answer, scene_of("Yes", "No"))
    assert prediction.value == Chosen("B")
    assert prediction.flags == ("option_unlisted",)
    assert prediction.summary["logprobs"] == {"A": None, "B": -5.0}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"Yes": None, "No": None}, "equally likely"),
        ({"Yes": -1.0}, "no log-probability of the option 'No'"),
        ({"Yes": -1.0, "No": -1.0}, "options A and B are equally likely"),
        ({"Yes": -1.0, "No": math.nan}, "no log-probability of the option 'No'"),
        ({"Yes": -1.0, "No": True}, "no log-probability of the option 'No'"),
        ({"Yes": -math.inf, "No": -math.inf}, "equally likely"),
        ({}, "no log-probability"),
        ("Yes", "log-probabilities were wanted"),
    ],
)
def test_probabilities_that_do_not_tell_are_undecodable(answer: Any, message: str) -> None:
    with pytest.raises(Undecodable, match=message):
        ClosedSet(NoOptions()).decode(answer, scene_of("Yes", "No"))


# --- encoders


@pytest.mark.parametrize("right", "ABCD")
def test_what_the_encoders_write_is_read_as_the_right_option(right: str) -> None:
    target = OptionTarget(letter_options(SHARP), right)
    for encoder, decoder in (
        (OptionTextEncoder(NoOptions()), OptionText(NoOptions())),
        (OptionWordsEncoder(NoOptions()), OptionText(NoOptions())),
        (ClosedSetEncoder(NoOptions()), ClosedSet(NoOptions())),
    ):
        assert decoder.decode(encoder.encode(target, SEEN), SEEN).value == Chosen(right)


def test_ideal_probabilities_sum_to_one() -> None:
    target = OptionTarget(letter_options(SHARP), "B")
    ideal = ClosedSetEncoder(NoOptions()).encode(target, SEEN)
    assert list(ideal) == list(SHARP)
    assert sum(math.exp(value) for value in ideal.values()) == pytest.approx(1.0, abs=1e-12)


def test_a_right_letter_that_is_no_option_is_refused() -> None:
    with pytest.raises(ValueError, match="'C' is none of the options A, B"):
        OptionTarget(letter_options(("Yes", "No")), "C")


# --- accuracy


def test_accuracy_and_the_lean_to_yes_by_hand() -> None:
    # Yes right: said Yes, Yes, No. No right: said No, Yes, and one that failed. One of four options
    failed = WrongChoice(NoOptions()).decode(None, SEEN).value
    found = total(
        (Chosen("A"), YES), (Chosen("A"), YES), (Chosen("B"), YES),
        (Chosen("B"), NO), (Chosen("A"), NO), (failed, NO),
        (Chosen("C"), OptionTarget(letter_options(SHARP), "C")),
        (Chosen("D"), OptionTarget(letter_options(SHARP), "C")),
    )  # fmt: skip
    assert found == {
        "accuracy": 4 / 8,
        "accuracy_yes": 2 / 3,
        "accuracy_no": 1 / 3,
        "accuracy_balanced": 0.5,
        "share_yes": 3 / 5,
        "prompt_failures": 1 / 8,
    }


def test_questions_of_other_options_say_nothing_of_yes_and_no() -> None:
    found = total((Chosen("C"), OptionTarget(letter_options(SHARP), "C")))
    assert found["accuracy"] == 1.0
    for name in ("accuracy_yes", "accuracy_no", "accuracy_balanced", "share_yes"):
        assert found[name] is None


def test_yes_and_no_are_known_by_their_words_whatever_their_order_and_marks() -> None:
    turned = OptionTarget(letter_options(("no.", "YES")), "B")
    assert (turned.meaning("A"), turned.meaning("B"), turned.meaning(None)) == ("no", "yes", None)
    third = OptionTarget(letter_options(("Yes", "No", "Not sure")), "A")
    assert third.meaning("A") is None
    assert total((Chosen("B"), turned))["accuracy_yes"] == 1.0


def test_one_side_alone_has_no_balance() -> None:
    found = total((Chosen("A"), YES), (Chosen("B"), YES))
    assert (found["accuracy_yes"], found["accuracy_no"]) == (0.5, None)
    assert found["accuracy_balanced"] is None


def test_a_judges_word_goes_before_the_letter() -> None:
    assert total((Chosen(None, right=True), YES))["accuracy"] == 1.0
    assert total((Chosen("A", right=False), YES))["accuracy"] == 0.0


def test_no_samples_are_undefined() -> None:
    made = metric()
    none = made.update(Chosen("A"), YES, None)
    assert set(made.compute(dict.fromkeys(none, 0)).values()) == {None}


def test_only_a_failure_is_flagged_as_one() -> None:
    made = metric()
    wrong = made.update(Chosen("B"), YES, None)
    failed = made.update(WrongChoice(NoOptions()).decode(None, SEEN).value, YES, None)
    assert made.flags(wrong) == ()
    assert made.flags(failed) == ("prompt_failure",)


def test_refusals_earn_nothing_and_twice_is_the_same() -> None:
    # gold is always A: one right, one wrong, three that cannot be read
    answers = ["A", "I cannot see the image.", "Neither", "The picture is fine.", "B"]

    def score() -> dict[str, float | None]:
        target = OptionTarget(letter_options(SHARP), "A")
        pairs = []
        for answer in answers:
            try:
                value = OptionText(NoOptions()).decode(answer, SEEN).value
            except Undecodable:
                value = WrongChoice(NoOptions()).decode(None, SEEN).value
            pairs.append((value, target))
        return total(*pairs)

    assert score()["accuracy"] == 0.2
    assert score()["prompt_failures"] == 0.6
    assert score() == score()


# --- words for judges


def test_words_are_passed_on_without_thinking() -> None:
    prediction = Words(Words.Options()).decode("<think>hm</think> It is sharp. ", SEEN)
    assert prediction.value == "It is sharp."
    assert prediction.flags == ()
    assert prediction.summary == {"words": "It is sharp.", "characters": 12}


@pytest.mark.parametrize("answer", ["", " \n", "<think>only this", "...", "🙂", None, 7])
def test_no_words_are_undecodable(answer: Any) -> None:
    with pytest.raises(Undecodable):
        Words(Words.Options()).decode(answer, SEEN)


@pytest.mark.parametrize("answer", ["<b>scharf</b>", "画面清晰", "نعم", "{question} {x"])
def test_markup_and_other_languages_are_words(answer: str) -> None:
    assert Words(Words.Options()).decode(answer, SEEN).value == answer


def test_a_very_long_answer_is_cut_and_says_so() -> None:
    prediction = Words(Words.Options()).decode("blur " * 10_000, SEEN)
    assert len(prediction.value) == 8000
    assert prediction.flags == ("cut",)
    assert prediction.summary["characters"] == 49_999
