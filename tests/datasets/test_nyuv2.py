"""NYU Depth v2 in each of its layouts, and what is said when files are wrong."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.io
from releasekit import item_of, load_all, photo, write_npy, write_png
from vgen_eval.errors import BadSample, MissingData
from vgen_eval_plugins.datasets.nyuv2 import NYUv2

HEIGHT, WIDTH = 12, 16


def reader(root: Path, **options: object) -> NYUv2:
    return NYUv2(NYUv2.Options(**options), root=root, folder=root)  # type: ignore[arg-type]


def write_flat(root: Path, count: int = 2) -> None:
    for place in range(count):
        write_png(root / f"images/{place:04d}.png", photo(HEIGHT, WIDTH, place))
        depth = np.full((HEIGHT, WIDTH), 2.0 + place, np.float32)
        depth[0, 0] = 0
        write_npy(root / f"depth/{place:04d}.npy", depth)
        normals = np.zeros((3, HEIGHT, WIDTH), np.float32)
        normals[0] = 1  # to the left
        mask = np.ones((HEIGHT, WIDTH), bool)
        mask[1] = False
        write_npy(root / f"normals/{place:04d}.npy", normals)
        write_npy(root / f"normals_mask/{place:04d}.npy", mask)


def write_mat(root: Path, numbers: tuple[int, ...] = (3, 1), count: int = 3) -> None:
    """Arrays as MATLAB 7.3 lays them: the last axis of a picture comes first."""
    root.mkdir(parents=True, exist_ok=True)
    with h5py.File(root / "nyu_depth_v2_labeled.mat", "w") as file:
        file["images"] = np.stack(
            [photo(HEIGHT, WIDTH, at).transpose(2, 1, 0) for at in range(count)]
        )
        ramp = np.arange(HEIGHT * WIDTH, dtype=np.float32).reshape(HEIGHT, WIDTH)
        file["depths"] = np.stack([(1 + at + ramp / 100).T for at in range(count)])
        raw = np.stack([(1 + at + ramp / 100).T for at in range(count)])
        raw[:, 0, :] = 0  # the first column
        file["rawDepths"] = raw
    scipy.io.savemat(root / "splits.mat", {"testNdxs": np.uint16(numbers)[:, None]})
    (root / "normals_gt").mkdir(exist_ok=True)
    for number in range(1, count + 1):
        known = np.ones((HEIGHT, WIDTH), np.uint8)
        known[:, 0] = 0
        zeros = np.zeros((HEIGHT, WIDTH))
        parts = {"nx": zeros, "ny": zeros + 1, "nz": zeros, "depthValid": known}
        scipy.io.savemat(root / f"normals_gt/nm_{number:06d}.mat", parts)


def test_the_flat_layout_knows_all_654_places_whatever_is_there(tmp_path):
    write_flat(tmp_path)
    data = reader(tmp_path)
    items = data.index()
    assert (len(items), items[0].id, items[-1].id) == (654, "0000", "0653")
    assert data.look(items[:2]) == []
    first = data.look(items[2:4])[0]
    assert str(first).endswith(
        "images/0002.png: 0002: no file 'images/0002.png' in " + str(tmp_path)
    )


def test_flat_depth_is_metres_and_0_is_no_reading(tmp_path):
    write_flat(tmp_path)
    sample = reader(tmp_path).load(item_of("0001"))
    assert sample.images[0].array.tolist() == photo(HEIGHT, WIDTH, 1).tolist()
    assert sample.target[1, 1] == 3
    assert np.isnan(sample.target[0, 0])
    assert sample.valid.sum() == HEIGHT * WIDTH - 1


def test_flat_normals_lean_left_and_end_at_the_mask(tmp_path):
    write_flat(tmp_path)
    sample = reader(tmp_path, target="normals").load(item_of("0000"))
    assert sample.target[0, 0].tolist() == [-1, 0, 0]  # right, up, toward
    assert not sample.valid[1].any()
    assert sample.valid.sum() == (HEIGHT - 1) * WIDTH


def test_the_official_file_is_read_the_right_way_round(tmp_path):
    write_mat(tmp_path)
    data = reader(tmp_path)
    assert [item.id for item in data.index()] == ["0000", "0001"]
    first, second = load_all(data)
    assert first.images[0].array.tolist() == photo(HEIGHT, WIDTH, 2).tolist()  # number 3
    assert first.target[0, 1] == pytest.approx(3.01)
    assert first.target[1, 0] == pytest.approx(3 + WIDTH / 100)
    assert second.target[0, 0] == pytest.approx(1)
    assert first.valid is None


def test_raw_depth_has_holes(tmp_path):
    write_mat(tmp_path)
    sample = load_all(reader(tmp_path, depth_field="raw"))[0]
    assert np.isnan(sample.target[:, 0]).all()
    assert sample.valid.sum() == HEIGHT * (WIDTH - 1)


def test_normals_of_the_official_pictures_are_found_by_their_number(tmp_path):
    write_mat(tmp_path)
    data = reader(tmp_path, target="normals")
    sample = load_all(data)[0]
    assert sample.target[0, 1].tolist() == [0, 1, 0]
    assert not sample.valid[:, 0].any()
    (tmp_path / "normals_gt/nm_000003.mat").unlink()
    (problem,) = data.look(data.index())
    assert "nm_000003.mat" in str(problem)


def test_the_re_export_is_millimetres(tmp_path):
    for kind, value in (("depth", 1500), ("filled", 2500)):
        write_png(tmp_path / f"test/kitchen_01/{kind}_0007.png", np.full((4, 6), value, np.uint16))
    write_png(tmp_path / "test/kitchen_01/rgb_0007.png", photo(4, 6))
    (item,) = reader(tmp_path).index()
    assert (item.id, item.tags) == ("kitchen_01/0007", {"scene": "kitchen"})
    assert reader(tmp_path).load(item).target[0, 0] == pytest.approx(2.5)
    assert reader(tmp_path, depth_field="raw").load(item).target[0, 0] == pytest.approx(1.5)


@pytest.mark.parametrize("kind", ["png", "npy"])
def test_the_other_normals_are_read_from_pictures_or_arrays(tmp_path, kind):
    folder = tmp_path / "dsine_eval/nyuv2/test"
    write_png(folder / "000000_img.png", photo(4, 6))
    if kind == "png":
        colours = np.full((4, 6, 3), (128, 255, 128), np.uint8)
        colours[0] = 0
        write_png(folder / "000000_normal.png", colours)
    else:
        normals = np.zeros((4, 6, 3), np.float32)
        normals[1:, :, 1] = 1
        write_npy(folder / "000000_normal.npy", normals)
    (sample,) = load_all(reader(tmp_path, target="normals", ground_truth="dsine"))
    assert sample.target[1, 1] == pytest.approx([0, 1, 0], abs=0.005)
    assert not sample.valid[0].any()


def test_a_file_that_is_no_hdf5_is_named_with_its_cure(tmp_path):
    write_mat(tmp_path)
    (tmp_path / "nyu_depth_v2_labeled.mat").write_bytes(b"MATLAB 5.0 MAT-file" + bytes(200))
    with pytest.raises(MissingData, match="is no whole HDF5 file") as caught:
        reader(tmp_path).index()
    assert "fetch it again" in str(caught.value.cure)


def test_a_split_without_its_test_numbers_is_refused(tmp_path):
    write_mat(tmp_path)
    scipy.io.savemat(tmp_path / "splits.mat", {"trainNdxs": np.uint16([[1]])})
    with pytest.raises(MissingData, match=r"splits.mat holds no 'testNdxs'"):
        reader(tmp_path).index()
    (tmp_path / "splits.mat").write_bytes(b"junk")
    with pytest.raises(MissingData, match=r"splits\.mat is no MATLAB 5 file"):
        reader(tmp_path).index()
    (tmp_path / "splits.mat").unlink()
    with pytest.raises(MissingData, match=r"no file 'splits.mat'"):
        reader(tmp_path).index()


def test_a_split_that_counts_from_0_or_beyond_the_pictures_is_refused(tmp_path):
    write_mat(tmp_path, numbers=(0, 1))
    with pytest.raises(MissingData, match="counts from 1"):
        reader(tmp_path).index()
    write_mat(tmp_path, numbers=(4, 1))
    with pytest.raises(MissingData, match=r"holds 3 images, splits\.mat names number 4"):
        reader(tmp_path).index()


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([1.5, 1.2], "no whole numbers"),
        ([1, 1], "names a picture twice"),
        ([float("nan")], "whole"),
    ],
)
def test_a_split_of_other_numbers_is_refused(tmp_path, numbers, words):
    write_mat(tmp_path)
    scipy.io.savemat(tmp_path / "splits.mat", {"testNdxs": np.array(numbers)[:, None]})
    with pytest.raises(MissingData, match=words):
        reader(tmp_path).index()


@pytest.mark.parametrize("damage", ["floats", "group", "few"])
def test_a_file_of_other_contents_is_told_before_a_sample_is_read(tmp_path, damage):
    write_mat(tmp_path)
    with h5py.File(tmp_path / "nyu_depth_v2_labeled.mat", "a") as file:
        field = "depths" if damage == "few" else "images"
        old = np.asarray(file[field])
        del file[field]
        if damage == "floats":
            file[field] = old.astype(np.float64) * 1000
        elif damage == "few":
            file[field] = old[:1]
        else:
            file.create_group(field)
    with pytest.raises(MissingData, match=r"holds 1 depths|'images' is not the array of 4 axes"):
        reader(tmp_path).index()


def test_faulty_files_spoil_their_sample_and_are_told_together(tmp_path):
    write_flat(tmp_path, count=4)
    write_npy(tmp_path / "depth/0000.npy", np.ones((HEIGHT, WIDTH + 1), np.float32))
    whole = (tmp_path / "depth/0001.npy").read_bytes()
    (tmp_path / "depth/0001.npy").write_bytes(whole[:-8])
    (tmp_path / "images/0002.png").write_bytes(b"<html>")
    data = reader(tmp_path)
    with pytest.raises(BadSample, match=r"picture is 16x12, its depth 17x12"):
        data.load(item_of("0000"))
    problems = [str(problem) for problem in data.verify(data.index()[:4])]
    assert len(problems) == 3
    assert "is cut off" in problems[1]
    assert "images/0002.png" in problems[2]


def test_an_array_of_objects_runs_nothing(tmp_path):
    write_flat(tmp_path, count=1)
    np.save(tmp_path / "depth/0000.npy", np.array([{"a": 1}], object), allow_pickle=True)
    with pytest.raises(BadSample, match=r"needs? a pickle: not allowed"):
        reader(tmp_path).load(item_of("0000"))


def test_a_picture_without_any_depth_is_loaded_and_has_no_valid_pixel(tmp_path):
    write_flat(tmp_path, count=1)
    write_npy(tmp_path / "depth/0000.npy", np.zeros((HEIGHT, WIDTH), np.float32))
    assert not reader(tmp_path).load(item_of("0000")).valid.any()


def test_an_empty_folder_says_what_was_looked_for(tmp_path):
    with pytest.raises(MissingData, match=r"nyu_depth_v2_labeled\.mat, depth, test"):
        reader(tmp_path).index()


def test_the_flat_layout_has_no_raw_depth(tmp_path):
    write_flat(tmp_path, count=1)
    with pytest.raises(MissingData, match="filled depth alone"):
        reader(tmp_path, depth_field="raw").index()


def test_raw_depth_is_found_in_the_re_export_beside_the_flat_layout(tmp_path):
    write_flat(tmp_path, count=1)
    write_png(tmp_path / "test/kitchen_01/rgb_0007.png", photo(4, 6))
    write_png(tmp_path / "test/kitchen_01/depth_0007.png", np.full((4, 6), 1500, np.uint16))
    (sample,) = load_all(reader(tmp_path, depth_field="raw"))
    assert sample.target[0, 0] == pytest.approx(1.5)
    assert len(reader(tmp_path).index()) == 654


def test_normals_are_found_in_the_flat_layout_beside_the_official_file(tmp_path):
    write_flat(tmp_path, count=1)
    (tmp_path / "nyu_depth_v2_labeled.mat").write_bytes(b"pictures and depth")
    sample = reader(tmp_path, target="normals").load(item_of("0000"))
    assert sample.target[0, 0].tolist() == [-1, 0, 0]


def test_one_ground_truth_of_normals_never_stands_in_for_the_other(tmp_path):
    folder = tmp_path / "dsine_eval/nyuv2/test"
    write_png(folder / "000000_img.png", photo(4, 6))
    write_png(folder / "000000_normal.png", np.full((4, 6, 3), (128, 255, 128), np.uint8))
    with pytest.raises(MissingData, match="holds none of normals_gt, normals"):
        reader(tmp_path, target="normals").index()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"layout": "dsine"}, "layout dsine holds no filled depth"),
        ({"layout": "flat", "depth_field": "raw"}, "layout flat holds no raw depth"),
        ({"layout": "png", "target": "normals"}, "holds no normals of ground_truth ladicky"),
        ({"layout": "dsine", "target": "normals"}, "holds no normals of ground_truth ladicky"),
        (
            {"layout": "flat", "target": "normals", "ground_truth": "dsine"},
            "holds no normals of ground_truth dsine",
        ),
        ({"ground_truth": "dsine"}, "ground_truth is about normals"),
    ],
)
def test_a_layout_that_cannot_hold_the_truth_is_refused(options, reason):
    with pytest.raises(ValueError, match=reason):
        NYUv2.Options(**options)


def test_depth_of_8_bits_is_no_depth_of_the_re_export(tmp_path):
    write_png(tmp_path / "test/kitchen_01/rgb_0007.png", photo(4, 6))
    write_png(tmp_path / "test/kitchen_01/filled_0007.png", np.full((4, 6), 200, np.uint8))
    with pytest.raises(BadSample, match=r"filled_0007\.png: is grey of 8 bits, the release"):
        load_all(reader(tmp_path))


def test_another_split_is_another_data_set(tmp_path):
    write_mat(tmp_path)
    before = reader(tmp_path).fingerprint()
    scipy.io.savemat(tmp_path / "splits.mat", {"testNdxs": np.uint16([[2], [1]])})
    assert reader(tmp_path).fingerprint() != before


def test_official_arrays_of_another_kind_spoil_their_samples(tmp_path):
    write_mat(tmp_path)
    with h5py.File(tmp_path / "nyu_depth_v2_labeled.mat", "a") as file:
        del file["images"]
        file["images"] = np.zeros((3, WIDTH, HEIGHT), np.uint8)
    with pytest.raises(MissingData, match="'images' is not the array of 4 axes wanted"):
        reader(tmp_path).index()
    parts = {name: np.zeros((2, 2)) for name in ("nx", "ny", "nz")}
    scipy.io.savemat(tmp_path / "normals_gt/nm_000003.mat", {**parts, "depthValid": np.ones(3)})
    write_mat(tmp_path / "whole")
    (tmp_path / "normals_gt/nm_000003.mat").replace(tmp_path / "whole/normals_gt/nm_000003.mat")
    with pytest.raises(BadSample, match="no maps of one size"):
        load_all(reader(tmp_path / "whole", target="normals"))


def test_four_threads_read_the_official_file_as_one_does(tmp_path):
    write_mat(tmp_path, numbers=tuple(range(60, 0, -1)), count=60)
    data = reader(tmp_path)
    assert data.verify(data.index()) == []
    with ThreadPoolExecutor(4) as pool:
        found = [sample.target[0, 0] for sample in pool.map(data.load, data.index())]
    assert found == pytest.approx(list(range(60, 0, -1)))


def test_the_fingerprint_follows_the_truth_and_not_the_time(tmp_path):
    write_flat(tmp_path, count=1)
    before = reader(tmp_path).fingerprint()
    (tmp_path / "depth/0000.npy").touch()
    assert reader(tmp_path).fingerprint() == before
    write_npy(tmp_path / "depth/0000.npy", np.full((HEIGHT, WIDTH), 9, np.float32))
    assert reader(tmp_path).fingerprint() != before
