"""The model that fails on purpose: counts by status are exactly what its plan says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import kit
import pytest
import vgen_eval
from vgen_eval_plugins.baselines.flaky import KINDS, kind_of

ALWAYS = {
    "ok": "ok", "transient": "ok", "rate_limited": "ok", "hang": "timeout", "exception": "error",
    "refused": "refused", "nothing": "no_answer", "foreign_id": "error", "no_output": "error",
    "twice": "ok", "wrong_size": "ok", "constant": "ok",
}  # fmt: skip
FORM = {
    "image": {"text_for_picture": "no_answer", "garbage_bytes": "undecodable"},
    "mask": {"text_for_picture": "no_answer", "garbage_bytes": "undecodable"},
    "text": {"text_for_picture": "undecodable", "garbage_bytes": "no_answer"},
    "points": {"text_for_picture": "undecodable", "garbage_bytes": "undecodable"},
}
HANG = {"hang_s": 0.35}


@pytest.mark.parametrize("attempts", [1, 3])
@pytest.mark.parametrize(
    ("task", "form", "salt"),
    [
        ("samples/counting", "image", 0),
        ("samples/counting", "text", 1),
        ("samples/counting", "points", 2),
        ("samples/referring", "image", 3),
        ("samples/referring", "mask", 4),
    ],
)
@pytest.mark.parametrize("batch", [1, 4])
def test_each_attempt_ends_as_its_kind_says(
    tmp_path: Path, task: str, form: str, salt: int, attempts: int, batch: int
) -> None:
    kinds = [k for k in KINDS if k != "hang"] if batch > 1 else list(KINDS)
    results = vgen_eval.evaluate(
        tasks=task, model="flaky", answer=form, attempts=attempts, bounds=False,
        model_args={"salt": salt, "kinds": kinds, "batch": batch, **HANG},
        # a try of a batch is a try of each request in it, and each of the four may stumble once
        set={"limits.timeout_s": 0.15, "limits.tries": 2 + batch}, output=str(tmp_path),
    )  # fmt: skip
    (card,) = results
    folder = tmp_path / card.run
    lines = kit.lines(folder / "predictions.jsonl")
    expected = Counter(
        {**ALWAYS, **FORM[form]}[
            kind_of(line["sample"], line["attempt"], kinds=kinds, salt=salt)  # type: ignore[arg-type]
        ]
        for line in lines
    )
    assert card.counts.statuses == dict(expected)
    assert len(lines) == card.counts.expected
    counts = card.counts
    groups = (counts.answered, counts.model_failure, counts.infrastructure, counts.data_fault)
    assert sum(groups) + counts.not_run == counts.expected
    assert counts.answered == expected["ok"]
    assert counts.infrastructure == expected["error"] + expected["timeout"]
    assert card.complete == (counts.infrastructure == 0)
    assert results.exit_code() == (0 if card.complete else 1)
