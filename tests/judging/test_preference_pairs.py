"""Preferences that speak against one another drop out, and are counted."""

from __future__ import annotations

import random
import time
from itertools import pairwise, permutations

import pytest
from vgen_eval.results.judging.human import Preference
from vgen_eval.results.judging.preferences import settle


def said(*pairs: str, sample: str = "s") -> list[Preference]:
    """ "ab": a is better than b."""
    return [Preference(sample=sample, better=pair[0], worse=pair[1]) for pair in pairs]


def names(preferences: list[Preference]) -> list[str]:
    found = settle(preferences)
    return [one.better + one.worse for one in found.pairs]


def test_what_holds_together_is_kept() -> None:
    found = settle(said("ab", "ac", "bc"))
    assert [(one.better, one.worse) for one in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert (found.said, found.repeated, found.contradictions, found.cycles) == (3, 0, 0, 0)


def test_what_is_said_twice_counts_once() -> None:
    found = settle(said("ab", "ab", "ab"))
    assert (len(found.pairs), found.said, found.repeated) == (1, 3, 2)


def test_pairs_said_both_ways_drop_out_both() -> None:
    found = settle(said("ab", "ba", "ab", "bc"))
    assert [one.better + one.worse for one in found.pairs] == ["bc"]
    assert (found.contradictions, found.repeated, found.in_cycles) == (1, 1, 0)


@pytest.mark.parametrize("order", list(permutations(["ab", "bc", "ca"])))
def test_a_cycle_drops_out_whole(order: tuple[str, ...]) -> None:
    found = settle(said(*order, "ad"))
    assert [one.better + one.worse for one in found.pairs] == ["ad"]
    assert (found.cycles, found.in_cycles, found.contradictions) == (1, 3, 0)


def test_a_long_cycle_takes_its_chords_with_it() -> None:
    found = settle(said("ab", "bc", "cd", "da", "ac", "xy"))
    assert [one.better + one.worse for one in found.pairs] == ["xy"]
    assert (found.cycles, found.in_cycles) == (1, 5)


def test_two_cycles_are_two() -> None:
    found = settle(said("ab", "bc", "ca", "xy", "yz", "zx", "ax"))
    assert [one.better + one.worse for one in found.pairs] == ["ax"]
    assert (found.cycles, found.in_cycles) == (2, 6)


def test_a_contradiction_makes_no_cycle() -> None:
    # b over a is gone with a over b, so nothing goes round any more
    assert names(said("ab", "ba", "bc", "ca")) == ["bc", "ca"]


def test_samples_do_not_speak_of_one_another() -> None:
    found = settle(said("ab", sample="one") + said("ba", sample="two"))
    assert [(one.sample, one.better) for one in found.pairs] == [("one", "a"), ("two", "b")]
    assert found.contradictions == 0


def leads(pairs: set[tuple[str, str]], start: str, goal: str) -> bool:
    """Can one go from name to name, each better than the next?"""
    found, left = {start}, [start]
    while left:
        name = left.pop()
        for better, worse in pairs:
            if better == name and worse not in found:
                found.add(worse)
                left.append(worse)
    return goal in found


@pytest.mark.parametrize("seed", range(40))
def test_what_goes_round_is_what_leads_back_to_itself(seed: int) -> None:
    draw = random.Random(seed)
    drawn = [draw.sample("abcdefgh", 2) for _ in range(draw.randint(4, 16))]
    found = settle([Preference(sample="s", better=a, worse=b) for a, b in drawn])
    pairs = {(a, b) for a, b in drawn if [b, a] not in drawn}
    round_about = {(a, b) for a, b in pairs if leads(pairs, b, a)}
    kept = {(one.better, one.worse) for one in found.pairs}
    assert kept == pairs - round_about
    assert found.in_cycles == len(round_about)
    groups = {frozenset(c for c, _ in pairs if leads(pairs, a, c) and leads(pairs, c, a))
              for a, _ in round_about}  # fmt: skip
    assert found.cycles == len(groups)


def test_a_long_chain_costs_as_much_as_it_has_pairs() -> None:
    names = [f"m{at}" for at in range(4000)]
    chain = [Preference(sample="s", better=a, worse=b) for a, b in pairwise(names)]
    began = time.process_time()
    found = settle(chain)
    took = time.process_time() - began
    assert (len(found.pairs), found.cycles) == (3999, 0)
    closed = settle([*chain, Preference(sample="s", better=names[-1], worse=names[0])])
    assert (closed.cycles, closed.in_cycles, closed.pairs) == (1, 4000, ())
    assert took < 1.0


def test_nothing_comes_of_nothing() -> None:
    assert settle([]).pairs == ()
