"""Commands on pages: what a shell makes of them is what was meant."""

from __future__ import annotations

import subprocess

import pytest
from vgen_eval.viewer.pages.commands import quote, report_command
from vgen_eval.viewer.records import RunRow

WORDS = [
    "plain",
    "two words",
    "it's",
    "$(touch x)",
    "a\nb",
    "\u202etxt.exe\u202c \u0007",
    "naïve — 北京",
]


@pytest.mark.parametrize("word", WORDS)
def test_a_shell_reads_the_word_again(word: str) -> None:
    script = f"LC_ALL=C.UTF-8; printf %s {quote(word)}"
    told = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    assert told.stdout.decode() == word
    assert quote(word).isprintable()


def test_the_results_folder_is_named_where_it_is_not_the_usual_one() -> None:
    run = RunRow(
        key="0" * 14, path="runs/m/t/1", state="complete", task="t@standard", model="m",
    )  # fmt: skip
    assert report_command([run], results="results", sample="a/b c", attempt=2) == (
        "vgen-eval report runs/m/t/1 --task t@standard --sample 'a/b c' --attempt 2 -o a-b-c.html"
    )
    assert report_command([run, run], results="other one", anyway=True) == (
        "vgen-eval report runs/m/t/1 runs/m/t/1 --output 'other one' --task t@standard --anyway "
        "-o comparison.html"
    )
