"""Models in programs of their own are told what a choice's number is to be, where it is said."""

from __future__ import annotations

import json

import numpy as np
import pytest
from vgen_eval.imaging import Image
from vgen_eval.types import Request
from vgen_eval_plugins.models.command.protocol import generate


@pytest.mark.parametrize(("scoring", "told"), [("", None), ("closed_set", "closed_set")])
def test_the_way_of_scoring_stands_in_the_request(scoring: str, told: str | None) -> None:
    request = Request(
        id="a#0", sample="a", attempt=0, family="quality", form="choice", prompt="Is it sharp?",
        images=(Image(np.zeros((8, 8, 3), np.uint8)),), choices=("Yes", "No"),
        choice_scoring=scoring,
    )  # fmt: skip
    (asked,) = json.loads(generate([request]))["requests"]
    assert asked["choices"] == ["Yes", "No"]
    assert asked.get("choice_scoring") == told
