"""Ratings on any scale: what replies state as one number, and what is refused as another thing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vgen_eval.errors import Undecodable
from vgen_eval_plugins.parsing.ratings import parse_rating


@pytest.mark.parametrize(
    ("text", "rating", "out_of"),
    [
        ("4.5", 4.5, None),
        (" 72.\n", 72.0, None),
        ("-3.2", -3.2, None),
        ("1e-05", 1e-05, None),
        ("72 %", 72.0, 100.0),
        ("Rating: 4/5", 4.0, 5.0),
        ("**Rating:** 85/100", 85.0, 100.0),
        ("Rating: 4/5 (80%)", 4.0, 5.0),
        ("It is 3.5 out of 5", 3.5, 5.0),
        ("I'd say 72.", 72.0, None),
        ("About 72 points.", 72.0, None),
        ("4.5 stars", 4.5, None),
        ("The quality of the image is 72 because it is sharp.", 72.0, None),
        ("On a scale of 0 to 100, I rate it 65.", 65.0, 100.0),
        ("<think>3 cats, 50</think>60", 60.0, None),
        ('{"rating": 4.5}', 4.5, None),
        (r"\boxed{72}", 72.0, None),
        ("It shows 2 cats.\nFinal rating: 61", 61.0, None),
        ("Rating: 3 (out of 10)", 3.0, 10.0),
        ("Rating: three out of ten", 3.0, 10.0),
        ("I rate it four stars out of five", 4.0, 5.0),
        ("Score out of 10: 3", 3.0, 10.0),
        ("Score (/10): 3.5", 3.5, 10.0),
        ("Rating (1 = worst, 10 = best): 3", 3.0, 10.0),
        ("Rating: 3.5 on a scale of 10", 3.5, 10.0),
        ("On a 7-point scale, my rating is 6", 6.0, 7.0),
        ('{"rating": 3, "max": 10}', 3.0, 10.0),
        ('{"rating": 3, "scale": "1-10"}', 3.0, 10.0),
    ],
)
def test_the_one_number_is_the_rating_as_it_stands(
    text: str, rating: float, out_of: float | None
) -> None:
    found = parse_rating(text)
    assert (found.rating, found.out_of) == (rating, out_of)


@pytest.mark.parametrize(
    "text",
    [
        "", "good", "nan", "inf", "1e999", "9" * 400, "70-75", "70 or 80", "60 to 70", "60 60",
        "between 60 and 70", "at least 70", "more than 70", "rating of at least 70", ">70", "70+",
        "I see 3 cats", "Shot at ISO 400", "It was taken in 2019.", "4,5", "1,200", "4/5 or 3/5",
        "rating 70, score 80", "Sharpness 3, noise 5", "I cannot see the image. 50", "<think>50",
        '{"rating": 3, "score": 4}', '{"rating": true}', "on a scale of 1 to 5 or 1 to 10: 3",
    ],
)  # fmt: skip
def test_what_may_be_another_number_is_refused(text: str) -> None:
    with pytest.raises(Undecodable):
        parse_rating(text)


@given(st.floats(min_value=-1e99, max_value=1e99))
def test_every_number_that_a_program_writes_is_read_back(value: float) -> None:
    assert parse_rating(repr(value)).rating == value
