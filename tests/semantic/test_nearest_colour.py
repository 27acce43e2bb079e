"""Painted classes: exact against the plain loop, exact back from the encoder, flags that tell."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from vgen_eval.cards import convert
from vgen_eval.errors import CardError, Undecodable
from vgen_eval.imaging import Image
from vgen_eval.prompting import fill
from vgen_eval.types import Prediction, Scene
from vgen_eval_plugins.colours import Paint, as_rgb
from vgen_eval_plugins.semantic.colour_table import ColourTable
from vgen_eval_plugins.semantic.encoders import NearestColourEncoder
from vgen_eval_plugins.semantic.labels import LabelMap
from vgen_eval_plugins.semantic.nearest_colour import NearestColour, NearestColourOptions

RGB = NDArray[np.uint8]
PALETTE = {"road": "#ff0000", "sky": (0, 0, 255), "car": Paint("#00ff00", "green")}


def photo(height: int, width: int) -> RGB:
    coarse = np.random.default_rng(7).integers(60, 190, (6, 6, 3), dtype=np.uint8)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR))


def scene_of(height: int, width: int, seen: tuple[int, int] | None = None) -> Scene:
    return Scene(image=Image(photo(*(seen or (height, width)))), size=(height, width))


def options(**changes: object) -> NearestColourOptions:
    return NearestColourOptions(**{"palette": PALETTE, **changes})  # type: ignore[arg-type]


def decode(answer: object, scene: Scene, **changes: object) -> Prediction:
    return NearestColour(options(**changes)).decode(answer, scene)


def nearest_by_loop(
    picture: RGB, palette: list[tuple[int, int, int]], limit: float | None = None
) -> NDArray[np.int64]:
    """One pass a class over whole numbers; a later entry must be strictly nearer."""
    least = np.full(picture.shape[:2], np.iinfo(np.int64).max)
    labels = np.full(picture.shape[:2], -1)
    for number, entry in enumerate(palette):
        square = ((picture.astype(np.int64) - np.array(entry)) ** 2).sum(axis=2)
        labels[square < least] = number
        least = np.minimum(least, square)
    if limit is not None:
        labels[least > limit**2] = -1
    return labels


def random_palette(rng: np.random.Generator, entries: int) -> list[tuple[int, int, int]]:
    return [(int(r), int(g), int(b)) for r, g, b in rng.integers(0, 256, (entries, 3))]


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 40),
    st.integers(0, 10_000),
    st.sampled_from([None, 0.0, 1.0, 30.0, 100.5, 441.0, 500.0]),
)
def test_every_pixel_is_as_the_loop_says(entries: int, seed: int, limit: float | None) -> None:
    rng = np.random.default_rng(seed)
    palette = random_palette(rng, entries)
    noise = rng.integers(0, 256, (60, 70, 3), dtype=np.uint8)
    near = np.array(palette)[rng.integers(0, entries, (60, 70))] + rng.integers(-9, 10, (60, 70, 3))
    picture = np.vstack([noise, near.clip(0, 255).astype(np.uint8)])
    codes = ColourTable(palette, max_distance=limit).look_up(picture)
    assert np.array_equal(codes.astype(int) - 1, nearest_by_loop(picture, palette, limit))


@pytest.mark.parametrize(
    "palette",
    [
        [(0, 0, 0), (2, 0, 0), (0, 2, 0), (0, 0, 2)],
        [(255, 255, 255), (253, 255, 255), (0, 0, 0)],
        [(100, 100, 100), (110, 100, 100), (105, 105, 100), (105, 95, 100)],
        [(0, 0, 0), (255, 255, 255)],
        [(128, 0, 128), (255, 0, 0), (0, 0, 255)],
        [(10, 10, 10), (10, 10, 10), (12, 10, 10)],
    ],
)
def test_ties_go_to_the_earlier_entry(palette: list[tuple[int, int, int]]) -> None:
    levels = np.unique([v + d for e in palette for v in e for d in range(-8, 9)]).clip(0, 255)
    levels = np.unique(np.append(levels, [127, 128]))
    picture = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), -1).astype(np.uint8)
    picture = picture.reshape(len(levels), -1, 3)
    for entries in (palette, palette[::-1]):
        codes = ColourTable(entries).look_up(picture)
        assert np.array_equal(codes.astype(int) - 1, nearest_by_loop(picture, entries))


def test_palettes_of_more_than_254_entries_are_exact() -> None:
    rng = np.random.default_rng(5)
    palette = random_palette(rng, 300)
    picture = rng.integers(0, 256, (90, 90, 3), dtype=np.uint8)
    table = ColourTable(palette)
    assert np.array_equal(table.look_up(picture).astype(int) - 1, nearest_by_loop(picture, palette))
    assert table.look_up(picture).max() > 255


def test_table_of_150_entries_takes_16_mib() -> None:
    table = ColourTable(random_palette(np.random.default_rng(0), 150))
    assert table._table.nbytes == 1 << 24


def painted_target(height: int, width: int, cell: int = 1) -> LabelMap:
    rng = np.random.default_rng(3)
    coarse = rng.integers(-1, 3, (height // cell, width // cell))
    labels = np.kron(coarse, np.ones((cell, cell), int)).astype(np.int32)
    return LabelMap(labels, ("road", "sky", "car"))


def test_encoded_truth_comes_back_exactly() -> None:
    target, scene = painted_target(60, 90), scene_of(60, 90)
    answer = NearestColourEncoder(options()).encode(target, scene)
    prediction = NearestColour(options()).decode(answer, scene)
    assert prediction.value.classes == ("road", "sky", "car")
    assert prediction.value.labels.dtype == np.int32
    assert np.array_equal(prediction.value.labels, target.labels)
    assert prediction.flags == ()
    share = float((target.labels == -1).mean())
    assert prediction.summary["open_fraction"] == pytest.approx(share, abs=1e-6)
    assert prediction.summary["drift_fraction"] == 0
    assert "blended" in prediction.summary["policy"]


@pytest.mark.parametrize("seen", [(480, 720), (1024, 1536), (400, 600), (640, 960)])
def test_truth_seen_at_another_size_loses_less_than_half_a_percent(seen: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    smooth = cv2.resize(rng.random((5, 7)), (720, 480), interpolation=cv2.INTER_CUBIC)
    target = LabelMap(np.digitize(smooth, [0.35, 0.65]).astype(np.int32), ("road", "sky", "car"))
    scene = scene_of(480, 720, seen)
    answer = NearestColourEncoder(options()).encode(target, scene)
    assert answer.shape == (*seen, 3)
    labels = decode(answer, scene).value.labels
    for label in range(3):
        a, b = labels == label, target.labels == label
        assert (a & b).sum() / (a | b).sum() >= 0.985
    assert (labels == target.labels).mean() >= 0.995


def test_bars_are_painted_void_and_cut_off_again() -> None:
    target = painted_target(60, 90, cell=3)
    scene = Scene(image=Image(photo(100, 90)), size=(60, 90), box=(20, 0, 60, 90))
    answer = NearestColourEncoder(options(void="#010203")).encode(target, scene)
    assert (answer[:20] == [1, 2, 3]).all()
    assert (answer[80:] == [1, 2, 3]).all()
    assert np.array_equal(decode(answer, scene, void="#010203").value.labels, target.labels)


def test_a_blended_seam_decodes_to_the_class_between() -> None:
    truth = np.zeros((40, 40), int)
    truth[:, 20:] = 1
    palette = {"a": (255, 0, 0), "b": (0, 0, 255), "c": (128, 0, 128)}
    answer = np.array(list(palette.values()), np.uint8)[truth]
    answer[:, 19:21] = (128, 0, 128)
    labels = decode(answer, scene_of(40, 40), palette=palette).value.labels
    assert np.bincount(labels.ravel()).tolist() == [760, 760, 80]
    del palette["c"]
    strict = decode(answer, scene_of(40, 40), palette=palette, max_distance=100.0).value.labels
    assert (strict[:, 19:21] == -1).all()
    assert np.array_equal(strict[:, :19], truth[:, :19])


def test_void_is_open_and_wins_no_tie() -> None:
    answer = np.zeros((4, 6, 3), np.uint8)
    answer[:, 2:4] = (10, 0, 0)
    answer[:, 4:] = (5, 0, 0)
    labels = decode(answer, scene_of(4, 6), palette={"x": (10, 0, 0)}).value.labels
    assert labels[0].tolist() == [-1, -1, 0, 0, 0, 0]
    labels = decode(answer, scene_of(4, 6), palette={"x": (10, 0, 0)}, void=None).value.labels
    assert (labels == 0).all()


def test_flags_tell_what_the_answer_is() -> None:
    scene = scene_of(60, 80)
    copy = decode(scene.image.array, scene)
    assert {"copied_input", "palette_drift"} <= set(copy.flags)
    assert copy.summary["drift_fraction"] > 0.9
    flat = decode(np.full((60, 80, 3), (250, 5, 3), np.uint8), scene)
    assert flat.flags == ("constant",)
    tall = NearestColourEncoder(options()).encode(painted_target(80, 60), scene_of(80, 60))
    assert decode(tall, scene).flags == ("wrong_aspect",)


@pytest.mark.parametrize(("columns", "flagged"), [(10, False), (11, True)])
def test_drift_is_flagged_over_a_fifth_of_pixels_beyond_60(columns: int, flagged: bool) -> None:
    answer = np.zeros((20, 50, 3), np.uint8)
    answer[:, :, 0] = 255 - 60
    answer[:, :columns, 0] = 255 - 61
    prediction = decode(answer, scene_of(20, 50))
    assert ("palette_drift" in prediction.flags) == flagged
    assert prediction.summary["drift_fraction"] == columns / 50


@pytest.mark.parametrize(
    "answer", [None, "red", np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3)), np.zeros((0, 4, 3))]
)
def test_what_is_no_rgb_picture_is_undecodable(answer: object) -> None:
    with pytest.raises(Undecodable):
        decode(answer, scene_of(4, 4))


def test_encoder_takes_classes_by_name_and_names_the_one_without_a_colour() -> None:
    scene = scene_of(1, 3)
    labels = np.array([[0, 1, -1]], np.int32)
    encoder = NearestColourEncoder(options())
    answer = encoder.encode(LabelMap(labels, ("sky", "road", "pole")), scene)
    assert answer.tolist() == [[[0, 0, 255], [255, 0, 0], [0, 0, 0]]]
    with pytest.raises(ValueError, match="'pole'"):
        encoder.encode(LabelMap(labels, ("sky", "pole")), scene)
    own = encoder.encode(LabelMap(labels), scene)
    assert own.tolist() == [[[255, 0, 0], [0, 0, 255], [0, 0, 0]]]


def test_palette_in_words_survives_quotes_and_braces() -> None:
    palette = {
        "road": Paint("#FF0000", "red"),
        'the "{odd}" {void} one': "#00ff00",
        "100%\\n": (1, 2, 3),
    }
    fields = NearestColour(options(palette=palette)).fields(scene_of(2, 2))
    assert fields["palette"] == (
        'road: red (#ff0000); the "{odd}" {void} one: #00ff00; 100%\\n: #010203'
    )
    assert fields["void"] == "black (#000000)"
    assert fill("a {palette} b {void}", fields) == f"a {fields['palette']} b black (#000000)"
    assert "void" not in NearestColour(options(void=None)).fields(scene_of(2, 2))


def test_palettes_read_from_cards() -> None:
    card = {
        "palette": {"a": "#ff0000", "b": [0, 0, 255], "c": {"rgb": [9, 8, 7], "word": "ink"}},
        "void": None,
        "max_distance": 40,
    }
    read = convert(NearestColourOptions, card, file="card.yaml")
    assert [as_rgb(colour) for colour in read.palette.values()] == [
        (255, 0, 0), (0, 0, 255), (9, 8, 7),
    ]  # fmt: skip
    faulty: list[dict[str, object]] = [
        {"palette": {}},
        {"palette": {"a": "red"}},
        {"palette": {"a": "#ff00"}},
        {"palette": {"a": [0, 0, 256]}},
        {"palette": {"a": "#ff0000", "b": [255, 0, 0]}},
        {"palette": {"a": "#000000"}},
        {"palette": {"a": "#ff0000"}, "max_distance": -1},
        {"palette": {"a": "#ff0000"}, "max_distance": 1e160},
        {"palette": {"a": {"rgb": "#ff0000"}}},
    ]
    for wrong in faulty:
        with pytest.raises(CardError):
            convert(NearestColourOptions, wrong, file="card.yaml")
