"""How pictures reach the model and its answers come back: sizes, bars, digests, shared options."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import kit
import numpy as np
import pytest
from vgen_eval import Request
from vgen_eval.cards import check_card
from vgen_eval.errors import CardError
from vgen_eval.plugins import Catalog

GRID = [{"form": "image", "prompt": {"mid": "Paint."}, "decoder": "toybench:grid"}]
PAINTED = {
    "answers": GRID,
    "metrics": [{"name": "toybench:nothing"}],
    "primary": "zero",
    "failure_value": "toybench:grid",
}
SHIFTED = {
    "form": "text",
    "prompt": {"mid": "Say {shift}, {query}."},
    "decoder": "toybench:shifted",
    "options": {"shift": 7},
    "encoder": "toybench:shifted",
}


def ask(toys: Path, protocol: Any, answer: Any) -> tuple[Any, list[Request]]:
    """A run of one sample with a function that notes its requests."""
    seen: list[Request] = []

    def function(request: Request) -> Any:
        seen.append(request)
        return answer(request)

    card = kit.run(
        toys, model=function, forms=["image"], tasks=kit.task(toys, protocol=protocol, n=2)
    )
    return card, seen


def test_a_picture_is_laid_between_bars_and_the_answer_loses_them_again(toys: Path) -> None:
    rule = {"size": [10, 20], "fit": "letterbox", "pad": [9, 8, 7]}
    card, seen = ask(toys, {**PAINTED, "input": rule}, lambda request: request.images[0].array)
    picture = seen[1].images[0].array
    assert picture.shape == (10, 20, 3)
    assert (picture[:, :5] == (9, 8, 7)).all()
    assert (picture[:, 15:] == (9, 8, 7)).all()
    assert (picture[:, 5:15] == (0, 0, 1)).all()
    line = kit.predictions(toys, card)[0]
    assert line["geometry"]["original"] == [[8, 8]]
    assert line["geometry"]["seen"] == [[10, 20]]
    assert line["geometry"]["boxes"] == [[0, 5, 10, 10]]
    score = kit.scores(toys, card)[0]
    assert score["prediction"]["shape"] == [8, 8]


def test_what_the_model_saw_and_what_was_scored_is_known_by_its_pixels(toys: Path) -> None:
    plane = np.zeros((8, 8, 3), np.uint8)
    card, seen = ask(toys, PAINTED, lambda request: plane)
    lines = {line["sample"]: line for line in kit.predictions(toys, card)}
    assert [lines[request.sample]["geometry"]["sha256"] for request in seen] == [
        [request.images[0].sha256] for request in seen
    ]
    wanted = hashlib.sha256(b"|u1 (8, 8)\n" + bytes(64)).hexdigest()
    assert {score["sha256"] for score in kit.scores(toys, card)} == {wanted}


@pytest.mark.parametrize(("fit", "left"), [("letterbox", 1), ("stretch", 0)])
def test_an_answer_of_another_shape_is_fitted_as_the_card_says(
    toys: Path, fit: str, left: int
) -> None:
    def between_bars(_: Request) -> Any:
        answer = np.zeros((8, 16, 3), np.uint8)
        answer[:, 4:12] = 1
        return answer

    card, _ = ask(toys, {**PAINTED, "answers": [{**GRID[0], "fit": fit}]}, between_bars)
    score = kit.scores(toys, card)[0]
    row = [left, left, 1, 1, 1, 1, left, left]
    plane = np.tile(np.array(row, np.uint8), (8, 1))
    assert score["prediction"]["fit"] == fit
    assert score["sha256"] == hashlib.sha256(b"|u1 (8, 8)\n" + plane.tobytes()).hexdigest()


def test_transparent_pixels_lie_on_the_colour_that_the_card_states(toys: Path) -> None:
    clear = np.full((8, 8, 4), (200, 200, 200, 0), np.uint8)
    answers = [{**GRID[0], "background": [3, 0, 0]}]
    card, _ = ask(toys, {**PAINTED, "answers": answers}, lambda request: clear)
    wanted = hashlib.sha256(b"|u1 (8, 8)\n" + bytes([3] * 64)).hexdigest()
    assert {score["sha256"] for score in kit.scores(toys, card)} == {wanted}


def test_size_and_long_side_together_are_a_fault_of_the_card(toys: Path) -> None:
    path = kit.task(toys, protocol={"input": {"size": [16, 16], "long_side": 16}})
    (problem,) = check_card(Path(path), Catalog.discover())
    assert "size and long_side" in str(problem)
    assert problem.path == "protocols.plain.input"


def test_prompt_fields_may_come_from_the_decoders_options(toys: Path) -> None:
    path = kit.task(toys, protocol={"answers": [SHIFTED]}, n=1)
    assert not check_card(Path(path), Catalog.discover())
    seen: list[str] = []

    def function(request: Request) -> str:
        seen.append(request.prompt)
        return "7"

    card = kit.run(toys, model=function, forms=["text"], tasks=path)
    assert seen == ["Say 7 more than number 0, number 0."]
    assert card.score("mae").value == 0.0


def test_an_encoder_takes_its_decoders_options_unless_it_has_its_own(toys: Path) -> None:
    path = kit.task(toys, protocol={"answers": [SHIFTED]}, n=3)
    card = kit.run(toys, model="oracle", tasks=path)
    assert card.score("mae").value == 0.0
    own = {**SHIFTED, "encoder_options": {"shift": 9}}
    path = kit.task(toys, name="own", protocol={"answers": [own]}, n=3)
    assert kit.run(toys, model="oracle", tasks=path).score("mae").value == 2.0


def test_shared_options_at_fault_are_told_once(toys: Path) -> None:
    wrong = {**SHIFTED, "options": {"shift": "much"}}
    path = kit.task(toys, protocol={"answers": [wrong]}, n=1)
    (problem,) = check_card(Path(path), Catalog.discover())
    assert problem.path == "protocols.plain.answers[0].options.shift"
    with pytest.raises(CardError):
        kit.run(toys, model=lambda request: "1", forms=["text"], tasks=path)


def test_a_metric_may_flag_what_only_the_truth_shows(toys: Path) -> None:
    path = kit.task(
        toys, protocol={"metrics": [{"name": "toybench:flagging"}], "primary": "mae"}, n=5
    )
    model = kit.model(toys, off=0)
    card = kit.run(toys, model=model, tasks=path)
    assert {tuple(score["flags"]) for score in kit.scores(toys, card)} == {("round",), ()}
    card = kit.run(toys, model=kit.model(toys, name="far", off=3), tasks=path)
    assert all(score["flags"] == ["far"] for score in kit.scores(toys, card))
    twice = [{"name": "toybench:flagging"}, {"name": "toybench:flagging", "label": "again"}]
    path = kit.task(toys, name="twice", protocol={"metrics": twice, "primary": "mae"}, n=2)
    card = kit.run(toys, model=kit.model(toys, name="far", off=3), tasks=path)
    assert all(score["flags"] == ["far"] for score in kit.scores(toys, card))


@pytest.mark.parametrize("model", ["oracle", None])
def test_a_truth_that_holds_nothing_is_no_valid_target_for_ceiling_and_model_alike(
    toys: Path, model: str | None
) -> None:
    path = kit.task(toys, n=3, no_target=["s001"])
    card = kit.run(toys, model=model or kit.model(toys), tasks=path)
    statuses = {score["sample"]: score["status"] for score in kit.scores(toys, card)}
    assert statuses == {"s000": "ok", "s001": "no_valid_target", "s002": "ok"}
    again = kit.run(toys, model=model or kit.model(toys), tasks=path)
    assert again.counts.statuses == card.counts.statuses
    assert len(kit.predictions(toys, again)) == 3
