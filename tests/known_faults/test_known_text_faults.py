"""Answers in words that public tools misread: counts, letters, no answer at all, exact texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from linekit import ANSWER, CHOICE, COUNT, score_lines

# --- counts -------------------------------------------------------------------------------

COUNTS: tuple[tuple[str, int | None], ...] = (
    ("There are twelve (12) apples.", 12),
    ("1,024", 1024),
    ("I see 3 in the first row and 4 in the second, so there are 7 in total.", 7),
    ("<think>Maybe 5... no, 6. Let me recount: 1, 2, 3, 4, 5, 6, 7, 8.</think>8", 8),
    ("**9**", 9),
    ("Answer: 5 (confidence 90%)", 5),
    ("zero", 0),
    ("There are no cars in this picture.", 0),
    ("no idea", None),
    ("I'm sorry, but I can't help with counting people in images.", None),
    ("3-4", None),
    ("", None),
    ("7.0", 7),
    ("7.5", None),
    ("-3", None),
    ("twenty-one", 21),
    ('{"count": 4}', 4),
    ("The answer is 08.", 8),
)
"""Answer -> the count that it states; None: none, or none that is clear."""


def test_a_count_is_the_one_that_an_answer_states_and_no_other_number(tmp_path: Path) -> None:
    """https://github.com/expectedparrot/edsl/issues/2627"""
    names = [f"r{at:02d}" for at in range(len(COUNTS))]
    assert len(names) == 18
    # where no count is stated the truth is one that no rule could come to
    truths = {
        name: {"count": 77 if count is None else count}
        for name, (_, count) in zip(names, COUNTS, strict=True)
    }
    said = {name: text for name, (text, _) in zip(names, COUNTS, strict=True)}
    run = score_lines(tmp_path, COUNT, truths, said)
    for name, (text, count) in zip(names, COUNTS, strict=True):
        if count is None:
            assert run.status(name) == "undecodable", text
        else:
            assert run.status(name) == "ok", text
            assert run.summary(name)["count"] == count, text
    assert run.card.counts.statuses == {"ok": 12, "undecodable": 6}
    assert run.number() == pytest.approx(12 / 18)
    assert run.number("mae") == pytest.approx(6 * 77 / 18)  # nothing stands for a count but 0


# --- options ------------------------------------------------------------------------------

BLUR = ["very blurry", "blurry", "sharp", "very sharp"]
LETTERS: tuple[tuple[str, str | None], ...] = (
    ("B.", "B"),
    ("(b) blurry", "B"),
    ("Both A and B", None),
    ("None of the above", None),
    ("Don't know", None),
    ("**A**", "A"),
    ("ANSWER: $A$", "A"),
    ("The answer is B because a car moves.", "B"),
    ("A blurry image, so the answer is C", "C"),
    ("Antwort: C", "C"),
    ("I would not say A; the answer is D.", "D"),
    ("c", "C"),
    ("E", None),
    ("", None),
    ("very sharp", "D"),
    ("I cannot view the image.", None),
)
"""Answer -> the option that it chooses."""


@pytest.mark.parametrize("right", "ABCD")
def test_a_letter_is_the_one_that_an_answer_chooses_and_none_of_its_words(
    tmp_path: Path, right: str
) -> None:
    """https://github.com/UKGovernmentBEIS/inspect_ai/issues/2216"""
    names = [f"r{at:02d}" for at in range(len(LETTERS))]
    assert len(names) == 16
    question = {"choice": right, "question": "How sharp is it?", "options": BLUR}
    said = {name: text for name, (text, _) in zip(names, LETTERS, strict=True)}
    run = score_lines(tmp_path, CHOICE, dict.fromkeys(names, question), said)
    for name, (text, letter) in zip(names, LETTERS, strict=True):
        if letter is None:
            assert run.status(name) == "undecodable", text
        else:
            assert (run.status(name), run.summary(name)["letter"]) == ("ok", letter), text
    assert run.card.counts.statuses == {"ok": 10, "undecodable": 6}
    # what chooses nothing is right about nothing, whichever option would have been
    assert run.number() == [letter for _, letter in LETTERS].count(right) / 16


REFUSALS: Mapping[str, str] = {
    "0": "A", "1": "I cannot see the image.", "2": "Neither", "3": "The picture is fine.", "4": "B",
}  # fmt: skip


def test_an_answer_that_chooses_nothing_is_wrong_and_no_guess_stands_for_it(tmp_path: Path) -> None:
    """https://github.com/MMMU-Benchmark/MMMU/issues/72"""
    question = {"choice": "A", "question": "Which?", "options": ["A", "B", "C", "D"]}
    runs = [
        score_lines(tmp_path / time, CHOICE, dict.fromkeys(REFUSALS, question), REFUSALS)
        for time in ("first", "second")
    ]
    for run in runs:
        assert (run.number(), run.card.score().n) == (0.2, 5)
        assert run.card.counts.statuses == {"ok": 2, "undecodable": 3}
        assert [run.status(name) for name in "123"] == ["undecodable"] * 3
    first, second = runs
    assert first.lines == second.lines
    assert first.card.content_digest == second.card.content_digest


# --- texts --------------------------------------------------------------------------------

PAIRS: tuple[tuple[str, str, bool], ...] = (
    ("NASA 7", "NASA 7", True),
    ("nasa 7", "NASA 7", True),
    ("Caf\u00e9", "Cafe\u0301", True),
    ("Grey", " grey.\n", True),
    ("x", "X-ray", False),
)
"""What is right, what was said, and whether they are the same."""


def test_right_answer_and_given_one_are_made_alike_in_the_same_way(tmp_path: Path) -> None:
    """https://github.com/EvolvingLMMs-Lab/lmms-eval/issues/1220"""
    truths = {f"r{at}": {"answer": gold} for at, (gold, _, _) in enumerate(PAIRS)}
    said = {f"r{at}": response for at, (_, response, _) in enumerate(PAIRS)}
    run = score_lines(tmp_path, ANSWER, truths, said)
    assert run.card.counts.statuses == {"ok": 5}
    assert [bool(run.statistics(name)["right"]) for name in truths] == [
        same for _, _, same in PAIRS
    ]
    assert run.number() == 0.8
