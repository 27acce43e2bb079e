"""Red dots: what is painted is counted, what was there before is not."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import Image
from vgen_eval.types import Prediction, Scene
from vgen_eval_plugins.counting.encoders import RedDotsEncoder, RedDotsEncoderOptions
from vgen_eval_plugins.counting.red_dots import RedDots, RedDotsOptions
from vgen_eval_plugins.counting.targets import CountTarget

RGB = NDArray[np.uint8]
ENCODER = RedDotsEncoder(RedDotsEncoderOptions())


def scene_of(picture: RGB) -> Scene:
    return Scene(image=Image(picture), size=(picture.shape[0], picture.shape[1]))


def photo(height: int, width: int, *, seed: int = 0) -> RGB:
    """Smooth colours of every hue, red included, with fine grain."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (9, 9, 3), dtype=np.uint8)
    smooth = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
    grain = rng.integers(-4, 5, (height, width, 3))
    return np.clip(smooth.astype(np.int16) + grain, 0, 255).astype(np.uint8)


def dotted(picture: RGB, centres: list[tuple[int, int]], radius: int) -> RGB:
    answer = picture.copy()
    for centre in centres:
        cv2.circle(answer, centre, radius, (255, 0, 0), cv2.FILLED)
    return answer


def decode(answer: RGB, picture: RGB, **options: object) -> Prediction:
    decoder = RedDots(msgspec.convert(options, RedDotsOptions))
    return decoder.decode(answer, scene_of(picture))


GROUNDS = {
    "photo": photo,
    "red": lambda height, width, seed: np.full((height, width, 3), (255, 0, 0), np.uint8),
    "dark red": lambda height, width, seed: np.full((height, width, 3), (150, 0, 0), np.uint8),
    "white": lambda height, width, seed: np.full((height, width, 3), 255, np.uint8),
}


@settings(max_examples=60, deadline=None)
@example(
    long_side=450, ratio=0.5245, upright=False, count=172, known=False, ground="photo", seed=382
)
@given(
    long_side=st.integers(200, 1600),
    ratio=st.floats(0.5, 1.0),
    upright=st.booleans(),
    count=st.integers(0, 200),
    known=st.booleans(),
    ground=st.sampled_from(sorted(GROUNDS)),
    seed=st.integers(0, 1000),
)
def test_encoded_dots_are_counted_exactly(
    long_side: int, ratio: float, upright: bool, count: int, known: bool, ground: str, seed: int
) -> None:
    short = round(long_side * ratio)
    height, width = (long_side, short) if upright else (short, long_side)
    picture = GROUNDS[ground](height, width, seed=seed)
    points = np.random.default_rng(seed).uniform(0, 1, (count, 2)) * [width, height]
    scene = scene_of(picture)

    answer = ENCODER.encode(CountTarget(count, points if known else None), scene)
    prediction = RedDots(RedDotsOptions()).decode(answer, scene)

    assert prediction.value == count
    assert set(prediction.flags) <= {"copied_input", "constant"}
    assert ("copied_input" in prediction.flags) == (count == 0)


@pytest.mark.parametrize(("height", "width"), [(3000, 4000), (4000, 2250)])
def test_encoded_dots_are_counted_exactly_on_large_photos(height: int, width: int) -> None:
    scene = scene_of(photo(height, width))
    points = np.random.default_rng(1).uniform(0, 1, (200, 2)) * [width, height]
    answer = ENCODER.encode(CountTarget(200, points), scene)
    assert RedDots(RedDotsOptions()).decode(answer, scene).value == 200


@pytest.mark.parametrize("long_side", [40, 60, 84, 110, 150])
@pytest.mark.parametrize("ground", sorted(GROUNDS))
def test_a_few_dots_are_counted_on_small_pictures(long_side: int, ground: str) -> None:
    scene = scene_of(GROUNDS[ground](long_side, long_side - 7, seed=2))
    answer = ENCODER.encode(CountTarget(5), scene)
    assert RedDots(RedDotsOptions()).decode(answer, scene).value == 5


