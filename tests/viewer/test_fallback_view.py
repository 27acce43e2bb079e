"""The view of what no family shows: the score line in words, and a truth that is short."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from vgen_eval.imaging import Image
from vgen_eval.types import Sample, Scene
from vgen_eval.viewer.fallback import FallbackView
from vgen_eval.viewing import Seen, Words

PICTURE = Image(np.zeros((2, 3, 3), np.uint8))


class Small(msgspec.Struct, frozen=True):
    left: int
    words: tuple[str, ...]


class Drawn(msgspec.Struct, frozen=True):
    image: Image


def bodies(target: Any, score: dict[str, Any], **more: Any) -> dict[str, Words]:
    seen = Seen(
        sample=Sample(id="a", group="a", images=(PICTURE,), target=target),
        scene=Scene(image=PICTURE, size=(2, 3)),
        form="text", answer="x", prediction=None, score=score, metrics={},
        **{"substitute": False, **more},
    )  # fmt: skip
    found: dict[str, Words] = {}
    for pane in FallbackView().panes(seen):
        assert isinstance(pane.body, Words)
        found[pane.role] = pane.body
    return found


def test_the_score_line_is_told_with_its_own_names_and_numbers() -> None:
    found = bodies(
        None,
        {
            "status": "ok",
            "prediction": {"count": 7, "box": {"left": 0.123456789, "seen": True}, "of": None},
            "values": {"error": 0.5, "bias": None},
            "statistics": {"m": {"n": 1, "bins": list(range(25))}},
        },
    )
    assert dict(found["prediction"].facts) == {
        "status": "ok", "count": "7", "box.left": "0.123457", "box.seen": "yes", "of": "none",
        "error": "0.5", "bias": "none",
    }  # fmt: skip
    shown = ", ".join(str(k) for k in range(20))
    assert dict(found["detail"].facts) == {"m.n": "1", "m.bins": f"{shown}, ... (25 in all)"}
    assert "target" not in found


def test_a_failure_says_so() -> None:
    score = {"status": "refused", "reason": "no", "prediction": {}}
    told = dict(bodies(None, score, substitute=True)["prediction"].facts)
    assert told == {
        "status": "refused", "reason": "no", "scored as": "the protocol's failure value",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("words", "words"),
        (7, "7"),
        (0.25, "0.25"),
        (Small(1, ("a",)), "Small(left=1, words=('a',))"),
        (["a", 2], "['a', 2]"),
    ],
)
def test_a_short_truth_is_told(target: Any, told: str) -> None:
    assert bodies(target, {})["target"].text == told


@pytest.mark.parametrize(
    "target",
    [None, np.zeros((2, 2)), Drawn(PICTURE), {"a": np.zeros(2)}, "x" * 5000, object()],
    ids=["none", "array", "picture", "array inside", "long", "anything"],
)
def test_a_truth_that_is_no_small_value_is_left_out(target: Any) -> None:
    assert bodies(target, {}) == {}


def test_very_many_facts_are_cut_and_counted() -> None:
    seen = {"prediction": {f"k{at}": at for at in range(450)}}
    view = FallbackView()
    bare = Seen(
        sample=Sample(id="a", group="a", images=(), target=None),
        scene=Scene(image=PICTURE, size=(2, 3)), form="text", answer=None, prediction=None,
        substitute=False, score=seen, metrics={},
    )  # fmt: skip
    (pane,) = view.panes(bare)
    assert isinstance(pane.body, Words)
    assert len(pane.body.facts) == 200
    assert pane.note == "250 more are left out: the score line has them."


def test_a_line_that_somebody_changed_is_no_crash() -> None:
    assert bodies(None, {"prediction": "gone", "values": 3, "statistics": []}) == {}
