"""A 95 % interval holds the truth of 93 to 97 % of 2,000 simulated sets."""

from __future__ import annotations

import pytest
from coveragekit import POPULATIONS, coverage


@pytest.mark.slow
@pytest.mark.parametrize("groups", [50, 500])
@pytest.mark.parametrize("name", ["mean", "miou"])
def test_intervals_hold_the_truth_as_often_as_they_say(name: str, groups: int) -> None:
    assert 0.93 <= coverage(POPULATIONS[name], groups=groups, sets=2000, seed=20) <= 0.97
