"""Thinking traces, refusals, marks and texts that are the same."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vgen_eval_plugins.parsing.texts import (
    double_bracketed,
    drop_thinking,
    fenced_blocks,
    is_refusal,
    marked_answers,
    plain_words,
    same_text,
    spoken_part,
)


@pytest.mark.parametrize(
    ("gold", "response", "same"),
    [
        ("NASA 7", "NASA 7", True), ("nasa 7", "NASA 7", True),
        ("Caf\u00e9", "Cafe\u0301", True), ("Grey", " grey.\n", True), ("x", "X-ray", False),
        ("'sharp'", "Sharp!", True), ("a b", "ab", False), ("+", "-", False), ("", "", True),
        ("stra\u00dfe", "STRASSE", True), ("\u00c9", "\u00e9", True), ("", ".", False),
    ],
)  # fmt: skip
def test_both_sides_are_made_alike_before_they_are_compared(
    gold: str, response: str, same: bool
) -> None:
    assert same_text(gold, response) is same
    assert same_text(response, gold) is same


@given(st.text(max_size=60))
def test_a_text_is_the_same_as_itself_however_composed(text: str) -> None:
    assert same_text(text, unicodedata.normalize("NFD", text))
    assert same_text(text, f"  {text}\n")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<think>a</think>b", "b"), ("a</think>b", "b"), ("<think>a", ""), ("a", "a"),
        ("x<think>a</think>b", "x b"), ("<THINKING>a</THINKING>b", "b"),
        ("<think>a<think>b</think>c", "c"), ("<|im_start|>b<|im_end|>", "b"),
    ],
)  # fmt: skip
def test_what_is_thought_is_not_said(text: str, kept: str) -> None:
    assert spoken_part(text) == kept


def test_thinking_alone_leaves_nothing() -> None:
    assert drop_thinking("<reasoning>B</reasoning>").strip() == ""


@pytest.mark.parametrize(
    "text",
    ["I cannot view the image.", "I can\u2019t help with that.", "As an AI, no.", "No idea",
     "I'm unable to rate it.", "It is unclear whether", "I don't know", "No image was provided.",
     "Ich weiß nicht", "No puedo ver la imagen", "Non lo so", "N\u00e3o sei",
     "\u6211\u65e0\u6cd5\u56de\u7b54", "\u308f\u304b\u308a\u307e\u305b\u3093",
     "\u042f \u043d\u0435 \u043c\u043e\u0433\u0443"],
)  # fmt: skip
def test_refusals_are_told(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    ["", "B", "I can see it", "I cannot see any blur.", "The image is unclear.", "It is not clear",
     "The lens could not focus", "The image cannot be called sharp"],
)  # fmt: skip
def test_statements_are_no_refusals(text: str) -> None:
    assert not is_refusal(text)


def test_marks_give_what_is_inside() -> None:
    text = "\\boxed{\\text{B}} <answer>C</answer> [[ D ]]"
    assert [inner for inner, _ in marked_answers(text, "answer")] == ["\\text{B}", "C"]
    assert double_bracketed(text) == [("D", "[[ D ]]")]
    assert fenced_blocks("```json\n{}\n``` and ```x```") == ["{}\n", ""]


@pytest.mark.parametrize(
    ("text", "plain"),
    [("**B**", "B"), ("$A$", "A"), ("# B", "B"), ("\uff22\u3002", "B."), ("<b>x</b>", "x"),
     ("a \t b", "a b"), ("\u201cB\u201d", '"B"'), ("snake_case", "snake_case")],
)  # fmt: skip
def test_plain_words_have_no_marks(text: str, plain: str) -> None:
    assert plain_words(text) == plain
