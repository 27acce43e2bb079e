"""The frame of painted normals, found from a few truths: the choice of 48 full passes, faster."""

from __future__ import annotations

import numpy as np
import pytest
from normals_kit import scene_of
from vgen_eval.types import Example
from vgen_eval_plugins.normals.calibration import choose_frame, known_pairs
from vgen_eval_plugins.normals.frames import CONVENTIONS, PROPER, from_house, to_house
from vgen_eval_plugins.normals.metrics import AngularError
from vgen_eval_plugins.normals.native_map import NormalMap
from vgen_eval_plugins.normals.rgb_normals import RgbNormals


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def facing(rng, shape):
    """Unit vectors that look toward the camera, as visible surfaces do."""
    vectors = rng.normal(size=(*shape, 3))
    vectors[..., 2] = np.abs(vectors[..., 2]) + 0.1
    return unit(vectors).astype(np.float32)


def by_48_passes(pairs, names):
    """The plain way, in float64: every frame, every picture, every pixel."""
    means = []
    for name in names:
        each = []
        for pred, target in pairs:
            turned = to_house(pred.astype(np.float64), name)
            dot = np.clip((turned * target.astype(np.float64)).sum(axis=-1), -1, 1)
            each.append(np.degrees(np.arccos(dot)).mean())
        means.append(np.mean(each))
    return names[int(np.argmin(means))], float(np.min(means))


@pytest.mark.parametrize("names", [CONVENTIONS, PROPER], ids=["all", "proper"])
@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0, 3.0, 30.0])
def test_the_choice_is_that_of_48_full_passes(noise, names):
    rng = np.random.default_rng(int(noise * 10))
    for _ in range(12):
        hidden = CONVENTIONS[rng.integers(48)]
        pairs = []
        for size in (50, 400, 90):
            target = facing(rng, (size,))
            seen = unit(target + noise * rng.normal(size=target.shape))
            pairs.append((from_house(seen, hidden).astype(np.float32), target))
        choice = choose_frame(pairs, names=names, declared="opengl")
        name, mean = by_48_passes(pairs, names)
        assert choice.mean_deg == pytest.approx(mean, abs=1e-3 if noise else 1e-2)
        assert choice.frame == name
        assert choice.images == 3


FLAT = np.float32([[0, 0, 1]] * 70)
BOX = np.float32([[0, 0, 1]] * 40 + [[1, 0, 0]] * 20 + [[-1, 0, 0]] * 20 + [[0, 1, 0]] * 11)


@pytest.mark.parametrize("target", [FLAT, BOX, -BOX], ids=["wall", "box", "box from behind"])
@pytest.mark.parametrize("hidden", CONVENTIONS[::5])
def test_of_frames_that_fit_alike_the_earlier_is_taken(target, hidden):
    pairs = [(from_house(target, hidden), target), (from_house(target[:9], hidden), target[:9])]
    choice = choose_frame(pairs, names=CONVENTIONS, declared="opengl")
    assert choice.frame == by_48_passes(pairs, CONVENTIONS)[0]
    assert choice.mean_deg == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("tilt", [1e-7, 1e-6, 1e-5, 1e-3])
@pytest.mark.parametrize("size", [3, 5000])
def test_frames_nearly_alike_are_told_apart_in_double_precision(tilt, size):
    rng = np.random.default_rng(size)
    target = np.zeros((size, 3), np.float32)
    target[:, 0], target[:, 2] = tilt, 1
    pred = target.copy()
    pred[:, 0] *= rng.choice([-1, -1, -1, 1], size)
    pairs = [(pred, target), (target[:2], target[:2])]
    choice = choose_frame(pairs, names=CONVENTIONS, declared="opengl")
    name, mean = by_48_passes(pairs, CONVENTIONS)
    assert choice.frame == name
    assert choice.mean_deg == pytest.approx(mean, abs=1e-9)


def test_a_model_that_guesses_gets_the_choice_of_48_full_passes_too():
    rng = np.random.default_rng(11)
    for seed in range(6):
        target = facing(rng, (20_000,))
        pairs = [(unit(rng.normal(size=target.shape)).astype(np.float32), target)]
        choice = choose_frame(pairs, names=CONVENTIONS, declared="opengl")
        assert choice.frame == by_48_passes(pairs, CONVENTIONS)[0], seed


def test_the_frame_that_is_next_is_named_with_its_error():
    rng = np.random.default_rng(2)
    target = facing(rng, (9000,))
    target[:, 0] *= np.float32(0.2)  # left and right are all but one
    target = unit(target)
    pairs = [(unit(target + 0.05 * rng.normal(size=target.shape)).astype(np.float32), target)]
    choice = choose_frame(pairs, names=CONVENTIONS, declared="opengl")
    rest = tuple(name for name in CONVENTIONS if name != choice.frame)
    name, mean = by_48_passes(pairs, rest)
    assert (choice.frame, choice.runner_up) == ("right up toward", name)
    assert choice.runner_up_deg == pytest.approx(mean, abs=1e-3)
    alone = choose_frame(pairs, names=("right up toward",), declared="opengl")
    assert (alone.runner_up, alone.runner_up_deg) == (None, None)


