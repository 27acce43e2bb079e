"""Cards that say less than the harness writes: every page of their runs is told all the same."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from app_kit import client_of, row_of, text_of
from results_kit import FAMILIES, World, run_of
from vgen_eval.plugins import Catalog
from vgen_eval.results.reading import read_run
from vgen_eval.viewer.figure.build import build_figure
from vgen_eval.viewer.gathering import gather
from vgen_eval.viewer.report.build import build_report

DEPTH = FAMILIES["depth"]
MODELS = ("oracle", "classical")
Card = dict[str, Any]


def without_values(card: Card) -> Card:
    return card | {"scores": []}


def of_subsets_alone(card: Card) -> Card:
    return card | {"scores": [one for one in card["scores"] if one["subset"] != "all"]}


def without_primary(card: Card) -> Card:
    return card | {"scores": [one for one in card["scores"] if one["metric"] != card["primary"]]}


def of_best_attempts_alone(card: Card) -> Card:
    return card | {"scores": [one | {"selection": "best_of_2"} for one in card["scores"]]}


def with_bare_parts(card: Card) -> Card:
    failures: list[Card] = [
        {},
        {"reason": None, "attempts": "x"},
        {"reason": "late", "attempts": 2},
    ]
    parts = ("protocol_info", "model_info", "task_info", "dataset_info", "selection", "versions")
    return card | {part: {} for part in parts} | {"volatile": {"failures": failures}}


def with_empty_parts(card: Card) -> Card:
    parts = ("protocol_info", "model_info", "task_info", "selection", "volatile")
    return card | {part: dict.fromkeys(card[part]) for part in parts}


def copy_of(world: World, results: Path, change: Callable[[Card], Card], models: Any) -> None:
    for model in MODELS:
        whole = run_of(world.results, DEPTH, model)
        run = shutil.copytree(whole, results / whole.relative_to(world.results))
        if model in models:
            path = run / "result_card.json"
            path.write_text(json.dumps(change(json.loads(path.read_text()))))


@pytest.mark.parametrize("models", [MODELS, MODELS[:1]], ids=["all", "one"])
@pytest.mark.parametrize(
    "change",
    [
        without_values,
        of_subsets_alone,
        without_primary,
        of_best_attempts_alone,
        with_bare_parts,
        with_empty_parts,
    ],
)
def test_every_page_shows_runs_of_such_a_card(
    world: World, tmp_path: Path, change: Callable[[Card], Card], models: tuple[str, ...]
) -> None:
    copy_of(world, tmp_path / "results", change, models)
    client = client_of(tmp_path / "results")
    runs = [row_of(client, DEPTH, model) for model in MODELS]
    keys = ",".join(run.key for run in runs)
    addresses = ["/", "/table", f"/t/{runs[0].task_slug}", f"/c?runs={keys}&anyway=1"]
    for run in runs:
        row = next(client.app.state.site.index.all_samples(run))  # type: ignore[attr-defined]
        of_run = f"/r/{run.slug}"
        addresses += [of_run, f"{of_run}/s", f"{of_run}/s/{row.slug}"]
        addresses += [f"{of_run}/s?select=worst:delta1", f"/t/{run.task_slug}/s/{row.slug}"]
    for address in addresses:
        answer = client.get(address)
        assert answer.status_code == 200, (address, text_of(answer.text)[:300])


def test_a_card_without_values_is_told_as_one(world: World, tmp_path: Path) -> None:
    copy_of(world, tmp_path / "results", without_values, MODELS)
    client = client_of(tmp_path / "results")
    run = row_of(client, DEPTH, "oracle")
    assert "Its card has no values." in text_of(client.get(f"/r/{run.slug}").text)
    leaderboard = text_of(client.get(f"/t/{run.task_slug}").text)
    assert leaderboard.count("its card has no values") == len(MODELS)


def test_a_card_without_its_primary_has_its_other_values(world: World, tmp_path: Path) -> None:
    copy_of(world, tmp_path / "results", without_primary, MODELS)
    client = client_of(tmp_path / "results")
    run = row_of(client, DEPTH, "oracle")
    text = text_of(client.get(f"/r/{run.slug}").text)
    assert f"no value of its primary, {run.primary}, over all samples" in text
    page = client.get(f"/t/{run.task_slug}").text
    assert '<select id="metric"' in page
    assert ">oracle<" in page


def test_failures_that_are_told_by_half_are_shown_so(world: World, tmp_path: Path) -> None:
    copy_of(world, tmp_path / "results", with_bare_parts, MODELS)
    client = client_of(tmp_path / "results")
    text = text_of(client.get(f"/r/{row_of(client, DEPTH, 'oracle').slug}").text)
    assert "Why without an answer Reason Attempts not told – not told – late 2" in text


def test_a_report_takes_a_card_that_does_not_say_how_many_attempts(
    world: World, tmp_path: Path
) -> None:
    def change(card: Card) -> Card:
        return card | {"selection": card["selection"] | {"attempts": None}}

    copy_of(world, tmp_path / "results", change, MODELS)
    catalog = Catalog.discover()
    run = read_run(run_of(tmp_path / "results", DEPTH, "oracle"), catalog)
    gathered = gather([run], catalog, select="worst:delta1", n=1)
    page, record = build_report([gathered], catalog, most_bytes=25_000_000)
    assert len(record["parts"][0]["shown"]) == 1
    assert b"oracle" in page
    figure = build_figure(gathered, layout="gallery", width=7.0)
    assert "attempt 1" not in str(figure.record)
