"""Samples of a manifest: every kind of truth as the families take it, faulty files, identity."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest
from manifestkit import HEIGHT, WIDTH, make_photo, open_manifest, save
from vgen_eval.cards import convert
from vgen_eval.errors import BadSample, CardError
from vgen_eval.prompting import fill
from vgen_eval.types import Sample
from vgen_eval_plugins.files import Folder
from vgen_eval_plugins.fingerprint import digest_files
from vgen_eval_plugins.manifest.reader import Manifest

HOSTILE = 'the "red" one\n{query} {0} %s %(x)s {{ \\ 100% <b>\u202e'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(tmp_path / "a.png", make_photo())
    return tmp_path


def load(folder: Path, line: dict[str, Any], **options: Any) -> Sample:
    data = open_manifest(folder, {"id": "a", "image": "a.png", **line}, **options)
    return data.load(data.index()[0])


def faulty(folder: Path, line: dict[str, Any], **options: Any) -> str:
    with pytest.raises(BadSample) as caught:
        load(folder, line, **options)
    assert "manifest.jsonl:1: " in caught.value.what
    return caught.value.what


# --- depth


def test_depth_is_metres_and_nan_where_there_is_no_reading(folder: Path) -> None:
    raw = np.full((HEIGHT, WIDTH), 2500, np.uint16)
    raw[0], raw[1] = 65535, 0
    save(folder / "d.png", raw)
    sample = load(
        folder, {"depth": "d.png"}, target="depth", depth={"scale": 0.001, "invalid": [65535]}
    )
    assert sample.target.dtype == np.float32
    assert np.isnan(sample.target[:2]).all()
    assert (sample.target[2:] == np.float32(2.5)).all()


def test_floats_without_a_reading_are_nan_too(folder: Path) -> None:
    raw = np.full((HEIGHT, WIDTH), 3.0, np.float32)
    raw[0], raw[1], raw[2], raw[3], raw[4] = np.nan, np.inf, 0, -1, 90
    save(folder / "d.npy", raw)
    target = load(folder, {"depth": "d.npy"}, target="depth", depth={"max_depth": 80}).target
    assert np.isnan(target[:5]).all()
    assert (target[5:] == 3).all()


def test_a_map_without_any_reading_is_a_sample_all_the_same(folder: Path) -> None:
    save(folder / "d.npy", np.zeros((HEIGHT, WIDTH), np.float32))
    assert np.isnan(load(folder, {"depth": "d.npy"}, target="depth").target).all()


def test_whole_numbers_without_a_scale_are_no_metres(folder: Path) -> None:
    save(folder / "d.png", np.full((HEIGHT, WIDTH), 2500, np.uint16))
    assert "scale" in faulty(folder, {"depth": "d.png"}, target="depth")


# --- gaps


@pytest.mark.parametrize("kind", ["depth", "normals", "labels"])
def test_a_mask_of_known_pixels_leaves_a_gap_in_the_truth_itself(folder: Path, kind: str) -> None:
    known = np.ones((HEIGHT, WIDTH), bool)
    known[:5], known[9, 9] = False, False
    save(folder / "v.npy", known)
    shape = (HEIGHT, WIDTH, 3) if kind == "normals" else (HEIGHT, WIDTH)
    dtype = np.uint8 if kind == "labels" else np.float32
    save(folder / "t.npy", np.ones(shape, dtype))
    options = {"labels": {"classes": ["a", "b"]}} if kind == "labels" else {}
    sample = load(folder, {kind: "t.npy", "valid": "v.npy"}, target=kind, **options)
    if kind == "labels":
        gaps, rest = sample.target.labels == -1, sample.target.labels[known] == 1
        assert sample.target.labels.dtype == np.int32
    else:
        gaps, rest = np.isnan(sample.target), np.isfinite(sample.target[known])
        assert sample.target.dtype == np.float32
        gaps = gaps.all(axis=2) if kind == "normals" else gaps
    assert (gaps == ~known).all()
    assert rest.all()
    assert (sample.valid == known).all()


# --- normals, masks, labels


def test_normals_come_in_the_house_frame_with_length_one(folder: Path) -> None:
    down = np.zeros((HEIGHT, WIDTH, 3), np.float32)
    down[...] = (0, 2, -2)  # OpenCV: y down, z away
    down[0] = 0
    save(folder / "n.npy", down)
    target = load(
        folder, {"normals": "n.npy"}, target="normals", normals={"frame": "opencv"}
    ).target
    assert np.isnan(target[0]).all()
    half = np.float32(np.sqrt(0.5))
    assert target[5, 5] == pytest.approx([0, -half, half], abs=1e-6)


def test_a_mask_is_bool_and_valid_stands_beside_it(folder: Path) -> None:
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    mask[4:9, 5:9] = 255
    save(folder / "m.png", mask)
    save(folder / "v.png", np.eye(HEIGHT, WIDTH, dtype=np.uint8) * 255)
    sample = load(folder, {"mask": "m.png", "valid": "v.png"}, target="mask")
    assert sample.target.dtype == bool
    assert int(sample.target.sum()) == 20
    assert int(sample.valid.sum()) == HEIGHT


def test_label_values_become_places_in_the_table_of_classes(folder: Path) -> None:
    raw = np.full((HEIGHT, WIDTH), 7, np.uint8)
    raw[:, :4], raw[0] = 11, 255
    save(folder / "l.png", raw)
    classes = [{"name": "building", "value": 11}, {"name": "road", "value": 7}]
    sample = load(
        folder, {"labels": "l.png"}, target="labels", labels={"classes": classes, "ignore": [255]}
    )
    target = sample.target
    assert sample.fields == {"present": "building\nroad"}
    assert target.classes == ("building", "road")
    assert target.labels[0].tolist() == [-1] * WIDTH
    assert target.labels[1].tolist() == [0] * 4 + [1] * (WIDTH - 4)


def test_a_map_that_is_all_ignored_is_a_sample_all_the_same(folder: Path) -> None:
    save(folder / "l.png", np.full((HEIGHT, WIDTH), 255, np.uint8))
    labels = {"classes": ["a", "b"], "ignore": [255]}
    assert (
        load(folder, {"labels": "l.png"}, target="labels", labels=labels).target.labels == -1
    ).all()


def test_labels_painted_in_colours_are_read_exactly(folder: Path) -> None:
    raw = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    raw[:, 10:] = (128, 64, 128)
    save(folder / "l.png", raw)
    classes = [{"name": "void", "colour": "#000000"}, {"name": "road", "colour": [128, 64, 128]}]
    options = {"target": "labels", "labels": {"classes": classes, "encoding": "colour"}}
    assert load(folder, {"labels": "l.png"}, **options).target.labels[3, 9:11].tolist() == [0, 1]
    raw[2, 2] = (127, 64, 128)
    save(folder / "l.png", raw)
    assert "#7f4080 (1 px)" in faulty(folder, {"labels": "l.png"}, **options)


def test_labels_outside_of_the_table_are_listed(folder: Path) -> None:
    raw = np.zeros((HEIGHT, WIDTH), np.uint8)
    raw[0, 0], raw[0, 1] = 9, 200
    save(folder / "l.png", raw)
    text = faulty(folder, {"labels": "l.png"}, target="labels", labels={"classes": ["a", "b"]})
    assert "9 (1 px), 200 (1 px)" in text


@pytest.mark.parametrize("field", ["mask", "valid", "depth", "labels", "normals"])
def test_a_truth_of_another_size_names_both_sizes(folder: Path, field: str) -> None:
    save(folder / "t.npy", np.ones((10, 12, 3) if field == "normals" else (10, 12), np.float32))
    save(folder / "ok.png", np.zeros((HEIGHT, WIDTH), np.uint8))
    target = "mask" if field == "valid" else field
    line = {"mask": "ok.png", field: "t.npy"}
    text = faulty(folder, line, target=target, labels={"classes": ["a", "b"]})
    assert "12x10" in text
    assert f"{WIDTH}x{HEIGHT}" in text


# --- values


def test_counts_and_points_are_counting_targets(folder: Path) -> None:
    assert load(folder, {"count": 3}, target="count").target.count == 3
    target = load(folder, {"points": [[1, 2], [3, 4.5]]}, target="points").target
    assert (target.count, target.points.tolist()) == (2, [[1, 2], [3, 4.5]])
    assert "outside the picture" in faulty(folder, {"points": [[WIDTH + 1, 0]]}, target="points")


def test_text_reaches_the_prompt_as_it_is(folder: Path) -> None:
    sample = load(folder, {"count": 1, "query": HOSTILE, "fields": {"hint": "{x}"}}, target="count")
    assert fill("Q: {query} H: {hint}", sample.fields) == f"Q: {HOSTILE} H: {{x}}"


def test_transparent_pixels_lie_on_the_background(folder: Path) -> None:
    pixels = np.dstack([make_photo(), np.zeros((HEIGHT, WIDTH), np.uint8)])
    PIL.Image.fromarray(pixels).save(folder / "a.png")
    sample = load(folder, {"count": 1}, target="count", background=[1, 2, 3])
    assert (sample.images[0].array == (1, 2, 3)).all()


def test_several_pictures_are_one_sample(folder: Path) -> None:
    save(folder / "b.png", make_photo(1, height=8, width=8))
    line = {"id": "x", "images": ["a.png", "b.png"], "count": 1}
    data = open_manifest(folder, line, target="count")
    sizes = [(image.height, image.width) for image in data.load(data.index()[0]).images]
    assert sizes == [(HEIGHT, WIDTH), (8, 8)]


# --- faults of many, options, identity


def test_verify_tells_every_faulty_sample_with_its_line(folder: Path) -> None:
    save(folder / "small.png", np.zeros((4, 4), np.uint8))
    save(folder / "good.png", np.zeros((HEIGHT, WIDTH), np.uint8))
    (folder / "torn.png").write_bytes((folder / "good.png").read_bytes()[:40])
    names = ["good.png", "small.png", "torn.png", "good.png"]
    lines = [{"id": f"s{n}", "image": "a.png", "mask": name} for n, name in enumerate(names)]
    data = open_manifest(folder, *lines, target="mask")
    problems = data.verify(data.index())
    assert [(p.line, p.path) for p in problems] == [(2, "s1"), (3, "s2")]
    assert "4x4" in problems[0].message
    assert "torn.png" in problems[1].message


def test_a_picture_that_is_not_the_one_pinned_is_faulty(folder: Path) -> None:
    good = hashlib.sha256((folder / "a.png").read_bytes()).hexdigest()
    assert load(folder, {"count": 1, "sha256": {"a.png": good}}, target="count").target.count == 1
    assert "sha256" in faulty(folder, {"count": 1, "sha256": {"a.png": "0" * 64}}, target="count")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "deph"}, "deph"),
        ({"target": "labels"}, "labels.classes"),
        ({"target": "normals", "normals": {"frame": "sideways"}}, "no frame"),
        ({"target": "depth", "depth": {"scale": 0}}, "more than 0"),
        ({"target": "labels", "labels": {"classes": ["a"], "encoding": "colour"}}, "colour of"),
        ({"target": "count", "manfest": "x"}, "manifest"),
        (
            {"target": "labels", "labels": {"classes": ["a", {"name": "b", "value": 0}]}},
            "value 0 is 'a' and 'b'",
        ),
    ],
)
def test_options_that_cannot_be_meant_are_refused(options: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(CardError, match=words):
        convert(Manifest.Options, options, file="task.yaml")


def test_the_fingerprint_follows_content_and_neither_time_nor_place(folder: Path) -> None:
    raw = np.zeros((HEIGHT, WIDTH), np.float32)
    save(folder / "d.npy", raw)
    lines = [{"id": "a", "image": "a.png", "depth": "d.npy"}]
    first = open_manifest(folder, *lines, target="depth").fingerprint()
    copy = folder.parent / "copy"
    shutil.copytree(folder, copy)
    (copy / "d.npy").touch()
    assert open_manifest(copy, target="depth").fingerprint() == first
    raw[3, 3] = 1  # the same number of bytes
    save(copy / "d.npy", raw)
    assert open_manifest(copy, target="depth").fingerprint() != first
    lines[0]["tags"] = {"new": "yes"}  # type: ignore[assignment]
    assert open_manifest(folder, *lines, target="depth").fingerprint() != first


def test_large_data_counts_by_size_and_three_parts_of_each_file(tmp_path: Path) -> None:
    path = tmp_path / "big.bin"
    data = bytearray(1 << 20)

    def digest() -> str:
        path.write_bytes(data)
        files = {"big.bin": Folder(tmp_path).find("big.bin")}
        return digest_files(b"", files, (), most=1 << 10)

    first = digest()
    for place in (0, 1 << 19, (1 << 20) - 1):
        data[place] = 1
        assert digest() != first
        data[place] = 0
    data[1 << 17] = 1  # between the parts: not seen, which is the price of not reading it all
    assert digest() == first
    data.append(0)
    assert digest() != first
