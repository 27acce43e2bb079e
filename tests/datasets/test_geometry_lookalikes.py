"""Depth and normals read off look-alikes that were written without the readers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lookalikes import diode, kitti, nyuv2, scannet
from vgen_eval.types import Sample
from vgen_eval_plugins.datasets.diode import Diode
from vgen_eval_plugins.datasets.kitti import Kitti
from vgen_eval_plugins.datasets.nyuv2 import NYUv2
from vgen_eval_plugins.datasets.scannet import ScanNet


def read(kind: Any, root: Path, count: int, **options: object) -> list[Sample]:
    data = kind(kind.Options(**options), root=root, folder=root)
    items = data.index()[:count]
    assert data.look(items) == []
    assert data.verify(items) == []
    return [data.load(item) for item in items]


def compare(
    found: list[Sample], wanted: list[dict[str, Any]], truth: str, *, tolerance: float
) -> None:
    """Pictures to the pixel where they are not lossy, truths within `tolerance`, holes alike."""
    assert len(found) == len(wanted)
    for sample, one in zip(found, wanted, strict=True):
        if "id" in one:
            assert sample.id == one["id"]
        if "group" in one:
            assert sample.group == one["group"]
        if not one.get("lossy"):
            assert np.array_equal(sample.images[0].array, one["picture"])
        target, expected = sample.target, one[truth]
        if truth == "normals":
            target = target / np.linalg.norm(target, axis=2, keepdims=True)
        assert np.array_equal(np.isnan(target), np.isnan(expected))
        assert np.nanmax(np.abs(target - expected)) <= tolerance
        known = np.isfinite(expected if expected.ndim == 2 else expected[..., 0])
        if sample.valid is None:
            assert known.all()
        else:
            assert np.array_equal(sample.valid, known)


@pytest.mark.parametrize(("field", "truth"), [("filled", "depth"), ("raw", "raw")])
def test_official_nyuv2(tmp_path, field, truth):
    wanted = nyuv2.write_mat(tmp_path)
    found = read(NYUv2, tmp_path / "nyuv2", 9, depth_field=field)
    compare(found, wanted, truth, tolerance=0)
    assert [sample.tags["scene"] for sample in found] == ["kitchen", "kitchen", "office"]


def test_official_nyuv2_normals(tmp_path):
    wanted = nyuv2.write_nm(tmp_path)
    compare(read(NYUv2, tmp_path / "nyuv2", 9, target="normals"), wanted, "normals", tolerance=1e-6)


@pytest.mark.parametrize("folder", ["depth", "depths"])
def test_flat_nyuv2(tmp_path, folder):
    wanted = nyuv2.write_flat(tmp_path, depth_folder=folder)
    compare(read(NYUv2, tmp_path / "nyuv2", 3), wanted, "depth", tolerance=0)
    compare(read(NYUv2, tmp_path / "nyuv2", 3, target="normals"), wanted, "normals", tolerance=1e-6)


@pytest.mark.parametrize(("field", "truth"), [("filled", "depth"), ("raw", "raw")])
def test_re_exported_nyuv2(tmp_path, field, truth):
    wanted = nyuv2.write_png_export(tmp_path)
    found = read(NYUv2, tmp_path / "nyuv2", 9, depth_field=field)
    compare(found, wanted, truth, tolerance=1e-6)


@pytest.mark.parametrize("arrays", [False, True])
def test_the_other_nyuv2_normals(tmp_path, arrays):
    wanted = nyuv2.write_dsine(tmp_path, arrays=arrays)
    found = read(NYUv2, tmp_path / "nyuv2", 9, target="normals", ground_truth="dsine")
    compare(found, wanted, "normals", tolerance=1e-6)


@pytest.mark.parametrize(
    ("domain", "folder"), [("indoors", None), ("outdoor", None), ("outdoor", "outdoors")]
)
def test_diode(tmp_path, domain, folder):
    wanted = diode.write(tmp_path, domain=domain, folder=folder)
    root = tmp_path / "diode"
    found = read(Diode, root, 9, domain=domain)
    assert [sample.id for sample in found] == [one["name"] for one in wanted]
    compare(found, wanted, "depth", tolerance=0)
    normals = read(Diode, root, 9, domain=domain, target="normals", face_camera=False)
    compare(normals, wanted, "normals", tolerance=1e-6)


@pytest.mark.parametrize("large", [False, True])
def test_scannet(tmp_path, large):
    wanted = scannet.write(tmp_path, large_colour=large)
    found = read(ScanNet, tmp_path / "scannet", 9)
    compare(found, wanted, "depth", tolerance=1e-6)
    assert {sample.images[0].array.shape for sample in found} == {(480, 640, 3)}


def test_kitti(tmp_path):
    wanted = kitti.write(tmp_path)
    compare(read(Kitti, tmp_path / "kitti", 9, kb_crop=False), wanted, "depth", tolerance=1e-6)
    part = np.s_[375 - 352 :, 13 : 13 + 1216]
    cut = [one | {"picture": one["picture"][part], "depth": one["depth"][part]} for one in wanted]
    compare(read(Kitti, tmp_path / "kitti", 9), cut, "depth", tolerance=1e-6)
