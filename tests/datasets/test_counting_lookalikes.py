"""Readers of counting on look-alikes of the releases, which were written without their code."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lookalikes import countbench, fsc147, pixmo
from lookalikes.server import serve
from releasekit import load_all
from vgen_eval.types import Sample
from vgen_eval_plugins.datasets.countbench import CountBench
from vgen_eval_plugins.datasets.fsc147 import FSC147
from vgen_eval_plugins.datasets.pixmo_count import PixMoCount
from vgen_eval_plugins.datasets.pixmo_points import PixMoPoints

JPEG_LEVELS = 6.0
"""Mean difference that JPEG may make."""


def check(samples: Sequence[Sample], wanted: Sequence[dict[str, Any]], *, points: bool) -> None:
    assert [s.target.count for s in samples] == [w["count"] for w in wanted]
    for sample, want in zip(samples, wanted, strict=True):
        found = sample.images[0].array
        assert found.shape == want["picture"].shape
        off = np.abs(found.astype(int) - want["picture"].astype(int)).mean()
        assert off < JPEG_LEVELS
        if "query" in want:
            assert sample.fields["query"] == want["query"]
        if "group" in want:
            assert sample.group == want["group"]
        if points:
            assert np.allclose(sample.target.points, want["points"], atol=1e-3)


@pytest.mark.parametrize("collection", ["counting", "pointing", "all"])
def test_pixmo_points(tmp_path: Path, collection: Any) -> None:
    root = tmp_path / "pixmo-points"
    with serve(pixmo.pictures()) as url:
        rows = pixmo.write_points(tmp_path, url)
        options = PixMoPoints.Options(collection=collection, trusted=url)
        reader = PixMoPoints(options, root=root, folder=root)
        reader.prepare(str)
    wanted = [
        row for row in rows
        if row["reachable"] and collection in ("all", row["collection_method"])
    ]  # fmt: skip
    check(load_all(reader), wanted, points=True)
    record = json.loads((root / "prepared.json").read_text())[collection]
    # the dead link and the changed one are two addresses of one picture
    lost = 0 if collection == "pointing" else 1
    assert sum(record["left_out"].values()) == lost


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_pixmo_count(tmp_path: Path, split: Any) -> None:
    root = tmp_path / "pixmo-count"
    with serve(pixmo.pictures()) as url:
        rows = pixmo.write_count(tmp_path, url)
        reader = PixMoCount(PixMoCount.Options(split=split, trusted=url), root=root, folder=root)
        reader.prepare(str)
    wanted = [row for row in rows if row["reachable"]]
    samples = load_all(reader)
    check(samples, wanted if split == "test" else wanted[:1], points=split == "train")
    assert all((s.target.points is None) == (split != "train") for s in samples)


def test_fsc147(tmp_path: Path) -> None:
    wanted = fsc147.write(tmp_path)
    root = tmp_path / "fsc147"
    samples = load_all(FSC147(FSC147.Options(), root=root, folder=root))
    check(samples, wanted, points=True)
    coco = FSC147(FSC147.Options(split="test_coco"), root=root, folder=root)
    assert len(coco.index()) == 1


def test_countbench(tmp_path: Path) -> None:
    wanted = countbench.write(tmp_path)
    root = tmp_path / "countbench"
    reader = CountBench(CountBench.Options(), root=root, folder=root)
    reader.prepare(str)
    samples = load_all(reader)
    check(samples, wanted, points=False)
    for sample, want in zip(samples, wanted, strict=True):
        word = countbench.WORDS[want["count"] - 2]
        assert sample.fields["query"] == want["text"].replace(word, "___")
