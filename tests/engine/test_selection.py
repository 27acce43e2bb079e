"""Subsets: by hash of the group, nested, whatever the order of the data set."""

from __future__ import annotations

import random

import pytest
from vgen_eval import Item
from vgen_eval.cards.records import Sampling
from vgen_eval.engine.selection import select

ITEMS = [Item(id=f"i{n}", group=f"g{n // 3}") for n in range(600)]


def chosen(limit: int | None, **sampling: object) -> list[str]:
    items, _ = select(ITEMS, sampling=Sampling(**sampling), limit=limit)  # type: ignore[arg-type]
    return [item.id for item in items]


def test_smaller_subsets_lie_within_larger_ones_at_every_size() -> None:
    before: set[str] = set()
    for limit in (1, 2, 10, 57, 100, 333, 600):
        found = set(chosen(limit))
        assert len(found) == limit
        assert before <= found
        before = found


def test_a_subset_holds_whole_groups_and_at_most_one_in_part() -> None:
    found = chosen(100)
    sizes: dict[int, int] = {}
    for name in found:
        group = int(name[1:]) // 3
        sizes[group] = sizes.get(group, 0) + 1
    assert sorted(sizes.values())[1:] == [3] * 33


def test_the_order_of_the_data_set_changes_nothing_but_the_order() -> None:
    shuffled = ITEMS.copy()
    random.Random(1).shuffle(shuffled)
    items, label = select(shuffled, sampling=Sampling(), limit=50)
    assert {item.id for item in items} == set(chosen(50))
    order = {item.id: at for at, item in enumerate(shuffled)}
    assert [order[item.id] for item in items] == sorted(order[item.id] for item in items)
    assert label == {"limit": 50, "unit": "example", "seed": 0}


def test_another_seed_is_another_subset() -> None:
    assert set(chosen(50, seed=0)) != set(chosen(50, seed=1))


def test_the_unit_image_takes_one_sample_a_group() -> None:
    everything = chosen(None, unit="image")
    assert len(everything) == 200
    assert len({int(name[1:]) // 3 for name in everything}) == 200
    ten, hundred = set(chosen(10, unit="image")), set(chosen(100, unit="image"))
    assert len(ten) == 10
    assert ten < hundred < set(everything)
    _, label = select(ITEMS, sampling=Sampling(unit="image"))
    assert label == {"unit": "image"}


@pytest.mark.parametrize("limit", [None, 600, 10_000])
def test_a_limit_that_cuts_nothing_off_is_no_selection(limit: int | None) -> None:
    items, label = select(ITEMS, sampling=Sampling(), limit=limit)
    assert label == {}
    assert [item.id for item in items] == [item.id for item in ITEMS]


def test_the_smaller_of_the_protocols_limit_and_the_users_holds() -> None:
    for own, asked in ((10, 20), (20, 10), (10, None)):
        items, _ = select(ITEMS, sampling=Sampling(limit=own), limit=asked)
        assert [item.id for item in items] == chosen(10)


def test_named_samples_come_in_the_data_sets_order() -> None:
    items, label = select(ITEMS, sampling=Sampling(), ids=["i9", "i2"])
    assert [item.id for item in items] == ["i2", "i9"]
    assert label == {"ids": ["i2", "i9"]}
