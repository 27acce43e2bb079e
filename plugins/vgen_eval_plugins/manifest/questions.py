"""What a manifest's questions and scores must be: options apart, one of them right, numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from vgen_eval_plugins.datasets.question_records import find_right
from vgen_eval_plugins.manifest.options import Scores
from vgen_eval_plugins.parsing.texts import same_text
from vgen_eval_plugins.quality.perception.targets import LETTERS

__all__ = ["FEWEST", "faults_of_choice", "faults_of_score", "find_right"]

FEWEST = 2
"""Options of a question."""
SHOWN = 80

Faults = list[tuple[str, str]]
"""Field and what is wrong with it."""


def faults_of_choice(options: Sequence[str] | None, right: str | None, *, needed: bool) -> Faults:
    """What is wrong with options and the right one of them; `needed`: must there be any?"""
    if options is None:
        return [("options", "a choice needs the options that it is one of")] if needed else []
    faults: Faults = []
    if not FEWEST <= len(options) <= len(LETTERS):
        faults.append(("options", f"{len(options)} options, {FEWEST} to {len(LETTERS)} are wanted"))
    if not all(text.strip() for text in options):
        faults.append(("options", "an option is empty"))
    faults += (
        ("options", f"two options are the same: '{_cut(other)}' and '{_cut(text)}'")
        for at, text in enumerate(options)
        for other in options[:at]
        if text.strip() and same_text(text, other)
    )
    if right is not None and not faults and find_right(right, options) is None:
        listed = ", ".join(f"'{_cut(text)}'" for text in options)
        faults.append(("choice", f"'{_cut(right)}' is none of the options: {listed}"))
    return faults


def faults_of_score(score: float, scale: Scores) -> Faults:
    """What is wrong with a score on a scale."""
    if not math.isfinite(score):
        return [("score", f"{score} is no number")]
    low, high = scale.low, scale.high
    if (low is not None and score < low) or (high is not None and score > high):
        ends = f"{'...' if low is None else f'{low:g}'} to {'...' if high is None else f'{high:g}'}"
        return [("score", f"{score:g} lies outside of the scale, {ends}")]
    return []


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
