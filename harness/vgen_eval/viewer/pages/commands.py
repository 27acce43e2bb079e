"""Commands that write what a page shows into one file, ready to be copied into a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from vgen_eval.viewer.records import RunRow

__all__ = ["HOME", "quote", "report_command"]

HOME = "results"
"""Where commands look for runs unless they are told otherwise."""
LONGEST_NAME = 60


def report_command(
    runs: Sequence[RunRow], *, results: str, sample: str = "", attempt: int = 1,
    anyway: bool = False,
) -> str:  # fmt: skip
    """`vgen-eval report` of these runs, of one sample where it is named.

    It is to be run in the folder above the results folder, whose name is `results`.
    """
    words = ["vgen-eval", "report", *(run.path for run in runs)]
    if results != HOME:
        words += ["--output", results]
    if runs and runs[0].task:
        words += ["--task", runs[0].task]
    if sample:
        words += ["--sample", sample]
    if attempt > 1:
        words += ["--attempt", str(attempt)]
    if anyway:
        words.append("--anyway")
    words += ["-o", f"{_file_name(sample) or 'comparison'}.html"]
    return " ".join(map(quote, words))


def quote(word: str) -> str:
    """For bash and zsh: characters that cannot be seen are written by their numbers."""
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(_escape(char) for char in word) + "'"


def _escape(char: str) -> str:
    if char in "\\'":
        return f"\\{char}"
    return char if char.isprintable() else f"\\U{ord(char):08x}"


def _file_name(sample: str) -> str:
    """Of an id what is safe in a file's name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", sample).strip("-.")[:LONGEST_NAME]
