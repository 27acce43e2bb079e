"""What the viewer shows of a sample: both brightnesses on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from vgen_eval.viewing import Bar, Bars, Pane, Seen

__all__ = ["BrightnessView"]


class BrightnessView:
    """Two bars in grey levels: how bright the picture is, and how bright it was said to be."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "brightness"

    def panes(self, seen: Seen) -> Sequence[Pane]:
        """One pane; the truth alone where nothing was scored."""
        bars = [Bar(label="truth", value=float(seen.sample.target), right=True)]
        if seen.prediction is not None:
            label = "failure value" if seen.substitute else "answer"
            bars.append(Bar(label=label, value=float(seen.prediction.value), chosen=True))
        return [
            Pane(
                role="prediction",
                title="brightness",
                body=Bars(bars=tuple(bars), high=255.0, unit="levels"),
            )
        ]
