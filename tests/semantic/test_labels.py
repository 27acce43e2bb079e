"""Label maps from file values and colours, label arrays as answers, and the failure value."""

from __future__ import annotations

import io

import numpy as np
import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from vgen_eval.cards import convert
from vgen_eval.errors import CardError, Undecodable
from vgen_eval.imaging import Image
from vgen_eval.types import NoOptions, Scene
from vgen_eval_plugins.semantic.encoders import NativeLabelsEncoder
from vgen_eval_plugins.semantic.labels import LabelClass, LabelMap, from_colours, to_labels
from vgen_eval_plugins.semantic.native_labels import LabelOptions, NativeLabels, VoidLabels


def scene_of(height: int, width: int, seen: tuple[int, int] | None = None) -> Scene:
    image = Image(np.zeros((*(seen or (height, width)), 3), np.uint8))
    return Scene(image=image, size=(height, width))


def named(*names: str) -> list[LabelClass]:
    return [LabelClass(name) for name in names]


def decode(answer: object, scene: Scene, **options: object) -> LabelMap:
    decoder = NativeLabels(LabelOptions(**options))  # type: ignore[arg-type]
    value = decoder.decode(answer, scene).value
    assert isinstance(value, LabelMap)
    return value


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.int64])
def test_values_are_positions_unless_the_table_says_otherwise(dtype: type) -> None:
    raw: NDArray[np.int64] = np.array([[0, 1, 2], [2, 1, 0]], dtype)
    plain = to_labels(raw, named("a", "b", "c"))
    assert plain.classes == ("a", "b", "c")
    assert plain.labels.dtype == np.int32
    assert plain.labels.tolist() == raw.tolist()
    ids = [LabelClass("road", 7), LabelClass("nature", (21, 22)), LabelClass("sky", 23)]
    found = to_labels(np.array([[23, 7, 22, 21, 3]], dtype), ids, ignore=(3, 99))
    assert found.labels.tolist() == [[2, 0, 1, 1, -1]]


def test_classes_of_one_name_are_one_class() -> None:
    table = [LabelClass("car", 26), LabelClass("bus", 28), LabelClass("car", 29)]
    found = to_labels(np.array([[26, 28, 29]]), table)
    assert (found.classes, found.labels.tolist()) == (("car", "bus"), [[0, 1, 0]])


def test_offset_and_ignored_zero() -> None:
    raw = np.array([[0, 1, 2, 3]], np.uint8)
    found = to_labels(raw, named("a", "b", "c"), offset=-1, ignore=(0,))
    assert found.labels.tolist() == [[-1, 0, 1, 2]]
    with pytest.raises(ValueError, match=r"outside the table of classes: 0 \(1 px\)$"):
        to_labels(raw, named("a", "b", "c"), offset=-1)


def test_values_outside_the_table_are_listed_with_their_pixels() -> None:
    raw = np.array([[0, 0, 255, 255, 255, 7, -1]], np.int32)
    with pytest.raises(ValueError, match=r"-1 \(1 px\), 7 \(1 px\), 255 \(3 px\)$"):
        to_labels(raw, named("a", "b"))
    with pytest.raises(ValueError, match=r"9 \(1 px\) and 12 more$"):
        to_labels(np.arange(22).reshape(2, 11), named("a", "b"))
    far = np.array([[0, 1, 1 << 30, -(1 << 30)]])
    with pytest.raises(ValueError, match=r"-1073741824 \(1 px\), 1073741824 \(1 px\)$"):
        to_labels(far, named("a", "b"))


def test_values_far_apart_are_looked_up_too() -> None:
    table = [LabelClass("a", 5), LabelClass("b", 2_000_000_000), LabelClass("c", -40)]
    raw = np.array([[2_000_000_000, 5, -40, 0]])
    assert to_labels(raw, table, ignore=(0,)).labels.tolist() == [[1, 0, 2, -1]]


def test_tables_that_contradict_themselves_are_refused() -> None:
    with pytest.raises(ValueError, match="value 3 is 'a' and 'b'"):
        to_labels(np.zeros((1, 1), int), [LabelClass("a", 3), LabelClass("b", (1, 3))])
    with pytest.raises(ValueError, match="no class"):
        to_labels(np.zeros((1, 1), int), [])
    for wrong in (np.zeros((1, 1)), np.zeros((1, 1, 1), int), np.zeros((1, 1), bool)):
        with pytest.raises(ValueError, match="whole numbers"):
            to_labels(wrong, named("a"))


