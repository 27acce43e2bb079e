"""What the readers of referring segmentation make of the look-alikes, fact by fact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import phrases
import pytest
from vgen_eval import cards
from vgen_eval.data.prepare import prepare
from vgen_eval.engine.naming import expand_tasks
from vgen_eval.engine.tasks import Task, open_task
from vgen_eval.plugins import Catalog
from views import view

CATALOG = Catalog.discover()


def opened(task: str, root: Path, **overrides: Any) -> Task:
    (ref,) = expand_tasks([task], CATALOG, notices=[])
    prepare(ref, CATALOG, root / str(ref.card.dataset.root), say=lambda _: None)
    return open_task(ref, CATALOG, overrides=overrides, data_root=str(root), partial=True)


def iou(a: np.ndarray, b: np.ndarray) -> float:
    return float((a & b).sum() / (a | b).sum())


def biggest(place: int, scene: int) -> np.ndarray:
    """The largest connected part of an object: what one outline holds."""
    import cv2

    mask = (view(scene, 320, 420).objects == place).astype(np.uint8)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    return np.asarray(labels == 1 + stats[1:, cv2.CC_STAT_AREA].argmax())


@pytest.mark.parametrize(
    "task", ["referring/refcoco", "referring/refcoco-plus", "referring/refcocog"]
)
def test_every_sentence_of_a_reference_is_a_sample_with_its_mask(tmp_path, task):
    phrases.write_refer(tmp_path)
    data = opened(task, tmp_path)
    samples = [data.dataset.load(item) for item in data.items]
    assert [s.fields["query"] for s in samples] == ["the thing in the middle", "that thing"] * 2
    assert len({sample.group for sample in samples}) == 2
    for at, sample in enumerate(samples):
        assert iou(sample.target, biggest(2, at // 2)) > 0.95
        picture = view(at // 2, 320, 420).rgb.astype(int)
        assert np.abs(sample.images[0].array.astype(int) - picture).mean() < 6  # JPEG


def test_shapes_to_ignore_are_no_truth_and_flags_are_dropped(tmp_path):
    phrases.write_reasonseg(tmp_path)
    for task in ("referring/reasonseg", "referring/reasonseg-val"):
        data = opened(task, tmp_path)
        samples = [data.dataset.load(item) for item in data.items]
        assert [s.fields["query"] for s in samples] == ["what stands in the caf\u00e9?"] * 2
        for at, sample in enumerate(samples):
            assert sample.valid is not None
            assert not sample.valid[5, 5]
            assert sample.valid[100, 100]
            known = sample.valid
            assert iou(sample.target & known, biggest(2, at) & known) > 0.93


def test_paintings_are_asked_class_by_class(tmp_path):
    phrases.write_dram(tmp_path)
    data = opened("referring/dram", tmp_path)
    samples = [data.dataset.load(item) for item in data.items]
    queries = {sample.fields["query"] for sample in samples}
    assert queries <= {"person", "bird", "dog"}
    assert "person" in queries
    objects = view(0, 320, 420).objects
    first = next(s for s in samples if s.fields["query"] == "person" and "painting_0" in s.id)
    assert np.array_equal(first.target, objects == 1)
    if (objects == 4).any():  # id 1 is none of the classes that are kept
        assert first.valid is not None
        assert not first.valid[objects == 4].any()


def test_every_task_says_how_many_samples_its_release_has():
    for _, head in CATALOG.heads("task"):
        if head.family == "referring":
            assert cards.load_card(head.path).record.dataset.licence