def test_target_lives_on_the_original_and_dots_on_what_the_model_saw() -> None:
    picture = photo(300, 400)
    scene = Scene(image=Image(picture), size=(600, 800))
    answer = ENCODER.encode(CountTarget(1, np.array([[600.0, 100.0]])), scene)
    prediction = RedDots(RedDotsOptions()).decode(answer, scene)
    assert prediction.value == 1
    (x, y) = prediction.summary["points"][0]
    assert (x, y) == pytest.approx((600, 100), abs=2.5)


def test_dots_that_coincide_are_moved_apart_and_all_counted() -> None:
    scene = scene_of(photo(400, 500))
    answer = ENCODER.encode(CountTarget(40, np.full((40, 2), 200.0)), scene)
    assert RedDots(RedDotsOptions()).decode(answer, scene).value == 40


def test_more_objects_than_room_paint_as_many_as_fit() -> None:
    scene = scene_of(photo(60, 60))
    answer = ENCODER.encode(CountTarget(5000, np.full((5000, 2), 30.0)), scene)
    assert answer.shape == (60, 60, 3)
    assert 0 < RedDots(RedDotsOptions()).decode(answer, scene).value < 5000


def test_red_things_of_the_photo_are_not_counted() -> None:
    picture = dotted(photo(768, 1024), [(100, 100), (300, 200), (500, 600)], 9)
    answer = dotted(picture, [(700, 300), (800, 500)], 9)
    assert decode(answer, picture).value == 2
    assert decode(picture, picture).value == 0


def test_without_the_gate_red_things_of_the_photo_count() -> None:
    picture = dotted(np.full((768, 1024, 3), 90, np.uint8), [(100, 100), (300, 200)], 9)
    answer = dotted(picture, [(700, 300)], 9)
    assert decode(answer, picture, method="blob").value == 3
    assert decode(answer, picture).value == 1


@pytest.mark.parametrize(
    ("colour", "count"),
    [
        ((255, 0, 0), 1),
        ((255, 0, 80), 1),  # hue 171
        ((255, 0, 110), 0),  # hue 167
        ((255, 80, 0), 1),  # hue 9
        ((255, 110, 0), 0),  # hue 13
        ((255, 90, 90), 1),  # saturation 165
        ((255, 100, 100), 0),  # saturation 155
        ((85, 0, 0), 1),
        ((75, 0, 0), 0),  # value under 80
        ((0, 0, 255), 0),
    ],
)
def test_red_is_a_range_of_hue_saturation_and_value(
    colour: tuple[int, int, int], count: int
) -> None:
    picture = np.full((768, 1024, 3), 200, np.uint8)
    answer = picture.copy()
    cv2.circle(answer, (500, 400), 10, colour, cv2.FILLED)
    assert decode(answer, picture).value == count


@pytest.mark.parametrize(("radius", "count"), [(1, 0), (2, 0), (4, 1), (20, 1), (22, 0), (25, 0)])
def test_area_limits_hold_at_the_working_size(radius: int, count: int) -> None:
    picture = np.full((1024, 1024, 3), 90, np.uint8)
    yy, xx = np.mgrid[:1024, :1024]
    answer = picture.copy()
    answer[(yy - 500) ** 2 + (xx - 500) ** 2 <= radius**2] = (255, 0, 0)
    assert decode(answer, picture, max_area=1440).value == count


def test_areas_grow_with_the_enlargement_of_a_small_photo() -> None:
    picture = np.full((200, 288, 3), 90, np.uint8)
    centres = [(30 + 40 * column, 40 + 60 * row) for row in range(2) for column in range(6)]
    answer = dotted(picture, centres, 6)
    # radius 6 becomes 21 at long side 1024: some 1,450 pixels, near the limit
    small = decode(answer, picture, max_area=1300)
    assert small.value < 12
    assert decode(answer, picture, max_area=3000).value == 12


