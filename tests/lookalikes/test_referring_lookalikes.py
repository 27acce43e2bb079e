"""The cards of referring segmentation read what the look-alikes of their releases hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from vgen_eval.types import Sample

from lookalikes import dram, manga109, reason_seg, refer_seg
from lookalikes.releases import read

JPEG_LEVELS = 0.5
"""Mean difference that JPEG may make."""


def compare(found: Sequence[Sample], wanted: Sequence[dict[str, Any]]) -> None:
    """Masks to the pixel where the truth is known, and it is known alike; pictures and groups."""
    assert len(found) == len(wanted)
    for sample, want in zip(found, wanted, strict=True):
        known = want.get("valid", np.ones(want["mask"].shape, bool))
        valid = np.ones(known.shape, bool) if sample.valid is None else sample.valid
        assert np.array_equal(valid, known), sample.id
        assert np.array_equal(sample.target[known], want["mask"][known]), sample.id
        off = np.abs(sample.images[0].array.astype(int) - want["picture"].astype(int))
        assert off.mean() < JPEG_LEVELS
    # samples share a group where they share a picture, and nowhere else
    pairs = {(one.group, want["group"]) for one, want in zip(found, wanted, strict=True)}
    assert len(pairs) == len({one.group for one in found})
    assert len(pairs) == len({want["group"] for want in wanted})


@pytest.mark.parametrize(
    ("task", "dataset", "split_by", "split"),
    [
        ("refcoco", "refcoco", "unc", "val"),
        ("refcoco", "refcoco", "unc", "testA"),
        ("refcoco-plus", "refcoco+", "unc", "val"),
        ("refcocog", "refcocog", "umd", "val"),
    ],
)
def test_every_sentence_of_a_reference_is_a_sample_with_its_mask(
    tmp_path: Path, task: str, dataset: str, split_by: str, split: str
) -> None:
    wanted = refer_seg.write(tmp_path, dataset=dataset, split_by=split_by, split=split)
    found = read(f"referring/{task}", tmp_path, split=split)
    compare(found, wanted)
    assert [sample.fields["query"] for sample in found] == [want["query"] for want in wanted]


@pytest.mark.parametrize(("task", "split"), [("reasonseg", "test"), ("reasonseg-val", "val")])
def test_the_smaller_shape_wins_and_flags_are_no_shapes(
    tmp_path: Path, task: str, split: str
) -> None:
    wanted = reason_seg.write(tmp_path, samples=4, split=split)
    found = read(f"referring/{task}", tmp_path)
    compare(found, wanted)
    assert [sample.id for sample in found] == [want["name"] for want in wanted]
    assert [sample.fields["query"] for sample in found] == [want["query"] for want in wanted]


@pytest.mark.parametrize(("movements", "extension"), [("dram", ""), ("dram_with_unseen", ".jpg")])
def test_a_painting_is_asked_for_class_by_class(
    tmp_path: Path, movements: str, extension: str
) -> None:
    wanted = dram.write(tmp_path, extension=extension, movements=movements)
    found = read("referring/dram", tmp_path, list=movements)
    compare(found, wanted)
    assert [sample.fields["query"] for sample in found] == [want["class"] for want in wanted]


def test_a_page_is_asked_for_class_by_class(tmp_path: Path) -> None:
    wanted = manga109.write(tmp_path)
    found = read("referring/manga109", tmp_path)
    compare(found, wanted)
    assert [sample.id for sample in found] == [
        f"{want['book']}/{want['page']:03d}/{want['class']}" for want in wanted
    ]
    asked = {(want["class"], s.fields["query"]) for s, want in zip(found, wanted, strict=True)}
    assert len(asked) == len({name for name, _ in asked}) == len({query for _, query in asked})
