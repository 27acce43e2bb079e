"""The one JSON object of a reply is found, bare, fenced or among words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vgen_eval.errors import Undecodable
from vgen_eval_plugins.parsing.objects import read_object

WANTED: dict[str, Any] = {"a": [{"b": "} {"}], "c": 'x "y" z'}
TEXT = '{"a": [{"b": "} {"}], "c": "x \\"y\\" z"}'


@pytest.mark.parametrize(
    "reply",
    [TEXT, f" {TEXT}\n", f"```json\n{TEXT}\n```", f"```\n{TEXT}```", f"[{TEXT}]",
     f"Here it is: {TEXT} Done.", f"<think>{{}}</think>{TEXT}", f"So {{ no }} and {TEXT}.",
     f"```json\n{TEXT}", f"{{ {TEXT}"],
)  # fmt: skip
def test_the_object_is_read_whatever_is_around_it(reply: str) -> None:
    assert read_object(reply) == WANTED


@pytest.mark.parametrize(
    ("reply", "why"),
    [("", "empty"), ("<think>{}</think>", "empty"), ("no", "no JSON object"), ("[1]", "no JSON"),
     ('{"a": 1} {"b": 2}', "2 JSON objects"), ('{"a": 1, "a": 2}', "twice"), ("3", "no JSON"),
     ('{"a": NaN}', "no JSON object"), ('{"a": 1', "no JSON object"), ("{'a': 1}", "no JSON"),
     ('{"a": ' * 3000 + "1" + "}" * 3000, "nested more than 32 deep")],
)  # fmt: skip
def test_what_is_no_one_object_is_refused(reply: str, why: str) -> None:
    with pytest.raises(Undecodable, match=why):
        read_object(reply)


@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "Here: {} as wanted", "[{}]"])
def test_a_plain_reader_takes_the_last_of_twins_and_numbers_that_are_none(around: str) -> None:
    found = read_object(around.replace("{}", '{"a": 1, "b": Infinity, "a": 2}'), is_plain=True)
    assert found == {"a": 2, "b": float("inf")}
    for reply in ("no", "", "[{}, {}]", '{"a": 1'):
        with pytest.raises(Undecodable):
            read_object(reply, is_plain=True)


def test_an_empty_object_is_one() -> None:
    assert read_object("{}") == {}


@given(st.text(alphabet='{}[]"\\:,a1 \n`', max_size=80))
def test_any_reply_is_read_or_refused(reply: str) -> None:
    try:
        assert isinstance(read_object(reply), dict)
    except Undecodable:
        return
