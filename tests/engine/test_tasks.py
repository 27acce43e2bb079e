"""What a task's names and parts come to before anything runs: suites by file, kinds that fit."""

from __future__ import annotations

from pathlib import Path

import pytest
import vgen_eval
from vgen_eval.errors import CardError, UsageError

SUITE = "suite: mine\ntasks: [samples/counting, samples/referring@fixed_threshold]\n"


def evaluate(folder: Path, tasks: str, **more: object) -> vgen_eval.Results:
    return vgen_eval.evaluate(
        tasks=tasks, model="vgen-eval:blind", output=str(folder / "out"), bounds=False, limit=1,
        **more,
    )  # fmt: skip


def test_a_suite_card_is_run_by_its_path(tmp_path: Path) -> None:
    card = tmp_path / "mine.yaml"
    card.write_text(SUITE)
    results = evaluate(tmp_path, str(card))
    assert [f"{c.task}@{c.protocol}" for c in results] == [
        "samples/counting@standard", "samples/referring@fixed_threshold",
    ]  # fmt: skip
    assert results.suites == {"mine": tuple(f"{c.task}@{c.protocol}" for c in results)}


def test_a_model_card_is_no_task(tmp_path: Path) -> None:
    card = tmp_path / "model.yaml"
    card.write_text("model: m\nadapter: copy\nanswers: [image]\nlicence: CC0-1.0\n")
    with pytest.raises(UsageError, match="is a model card, not a task card"):
        evaluate(tmp_path, str(card))


@pytest.mark.parametrize(
    ("task", "overrides", "message"),
    [
        (
            "samples/counting",
            {"protocol.metrics": [{"name": "mask_iou"}], "protocol.primary": "giou"},
            "'vgen-eval:zero_count' is about a count, metric 'mask_iou' about a mask",
        ),
        (
            "samples/counting",
            {"protocol.failure_value": "empty_mask"},
            "'vgen-eval:empty_mask' is about a mask, metric 'count_error' about a count",
        ),
        (
            "samples/referring",
            {"protocol.answers": [{"form": "image", "decoder": "red_dots"}]},
            "'vgen-eval:red_dots' is about a count, metric 'mask_iou' about a mask",
        ),
    ],
)
def test_parts_that_measure_different_things_are_refused(
    tmp_path: Path, task: str, overrides: dict[str, object], message: str
) -> None:
    with pytest.raises(CardError, match="is about a") as caught:
        evaluate(tmp_path, task, set=overrides)
    assert message in caught.value.what
    assert not list((tmp_path / "out").rglob("run.json"))
