"""A score on a stated scale is read; one on another scale, or several, are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vgen_eval.errors import Undecodable
from vgen_eval_plugins.parsing.scores import parse_score

READ = [
    ("Score: 4/5", 4), ("**FINAL VERDICT IS: 3**", 3), ("Score: 2", 2), ("4", 4), ("4.0", 4),
    ("**4**", 4), ("(4)", 4), ("[[4]]", 4), ("\\boxed{4}", 4), ("<score>4</score>", 4),
    ("4/5", 4), ("4 out of 5 stars", 4), ("Score: 4 / 5 (good)", 4), ("score=4", 4),
    ("Score:4", 4), ("Score:\n4", 4), ("I give it 4.", 4), ("I would score this a 4", 4),
    ("I would give this video a 3 out of 5", 3), ("Rating: **4** because 2 items fail", 4),
    ("The score for this description is 2.", 2), ("Overall score 5", 5), ("score: two", 2),
    ("On a scale of 1 to 5, the score is 2", 2), ("Score (1-5): 4", 4),
    ("I rate it 4/5. Final score: 3", 3), ("2 of 3 items fail. Score: 4", 4),
    ("Score: 4, 2 items fail", 4), ("Score: 4. 2 items fail", 4), ("Score: 4\n2 items fail", 4),
    ("<think>Score: 5</think>Score: 4", 4), ("At 12:30 it breaks. Score: 3", 3),
    ('{"score": 4}', 4), ('{"score": "4"}', 4), ('{"score": 4.0}', 4), ('{"Score": "4/5"}', 4),
    ('```json\n{"rating": 4, "reason": "2 faults"}\n```', 4), ('{"completeness": 2}', 2),
    ("\u8bc4\u5206\uff1a4", 4), ("\uff14", 4), ("Nota: 3", 3), ("Bewertung: 2", 2),
    # scales that are the one asked for
    ("Score: 3 (out of 5)", 3), ("Score: three out of five", 3), ("Score: 4 points out of 5", 4),
    ("4 out of a possible 5", 4), ("Score (out of 5): 4", 4), ("Score (/5): 4", 4),
    ("Rating/5: 4", 4), ("Score [1-5]: 4", 4), ("Score: 4 on a scale of 5", 4),
    ("On a five-point scale, I give it a 4", 4), ("Rating (1 = worst, 5 = best): 3", 3),
    ("Score: 4\n(1: bad, 3: fair, 5: good)", 4), ('{"score": 4, "max": 5}', 4),
    ('{"score": 4, "scale": "1-5"}', 4), ("2 out of 3 items fail. Score: 4", 4),
]  # fmt: skip

REFUSED = [
    "", " ", "<think>4", "I cannot rate this video.", '{"score": 9}', "2 out of 10", "2/10",
    "9", "0", "-3", "Score: -3", "3.5", "Score: 3.5/5", "3-4", "3 to 4", "Score: 3 or 4", "80%",
    "Score: between 3 and 4", "Score: 2\nScore: 3", "On a scale of 1 to 10, score: 2",
    "Score (0-10): 4", "There are 3 people", "good", "Score: good", "[[4]] [[5]]",
    '{"score": true}', '{"score": null}', '{"score": NaN}', '{"score": Infinity}',
    '{"score": 4.5}', '{"score": 4, "rating": 5}', '{"score": [4, 5]}', '{"a": 1, "b": 2}', "{}",
    '{"score": {}}', '{"score": ""}', '{"score": 1' + "0" * 4000 + "}", "Score: 1" + "0" * 5000,
    '{"score": 4, "score": 5}', "1, 2, 3", "Completeness score: 1. Relevance score: 2",
    "Score: 1 2", "1 2", "Score: 1, 2", "Score: 1, 2, 3", "Score: 4; 5", "[[4 5]]", "Score: 4 & 5",
    # other scales
    "Score: 3 (out of 10)", "Score: 3 (of 10)", "Score: 3 [out of 10]", "Score: 3 (/10)",
    "Score: 3 points out of 10", "Score: 3 stars (out of 10 stars)", "Score: three out of ten",
    "Score: 3 out of a possible 10", "3 out of a total of 10", "Score: 3 on a scale of 10",
    "Score: 3 on a 10-point scale", "Score (out of 10): 3", "Score out of 10: 3", "Rating/10: 3",
    "Score [0-10]: 3", "Rating (1 = worst, 10 = best): 3", "Score: 3 (0 = worst, 5 = best)",
    '{"score": 3, "max": 10}', '{"score": 3, "out_of": 10}', '{"score": 3, "scale": "1-10"}',
    '{"score": {"value": 3, "out_of": 10}}', '{"score": 3, "scale": 1e400}',
]  # fmt: skip


@pytest.mark.parametrize(("text", "score"), READ)
def test_stated_score_is_read(text: str, score: int) -> None:
    assert parse_score(text, 1, 5).score == score


@pytest.mark.parametrize("text", REFUSED)
def test_reply_without_one_score_on_the_scale_is_refused(text: str) -> None:
    with pytest.raises(Undecodable):
        parse_score(text, 1, 5)


def test_unread_replies_are_no_lowest_scores() -> None:
    replies = {"a": "Score: 4/5", "b": "**FINAL VERDICT IS: 3**", "c": "I cannot rate this video.",
               "d": '{"score": 9}', "e": "2 out of 10"}  # fmt: skip
    for _ in range(2):
        scores: dict[str, int | None] = {}
        for name, reply in replies.items():
            try:
                scores[name] = parse_score(reply, 1, 5).score
            except Undecodable:
                scores[name] = None
        assert scores == {"a": 4, "b": 3, "c": None, "d": None, "e": None}
        read = [score for score in scores.values() if score is not None]
        assert (len(read), sum(read) / len(read)) == (2, 3.5)


@pytest.mark.parametrize(
    ("text", "score"),
    [("Score: 0", 0), ("Score: 2/2", 2), ("1", 1), ("Score: 1 on a 3-point scale", 1),
     ("Score: 2 (0 = none of it, 1 = a part, 2 = all)", 2)],
)  # fmt: skip
def test_scales_from_nought_are_read(text: str, score: int) -> None:
    assert parse_score(text, 0, 2).score == score


@pytest.mark.parametrize("text", ["Score: 1 0", "Score: 0 1", "1 0", "Score: 1, 0"])
def test_two_votes_at_once_are_refused(text: str) -> None:
    with pytest.raises(Undecodable):
        parse_score(text, 0, 1)


def test_negative_scores_are_read_where_the_scale_has_them() -> None:
    assert parse_score("Score: -1", -1, 1).score == -1


@pytest.mark.parametrize(
    ("text", "rule", "extracted"),
    [
        ("4", "bare number", "4"),
        ("Score: 4/5", "score", "4/5"),
        ("Final score: 4", "final score", "4"),
        ("It is 4 out of 5", "out of", "4 out of 5"),
        ("[[4]]", "marked", "[[4]]"),
        ('{"score": 4}', "json", '{"score": 4}'),
    ],
)
def test_the_rule_and_the_words_read_are_kept(text: str, rule: str, extracted: str) -> None:
    parsed = parse_score(text, 1, 5)
    assert (parsed.score, parsed.rule, parsed.extracted) == (4, rule, extracted)


def test_refusal_names_both_scales() -> None:
    with pytest.raises(Undecodable, match="'2 out of 10' is on another scale than 1 to 5"):
        parse_score("2 out of 10", 1, 5)


_PIECES = st.sampled_from(
    ["1", "5", "9", "/", " out of ", "Score: ", "final score ", "scale of ", " to ", "-", "%", "{",
     "}", '"score": ', "[[", "]]", "\n", "\\boxed{", "<score>", "two", ".", "\x00", "from "]
)  # fmt: skip


@given(st.one_of(st.text(max_size=300), st.lists(_PIECES, max_size=40).map("".join)))
def test_any_reply_is_read_or_refused(text: str) -> None:
    try:
        assert 1 <= parse_score(text, 1, 5).score <= 5
    except Undecodable:
        return


@given(st.integers(0, 100), st.sampled_from(["{}", "Score: {}", "{}/100", '{{"score": {}}}']))
def test_every_score_comes_back(score: int, form: str) -> None:
    assert parse_score(form.format(score), 0, 100).score == score
