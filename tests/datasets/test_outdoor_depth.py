"""DIODE, ScanNet and KITTI: units, masks, lists and crops, and what is said of wrong files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from releasekit import load_all, photo, write_npy, write_png
from vgen_eval.errors import BadSample, MissingData
from vgen_eval_plugins.datasets.diode import Diode
from vgen_eval_plugins.datasets.kitti import Kitti
from vgen_eval_plugins.datasets.scannet import ScanNet

STEM = "scene_00019/scan_00183/00019_00183_indoors_150_000"


def diode(root: Path, **options: object) -> Diode:
    made = Diode.Options(**{"domain": "indoors", **options})  # type: ignore[arg-type]
    return Diode(made, root=root, folder=root)


def write_diode(root: Path, place: str = "indoors") -> Path:
    stem = root / place / STEM
    write_png(stem.with_suffix(".png"), photo(6, 8))
    depth = np.full((6, 8, 1), 4.0, np.float32)
    depth[0] = 197.0  # no depth, whatever it looks like
    mask = np.ones((6, 8), np.float32)
    mask[0] = 0
    normals = np.zeros((6, 8, 3), np.float32)
    normals[1:, :, 2] = 1
    write_npy(stem.with_name(f"{stem.name}_depth.npy"), depth)
    write_npy(stem.with_name(f"{stem.name}_depth_mask.npy"), mask)
    write_npy(stem.with_name(f"{stem.name}_normal.npy"), normals)
    return stem


def test_diode_depth_outside_of_the_mask_is_none(tmp_path):
    write_diode(tmp_path)
    (sample,) = load_all(diode(tmp_path))
    assert sample.id == "00019_00183_indoors_150_000"
    assert sample.group == "scene_00019/scan_00183"
    assert np.nanmax(sample.target) == 4
    assert sample.valid.sum() == 40


@pytest.mark.parametrize("place", ["outdoor", "outdoors"])
def test_diode_outdoor_may_lie_in_either_folder(tmp_path, place):
    write_diode(tmp_path, place)
    assert len(diode(tmp_path, domain="outdoor").index()) == 1
    with pytest.raises(MissingData, match="indoors holds no scene"):
        diode(tmp_path).index()


def test_diode_normals_of_no_length_are_none(tmp_path):
    write_diode(tmp_path)
    (sample,) = load_all(diode(tmp_path, target="normals"))
    assert sample.valid.sum() == 40
    assert sample.target[1, 0].tolist() == [0, 0, 1]
    away = {"frame": "right down away", "face_camera": False}
    (turned,) = load_all(diode(tmp_path, target="normals", **away))
    assert turned.target[1, 0].tolist() == [0, 0, -1]


def test_diode_normals_that_point_away_from_the_camera_are_turned_about(tmp_path):
    stem = write_diode(tmp_path)
    normals = np.zeros((6, 8, 3), np.float32)
    normals[:3] = (0.6, 0, -0.8)
    normals[3:] = (0, 0.6, 0.8)
    normals[5, 7] = 0
    write_npy(stem.with_name(f"{stem.name}_normal.npy"), normals)
    (sample,) = load_all(diode(tmp_path, target="normals"))
    assert sample.target[0, 0] == pytest.approx([-0.6, 0, 0.8])
    assert sample.target[4, 4] == pytest.approx([0, 0.6, 0.8])
    assert np.isnan(sample.target[5, 7]).all()


def test_a_diode_wall_seen_edge_on_faces_the_side_of_its_pixel(tmp_path):
    """x to the right is away from the camera right of the centre, and toward it on the left."""
    stem = write_diode(tmp_path)
    normals = np.zeros((6, 8, 3), np.float32)
    normals[..., 0] = 1
    write_npy(stem.with_name(f"{stem.name}_normal.npy"), normals)
    (sample,) = load_all(diode(tmp_path, target="normals"))
    assert sample.target[0, :, 0].tolist() == [1, 1, 1, 1, 1, -1, -1, -1]


def test_diode_may_lie_as_its_archive_unpacks(tmp_path):
    write_diode(tmp_path, "val/indoors")
    (sample,) = load_all(diode(tmp_path))
    assert sample.id == "00019_00183_indoors_150_000"


def test_diode_files_that_are_cut_off_or_hold_objects_are_bad_samples(tmp_path):
    stem = write_diode(tmp_path)
    depth = stem.with_name(f"{stem.name}_depth.npy")
    depth.write_bytes(depth.read_bytes()[:-4])
    with pytest.raises(BadSample, match=r"_depth\.npy"):
        load_all(diode(tmp_path))
    np.save(depth, np.array([None], object), allow_pickle=True)
    with pytest.raises(BadSample, match="pickle"):
        load_all(diode(tmp_path))
    write_npy(depth, np.ones((6, 9, 1), np.float32))
    write_npy(stem.with_name(f"{stem.name}_depth_mask.npy"), np.ones((6, 9), np.float32))
    with pytest.raises(BadSample, match="is 9x6, the picture 8x6"):
        load_all(diode(tmp_path))


def test_a_diode_picture_without_a_valid_pixel_is_loaded(tmp_path):
    stem = write_diode(tmp_path)
    write_npy(stem.with_name(f"{stem.name}_depth_mask.npy"), np.zeros((6, 8), np.float32))
    (sample,) = load_all(diode(tmp_path))
    assert not sample.valid.any()


def test_a_mask_of_another_size_is_a_bad_sample(tmp_path):
    stem = write_diode(tmp_path)
    write_npy(stem.with_name(f"{stem.name}_depth_mask.npy"), np.ones((8, 6), np.float32))
    with pytest.raises(BadSample, match=r"_depth_mask.npy is \(8, 6\), the depth \(6, 8\)"):
        load_all(diode(tmp_path))


def test_a_missing_mask_is_seen_without_opening_anything(tmp_path):
    stem = write_diode(tmp_path)
    stem.with_name(f"{stem.name}_depth_mask.npy").unlink()
    stem.with_name(f"{stem.name}_depth.npy").write_bytes(b"")
    data = diode(tmp_path)
    told = [str(problem) for problem in data.look(data.index())]
    assert len(told) == 2
    assert "is empty" in told[0]
    assert "no file" in told[1]


def scannet(root: Path) -> ScanNet:
    return ScanNet(ScanNet.Options(), root=root, folder=root)


def test_scannet_is_millimetres_and_its_picture_is_brought_to_the_depth(tmp_path):
    write_png(tmp_path / "scene0011_00/color/000100.jpg", photo(12, 16))
    write_png(tmp_path / "scene0011_00/depth/000100.png", np.full((6, 8), 1250, np.uint16))
    (tmp_path / "scannet_val_sampled_list_800_1.txt").write_text(
        "scene0011_00/color/000100.jpg scene0011_00/depth/000100.png\n\n"
    )
    (sample,) = load_all(scannet(tmp_path))
    assert (sample.id, sample.group) == ("scene0011_00/000100", "scene0011_00")
    assert sample.images[0].array.shape == (6, 8, 3)
    assert sample.target[0, 0] == pytest.approx(1.25)


def test_a_list_that_is_not_there_or_no_list_is_said_so(tmp_path):
    with pytest.raises(MissingData, match=r"no file 'scannet_val_sampled_list_800_1\.txt'"):
        scannet(tmp_path).index()
    (tmp_path / "scannet_val_sampled_list_800_1.txt").write_text("one word\nalone\n")
    with pytest.raises(MissingData, match=":2: a picture and its depth were wanted"):
        scannet(tmp_path).index()


def kitti(root: Path, **options: bool) -> Kitti:
    return Kitti(Kitti.Options(**options), root=root, folder=root)


def write_kitti(root: Path, height: int = 375, width: int = 1242) -> None:
    drive = "2011_09_26_drive_0002_sync"
    picture = f"2011_09_26/{drive}/image_02/data/0000000069.png"
    depth = f"{drive}/proj_depth/groundtruth/image_02/0000000069.png"
    stored = np.zeros((height, width), np.uint16)
    stored[height - 1, :] = 512
    write_png(root / picture, photo(height, width))
    write_png(root / depth, stored)
    (root / "eigen_test_files_with_gt.txt").write_text(
        f"{picture} {depth} 721.5377\n{picture.replace('69', '70')} None 721.5377\n"
    )


def test_kitti_leaves_frames_without_depth_out_and_reads_256ths(tmp_path):
    write_kitti(tmp_path)
    (sample,) = load_all(kitti(tmp_path))
    assert sample.id == "2011_09_26_drive_0002_sync/0000000069"
    assert sample.target.shape == (352, 1216)
    assert sample.target[-1, 0] == 2
    assert sample.valid.sum() == 1216


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        (
            np.zeros((375, 1242), np.uint8),
            "is grey of 8 bits, the release has grey PNGs of 16 bits",
        ),
        (np.zeros((375, 1242, 3), np.uint8), "is colour of 8 bits"),
        (np.zeros((370, 1242), np.uint16), "is 1242x370, the picture 1242x375"),
    ],
)
def test_kitti_depth_of_another_kind_or_size_is_a_bad_sample(tmp_path, stored, reason):
    write_kitti(tmp_path)
    (depth,) = tmp_path.glob("*/proj_depth/groundtruth/image_02/*.png")
    write_png(depth, stored)
    with pytest.raises(BadSample, match=reason):
        load_all(kitti(tmp_path))


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n", b"<html>"])
def test_kitti_depth_that_is_no_whole_file_is_a_bad_sample(tmp_path, content):
    write_kitti(tmp_path)
    (depth,) = tmp_path.glob("*/proj_depth/groundtruth/image_02/*.png")
    depth.write_bytes(content)
    data = kitti(tmp_path)
    with pytest.raises(BadSample, match=r"0000000069\.png"):
        load_all(data)
    assert len(data.look(data.index())) == (content == b"")


def test_the_kitti_crop_is_at_the_bottom_and_in_the_middle(tmp_path):
    write_kitti(tmp_path)
    (whole,), (cut,) = load_all(kitti(tmp_path, kb_crop=False)), load_all(kitti(tmp_path))
    assert whole.target.shape == (375, 1242)
    part = whole.images[0].array[375 - 352 :, 13 : 13 + 1216]
    assert np.array_equal(cut.images[0].array, part)


def test_a_frame_too_small_for_the_crop_is_a_bad_sample(tmp_path):
    write_kitti(tmp_path, height=300, width=1242)
    with pytest.raises(BadSample, match="1242x300, too small for the crop of 1216x352"):
        load_all(kitti(tmp_path))
