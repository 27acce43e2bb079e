"""Quality from the probabilities of words: Q-Bench's formula, other readings, missing words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from vgen_eval.cards import convert, load_card
from vgen_eval.cards.records import TaskCard
from vgen_eval.errors import CardError, Undecodable
from vgen_eval.imaging import Image
from vgen_eval.plugins import Catalog
from vgen_eval.types import Prediction, Scene
from vgen_eval_plugins.models.likelihoods import read_choices
from vgen_eval_plugins.quality.assessment.encoders import WordProbabilityEncoder
from vgen_eval_plugins.quality.assessment.words import WordOptions, WordProbability
from vgen_eval_plugins.quality.targets import Opinion

SCENE = Scene(image=Image(np.zeros((4, 6, 3), np.uint8)), size=(4, 6))
ENSEMBLE = {"positive": ["good", "fine", "high"], "negative": ["poor", "bad", "low"]}


def read(answer: Any, **options: Any) -> Prediction:
    given = convert(WordOptions, options, file="test")
    return WordProbability(given).decode(answer, SCENE)


def test_logits_are_divided_by_a_hundred_before_the_softmax() -> None:
    found = read({"good": 19.5, "poor": 16.75})
    assert found.value == pytest.approx(1 / (1 + math.exp(-0.0275)), abs=1e-15)
    assert found.summary["difference"] == 2.75
    assert found.flags == ()


@pytest.mark.parametrize("shift", [0.0, -20.0, -25.0, -40.0, -5000.0, 64.0])
def test_shifted_logits_say_the_same_however_low_they_are(shift: float) -> None:
    found = read({"good": 19.5 + shift, "poor": 16.75 + shift})
    assert found == read({"good": 19.5, "poor": 16.75})
    assert "mass" not in found.summary  # none is known, low as they are


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"temperature": 1}, 1 / (1 + math.exp(-2.75))),
        ({"score": "diff"}, 2.75),
        ({"score": "argmax"}, 1.0),
        ({"positive": ["poor"], "negative": ["good"], "score": "argmax"}, 0.0),
    ],
)
def test_other_readings_of_the_same_logits(options: dict[str, Any], expected: float) -> None:
    assert read({"good": 19.5, "poor": 16.75}, **options).value == pytest.approx(expected)


def test_sides_of_several_words_are_means_of_logits_or_sums_of_exponentials() -> None:
    logits = {"good": 3.0, "fine": 1.0, "high": 2.0, "poor": 1.0, "bad": 0.0, "low": -1.0}
    mean = read(logits, **ENSEMBLE, score="diff").value
    assert mean == pytest.approx(2.0)
    summed = read(logits, **ENSEMBLE, score="diff", combine="sum_exp").value
    expected = math.log(sum(map(math.exp, (3, 1, 2)))) - math.log(sum(map(math.exp, (1, 0, -1))))
    assert summed == pytest.approx(expected)
    shares = {"positive": ["good", "fine"], "negative": ["poor"], "combine": "sum_exp"}
    more = read({"good": 0.0, "fine": 0.0, "poor": 0.0}, **shares, temperature=1).value
    assert more == pytest.approx(2 / 3)


def test_large_logits_do_not_overflow() -> None:
    assert read({"good": 1e6, "poor": 0.0}).value == 1.0
    assert read({"good": -1e6, "poor": -1e9}).value == 1.0
    assert read({"good": 0.0, "poor": 1e6}).value == 0.0
    assert read({"good": 1e100, "poor": 0}, combine="sum_exp").value == 1.0


def test_means_that_are_the_same_are_tied_in_whatever_order_their_words_stand() -> None:
    # .1 + .2 + .3 is .6000000000000001, and .3 + .2 + .1 is .6
    same = {"good": 0.1, "fine": 0.2, "high": 0.3, "poor": 0.3, "bad": 0.2, "low": 0.1}
    for combine in ("mean_logit", "sum_exp"):
        found = read(same, **ENSEMBLE, combine=combine, score="argmax")
        assert found.value == 0.0
        assert found.summary["difference"] == 0.0
    # three of .1 are not .3 in floats, a third of them is .1 nevertheless
    uneven = {"positive": ["good", "fine", "high"], "negative": ["poor"]}
    found = read({"good": 0.1, "fine": 0.1, "high": 0.1, "poor": 0.1}, **uneven, score="argmax")
    assert found.value == 0.0


# the likeliest tokens of a service: `no` is not among them (two spellings of yes, one filler)
LISTED = {"Yes": math.log(0.6), " yes": math.log(0.1), "So": math.log(0.05),
          "The": math.log(0.05), "": -9999.0}  # fmt: skip
YES_NO = {
    "positive": ["yes"], "negative": ["no"], "temperature": 1, "combine": "sum_exp",
    "values": "logprob",
}  # fmt: skip


def test_a_word_that_is_not_listed_may_hold_what_is_not_listed_and_is_flagged() -> None:
    answer, flags = read_choices(LISTED, ("yes", "no"))
    assert flags == ("choice_floored",)
    assert answer is not None
    assert answer["no"] is None
    found = read(answer, **YES_NO)
    assert found.flags == ("incomplete_candidates",)
    assert found.summary["missing"] == ["no"]
    assert found.summary["mass"] == pytest.approx([0.7, 0.0], abs=1e-6)
    assert found.summary["unlisted_mass"] == pytest.approx(0.2, abs=1e-6)
    assert found.summary["p_interval"] == pytest.approx([0.7 / 0.9, 1.0], abs=1e-6)
    # the least that is listed, .05, is the most that any one token beyond the list can hold
    assert found.value == pytest.approx(0.7 / 0.75, abs=1e-6)
    assert found.value < 1
    # the value is the same where nobody says what the numbers are; masses are not told then
    plain = read(answer, **{**YES_NO, "values": "logit"})
    assert (plain.value, plain.flags) == (found.value, found.flags)
    assert set(plain.summary) == {"quality", "difference", "missing"}


@pytest.mark.parametrize("values", ["logit", "logprob"])
@pytest.mark.parametrize("unlikely", [-9999.0, -math.inf, None])
def test_a_number_for_very_unlikely_is_that_of_a_word_that_is_not_listed(
    values: str, unlikely: float | None
) -> None:
    answer = {"good": math.log(0.5), "poor": unlikely, "so": math.log(0.25)}
    found = read(answer, temperature=1, values=values)
    assert found.value == pytest.approx(2 / 3)
    assert found.flags == ("incomplete_candidates",)


def test_a_word_that_was_never_given_has_no_floor() -> None:
    two = {"good": 19.5, "poor": 16.75}
    with pytest.raises(Undecodable, match=r"words_not_given: fine, high, bad, low; .* good, poor"):
        read(two, **ENSEMBLE)
    floored = read({**dict.fromkeys(["fine", "high", "bad", "low"]), **two}, **ENSEMBLE)
    assert floored.flags == ("incomplete_candidates",)
    assert floored.summary["difference"] == pytest.approx(2.75 / 3)


def test_the_interval_opens_to_the_side_whose_word_is_missing() -> None:
    answer = {"yes": None, "no": math.log(0.5), "maybe": math.log(0.3)}
    found = read(answer, **YES_NO)
    assert found.summary["p_interval"] == pytest.approx([0.0, 0.2 / 0.7])
    both = read({"yes": math.log(0.5), "no": math.log(0.25)}, **YES_NO)
    assert "p_interval" not in both.summary
    assert both.value == pytest.approx(2 / 3)


def test_words_that_hold_next_to_nothing_are_no_answer() -> None:
    listed = {"So": -0.5762534, "Got": -0.8257647, "Okay": -9.94430955, "Yes": math.log(2e-6),
              "No": math.log(1e-6)}  # fmt: skip
    answer, _ = read_choices(listed, ("Yes", "No"))
    options = {"positive": ["Yes"], "negative": ["No"], "temperature": 1}
    with pytest.raises(Undecodable, match=r"answer_token_absent: Yes, No hold 3e-06"):
        read(answer, **options, values="logprob", least_mass=0.001)
    assert read(answer, **options, values="logprob").value == pytest.approx(2 / 3)
    assert read(answer, **options).value == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("task", "counts"),
    [("samples/quality", True), ("samples/fidelity", True), ("quality/livec", False),
     ("quality/cgiqa", False)],
)  # fmt: skip
def test_a_least_mass_is_asked_for_by_our_own_tasks_and_not_by_the_paper_s(
    task: str, counts: bool
) -> None:
    _, head = Catalog.discover().find("task", task)
    card = load_card(head.path).record
    assert isinstance(card, TaskCard)
    for name, protocol in card.protocols.items():
        for answer in protocol.answers or ():
            if answer.decoder != "word_probability":
                continue
            options = dict(answer.options)
            words = [*options.get("positive", ["good"]), *options.get("negative", ["poor"])]
            noise = {"So": math.log(0.9), **dict.fromkeys(words, math.log(1e-6))}
            if counts:
                with pytest.raises(Undecodable, match="answer_token_absent"):
                    read(noise, **options)
            else:
                assert read(noise, **options).value is not None, name


def test_a_least_mass_is_of_log_probabilities_alone() -> None:
    with pytest.raises(CardError, match="set values: logprob"):
        convert(WordOptions, {"least_mass": 0.001}, file="test")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"good": 19.5, "poor": 16.75}, "19.5 of 'good' is above 0"),
        ({"good": -0.1, "poor": -0.2, "fine": -3.0}, "the probabilities sum up to 1.7"),
    ],
)
def test_what_is_said_to_be_log_probabilities_and_is_none_is_undecodable(
    answer: Any, told: str
) -> None:
    with pytest.raises(Undecodable, match=f"{told}.*set values: logit"):
        read(answer, values="logprob")
    assert read(answer).value > 0.5


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"good": None, "poor": None, "fine": -0.1}, "answer_token_absent"),
        ({"good": None, "poor": None}, "answer_token_absent"),
        ({"good": -9999.0, "poor": -9999.0, "fine": -0.1}, "answer_token_absent"),
        ({"fine": -0.1}, "words_not_given: good, poor; the answer holds fine"),
        ({"good": None}, "words_not_given: poor"),
        ({}, "wanted"),
        ("good", "wanted"),
        (None, "wanted"),
        ({"good": float("nan"), "poor": 1.0}, "nan"),
        ({"good": float("inf"), "poor": 1.0}, "inf"),
        ({"good": 10**400, "poor": 1.0}, "no number of that size"),
        ({"good": "1.0", "poor": 1.0}, "str"),
        ({"good": True, "poor": 1.0}, "bool"),
    ],
)
def test_what_holds_no_word_of_either_side_is_undecodable(answer: Any, told: str) -> None:
    with pytest.raises(Undecodable, match=told):
        read(answer)


def test_a_word_on_both_sides_and_a_temperature_of_nothing_are_refused() -> None:
    with pytest.raises(CardError, match="stands for good and for poor"):
        convert(WordOptions, {"positive": ["good"], "negative": ["good"]}, file="test")
    with pytest.raises(CardError, match="temperature"):
        convert(WordOptions, {"temperature": 0}, file="test")


@pytest.mark.parametrize(
    "options",
    [{}, ENSEMBLE, {**ENSEMBLE, "combine": "sum_exp"}, {"temperature": 1.0},
     {"positive": ["good", "fine"], "combine": "sum_exp", "temperature": 1.0}],
)  # fmt: skip
@pytest.mark.parametrize("score", [20.0, 47.5, 80.0])
def test_the_ideal_answer_is_decoded_to_the_scaled_opinion(
    options: dict[str, Any], score: float
) -> None:
    given = convert(WordOptions, options, file="test")
    answer = WordProbabilityEncoder(given).encode(Opinion(score, low=20.0, high=80.0), SCENE)
    assert sum(math.exp(value) for value in answer.values() if value is not None) == (
        pytest.approx(1.0)
    )
    quality = (score - 20) / 60
    assert read(answer, **options).value == pytest.approx(0.01 + 0.98 * quality)


def test_the_ideal_answer_to_more_words_is_read_again_by_more_words() -> None:
    scene = Scene(image=SCENE.image, size=SCENE.size, choices=(*ENSEMBLE["positive"], "poor"))
    encoder = WordProbabilityEncoder(convert(WordOptions, {}, file="test"))
    found = []
    for score in (0.0, 40.0, 60.0, 100.0):
        answer = encoder.encode(Opinion(score, low=0.0, high=100.0), scene)
        assert answer["fine"] is None
        found.append(read(answer, positive=["good", "fine", "high"], score="diff").value)
    assert found == sorted(found)
    assert found[0] < found[-1]