def test_indexed_png_gives_indices_whatever_its_colours() -> None:
    indices = np.repeat(np.arange(5, dtype=np.uint8), 100).reshape(20, 25)
    picture = PIL.Image.fromarray(indices, "P" if PIL.__version__ < "11" else None)
    picture.putpalette([0, 0, 0, 0, 0, 1, 128, 0, 0, 0, 128, 0, 128, 128, 0])
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    buffer.seek(0)
    with PIL.Image.open(buffer) as again:
        assert again.mode == "P"
        assert len(np.unique(np.asarray(again.convert("L")))) == 4  # luminance merges two classes
        read = to_labels(np.asarray(again), named("a", "b", "c", "d", "e"))
        painted = np.asarray(again.convert("RGB"))
    assert np.bincount(read.labels.ravel()).tolist() == [100] * 5
    colours = [(0, 0, 0), (0, 0, 1), (128, 0, 0), (0, 128, 0), (128, 128, 0)]
    table = [LabelClass(name, colour=c) for name, c in zip("abcde", colours, strict=True)]
    assert np.array_equal(from_colours(painted, table).labels, read.labels)


def test_painted_truth_must_be_exact() -> None:
    table = [LabelClass("a", colour="#ff0000"), LabelClass("b", colour=(0, 0, 255))]
    rgb = np.array([[[255, 0, 0], [0, 0, 255], [0, 0, 0]]], np.uint8)
    found = from_colours(rgb, table, ignore=("#000000",))
    assert (found.classes, found.labels.tolist()) == (("a", "b"), [[0, 1, -1]])
    with pytest.raises(ValueError, match=r"outside the table of classes: #000000 \(1 px\)$"):
        from_colours(rgb, table)
    rgb[0, 2] = (254, 0, 0)
    with pytest.raises(ValueError, match=r"#fe0000 \(1 px\)"):
        from_colours(rgb, table)
    with pytest.raises(ValueError, match="'c' has no colour"):
        from_colours(rgb, [*table, LabelClass("c")])
    with pytest.raises(ValueError, match="colour #ff0000 is 'a' and 'c'"):
        from_colours(rgb, [*table, LabelClass("c", colour=(255, 0, 0))])
    with pytest.raises(ValueError, match="uint8"):
        from_colours(rgb[:, :, 0], table)


def test_label_map_takes_the_nearest_pixel_and_invents_no_class() -> None:
    small = np.random.default_rng(0).choice(np.array([0, 10, 20], np.uint8), (12, 12))
    prediction = NativeLabels(LabelOptions()).decode(small, scene_of(24, 24))
    assert prediction.flags == ("resized",)
    assert np.array_equal(prediction.value.labels, np.kron(small, np.ones((2, 2), int)))
    assert prediction.value.classes == ()
    odd = NativeLabels(LabelOptions()).decode(small[:6], scene_of(12, 12))
    assert odd.flags == ("resized", "wrong_aspect")


@pytest.mark.parametrize(
    "dtype", [np.int8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64]
)
def test_labels_of_every_type_read_alike_and_minus_one_stays_open(dtype: type) -> None:
    value = decode(np.array([[0, 1, -1, 2]], dtype), scene_of(1, 4), classes=("a", "b", "c"))
    assert value.labels.tolist() == [[0, 1, -1, 2]]
    assert value.labels.dtype == np.int32
    assert value.classes == ("a", "b", "c")


