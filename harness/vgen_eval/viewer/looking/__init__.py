"""One attempt at one sample, opened from a run's files and made into panes."""

from __future__ import annotations

from vgen_eval.viewer.looking.looker import Looker
from vgen_eval.viewer.looking.records import Frame, Look, Shown

__all__ = ["Frame", "Look", "Looker", "Shown"]
