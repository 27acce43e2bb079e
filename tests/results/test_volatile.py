"""What earlier cards say of a run is taken as far as it can be read."""

from __future__ import annotations

from typing import Any

import pytest
from vgen_eval.results.volatile import Earlier, read_volatile

GOOD: dict[str, Any] = {
    "wall_s": 2.5, "calling": {"calls": 5, "seconds": 1.5}, "calls": 5, "cost_usd": 0.55,
    "unpriced": 1, "peak_memory_mb": 9.0, "endpoint": "h:1",
    "unfinished": {"tries": 2, "cost_usd": 0.1, "usage": {"input_tokens": 3}},
}  # fmt: skip


def test_a_sound_record_is_read_whole() -> None:
    assert read_volatile(GOOD) == Earlier(
        calls=5, calling_s=1.5, wall_s=2.5, cost_usd=0.55, priced=4, peak_memory_mb=9.0,
        endpoint="h:1", unfinished=GOOD["unfinished"],
    )  # fmt: skip


@pytest.mark.parametrize("volatile", [None, [], [1], 3, "x", {}])
def test_what_is_no_record_tells_nothing(volatile: Any) -> None:
    assert read_volatile(volatile) == Earlier()


@pytest.mark.parametrize(
    ("broken", "field", "value"),
    [
        ({"calling": [1, 2]}, "calls", 0),
        ({"calling": {"calls": "x", "seconds": 1}}, "calling_s", 0.0),
        ({"calling": {"calls": 5, "seconds": None}}, "calls", 0),
        ({"calling": {"calls": -5, "seconds": -1}}, "calls", 0),
        ({"calls": None}, "priced", 0),
        ({"calls": True}, "priced", 0),
        ({"cost_usd": "5"}, "cost_usd", None),
        ({"cost_usd": float("inf")}, "cost_usd", None),
        ({"cost_usd": float("nan")}, "cost_usd", None),
        ({"cost_usd": 10**400}, "cost_usd", None),
        ({"unpriced": "x"}, "priced", 0),
        ({"unpriced": 50}, "priced", 0),
        ({"wall_s": []}, "wall_s", 0.0),
        ({"endpoint": 7}, "endpoint", None),
        ({"peak_memory_mb": "a lot"}, "peak_memory_mb", None),
        ({"unfinished": [1]}, "unfinished", {}),
        ({"unfinished": {"tries": "2"}}, "unfinished", {}),
        (
            {"unfinished": {"tries": 2, "cost_usd": "x", "usage": {"input_tokens": "y"}}},
            "unfinished",
            {"tries": 2, "cost_usd": 0.0, "usage": {}},
        ),
    ],
)
def test_a_broken_field_counts_as_not_there_and_the_others_stand(
    broken: dict[str, Any], field: str, value: Any
) -> None:
    found = read_volatile({**GOOD, **broken})
    assert getattr(found, field) == value
    assert found.wall_s == (0.0 if field == "wall_s" else 2.5)
