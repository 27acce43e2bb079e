"""The one JSON encoder: no NaN, no infinity, no silence."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from vgen_eval import jsonio

NOT_FINITE = [math.nan, math.inf, -math.inf, np.float64("nan")]


@pytest.mark.parametrize("number", NOT_FINITE)
@pytest.mark.parametrize("encode", [jsonio.dumps, jsonio.canonical, jsonio.pretty, jsonio.digest])
def test_what_is_not_finite_is_refused_with_its_path(encode: Any, number: float) -> None:
    with pytest.raises(ValueError, match=r"\$\.0\.rows\.1\.a is (nan|inf|-inf)"):
        encode({"rows": [{"a": 1.0}, {"a": number}]})


@pytest.mark.parametrize("text", ['{"a":NaN}', '{"a":-Infinity}', '{"a":Infinity}', "{a:1}", ""])
def test_what_is_no_json_is_not_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        jsonio.loads(text)


def test_equal_values_share_a_digest_whatever_the_order_of_their_keys() -> None:
    assert jsonio.digest({"a": 1, "b": [1, 2]}) == jsonio.digest({"b": [1, 2], "a": 1})
    assert jsonio.digest({"a": [1, 2]}) != jsonio.digest({"a": [2, 1]})
    assert jsonio.digest(1) != jsonio.digest(1.5)


def test_numbers_and_arrays_of_plugins_become_plain() -> None:
    value = {
        "a": np.float32(0.5), "b": np.int64(3), "c": np.bool_(True), "d": np.array([[1, 2]]),
        "e": (1, None, "x"), "f": np.array(2.5), "g": np.str_("y"),
    }  # fmt: skip
    plain = jsonio.plain(value)
    assert json.loads(jsonio.dumps(plain)) == {
        "a": 0.5, "b": 3, "c": True, "d": [[1, 2]], "e": [1, None, "x"], "f": 2.5, "g": "y",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": [0, math.nan]}, r"\$\.a\.1 is nan"),
        ({"a": np.array([np.inf])}, r"\$\.a\.0 is inf"),
        ({"a": object()}, r"\$\.a is object"),
        ({3: 1}, r"\$ has the key 3"),
        ({"a": {1, 2}}, r"\$\.a is set"),
        ({"a": 1j}, r"\$\.a is complex"),
    ],
)
def test_what_json_cannot_hold_is_named(value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        jsonio.plain(value)
