"""The cards of Q-Bench A1 and A2 from a release to a score, the judge's replies written down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import vgen_eval
from lookalikes import lldescribe, llvisionqa
from vgen_eval.results.card import ResultCard

ANSWERS = {
    "00000.jpg": "Yes, it is.",
    "00001.jpg": "It is noisy.",
    "00002.jpg": "I cannot view the image.",
    "00003.jpg": "<think>hm",
}
IDS = list(ANSWERS)


def card_of(folder: Path, name: str, rules: list[dict[str, Any]], role: str = "model") -> str:
    path = folder / f"{name}.yaml"
    record = {
        "model": name, "adapter": "scripted", "role": role, "answers": ["text"],
        "licence": "CC0-1.0", "options": {"rules": rules},
    }  # fmt: skip
    path.write_text(json.dumps(record))
    return str(path)


def run(folder: Path, task: str, model: str, ids: list[str], **more: Any) -> ResultCard:
    (card,) = vgen_eval.evaluate(
        tasks=task, models=[model], samples=ids, data_root=str(folder), attempts=1,
        output=str(folder / "runs"), bounds=False, **more,
    )  # fmt: skip
    return card


def values(card: ResultCard, subset: str = "all") -> dict[str, float | None]:
    return {score.metric: score.value for score in card.scores if score.subset == subset}


@pytest.mark.parametrize(("protocol", "answer"), [("qbench_letter", "text"), ("qbench", "choice")])
def test_seeing_perfectly_by_letter_or_by_perplexity_is_right(
    tmp_path: Path, protocol: str, answer: str
) -> None:
    llvisionqa.write(tmp_path)
    card = run(tmp_path, f"quality/llvisionqa@{protocol}", "oracle", IDS, answer=answer)
    assert values(card) == {
        "accuracy": 1.0, "accuracy_yes": 1.0, "accuracy_no": 1.0, "accuracy_balanced": 1.0,
        "share_yes": 0.5, "prompt_failures": 0.0,
    }  # fmt: skip
    assert card.score().metric == "accuracy"


def test_letters_are_read_and_what_is_none_is_wrong(tmp_path: Path) -> None:
    llvisionqa.write(tmp_path)
    rules = [
        {"sample": "00000.jpg", "reply": "B"}, {"sample": "00001.jpg", "reply": "(B) Blur"},
        {"sample": "00002.jpg", "reply": "E"}, {"sample": "00003.jpg", "reply": "No."},
    ]  # fmt: skip
    model = card_of(tmp_path, "reader", rules)
    card = run(tmp_path, "quality/llvisionqa@qbench_letter", model, IDS)
    assert values(card) == {
        "accuracy": 0.5, "accuracy_yes": 0.0, "accuracy_no": 1.0, "accuracy_balanced": 0.5,
        "share_yes": 0.0, "prompt_failures": 0.25,
    }  # fmt: skip
    assert card.counts.statuses["undecodable"] == 1
    assert values(card, "type=yes-or-no")["accuracy"] == 0.5
    assert values(card, "type=what")["accuracy"] == 1.0
    assert values(card, "concern=in-context others")["accuracy"] == 0.0
    assert card.counts.flags == {"extra_option": 1}


def test_free_answers_are_judged_five_times(tmp_path: Path) -> None:
    llvisionqa.write(tmp_path)
    rules = [{"sample": name, "reply": reply} for name, reply in ANSWERS.items()]
    model = card_of(tmp_path, "talker", rules)
    judge = card_of(
        tmp_path,
        "marker",
        [
            {"sample": "00000.jpg", "question": "grade/0", "reply": "Score: 0"},
            {"sample": "00000.jpg", "reply": "Score: 1"},
            {"sample": "*", "reply": "Score: 0"},
        ],
        role="judge",
    )
    card = run(tmp_path, "quality/llvisionqa@qbench", model, IDS, judge=judge)
    assert values(card) == {
        "accuracy": 0.25, "accuracy_yes": 1.0, "accuracy_no": 0.0, "accuracy_balanced": 0.5,
        "share_yes": 1.0, "prompt_failures": 0.5,
    }  # fmt: skip
    assert card.counts.statuses["undecodable"] == 1
    assert card.counts.flags["judge_split"] == 1
    assert card.counts.flags["prompt_failure_refusal"] == 1


def test_a_prompt_with_what_is_shown_needs_words_for_each_picture(tmp_path: Path) -> None:
    llvisionqa.write(tmp_path)
    (tmp_path / "llvisionqa" / "content.json").write_text('{"00000.jpg": "a heap of discs"}')
    rules = [{"words": "This picture shows: a heap of discs", "reply": "A"}]
    model = card_of(tmp_path, "reader", rules)
    card = run(tmp_path, "quality/llvisionqa@qbench_letter", model, IDS[:2], prompt="with_content")
    assert card.counts.statuses["ok"] == 1
    assert card.counts.statuses["bad_sample"] == 1
    assert values(card)["accuracy"] == 1.0


def test_descriptions_are_judged_in_three_dimensions(tmp_path: Path) -> None:
    lldescribe.write(tmp_path)
    model = card_of(
        tmp_path,
        "talker",
        [{"sample": "000.jpg", "reply": "Sharp."}, {"sample": "001.jpg", "reply": ""}],
    )
    judge = card_of(
        tmp_path,
        "marker",
        [
            {"question": "completeness/*", "reply": "Score: 1"},
            {"question": "preciseness/*", "reply": "Score: 2"},
            {"question": "relevance/[01]", "reply": "Score: 1"},
            {"question": "relevance/[234]", "reply": "Score: 2"},
        ],
        role="judge",
    )
    card = run(tmp_path, "quality/lldescribe", model, ["000.jpg", "001.jpg"], judge=judge)
    found = values(card)
    # five judgements of the first, five zeros of the second, which said nothing
    assert found["completeness"] == 0.5
    assert found["preciseness"] == 1.0
    assert found["relevance"] == pytest.approx((2 + 6) / 10, abs=1e-15)
    assert found["sum"] == pytest.approx(2.3, abs=1e-12)
    assert found["relevance_p0"] == 0.5
    assert card.score().metric == "sum"
