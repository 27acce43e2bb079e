"""Depth painted with a table of colours: exact projection, both spaces, words for prompts."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import cv2
import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from vgen_eval.cards import convert
from vgen_eval.errors import CardError, Undecodable
from vgen_eval.imaging import Fit, Image
from vgen_eval.types import Prediction, Scene
from vgen_eval_plugins.depth.colours import DepthColours
from vgen_eval_plugins.depth.encoders import DepthColoursEncoder
from vgen_eval_plugins.depth.polyline import project, unique_colours
from vgen_eval_plugins.depth.table import DepthColoursOptions

RGB = NDArray[np.uint8]
CUBE = ("#ff0000", "#ffff00", "#00ff00", "#00ffff", "#0000ff", "#ff00ff", "#ffffff")
METRES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0)


def options(colours: Any = CUBE, values: Any = METRES, **more: Any) -> DepthColoursOptions:
    return DepthColoursOptions(colours=colours, values=values, **more)


def scene_of(height: int, width: int, size: tuple[int, int] | None = None) -> Scene:
    picture = np.random.default_rng(7).integers(40, 216, (height, width, 3), dtype=np.uint8)
    return Scene(image=Image(picture), size=size or (height, width))


def decode(answer: Any, scene: Scene, read: DepthColoursOptions | None = None) -> Prediction:
    return DepthColours(read or options()).decode(answer, scene)


def jet(entries: int = 256) -> list[tuple[int, int, int]]:
    levels = np.linspace(0, 255, entries).astype(np.uint8)[:, None]
    table = cv2.applyColorMap(levels, cv2.COLORMAP_JET)[:, 0, ::-1]
    return [(int(r), int(g), int(b)) for r, g, b in table]


def exact_place(colour: NDArray[Any], stops: NDArray[Any]) -> tuple[Fraction, Fraction]:
    """Place on the polyline and squared distance from it, in fractions; the first of equals."""
    best: tuple[Fraction, Fraction] | None = None
    for at, (start, end) in enumerate(pairwise(stops)):
        along = [int(e) - int(s) for s, e in zip(start, end, strict=True)]
        away = [int(c) - int(s) for s, c in zip(start, colour, strict=True)]
        length = sum(a * a for a in along)
        dot = sum(a * w for a, w in zip(along, away, strict=True))
        t = min(max(Fraction(dot, length), Fraction(0)), Fraction(1)) if length else Fraction(0)
        distance = sum((w - t * a) ** 2 for w, a in zip(away, along, strict=True))
        if best is None or distance < best[1]:
            best = at + t, Fraction(distance)
    assert best is not None
    return best


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 30), st.booleans())
def test_projection_is_that_of_exact_arithmetic(seed: int, count: int, coarse: bool) -> None:
    rng = np.random.default_rng(seed)
    step = 51 if coarse else 1  # a coarse grid is full of ties
    stops = rng.integers(0, 256 // step, (count, 3)) * step
    picture = (rng.integers(0, 256 // step, (5, 8, 3)) * step).astype(np.uint8)
    colours, index = unique_colours(picture)
    assert np.array_equal(colours[index], picture)
    assert len(np.unique(colours, axis=0)) == len(colours)
    place, distance = project(colours, stops.astype(np.float64))
    wanted = [exact_place(colour, stops) for colour in colours]
    assert place == pytest.approx([float(p) for p, _ in wanted], abs=1e-9)
    assert distance == pytest.approx([float(d) ** 0.5 for _, d in wanted], abs=1e-9)


def test_of_equally_near_segments_the_earlier_counts() -> None:
    square = np.array([[0, 0, 0], [200, 0, 0], [200, 200, 0], [0, 200, 0]], np.float64)
    place, distance = project(np.array([[100, 100, 0]], np.uint8), square)
    assert (place.tolist(), distance.tolist()) == ([0.5], [100.0])


def test_many_colours_agree_with_a_search_of_all_segments() -> None:
    rng = np.random.default_rng(2)
    picture = rng.integers(0, 256, (150, 200, 3), dtype=np.uint8)
    stops = np.array(jet(64), np.float64)
    colours, _ = unique_colours(picture)
    place, distance = project(colours, stops)
    along = stops[1:] - stops[:-1]
    away = colours[:, None].astype(float) - stops[:-1]
    t = np.clip((away * along).sum(-1) / (along**2).sum(-1), 0, 1)
    every = np.linalg.norm(away - t[..., None] * along, axis=-1)
    assert distance == pytest.approx(every.min(axis=1), abs=1e-6)
    rows = np.arange(len(colours))
    at = np.minimum(place.astype(int), len(along) - 1)
    assert every[rows, at] == pytest.approx(every.min(axis=1), abs=1e-6)


@pytest.mark.parametrize("colours", [CUBE, [(255, 0, 0), "#FFFF00", *CUBE[2:]]])
def test_stops_and_mixtures_read_as_their_metres(colours: Any) -> None:
    row = [(255, 0, 0), (255, 255, 0), (255, 51, 0), (0, 255, 204), (255, 255, 255)]
    prediction = decode(np.array([row], np.uint8), scene_of(1, 5), options(colours))
    assert prediction.value.space == "depth"
    assert prediction.value.values[0] == pytest.approx([0.5, 1.0, 0.6, 3.6, 64.0], rel=1e-6)
    assert prediction.flags == ()


def test_between_stops_it_is_linear_in_the_space_of_the_table() -> None:
    answer = np.array([[(0, 0, 0), (51, 51, 51), (255, 255, 255)]], np.uint8)
    for space, wanted in (("depth", 2 + 0.2 * 6), ("disparity", 1 / (0.5 + 0.2 * (0.125 - 0.5)))):
        read = options(["#000000", "#ffffff"], [2, 8], space=space)
        value = decode(answer, scene_of(1, 3), read).value.values
        assert value[0] == pytest.approx([2, wanted, 8], rel=1e-6)


def test_table_without_values_is_relative() -> None:
    answer = np.array([[(0, 0, 0), (0, 255, 0), (255, 255, 0)]], np.uint8)
    read = options(["#000000", "#00ff00", "#ffff00"], None)
    prediction = decode(answer, scene_of(1, 3), read)
    assert prediction.value.space == "relative"
    assert prediction.value.values.tolist() == [[0.0, 0.5, 1.0]]


def test_pixels_far_from_the_table_stay_open_when_a_limit_is_set() -> None:
    answer = np.array([[(255, 0, 0), (255, 0, 20), (128, 128, 128)]], np.uint8)
    near = decode(answer, scene_of(1, 3), options(max_distance=30))
    assert np.isnan(near.value.values).tolist() == [[False, False, True]]
    assert np.isfinite(decode(answer, scene_of(1, 3)).value.values).all()
    with pytest.raises(Undecodable, match="every pixel open"):
        decode(np.full((4, 4, 3), 128, np.uint8), scene_of(4, 4), options(max_distance=30))


def test_another_palette_is_flagged_and_a_compressed_one_is_not() -> None:
    grey = np.repeat(np.linspace(30, 220, 80)[None, :, None], 60, 0).repeat(3, 2).astype(np.uint8)
    prediction = decode(grey, scene_of(60, 80))
    assert prediction.flags == ("palette_drift",)
    assert prediction.summary["far_fraction"] > 0.5
    target = np.linspace(1, 12, 4800, dtype=np.float32).reshape(60, 80)
    painted = DepthColoursEncoder(options()).encode(target, scene_of(60, 80))
    noise = np.random.default_rng(0).normal(0, 6, painted.shape)
    assert decode(np.clip(painted + noise, 0, 255).astype(np.uint8), scene_of(60, 80)).flags == ()


def test_flat_copied_and_wrongly_shaped_answers_are_flagged() -> None:
    scene = scene_of(60, 80)
    assert "constant" in decode(np.full((60, 80, 3), (255, 0, 0), np.uint8), scene).flags
    assert "copied_input" in decode(scene.image.array, scene).flags
    assert "wrong_aspect" in decode(np.full((60, 60, 3), (255, 0, 0), np.uint8), scene).flags


@pytest.mark.parametrize("answer", [None, np.zeros((4, 4)), np.zeros((0, 4, 3), np.uint8)])
def test_what_is_no_picture_is_undecodable(answer: Any) -> None:
    with pytest.raises(Undecodable):
        decode(answer, scene_of(4, 4))


@settings(deadline=None)
@given(
    st.integers(1, 30), st.integers(1, 30), st.integers(0, 99),
    st.sampled_from(["depth", "disparity"]), st.booleans(),
)  # fmt: skip
def test_encoded_metres_come_back_within_a_colour_step(
    height: int, width: int, seed: int, space: str, falling: bool
) -> None:
    target = np.random.default_rng(seed).uniform(0.5, 64, (height, width)).astype(np.float32)
    order = slice(None, None, -1 if falling else 1)
    read = options(CUBE[order], METRES[order], space=space)
    scene = scene_of(height, width)
    answer = DepthColoursEncoder(read).encode(target, scene)
    value = decode(answer, scene, read).value.values
    linear, wanted = (value, target) if space == "depth" else (1 / value, 1 / target)
    steps = np.interp(target, METRES[1:], np.abs(np.diff(METRES)) / 255)
    if space == "disparity":
        steps = np.full(target.shape, 1 / 255)
    assert (np.abs(linear - wanted) <= np.maximum(steps, 48 / 255 if space == "depth" else 0)).all()


def test_depths_beyond_the_table_take_its_ends() -> None:
    answer = DepthColoursEncoder(options()).encode(
        np.array([[0.1, 900.0]], np.float32), scene_of(1, 2)
    )
    assert answer.tolist() == [[[255, 0, 0], [255, 255, 255]]]


def test_relative_table_is_painted_from_far_to_near() -> None:
    read = options(["#000000", "#ff0000"], None, space="disparity")
    target = np.array([[1.0, 2.0, np.nan, 4.0]], np.float32)
    answer = DepthColoursEncoder(read).encode(target, scene_of(1, 4))
    assert answer[0, :, 0].tolist()[:2] == [255, 85]
    assert answer[0, 3, 0] == 0


def test_depth_is_read_before_it_is_resized() -> None:
    answer = np.zeros((8, 8, 3), np.uint8)
    answer[:, :4], answer[:, 4:] = (255, 0, 0), (0, 0, 255)
    value = decode(answer, scene_of(8, 8, (8, 16))).value.values
    assert value.min() == pytest.approx(0.5)
    assert value.max() == pytest.approx(8.0)
    assert np.all(np.diff(value, axis=1) >= -1e-6)  # red to blue passes no other distance


def test_prompt_names_colours_and_metres() -> None:
    fields = DepthColours(options()).fields(scene_of(2, 2))
    assert fields["depth_colours"].startswith("#ff0000 = 0.5 m, #ffff00 = 1 m, #00ff00 = 2 m")
    assert fields["depth_colours"].endswith("#ffffff = 64 m")
    long = DepthColours(options(jet(), list(np.linspace(1, 10, 256)))).table.in_words()
    assert long.count("#") == 9
    assert long.startswith("#000080 = 1 m,")
    assert long.endswith(" = 10 m")
    relative = DepthColours(options(["#000000", "#888888", "#ffffff"], None)).table.in_words()
    assert relative == "#000000 (farthest), #888888, #ffffff (nearest)"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"colours": ["#ff0000"]}, "at least 2"),
        ({"colours": ["#ff0000", "red"]}, "matching regex"),
        ({"colours": ["#ff0000", [0, 0, 256]]}, "<= 255"),
        ({"colours": ["#ff0000", "#00ff00"], "values": [1]}, "1 values for 2 colours"),
        ({"colours": [*CUBE[:3]], "values": [1, 3, 2]}, "rise throughout or fall throughout"),
        ({"colours": [*CUBE[:3]], "values": [1, 2, 2]}, "rise throughout or fall throughout"),
        ({"colours": [*CUBE[:2]], "values": [0, 2]}, "at least 1e-06"),
        ({"colours": [*CUBE[:2]], "values": [1e-160, 2]}, "at least 1e-06"),
        ({"colours": [*CUBE[:2]], "values": [2, 1e160]}, "at most 1"),
        ({"colours": [*CUBE[:2]], "max_distance": 1e160}, "at most 442"),
        ({"colours": [*CUBE[:2]], "max_distance": 0}, "more than 0"),
        ({"colours": ["#000000"] * 4097}, "at most 4096"),
        ({}, "required key"),
    ],
)
def test_tables_that_cannot_be_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(CardError, match=message):
        convert(DepthColoursOptions, wrong, file="card.yaml")


def test_options_survive_a_round_trip() -> None:
    read = convert(DepthColoursOptions, {"colours": [[1, 2, 3], "#aabbcc"]}, file="card.yaml")
    assert msgspec.convert(msgspec.to_builtins(read), DepthColoursOptions) == read


@pytest.mark.parametrize("fit", ["stretch", "letterbox"])
def test_black_bars_are_no_drift_from_the_table(fit: Fit) -> None:
    table = options(("#ff8080", "#80ff80"), (1.0, 5.0))
    depth = np.linspace(1, 5, 5000, dtype=np.float32).reshape(50, 100)
    between_bars = np.zeros((100, 100, 3), np.uint8)
    between_bars[25:75] = DepthColoursEncoder(table).encode(depth, scene_of(50, 100))
    if fit == "stretch":  # the picture that was shown has the bars
        shown = msgspec.structs.replace(scene_of(100, 100, (50, 100)), box=(25, 0, 50, 100))
    else:  # the answer alone has them
        shown = msgspec.structs.replace(scene_of(50, 100), fit="letterbox")
    prediction = decode(between_bars, shown, table)
    assert "palette_drift" not in prediction.flags
    assert prediction.summary["far_fraction"] == 0
