"""Lists, denials, changed texts and letters against texts choose nothing; clear answers do."""

from __future__ import annotations

import pytest
from vgen_eval_plugins.parsing.faults import NotRead
from vgen_eval_plugins.parsing.options import parse_option

YES_NO = {"A": "Yes", "B": "No"}
DISTORTION = {"A": "Motion blur", "B": "Overexposure", "C": "Noise", "D": "Underexposure"}
LEVEL = {"A": "Good", "B": "Poor", "C": "Fair"}
AVERAGE = {"A": "Good", "B": "Average", "C": "Bad"}
SIDE = {"A": "Left", "B": "Right", "C": "Top"}
NUMBER = {"A": "1", "B": "2", "C": "3", "D": "More than 3"}
SHARP = {"A": "Sharp", "B": "Blurry"}


def _kind(text: str, options: dict[str, str]) -> str:
    with pytest.raises(NotRead) as caught:
        parse_option(text, options)
    return caught.value.kind


@pytest.mark.parametrize(
    "text",
    [
        "A. Yes\nB. No\nC. Maybe", "A) Yes\nB) No\nC) Maybe", "(A) Yes\n(B) No\n(C) Maybe",
        "- A. Yes\n- B. No\n- C. Maybe", "A: Yes\nB: No\nC: Maybe", "A. Yes\nC. Maybe",
        "A. Yes\n\nB. No\n\nC. Not sure", "A. Yes\nB. No\nC. Unknown\nD. Other",
        "Is this sharp?\nA. Yes\nB. No\nC. Maybe", "C. Maybe\nA. Yes\nB. No",
        "Choose between one of the options as follows:\nA. Yes\nB. No\nC. Cannot tell",
        "A. Yes\nB. No\nC. Maybe\n\nC. Maybe", "A. Yes\nB. No\nC. Maybe\nThe answer is C. Maybe",
        "A, C", "A or C", "The answer is A, C",
    ],
)  # fmt: skip
def test_option_beyond_those_offered_is_extra(text: str) -> None:
    assert _kind(text, YES_NO) == "extra_option"


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("A. Yes\nB. No\n\nA", "A"), ("A. Yes\nB. No\nB. No", "B"),
        ("A. Yes\nB. No\nC. Not sure\nAnswer: A", "A"), ("A. Yes\nB. No\nAnswer: B", "B"),
        ("A. Yes\nB. No\nC. Maybe\n\nNo, it is not.", "B"),
    ],
)  # fmt: skip
def test_what_follows_a_list_of_the_options_is_read(text: str, letter: str) -> None:
    assert parse_option(text, YES_NO).letter == letter


@pytest.mark.parametrize("text", ["A. Yes\nB. No", "A. Yes\nB. No\n\nIt looks like a photo."])
def test_list_of_the_options_is_no_answer(text: str) -> None:
    assert _kind(text, YES_NO) == "several_options"


@pytest.mark.parametrize("options", [YES_NO, DISTORTION, LEVEL])
@pytest.mark.parametrize(
    "text",
    [
        "A/B", "A|B", "A & B", "A&B", "A+B", "A / B", "A vs B", "A vs. B", "A then B", "A or B?",
        "A, B", "A,B", "A; B", "B/A", "A, B, C", "A, B, C, D", "A, B and C", "A possibly B",
        "A, maybe B", "(A) or (B)", "I think A/B", "Answer: A|B", "Answer: A+B", "Answer: A; B",
        "The answer is A vs B", "The answer is A, then B",
    ],
)  # fmt: skip
def test_several_letters_are_several_options(text: str, options: dict[str, str]) -> None:
    assert _kind(text, options) == "several_options"


def test_letters_apart_are_several_options() -> None:
    assert _kind("A/C", DISTORTION) == "several_options"
    assert _kind("A, B, C, D", DISTORTION) == "several_options"


@pytest.mark.parametrize(
    "text",
    [
        "Yes, No", "Yes,No", "Yes; No", "No, Yes", "Yes, but also no.", "Yes. No.", "Yes/No",
        "Yes, that is wrong", "Yes, it is incorrect.", "Yes, it is not.", "No, that is correct.",
        "No. 5", "No: 5", "Yes and no.", "No doubt", "Yes, the image is blurry. Answer: B",
        "No. The answer is A", "Yes, B", "No (A)", "B (Yes)", "Yes\nB", "Si la imagen",
    ],
)  # fmt: skip
def test_yes_and_no_at_once_are_refused(text: str) -> None:
    _kind(text, YES_NO)


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Definitely yes", "A"), ("The image is sharp, so yes.", "A"), ("Well, no.", "B"),
        ("Answer with A or B: A", "A"), ("Q: Is it blurry? A: No", "B"), ("Oui", "A"),
        ("Ja", "A"), ("Si", "A"), ("S\u00ed.", "A"), ("\u662f", "A"), ("\u5426", "B"),
        ("\u662f\u7684\uff0c\u56fe\u7247\u6e05\u6670\u3002", "A"), ("Nein.", "B"),
        ("Ja, das Bild ist scharf.", "A"), ("Yes\u2014no visible noise", "A"),
        ("Answer: Yes, no visible blur.", "A"), ("Yes, the colors are wrong.", "A"),
        ("Yes, no noise is visible.", "A"), ("No, that is wrong.", "B"), ("No (B)", "B"),
        ("Yes. 5 people are sharp.", "A"), ("Yes, it does not have noise", "A"),
    ],
)  # fmt: skip
def test_clear_yes_and_no_are_read(text: str, letter: str) -> None:
    assert parse_option(text, YES_NO).letter == letter


