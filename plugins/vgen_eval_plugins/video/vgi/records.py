"""What VGI-Bench's judges are told of an instance, and what they say of an answer."""

from __future__ import annotations

import msgspec
from vgen_eval.imaging import Image

__all__ = ["FAILURE_LABELS", "VgiTruth", "VgiVerdict"]

FAILURE_LABELS = ("physical_collapse", "rule_violation", "state_inconsistency")
"""Kinds of violation: the scene falls apart or defies physics; a rule of the task is broken; an
object or a state changes without cause."""


class VgiTruth(msgspec.Struct, frozen=True, kw_only=True):
    """One instance as its judge knows it."""

    task: str
    domain: str
    goal: str
    """What is to be achieved: the rubric's first entry, else the prompt."""
    checklist: tuple[str, ...] = ()
    """What has to hold on the way, counted from 1. None: there is no rubric, its score is 0."""
    tiers: str = ""
    """The task's own words for the tiers of completeness; none: the judge's general ones."""
    answer: str = ""
    """The rubric's answer, where it has one."""
    gt_text: str = ""
    """The user's own description of the solution."""
    gt_image: Image | None = None
    """The user's own picture of the solution."""


class VgiVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge makes of an answer; None where it came to nothing."""

    rubric: float | None
    """Mean of 1 / (violations + 1) over the checklist, 0..1."""
    completeness: float | None
    """0, 0.5 or 1."""
    final: float | None
    """Their product, 0..1."""
    success: bool | None
    """Are both exactly 1?"""
    violations: tuple[int, ...] = ()
    """Distinct violations of each entry of the checklist."""
    labels: tuple[tuple[str, ...], ...] = ()
    """Of each entry's violations the kinds, where the judge was asked for them."""
