"""Descriptions: three dimensions judged apart, shares of judgements, and sums before rounding."""

from __future__ import annotations

from typing import Any

import pytest
from gradekit import case_of, drive, scene_of, words_of
from vgen_eval.errors import JudgeError
from vgen_eval.judging import Case, Question
from vgen_eval.types import NoOptions
from vgen_eval_plugins.quality.description.grader import DescriptionGrader
from vgen_eval_plugins.quality.description.metric import Description
from vgen_eval_plugins.quality.description.parts import GoldenTextEncoder, NoDescription
from vgen_eval_plugins.quality.description.targets import DIMENSIONS, GoldenText, Judgements

GOLDEN = GoldenText("Noisy, dark, and out of focus at the left.")


def case(answer: str = "A dark picture.") -> Case:
    return case_of(answer, GOLDEN)


def grader(**options: Any) -> DescriptionGrader:
    return DescriptionGrader(DescriptionGrader.Options(**options))


SCRIPT = {
    "completeness": ("Score: 1", "Score: 1", "Score: 2", "1", "Score: 0"),
    "preciseness": ("Score: 2", "Score: 2", "Score: 2", "Score: 2", "Score: 1"),
    "relevance": ("Score: 0", "**Score: 0**", "Score: 1", "Score: 0", "Score: 0"),
}


def scripted(question: Question) -> str:
    name, _, at = question.name.partition("/")
    return SCRIPT[name][int(at)]


def compute(*values: Judgements) -> dict[str, float | None]:
    metric = Description(NoOptions())
    merged = metric.update(values[0], GOLDEN, None)
    for value in values[1:]:
        merged = metric.merge(merged, metric.update(value, GOLDEN, None))
    return dict(metric.compute(merged))


def test_five_rounds_of_each_dimension_are_counted_by_score() -> None:
    prediction, ((*asked,),) = drive(grader(), case(), scripted)
    assert prediction.value == Judgements(
        completeness=(1, 3, 1), preciseness=(0, 1, 4), relevance=(4, 1, 0)
    )
    assert prediction.flags == ()
    assert prediction.summary["completeness"] == 1.0
    assert prediction.summary["preciseness"] == 1.8
    assert prediction.summary["relevance"] == 0.2
    assert prediction.summary["votes"]["completeness"] == [1, 1, 2, 1, 0]
    assert [(each.name, each.round) for each in asked] == [
        (f"{name}/{at}", at) for name in DIMENSIONS for at in range(5)
    ]
    assert grader().expected_calls() == 15.0


def test_relevance_is_judged_without_the_golden_text() -> None:
    _, ((*asked,),) = drive(grader(rounds=1), case("Sharp {golden}"), lambda _: "Score: 0")
    told = {question.name: words_of(question) for question in asked}
    assert GOLDEN.text in told["completeness/0"]
    assert GOLDEN.text in told["preciseness/0"]
    assert GOLDEN.text not in told["relevance/0"]
    assert all("Sharp {golden}" in words for words in told.values())
    assert all('"Score: k"' in words for words in told.values())
    assert "{golden}" not in grader().prompts()["relevance"]


def test_judgements_out_of_range_are_asked_again_then_dropped_and_counted() -> None:
    def reply(question: Question) -> str:
        if question.name.startswith("preciseness/4"):
            return "Score: 3"
        if question.name == "completeness/0":
            return "Score: 1 out of 10"
        return "Score: 2"

    prediction, transcript = drive(grader(), case(), reply)
    assert [[question.name for question in asked] for asked in transcript[1:]] == [
        ["completeness/0?1", "preciseness/4?1"],
        ["preciseness/4?2"],
        ["preciseness/4?3"],
    ]
    assert prediction.value == Judgements(
        completeness=(0, 0, 5), preciseness=(0, 0, 4), relevance=(0, 0, 5)
    )
    assert prediction.summary["dropped"] == {"completeness": 0, "preciseness": 1, "relevance": 0}
    assert prediction.flags == ("judgements_dropped",)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_a_dimension_without_one_judgement_is_no_measurement(dimension: str) -> None:
    def reply(question: Question) -> str:
        return "I cannot rate this." if question.name.startswith(dimension) else "Score: 1"

    with pytest.raises(JudgeError, match=f"{dimension}: none of 5 votes"):
        drive(grader(), case(), reply)


