"""Attempts as views are shown them, and the panes that come of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from vgen_eval.imaging import Image
from vgen_eval.testing.panes import fault_of_panes
from vgen_eval.types import AnswerForm, Prediction, Sample, Scene
from vgen_eval.viewing import Pane, Seen, View

__all__ = ["panes_of", "roles"]


def panes_of(
    view: View,
    pred: Any,
    target: Any,
    *,
    size: tuple[int, int],
    valid: Any = None,
    metrics: Mapping[str, Any] = {},
    form: AnswerForm = "image",
    answer: Any = None,
    summary: Mapping[str, Any] = {},
    substitute: bool = False,
    seen_size: tuple[int, int] | None = None,
) -> Sequence[Pane]:
    """The panes of one attempt, held to the contract; `pred` None where nothing was scored."""
    photo = Image(np.zeros((*size, 3), np.uint8))
    shown = photo if seen_size is None else Image(np.zeros((*seen_size, 3), np.uint8))
    seen = Seen(
        sample=Sample(id="a", group="a", images=(photo,), target=target, valid=valid),
        scene=Scene(image=shown, size=size), form=form, answer=answer,
        prediction=None if pred is None else Prediction(value=pred, summary=summary),
        substitute=substitute, score={"status": "ok"}, metrics=metrics,
    )  # fmt: skip
    panes = view.panes(seen)
    assert fault_of_panes(panes, size) == ""
    return panes


def roles(panes: Sequence[Pane]) -> list[str]:
    """What the panes are of, in their order."""
    return [pane.role for pane in panes]
