"""Scalars of cards follow the YAML 1.2 core schema."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vgen_eval.cards.problems import Problems
from vgen_eval.cards.scalars import resolve_plain
from vgen_eval.cards.walk import plain_of
from vgen_eval.cards.yaml_nodes import compose

VALUES = [
    ("true", True), ("True", True), ("TRUE", True),
    ("false", False), ("False", False), ("FALSE", False),
    ("null", None), ("Null", None), ("NULL", None), ("~", None), ("", None),
    ("yes", "yes"), ("Yes", "Yes"), ("no", "no"), ("on", "on"), ("off", "off"), ("y", "y"),
    ("tRUE", "tRUE"), ("nULL", "nULL"),
    ("0", 0), ("12", 12), ("-7", -7), ("+7", 7), ("010", 10), ("-0", 0),
    ("0o17", 15), ("0x1F", 31), ("0x1f", 31), ("0b11", "0b11"), ("-0x1F", "-0x1F"), ("0o8", "0o8"),
    ("1_000", "1_000"), ("16:9", "16:9"), ("190:20:30", "190:20:30"), ("1:30.5", "1:30.5"),
    ("1.5", 1.5), ("-.5", -0.5), ("2.", 2.0), ("1e-3", 0.001), ("1E5", 100000.0), ("+1.e2", 100.0),
    ("1e", "1e"), (".", "."), ("-", "-"), ("+", "+"), (".e3", ".e3"), ("1.2.3", "1.2.3"),
    ("2024-01-31", "2024-01-31"), ("2001-12-14t21:59:43Z", "2001-12-14t21:59:43Z"),
    ("=", "="), ("<<", "<<"), ("v1", "v1"), ("9f2c", "9f2c"), ("١٢", "١٢"),
    ("9223372036854775807", 2**63 - 1), ("-9223372036854775808", -(2**63)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_a_plain_scalar_is_read_by_the_core_schema(text, value):
    seen = resolve_plain(text)
    assert (type(seen), seen) == (type(value), value)


@pytest.mark.parametrize(
    "text",
    [".inf", "-.inf", "+.Inf", ".INF", ".nan", ".NaN", "1e999", "9223372036854775808", "9" * 9999],
)
def test_numbers_that_json_does_not_hold_are_refused(text):
    with pytest.raises(ValueError, match=r"finite|64"):
        resolve_plain(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'12'", "12"), ('"true"', "true"), ("'~'", "~"), ("''", ""), ("|-\n  12", "12"),
        ("!!str 12", "12"), ("!!int '12'", 12), ("!!float 3", 3.0), ("!!bool 'true'", True),
        ("!!null ''", None), ("!!seq [1]", [1]), ("!!map {b: 1}", {"b": 1}),
    ],
)  # fmt: skip
def test_quotes_and_core_tags_decide_the_type(text, value):
    problems = Problems("card")
    root, _ = compose(f"a: {text}\n", problems)
    seen = plain_of(root)["a"]
    assert not problems.found
    assert (type(seen), seen) == (type(value), value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_finite_float_comes_back_as_itself(number):
    seen = resolve_plain(repr(number))
    assert isinstance(seen, float)
    assert math.copysign(1, seen) == math.copysign(1, number)
    assert seen == number


@given(st.text(min_size=1, max_size=12))
def test_any_text_is_read_or_refused_and_never_breaks(text):
    try:
        value = resolve_plain(text)
    except ValueError:
        return
    assert value == text or not isinstance(value, str)
