"""Bars around the input belong to no answer: they raise no flag and hide none, in any family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import vgen_eval
from vgen_eval import Request

TASKS = ("depth@standard", "depth@metric", "normals@standard", "semantic@standard", "referring")


@pytest.mark.parametrize("pad", [[0, 0, 0], [255, 0, 255]])
@pytest.mark.parametrize("task", TASKS)
def test_a_perfect_answer_between_bars_carries_no_flag(
    task: str, pad: list[int], tmp_path: Path
) -> None:
    overrides = {
        "protocol.input.size": [128, 256],
        "protocol.input.fit": "letterbox",
        "protocol.input.pad": pad,
    }
    (card,) = vgen_eval.evaluate(
        tasks=f"samples/{task}",
        model="oracle",
        bounds=False,
        limit=6,
        set=overrides,
        output=str(tmp_path),
    )
    assert card.counts.answered == 6
    assert set(card.counts.flags) <= {"degenerate_fit"}


@pytest.mark.parametrize("task", ["depth@standard", "normals@standard", "referring"])
def test_a_flat_answer_between_bars_is_flagged(task: str, tmp_path: Path) -> None:
    def flat_inside(request: Request) -> Any:
        answer = request.images[0].array.copy()
        answer[:, 44:212] = 90  # 420x320 pixels at a height of 128
        return answer

    (card,) = vgen_eval.evaluate(
        tasks=f"samples/{task}",
        model=flat_inside,
        forms=["image"],
        bounds=False,
        samples=["scene-balls-striped" if task == "referring" else "scene-balls"],
        set={"protocol.input.size": [128, 256], "protocol.input.fit": "letterbox"},
        output=str(tmp_path),
    )
    assert card.counts.flags.get("constant") == card.counts.answered == 1
