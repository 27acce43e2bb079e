"""A judge beside labels: by rounds and presets, replayed from what the run kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jurykit import Votes, judge_card, make_run, task_card, write_lines
from vgen_eval.plugins import Catalog
from vgen_eval.results.judging.record import Row, Trust
from vgen_eval.results.judging.trust import check_judge
from vgen_eval.results.reading import read_runs

YES = [f"s{at:02d}" for at in range(6)]
NO = [f"s{at:02d}" for at in range(6, 12)]
WHOLE: Votes = {
    "s00": [1, 1, 1, 1, 1],
    "s01": [0, 1, 1, 1, 1],
    "s02": [0, 1, 1, 1, 0],
    "s03": [1, 0, 0, 1, 1],
    "s04": [1, 1, 0, 0, 0],
    "s05": [1, 1, 1, 1, 0],
    "s11": [1, 0, 0, 0, 1],
    "*": [0, 0, 0, 0, 0],
}
"""Means over 5: 1, .8, .6, .6, .4, .8 of those that are right, else 0, but .4 of s11."""
DETAILS: Votes = {"s00": [0, 0, 0, 0, 0], "*": [1, 1, 1, 1, 1]}
ALL_GOOD: Votes = {"*": [1, 1, 1, 1, 1]}


def labels(folder: Path) -> Path:
    lines = [{"id": sample, "label": int(sample in YES)} for sample in (*YES, *NO)]
    return write_lines(folder / "said.jsonl", lines)


def a_run(folder: Path, *, details: Votes = ALL_GOOD, **options: object) -> Path:
    judge = judge_card(folder, {"wan": WHOLE}, {"wan": details})
    return make_run(folder, "wan", task_card(folder, rounds=5, **options), judge)


def check(runs: list[Path], human: Path, **more: object) -> Trust:
    catalog = Catalog.discover()
    found, faults = read_runs(runs, catalog)
    assert not faults
    return check_judge(found, human, catalog, **more)  # type: ignore[arg-type]


def row(found: Trust, variant: str, subset: str = "all", setting: str | None = None) -> Row:
    [one] = [
        each
        for each in found.rows
        if (each.variant, each.subset) == (variant, subset) and setting in (None, each.setting)
    ]
    return one


def value(found: Row, name: str) -> float | None:
    measured = found.measure(name)
    assert measured is not None
    return measured.value


def test_agreement_by_rounds_is_that_of_the_first_votes(room: Path) -> None:
    found = check([a_run(room)], labels(room))
    assert [one.variant for one in found.rows if one.subset == "all"][:3] == [
        "as made", "rounds=1", "rounds=3",
    ]  # fmt: skip
    # as made s04 alone is read as a no; of one vote s01, s02 and s11 are wrong; of three s03
    shares = [value(row(found, name), "agreement") for name in ("as made", "rounds=1", "rounds=3")]
    assert shares == [pytest.approx(11 / 12), pytest.approx(9 / 12), pytest.approx(11 / 12)]


def test_measures_of_labels_are_those_worked_out_by_hand(room: Path) -> None:
    made = row(check([a_run(room)], labels(room)), "as made")
    assert (made.n, made.missing) == (12, 0)
    # 6 x 6 pairs: 30 above the noughts, 5 above .4, one tied with it
    assert value(made, "auc") == pytest.approx(35.5 / 36)
    # yes-yes 5, yes-no 1, no-no 6: observed 11/12, by chance 1/2
    assert value(made, "kappa") == pytest.approx(5 / 6)
    assert value(made, "kappa_quadratic") == pytest.approx(5 / 6)
    # 24 ratings, 11 of them yes: D_o = 2/24, D_e = 2 * 11 * 13 / (24 * 23)
    assert value(made, "alpha_nominal") == pytest.approx(1 - (2 / 24) / (2 * 11 * 13 / (24 * 23)))
    interval = made.measure("agreement")
    assert interval is not None
    assert interval.interval is not None
    assert interval.interval.clusters == 12
    assert interval.interval.low is not None
    assert interval.interval.low < 11 / 12 < 1.0 == interval.interval.high


def test_the_document_says_how_numbers_are_read(room: Path) -> None:
    found = check([a_run(room)], labels(room))
    assert found.categories == (0.0, 1.0)
    assert found.human["labels"] == 12
    [setting] = found.settings
    assert (setting.judge, setting.model, setting.preset) == (
        "juryroom:panel", "local:clerk", "full",
    )  # fmt: skip
    assert setting.options == {"rounds": 5, "preset": "full"}


def test_presets_are_replayed_where_their_questions_were_asked(room: Path) -> None:
    # the details of s00 are all wrong, so that it is a yes for a judge of the whole alone
    found = check([a_run(room, details=DETAILS)], labels(room))
    assert value(row(found, "as made"), "agreement") == pytest.approx(10 / 12)
    assert value(row(found, "whole_only"), "agreement") == pytest.approx(11 / 12)


def test_questions_that_were_never_asked_are_named(room: Path) -> None:
    found = check([a_run(room)], labels(room), rounds=[5, 7])
    assert row(found, "doubtful").reason == "never asked: sure, of s00"
    assert row(found, "rounds=7").reason == "never asked: whole/5, of s00"
    assert row(found, "rounds=7").measures == ()


def test_runs_made_under_a_preset_stand_for_it(room: Path) -> None:
    full = a_run(room, details=DETAILS)
    doubtful = a_run(room, details=DETAILS, preset="doubtful")
    found = check([full, doubtful], labels(room))
    assert [one.label for one in found.settings] == ["full", "doubtful"]
    made = [value(row(found, "as made", setting=name), "auc") for name in ("full", "doubtful")]
    assert made[0] == made[1] is not None
    # whole_only alone has no run, and is replayed once
    assert [one.setting for one in found.rows if one.variant == "whole_only"] == ["full"]
    assert not [one for one in found.rows if one.variant in ("full", "doubtful")]


def test_a_preset_is_replayed_from_any_run_that_has_its_replies(room: Path) -> None:
    whole = a_run(room, details=DETAILS, preset="whole_only")
    doubtful = a_run(room, details=DETAILS, preset="doubtful")
    full = row(check([whole, doubtful], labels(room)), "full")
    # the first was never asked of details, the second was
    assert (full.setting, full.reason) == ("doubtful", None)
    assert value(full, "agreement") == pytest.approx(10 / 12)


def test_settings_without_a_preset_of_their_own_are_told_apart_by_what_differs(room: Path) -> None:
    judge = judge_card(room, {"wan": WHOLE}, {"wan": ALL_GOOD})
    runs = [make_run(room, "wan", task_card(room, rounds=rounds), judge) for rounds in (3, 5)]
    found = check(runs, labels(room))
    assert [one.label for one in found.settings] == ["rounds=3", "rounds=5"]
    three = [
        value(row(found, "as made", setting="rounds=3"), "agreement"),
        value(row(found, "rounds=3", setting="rounds=5"), "agreement"),
    ]
    assert three == [pytest.approx(11 / 12)] * 2


def test_a_replay_asks_nobody_and_leaves_the_run_as_it_was(room: Path) -> None:
    run = a_run(room, details=DETAILS)
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    check([run], labels(room))
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_a_replay_under_the_same_options_gives_the_same_numbers(room: Path) -> None:
    run = a_run(room, details=DETAILS)
    lines = (run / "judgements.jsonl").read_text().splitlines()
    assert len(lines) == 12 * 5 * 2
    # the same votes in another order of lines
    (run / "judgements.jsonl").write_text("\n".join(reversed(lines)) + "\n")
    found = check([run], labels(room))
    assert value(row(found, "rounds=3"), "agreement") == pytest.approx(10 / 12)


def test_without_the_data_what_was_made_is_measured_and_no_more(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_run(room)
    monkeypatch.setattr("juryroom.parts.Scenes.gone", True)
    found = check([run], labels(room))
    assert value(row(found, "as made"), "agreement") == pytest.approx(11 / 12)
    assert "scenes: gone" in str(row(found, "rounds=1").reason)


def test_a_judge_that_came_to_nothing_is_missing_and_counted(room: Path) -> None:
    judge = judge_card(room, {"wan": {**WHOLE, "s03": ["hm"] * 5}}, {"wan": ALL_GOOD})
    run = make_run(room, "wan", task_card(room, rounds=5), judge)
    made = row(check([run], labels(room)), "as made")
    assert (made.n, made.missing) == (11, 1)


def test_slices_are_those_of_the_tags(room: Path) -> None:
    found = check([a_run(room)], labels(room), by=["domain"])
    # puzzles: s00 s01 s04 s05 s08 s09, of which s04 is wrong
    assert value(row(found, "as made", "domain=puzzle"), "agreement") == pytest.approx(5 / 6)
    assert value(row(found, "as made", "domain=motion"), "agreement") == 1.0
    every = check([a_run(room)], labels(room), by=["all"])
    assert {one.subset for one in every.rows} == {
        "all", "domain=motion", "domain=puzzle", "level=0", "level=1", "level=2",
    }  # fmt: skip


def test_a_file_of_one_class_has_no_auc_and_says_why(room: Path) -> None:
    human = write_lines(room / "said.jsonl", [{"id": sample, "label": 1} for sample in YES])
    made = row(check([a_run(room)], human), "as made")
    for name in ("auc", "agreement", "kappa"):
        measured = made.measure(name)
        assert measured is not None
        assert measured.value is None
        assert measured.reason == "every label is 1: there is nothing to tell apart"


def test_of_three_labels_there_is_no_auc(room: Path) -> None:
    lines = [{"id": one, "label": at % 3} for at, one in enumerate((*YES, *NO))]
    auc = row(check([a_run(room)], write_lines(room / "said.jsonl", lines)), "as made").measure(
        "auc"
    )
    assert auc is not None
    assert (auc.value, auc.reason) == (None, "an AUC is of two labels, not of 3")


def test_a_slice_of_one_class_has_no_auc_and_says_why(room: Path) -> None:
    lines = [{"id": one, "label": int(one in ("s00", "s01"))} for one in (*YES, *NO)]
    found = check([a_run(room)], write_lines(room / "said.jsonl", lines), by=["domain"])
    auc = row(found, "as made", "domain=motion").measure("auc")
    assert auc is not None
    assert (auc.value, auc.reason) == (None, "every label is 0")


def test_labels_on_a_scale_are_no_categories(room: Path) -> None:
    lines = [{"id": one, "label": at / 11} for at, one in enumerate((*YES, *NO))]
    made = row(check([a_run(room)], write_lines(room / "said.jsonl", lines)), "as made")
    kappa, alpha = made.measure("kappa"), made.measure("alpha_interval")
    assert kappa is not None
    assert kappa.value is None
    assert kappa.reason == "labels of more than 10 different numbers are no categories"
    assert alpha is not None
    assert alpha.value is not None


def test_numbers_beyond_the_labels_are_told(room: Path) -> None:
    lines = [{"id": one, "label": 2 + int(one in YES)} for one in (*YES, *NO)]
    found = check([a_run(room)], write_lines(room / "said.jsonl", lines))
    assert found.notes == (
        "some of the judge's numbers lie beyond the labels, 2 to 3: agreement is of numbers on "
        "one scale",
    )


def test_labels_of_single_attempts_meet_their_attempts(room: Path) -> None:
    judge = judge_card(room, {"wan": WHOLE}, {"wan": ALL_GOOD})
    run = make_run(room, "wan", task_card(room, rounds=1), judge, attempts=2)
    lines = [{"id": one, "attempt": 1, "label": int(one in YES)} for one in (*YES, *NO)]
    human = write_lines(room / "said.jsonl", [*lines, {"id": "s00", "attempt": 2, "label": 1}])
    made = row(check([run], human), "as made")
    assert (made.n, made.missing) == (12, 1)


def test_metrics_alone_are_measured_where_nobody_judged(room: Path) -> None:
    task = task_card(room, judged=False)
    card = json.loads(Path(task).read_text())
    [answer] = card["protocols"]["plain"]["answers"]
    answer["decoder"] = "juryroom:nought"
    Path(task).write_text(json.dumps(card))
    found = check([make_run(room, "wan", task, None)], labels(room), rounds=[1])
    assert [one.variant for one in found.rows] == ["as made"]
    assert found.settings[0].judge is None
    assert value(found.rows[0], "agreement") == pytest.approx(0.5)
