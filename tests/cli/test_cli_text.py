"""Columns, cleaned text, numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vgen_eval.cli.card_text import card_lines
from vgen_eval.cli.numbers import duration, interval, number, size
from vgen_eval.cli.terminal import clean, clip, layout
from vgen_eval.statistics import Interval


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("plain", "plain"),
        ("two\nlines\tand a tab", "two lines and a tab"),
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("a\u202egnp.exe", "agnp.exe"),
        ("caf\u00e9 \u65e5\u672c", "caf\u00e9 \u65e5\u672c"),
        ("\x9b2J\x00", "2J"),
    ],
)
def test_control_characters_do_not_reach_the_terminal(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@given(st.text())
def test_cleaned_text_is_one_line_without_escapes(text: str) -> None:
    cleaned = clean(text)
    assert len(cleaned.splitlines()) <= 1
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in cleaned)
    assert clean(cleaned) == cleaned


def test_columns_are_aligned_and_empty_ones_take_no_room() -> None:
    rows = [["name", "", "n"], ["a", "", "1"], ["longer", "", "1,000"]]
    assert layout(rows, right="llr", indent=" ") == [
        " name         n",
        " a            1",
        " longer   1,000",
    ]


def test_wide_characters_count_twice() -> None:
    assert layout([["\u65e5\u672c", "x"], ["abcd", "y"]]) == ["\u65e5\u672c   x", "abcd   y"]
    assert clip("\u65e5\u672c\u8a9e", 5) == "\u65e5..."
    assert clip("short", 5) == "short"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"), (0.0, "0"), (0.7123, "0.712"), (31.24, "31.2"), (0.998, "0.998"),
        (2.1, "2.1"), (1234.5, "1,234"), (0.00002, "2.0e-05"), (-0.5, "-0.5"),
    ],
)  # fmt: skip
def test_numbers_have_three_figures(value: float | None, text: str) -> None:
    assert number(value) == text


def test_an_interval_that_is_not_there_is_empty() -> None:
    assert interval(Interval(clusters=3, reason="fewer than 10 groups")) == ""
    assert interval(Interval(low=0.1234, high=2.0, clusters=30)) == "[0.123, 2]"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (6.0, "6.0 s"), (59.6, "1 min"), (200, "3 min 20 s"), (11400, "3 h 10 min")],
)
def test_durations_are_read_at_a_glance(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_sizes_use_units_of_a_thousand() -> None:
    assert [size(n) for n in (0, 999, 1500, 2.5e9, 3e12)] == [
        "0 B", "999 B", "1.5 kB", "2.5 GB", "3 TB",
    ]  # fmt: skip


# --- what is wider than the terminal


def test_a_last_column_of_text_goes_on_below_itself() -> None:
    rows = [["name", "what"], ["a", "one two three four five six seven"], ["bb", "short"]]
    assert layout(rows, columns=31) == [
        "name   what",
        "a      one two three four five",
        "       six seven",
        "bb     short",
    ]


def test_columns_that_do_not_fit_stand_below_and_a_value_stays_with_its_name() -> None:
    rows = [
        ["task", "model", "score", "", "ceiling"],
        ["samples/counting", "classical", "mae", "12.2", "0"],
        ["samples/depth", "copy", "delta1", "0.459", "1"],
    ]
    assert layout(rows, right="lllrr", indent="  ", columns=44) == [
        "  task               model",
        "      score            ceiling",
        "  samples/counting   classical",
        "      mae       12.2         0",
        "  samples/depth      copy",
        "      delta1   0.459         1",
    ]
    assert len(layout(rows, right="lllrr", indent="  ")) == 3


@pytest.mark.parametrize("columns", [20, 40, 60, 79, 120])
def test_folding_loses_no_word(columns: int) -> None:
    rows = [
        ["run", "model", "task", "state", "what it is"],
        ["0d6d6ab50e74", "a-model", "samples/counting@standard", "complete", "words " * 12],
        ["0d6d6ab50e75", "another-model", "samples/depth@standard", "incomplete", "x"],
    ]
    folded = layout(rows, columns=columns)
    assert sorted(" ".join(folded).split()) == sorted(word for row in rows for c in row
                                                      for word in c.split())  # fmt: skip
    if columns >= 40:
        assert max(map(len, folded)) <= columns


def test_a_card_reads_without_the_marks_of_markdown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text = (
        "# a task: model\n\n**mae = 1.5**\n\n| name | n |\n|---|---|\n| a\\|b &lt;c | 3 |\n"
        "| d | 12 |\n\n> a quoted line that is longer than the terminal is\n- run: `x`  \n"
    )
    assert list(card_lines(text)) == [
        "a task: model", "", "mae = 1.5", "", "  name      n", "  a|b <c    3", "  d        12",
        "", "  a quoted line that is longer than the", "  terminal is", "- run: x",
    ]  # fmt: skip
