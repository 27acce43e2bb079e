"""Counts and exceptions in words; and that no message of the harness counts by itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
import vgen_eval
from vgen_eval.wording import describe, is_opencv, part_of, plural

HARNESS = Path(vgen_eval.__file__).parent
NOUNS = (
    "answers", "attempts", "calls", "characters", "checks", "classes", "entries", "faults",
    "files", "groups", "models", "pairs", "pictures", "points", "problems", "requests", "runs",
    "samples", "tasks", "tokens", "tries",
)  # fmt: skip
LEFT = {
    "cli/finding.py: {len(found)} runs",  # several, always: what would be one is no fault
    "cli/show.py: {len(runs)} runs",
    "cli/ablate_table.py: {len(labels)} runs",
    "results/figures/chosen.py: {len(tasks)} tasks",
    "results/figures/chosen.py: {card.answer} answers",  # which answers, not how many
    "results/markdown.py: {beside} calls",
    "results/markdown.py: {took['calls_per_minute']} calls",  # a rate, seldom whole
    "cards/problems.py: {MAX_PROBLEMS} problems",
    "testing/check_task.py: {count} samples",
}


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 samples"), (1, "1 sample"), (2, "2 samples"), (1154, "1,154 samples")],
)
def test_one_is_singular_and_thousands_are_grouped(count: int, words: str) -> None:
    assert plural(count, "sample") == words


def test_a_plural_may_be_more_than_an_s() -> None:
    assert [plural(n, "try", "tries") for n in (1, 3)] == ["1 try", "3 tries"]


def test_a_part_names_the_whole_and_the_whole_does_not() -> None:
    assert part_of(1, 654, "sample") == "1 of 654 samples"
    assert part_of(654, 654, "sample") == "654 samples"
    assert part_of(0, 1, "sample") == "0 of 1 sample"


def counted() -> Iterator[str]:
    """ "file: {expression} noun" of every f-string that sets a plural behind a number."""
    word = re.compile(rf" ({'|'.join(NOUNS)})\b")
    for path in sorted(HARNESS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.JoinedStr):
                continue
            for value, text in zip(node.values, node.values[1:], strict=False):
                if not isinstance(value, ast.FormattedValue) or not isinstance(text, ast.Constant):
                    continue
                found = word.match(str(text.value))
                if found:
                    name = path.relative_to(HARNESS).as_posix()
                    yield f"{name}: {{{ast.unparse(value.value)}}} {found[1]}"


def test_no_message_sets_a_plural_behind_a_number_by_itself() -> None:
    assert set(counted()) - LEFT == set()


# --- exceptions


def test_an_exception_is_its_class_and_its_message_on_one_line() -> None:
    assert describe(ValueError("a\n  b")) == "ValueError: a b"
    assert describe(KeyError()) == "KeyError"


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (
            lambda: cv2.distanceTransform(np.zeros((3, 3, 3), np.uint8), 2, 3),
            "OpenCV's distanceTransform cannot take this: src.type() == CV_8UC1",
        ),
        (lambda: cv2.resize("a", (2, 2)), "OpenCV's resize cannot take this: src is not a numpy"),
    ],
)
def test_what_opencv_raises_names_no_line_of_its_sources(action: object, words: str) -> None:
    with pytest.raises(cv2.error) as caught:
        action()  # type: ignore[operator]
    assert is_opencv(caught.value)
    told = describe(caught.value)
    assert told.startswith(words)
    assert "error:" not in told
    assert ".cpp" not in told
