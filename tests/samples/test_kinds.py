"""Every kind of truth, of photographs whole and cropped and of scenes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from samplekit import Make, Photos, toy_scene
from vgen_eval.errors import BadSample, CardError, MissingData, UsageError
from vgen_eval.types import Sample
from vgen_eval_plugins.raycast.render import Rendering, render
from vgen_eval_plugins.raycast.scenes import parse_scenes
from vgen_eval_plugins.samples.reader import Samples

CLASSES = ["sky", "ball", "floor", "wall"]


def only(data: Samples) -> Sample:
    (item,) = data.index()
    return data.load(item)


def rendered() -> Rendering:
    return render(parse_scenes(json.dumps([toy_scene()]).encode(), file="x")["toy"])


def square(left: int, top: int, right: int, bottom: int) -> list[list[int]]:
    return [[left, top], [right, top], [right, bottom], [left, bottom]]


def scene_line(**changes: Any) -> dict[str, Any]:
    return {"id": "s", "group": "toy", "scene": "toy", **changes}


def test_a_crop_cuts_picture_mask_and_points_alike(photos: Photos, make: Make) -> None:
    crop = [5, 10, 20, 12]
    cut = np.s_[5:25, 10:22]
    mask = photos.line(query="q", polygons=[square(0, 0, 15, 10)], holes=[square(11, 6, 12, 7)])
    whole = only(make("referring", mask)).target
    sample = only(make("referring", {**mask, "crop": crop}))
    assert np.array_equal(sample.images[0].array, photos.pixels[cut])
    assert np.array_equal(sample.target, whole[cut])
    assert 0 < sample.target.sum() < whole.sum()
    points = [[10, 5], [9.4, 5], [21.4, 24.4], [21.5, 24], [15, 12.5], [39, 29]]
    count = photos.line(query="q", count=6, points=points, crop=crop)
    target = only(make("counting", count)).target
    assert target.count == 3
    assert target.points == pytest.approx(np.array([[0, 0], [11.4, 19.4], [5, 7.5]]))


def test_a_crop_that_keeps_no_object_counts_none(photos: Photos, make: Make) -> None:
    line = photos.line(query="q", count=1, points=[[1, 1]], crop=[10, 10, 5, 5])
    target = only(make("counting", line)).target
    assert (target.count, target.points.shape) == (0, (0, 2))


def test_depth_is_baseline_times_focal_over_disparity_and_offset(
    photos: Photos, make: Make
) -> None:
    sample = only(make("depth", photos.line(disparity=photos.stereo())))
    assert sample.target.dtype == np.float32
    for row, column in ((0, 0), (10, 20), (29, 39)):
        expected = 0.120 * 50.0 / (float(photos.disparity[row, column]) + 2.0)
        assert sample.target[row, column] == np.float32(expected)
    unknown = np.zeros((30, 40), bool)
    unknown[3, 5:8] = True
    assert np.array_equal(np.isnan(sample.target), unknown)
    assert np.array_equal(sample.valid, ~unknown)
    assert sample.fields == {}
    part = only(make("depth", photos.line(disparity=photos.stereo(), crop=[10, 3, 9, 8])))
    assert np.array_equal(part.target, sample.target[10:19, 3:11])
    assert part.valid is None


def test_disparity_before_the_camera_is_unknown(photos: Photos, make: Make) -> None:
    disparity = np.full((30, 40), 3.0, np.float32)
    disparity[:2, :2] = [[-2, -5], [-1.5, 0]]
    photos.save(disparity)
    target = only(make("depth", photos.line(disparity=photos.stereo()))).target
    assert np.isnan(target[0, :2]).all()
    assert target[1, :2].tolist() == [12, 3]


def test_normals_of_a_slanted_plane_are_exact(photos: Photos, make: Make) -> None:
    normal = np.array([0.36, 0.48, 0.8])
    x = (np.arange(40) - 19.5) / 50.0
    y = (14.0 - np.arange(30)[:, None]) / 50.0
    depth = -2.0 / (normal[0] * x + normal[1] * y - normal[2])  # normal . point = -2
    disparity = (0.120 * 50.0 / depth - 2.0).astype(np.float32)
    disparity[6, 7] = np.nan
    photos.save(disparity)
    line = photos.line(disparity=photos.stereo())
    sample = only(make("normals", line))
    known = np.zeros((30, 40), bool)
    known[1:-1, 1:-1] = True
    known[[6, 5, 7, 6, 6], [7, 7, 7, 6, 8]] = False
    assert np.array_equal(sample.valid, known)
    assert sample.target.dtype == np.float32
    # disparity is kept to 24 bits, differences of neighbours to fewer
    assert np.abs(sample.target[known] - normal).max() < 1e-4
    part = only(make("normals", {**line, "crop": [0, 4, 12, 10]}))
    assert np.array_equal(part.target, sample.target[:12, 4:14], equal_nan=True)
    assert np.array_equal(part.valid, known[:12, 4:14])


def test_no_normal_spans_two_surfaces(photos: Photos, make: Make) -> None:
    disparity = np.full((30, 40), 10.0, np.float32)
    disparity[:, 20:] = 20.0
    photos.save(disparity)
    sample = only(make("normals", photos.line(disparity=photos.stereo())))
    assert not sample.valid[:, 19:21].any()
    assert sample.valid[1:-1, 18].all()
    assert sample.valid[1:-1, 21].all()
    assert sample.target[sample.valid] == pytest.approx(np.tile([0, 0, 1], (28 * 36, 1)), abs=1e-6)


def test_layers_are_painted_in_their_order_over_the_rest(photos: Photos, make: Make) -> None:
    layers = [
        {"label": "floor", "polygons": [square(0, 20, 39, 29)]},
        {"label": "ball", "polygons": [square(10, 15, 19, 24)], "holes": [square(12, 17, 13, 18)]},
        {"label": None, "polygons": [square(0, 28, 4, 29)]},
    ]
    expected = np.full((30, 40), 3)
    expected[20:30] = 2
    hole = expected[17:19, 12:14].copy()
    expected[15:25, 10:20] = 1
    expected[17:19, 12:14] = hole
    expected[28:30, 0:5] = -1
    line = photos.line(layers=layers, rest="wall")
    sample = only(make("semantic", line, classes=CLASSES))
    assert sample.target.classes == tuple(CLASSES)
    assert sample.target.labels.dtype == np.int32
    assert np.array_equal(sample.target.labels, expected)
    assert sample.valid is None
    there = [name for at, name in enumerate(CLASSES) if (expected == at).any()]
    assert sample.fields == {"present": "\n".join(there)}
    open_rest = only(make("semantic", {**line, "rest": None}, classes=CLASSES)).target.labels
    assert np.array_equal(open_rest, np.where(expected == 3, -1, expected))
    part = only(make("semantic", {**line, "crop": [12, 8, 10, 9]}, classes=CLASSES))
    assert np.array_equal(part.target.labels, expected[12:22, 8:17])


def test_scenes_give_every_kind_of_truth(make: Make) -> None:
    seen = rendered()
    scenes = [toy_scene("other"), toy_scene()]
    depth = only(make("depth", scene_line(), scenes=scenes))
    assert np.array_equal(depth.images[0].array, seen.rgb)
    assert np.array_equal(depth.target, seen.depth.astype(np.float32), equal_nan=True)
    assert np.array_equal(depth.valid, seen.objects >= 0)
    normals = only(make("normals", scene_line(), scenes=scenes))
    assert normals.target.dtype == np.float32
    assert np.array_equal(normals.target, seen.normals.astype(np.float32), equal_nan=True)
    assert np.array_equal(normals.valid, seen.objects >= 0)
    labels = only(make("semantic", scene_line(), scenes=scenes, classes=CLASSES))
    order = [CLASSES.index(name) for name in ("floor", "wall", "ball", "ball", "sky")]
    assert np.array_equal(labels.target.labels, np.array(order)[seen.objects])
    names = {"floor": "ground", "wall": "building", "ball": None}
    mapped = only(
        make(
            "semantic",
            scene_line(classes=names),
            scenes=scenes,
            classes=["building", "sky", "ground"],
        )
    )
    assert np.array_equal(mapped.target.labels, np.array([2, 0, -1, -1, 1])[seen.objects])
    count = only(make("counting", scene_line(query="the balls", label="ball"), scenes=scenes))
    assert (count.target.count, count.fields) == (2, {"query": "the balls"})
    for (x, y), place in zip(count.target.points, (2, 3), strict=True):
        assert seen.objects[round(y), round(x)] == place
    mask = only(make("referring", scene_line(query="q", objects=["right"]), scenes=scenes))
    assert np.array_equal(mask.target, seen.objects == 3)
    none = only(make("referring", scene_line(query="q", objects=[]), scenes=scenes))
    assert not none.target.any()


def test_photographs_and_scenes_stand_in_one_file(photos: Photos, make: Make) -> None:
    photo = photos.line(disparity=photos.stereo(), tags={"picture": "photo"})
    data = make("depth", photo, scene_line(tags={"picture": "rendered"}), scenes=[toy_scene()])
    assert [(item.id, item.group, item.tags["picture"]) for item in data.index()] == [
        ("a", "g", "photo"), ("s", "toy", "rendered"),
    ]  # fmt: skip
    assert [data.load(item).images[0].width for item in data.index()] == [40, 48]


def test_every_fault_of_lines_and_scenes_is_told_at_once(photos: Photos, make: Make) -> None:
    fine = {"query": "q", "label": "ball"}
    data = make(
        "counting",
        photos.line(query="q", count=0),
        scene_line(id="b", image="photo.png", **fine),
        {"id": "c", "group": "g", **fine},
        scene_line(id="d", **{**fine, "label": "bal"}),
        {**scene_line(id="e", **fine), "scene": "toi"},
        photos.line(id="f", query="q", count=1, crop=[0, 0, 4, 4]),
        photos.line(id="g", query="q", count=0, points=[], crop=[0, -1, 4, 4]),
        photos.line(id="h", query="q", count=0, points=[], crop=[0, 0, 0, 4]),
        photos.line(id="i", query="q", count=0, points=[], crop=[0, 0, 4]),
        scene_line(id="j", crop=[0, 0, 4, 4], **fine),
        scene_line(id="b", **fine),
        scene_line(id="b", **fine),
        scenes=[toy_scene()],
    )
    with pytest.raises(CardError) as error:
        data.index()
    told = {problem.line: str(problem) for problem in error.value.problems}
    parts = {
        2: "both `image` and `scene`", 3: "neither `image` nor `scene`",
        4: "label: nothing in scene 'toy' has the label 'bal'. Nearest: ball",
        5: "scene: no scene 'toi'. Nearest: toy", 6: "`crop` wants `points`", 7: "crop",
        8: "crop", 9: "length 4", 10: "crop", 12: "id: id 'b' is that of line 11 again",
    }  # fmt: skip
    assert told.keys() == parts.keys()
    for line, part in parts.items():
        assert part in told[line]
        assert told[line].split(":")[0].endswith("lines.jsonl")


def test_faults_of_the_scenes_file_stand_beside_those_of_lines(make: Make) -> None:
    scenes = [toy_scene(), toy_scene("odd", ligth=3)]
    data = make("depth", scene_line(scene="odd"), scene_line(id="t", depht=1), scenes=scenes)
    with pytest.raises(CardError) as error:
        data.index()
    first, second = (str(problem) for problem in error.value.problems)
    assert "scenes.json: scene 'odd'" in first
    assert "ligth" in first
    assert "lines.jsonl:2" in second
    assert "depht" in second


def test_scene_lines_want_a_file_of_scenes(make: Make) -> None:
    with pytest.raises(CardError, match=r"no scene 'toy'\. The option `scenes` names no file"):
        make("depth", scene_line()).index()
    with pytest.raises(MissingData, match=r"scenes .*absent\.json"):
        make("depth", scene_line(), scenes=[], scenes_file="absent.json").index()
    with pytest.raises(UsageError, match=r"scenes .*leads out"):
        make("depth", scene_line(), scenes=[], scenes_file="../x.json").index()


def test_names_of_objects_and_classes_are_checked(photos: Photos, make: Make) -> None:
    line = scene_line(query="q", objects=["left", "lft", "top"])
    with pytest.raises(CardError) as error:
        make("referring", line, scenes=[toy_scene()]).index()
    assert [problem.message for problem in error.value.problems] == [
        "scene 'toy' has no object 'lft'. Nearest: left",
        "scene 'toy' has no object 'top'.",
    ]
    line = scene_line(classes={"flor": "floor", "sky": "heaven"})
    with pytest.raises(CardError) as error:
        make("semantic", line, scenes=[toy_scene()], classes=["ball", "floor", "wall"]).index()
    assert [problem.message for problem in error.value.problems] == [
        "nothing in scene 'toy' has the label 'flor'. Nearest: floor",
        "'heaven' is none of the classes.",
    ]
    layers = [{"label": "flor", "polygons": [square(0, 0, 3, 3)]}]
    with pytest.raises(CardError) as error:
        make(
            "semantic",
            scene_line(),
            photos.line(layers=layers, rest="roof"),
            scenes=[toy_scene()],
            classes=["ball", "floor"],
        ).index()
    assert [(problem.line, problem.message) for problem in error.value.problems] == [
        (1, "'wall' is none of the classes. Nearest: ball"),
        (1, "'sky' is none of the classes."),
        (2, "'flor' is none of the classes. Nearest: floor"),
        (2, "'roof' is none of the classes."),
    ]


@pytest.mark.parametrize(
    ("kind", "classes", "reason"),
    [
        ("semantic", [], "`classes` are named for kind semantic"),
        ("depth", ["a"], "`classes` are named for kind semantic"),
        ("semantic", ["a", "b", "a"], "stands twice"),
        ("semantic", ["a", ""], "is empty"),
    ],
)
def test_classes_belong_to_semantic_and_differ(
    make: Make, kind: str, classes: list[str], reason: str
) -> None:
    with pytest.raises(CardError, match=reason):
        make(kind, scene_line(), scenes=[toy_scene()], classes=classes)


@pytest.mark.parametrize("crop", [[0, 0, 31, 5], [0, 0, 5, 41], [30, 0, 1, 1], [25, 36, 5, 5]])
def test_a_crop_that_leads_out_of_the_photo_is_refused(
    photos: Photos, make: Make, crop: list[int]
) -> None:
    with pytest.raises(BadSample, match=r"crop .* leads out of photo\.png, 40x30"):
        only(make("referring", photos.line(query="q", polygons=[], crop=crop)))


def test_layers_outside_the_photo_are_refused(photos: Photos, make: Make) -> None:
    layers = [{"label": "ball", "polygons": [square(0, 0, 41, 3)]}]
    with pytest.raises(BadSample, match="outside"):
        only(make("semantic", photos.line(layers=layers), classes=CLASSES))


def test_disparity_files_are_found_pinned_and_read_safely(photos: Photos, make: Make) -> None:
    with pytest.raises(MissingData, match=r"gone\.npz"):
        make("depth", photos.line(disparity=photos.stereo(file="gone.npz"))).index()
    with pytest.raises(BadSample, match=r"disp\.npz: its sha256 is"):
        only(make("depth", photos.line(disparity=photos.stereo(sha256="0" * 64))))
    for name in ("../disp.npz", "/disp.npz", "a/b.npz"):
        with pytest.raises(CardError):
            make("depth", photos.line(disparity=photos.stereo(file=name))).index()
    odd = photos.save(np.zeros((30, 41), np.float32), "odd.npz")
    with pytest.raises(BadSample, match="the disparity is 41x30"):
        only(make("depth", photos.line(disparity=photos.stereo(file="odd.npz", sha256=odd))))
    pickled = photos.save(np.array([[{}]], object), "pickle.npz")
    with pytest.raises(BadSample, match=r"pickle\.npz"):
        only(make("depth", photos.line(disparity=photos.stereo(file="pickle.npz", sha256=pickled))))
    broken = photos.add("broken.npz", b"PK\x03\x04 and then nothing")
    with pytest.raises(BadSample, match=r"broken\.npz"):
        only(make("depth", photos.line(disparity=photos.stereo(file="broken.npz", sha256=broken))))


def test_normals_want_the_principal_point(photos: Photos, make: Make) -> None:
    line = photos.line(disparity=photos.stereo(principal_px=...))
    with pytest.raises(CardError, match="principal_px"):
        make("normals", line).index()
    assert only(make("depth", line)).target.shape == (30, 40)


@pytest.mark.parametrize(
    "changes", [{"focal_px": 0}, {"baseline_mm": -1}, {"doff": 3}, {"principal_px": [1]}]
)
def test_faulty_stereo_is_refused(photos: Photos, make: Make, changes: dict[str, Any]) -> None:
    with pytest.raises(CardError):
        make("depth", photos.line(disparity=photos.stereo(**changes))).index()


def test_the_fingerprint_changes_with_the_scenes(make: Make) -> None:
    first = make("depth", scene_line(), scenes=[toy_scene()]).fingerprint()
    assert first == make("depth", scene_line(), scenes=[toy_scene()]).fingerprint()
    other = toy_scene(sky={"colour": [0, 0, 0]})
    assert first != make("depth", scene_line(), scenes=[other]).fingerprint()
