"""Prompts are filled in one pass: data is data, and a brace that is neither is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vgen_eval.errors import BadSample
from vgen_eval.prompting import fill, placeholders


@pytest.mark.parametrize(
    ("template", "fields", "text"),
    [
        ("Paint {what}.", {"what": "red"}, "Paint red."),
        ("{a}{b}{a}", {"a": "1", "b": "2"}, "121"),
        ("{{{a}}} {{a}} }}{{", {"a": "x"}, "{x} {a} }{"),
        ("100 % of %s", {}, "100 % of %s"),
        ("", {}, ""),
        ("{a}", {"a": "{b} {{ }} %d \\1 \\g<0> 'q' \"q\"\n$x", "b": "no"},
         "{b} {{ }} %d \\1 \\g<0> 'q' \"q\"\n$x"),
    ],
)  # fmt: skip
def test_fields_and_braces_are_filled(template, fields, text):
    assert fill(template, fields) == text


@given(st.text(), st.text())
def test_a_value_is_put_in_as_it_is(value, other):
    assert fill("<{a}|{b}>", {"a": value, "b": other}) == f"<{value}|{other}>"


@given(st.text())
def test_any_text_survives_with_its_braces_doubled(text):
    assert fill(text.replace("{", "{{").replace("}", "}}"), {}) == text


def test_an_unknown_field_is_the_samples_fault_and_named():
    with pytest.raises(BadSample, match=r"field 'querry'.* Nearest: query") as caught:
        fill("{querry}", {"query": "x"})
    assert caught.value.cure == "the sample has: query"


def test_placeholders_are_the_fields_named():
    assert placeholders("{a} {{b}} {c_1}{a}") == {"a", "c_1"}
    assert placeholders("none") == set()


@pytest.mark.parametrize("template", ["{", "}", "{}", "{ a }", "{a", "a}", "{0}", "{a.b}", "{a!r}",
                                      "{a:>3}", "{{a}", "{{{a}}", "{é}", "{a\n}"])  # fmt: skip
def test_a_malformed_template_is_told_by_both(template):
    with pytest.raises(ValueError, match="lone"):
        placeholders(template)
    with pytest.raises(ValueError, match="lone"):
        fill(template, {"a": "x"})
