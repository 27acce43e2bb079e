"""What `check judge` found, as one document; no numpy here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from vgen_eval.statistics.records import Interval

__all__ = ["AS_MADE", "Measured", "Row", "SettingFacts", "Trust"]

AS_MADE = "as made"
"""The variant of a row whose judge was not replayed."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """One measure of agreement."""

    name: str
    value: float | None
    interval: Interval | None = None
    """95 %, whole groups of samples resampled; None where it has none by its nature."""
    reason: str | None = None
    """Why there is no value."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """The measures of one way of judging, over all of the answers or a part."""

    setting: str
    """Which runs: the label of a setting."""
    variant: str
    """`AS_MADE`; rounds=3, or the name of a preset, where the judge was replayed so."""
    subset: str
    """all, or tag=value."""
    n: int
    """Answers, or pairs of them, of which both people and the judge say something."""
    missing: int
    """Of which people do alone: not answered, or not judged."""
    measures: tuple[Measured, ...] = ()
    reason: str | None = None
    """Why nothing was measured."""

    def measure(self, name: str) -> Measured | None:
        """The measure of that name; None where the row has none."""
        return next((one for one in self.measures if one.name == name), None)


class SettingFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Runs whose answers were judged alike."""

    label: str
    protocol: str
    judge: str | None
    """How it was judged; None: metrics measured alone."""
    version: int | None
    model: str | None
    """Who was asked."""
    options: Mapping[str, Any]
    preset: str | None
    """The judge's own name for its options."""
    runs: Mapping[str, str]
    """Run -> the model whose answers it holds."""


class Trust(msgspec.Struct, frozen=True, kw_only=True):
    """How far a judge goes with people."""

    task: str
    value: str
    higher_is_better: bool
    kind: Literal["labels", "preferences"]
    human: Mapping[str, Any]
    """File, digest, and how many of what it holds: pairs said, contradictions, cycles, ..."""
    tie_band: float | None
    """Of preferences: smaller differences are ties."""
    categories: tuple[float, ...] = ()
    """Of labels: what they may be; the judge's numbers are read as the nearest of these."""
    settings: tuple[SettingFacts, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
