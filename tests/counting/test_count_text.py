"""The text decoder says what count it read and by which rule, and undoes its encoder."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import Image
from vgen_eval.types import NoOptions, Scene
from vgen_eval_plugins.counting.decoders import CountText
from vgen_eval_plugins.counting.encoders import CountTextEncoder
from vgen_eval_plugins.counting.targets import CountTarget
from vgen_eval_plugins.parsing.counts import parse_count

SCENE = Scene(image=Image(np.zeros((4, 4, 3), np.uint8)), size=(4, 4))


@pytest.mark.parametrize(
    ("text", "rule", "extracted"),
    [
        ("7", "bare number", "7"),
        ("There are 7 cars", "only number", "7"),
        ("Answer: seven", "answer", "seven"),
        ("My final answer is 7", "final answer", "7"),
        ("7 in total", "total", "7"),
        ("no cars", "none", "no cars"),
        ('{"count": 7}', "json", '{"count": 7}'),
        ("\\boxed{7}", "marked", "\\boxed{7}"),
    ],
)
def test_summary_says_what_was_read_and_by_which_rule(text: str, rule: str, extracted: str) -> None:
    prediction = CountText(NoOptions()).decode(text, SCENE)
    assert prediction.summary == {
        "count": prediction.value,
        "rule": rule,
        "extracted": extracted,
    }


@pytest.mark.parametrize("answer", [None, 5, b"5", ["5"]])
def test_answer_that_is_not_text_is_undecodable(answer: object) -> None:
    with pytest.raises(Undecodable, match="text was wanted"):
        CountText(NoOptions()).decode(answer, SCENE)


@given(st.integers(min_value=0, max_value=1_000_000_000))
def test_every_count_comes_back_from_its_digits(count: int) -> None:
    text = CountTextEncoder(NoOptions()).encode(CountTarget(count), SCENE)
    assert CountText(NoOptions()).decode(text, SCENE).value == count
    assert parse_count(f"There are {count:,} apples.").count == count