@pytest.mark.parametrize(
    "text",
    [
        "There is no noise.", "no noise", "No motion blur here", "There is no motion blur.",
        "no visible noise", "No obvious noise", "zero noise", "almost no noise", "little noise",
        "Hardly any noise", "free of noise", "free from motion blur", "absence of noise",
        "The image lacks noise", "Noise is absent", "It does not have noise",
        "The image does not suffer from noise", "I don't see noise", "I see no motion blur",
        "I do not see any motion blur", "There is no sign of overexposure", "without any noise",
        "It's anything but noise", "noise is hardly visible", "noise is not visible",
        "il n'y a pas de noise", "\u6ca1\u6709 Noise", "\u6ca1\u6709Noise", "kein Noise",
        "Noise \u4e0d\u660e\u663e", "Nothing is noise", "no noise or motion blur", "Is it noise?",
        "Noise is negligible", "noise-free",
    ],
)  # fmt: skip
def test_denied_text_is_not_chosen(text: str) -> None:
    assert _kind(text, DISTORTION) == "no_option"


@pytest.mark.parametrize(
    ("text", "options", "letter"),
    [
        ("There is no noise; it is motion blur.", DISTORTION, "A"),
        ("No noise, no motion blur, but overexposure.", DISTORTION, "B"),
        ("There is no overexposure but there is underexposure", DISTORTION, "D"),
        ("nothing but noise", DISTORTION, "C"), ("No doubt, it is noise", DISTORTION, "C"),
        ("Noise, not motion blur", DISTORTION, "C"), ("motion-blur", DISTORTION, "A"),
        ("It does not look natural because of overexposure", DISTORTION, "B"),
        ("The image is sharp with no blurry areas.", SHARP, "A"), ("Not good, poor.", LEVEL, "B"),
        ("The quality isn't good, so it's poor.", LEVEL, "B"), ("It is fair.", LEVEL, "C"),
        ("No details are visible and the quality is poor", LEVEL, "B"),
        ("on average good", AVERAGE, "A"), ("The quality is average.", AVERAGE, "B"),
        ("It is on the left, not on the right", SIDE, "A"), ("the right one", SIDE, "B"),
        ("That's right, A", SIDE, "A"),
    ],
)  # fmt: skip
def test_text_beside_a_denied_one_is_read(text: str, options: dict[str, str], letter: str) -> None:
    assert parse_option(text, options).letter == letter


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("no good", LEVEL), ("far from good", LEVEL), ("anything but good", LEVEL),
        ("Less than good", LEVEL), ("fair-to-good", LEVEL), ("The quality is no good", LEVEL),
        ("The answer is good to fair", LEVEL), ("No part of it is blurry", SHARP),
        ("above average", AVERAGE), ("below average", AVERAGE), ("better than average", AVERAGE),
        ("You are right", SIDE), ("You're right.", SIDE), ("Good question!", LEVEL),
    ],
)  # fmt: skip
def test_text_that_other_words_change_is_not_chosen(text: str, options: dict[str, str]) -> None:
    _kind(text, options)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Good (B)", LEVEL), ("Good [B]", LEVEL), ("Good - B", LEVEL), ("B (Good)", LEVEL),
        ("B = Good", LEVEL), ("Good, option B", LEVEL), ("Good. Answer: B", LEVEL),
        ("Good\nB", LEVEL), ("The answer is Good (B)", LEVEL), ("I'd say B (Good)", LEVEL),
        ("2. Good", LEVEL), ("Noise (A)", DISTORTION), ("Motion blur (C)", DISTORTION),
        ("A is Noise", DISTORTION), ("A. Noise", DISTORTION), ("Noise = A", DISTORTION),
        ("It is on the right, A", SIDE),
    ],
)  # fmt: skip
def test_letter_against_text_is_several_options(text: str, options: dict[str, str]) -> None:
    assert _kind(text, options) == "several_options"


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Good (A)", "A"), ("A (Good)", "A"), ("B = Poor", "B"), ("Poor, option B", "B"),
        ("The answer is Fair (C)", "C"), ("2. Poor", "B"), ("It is not good, B", "B"),
        ("B because the image is not good", "B"), ("The sharpness is good. Answer: B", "B"),
    ],
)  # fmt: skip
def test_letter_with_its_own_text_is_read(text: str, letter: str) -> None:
    assert parse_option(text, LEVEL).letter == letter


@pytest.mark.parametrize(
    "text",
    [
        "Option 2", "The answer is option 2", "There are 3 of 5", "1/3", "-2", "2%", "more than 2",
        "at least 2", "no more than 3",
    ],
)  # fmt: skip
def test_numbers_that_are_something_else_choose_no_number(text: str) -> None:
    _kind(text, NUMBER)


@pytest.mark.parametrize(
    ("text", "letter"),
    [("2", "B"), ("Two", "B"), ("two.", "B"), ("There are 2 blurry areas", "B"), ("B. 2", "B"),
     ("More than 3", "D"), ("Answer: 3", "C")],
)  # fmt: skip
def test_numbers_that_are_options_are_read(text: str, letter: str) -> None:
    assert parse_option(text, NUMBER).letter == letter


@pytest.mark.parametrize("text", ["-1", "C++", "C#", "B+", "A-", "3%", "+2", ".5"])
def test_marks_beside_a_letter_or_number_make_another_of_it(text: str) -> None:
    _kind(text, LEVEL)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("N/A", "no_option"),
        ("n/a.", "no_option"),
        ("A B", "several_options"),
        ("A to C", "several_options"),
        ("B. or C.", "several_options"),
        ("I'm sorry, I can't. A", "refusal"),
    ],
)
def test_letters_among_letters_and_no_answer_at_all_choose_nothing(text: str, kind: str) -> None:
    with pytest.raises(NotRead) as caught:
        parse_option(text, {"A": "blurry", "B": "sharp", "C": "noisy"})
    assert caught.value.kind == kind
