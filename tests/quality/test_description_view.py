"""The view of descriptions: text beside the golden one, the judge's numbers by round."""

from __future__ import annotations

from typing import Any

import pytest
from quality_views import bars, facts, pane, seen_of, text
from vgen_eval.types import NoOptions
from vgen_eval_plugins.quality.description.grader import DescriptionGrader
from vgen_eval_plugins.quality.description.metric import Description
from vgen_eval_plugins.quality.description.parts import NoDescription
from vgen_eval_plugins.quality.description.targets import GoldenText
from vgen_eval_plugins.quality.description.view import DescriptionView
from vgen_eval_plugins.quality.rounds import RoundOptions
from vgen_eval_plugins.quality.words import Words as WordsDecoder

REPLIES: dict[str, str | None] = {
    "completeness/0": "Score: 2", "completeness/1": "Score: 1", "completeness/2": "Score: 1",
    "preciseness/0": "Score: 0", "preciseness/1": None, "preciseness/2": "Score: 2",
    "relevance/0": "Score: 2", "relevance/1": "Score: 2", "relevance/2": "Score: 2",
}  # fmt: skip


def look(answer: str, **more: Any) -> Any:
    seen = seen_of(
        answer, GoldenText("A blurred cat."), form="text",
        decoder=WordsDecoder(WordsDecoder.Options()), metric=Description(NoOptions()),
        failure=NoDescription(NoOptions()),
        judge=DescriptionGrader(RoundOptions(rounds=3, re_asks=0)), replies=REPLIES, **more,
    )  # fmt: skip
    return DescriptionView().panes(seen)


def test_scores_and_rounds_are_those_of_the_score_line() -> None:
    panes = look("It is blurry.")
    shown = bars(panes, "Scores by dimension")
    assert [(bar.label, bar.value) for bar in shown.bars] == [
        ("completeness", pytest.approx(4 / 3)),
        ("preciseness", pytest.approx(1.0)),
        ("relevance", pytest.approx(2.0)),
    ]
    assert (shown.low, shown.high) == (0.0, 2.0)
    told = facts(panes, "The judge, by round")
    assert told["completeness"] == "2, 1, 1"
    assert told["preciseness"] == "0, unread, 2"
    assert told["preciseness, round 2, the judge"] == "no reply: gone"
    # a reply that is no more than its vote stands once
    assert len(told) == 4
    assert "1 could not be read" in pane(panes, "Scores by dimension").note
    assert facts(panes, "Description") == {}


def test_the_text_stands_whole_beside_the_experts() -> None:
    words = "Blurry. " * 60
    panes = look(words)
    assert text(panes, "Description") == words.strip()
    assert text(panes, "Expert's description") == "A blurred cat."
    roles = [each.role for each in panes]
    assert roles == ["prediction", "target", "detail", "detail"]


def test_no_description_counts_as_nothing_and_says_so() -> None:
    panes = look("...")
    told = facts(panes, "Description")
    assert told["status"] == "undecodable"
    assert told["counted as"] == "judgements of 0 in all dimensions"
    assert [bar.value for bar in bars(panes, "Scores by dimension").bars] == [0.0, 0.0, 0.0]
    assert not any(each.title == "The judge, by round" for each in panes)
