"""Thinking traces: cut off the answer, kept beside it."""

from __future__ import annotations

import pytest
from vgen_eval_plugins.models.thinking import is_open, split_thinking

TAGS = ("<think>", "</think>")


@pytest.mark.parametrize(
    ("text", "opened", "answer", "thinking"),
    [
        ("7", False, "7", None),
        ("<think>one, two</think>\n\n7", False, "7", "one, two"),
        ("one, two</think>7", True, "7", "one, two"),
        ("one, two</think>7", False, "7", "one, two"),
        ("\n\n</think>\n\n7", True, "7", None),
        ("<think>one</think>7<think>two</think>", False, "7", "one\n\ntwo"),
        ("a <think>b</think> c", False, "a  c", "b"),
        ("", False, "", None),
        ("one, two", True, None, "one, two"),
        ("", True, None, None),
        ("<think>one, tw", False, None, "one, tw"),
        ("7<think>", False, None, None),
        ("one</think>7<think>two", True, None, "one\n\ntwo"),
    ],
)
def test_traces_and_answer_are_told_apart(
    text: str, opened: bool, answer: str | None, thinking: str | None
) -> None:
    assert split_thinking(text, TAGS, opened=opened) == (answer, thinking)


def test_a_prompt_is_open_after_an_opening_tag_alone() -> None:
    assert is_open("assistant\n<think>\n", TAGS)
    assert not is_open("assistant\n<think>\n\n</think>\n\n", TAGS)
    assert not is_open("assistant\n", TAGS)