def test_scores_are_shares_of_all_judgements_by_hand() -> None:
    found = compute(
        Judgements(completeness=(1, 3, 1), preciseness=(0, 1, 4), relevance=(4, 1, 0)),
        Judgements(completeness=(0, 0, 5), preciseness=(0, 0, 4), relevance=(5, 0, 0)),
    )
    assert found["completeness_p0"] == 0.1
    assert found["completeness_p1"] == 0.3
    assert found["completeness_p2"] == 0.6
    assert found["completeness"] == 1.5
    assert found["preciseness"] == pytest.approx(17 / 9, abs=1e-15)
    assert found["relevance"] == 0.1
    assert found["sum"] == pytest.approx(1.5 + 17 / 9 + 0.1, abs=1e-15)


def test_the_sum_is_of_scores_before_rounding() -> None:
    # LLaVA-v1.5-13B's printed shares: .91 + 1.28 + 1.29 are 3.48, and its sum is printed as 3.47
    found = compute(
        Judgements(
            completeness=(2768, 5378, 1855),
            preciseness=(2545, 2147, 5308),
            relevance=(631, 5875, 3494),
        )
    )
    parts = [found[name] for name in DIMENSIONS]
    assert [f"{part:.2f}" for part in parts] == ["0.91", "1.28", "1.29"]
    assert f"{found['sum']:.2f}" == "3.47"


def nothing() -> Any:
    return NoDescription(NoOptions()).decode(None, scene_of()).value


def test_no_description_is_nothing_in_all_dimensions() -> None:
    found = compute(nothing(), nothing())
    assert [found[name] for name in (*DIMENSIONS, "sum")] == [0.0, 0.0, 0.0, 0.0]
    assert found["relevance_p0"] == 1.0


@pytest.mark.parametrize("rounds", [1, 3, 5, 25])
def test_a_failure_weighs_as_much_as_a_description_whatever_the_rounds(rounds: int) -> None:
    best = (0, 0, rounds)
    full = Judgements(completeness=best, preciseness=best, relevance=best)
    for values in ((full, nothing()), (nothing(), full)):
        assert compute(*values)["sum"] == 3.0
    assert compute(full, nothing(), full, nothing(), nothing())["sum"] == pytest.approx(2.4)


def test_a_failure_weighs_as_descriptions_do_on_average_where_rounds_were_dropped() -> None:
    five = Judgements(completeness=(0, 0, 5), preciseness=(0, 5, 0), relevance=(1, 0, 4))
    four = Judgements(completeness=(0, 0, 4), preciseness=(0, 0, 3), relevance=(0, 4, 0))
    found = compute(five, nothing(), four)
    assert found["completeness"] == pytest.approx(2 * 2 / 3, abs=1e-15)
    assert found["preciseness"] == pytest.approx((5 + 6) / 8 * 2 / 3, abs=1e-15)
    assert found["relevance"] == pytest.approx((8 + 4) / 9 * 2 / 3, abs=1e-15)


def test_no_judgement_at_all_is_undefined() -> None:
    metric = Description(NoOptions())
    none = {"judged": 0, "absent": 0}
    found = metric.compute({name: [0, 0, 0] for name in DIMENSIONS} | none)
    assert set(found.values()) == {None}
    one = {"completeness": [0, 0, 0], "preciseness": [0, 0, 1], "relevance": [0, 0, 1]}
    found = metric.compute(one | {"judged": 1, "absent": 0})
    assert (found["completeness"], found["sum"], found["relevance"]) == (None, None, 2.0)


@pytest.mark.parametrize("counts", [(0, 0, 0), (-1, 1, 1)])
def test_impossible_counts_are_refused(counts: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="no count of judgements"):
        Judgements(completeness=counts, preciseness=(0, 0, 1), relevance=(0, 0, 1))


def test_the_ideal_answer_is_the_experts() -> None:
    assert GoldenTextEncoder(NoOptions()).encode(GOLDEN, scene_of()) == GOLDEN.text
