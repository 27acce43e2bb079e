"""Long and degenerate texts are read or refused in little time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import pytest
from vgen_eval.errors import Undecodable
from vgen_eval_plugins.parsing.counts import parse_count
from vgen_eval_plugins.parsing.objects import read_object
from vgen_eval_plugins.parsing.options import parse_option
from vgen_eval_plugins.parsing.ratings import parse_rating
from vgen_eval_plugins.parsing.scores import parse_score

BLUR = {"A": "very blurry", "B": "blurry", "C": "sharp", "D": "very sharp"}
PARSERS: dict[str, Callable[[str], object]] = {
    "option": lambda text: parse_option(text, BLUR),
    "number option": lambda text: parse_option(text, {"A": "1", "B": "Yes"}),
    "score": lambda text: parse_score(text, 1, 5),
    "rating": parse_rating,
    "count": parse_count,
    "object": read_object,
}
UNITS = [
    "A ", "a ", "(", "B. ", "B\n", "not A ", "the answer is ", "answer to the question ", "very ",
    "final answer ", "blurry ", "{", "{}", '{"a":', '"', "\\", "[[", "[[B]]", "\\boxed{",
    "<answer>", "<think>", "</think>", "```", "*", "_", "$", "1", "1,", "1/", "- ", "score ",
    "scale of 1 ", "out of ", "the option ", " ", "\n", "\x00", "\u00e9", "\u7b54\u6848", "B\u548c",
    "<b>", "<", "A/", "?", "'", "is correct ", "option 2 ", "none of ", "ich kann ", "can't ",
    "\u0130", "[1]", "\ud83d", "no ", "Yes, ", "A, ", "A or ", "blurry to ", "sharp - ", "1, ",
    "3 out of ", "(1 = bad, ", "on a ", "score (/",
]  # fmt: skip


@pytest.mark.parametrize("parser", PARSERS)
def test_fifty_thousand_characters_take_no_long_time(parser: str) -> None:
    slow = []
    for unit in UNITS:
        body = unit * (50_000 // len(unit))
        for text in (f"{body}B", f"x{body} the answer is C."):
            start = time.perf_counter()
            with contextlib.suppress(Undecodable):
                PARSERS[parser](text)
            took = time.perf_counter() - start
            if took > 5.0:  # seconds; half of one is usual
                slow.append((unit, took))
    assert slow == []


NESTED = {
    "list": "[{inner}]", "count": '{{"count": {inner}}}', "score": '{{"score": {inner}}}',
    "answer": '{{"answer": [{inner}]}}',
}  # fmt: skip


@pytest.mark.parametrize("depth", [40, 300, 500, 700, 900, 5000])
@pytest.mark.parametrize("nesting", NESTED)
@pytest.mark.parametrize("parser", ["score", "count", "object"])
def test_json_in_json_is_followed_to_a_depth_and_refused_beyond_it(
    parser: str, nesting: str, depth: int
) -> None:
    before, after = NESTED[nesting].format(inner="\x00").split("\x00")
    text = before * depth + "3" + after * depth
    for shown in (text, f"```json\n{text}\n```"):
        with pytest.raises(Undecodable, match="nested more than 32 deep"):
            PARSERS[parser](shown)


def test_json_in_json_that_people_write_is_read() -> None:
    assert parse_count('{"result": {"answer": [{"count": 7}]}}').count == 7
    assert parse_score('{"result": {"answer": {"score": 4}}}', 1, 5).score == 4
    assert read_object('[{"a": {"b": [[{"c": 1}]]}}]') == {"a": {"b": [[{"c": 1}]]}}
