"""What is shown of counts: marks where places are known, words where they are not."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from vgen_eval.viewing import Marks, Pane, Words
from vgen_eval_plugins.counting.matching import LARGEST, match_points, reach_of
from vgen_eval_plugins.counting.targets import CountTarget
from vgen_eval_plugins.counting.view import CountView
from viewkit import panes_of, roles

SIZE = (100, 200)
PLACES = np.array([[20.0, 20.0], [60.0, 20.0], [100.0, 20.0]])


def shown(pred: int | None, points: Any = PLACES, *, count: int = 3, **more: Any) -> list[Pane]:
    return list(panes_of(CountView(), pred, CountTarget(count, points), size=SIZE, **more))


def marks(pane: Pane) -> list[tuple[str, str, float, float]]:
    assert isinstance(pane.body, Marks)
    return [(mark.shape, mark.meaning, mark.x, mark.y) for mark in pane.body.marks]


def test_matched_extra_and_missed_have_a_shape_each_and_counts_are_in_the_titles() -> None:
    found = [[22.0, 21.0], [150.0, 80.0], [61.0, 19.0], [62.0, 18.0]]
    panes = shown(4, summary={"count": 4, "points": found})
    assert roles(panes) == ["target", "prediction", "error"]
    assert [pane.title for pane in panes] == [
        "Target: 3", "Prediction: 4 (+1)", "2 matched, 2 extra, 1 missed",
    ]  # fmt: skip
    assert marks(panes[2]) == [
        ("ring", "matched", 22.0, 21.0),
        ("ring", "matched", 61.0, 19.0),
        ("square", "extra", 150.0, 80.0),
        ("square", "extra", 62.0, 18.0),
        ("cross", "missed", 100.0, 20.0),
    ]
    assert isinstance(panes[2].body, Marks)
    assert [mark.to for mark in panes[2].body.marks[:2]] == [(20.0, 20.0), (60.0, 20.0)]
    assert "within 20 px, for looking only" in panes[2].note
    assert Counter(shape for shape, *_ in marks(panes[0])) == {"dot": 3}


def test_points_of_an_answer_come_back_to_the_pixels_of_the_original() -> None:
    answer = np.array([[10.0, 10.0], [30.0, 10.0], [500.0, 10.0]])
    panes = shown(2, form="points", answer=answer, seen_size=(50, 100))
    placed = [(x, y) for _, _, x, y in marks(panes[1])]
    assert placed == [pytest.approx((20.5, 20.5)), pytest.approx((60.5, 20.5))]
    assert panes[2].title == "2 matched, 0 extra, 1 missed"


def test_a_count_without_places_is_told_in_words_with_what_was_read() -> None:
    panes = shown(5, form="text", summary={"count": 5, "rule": "last", "extracted": "five"})
    assert roles(panes) == ["target", "prediction"]
    assert isinstance(panes[1].body, Words)
    assert panes[1].body.text == "5"
    assert panes[1].body.facts == (
        ("counted", "5"), ("truth", "3"), ("rule", "last"), ("extracted", "five"),
    )  # fmt: skip
    assert shown(3, form="text")[1].title == "Prediction: 3 (right)"


def test_a_truth_without_places_is_told_in_words_and_nothing_is_paired() -> None:
    panes = shown(1, None, count=7, summary={"count": 1, "points": [[3.0, 4.0]]})
    assert roles(panes) == ["target", "prediction"]
    assert isinstance(panes[0].body, Words)
    assert panes[0].body.text == "7"
    assert marks(panes[1]) == [("dot", "counted", 3.0, 4.0)]


def test_a_failure_value_and_no_score_and_no_object_are_shown() -> None:
    failed = shown(0, form="points", answer=None, substitute=True)[1]
    assert failed.title == "Failure value, scored in place of an answer: 0 (-3)"
    assert isinstance(failed.body, Words)
    assert roles(shown(None)) == ["target"]
    none = shown(0, np.zeros((0, 2)), count=0, summary={"points": []})
    assert [pane.title for pane in none][1:] == [
        "Prediction: 0 (right)", "0 matched, 0 extra, 0 missed",
    ]  # fmt: skip


def test_places_that_were_not_kept_are_told() -> None:
    panes = shown(9, summary={"count": 9, "points": [[20.0, 20.0]]})
    assert panes[1].note == "Places of 1 of 9 were kept."
    assert panes[2].note.endswith("Places of 1 of 9 were kept.")


def best(found: np.ndarray, truth: np.ndarray, reach: float) -> tuple[int, float]:
    """Most pairs, and the least distance of so many, by trying every way."""
    if not len(found):
        return 0, 0.0
    rest = best(found[1:], truth, reach)
    options = [rest]
    for at, place in enumerate(truth):
        apart = float(np.hypot(*(found[0] - place)))
        if apart <= reach:
            pairs, total = best(found[1:], np.delete(truth, at, axis=0), reach)
            options.append((pairs + 1, total + apart))
    return max(options, key=lambda option: (option[0], -option[1]))


@pytest.mark.parametrize("seed", range(40))
def test_pairs_are_the_most_and_of_those_the_nearest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = rng.uniform(0, 30, (int(rng.integers(0, 7)), 2))
    truth = rng.uniform(0, 30, (int(rng.integers(0, 6)), 2))
    pairs = match_points(found, truth, 9.0)
    apart = [float(np.hypot(*(found[a] - truth[b]))) for a, b in pairs]
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)
    assert max(apart, default=0.0) <= 9.0
    wanted = best(found, truth, 9.0)
    assert (len(pairs), sum(apart)) == (wanted[0], pytest.approx(wanted[1]))


def test_a_greedy_pair_gives_way_to_two() -> None:
    found, truth = np.array([[0.0, 0.0], [3.0, 0.0]]), np.array([[1.0, 0.0], [-4.0, 0.0]])
    assert match_points(found, truth, 4.5) == [(0, 1), (1, 0)]


def test_many_points_that_hang_together_are_paired_in_time() -> None:
    grid = np.stack(np.meshgrid(np.arange(40), np.arange(40)), -1).reshape(-1, 2).astype(float)
    assert len(grid) > LARGEST
    assert match_points(grid + 0.2, grid, 1.5) == [(at, at) for at in range(len(grid))]


def test_the_reach_is_half_of_the_way_to_the_next_object_and_two_per_cent_of_the_side() -> None:
    assert reach_of(PLACES, SIZE) == 20.0
    assert reach_of(PLACES / 20, SIZE) == 4.0
    assert reach_of(PLACES[:1], SIZE) == 8.0
