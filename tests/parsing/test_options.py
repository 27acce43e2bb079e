"""The option of a closed question is read where an answer chooses it, and refused elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vgen_eval_plugins.parsing.faults import NotRead
from vgen_eval_plugins.parsing.options import parse_option

BLUR = {"A": "very blurry", "B": "blurry", "C": "sharp", "D": "very sharp"}
YES_NO = {"A": "Yes", "B": "No"}
NUMBERS = {"A": "2", "B": "1", "C": "3"}
NONE_LAST = {"A": "noise", "B": "blur", "C": "Both", "D": "None of the above"}

# answers that harnesses are known to have misread: a letter taken from stray words
MISREAD = [
    ("B.", "B"), ("(b) blurry", "B"), ("Both A and B", None), ("None of the above", None),
    ("Don't know", None), ("**A**", "A"), ("ANSWER: $A$", "A"),
    ("The answer is B because a car moves.", "B"), ("A blurry image, so the answer is C", "C"),
    ("Antwort: C", "C"), ("I would not say A; the answer is D.", "D"), ("c", "C"), ("E", None),
    ("", None), ("very sharp", "D"), ("I cannot view the image.", None),
]  # fmt: skip

CHOSEN = [
    # letters alone and in marks
    ("A", "A"), ("a", "A"), (" d\n", "D"), ("B)", "B"), ("(B)", "B"), ("[B]", "B"), ("`B`", "B"),
    ('"B"', "B"), ("# B", "B"), ("__B__", "B"), ("\uff22", "B"), ("\uff08\uff22\uff09", "B"),
    ("\\boxed{B}", "B"), ("My final answer is $\\boxed{\\text{B}}$.", "B"), ("[[C]]", "C"),
    ("<answer>b</answer>", "B"), ("<answer>\nThe answer is B.", "B"), ("Option D", "D"),
    ("<|im_start|>B<|im_end|>", "B"), ("B\u200b", "B"), ("\x00B\x00", "B"), ("Sure! B", "B"),
    # a letter with its text
    ("B. blurry", "B"), ("B: blurry", "B"), ("B - blurry", "B"), ("B) Blurry.", "B"),
    ("Answer: B. blurry", "B"), ("My answer is **B**: blurry", "B"), ("(D) very sharp", "D"),
    # texts
    ("blurry", "B"), ("Very Blurry.", "A"), ("The answer is very blurry", "A"),
    ("The answer is blurry.", "B"), ("The answer is: 'sharp'", "C"), ("It is a blurry image.", "B"),
    ("I think the image is blurry.", "B"), ("The image is blurry, not sharp.", "B"),
    ("a blurry image", "B"), ("Answer: A blurry photo", "B"), ("I choose a sharp image", "C"),
    # statements
    ("The answer to this question is: (D) very sharp", "D"), ("I'd go with C", "C"),
    ("Between B and C, I choose B", "B"), ("It could be A or B, but I'd go with B.", "B"),
    ("The answer is not A but B.", "B"), ("The correct answer is:\n**B. blurry**", "B"),
    ("Question: How?\nA. very blurry\nB. blurry\nC. sharp\nD. very sharp\nAnswer: C", "C"),
    ("Option B is correct", "B"), ("B is the correct answer.", "B"), ("I choose A", "A"),
    ("The best answer choice would be C, since A and B say blurry.", "C"), ("It is C.", "C"),
    ("The correct option is: 'B'", "B"), ("It's definitely B!", "B"), ("Answer -> B", "B"),
    ("B is not correct, A is wrong, so C", "C"), ("I'm not sure, but the answer is B", "B"),
    ("Let me think. A is too strong. B fits.\n\nFinal answer: B", "B"),
    ("The answer might be A. No. FINAL ANSWER: **D**", "D"),
    # lines
    ("B\n\nThe image is out of focus, so A and C are wrong.", "B"),
    ("The image is out of focus, so A is too strong.\n\nB", "B"),
    ("B. The picture lacks detail.", "B"), ("A: wrong\nB: correct", "B"),
    ("A. very blurry B. blurry\nAnswer: B", "B"),
    # places
    ("2", "B"), ("Option 3", "C"), ("the second option", "B"), ("I choose the fourth one", "D"),
    # reasoning
    ("<think>A? No, B</think>\n\nC", "C"), ("A or B...</think> D", "D"),
    ("<think>The answer is A.</think>The answer is B.", "B"),
    # JSON
    ('{"answer": "B"}', "B"), ('```json\n{"choice": "b"}\n```', "B"), ('["B"]', "B"),
    ('Here: {"answer": "B. blurry", "why": "A is not"}', "B"), ('{"option": 2}', "B"),
    ("The set {} is empty. Answer: B", "B"), ('{"x": "B"}', "B"), ('{"answer": ["B"]}', "B"),
    # other languages
    ("Die richtige Antwort ist B", "B"), ("Antwort C", "C"), ("Lösung: D", "D"),
    ("La réponse est B.", "B"), ("La bonne réponse est la lettre C.", "C"),
    ("La respuesta correcta es la C", "C"), ("Respuesta: D", "D"), ("La risposta è D", "D"),
    ("Risposta corretta: B", "B"), ("A resposta é B", "B"), ("A resposta correta é a opção C", "C"),
    ("\u7b54\u6848\u662fB\u3002", "B"), ("\u7b54\u6848\uff1aC", "C"), ("\u9009B", "B"),
    ("\u6211\u9009\u62e9C\uff0c\u56e0\u4e3a\u56fe\u7247\u6e05\u6670", "C"),
    ("\u6b63\u89e3\u306fD\u3067\u3059", "D"), ("\u7b54\u3048\u306fB", "B"),
    ("\uc815\ub2f5\uc740 B\uc785\ub2c8\ub2e4", "B"), ("\ub2f5: C", "C"),
    ("\u041e\u0442\u0432\u0435\u0442: C", "C"),
    ("\u041f\u0440\u0430\u0432\u0438\u043b\u044c\u043d\u044b\u0439 "
     "\u043e\u0442\u0432\u0435\u0442 \u2014 D", "D"),
]  # fmt: skip

REFUSED = [
    ("", "empty"), (" \n", "empty"), ("<think>A? no, B", "empty"), ("<think>B</think>", "empty"),
    ('{"answer": ""}', "empty"), ("<answer></answer>", "empty"),
    ("I cannot view the image.", "refusal"), ("Don't know", "refusal"), ("No idea.", "refusal"),
    ("Sorry, I can't assist with that.", "refusal"), ("I'm not sure.", "refusal"),
    ("As an AI, I do not see pictures. (B)", "refusal"), ("Unable to determine.", "refusal"),
    ("Ich kann das Bild nicht sehen.", "refusal"), ("Je ne sais pas", "refusal"),
    ("\u62b1\u6b49\uff0c\u6211\u65e0\u6cd5\u67e5\u770b", "refusal"),
    ("Both A and B", "several_options"), ("The answer is A or B", "several_options"),
    ("Answer: B, C", "several_options"), ("Answer: B/C", "several_options"),
    ("B and C", "several_options"), ("sharp and blurry", "several_options"),
    ("C. sharp and D. very sharp", "several_options"), ("B is sharper than A", "several_options"),
    ("Answer: (A) very blurry (B) blurry", "several_options"),
    ("A) very blurry\nB) blurry\nC) sharp", "several_options"), ("A: B", "several_options"),
    ("Answer: A. blurry", "several_options"), ("Both", "several_options"),
    ("All of the above", "several_options"), ("\\boxed{A} \\boxed{B}", "several_options"),
    ('{"answer": ["A", "B"]}', "several_options"), ("B\nThe answer is C.", "several_options"),
    ('{"answer": "A", "final_answer": "B"}', "several_options"),
    ("E", "extra_option"), ("The answer is E.", "extra_option"), ("E. none", "extra_option"),
    ("5", "extra_option"), ("0", "extra_option"), ("Option 7", "extra_option"),
    ("\\boxed{F}", "extra_option"), ('{"answer": "E"}', "extra_option"),
    ("None of the above", "no_option"), ("Neither", "no_option"), ("Neither A nor B", "no_option"),
    ("The image is not sharp", "no_option"), ("The image is extremely sharp", "no_option"),
    ("The image cannot be considered sharp.", "no_option"), ("Is it B?", "no_option"),
    ("The answer is not B.", "no_option"), ("I don't think the answer is B.", "no_option"),
    ("Plan B works", "no_option"), ("Vitamin C", "no_option"), ("Grade A image", "no_option"),
    ("X-ray of a C-arm", "no_option"), ("The picture is fine.", "no_option"), ("...", "no_option"),
    ("A picture of vitamin-C pills", "no_option"), ("I'm happy to help!", "no_option"),
    ("{}", "no_option"), ('{"a": 1.5}', "no_option"), ("\u0411", "no_option"), ("**", "no_option"),
    ("\u041e\u0442\u0432\u0435\u0442: \u0412", "no_option"),  # a Cyrillic letter is none of ours
]  # fmt: skip


@pytest.mark.parametrize(("text", "letter"), MISREAD)
def test_answers_once_misread_are_read_or_refused(text: str, letter: str | None) -> None:
    if letter is None:
        with pytest.raises(NotRead):
            parse_option(text, BLUR)
    else:
        assert parse_option(text, BLUR).letter == letter


@pytest.mark.parametrize(("text", "letter"), CHOSEN)
def test_chosen_option_is_read(text: str, letter: str) -> None:
    assert parse_option(text, BLUR).letter == letter


@pytest.mark.parametrize(("text", "kind"), REFUSED)
def test_what_chooses_no_one_option_is_refused_by_kind(text: str, kind: str) -> None:
    with pytest.raises(NotRead) as caught:
        parse_option(text, BLUR)
    assert caught.value.kind == kind


def test_unread_answers_are_wrong_and_counted_never_dropped() -> None:
    options = {letter: letter for letter in "ABCD"}
    answers = ["A", "I cannot see the image.", "Neither", "The picture is fine.", "B"]
    for _ in range(2):  # nothing is drawn: a second reading is the same
        read: list[str | None] = []
        for answer in answers:
            try:
                read.append(parse_option(answer, options).letter)
            except NotRead:
                read.append(None)
        assert sum(letter == "A" for letter in read) / len(answers) == 0.2
        assert read.count(None) == 3


@pytest.mark.parametrize(
    ("text", "options", "letter"),
    [
        ("Yes", YES_NO, "A"), ("no.", YES_NO, "B"), ("Yes, there is no noise.", YES_NO, "A"),
        ("No, it is not.", YES_NO, "B"), ("The answer is no.", YES_NO, "B"),
        ("**Yes** \u2014 it is blurry", YES_NO, "A"),
        ("2", NUMBERS, "A"), ("1", NUMBERS, "B"), ("The answer is 3.", NUMBERS, "C"),
        ("None of the above", NONE_LAST, "D"), ("Both", NONE_LAST, "C"), ("D", NONE_LAST, "D"),
        ("none of the above", {"A": "x1", "B": "None of the above"}, "B"),
        ("no", {"1": "yes", "2": "no"}, "2"), ("2", {"1": "yes", "2": "no"}, "2"),
        ("strong light", {"A": "Strong", "B": "Strong light"}, "B"),
        ("caf\u00e9", {"A": "cafe\u0301", "B": "bar"}, "A"), ("(a+b)", {"A": "x", "B": "a+b"}, "B"),
    ],
)  # fmt: skip
def test_options_of_every_make_are_read(text: str, options: dict[str, str], letter: str) -> None:
    assert parse_option(text, options).letter == letter


@pytest.mark.parametrize("text", ["blur", "The answer is blur", "It shows blur"])
def test_text_that_two_options_have_chooses_neither(text: str) -> None:
    with pytest.raises(NotRead, match="several options: A, B"):
        parse_option(text, {"A": "blur", "B": "Blur", "C": "noise"})


def test_text_over_a_line_break_is_read() -> None:
    assert parse_option("The answer is very\nblurry", BLUR).letter == "A"


def test_no_in_a_sentence_is_no_answer() -> None:
    with pytest.raises(NotRead):
        parse_option("There is no noise in it", YES_NO)


@pytest.mark.parametrize(
    ("text", "rule", "extracted"),
    [
        ("B.", "whole answer", "B."),
        ("The answer is B because", "stated answer", "B"),
        ("Final answer: B", "final answer", "B"),
        ('{"answer": "B"}', "json", '{"answer": "B"}'),
        ("So \\boxed{B}", "marked", "\\boxed{B}"),
        ("B. It lacks detail", "leading letter", "B. It lacks detail"),
        ("Probably (B) here", "only letter", "Probably (B) here"),
        ("I think option 2", "option number", "option 2"),
        ("It looks blurry to me", "option text", "blurry"),
    ],
)
def test_the_rule_and_the_words_read_are_kept(text: str, rule: str, extracted: str) -> None:
    parsed = parse_option(text, BLUR)
    assert (parsed.letter, parsed.rule, parsed.extracted) == ("B", rule, extracted)


def test_what_is_kept_is_short() -> None:
    assert len(parse_option("B. " + "word " * 10_000, BLUR).extracted) <= 80


_PIECES = st.sampled_from(
    ["A", "b", "(C)", "D.", "E", "the answer is ", "not ", "blurry", "very ", "\n", " ", "?", "**",
     '{"answer": ', '"', "}", "[[", "]]", "\\boxed{", "<answer>", "</think>", "both ", "and ", "1",
     "\u7b54\u6848", "\x00", "\ud83d", "\u0130", "none of ", ": ", "/", "-", "'"]
)  # fmt: skip


@given(st.one_of(st.text(max_size=300), st.lists(_PIECES, max_size=40).map("".join)))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parsed = parse_option(text, BLUR)
    except NotRead:
        return
    assert parsed.letter in BLUR
    assert parsed.rule


_TEXT = st.text(max_size=20)


@given(st.dictionaries(st.sampled_from("ABCDEF"), _TEXT, max_size=6), st.text(max_size=60))
def test_options_of_any_text_raise_nothing_else(options: dict[str, str], text: str) -> None:
    for answer in (text, *options.values(), *options):
        try:
            assert parse_option(answer, options).letter in options
        except NotRead:
            continue


@given(st.sampled_from("ABCD"), st.sampled_from(["{}", "({})", "{}.", "**{}**", "Answer: {}"]))
def test_every_letter_comes_back(letter: str, form: str) -> None:
    assert parse_option(form.format(letter), BLUR).letter == letter
