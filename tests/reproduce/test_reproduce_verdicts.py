"""Predictions that hit a figure are within; another fit, prompt or subset is named, and no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from reproducekit import (
    CELL,
    DEPTH,
    ROW,
    Say,
    cells,
    edit_card,
    import_counts,
    reports,
    run,
    table,
)  # fmt: skip
from vgen_eval.engine.naming import expand_tasks
from vgen_eval.engine.tasks import open_task
from vgen_eval.plugins import Catalog

FIT = "metrics.affine_depth.options.fit"


def test_predictions_that_hit_a_figure_are_within(tmp_path: Path, say: Say) -> None:
    import_counts(tmp_path)
    code, record = say(table(tmp_path, ROW))
    (cell,) = cells(record)
    assert (code, cell["verdict"], cell["by"]) == (0, "within", "interval")
    assert cell["ours"]["value"] == pytest.approx(2.0)
    assert cell["ours"]["low"] < 2.0 < cell["ours"]["high"]
    assert (cell["difference"], cell["ours"]["n"]) == (pytest.approx(0.0), 13)
    assert cell["sources"][0]["source"] == "predictions made elsewhere"
    assert (cell["source"], cell["making"]) == ("predictions made elsewhere", "not known")
    assert any("how they were made is not known" in note for note in record["notes"])
    assert cell["report"] == []


def test_a_figure_beside_the_interval_is_outside_and_exits_with_1(tmp_path: Path, say: Say) -> None:
    import_counts(tmp_path)
    code, record = say(table(tmp_path, {**ROW, "cells": [{**CELL, "values": {"mae": 3.2}}]}))
    (cell,) = cells(record)
    assert (code, record["exit_code"], cell["verdict"]) == (1, 1, "outside")
    assert cell["difference"] == pytest.approx(-1.2)


@pytest.mark.parametrize(("edge", "verdict"), [(0.05, "within"), (0.0, "outside")])
def test_half_of_the_last_digit_is_given(
    tmp_path: Path, say: Say, edge: float, verdict: str
) -> None:
    import_counts(tmp_path, (2,) * 13)  # an interval without any width
    row = {**ROW, "tolerance": {"mae": max(edge, 1e-6)}}
    row["cells"] = [{**CELL, "values": {"mae": 2.05}}]
    _, record = say(table(tmp_path, row))
    assert cells(record)[0]["verdict"] == verdict


def test_without_an_interval_the_slack_decides(tmp_path: Path, say: Say) -> None:
    run(tmp_path, tasks="samples/depth", model="oracle")
    values = (0.99, 0.97)
    rows: list[dict[str, Any]] = [
        {**DEPTH, "data": str(v), "cells": [{**DEPTH["cells"][0], "values": {"delta1": v}}]}
        for v in values
    ]
    code, record = say(table(tmp_path, *rows))
    near, far = cells(record)
    assert near["ours"]["no_interval"].startswith("7 groups")
    assert [near["verdict"], far["verdict"], code] == ["within", "outside", 1]
    assert near["by"] == "2% of the published value"


def test_the_reference_itself_departs_in_nothing(tmp_path: Path, say: Say) -> None:
    run(tmp_path, tasks="samples/depth", model="oracle")
    code, record = say(table(tmp_path, DEPTH))
    assert (code, cells(record)[0]["verdict"], reports(record)) == (0, "within", [[]])


def test_a_wrong_fit_is_the_only_record_and_the_number_decides(tmp_path: Path, say: Say) -> None:
    wrong = {"protocol.metrics.0.options.fit": "depth_lsq"}
    run(tmp_path, tasks="samples/depth", model="oracle", set=wrong)
    code, record = say(table(tmp_path, DEPTH), "--no-run")
    (cell,) = cells(record)
    assert (code, cell["verdict"]) == (1, "outside")
    assert cell["report"] == [{"field": FIT, "paper": "disparity_lsq_clamped", "ours": "depth_lsq"}]
    assert FIT in cell["reason"]


def test_a_wrong_fit_that_is_within_is_named_as_well(tmp_path: Path, say: Say) -> None:
    wrong = {"protocol.metrics.0.options.fit": "depth_lsq"}
    card = run(tmp_path, tasks="samples/depth", model="oracle", set=wrong)
    own = {**DEPTH["cells"][0], "values": {"delta1": card.score("delta1").value}}
    code, record = say(table(tmp_path, {**DEPTH, "cells": [own]}), "--no-run")
    (cell,) = cells(record)
    assert (code, cell["verdict"]) == (0, "within")
    assert cell["reason"] == f"another {FIT}"


def test_a_wrong_prompt_is_the_only_record_and_approximate(tmp_path: Path, say: Say) -> None:
    run(tmp_path, tasks="samples/depth", model="oracle", prompt="short")
    code, record = say(table(tmp_path, DEPTH), "--no-run")
    (cell,) = cells(record)
    assert (code, cell["verdict"], cell["number"]) == (0, "approximate", "within")
    assert cell["reason"] == "prompt short, not mid"
    ((report),) = cell["report"]
    assert report["field"] == "prompt"
    assert [report["paper"]["variant"], report["ours"]["variant"]] == ["mid", "short"]
    assert report["paper"]["text"].startswith("Turn this picture into a depth map in grey")


def test_another_text_of_the_same_variant_is_another_prompt(tmp_path: Path, say: Say) -> None:
    import_counts(tmp_path, **{"protocol.answers.1.prompt.mid": "Say how many: {query}"})
    _, record = say(table(tmp_path, ROW), "--no-run")
    (cell,) = cells(record)
    assert (cell["verdict"], cell["reason"]) == ("approximate", "another prompt")
    assert reports(record) == [["prompt"]]


def test_a_subset_is_the_only_record_and_approximate(tmp_path: Path, say: Say) -> None:
    run(tmp_path, tasks="samples/depth", model="oracle", limit=4)
    code, record = say(table(tmp_path, DEPTH), "--no-run")
    (cell,) = cells(record)
    assert (code, cell["verdict"]) == (0, "approximate")
    assert cell["reason"] == "4 samples, paper 10"
    rule = {"limit": 4, "unit": "example", "seed": 0}
    assert cell["report"] == [
        {"field": "samples", "paper": {"n": 10, "rule": "all"}, "ours": {"n": 4, "rule": rule}}
    ]


@pytest.mark.parametrize(
    "drawn",
    [
        {"limit": 6},
        {"set": {"protocol.sampling.limit": 6, "protocol.sampling.seed": 5}},
        {"samples": 6},
    ],
    ids=["limit", "seed", "samples"],
)
def test_as_many_samples_of_another_draw_are_other_samples(
    tmp_path: Path, say: Say, drawn: dict[str, Any]
) -> None:
    if "samples" in drawn:
        (ref,) = expand_tasks(["samples/depth"], Catalog.discover(), notices=[])
        items = open_task(ref, Catalog.discover(), overrides={}, data_root=None).items
        drawn = {"samples": [item.id for item in items[-6:]]}
    card = run(tmp_path, tasks="samples/depth", model="oracle", **drawn)
    assert card.selection["samples"] == 6
    _, record = say(table(tmp_path, {**DEPTH, "n_paper": 6}), "--no-run")
    (cell,) = cells(record)
    assert cell["verdict"] == "approximate"
    assert reports(record) == [["samples"]]


def test_the_papers_own_count_of_samples_is_held_against_ours(tmp_path: Path, say: Say) -> None:
    import_counts(tmp_path)
    _, record = say(table(tmp_path, {**ROW, "n_paper": 500}))
    assert cells(record)[0]["reason"] == "13 samples, paper 500"
    assert reports(record) == [["samples"]]


def test_another_setting_of_the_model_is_named(tmp_path: Path, say: Say) -> None:
    run(tmp_path, tasks="samples/depth", model="classical", set={"generation.seed": 7})
    own = {"label": "Classical", "model": "classical", "values": {"delta1": 0.65}}
    _, record = say(table(tmp_path, {**DEPTH, "cells": [own]}), "--no-run")
    assert cells(record)[0]["report"] == [
        {"field": "model.generation.seed", "paper": None, "ours": 7}
    ]


def test_versions_that_the_paper_states_are_held_against_ours(tmp_path: Path, say: Say) -> None:
    import_counts(tmp_path)
    _, record = say(table(tmp_path, {**ROW, "versions": {"numpy": "0.9"}}))
    assert reports(record) == [["versions.numpy"]]
    assert cells(record)[0]["verdict"] == "within"


def test_what_does_not_compare_stays_so_whatever_the_number(tmp_path: Path, say: Say) -> None:
    import_counts(tmp_path)
    row = {**ROW, "comparability": "not_comparable", "reason": "another pool"}
    row["cells"] = [{**CELL, "values": {"mae": 9.0}}]
    code, record = say(table(tmp_path, row))
    (cell,) = cells(record)
    assert (code, cell["verdict"], cell["number"]) == (0, "not comparable", "outside")
    assert cell["reason"] == "another pool"


def test_a_figure_that_is_not_known_leaves_ours_alone(tmp_path: Path, say: Say) -> None:
    import_counts(tmp_path)
    bare = {"label": "Gemini", "model": CELL["model"]}
    row = {**ROW, "reports": ["mae", "rmse"], "tolerance": {}, "cells": [bare]}
    code, record = say(table(tmp_path, row))
    assert [cell["verdict"] for cell in cells(record)] == ["no published value"] * 2
    assert [cell["value"] for cell in cells(record)] == ["mae", "rmse"]
    assert [cell["difference"] for cell in cells(record)] == [None, None]
    assert code == 0
    assert cells(record)[1]["ours"]["value"] == pytest.approx((64 / 13) ** 0.5)


def test_a_run_that_is_not_finished_is_approximate(tmp_path: Path, say: Say) -> None:
    import_counts(tmp_path, (2,) * 13)
    counts = {"not_run": 1, "answered": 12}
    edit_card(tmp_path, lambda card: card.update(complete=False, counts=card["counts"] | counts))
    _, record = say(table(tmp_path, ROW))
    (cell,) = cells(record)
    assert (cell["verdict"], cell["reason"]) == ("approximate", "incomplete: 12 of 13 attempts")