def test_models_numbers_are_read_by_order_offset_and_name() -> None:
    answer = np.array([[1, 2, 3, 255, -1]])
    value = decode(answer, scene_of(1, 5), classes=("x", "y", "z"), offset=-1, ignore=(255,))
    assert value.labels.tolist() == [[0, 1, 2, -1, -1]]
    value = decode(answer[:, :3], scene_of(1, 3), classes={"y": 3, "x": 1, "z": 2})
    assert [value.classes[label] for label in value.labels[0]] == ["x", "z", "y"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "NoneType"),
        ("labels", "str"),
        (np.zeros((4, 4, 1), int), "shape"),
        (np.zeros(4, int), "shape"),
        (np.zeros((0, 4), int), "shape"),
        (np.array([[0.0, np.nan]]), "not finite"),
        (np.array([[0.0, 0.5]]), "interpolated"),
        (np.array([["a"]]), "whole numbers"),
        (np.array([[1j]]), "whole numbers"),
        (np.array([[0, -2]]), r"-2 \(2 px\)"),
        (np.array([[0, 3], [3, 1]]), r"3 \(2 px\)"),
        (np.array([[0, 1 << 40]]), "no label"),
        (np.array([[0, np.iinfo(np.uint64).max]], np.uint64), "no label"),
    ],
)
def test_what_is_no_label_map_is_undecodable_with_the_reason(answer: object, reason: str) -> None:
    size = answer.shape if isinstance(answer, np.ndarray) and answer.ndim == 2 else (4, 4)
    if 0 in size:
        size = (4, 4)
    if isinstance(answer, np.ndarray) and answer.tolist() == [[0, -2]]:
        size = (1, 4)
    with pytest.raises(Undecodable, match=reason):
        decode(answer, scene_of(*size), classes=("a", "b", "c"))


def test_encoded_labels_come_back_and_have_the_size_the_model_saw() -> None:
    labels = np.kron(np.array([[0, 1, 2], [-1, 2, 0]]), np.ones((6, 6))).astype(np.int32)
    target = LabelMap(labels, ("a", "b", "c"))
    scene = scene_of(12, 18, (6, 9))
    for options in (
        LabelOptions(),
        LabelOptions(classes=("c", "b", "a", "d")),
        LabelOptions(classes={"a": 7, "c": 300, "b": 9}, ignore=(0,)),
        LabelOptions(classes=("a", "b", "c"), offset=-1, ignore=(0, 255)),
    ):
        answer = NativeLabelsEncoder(options).encode(target, scene)
        assert answer.shape == (6, 9)
        value = NativeLabels(options).decode(answer, scene).value
        names = np.array([*(value.classes or target.classes), "open"])
        assert np.array_equal(names[value.labels], np.array(["a", "b", "c", "open"])[labels])


def test_encoder_names_the_class_it_cannot_write() -> None:
    target, scene = LabelMap(np.array([[0, 1]], np.int32), ("a", "b")), scene_of(1, 2)
    with pytest.raises(ValueError, match="'b': the model has no number"):
        NativeLabelsEncoder(LabelOptions(classes=("a",))).encode(target, scene)
    with pytest.raises(ValueError, match="'b': its number leaves a pixel open"):
        NativeLabelsEncoder(LabelOptions(classes=("a", "b"), ignore=(1,))).encode(target, scene)
    nameless = LabelMap(np.array([[3, -1]], np.int32))
    assert NativeLabelsEncoder(LabelOptions()).encode(nameless, scene).tolist() == [[3, -1]]


@pytest.mark.parametrize("answer", [None, "garbage", np.ones((3, 3), int)])
def test_failure_value_is_open_everywhere_whatever_the_answer(answer: object) -> None:
    prediction = VoidLabels(NoOptions()).decode(answer, scene_of(5, 7))
    assert prediction.value.labels.shape == (5, 7)
    assert (prediction.value.labels == -1).all()
    assert prediction.summary == {"open_fraction": 1.0}


def test_numberings_read_from_cards() -> None:
    read = convert(LabelOptions, {"classes": ["a", "b"], "ignore": [255]}, file="card.yaml")
    assert (read.classes, read.ignore) == (("a", "b"), (255,))
    read = convert(LabelOptions, {"classes": {"a": 7}}, file="card.yaml")
    assert read.classes == {"a": 7}
    for wrong in ({"classes": ["a", "a"]}, {"classes": {"a": 1, "b": 1}}):
        with pytest.raises(CardError):
            convert(LabelOptions, wrong, file="card.yaml")


@given(st.integers(0, 10_000), st.sampled_from([-1, 0, 1, -7]))
def test_table_look_up_agrees_with_a_loop(seed: int, offset: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.choice(np.arange(-20, 300), 6, replace=False)
    classes = [LabelClass(f"c{n}", int(value) + offset) for n, value in enumerate(values[:4])]
    raw = rng.choice(values, (5, 6))
    found = to_labels(raw, classes, offset=offset, ignore=[int(value) for value in values[4:]])
    table = {int(value): n if n < 4 else -1 for n, value in enumerate(values)}
    assert found.labels.tolist() == [[table[int(value)] for value in row] for row in raw]
