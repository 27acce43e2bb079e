"""A count in words: what is stated is read, what is not is refused."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vgen_eval.errors import Undecodable
from vgen_eval_plugins.parsing.counts import parse_count

COUNTS = [
    # the eighteen rows of a public collection of misread answers, those that hold a count
    ("There are twelve (12) apples.", 12),
    ("1,024", 1024),
    ("I see 3 in the first row and 4 in the second, so there are 7 in total.", 7),
    ("<think>Maybe 5... no, 6. Let me recount: 1, 2, 3, 4, 5, 6, 7, 8.</think>8", 8),
    ("**9**", 9),
    ("Answer: 5 (confidence 90%)", 5),
    ("zero", 0),
    ("There are no cars in this picture.", 0),
    ("7.0", 7),
    ("twenty-one", 21),
    ('{"count": 4}', 4),
    ("The answer is 08.", 8),
    # bare numbers
    ("7", 7), ("  7\n", 7), ("7.", 7), ("(7)", 7), ("0", 0), ("00", 0), ("7.00", 7), ("5?", 5),
    ("\uff17", 7), ("5\ufe0f\u20e3", 5), ("\u2466", 7), ("# 5", 5), ("__9__", 9), ("_9_", 9),
    ("<b>5</b>", 5), ("| cars | 5 |", 5), ("- 3", 3), ("~7", 7), ("<|im_start|>7<|im_end|>", 7),
    # thousands
    ("1'024", 1024), ("1,024,000", 1024000), ("1\u202f024", 1024), ("2 thousand", 2000),
    # words
    ("Five.", 5), ("nineteen", 19), ("ninety-nine", 99), ("one hundred and five", 105),
    ("a hundred", 100), ("two thousand and twelve", 2012), ("twelve hundred", 1200),
    ("three thousand four hundred fifty-six", 3456), ("half a dozen", 6), ("a dozen", 12),
    ("two dozen eggs", 24), ("12 (a dozen) eggs", 12), ("a single cat", 1), ("One.", 1),
    # statements
    ("There are 7 cars.", 7), ("There is only one dog.", 1), ("about 20", 20),
    ("approximately 1,200 people", 1200), ("No, 5.", 5), ("There are 7 apples. So 7.", 7),
    ("one of them is red, there are 4", 4), ("The 2nd row has 4 chairs", 4),
    ("There are 5 two-wheelers", 5), ("In image 1 there are 5 cars", 5),
    ("3D render of 4 cubes", 4), ("at 12:30 there were 4 birds", 4), ("COVID-19 kits: 3", 3),
    ("5 people, 20% of whom are seated", 5), ("The picture shows 4 cats, confidence: 0.95", 4),
    ("\u51715\u4e2a", 5),
    # totals
    ("a total of 12 cars", 12), ("12 in total", 12), ("In total, there are 12 cars.", 12),
    ("3 + 4 = 7", 7), ("3 red + 4 blue = 7", 7), ("3 x 4 = 12", 12), ("3*4 = 12", 12),
    ("Counting: 1, 2, 3. Total: 3", 3), ("Red: 3\nBlue: 4\nTotal: 7", 7),
    ("1. red car\n2. blue car\nTotal: 2", 2), ("I count 3 red and 4 blue, 7 total", 7),
    # answers
    ("Answer: **5**", 5), ("answer 7", 7), ("Answer: 5 (3 red and 2 blue)", 5),
    ("Number of cars: 8", 8), ("The total number of apples in the picture is 14.", 14),
    ("Step 1: look. Step 2: count. Answer: 7", 7), ("Total: ~45", 45),
    ("The answer is 5.\nFinal answer: 6", 6),
    ("I cannot determine the number, but my final answer is 5", 5),
    ("\\boxed{7}", 7), ("so $\\boxed{\\text{7}}$ apples", 7), ("<answer>5</answer>", 5),
    ("<think>3</think><answer> 12 </answer>", 12), ("let me think 3 4</think>\n6", 6),
    # JSON
    ('```json\n{"count": 6}\n```', 6), ('{"count": "six"}', 6), ('{"count": 4.0}', 4),
    ('{"apples": 3}', 3), ('{"count": 3, "confidence": 0.9}', 3), ("[5]", 5),
    ('Here you go: {"count": 9}', 9), ("{'count': 4}", 4), ('"5"', 5),
    # nothing there
    ("None", 0), ("There are none.", 0), ("No dogs.", 0), ("No one is in the picture.", 0),
    ("There aren't any dogs in the image.", 0), ("I don't see any dogs.", 0),
    ("I can't see any dogs.", 0), ("There isn't a single dog.", 0),
    ("There are 0 cars (no cars).", 0), ("I don't see any forks, so the count is 0.", 0),
]  # fmt: skip

REFUSED = [
    # the rest of the eighteen
    "no idea", "I'm sorry, but I can't help with counting people in images.", "3-4", "", "7.5",
    "-3",
    # nothing, or nothing but thought
    "   ", "<think>never ends 5", "<think>5</think>", "several", "both", "a few", "N/A", "Yes.",
    "No.",
    # ranges, bounds, approximations to one side
    "between 3 and 5", "3 or 4", "three to four", "3\u20134", "3 \u2013 4", "Answer: 3 or 4",
    "I can see a total of 3 to 5 dogs", "I see approximately 30-40 people", "one or two",
    "at least 5", "more than ten", "over 100", "5+", ">10", "up to 7", "5 or more", "nearly 20",
    "no more than 5", "20-ish", "two hundred-odd", "dozens", "hundreds of people",
    # no whole, positive number of things
    "\u22123", "minus three", "one and a half", "5/10", "12:30", "100%", "1e-05", "2.5e0", "1e22",
    "2 million", "10\u00b2", "2\u00bd", "99999999999999999999", "Answer: A",
    # digits that can be read in two ways
    "1,24", "1.024", "1.000", "1 024", "7 7", "three, 3", "5cars",
    # several numbers
    "5 cars and 3 trucks", "Answer: 5 cars and 3 trucks", "3 red and 4 blue in total", "3+4",
    "1, 2, 3, 4, 5", "Count: 1, 2, 3, 4, 5", "1. red car\n2. blue car", "- 3 cars\n- 4 trucks",
    "- 1 car\n- 1 truck", "2 cats, 2 dogs", "Number of cars: 1, number of trucks: 1",
    "5... no, 6", "Answer: 5. Wait. Answer: 6", "\\boxed{3} \\boxed{4}", "twenty, one",
    "There are 24 coins in 4 rows of 6", "There are no cars but 3 trucks",
    "I can't see any cars, but there are 3 trucks", "There aren't 5 dogs", "not 5 but 6",
    # refusals and doubts, with or without a number
    "I'm sorry, I can't help with counting the 5 people.", "I'm not sure, maybe 5",
    "Unable to determine.", "It is impossible to count them", "No image was provided.",
    "There is no image attached.", "I don't see any image.", "There is no way to tell.",
    "No clear answer.", "no data",
    # JSON
    '{"count": 4.5}', '{"count": -1}', '{"count": true}', '{"count": null}', '{"count": NaN}',
    '{"apples": 3, "pears": 4}', '{"count": 3, "count": 4}', '{"total": 3, "count": 4}', "[]",
    '{"count": "3-4"}', '{"count": 1e300}',
]  # fmt: skip


@pytest.mark.parametrize(("text", "count"), COUNTS)
def test_stated_count_is_read(text: str, count: int) -> None:
    assert parse_count(text).count == count


@pytest.mark.parametrize("text", REFUSED)
def test_text_without_one_clear_count_is_refused(text: str) -> None:
    with pytest.raises(Undecodable):
        parse_count(text)


def test_refusal_names_the_numbers_that_disagree() -> None:
    with pytest.raises(Undecodable, match=r"several numbers: 3, 5"):
        parse_count("5 cars and 3 trucks")


_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def _spell(count: int) -> str:
    if count < 20:
        return _ONES[count]
    if count < 100:
        return _TENS[count // 10] + (f"-{_ONES[count % 10]}" if count % 10 else "")
    if count < 1000:
        rest = f" and {_spell(count % 100)}" if count % 100 else ""
        return f"{_ONES[count // 100]} hundred{rest}"
    rest = f" {_spell(count % 1000)}" if count % 1000 else ""
    return f"{_spell(count // 1000)} thousand{rest}"


@given(st.integers(min_value=0, max_value=99_999))
def test_every_spelt_count_is_read(count: int) -> None:
    assert parse_count(_spell(count)).count == count
    assert parse_count(f"There are {_spell(count)} apples.").count == count


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        count = parse_count(text).count
    except Undecodable:
        return
    assert 0 <= count <= 1_000_000_000


@pytest.mark.parametrize(
    "text",
    [
        "<think>" * 5000, "<answer>" * 5000, "\\boxed{" * 5000, "{" * 5000, "[" * 50_000,
        "```" * 5001, "1 " * 5000, "a total of " * 5000, "and " * 5000, "3 + " * 5000,
        "5 red and " * 2000, "-" * 20_000, " " * 50_000 + "x", "one hundred " * 3000,
    ],
)  # fmt: skip
def test_degenerate_texts_take_no_long_time(text: str) -> None:
    start = time.perf_counter()
    with pytest.raises(Undecodable):
        parse_count(text)
    assert time.perf_counter() - start < 5.0


@pytest.mark.parametrize(
    ("text", "count"),
    [("2.400000000000000000e+01", 24), ("1E+2", 100), ("There are 1e3 cars.", 1000)],
)
def test_a_number_as_programs_write_it_is_one_number(text: str, count: int) -> None:
    assert parse_count(text).count == count
