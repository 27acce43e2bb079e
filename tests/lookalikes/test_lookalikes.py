"""The look-alikes are written as the releases are: names, types, shapes, units, orders."""

from __future__ import annotations

import json
import pickle
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import cv2
import h5py
import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.io
from PIL import Image
from pycocotools import mask as coco_masks

from lookalikes import (
    celebamask_hq,
    cityscapes,
    coco,
    countbench,
    diode,
    dram,
    fsc147,
    kitti,
    manga109,
    nyuv2,
    pixmo,
    python2_pickle,
    reason_seg,
    refer_seg,
    scannet,
)
from lookalikes.files import rle_counts, sha256
from lookalikes.server import serve

# pycocotools is built for NumPy 1 and says so of each mask that it decodes
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")


def names(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def levels(path: Path) -> Any:
    return cv2.imread(str(path), cv2.IMREAD_UNCHANGED)


def test_a_turned_view_is_the_truth_of_another_world() -> None:
    from lookalikes.scenes import room

    view, mirrored, large = room(0), room(1), room(2)
    assert np.array_equal(mirrored.depth, view.depth[:, ::-1])
    assert np.array_equal(mirrored.normals[..., 0], -view.normals[:, ::-1, 0])
    assert np.allclose(large.depth, 1.3 * view.depth)
    assert 1.0 < view.depth.min() < view.depth.max() < 6.0
    # the wall on the right of the picture faces left, the floor up, the back wall the camera
    assert np.allclose(view.normals[view.mask("right wall")], (-1, 0, 0))
    assert np.allclose(view.normals[view.mask("floor")], (0, 1, 0))
    assert np.allclose(view.normals[view.mask("back wall")], (0, 0, 1))


def test_nyuv2_labelled_file(tmp_path: Path) -> None:
    found = nyuv2.write_mat(tmp_path)
    path = tmp_path / "nyuv2" / "nyu_depth_v2_labeled.mat"
    assert path.read_bytes().startswith(b"MATLAB 7.3 MAT-file")
    splits = scipy.io.loadmat(tmp_path / "nyuv2" / "splits.mat")
    assert splits["testNdxs"].shape == (3, 1)
    with h5py.File(path) as file:
        total = file["images"].shape[0]
        assert file["images"].shape == (total, 3, 640, 480)
        assert file["images"].dtype == np.uint8
        for key in ("depths", "rawDepths"):
            assert file[key].shape == (total, 640, 480)
            assert file[key].dtype == np.float32
        for sample, number in zip(found, splits["testNdxs"].ravel(), strict=True):
            assert np.array_equal(file["images"][number - 1].transpose(2, 1, 0), sample["picture"])
            assert np.array_equal(file["depths"][number - 1].T, sample["depth"])
            assert ((file["rawDepths"][number - 1].T == 0) == np.isnan(sample["raw"])).all()
            reference = file["scenes"][0, number - 1]
            assert "".join(map(chr, file[reference][:, 0])) == sample["scene"]
    assert 0.05 < np.isnan(found[0]["raw"]).mean() < 0.5


@pytest.mark.parametrize("folder", ["depth", "depths"])
def test_nyuv2_flat(tmp_path: Path, folder: str) -> None:
    found = nyuv2.write_flat(tmp_path, depth_folder=folder)
    home = tmp_path / "nyuv2"
    assert names(home)[:2] == [f"{folder}/0000.npy", f"{folder}/0001.npy"]
    depth = np.load(home / folder / "0002.npy")
    assert (depth.shape, depth.dtype) == ((480, 640), np.float32)
    normals, mask = (np.load(home / n / "0001.npy") for n in ("normals", "normals_mask"))
    assert (normals.shape, normals.dtype) == ((3, 480, 640), np.float32)
    assert (mask.shape, mask.dtype) == ((480, 640), np.bool_)
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    assert rows[[0, -1]].tolist() == [44, 470]
    assert columns[[0, -1]].tolist() == [40, 598]
    lengths = np.linalg.norm(normals, axis=0)
    assert lengths.min() > 0.98  # outside the mask, too
    assert lengths.max() < 1.02
    steps = (normals + 1) / 2 * 255
    assert np.abs(steps - np.round(steps)).max() < 1e-4
    assert (np.isnan(found[1]["normals"][..., 0]) == ~mask).all()
    assert np.nansum(normals[0] * found[1]["normals"][..., 0]) < 0  # the file's x is to the left


def test_nyuv2_png_and_normals_of_other_exports(tmp_path: Path) -> None:
    found = nyuv2.write_png_export(tmp_path)
    home = tmp_path / "nyuv2"
    assert found[2]["id"] == "office_0005/0009"
    raw = levels(home / "test" / "office_0005" / "depth_0009.png")
    filled = levels(home / "test" / "office_0005" / "filled_0009.png")
    assert raw.dtype == filled.dtype == np.uint16
    assert np.array_equal(raw == 0, np.isnan(found[2]["raw"]))
    assert (raw == 0).any()
    assert np.array_equal(filled / np.float32(1000), found[2]["depth"])
    assert np.abs(filled / 1000 - nyuv2.write_flat(tmp_path)[2]["depth"]).max() < 6e-4
    found = nyuv2.write_nm(tmp_path)
    nm = scipy.io.loadmat(home / "normals_gt" / "nm_000009.mat")
    assert np.array_equal(nm["depthValid"] == 0, np.isnan(found[2]["normals"][..., 0]))
    known = nm["depthValid"] > 0
    assert np.abs(nm["ny"] - found[2]["normals"][..., 1])[known].max() < 0.02  # 8 bits
    assert np.abs(nm["nx"] + found[2]["normals"][..., 0])[known].max() < 0.02  # to the left
    assert nm["nx"].shape == nm["depthValid"].shape == (480, 640)
    found = nyuv2.write_dsine(tmp_path)
    bundle = home / "dsine_eval" / "nyuv2" / "test"
    assert names(bundle)[-3:] == ["000008_img.png", "000008_intrins.npy", "000008_normal.png"]
    stored = levels(bundle / "000008_normal.png")[..., ::-1]
    assert (stored.dtype, stored.shape) == (np.uint8, (480, 640, 3))
    assert (stored.max(axis=2) == 0).any()
    assert np.array_equal(stored.max(axis=2) == 0, np.isnan(found[2]["normals"][..., 0]))
    found = nyuv2.write_dsine(tmp_path, arrays=True)
    stored = np.load(bundle / "000008_normal.npy")
    assert (stored.dtype, stored.shape) == (np.float32, (480, 640, 3))
    assert np.array_equal((stored == 0).all(axis=2), np.isnan(found[2]["normals"][..., 0]))


@pytest.mark.parametrize(("domain", "folder"), [("indoors", None), ("outdoor", "outdoors")])
def test_diode(tmp_path: Path, domain: str, folder: str | None) -> None:
    found = diode.write(tmp_path, domain=domain, folder=folder)
    home = tmp_path / "diode" / (folder or domain)
    scene, scan = found[0]["group"].split("/")
    stem = home / scene / scan / found[0]["name"]
    assert stem.name.startswith(f"{scene[6:]}_{scan[5:]}_{domain}_")
    depth, mask, normals = (
        np.load(f"{stem}_{kind}.npy") for kind in ("depth", "depth_mask", "normal")
    )
    assert (depth.shape, depth.dtype) == ((768, 1024, 1), np.float32)
    assert (mask.shape, mask.dtype, set(np.unique(mask))) == ((768, 1024), np.float32, {0.0, 1.0})
    assert (normals.shape, normals.dtype) == ((768, 1024, 3), np.float32)
    assert depth[mask == 0].max() > 100  # garbage
    assert (np.isnan(found[0]["depth"]) == (mask == 0)).all()
    assert ((normals == 0).all(axis=2) == np.isnan(found[0]["normals"][..., 0])).all()
    assert len(names(home)) == 3 * 4


def test_scannet_and_kitti(tmp_path: Path) -> None:
    found = scannet.write(tmp_path, large_colour=True)
    line = (tmp_path / "scannet" / scannet.LIST).read_text().splitlines()[0]
    assert line == "scene0406_02/color/000300.jpg scene0406_02/depth/000300.png"
    colour, depth = (levels(tmp_path / "scannet" / name) for name in line.split())
    assert colour.shape == (968, 1296, 3)
    assert (depth.shape, depth.dtype) == ((480, 640), np.uint16)
    assert np.array_equal(np.isnan(found[0]["depth"]), depth == 0)
    assert np.nanmax(np.abs(found[0]["depth"] - depth / 1000)) < 1e-6

    found = kitti.write(tmp_path)
    lines = (tmp_path / "kitti" / kitti.LIST).read_text().splitlines()
    assert len(lines) == len(found) + 1
    assert lines[1].split()[1:] == ["None", "721.5377"]
    colour_name, depth_name, _ = lines[0].split()
    assert colour_name.startswith("2011_09_26/2011_09_26_drive_0002_sync/image_02/data/")
    depth = levels(tmp_path / "kitti" / depth_name)
    assert (depth.dtype, depth.shape) == (np.uint16, (375, 1242))
    assert 0.02 < (depth > 0).mean() < 0.3
    assert np.array_equal(np.isnan(found[0]["depth"]), depth == 0)
    assert np.nanmax(np.abs(found[0]["depth"] - depth / 256)) < 1e-4


def test_python_2_pickles_are_read_by_todays_pickle() -> None:
    value = [{"a": "x" * 300, "n": 7, "m": 70_000, "k": -3, "u": "caf\u00e9"}, {"a": "x", "n": []}]
    data = python2_pickle.dumps(value)
    assert data.startswith(b"\x80\x02]")
    assert b"U\x01a" in data  # a byte string
    assert pickle.loads(data) == value


def test_refer_seg(tmp_path: Path) -> None:
    found = refer_seg.write(tmp_path, samples=3)
    home = tmp_path / "refer_seg"
    refs = pickle.loads((home / "refcoco" / "refs(unc).p").read_bytes())
    instances = json.loads((home / "refcoco" / "instances.json").read_text())
    masks = {annotation["id"]: annotation for annotation in instances["annotations"]}
    kept = [ref for ref in refs if ref["split"] == "val"]
    assert len(kept) == 3
    assert len(found) == 6
    assert {ref["split"] for ref in refs} == {"train", "val", "testA", "testB", "test"}
    for sample, (ref, at) in zip(found, ((r, a) for r in kept for a in (0, 1)), strict=True):
        segmentation = masks[ref["ann_id"]]["segmentation"]
        parts = coco_masks.frPyObjects(segmentation, 480, 640)
        mask = coco_masks.decode(parts)
        if isinstance(segmentation, list):
            assert len(segmentation) == 2
            mask = mask.any(axis=2)
        assert np.array_equal(mask > 0, sample["mask"])
        assert ref["sentences"][at]["sent"] == sample["query"]
    assert (home / refer_seg.IMAGES / "COCO_train2014_000000001007.jpg").is_file()
    assert kept[0]["image_id"] == kept[1]["image_id"]
    assert kept[1]["image_id"] != kept[2]["image_id"]


def test_reason_seg(tmp_path: Path) -> None:
    found = reason_seg.write(tmp_path, samples=4)
    folder = tmp_path / "reason_seg" / "ReasonSeg" / "test"
    assert [s["name"] for s in found] == sorted(path.stem for path in folder.glob("*.jpg"))
    with pytest.raises(UnicodeDecodeError):
        (folder / "20_bc.json").read_text(encoding="utf-8")
    by_name = {sample["name"]: sample for sample in found}
    for name, sample in by_name.items():  # painted anew, by LISA's rule
        data = (folder / f"{name}.json").read_bytes()
        record = json.loads(data.decode("cp1252" if name == "20_bc" else "utf-8"))
        assert record["text"] == sample["texts"]
        painted = []
        for shape in record["shapes"]:
            layer = np.zeros((480, 640), np.uint8)
            corners = [np.array(shape["points"]).astype(np.int32)]
            cv2.polylines(layer, corners, True, 1, 1)
            cv2.fillPoly(layer, corners, 1)
            painted += [(layer, shape["label"])] if shape["label"] != "flag" else []
        canvas = np.zeros((480, 640), np.int32)
        for layer, label in sorted(painted, key=lambda pair: -int(pair[0].sum())):
            canvas[layer > 0] = 255 if "ignore" in label else 1
        assert np.array_equal(canvas == 1, sample["mask"])
        assert np.array_equal(canvas != 255, sample["valid"])
    assert not by_name["7_aa"]["mask"].any()


def test_dram_and_manga109(tmp_path: Path) -> None:
    found = dram.write(tmp_path)
    home = tmp_path / "dram" / "DRAM_processed"
    assert (home / "test" / "dram_with_unseen.txt").read_text().splitlines() == [
        "realism/gustave_courbet/a_walk",
        "impressionism/berthe_morisot/the_garden",
        "unseen/ukiyo_e/hiroshige/a_bridge",
    ]
    with Image.open(home / "labels" / "realism/gustave_courbet/a_walk.png") as picture:
        assert picture.mode == "P"
        numbers = np.asarray(picture)
    assert {1, 255, 9, 15} <= set(np.unique(numbers).tolist())
    assert [s["class"] for s in found if s["group"] == "realism/gustave_courbet/a_walk"] == [
        "chair",
        "person",
    ]

    found = manga109.write(tmp_path)
    record = json.loads((tmp_path / "manga109" / "segmentation" / "ARMS.json").read_text())
    assert [image["file_name"] for image in record["images"]] == [
        "ARMS/003.jpg", "ARMS/012.jpg", "ARMS/099.jpg",
    ]  # fmt: skip
    union = np.zeros((1170, 1654), bool)
    for annotation in record["annotations"]:
        if annotation["image_id"] == 3 and annotation["category_id"] == 5:
            union |= coco_masks.decode(annotation["segmentation"]) > 0
    balloons = next(s for s in found if s["page"] == 3 and s["class"] == "balloon")
    assert np.array_equal(union, balloons["mask"])
    assert [s["class"] for s in found if s["page"] == 12] == ["frame", "balloon"]


def test_runs_are_cocos_own() -> None:
    mask = np.random.default_rng(0).random((7, 9)) > 0.5
    mask[0, 0] = True
    runs = coco_masks.frPyObjects({"size": [7, 9], "counts": rle_counts(mask)}, 7, 9)
    assert np.array_equal(coco_masks.decode(runs) > 0, mask)
    assert rle_counts(mask)[0] == 0


def test_cityscapes(tmp_path: Path) -> None:
    found = cityscapes.write(tmp_path, samples=2)
    home = tmp_path / "cityscapes"
    stem = "val/frankfurt/frankfurt_000000_000294"
    assert levels(home / "leftImg8bit" / f"{stem}_leftImg8bit.png").shape == (1024, 2048, 3)
    ids = levels(home / "gtFine" / f"{stem}_gtFine_labelIds.png")
    assert (ids.shape, ids.dtype) == ((1024, 2048), np.uint8)
    assert {1, 4, 7, 9, 23, 30} <= set(np.unique(ids).tolist())
    assert np.array_equal(found[0]["labels"]["car"], ids == 26)
    assert (found[0]["categories"]["flat"] == np.isin(ids, [7, 8])).all()
    assert (found[0]["valid"] == ~np.isin(ids, [1, 4, 9, 30])).all()


def test_celebamask_hq(tmp_path: Path) -> None:
    found = celebamask_hq.write_official(tmp_path)
    home = tmp_path / "celebamask_hq"
    assert (home / "CelebAMask-HQ-mask-anno" / "1" / "02001_skin.png").is_file()
    assert levels(home / "CelebA-HQ-img" / "27.jpg").shape == (1024, 1024, 3)
    merged = np.zeros((512, 512), np.uint8)
    for place, part in enumerate(celebamask_hq.PARTS, 1):
        path = home / "CelebAMask-HQ-mask-anno" / "0" / f"00027_{part}.png"
        if path.is_file():
            merged[levels(path)[..., 0] > 0] = place
    for name, mask in found[1]["labels"].items():
        assert np.array_equal(merged == celebamask_hq.CLASSES.index(name), mask)
    assert {"eye_glass", "left_eye", "ear_ring"} <= found[1]["labels"].keys()
    assert "eye_glass" not in found[0]["labels"]
    celebamask_hq.write_official(tmp_path, numbers=(23_456,))
    assert (home / "CelebA-HQ-img" / "23456.jpg").is_file()
    assert (home / "CelebAMask-HQ-mask-anno" / "11" / "23456_skin.png").is_file()

    found = celebamask_hq.write_export(tmp_path)
    listed = json.loads((home / "eval-set" / "celeb" / "id-150.json").read_text())
    assert listed == [sample["name"] for sample in found]
    assert all(len(name) == 32 and set(name) <= set("0123456789abcdef") for name in listed)
    for size in (512, 1024):
        with Image.open(home / f"masks-{size}" / f"{listed[0]}.png") as picture:
            assert (picture.mode, picture.size) == ("P", (size, size))
    assert levels(home / "images" / f"{listed[0]}.jpg").shape == (512, 512, 3)


def test_coco_panoptic(tmp_path: Path) -> None:
    found = coco.write(tmp_path)
    home = tmp_path / "coco"
    record = json.loads((home / "annotations" / "panoptic_val2017.json").read_text())
    kinds = {category["id"]: category["name"] for category in record["categories"]}
    assert len(kinds) == 133
    assert sum(category["isthing"] for category in record["categories"]) == 80
    assert (min(kinds), max(kinds), 12 in kinds, 91 in kinds) == (1, 200, False, False)
    by_image = {entry["image_id"]: entry for entry in record["annotations"]}
    assert len(by_image) == len(found) == 3
    for sample in found:
        entry = by_image[sample["number"]]
        coded = levels(home / "annotations" / "panoptic_val2017" / entry["file_name"])
        blue, green, red = (coded[..., at].astype(np.int64) for at in range(3))
        ids = red + 256 * green + 65536 * blue
        seen: dict[str, Any] = {}
        for segment in entry["segments_info"]:
            assert segment["area"] == (ids == segment["id"]).sum()
            assert segment["area"] > 0
            name = kinds[segment["category_id"]]
            seen[name] = seen.get(name, False) | (ids == segment["id"])
        assert seen.keys() == sample["labels"].keys()
        assert all(np.array_equal(seen[name], mask) for name, mask in sample["labels"].items())
        assert (ids == 0).any()


def test_coco_may_list_pictures_that_are_not_there(tmp_path: Path) -> None:
    found = coco.write(tmp_path, samples=2, listed=150)
    home = tmp_path / "coco"
    record = json.loads((home / "annotations" / "panoptic_val2017.json").read_text())
    listed = sorted(entry["file_name"] for entry in record["annotations"])
    assert len(set(listed)) == 150
    assert len(record["images"]) == 150
    assert names(home / "annotations" / "panoptic_val2017") == listed[:2]
    assert listed[:2] == [f"{sample['number']:012d}.png" for sample in found]


def test_pixmo(tmp_path: Path) -> None:
    files = pixmo.pictures()
    with serve(files) as url:
        found = pixmo.write_points(tmp_path, url)
        counted = pixmo.write_count(tmp_path, url)
        tables = [pq.read_table(p) for p in sorted((tmp_path / "pixmo-points/data").iterdir())]
        rows = [row for table in tables for row in table.to_pylist()]
        assert list(rows[0]) == [
            "image_url", "image_sha256", "points", "count", "label", "collection_method",
        ]  # fmt: skip
        for row, sample in zip(rows, found, strict=True):
            assert row["count"] == len(row["points"]) == sample["count"]
            assert all(0 <= point["x"] <= 100 and 0 <= point["y"] <= 100 for point in row["points"])
            try:
                with urllib.request.urlopen(row["image_url"]) as answer:
                    data = answer.read()
            except urllib.error.HTTPError as exc:
                exc.close()
                data = b""
            assert (sha256(data) == row["image_sha256"]) == sample["reachable"]
        assert not found[-1]["reachable"]
        assert {row["collection_method"] for row in rows} == {"counting", "pointing"}
    test = pq.read_table(tmp_path / "pixmo-count" / "data" / "test-00000-of-00001.parquet")
    assert test.column_names == ["image_url", "image_sha256", "count", "points", "label"]
    assert [row["count"] for row in test.to_pylist()] == [sample["count"] for sample in counted]
    assert all(row["points"] == {"x": [], "y": []} for row in test.to_pylist())


def test_countbench_and_fsc147(tmp_path: Path) -> None:
    found = countbench.write(tmp_path)
    (path,) = (tmp_path / "countbench" / "data").iterdir()
    rows = pq.read_table(path).to_pylist()
    assert len(rows) == len(found) + 1
    assert rows[1]["image"] is None
    assert [rows[sample["row"]]["number"] for sample in found] == [2, 3, 4]

    found = fsc147.write(tmp_path)
    home = tmp_path / "fsc147"
    splits = json.loads((home / "Train_Test_Val_FSC_147.json").read_text())
    annotations = json.loads((home / "annotation_FSC147_384.json").read_text())
    assert splits["test"] == [sample["name"] for sample in found]
    classes = (home / "ImageClasses_FSC147.txt").read_text().splitlines()
    kinds = dict(line.split("\t") for line in classes)
    for sample in found:
        assert len(annotations[sample["name"]]["points"]) == sample["count"]
        assert kinds[sample["name"]] == sample["query"]
        assert levels(home / "images_384_VarV2" / sample["name"]).shape[0] == 384
