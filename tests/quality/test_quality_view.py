"""The view of ratings: bars that are the stored probabilities, both scales, what was painted."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import pytest
from quality_views import bars, facts, pane, seen_of
from vgen_eval.types import NoOptions
from vgen_eval_plugins.quality.assessment.correlation import Correlation
from vgen_eval_plugins.quality.assessment.failures import ConstantQuality, NoQuality
from vgen_eval_plugins.quality.assessment.painted import (
    BarLength,
    BarOptions,
    GreyLevel,
    GreyOptions,
)
from vgen_eval_plugins.quality.assessment.rating import Rating
from vgen_eval_plugins.quality.assessment.view import QualityView
from vgen_eval_plugins.quality.assessment.words import WordOptions, WordProbability
from vgen_eval_plugins.quality.targets import Opinion

OPINION = Opinion(3.5, "", 1.0, 5.0)
WORDS = WordOptions(
    positive=("good", "fine"), negative=("poor",), values="logprob", combine="sum_exp",
    temperature=1.0,
)  # fmt: skip


def look(answer: Any, form: Any, decoder: Any, **more: Any) -> Any:
    more = {"failure": NoQuality(NoOptions()), **more}
    seen = seen_of(
        answer, OPINION, form=form, decoder=decoder, metric=Correlation(Correlation.Options()),
        **more,
    )  # fmt: skip
    return QualityView().panes(seen)


def test_the_bars_are_the_probabilities_of_the_words_as_stored() -> None:
    answer = {"fine": math.log(0.2), "poor": math.log(0.25), "good": math.log(0.5), "ok": -3.0}
    panes = look(answer, "choice", WordProbability(WORDS))
    shown = bars(panes, "Probability of each word")
    assert [(bar.label, bar.value) for bar in shown.bars] == [
        ("good (for good)", pytest.approx(0.5)),
        ("fine (for good)", pytest.approx(0.2)),
        ("poor (for poor)", pytest.approx(0.25)),
        ("ok", pytest.approx(math.exp(-3))),
    ]
    assert (shown.low, shown.high) == (0.0, 1.0)
    told = facts(panes, "What was read")
    assert told["mass for good"] == "0.7"
    assert told["mass for poor"] == "0.25"
    assert told["several words of a side"] == "the logarithm of the sum of what they weigh"
    assert told["quality is"] == "the softmax of the two sides, at temperature 1"
    assert told["difference of the sides"] == f"{math.log(0.7 / 0.25):.6g}"
    (rating,) = bars(panes, "Quality as answered").bars
    assert rating.value == pytest.approx(0.7 / 0.95)
    assert told["quality"] == f"{0.7 / 0.95:.6g}"


def test_without_the_decoder_the_words_stand_as_they_came_and_on_no_side() -> None:
    answer = {"poor": math.log(0.25), "good": math.log(0.5), "fine": math.log(0.2)}
    panes = look(answer, "choice", WordProbability(WORDS), knows_decoder=False)
    shown = bars(panes, "Probability of each word").bars
    assert [bar.label for bar in shown] == ["poor", "good", "fine"]
    assert shown[0].value == pytest.approx(0.25)
    assert "several words of a side" not in facts(panes, "What was read")


def test_a_word_that_is_not_listed_has_no_bar_and_its_bounds_are_told() -> None:
    answer = {"good": math.log(0.5), "fine": None, "poor": math.log(0.3)}
    panes = look(answer, "choice", WordProbability(WORDS))
    shown = {bar.label: bar.value for bar in bars(panes, "Probability of each word").bars}
    assert shown["fine (for good)"] is None
    told = facts(panes, "What was read")
    assert told["not listed, taken as the least listed"] == "fine"
    assert told["mass not listed"] == "0.2"
    assert told["share for good lies in"] == f"0.625 to {(1 - 0.3):.6g}"


def test_logits_are_shown_as_they_are_and_never_as_probabilities() -> None:
    panes = look({"good": 12.5, "poor": -3.0}, "choice", WordProbability(WordOptions()))
    shown = bars(panes, "Number of each word")
    assert [bar.value for bar in shown.bars] == [12.5, -3.0]
    assert (shown.low, shown.high) == (-3.0, 12.5)
    assert not any(each.title == "Probability of each word" for each in panes)


def test_rating_and_opinion_stand_each_on_its_own_scale() -> None:
    panes = look("I rate it 7/10.", "text", Rating(NoOptions()))
    rating, opinion = bars(panes, "Quality as answered"), bars(panes, "Score in the data")
    assert (rating.bars[0].value, rating.low, rating.high) == (7.0, 0.0, 10.0)
    assert (opinion.bars[0].value, opinion.low, opinion.high) == (3.5, 1.0, 5.0)
    assert not any(bar.right for bar in (*rating.bars, *opinion.bars))  # no rating is "right"
    told = facts(panes, "What was read")
    parsed = Rating(NoOptions()).decode("I rate it 7/10.", None).summary  # type: ignore[arg-type]
    assert told["rule"] == parsed["rule"]
    assert told["extracted"] == parsed["extracted"]
    assert told["out of"] == "10"


def test_a_number_beyond_its_scale_widens_it() -> None:
    decoder = WordProbability(WordOptions(score="diff"))
    panes = look({"good": 1.0, "poor": 4.0}, "choice", decoder)
    rating = bars(panes, "Quality as answered")
    assert (rating.bars[0].value, rating.low, rating.high) == (-3.0, -3.0, 1.0)


def test_a_painted_rating_tells_what_was_measured() -> None:
    picture = np.full((40, 50, 3), 255, np.uint8)
    picture[16:24, :20] = 0
    panes = look(picture, "image", BarLength(BarOptions()))
    told = facts(panes, "What was read")
    assert told["length"] == "20 px"
    assert told["width"] == "50 px"
    assert bars(panes, "Quality as answered").bars[0].value == pytest.approx(0.4)
    grey = look(np.full((8, 8, 3), 51, np.uint8), "image", GreyLevel(GreyOptions()))
    assert facts(grey, "What was read")["quality"] == "0.2"
    assert float(facts(grey, "What was read")["deviation of the level"]) < 1e-12


def test_an_answer_without_a_number_tells_why_and_what_counts_instead() -> None:
    panes = look("It is lovely.", "text", Rating(NoOptions()))
    told = facts(panes, "What was read")
    assert told["status"] == "undecodable"
    assert told["reason"]
    assert told["counted as"] == "no quality: correlations over all pictures are undefined"
    assert bars(panes, "Quality as answered").bars[0].value is None
    named = ConstantQuality(ConstantQuality.Options(quality=0.25))
    panes = look("It is lovely.", "text", Rating(NoOptions()), failure=named)
    assert facts(panes, "What was read")["counted as"] == "the quality 0.25"
    assert bars(panes, "Quality as answered").bars[0].label == "in place of an answer"


def test_what_was_not_scored_shows_the_truth_alone() -> None:
    seen = seen_of(
        "7", OPINION, form="text", decoder=Rating(NoOptions()),
        metric=Correlation(Correlation.Options()),
    )  # fmt: skip
    bare = msgspec.structs.replace(seen, prediction=None, score={})
    panes = QualityView().panes(bare)
    assert [each.role for each in panes] == ["target"]
    assert pane(panes, "Score in the data").note.startswith("On the scale 1 to 5")
