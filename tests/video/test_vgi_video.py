"""The judge of videos, played with replies from a table over real clips."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from vgen_eval.errors import JudgeError
from vgen_eval.imaging import Image
from vgen_eval.judging import Question
from vgikit import COMPAT, counts, make_clip, nominate, play, scores, truth_of

TWO = truth_of("No wall is crossed.", "The dot stays whole.")
THREE = truth_of("one", "two", "three")


@cache
def five_seconds() -> bytes:
    return make_clip(150)


def test_all_is_asked_in_its_order_and_the_numbers_follow() -> None:
    played = play(five_seconds(), TWO, {"polish": counts(0, 1), "completeness": {"tier": 1}})
    assert played.names == ["window/0", "window/1", "window/2", "polish", "completeness"]
    assert scores(played) == (0.75, 0.5, 0.375, False)
    assert played.prediction.value.violations == (0, 1)
    assert [len(played.frames(f"window/{at}")) for at in range(3)] == [10, 10, 3]
    assert played.frames("window/0")[-1] == played.frames("window/1")[0]
    assert len(played.frames("completeness")) == 11
    assert played.frames("polish") == []


def test_a_video_without_a_fault_that_reaches_the_goal_succeeds() -> None:
    for options in ({}, COMPAT):
        played = play(five_seconds(), TWO, {"polish": counts(0, 0)}, **options)
        assert scores(played) == (1.0, 1.0, 1.0, True)
        assert played.prediction.flags == ()


def test_the_original_sees_one_frame_less() -> None:
    played = play(make_clip(300), TWO, {"polish": counts(0, 0)}, **COMPAT)
    assert [len(played.frames(f"window/{at}")) for at in range(5)] == [10, 10, 10, 10, 4]
    assert played.frames("completeness")[-1] == (9.5, 285)
    ours = play(make_clip(300), TWO, {"polish": counts(0, 0)})
    assert [len(ours.frames(f"window/{at}")) for at in range(5)] == [10, 10, 10, 10, 5]
    assert ours.frames("completeness")[-1] == (9.967, 299)


def test_what_is_nominated_is_looked_at_at_eight_frames_a_second() -> None:
    script = {"window/0": nominate(15), "window/1": nominate(75), "polish": counts(0, 0)}
    played = play(five_seconds(), TWO, script)
    assert played.names[3:] == ["zoom/0", "zoom/1", "polish", "completeness"]
    # 15 is at 0.5 s: 0 .. 1 in steps of an eighth; 75 is at 2.5 s
    assert [frame for _, frame in played.frames("zoom/0")] == [0, 3, 7, 11, 15, 18, 22, 26, 30]
    assert [frame for _, frame in played.frames("zoom/1")] == [
        60, 63, 67, 71, 75, 78, 82, 86, 90,
    ]  # fmt: skip
    assert played.prediction.summary["nominated"] == [15, 75]


def test_neighbours_are_merged_and_cut_into_windows_again() -> None:
    script = {"window/0": nominate(30, 15), "polish": counts(0, 0)}
    played = play(five_seconds(), TWO, script)
    # 0 .. 1.5 s: 13 samples, of which the tenth is shared
    assert [len(played.frames(f"zoom/{at}")) for at in range(2)] == [10, 4]
    assert played.frames("zoom/0")[-1] == played.frames("zoom/1")[0]


def test_a_closer_look_at_the_end_stops_at_the_last_frame() -> None:
    script = {"window/2": nominate(149), "polish": counts(0, 0)}
    played = play(five_seconds(), TWO, script)
    assert played.frames("zoom/0")[-1] == (4.967, 149)
    original = play(
        make_clip(300), TWO, {"window/4": nominate(292), "polish": counts(0, 0)}, **COMPAT
    )
    # 9.75 s, reckoned 292.5 -> 292: 9.25 .. 9.875, then 9.9667, which is lost
    assert [time for time, _ in original.frames("zoom/0")] == [
        9.25, 9.375, 9.5, 9.625, 9.75, 9.875,
    ]  # fmt: skip


@pytest.mark.parametrize(("frames", "last"), [(121, 120), (97, 96)])
def test_the_original_looks_at_the_last_frame_once(frames: int, last: int) -> None:
    # 121 at 24: the container says 5.041667 s, so the end is at 5.0000003, which is sought as 5.000
    script = {"window/*": nominate(last), "polish": counts(0, 0)}
    played = play(make_clip(frames, fps=24), TWO, script, **COMPAT)
    end = last / 24
    assert played.frames("zoom/0") == [
        (end - 0.5, last - 12), (end - 0.375, last - 9), (end - 0.25, last - 6),
        (end - 0.125, last - 3), (end, last),
    ]  # fmt: skip


def test_all_numbers_of_a_slow_clip_can_be_nominated_up_to_half_of_its_frames() -> None:
    # 2 frames a second, sampled at 4: of 0, .25, .5 .. 2.25 s the numbers are 0 0 1 2 2 2 3 4 4 4
    script = {"window/0": nominate(4, 0, 3, 1), "polish": counts(0, 0)}
    played = play(make_clip(6, fps=2), TWO, script, **COMPAT)
    assert [label for _, label in played.frames("window/0")] == [0, 0, 1, 2, 2, 2, 3, 4, 4, 4]
    assert played.prediction.summary["nominated"] == [0, 1, 3, 4]


def test_a_closer_look_nominates_nothing_and_unknown_frames_are_dropped() -> None:
    script = {
        "window/0": nominate(1, 2, "15"),
        "window/1": nominate(67),
        "zoom/*": nominate(60, 75),
        "polish": counts(0, 0),
    }
    played = play(five_seconds(), TWO, script)
    assert [name for name in played.names if name.startswith("zoom")] == ["zoom/0"]
    assert played.prediction.summary["nominated"] == [67]


def test_a_window_is_told_the_task_and_its_rules() -> None:
    truth = truth_of(
        "No wall is crossed.",
        gt_text="Left, then up.",
        gt_image=Image(np.full((900, 1600, 3), 40, np.uint8)),
    )
    played = play(five_seconds(), truth, {"polish": counts(0)})
    for name in ("window/0", "polish", "completeness"):
        words = played.words(name)
        assert "maze square" in words
        assert "Lead the dot out." in words
        assert "Left, then up." in words
    assert "1. No wall is crossed." in played.words("window/0")
    assert "Nominate 5 frames at most" in played.words("window/0")
    assert "Nominate 2 frames at most" in played.words("window/2")
    first, solution, *frames = played.pictures("window/0")
    assert (first.width, first.height) == (64, 48)
    assert (solution.width, solution.height) == (768, 432)
    assert len(frames) == 10
    assert all(question.wants_json and question.round == 0 for question in played.asked)
    assert not played.pictures("polish")
    own = truth_of("x", tiers="0: lost\n2: out")
    assert "2: out" in play(five_seconds(), own, {"polish": counts(0)}).words("completeness")


def test_one_incident_on_a_border_can_be_told_from_two_by_what_the_counter_reads() -> None:
    def count(question: Question) -> Any:
        told = re.findall(r"\(([\d.]+) to [\d.]+ s\): crosses", str(question.parts[0]))
        times = sorted(float(time) for time in told)
        distinct = [time for at, time in enumerate(times) if at == 0 or time - times[at - 1] > 0.5]
        return counts(len(distinct), 0)

    def crosses(*frames: int) -> Any:
        return {"comments": [{"frames": list(frames), "comment": "crosses a wall"}]}

    # 60 and 67 are the end of the first window, 67 and 75 the beginning of the second
    once = {"window/0": crosses(60), "window/1": crosses(75), "polish": count}
    assert scores(play(five_seconds(), TWO, once))[0] == 0.75
    twice = {"window/0": crosses(45), "window/1": crosses(75), "polish": count}
    assert play(five_seconds(), TWO, twice).prediction.value.violations == (2, 0)
    assert "within 0.5 seconds" in play(five_seconds(), TWO, once).words("polish").replace(
        "\n", " "
    )


def test_the_original_rounds_twice_and_ours_does_not() -> None:
    script = {"polish": counts(0, 0, 4), "completeness": {"tier": 1}}
    assert scores(play(five_seconds(), THREE, script, **COMPAT)) == (0.7333, 0.5, 0.3666, False)
    rubric, _, final, _ = scores(play(five_seconds(), THREE, script))
    assert rubric == pytest.approx(2.2 / 3, abs=1e-12)
    assert final == pytest.approx(1.1 / 3, abs=1e-12)


FAILED = [None, "", "{}", "no", '[{"comments": []}, {"comments": []}]']


@pytest.mark.parametrize("reply", FAILED, ids=["none", "empty", "{}", "words", "list"])
def test_a_failed_window_is_an_error_of_the_judge_once_it_was_asked_again(reply: Any) -> None:
    script = {"window/1*": reply, "polish": counts(0, 0)}
    with pytest.raises(JudgeError, match="window/1"):
        play(five_seconds(), TWO, script)
    asked_again = {"window/1": reply, "polish": counts(0, 0)}
    played = play(five_seconds(), TWO, asked_again)
    assert "window/1?1" in played.names
    assert scores(played) == (1.0, 1.0, 1.0, True)


@pytest.mark.parametrize("reply", FAILED, ids=["none", "empty", "{}", "words", "list"])
def test_the_original_counts_the_rest_and_leaves_success_open(reply: Any) -> None:
    script = {"window/0": nominate(15), "window/1": reply, "polish": counts(0, 1)}
    played = play(five_seconds(), TWO, script, **COMPAT)
    assert scores(played) == (0.75, 1.0, 0.75, None)
    assert played.prediction.flags == ("failed_windows",)
    assert "zoom/0" in played.names
    assert played.prediction.summary["failed"][0].startswith("window/1: ")


@pytest.mark.parametrize(
    "reply",
    [{"summary": "nothing happens"}, {"comments": None}, '{"comments": [], "comments": []}'],
    ids=["else", "null", "twice"],
)
def test_an_object_that_says_nothing_of_frames_fails_no_window_of_the_original(reply: Any) -> None:
    script = {"window/1*": reply, "polish": counts(0, 0)}
    played = play(five_seconds(), TWO, script, **COMPAT)
    assert scores(played) == (1.0, 1.0, 1.0, True)
    assert played.prediction.flags == ()
    with pytest.raises(JudgeError, match="window/1"):
        play(five_seconds(), TWO, script)


def test_truth_values_are_numbers_for_the_original_only() -> None:
    script = {
        "polish": counts(False, True), "polish?1": counts(0, 0),
        "completeness": {"tier": True}, "completeness?1": {"tier": 2},
    }  # fmt: skip
    assert scores(play(five_seconds(), TWO, script, **COMPAT)) == (0.75, 0.5, 0.375, False)
    assert scores(play(five_seconds(), TWO, script)) == (1.0, 1.0, 1.0, True)


def test_a_failed_window_can_count_as_nothing() -> None:
    played = play(five_seconds(), TWO, {"window/1*": None}, failed_window="zero")
    assert scores(played) == (0.0, 0.0, 0.0, False)
    assert "polish" not in played.names


def test_counts_that_are_no_json_are_one_violation_each_for_the_original() -> None:
    played = play(five_seconds(), TWO, {"polish": "all fine"}, **COMPAT)
    assert scores(played) == (0.5, 1.0, 0.5, False)
    assert played.prediction.flags == ("counts_unread",)
    with pytest.raises(JudgeError, match="polish"):
        play(five_seconds(), TWO, {"polish*": "all fine"})


def test_a_missing_entry_is_asked_for_once_more_and_then_is_one_violation() -> None:
    short = {"items": [{"index": 1, "violations": 0}]}
    again = play(five_seconds(), TWO, {"polish": short, "polish?1": counts(0, 0)})
    assert scores(again)[0] == 1.0
    assert again.prediction.flags == ()
    never = play(five_seconds(), TWO, {"polish*": short})
    assert never.names.count("polish?1") == 1
    assert scores(never)[0] == 0.75
    assert never.prediction.flags == ("entries_missing",)
    none = play(five_seconds(), TWO, {"polish*": short}, missing_entry="no_violation")
    assert scores(none)[0] == 1.0
    with pytest.raises(JudgeError, match="entry 2 missing"):
        play(five_seconds(), TWO, {"polish*": short}, missing_entry="error")
    original = play(five_seconds(), TWO, {"polish": short}, **COMPAT)
    assert original.names.count("polish") == 1
    assert scores(original)[0] == 0.75


def test_a_tier_out_of_range_is_open_for_the_original_and_the_checklist_decides() -> None:
    script = {"polish": counts(0, 0), "completeness*": {"tier": 3}}
    played = play(five_seconds(), TWO, script, **COMPAT)
    assert scores(played) == (1.0, None, None, True)
    assert played.prediction.flags == ("tier_unread",)
    with pytest.raises(JudgeError, match="tier 0, 1 or 2"):
        play(five_seconds(), TWO, script)


def test_tier_1_9_is_1_for_the_original_only() -> None:
    script = {"polish": counts(0, 0), "completeness": {"tier": 1.9}, "completeness?1": {"tier": 2}}
    assert scores(play(five_seconds(), TWO, script, **COMPAT))[1] == 0.5
    assert scores(play(five_seconds(), TWO, script))[1] == 1.0


def test_without_a_rubric_the_score_is_0_and_no_window_is_asked_about() -> None:
    played = play(five_seconds(), truth_of())
    assert played.names == ["completeness"]
    assert scores(played) == (0.0, 1.0, 0.0, False)
    assert played.prediction.flags == ("no_rubric",)


@pytest.mark.parametrize(
    ("preset", "windows", "zooms", "completeness"),
    [("full", [10, 10, 3], 1, True), ("no_zoom", [10, 10, 3], 0, True),
     ("no_window", [21], 1, True), ("even_2", [10, 2], 0, True), ("even_4", [10, 10, 3], 0, True),
     ("even_8", [10, 10, 10, 10, 5], 0, True), ("rubric_only", [10, 10, 3], 1, False),
     ("completeness_only", [], 0, True)],
)  # fmt: skip
def test_presets(preset: Any, windows: list[int], zooms: int, completeness: bool) -> None:
    script = {"window/0": nominate(15), "polish": counts(0, 1), "completeness": {"tier": 1}}
    played = play(five_seconds(), TWO, script, preset=preset)
    names = played.names
    first = [name for name in names if name.startswith("window")]
    assert [len(played.frames(name)) for name in first] == windows
    assert len([name for name in names if name.startswith("zoom")]) == zooms
    assert ("completeness" in names) is completeness
    wanted = {
        "rubric_only": (0.75, None, 0.75, False),
        "completeness_only": (None, 0.5, 0.5, False),
    }
    assert scores(played) == wanted.get(preset, (0.75, 0.5, 0.375, False))


def test_all_frames_in_one_call_are_looked_at_closer_in_one_call_a_group() -> None:
    script = {"window/0": nominate(15, 30), "polish": counts(0, 0)}
    played = play(five_seconds(), TWO, script, preset="no_window")
    assert len(played.frames("zoom/0")) == 13


def test_repeats_are_whole_judgings_with_names_and_rounds_of_their_own() -> None:
    script = {
        "polish": counts(0, 0), "polish#1": counts(1, 1), "polish#2": counts(0, 1),
        "completeness": {"tier": 2}, "completeness#1": {"tier": 1}, "completeness#2": {"tier": 2},
    }  # fmt: skip
    played = play(five_seconds(), TWO, script, repeats=3)
    # finals 1, 0.25, 0.75: mean 2/3; deviations 1/3, -5/12, 1/12, whose squares' sum is 0.29167
    rubric, completeness, final, success = scores(played)
    assert rubric == pytest.approx(0.75)
    assert completeness == pytest.approx(2.5 / 3)
    assert final == pytest.approx(2 / 3)
    assert success is False
    assert played.prediction.summary["final_spread"] == pytest.approx(0.1458333**0.5, abs=1e-6)
    assert len(set(played.names)) == len(played.names) == 15
    assert {question.round for question in played.asked} == {0, 1, 2}


def test_kinds_of_violations_are_asked_for_by_option() -> None:
    items = [
        {"index": 1, "violations": 2, "labels": ["rule_violation", "physical_collapse"]},
        {"index": 2, "violations": 0, "labels": []},
    ]
    script = {"polish": {"items": items}}
    played = play(five_seconds(), TWO, script, failure_labels=True)
    assert '"state_inconsistency"' in played.words("polish")
    assert played.prediction.value.labels == (("rule_violation", "physical_collapse"), ())
    plain = play(five_seconds(), TWO, script)
    assert "state_inconsistency" not in plain.words("polish")
    assert plain.prediction.value.labels == ()


@pytest.mark.parametrize("options", [{}, COMPAT], ids=["ours", "original"])
def test_a_clip_of_one_frame_is_judged(options: Any) -> None:
    played = play(make_clip(1), TWO, {"polish": counts(0, 0)}, **options)
    assert played.names == ["window/0", "polish", "completeness"]
    assert played.frames("window/0") == [(0.0, 0)]


def test_what_is_written_down_is_bounded() -> None:
    entries = [{"frames": [0], "comment": "z" * 900}] * 150
    played = play(five_seconds(), TWO, {"window/0": {"comments": entries}, "polish": counts(0, 0)})
    summary = played.prediction.summary
    assert len(summary["comments"]) == 40
    assert summary["comments_left_out"] == 112
    assert max(map(len, summary["comments"])) <= 300
    assert summary["windows"] == {"window/0": 10, "window/1": 10, "window/2": 3}


def test_braces_in_a_task_are_no_fields() -> None:
    truth = truth_of("keep {this} and {0}")
    assert "keep {this} and {0}" in play(five_seconds(), truth, {"polish": counts(0)}).words(
        "polish"
    )
