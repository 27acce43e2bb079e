"""Answers that choose nothing are counted by kind in the result card."""

from __future__ import annotations

from pathlib import Path

import pytest
from vgen_eval import evaluate


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("", "empty"),
        ("I cannot see the image.", "refusal"),
        ("Z", "extra_option"),
        ("Both A and B", "several_options"),
        ("The weather is fine.", "no_option"),
    ],
)
def test_each_kind_is_a_flag_of_the_card(said: str, kind: str, tmp_path: Path) -> None:
    (card,) = evaluate(
        model=lambda request: said or " ", forms=["text"], tasks="samples/perception", limit=3,
        bounds=False, output=tmp_path,
    )  # fmt: skip
    assert card.counts.statuses == {"undecodable": 3}
    assert card.counts.flags == {kind: 3}
    assert card.score().value == 0.0
