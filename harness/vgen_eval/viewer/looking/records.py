"""What a page shows of one attempt: panes with their places, notices, the lines of the run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from vgen_eval.viewing import Pane, Picture

__all__ = ["LAYERS", "Frame", "Look", "Shown"]

Frame = tuple[float, float, float, float]
"""(left, top, width, height) in a pane's own 0..1: the part that shows the original picture."""

LAYERS: Mapping[str, tuple[str, ...]] = {
    "": ("prediction", "answer", "error", "input"),
    "input": ("input",),
    "answer": ("answer", "prediction", "input"),
    "prediction": ("prediction", "answer", "input"),
    "target": ("target", "input"),
    "error": ("error", "prediction", "answer", "input"),
    "detail": ("detail", "prediction", "answer", "input"),
}
"""Layer that was asked for -> roles in the order in which they are tried."""


class Shown(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A pane under a name, with its size and its place on the original."""

    name: str
    """Its role, numbered from the second of a role on: input, input-2, answer, prediction."""
    pane: Pane
    key: str
    """sha256 over what it shows, the ends of its colours and the drawing's version."""
    width: int = 0
    height: int = 0
    """Pixels of its own grid; 0 for words and bars."""
    frame: Frame | None = None
    """The part of it that shows the original; None: not known, it is out of step."""
    spread: tuple[float, float] | None = None
    """Of a map of numbers: 2nd and 98th percentile of what is finite (of |value|, with minus
    before the first, for a diverging map; 0 and the 98th for an error); None: nothing is."""


class Look(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """One attempt at one sample, ready to be drawn."""

    run: Path
    """The run's directory."""
    sample: str
    attempt: int
    """From 0."""
    attempts: int
    """How many the run asks for."""
    panes: tuple[Shown, ...] = ()
    """Inputs first, then the raw answer, then what the view shows."""
    notices: tuple[str, ...] = ()
    """What could not be shown and why, with the cure: a line each."""
    prompt: str | None = None
    """As the model was asked; None where the data is not here or the model is asked nothing."""
    line: Mapping[str, Any] | None = None
    """Its line of predictions.jsonl; None: not answered yet."""
    score: Mapping[str, Any] | None = None
    """Its score line; None: not scored yet."""
    judgements: tuple[Mapping[str, Any], ...] = ()
    """The judge's replies, in the order in which they came."""
    facts: Mapping[str, Any] = {}
    """For people. Always: `status` (the score's, else the answer's, else `not_run`), `reason`
    (""), `fault` (""), `flags` (tuple), `form`, `values` (Mapping name -> number or None), `files`
    (tuple of mappings `name`, `sha256`, `bytes`: raw files by digest). Where known: `text` (words
    beside the answer or in its place), `asked` (the sample's question or phrase), `thinking`,
    `usage`, `cost_usd`, `seconds`, `tries`, `finished`, `cached`, `source`, `seed`, `request`,
    `geometry`, `kind` (of a fault),
    `prompt_template`, `summary` (what the score line says of the prediction), `substitute`,
    `answer_status` (of the answer, where the score's is another), and what the service reports."""
    lost: str = ""
    """Of an answer whose file cannot be used: "file missing", "changed since scoring"; else ""."""
    complete: bool = True
    """Is all of it here that there is to show? Not, where the data or a view is missing."""

    def find(self, name: str) -> Shown | None:
        """The pane of that name; None where there is none."""
        return next((shown for shown in self.panes if shown.name == name), None)

    def of_role(self, role: str) -> tuple[Shown, ...]:
        """The panes of a role."""
        return tuple(shown for shown in self.panes if shown.pane.role == role)

    def layer(self, asked: str) -> Shown | None:
        """The pane that a thumbnail of that layer shows: a role, or what comes nearest."""
        for role in LAYERS.get(asked, LAYERS[""]):
            found = self.of_role(role)
            if found:
                return found[0]
        return self.panes[0] if self.panes else None

    @property
    def picture(self) -> Shown | None:
        """The first input: what overlays and marks lie on."""
        inputs = self.of_role("input")
        return inputs[0] if inputs and isinstance(inputs[0].pane.body, Picture) else None

    @property
    def key(self) -> str:
        """Changes when any pane does."""
        import hashlib

        return hashlib.sha256("".join(shown.key for shown in self.panes).encode()).hexdigest()