def test_most_frames_need_no_pass_of_their_own():
    rng = np.random.default_rng(5)
    target = facing(rng, (5000,))
    seen = from_house(unit(target + 0.2 * rng.normal(size=target.shape)), "left up toward")
    choice = choose_frame([(seen, target)], names=CONVENTIONS, declared="opengl")
    assert choice.frame == "left up toward"
    assert choice.checked <= 3


def test_pictures_count_alike_whatever_their_pixels():
    right, left = np.float32([[1, 0, 0]]), np.float32([[-1, 0, 0]])
    pairs = [(np.repeat(right, 100, axis=0), np.repeat(right, 100, axis=0)), (right, left)]
    choice = choose_frame(pairs, names=("right up toward", "left up toward"), declared="opengl")
    assert choice.mean_deg == pytest.approx(90)  # 0 and 180, or 180 and 0: a tie, the first
    assert choice.frame == "right up toward"


def test_without_a_picture_the_declared_frame_stays():
    choice = choose_frame([], names=CONVENTIONS, declared="dsine")
    assert (choice.frame, choice.mean_deg, choice.images) == ("left up toward", None, 0)
    assert choice.runner_up is None


def test_unknown_pixels_of_either_side_are_left_out():
    pred, target = np.zeros((1, 4, 3), np.float32), np.zeros((1, 4, 3), np.float32)
    pred[0, :, 2] = target[0, :, 2] = 1
    pred[0, 0], target[0, 1] = np.nan, 0
    found, truth = known_pairs(pred, target, np.array([[True, True, True, False]]))
    assert found.tolist() == truth.tolist() == [[0, 0, 1]]


@pytest.mark.parametrize("form", ["painted", "array"])
def test_a_decoder_learns_the_frame_of_a_model_that_paints_another(form):
    rng = np.random.default_rng(3)
    target = np.repeat(np.repeat(facing(rng, (6, 8)), 4, axis=0), 4, axis=1)
    scene = scene_of(24, 32)
    answer = from_house(target, "left up toward")
    if form == "painted":
        answer = np.rint((answer + 1) * 127.5).astype(np.uint8)
        decoder = RgbNormals(RgbNormals.Options())
    else:
        decoder = NormalMap(NormalMap.Options())
    metric = AngularError(AngularError.Options())
    before = metric.update(decoder.decode(answer, scene).value, target, None)
    record = decoder.calibrate([Example(answer=answer, scene=scene, target=target)])
    assert record["frame"] == "left up toward"
    assert record["declared"] == "right up toward"
    assert (record["proper"], record["conventions"], record["images"]) == (False, 48, 1)
    assert (record["permutation"], record["signs"]) == ([0, 1, 2], [-1, 1, 1])
    assert record["runner_up_deg"] > record["mean_deg"]
    assert record["pixels"] == 24 * 32
    after = metric.update(decoder.calibrated(record).decode(answer, scene).value, target, None)
    assert before["mean"] > 30
    assert after["mean"] < 0.5


def test_only_rotations_are_asked_where_the_card_says_so():
    target = facing(np.random.default_rng(1), (8, 8))
    decoder = NormalMap(NormalMap.Options(conventions="proper"))
    example = Example(
        answer=from_house(target, "left up toward"), scene=scene_of(8, 8), target=target
    )
    record = decoder.calibrate([example])
    assert record["frame"] in PROPER
    assert record["conventions"] == 24


def test_an_answer_that_cannot_be_read_is_no_evidence():
    decoder = RgbNormals(RgbNormals.Options(frame="dsine"))
    example = Example(answer="words", scene=scene_of(8, 8), target=np.ones((8, 8, 3), np.float32))
    assert decoder.calibrate([example])["frame"] == "left up toward"


def drop(**options):
    return AngularError(AngularError.Options(short="drop", **options))


def test_open_pixels_are_left_out_where_the_card_says_so():
    target = np.zeros((4, 4, 3), np.float32)
    target[..., 2] = 1
    pred = target.copy()
    pred[0, :2] = np.nan
    pred[1] = (1, 0, 0)
    dropped = drop().update(pred, target, None)
    assert (dropped["pixels"], dropped["open"]) == (14, 2)
    assert dropped["mean"] == pytest.approx(4 * 90 / 14)
    values = drop().compute(dropped)
    assert values["open"] == pytest.approx(2 / 16)
    kept = AngularError(AngularError.Options()).update(pred, target, None)
    assert kept["mean"] == pytest.approx(6 * 90 / 16)


def test_an_answer_that_is_all_open_is_not_let_off():
    target = np.zeros((4, 4, 3), np.float32)
    target[..., 2] = 1
    pred = np.full_like(target, np.nan)
    pred[0, :3] = target[0, :3]
    metric = drop(min_valid=10)
    statistics = metric.update(pred, target, None)
    assert metric.compute(statistics)["mean"] == pytest.approx(13 * 90 / 16)
    assert metric.compute(statistics)["open"] == pytest.approx(13 / 16)
