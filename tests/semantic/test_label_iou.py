"""IoU of classes and pixel accuracy: worked cases and a reference that loops over pixels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from vgen_eval.errors import NoValidTarget
from vgen_eval.types import NoOptions, Statistics
from vgen_eval_plugins.semantic.labels import LabelMap
from vgen_eval_plugins.semantic.metrics import LabelIoU, confusion

METRIC = LabelIoU(NoOptions())


def label_map(labels: object, classes: str = "") -> LabelMap:
    array = np.array(labels, np.int32)
    return LabelMap(array.reshape(1, -1) if array.ndim == 1 else array, tuple(classes))


def score(pred: LabelMap, target: LabelMap, valid: object = None) -> Statistics:
    return METRIC.update(pred, target, valid)


def merge(parts: list[Statistics]) -> Statistics:
    merged = parts[0]
    for part in parts[1:]:
        merged = METRIC.merge(merged, part)
    return merged


def test_values_say_what_their_means_are_over() -> None:
    assert [(value.name, value.of, value.aggregation) for value in METRIC.values] == [
        ("miou", "miou", "pooled"),
        ("miou_in_truth", "miou_in_truth", "pooled"),
        ("image_miou", "miou_in_truth", "mean"),
        ("pixel_accuracy", "pixel_accuracy", "pooled"),
        ("image_pixel_accuracy", "pixel_accuracy", "mean"),
        ("open", "open", "pooled"),
    ]
    assert all((v.low, v.high) == (0.0, 1.0) for v in METRIC.values)
    assert [v.name for v in METRIC.values if not v.higher_is_better] == ["open"]


def test_set_and_picture_means_differ_as_their_names_say() -> None:
    parts = [
        score(label_map([0, 0, 0, 1]), label_map([0, 0, 1, 1], "abc")),
        score(label_map([2, 2, 2, 0]), label_map([2, 2, 2, 2], "abc")),
    ]
    first, second = (METRIC.compute(part) for part in parts)
    assert first["miou_in_truth"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert second["miou_in_truth"] == pytest.approx(3 / 4)
    assert second["miou"] == pytest.approx((3 / 4 + 0) / 2)
    pooled = METRIC.compute(merge(parts))
    assert METRIC.class_iou(merge(parts)) == pytest.approx([2 / 4, 1 / 2, 3 / 4])
    assert pooled["miou"] == pooled["miou_in_truth"] == pytest.approx((2 / 4 + 1 / 2 + 3 / 4) / 3)
    assert pooled["pixel_accuracy"] == pytest.approx(6 / 8)


def test_ignored_pixels_leave_everything() -> None:
    ious = []
    for last in (1, 2):
        statistics = score(label_map([1, 2, 2, last]), label_map([1, 1, 1, -1], "abc"))
        assert statistics["total"] == 3
        ious.append(METRIC.class_iou(statistics))
    assert ious[0] == ious[1] == [None, pytest.approx(1 / 3), 0.0]


def test_valid_map_hides_pixels_as_ignoring_does() -> None:
    pred, target = label_map([0, 1, 1, 0]), label_map([0, 0, 1, 1], "ab")
    hidden = score(pred, target, np.array([[True, False, True, True]]))
    assert hidden == score(pred, label_map([0, -1, 1, 1], "ab"))
    assert hidden["total"] == 3


def test_open_pixels_miss_their_class_and_are_nobodys_false_alarm() -> None:
    statistics = score(label_map([0, -1, -1, 1]), label_map([0, 0, 1, 1], "abc"))
    assert METRIC.class_iou(statistics) == [0.5, 0.5, None]
    assert statistics["pred"] == [1, 1, 0]
    assert METRIC.compute(statistics)["pixel_accuracy"] == 0.5
    assert METRIC.compute(statistics)["open"] == 0.5
    assert METRIC.flags(statistics) == []
    nothing = score(label_map([-1, -1]), label_map([0, 1], "ab"))
    assert METRIC.compute(nothing) == {
        "miou": 0.0, "miou_in_truth": 0.0, "pixel_accuracy": 0.0, "open": 1.0,
    }  # fmt: skip


def test_classes_are_compared_by_name() -> None:
    names = "bsngderw"  # the same parts under two numberings
    other = "bserdgnw"
    target = np.random.default_rng(0).integers(0, 8, (16, 16)).astype(np.int32)
    renumbered = np.array([other.index(name) for name in names], np.int32)[target]
    by_name = score(LabelMap(renumbered, tuple(other)), LabelMap(target, tuple(names)))
    assert METRIC.compute(by_name)["miou"] == 1.0
    by_number = score(LabelMap(renumbered), LabelMap(target, tuple(names)))
    assert METRIC.compute(by_number)["miou"] == pytest.approx(0.5)  # 4 of 8 numbers agree


def test_a_class_the_truth_does_not_know_is_wrong_and_no_false_alarm() -> None:
    target = label_map([0, 0, 1, -1], "ab")
    statistics = score(label_map([0, 1, 1, 1], "azb"), target)
    assert METRIC.class_iou(statistics) == [0.5, 0.0]
    assert statistics["unknown"] == 2
    assert METRIC.flags(statistics) == ["unknown_class"]
    numbers = score(label_map([0, 5, 255, 300]), target)
    assert (numbers["correct"], numbers["unknown"], numbers["pred"]) == (1, 2, [1, 0])


def test_offset_truth_scores_one() -> None:
    target = label_map([-1, 0, 1, 2], "abc")
    assert METRIC.class_iou(score(label_map([0, 0, 1, 2], "abc"), target)) == [1.0, 1.0, 1.0]


def test_seam_of_a_third_class_halves_no_mean_in_silence() -> None:
    target = np.zeros((40, 40), np.int32)
    target[:, 20:] = 1
    pred = target.copy()
    pred[:, 19:21] = 2
    statistics = score(LabelMap(pred, tuple("abc")), LabelMap(target, tuple("abc")))
    assert METRIC.class_iou(statistics) == pytest.approx([0.95, 0.95, 0.0])
    values = METRIC.compute(statistics)
    assert values["miou_in_truth"] == pytest.approx(0.95)
    assert values["miou"] == pytest.approx(0.633333, abs=1e-6)


def test_truth_without_a_known_pixel_is_a_fault_of_the_data() -> None:
    with pytest.raises(NoValidTarget):
        score(label_map([0, 1]), label_map([-1, -1], "ab"))
    with pytest.raises(NoValidTarget):
        score(label_map([0, 1]), label_map([0, 1], "ab"), np.zeros((1, 2), bool))


def test_nothing_scored_is_undefined() -> None:
    zero = {"n": 0, "intersection": [0], "pred": [0], "target": [0], "correct": 0, "total": 0,
            "unknown": 0, "open": 0}  # fmt: skip
    assert set(METRIC.compute(zero).values()) == {None}
    assert METRIC.class_iou(zero) == [None]


@pytest.mark.parametrize(
    ("pred", "target", "valid"),
    [
        (label_map([0, 1, 1]), label_map([0, 1], "ab"), None),
        (label_map([0, 1]), label_map([0, 1], "ab"), np.ones((1, 3), bool)),
        (label_map([0, 1]), label_map([0, 1]), None),
        (label_map([0, 1]), label_map([0, 2], "ab"), None),
        (label_map([0, 1]), label_map([0, -2], "ab"), None),
        (label_map([0, 2], "ab"), label_map([0, 1], "ab"), None),
        (label_map([0, -2]), label_map([0, 1], "ab"), None),
    ],
)
def test_maps_that_cannot_be_compared_are_refused(
    pred: LabelMap, target: LabelMap, valid: object
) -> None:
    with pytest.raises(ValueError, match=r"differ in shape|label|no classes"):
        score(pred, target, valid)


def reference(
    pred: LabelMap, target: LabelMap, valid: NDArray[np.bool_]
) -> tuple[dict[str, list[int]], int, int]:
    """Pixel by pixel, with names and plain dictionaries."""
    names = pred.classes or target.classes
    counts = {name: [0, 0, 0] for name in target.classes}  # intersection, pred, target
    correct = total = 0
    triples = zip(pred.labels.ravel(), target.labels.ravel(), valid.ravel(), strict=True)
    for p, t, known in triples:
        if t < 0 or not known:
            continue
        total += 1
        truth = target.classes[t]
        guess = names[p] if 0 <= p < len(names) else None
        counts[truth][2] += 1
        if guess in counts:
            counts[guess][1] += 1
        if guess == truth:
            counts[truth][0] += 1
            correct += 1
    return counts, correct, total


@given(
    st.integers(0, 10_000),
    st.sampled_from([1, 2, 7, 253, 254, 255, 400]),
    st.sampled_from(["own", "same", "shuffled", "more"]),
    st.booleans(),
)
def test_counts_agree_with_the_definition(
    seed: int, classes: int, naming: str, masked: bool
) -> None:
    rng = np.random.default_rng(seed)
    names = tuple(f"c{n}" for n in range(classes))
    own = {
        "own": (),
        "same": names,
        "shuffled": tuple(str(n) for n in rng.permutation(names)),
        "more": (*(f"x{n}" for n in range(3)), *names[::-1]),
    }[naming]
    target = LabelMap(rng.integers(-1, classes, (8, 13)).astype(np.int32)[:, ::2], names)
    target.labels[0, 0] = 0
    pred = LabelMap(rng.integers(-1, len(own) or classes + 2, (8, 7)).astype(np.int32), own)
    valid = rng.random((8, 7)) < 0.7 if masked else np.ones((8, 7), bool)
    valid[0, 0] = True
    statistics = score(pred, target, valid if masked else None)
    counts, correct, total = reference(pred, target, valid)
    for place, key in enumerate(("intersection", "pred", "target")):
        assert statistics[key] == [entry[place] for entry in counts.values()]
    assert (statistics["correct"], statistics["total"]) == (correct, total)
    unions = [p + t - i for i, p, t in counts.values()]
    ious = [i / u for (i, _, _), u in zip(counts.values(), unions, strict=True) if u]
    assert METRIC.compute(statistics)["miou"] == pytest.approx(sum(ious) / len(ious))


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=6), st.randoms())
def test_merging_in_any_order_is_scoring_the_pictures_side_by_side(
    seeds: list[int], order: object
) -> None:
    pairs = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        pairs.append([rng.integers(-1, 4, (5, 6)).astype(np.int32) for _ in range(2)])
        pairs[-1][1][0, 0] = 2
    parts = [score(LabelMap(p), LabelMap(t, tuple("abcd"))) for p, t in pairs]
    whole = score(
        LabelMap(np.hstack([p for p, _ in pairs])),
        LabelMap(np.hstack([t for _, t in pairs]), tuple("abcd")),
    )
    order.shuffle(parts)  # type: ignore[attr-defined]
    assert merge(parts) == {**whole, "n": len(parts)}


def test_counts_beyond_what_a_float32_holds_are_exact() -> None:
    size = (1 << 24) + 5
    codes = np.ones((1, size), np.uint8)
    assert confusion(codes, codes, rows=2, columns=3).tolist() == [[0, 0, 0], [0, size, 0]]