def test_count_that_hangs_on_an_area_limit_is_flagged() -> None:
    picture = np.full((1024, 1024, 3), 90, np.uint8)
    answer = dotted(picture, [(200, 200), (600, 600)], 20)
    area = cv2.contourArea(
        cv2.findContours(
            (answer[:400, :400, 0] == 255).astype(np.uint8),
            cv2.RETR_EXTERNAL,
            cv2.CHAIN_APPROX_NONE,
        )[0][0]
    )
    assert "unstable_count" not in decode(answer, picture, max_area=area * 1.2).flags
    assert "unstable_count" in decode(answer, picture, max_area=area * 1.05).flags
    assert "unstable_count" in decode(answer, picture, max_area=area * 0.95).flags
    assert "unstable_count" in decode(answer, picture, min_area=area * 0.95).flags


def test_long_strokes_are_no_dots() -> None:
    picture = np.full((768, 1024, 3), 90, np.uint8)
    answer = dotted(picture, [(200, 200)], 9)
    cv2.line(answer, (400, 400), (560, 400), (255, 0, 0), 5)
    assert decode(answer, picture).value == 1
    options = {"min_circularity": None, "min_inertia": None}
    assert decode(answer, picture, **options).value == 2


def test_copy_constant_and_aspect_are_flagged() -> None:
    picture = photo(300, 400)
    assert decode(picture, picture).flags == ("copied_input",)
    jpeg = cv2.imdecode(cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 95])[1], 1)
    assert "copied_input" in decode(jpeg, picture).flags
    one_dot = dotted(picture, [(100, 100)], 2)
    assert "copied_input" not in decode(one_dot, picture).flags
    flat = np.full((300, 400, 3), 128, np.uint8)
    assert decode(flat, picture).flags == ("constant",)
    square = cv2.resize(one_dot, (400, 400))
    assert "wrong_aspect" in decode(square, picture).flags
    assert "wrong_aspect" not in decode(cv2.resize(one_dot, (801, 600)), picture).flags


def test_answer_at_another_scale_counts_alike() -> None:
    picture = photo(600, 800, seed=3)
    answer = ENCODER.encode(CountTarget(30), scene_of(picture))
    for height, width in [(300, 400), (768, 1024), (1200, 1600)]:
        scaled = cv2.resize(answer, (width, height), interpolation=cv2.INTER_AREA)
        # the enlarged photo is the same picture, so the gate stays shut but for the dots
        assert decode(scaled, picture).value == 30


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 7, 3), (7, 3, 3), (33, 21, 3)])
@pytest.mark.parametrize("fill", [0, 255])
def test_tiny_and_flat_pictures_hold_no_dots(shape: tuple[int, ...], fill: int) -> None:
    picture = np.full(shape, fill, np.uint8)
    prediction = decode(picture, picture)
    assert prediction.value == 0
    assert "constant" in prediction.flags


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "three",
        np.zeros((4, 4), np.uint8),
        np.zeros((4, 4, 4), np.uint8),
        np.zeros((4, 4, 3)),
        np.zeros((0, 4, 3), np.uint8),
    ],
)
def test_what_is_no_rgb_picture_is_undecodable(answer: object) -> None:
    with pytest.raises(Undecodable):
        RedDots(RedDotsOptions()).decode(answer, scene_of(photo(20, 20)))


def test_limits_that_cross_are_refused_as_options() -> None:
    with pytest.raises(msgspec.ValidationError, match="min_area 2000"):
        msgspec.convert({"min_area": 2000}, RedDotsOptions)


def test_decoding_leaves_its_inputs_alone() -> None:
    picture = photo(100, 100)
    answer = dotted(picture, [(50, 50)], 4)
    before = answer.copy()
    decode(answer, picture)
    assert np.array_equal(answer, before)
    assert np.array_equal(picture, photo(100, 100))
