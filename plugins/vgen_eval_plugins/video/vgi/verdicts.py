"""From one or several judgings to a verdict, and what is written down of it for people."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from vgen_eval.types import Prediction

from vgen_eval_plugins.video.vgi.film import Seen
from vgen_eval_plugins.video.vgi.judge_options import Options
from vgen_eval_plugins.video.vgi.marks import final_score, is_success
from vgen_eval_plugins.video.vgi.records import VgiVerdict
from vgen_eval_plugins.video.vgi.replies import Comment, Looked

__all__ = [
    "FIRST",
    "Judging",
    "Noted",
    "make_verdict",
    "mean_of",
    "summarise",
    "tell",
    "tell_comment",
]

FIRST = "window"
"""Questions of the first look begin so."""
SHOWN_COMMENTS = 40
SHOWN_CHARACTERS = 300


class Noted(msgspec.Struct, frozen=True):
    """What came of one window, with what it showed."""

    name: str
    frames: tuple[Seen, ...]
    looked: Looked


class Judging(msgspec.Struct, frozen=True):
    """One whole judging of an answer."""

    verdict: VgiVerdict
    flags: tuple[str, ...]
    summary: Mapping[str, Any]


def make_verdict(
    options: Options,
    rubric: float | None,
    completeness: float | None,
    violations: tuple[int, ...],
    *,
    labels: tuple[tuple[str, ...], ...] = (),
    is_open: bool = False,
) -> VgiVerdict:
    """The verdict of one judging. `is_open`: something of it failed, so success is unknown."""
    final: float | None = None
    if options.preset == "rubric_only":
        final = rubric
    elif options.preset == "completeness_only":
        final = completeness
    elif rubric is not None and completeness is not None:
        final = final_score(rubric, completeness, options.rounding)
    scores = [score for score in (rubric, completeness) if score is not None]
    return VgiVerdict(
        rubric=rubric,
        completeness=completeness,
        final=final,
        success=is_success(*scores) if scores and not is_open else None,
        violations=violations,
        labels=labels,
    )


def summarise(
    verdict: VgiVerdict, noted: Sequence[Noted], failed: Sequence[str]
) -> Mapping[str, Any]:
    """A judging for people: numbers, windows, nominations, comments, the first of many."""
    told = [
        tell_comment(entry.name, comment) for entry in noted for comment in entry.looked.comments
    ]
    first = [entry for entry in noted if entry.name.startswith(FIRST)]
    summary: dict[str, Any] = {
        "rubric": verdict.rubric,
        "completeness": verdict.completeness,
        "final": verdict.final,
        "success": verdict.success,
        "violations": list(verdict.violations),
        "windows": {entry.name: len(entry.frames) for entry in noted},
        "nominated": sorted({label for entry in first for label in entry.looked.nominated}),
        "comments": told[:SHOWN_COMMENTS],
    }
    if len(told) > SHOWN_COMMENTS:
        summary["comments_left_out"] = len(told) - SHOWN_COMMENTS
    if failed:
        summary["failed"] = [what[:SHOWN_CHARACTERS] for what in failed[:SHOWN_COMMENTS]]
    if verdict.labels:
        summary["labels"] = [list(kinds) for kinds in verdict.labels]
    return summary


def tell_comment(window: str, comment: Comment) -> str:
    """A comment as the summary has it: cut where it is long."""
    return f"{window}: {_name_frames(comment.frames)}{comment.text}"[:SHOWN_CHARACTERS]


def tell(noted: Noted) -> str:
    """A window's comments, with its frames and their times, for whoever counts."""
    first, last = noted.frames[0], noted.frames[-1]
    times = {seen.label: seen.time for seen in reversed(noted.frames)}
    head = (
        f"[{noted.name}] frames {first.label} to {last.label}, "
        f"{first.time:.3f} to {last.time:.3f} s:"
    )
    lines = [
        f"- {_name_frames(comment.frames, times)}{comment.text}"
        for comment in noted.looked.comments
    ]
    return "\n".join([head, *(lines or ["- (no comment)"])])


def _name_frames(frames: Sequence[int], times: Mapping[int, float] | None = None) -> str:
    if not frames:
        return ""
    numbers = f"frames {', '.join(map(str, frames))}"
    if times is None:
        return f"{numbers}: "
    return f"{numbers} ({times[frames[0]]:.3f} to {times[frames[-1]]:.3f} s): "


def mean_of(judgings: Sequence[Judging]) -> Prediction:
    """One verdict of several: means; success only where all of them say so."""
    if len(judgings) == 1:
        (one,) = judgings
        return Prediction(value=one.verdict, flags=one.flags, summary=one.summary)
    verdicts = [judging.verdict for judging in judgings]
    successes = [verdict.success for verdict in verdicts]
    finals = [verdict.final for verdict in verdicts if verdict.final is not None]
    verdict = VgiVerdict(
        rubric=_mean([verdict.rubric for verdict in verdicts]),
        completeness=_mean([verdict.completeness for verdict in verdicts]),
        final=_mean([verdict.final for verdict in verdicts]),
        success=None if None in successes else all(successes),
        violations=verdicts[0].violations,
        labels=verdicts[0].labels,
    )
    summary = {
        "rubric": verdict.rubric,
        "completeness": verdict.completeness,
        "final": verdict.final,
        "final_spread": statistics.stdev(finals) if len(finals) > 1 else None,
        "success": verdict.success,
        "judgings": [judging.summary for judging in judgings],
    }
    flags = dict.fromkeys(flag for judging in judgings for flag in judging.flags)
    return Prediction(value=verdict, flags=tuple(flags), summary=summary)


def _mean(numbers: Sequence[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return math.fsum(known) / len(known) if known else None
