"""A judge beside preferences: signed differences, ties, contradictions, names of models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from jurykit import judge_card, make_run, task_card, write_lines
from vgen_eval.errors import UsageError
from vgen_eval.plugins import Catalog
from vgen_eval.results.judging.record import Trust
from vgen_eval.results.judging.trust import check_judge
from vgen_eval.results.reading import read_runs
from vgen_eval.types import Item

ALL_GOOD = {"*": [1]}
WHOLE = {
    "wan": {"*": [0.5]},
    "kling": {"s00": [0.9], "s01": [0.52], "s02": [0.3], "*": [0.5]},
    "sora": {"*": [0.1]},
}
RANKED = [{"id": f"s{at:02d}", "ranking": "kling > wan"} for at in range(4)]
"""Differences: .4, .02, -.2, 0."""


def runs_of(folder: Path, *models: str) -> list[Path]:
    judge = judge_card(folder, WHOLE, dict.fromkeys(WHOLE, ALL_GOOD))
    return [make_run(folder, model, task_card(folder), judge) for model in models]


def check(folder: Path, runs: list[Path], said: Sequence[dict[str, Any]], **more: object) -> Trust:
    catalog = Catalog.discover()
    found, faults = read_runs(runs, catalog)
    assert not faults
    human = write_lines(folder / "said.jsonl", said)
    return check_judge(found, human, catalog, **more)  # type: ignore[arg-type]


def values(found: Trust) -> dict[str, float | None]:
    return {one.name: one.value for one in found.rows[0].measures}


EXPECTED = {
    # above the negatives -.4, -.02, .2, 0: four, three, one, two and a tie, of sixteen
    "auc": 10.5 / 16,
    "accuracy": 0.5,
    "accuracy_ties_dropped": 0.5,
    "accuracy_ties_wrong": 0.25,
    "ties": 0.5,
}


@pytest.mark.parametrize("band", [float("nan"), float("inf"), -0.05])
def test_a_band_that_is_no_size_is_refused(room: Path, band: float) -> None:
    with pytest.raises(UsageError, match=r"--tie-band: .* is no size of a difference") as caught:
        check(room, runs_of(room, "kling", "wan"), RANKED, band=band)
    assert caught.value.cure


def test_a_breakdown_of_samples_without_tags_is_refused_with_a_cure(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import juryroom.parts

    plain = [Item(id=f"s{at:02d}", group=f"g{at}") for at in range(12)]
    monkeypatch.setattr(juryroom.parts.Scenes, "index", lambda self: plain)
    with pytest.raises(UsageError, match="the samples have no tag 'domain'") as caught:
        check(room, runs_of(room, "kling", "wan"), RANKED, by=["domain"])
    assert caught.value.cure == "leave --by out: the samples have no tags at all"


def test_measures_of_pairs_are_those_worked_out_by_hand(room: Path) -> None:
    found = check(room, runs_of(room, "wan", "kling"), RANKED)
    assert values(found) == pytest.approx(EXPECTED)
    assert found.tie_band == 0.05


def test_a_value_of_which_less_is_better_orders_pairs_the_same_way(room: Path) -> None:
    found = check(room, runs_of(room, "wan", "kling"), RANKED, value="lack")
    assert values(found) == pytest.approx(EXPECTED)


def test_a_narrower_band_makes_fewer_ties(room: Path) -> None:
    found = values(check(room, runs_of(room, "wan", "kling"), RANKED, band=0.01))
    assert (found["accuracy"], found["ties"]) == (pytest.approx(2.5 / 4), 0.25)


def test_triplets_are_pairs_without_contradictions_and_cycles(room: Path) -> None:
    said = [
        {"id": "s00", "ranking": ["kling", ["wan", "sora"]]},
        {"id": "s01", "ranking": "kling > wan > sora"},
        {"id": "s01", "better": "wan", "worse": "kling"},
        {"id": "s02", "better": "wan", "worse": "kling"},
        {"id": "s02", "better": "kling", "worse": "sora"},
        {"id": "s02", "better": "sora", "worse": "wan"},
    ]
    found = check(room, runs_of(room, "wan", "kling", "sora"), said)
    counts = {k: v for k, v in found.human.items() if k not in ("file", "sha256")}
    assert counts == {
        "rankings": 2, "ties": 1, "said": 9, "repeated": 0, "contradictions": 1, "cycles": 1,
        "in_cycles": 3, "pairs": 4,
    }  # fmt: skip
    assert found.rows[0].n == 4
    # kling over wan and sora on s00, kling and wan over sora on s01: .4, .8, .42, .4
    assert values(found)["accuracy"] == 1.0


def test_runs_may_be_named_by_their_ids(room: Path) -> None:
    wan, kling = runs_of(room, "wan", "kling")
    said = [{"id": "s00", "better": kling.name, "worse": wan.name[:8]}]
    assert check(room, [wan, kling], said).rows[0].n == 1


def test_models_without_a_run_are_told_and_the_others_measured(room: Path) -> None:
    said = [*RANKED, {"id": "s05", "better": "veo", "worse": "wan"}]
    found = check(room, runs_of(room, "wan", "kling"), said)
    assert found.rows[0].n == 4
    assert found.notes == ("said of 1 model that no run is of: veo",)


def test_samples_that_no_run_has_are_told_and_the_others_measured(room: Path) -> None:
    said = [*RANKED, {"id": "t99", "better": "kling", "worse": "wan"}]
    found = check(room, runs_of(room, "wan", "kling"), said)
    assert found.rows[0].n == 4
    assert found.notes == ("said of 1 sample that no run has: t99",)


def test_a_file_that_speaks_of_other_samples_or_models_is_refused(room: Path) -> None:
    runs = runs_of(room, "wan", "kling")
    with pytest.raises(UsageError, match="no sample of these runs: t00") as caught:
        check(room, runs, [{"id": "t00", "better": "wan", "worse": "kling"}])
    assert caught.value.cure
    with pytest.raises(UsageError, match="no model of these runs: sora, veo"):
        check(room, runs, [{"id": "s00", "better": "veo", "worse": "sora"}])


def test_labels_that_name_no_model_are_of_one_run_alone(room: Path) -> None:
    with pytest.raises(UsageError, match="no model is named, and there are answers of several"):
        check(room, runs_of(room, "wan", "kling"), [{"id": "s00", "label": 1}])


def test_two_runs_of_one_model_judged_alike_are_told(room: Path) -> None:
    [wan] = runs_of(room, "wan")
    judge = judge_card(room, WHOLE, dict.fromkeys(WHOLE, ALL_GOOD))
    more = make_run(room, "wan", task_card(room), judge, limit=6)
    with pytest.raises(UsageError, match="'wan' is several runs"):
        check(room, [wan, more], [{"id": "s00", "better": "wan", "worse": "kling"}])


def test_everything_contradicted_leaves_nothing_to_measure(room: Path) -> None:
    said = [
        {"id": "s00", "better": "wan", "worse": "kling"},
        {"id": "s00", "better": "kling", "worse": "wan"},
    ]
    found = check(room, runs_of(room, "wan", "kling"), said)
    assert found.rows[0].n == 0
    assert found.rows[0].reason == "no pair of answers that were both judged so"
