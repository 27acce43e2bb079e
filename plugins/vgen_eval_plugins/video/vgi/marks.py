"""From counts of violations and a tier to VGI-Bench's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

__all__ = ["TIERS", "Rounding", "final_score", "is_success", "rubric_score"]

TIERS = (0.0, 0.5, 1.0)
"""Completeness by tier."""
EXACT = 1e-9
DIGITS = 4

Rounding = Literal["none", "twice"]
"""twice: the rubric score to 4 decimals, then its product with completeness, as the original."""


def rubric_score(violations: Sequence[int], rounding: Rounding) -> float:
    """Mean of 1 / (x + 1); 0 for a checklist without entries (VGI-Bench, section 4)."""
    if not violations:
        return 0.0
    score = sum(1 / (count + 1) for count in violations) / len(violations)
    return round(score, DIGITS) if rounding == "twice" else score


def final_score(rubric: float, completeness: float, rounding: Rounding) -> float:
    """Their product."""
    product = rubric * completeness
    return round(product, DIGITS) if rounding == "twice" else product


def is_success(*scores: float) -> bool:
    """Is each exactly 1?"""
    return all(abs(score - 1) <= EXACT for score in scores)
