"""The card of the built-in depth samples: what a perfect and a blind model come to."""

from __future__ import annotations

from pathlib import Path

import pytest
from vgen_eval import evaluate
from vgen_eval.results.card import ResultCard


def run(model: str, protocol: str, form: str, folder: Path) -> ResultCard:
    (card,) = evaluate(
        model=model, tasks=[f"samples/depth@{protocol}"], answer=form, output=str(folder)
    )
    assert card.complete
    assert card.counts.answered == card.counts.expected == 10
    return card


def value(card: ResultCard, metric: str) -> float:
    (found,) = {s.value for s in card.scores if s.metric == metric and s.subset == "all"}
    assert found is not None
    return found


@pytest.mark.parametrize("form", ["image", "depth_map"])
@pytest.mark.parametrize("protocol", ["standard", "depth_space", "metric"])
def test_ceiling_is_near_perfect_and_far_above_the_floor(
    protocol: str, form: str, tmp_path: Path
) -> None:
    ceiling = run("oracle", protocol, form, tmp_path)
    floor = run("blind", protocol, form, tmp_path)
    assert value(ceiling, "delta1") == 1.0
    assert value(ceiling, "absrel") <= 0.01
    assert dict(ceiling.counts.flags) == {}
    assert value(floor, "delta1") < 0.8


def test_a_perfect_grey_map_loses_in_the_space_that_it_was_not_drawn_for(tmp_path: Path) -> None:
    drawn_for_disparity = run("oracle", "standard", "image", tmp_path)
    assert value(drawn_for_disparity, "depth_space.absrel") > 0.05
    drawn_for_depth = run("oracle", "depth_space", "image", tmp_path)
    assert value(drawn_for_depth, "disparity_space.absrel") > 0.05
