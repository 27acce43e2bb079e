"""What a judge's model says, read strictly and as the original reads it."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vgen_eval.errors import Unreadable
from vgen_eval_plugins.video.vgi.replies import (
    Incomplete,
    Numbers,
    Reading,
    read_counts,
    read_tier,
    read_vote,
    read_window,
)
from vgikit import counts, nominate

KNOWN = {0, 8, 15}
NUMBERS: tuple[Numbers, ...] = ("integral", "truncated")
READINGS: tuple[Reading, ...] = ("strict", "plain")
UNREADABLE = ["", "   ", "I cannot help with that.", "{}", "[{}, {}]", '[{"a": 1}, {"a": 2}]', "{",
              "x" * 50_000]  # fmt: skip


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_holds_no_object_is_unreadable(text: str) -> None:
    for reading in READINGS:
        with pytest.raises(Unreadable):
            read_window(text, KNOWN, reading)
        for numbers in NUMBERS:
            with pytest.raises(Unreadable):
                read_counts(text, 2, numbers, reading)
            with pytest.raises(Unreadable):
                read_tier(text, numbers, reading)
    with pytest.raises(Unreadable):
        read_vote(text)


def test_a_fenced_object_and_a_list_of_one_are_read() -> None:
    reply = json.dumps(nominate(8, 0))
    for text in (reply, f"```json\n{reply}\n```", f"Here:\n{reply}", f"[{reply}]"):
        assert read_window(text, KNOWN).nominated == (8, 0)


def test_comments_keep_the_frames_that_were_shown() -> None:
    entries = [
        {"frames": [15, 8, 8, 99, "0", True], "comment": "the dot\ncrosses"},
        {"frames": 8, "comment": "one"},
        "loose words",
        {"frames": [8]},
        7,
        {"frames": None, "comment": "y" * 50_000},
    ]
    found = read_window(json.dumps({"comments": entries}), KNOWN).comments
    assert [entry.frames for entry in found] == [(8, 15), (8,), (), ()]
    assert [entry.text for entry in found[:3]] == ["the dot crosses", "one", "loose words"]
    assert len(found[3].text) == 2000


@pytest.mark.parametrize(
    "text", ['{"summary": "nothing happens"}', '{"comments": null}', '[{"summary": "one"}]']
)
def test_a_reply_about_something_else_fails_a_window_only_where_it_is_read_strictly(
    text: str,
) -> None:
    with pytest.raises(Unreadable, match="neither comments"):
        read_window(text, KNOWN)
    read = read_window(text, KNOWN, "plain")
    assert (read.comments, read.nominated) == ((), ())


def test_of_a_key_that_stands_twice_a_plain_reader_takes_the_last() -> None:
    window = '{"frames_to_inspect_closely": [0], "frames_to_inspect_closely": [8]}'
    tier = '{"tier": 0, "tier": 2}'
    items = '{"items": [{"index": 1, "violations": 3, "violations": 0}]}'
    assert read_window(window, KNOWN, "plain").nominated == (8,)
    assert read_tier(tier, "truncated", "plain") == 2
    assert read_counts(items, 1, "truncated", "plain").counts == {1: 0}
    with pytest.raises(Unreadable, match="twice"):
        read_window(window, KNOWN)
    with pytest.raises(Unreadable, match="twice"):
        read_tier(tier, "truncated")
    with pytest.raises(Unreadable, match="twice"):
        read_counts(items, 1, "truncated")


def test_what_is_no_number_is_none_for_a_plain_reader() -> None:
    items = '{"items": [{"index": 1, "violations": NaN}, {"index": 2, "violations": -Infinity}]}'
    assert read_counts(items, 2, "truncated", "plain").counts == {}
    with pytest.raises(Unreadable, match="tier"):
        read_tier('{"tier": NaN}', "truncated", "plain")


def test_as_many_as_half_of_the_frames_are_nominated_where_several_share_a_number() -> None:
    # ten frames of three numbers: five may be nominated, so all three are
    numbers = [0, 0, 0, 0, 8, 8, 8, 15, 15, 15]
    assert read_window(json.dumps(nominate(15, 0, 8)), numbers).nominated == (15, 0, 8)


@pytest.mark.parametrize(
    ("told", "cut"),
    [(2, 2), (0, 0), ("3", 3), (2.7, 2), (-4, 0), ("-4", 0), ("2.7", None), ("many", None),
     (None, None), (True, 1), (False, 0), ([1], None), (2.0, 2), (" 5 ", 5), ("1_000", 1000),
     (-0.5, 0)],
)  # fmt: skip
def test_counts_are_cut_to_integers_as_the_original_does(told: Any, cut: int | None) -> None:
    read = read_counts(json.dumps(counts(told)), 1, "truncated")
    assert read.counts == ({} if cut is None else {1: cut})


@pytest.mark.parametrize("told", ["3", 2.7, -4, None, True, False, "many"])
def test_strict_counts_are_whole_numbers_or_asked_for_again(told: Any) -> None:
    with pytest.raises(Unreadable, match=r"entry 2: .* violations") as caught:
        read_counts(json.dumps(counts(1, told)), 2, "integral")
    assert not isinstance(caught.value, Incomplete)
    assert read_counts(json.dumps(counts(1, 3.0)), 2, "integral").counts == {1: 1, 2: 3}


def test_the_last_of_two_counts_holds_and_strictly_it_is_a_fault() -> None:
    items = [{"index": 1, "violations": 4}, {"index": 1, "violations": 0}]
    text = json.dumps({"items": [*items, {"index": 2, "violations": 1}]})
    assert read_counts(text, 2, "truncated").counts == {1: 0, 2: 1}
    with pytest.raises(Unreadable, match="entry 1 twice") as caught:
        read_counts(text, 2, "integral")
    assert not isinstance(caught.value, Incomplete)


def test_an_entry_that_is_left_out_keeps_the_others() -> None:
    with pytest.raises(Incomplete, match="entry 2 missing") as caught:
        read_counts(json.dumps(counts(1)), 2, "integral")
    assert caught.value.counts.counts == {1: 1}


@pytest.mark.parametrize("index", [0, 3, "1", 1.0, True, None])
def test_an_index_is_an_integer_of_the_checklist(index: Any) -> None:
    items = [{"index": index, "violations": 5}, {"index": 2, "violations": 0}]
    text = json.dumps({"items": items})
    assert read_counts(text, 2, "truncated").counts == {2: 0}
    with pytest.raises(Unreadable, match="no entry"):
        read_counts(text, 2, "integral")


@pytest.mark.parametrize("items", [None, "none", {"1": 0}, 0])
def test_counts_without_a_list_of_items_are_unreadable_as_a_whole(items: Any) -> None:
    for numbers in NUMBERS:
        with pytest.raises(Unreadable, match="no list of items") as caught:
            read_counts(json.dumps({"items": items, "more": 1}), 2, numbers)
        assert not isinstance(caught.value, Incomplete)


def test_labels_are_of_the_known_kinds_and_no_more_than_violations() -> None:
    kinds = ["rule_violation", "ugly", "physical_collapse", "state_inconsistency"]
    items = [{"index": 1, "violations": 2, "labels": kinds}]
    read = read_counts(json.dumps({"items": items}), 1, "integral")
    assert read.labels == {1: ("rule_violation", "physical_collapse")}


@pytest.mark.parametrize(
    ("told", "strict", "cut"),
    [(0, 0, 0), (2, 2, 2), (1.0, 1, 1), (1.9, None, 1), ("2", None, 2), (-0.5, None, 0),
     (3, None, None), (-1, None, None), (None, None, None), ("partial", None, None),
     (True, None, 1), (False, None, 0)],
)  # fmt: skip
def test_tiers(told: Any, strict: int | None, cut: int | None) -> None:
    text = json.dumps({"tier": told})
    for numbers, wanted in zip(NUMBERS, (strict, cut), strict=True):
        if wanted is None:
            with pytest.raises(Unreadable, match="tier"):
                read_tier(text, numbers)
        else:
            assert read_tier(text, numbers) == wanted


@pytest.mark.parametrize("told", ["true", 1, None])
def test_a_vote_is_true_or_false(told: Any) -> None:
    assert read_vote('{"success": true}') is True
    assert read_vote('{"success": false, "reason": "the wall"}') is False
    with pytest.raises(Unreadable, match="true or false"):
        read_vote(json.dumps({"success": told}))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["comments", "frames", "comment", "frames_to_inspect_closely", "items", "index", "violations",
     "labels", "tier", "success"]
)  # fmt: skip
REPLIES = st.recursive(
    VALUES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=20
)


@given(REPLIES)
def test_whatever_json_comes_is_read_or_unreadable(value: Any) -> None:
    text = json.dumps(value)
    for read in (
        lambda: read_window(text, KNOWN),
        lambda: read_window(text, KNOWN, "plain"),
        lambda: read_counts(text, 2, "truncated", "plain"),
        lambda: read_tier(text, "truncated", "plain"),
        lambda: read_counts(text, 2, "integral"),
        lambda: read_counts(text, 2, "truncated"),
        lambda: read_tier(text, "truncated"),
        lambda: read_vote(text),
    ):
        with contextlib.suppress(Unreadable):
            read()


def test_numbers_and_characters_beyond_all_measure_are_kept_in_bounds() -> None:
    text = json.dumps(counts(10**400, 1e300))
    assert read_counts(text, 2, "integral").counts == {1: 10**9, 2: 10**9}
    assert read_counts(text, 2, "truncated").counts == {1: 10**9, 2: 10**9}
    half = r'{"comments": [{"frames": [], "comment": "a \ud83d b"}]}'
    assert read_window(half, KNOWN).comments[0].text == "a ? b"
