"""What a task's names and parts come to before anything runs: suites by file, kinds that fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import vgen_eval
from vgen_eval.cards import check_card
from vgen_eval.engine.tasks import open_root
from vgen_eval.errors import CardError, MissingData, UsageError
from vgen_eval.plugins import Catalog

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
            "protocol.metrics[0]: 'mask_iou' is about a mask, 'red_dots' about a count",
        ),
        (
            "samples/counting",
            {"protocol.failure_value": "empty_mask"},
            "protocol.metrics[0]: 'count_error' is about a count, 'empty_mask' about a mask",
        ),
        (
            "samples/referring",
            {"protocol.answers": [{"form": "image", "decoder": "red_dots"}]},
            "protocol.metrics[0]: 'mask_iou' is about a mask, 'red_dots' about a count",
        ),
    ],
)
def test_parts_that_measure_different_things_are_refused(
    tmp_path: Path, task: str, overrides: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match="is about a") as caught:
        evaluate(tmp_path, task, set=overrides)
    assert message in caught.value.what
    assert not list((tmp_path / "out").rglob("run.json"))


def card_of(folder: Path, metric: str, **protocol: object) -> str:
    """A card over the built-in samples whose metric is about something else than its truth."""
    reader = {"reader": "vgen-eval:samples", "licence": "CC0-1.0", "source": "x", "citation": "x",
              "options": {"annotations": "eyes.jsonl", "kind": "counting"}}  # fmt: skip
    answer = {"form": "text", "prompt": {"mid": "?"}, "decoder": "count_text"}
    body = {"answers": [answer], "metrics": [{"name": metric}], "primary": "iou",
            "failure_value": "skip", **protocol}  # fmt: skip
    card = {"task": "my/eyes", "version": 1, "family": "counting", "dataset": reader,
            "default_protocol": "plain", "protocols": {"plain": body}}  # fmt: skip
    (folder / "eyes.jsonl").write_text(json.dumps(EYES) + "\n")
    path = folder / "eyes.yaml"
    path.write_text(json.dumps(card))
    return str(path)


EYES = {
    "id": "eyes", "group": "chelsea", "image": "chelsea.png", "query": "eyes", "count": 2,
    "sha256": "596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb", "tags": {},
    "points": [[170, 113], [317, 135]],
}  # fmt: skip


def test_a_decoder_of_a_card_that_measures_another_thing_is_refused(tmp_path: Path) -> None:
    image = {"form": "image", "prompt": {"mid": "?"}, "decoder": "binary_mask"}
    path = card_of(tmp_path, "count_error", primary="mae", answers=[image])
    with pytest.raises(CardError, match="'vgen-eval:binary_mask' is about a mask, metric"):
        evaluate(tmp_path, path)


def test_a_truth_of_another_kind_than_the_metrics_is_refused_by_run_and_check(
    tmp_path: Path,
) -> None:
    image = {"form": "image", "prompt": {"mid": "?"}, "decoder": "binary_mask"}
    path = card_of(tmp_path, "mask_iou", primary="giou", answers=[image])
    with pytest.raises(CardError, match="the truth of the data is count, metric 'mask_iou'"):
        evaluate(tmp_path, path)
    problems = [str(problem) for problem in check_card(Path(path), Catalog.discover())]
    assert len(problems) == 1
    assert "metrics[0]: 'mask_iou' measures mask, the truth is count" in problems[0]


def test_the_folder_of_a_data_set_may_be_a_link_to_where_it_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "disk/nyu"
    kept.mkdir(parents=True)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/nyuv2").symlink_to(kept, target_is_directory=True)
    assert open_root("nyuv2", str(tmp_path / "data")) == kept.resolve()


@pytest.mark.parametrize("below", ["../disk", "a/../../disk", "/etc", "..\\disk"])
def test_a_card_names_no_folder_outside_of_the_data(tmp_path: Path, below: str) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "data").mkdir()
    with pytest.raises(MissingData, match="leads out of the data folder"):
        open_root(below, str(tmp_path / "data"))
