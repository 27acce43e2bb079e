"""Leaderboards: who may share a rank, who stands beside whom, what a number is made of."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vgen_eval
from app_kit import client_of, row_of, text_of
from results_kit import FAMILIES, MANY_TASK, World, run_of
from starlette.testclient import TestClient
from vgen_eval.types import Request


def paint(request: Request, side: str) -> Any:
    """One half of the picture green and the other black."""
    array = np.zeros_like(request.images[0].array)
    half = array.shape[1] // 2
    (array[:, :half] if side == "left" else array[:, half:])[:] = (0, 255, 0)
    return array


def left(request: Request) -> Any:
    return paint(request, "left")


def right(request: Request) -> Any:
    return paint(request, "right")


@pytest.fixture(scope="module")
def client(world: World) -> TestClient:
    """Of all runs."""
    return client_of(world.results, data_root=world.data)


@pytest.fixture(scope="module")
def pointed(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """Two models that find what a phrase means, each by the half of the picture it lies in."""
    folder = tmp_path_factory.mktemp("pointed")
    for model, name in ((left, "left"), (right, "right")):
        vgen_eval.evaluate(
            tasks=FAMILIES["mask"], model=model, model_name=name, forms=["image"], bounds=False,
            output=str(folder), limit=6,
        )  # fmt: skip
    return client_of(folder)


def test_values_that_lines_name_otherwise_are_tested_too(pointed: TestClient) -> None:
    index = pointed.app.state.site.index  # type: ignore[attr-defined]
    runs = index.runs()
    for run in runs:
        assert run.primary == "giou"
        assert all("iou" in row.values for row in index.all_samples(run))
    assert runs[0].value != runs[1].value
    page = pointed.get(f"/t/{runs[0].task_slug}").text
    ranks = re.findall(r'data-head="Rank">(\d+)(.*?)</td>', page)
    # six samples part no two models
    assert [(rank, "shared" in mark) for rank, mark in ranks] == [("1", True), ("1", True)]
    assert "a paired test" in text_of(page)
    # of a pooled value there is no test sample by sample
    pooled = text_of(pointed.get(f"/t/{runs[0].task_slug}?metric=ciou").text)
    assert "Ranks are by value alone" in pooled


def test_a_value_has_the_name_of_its_card_on_every_page(pointed: TestClient) -> None:
    index = pointed.app.state.site.index  # type: ignore[attr-defined]
    run = index.runs()[0]
    row = next(index.all_samples(run))
    page = pointed.get(f"/r/{run.slug}/s/{row.slug}").text
    names = re.findall(r'<tr(?: class="best")?><th scope="row">(?:<bdi>)?(\w+)', page)
    assert "giou" in names
    assert "iou" not in names
    gallery = pointed.get(f"/r/{run.slug}/s?sort=iou").text
    assert ">iou<" not in gallery
    assert "giou" in gallery
    # by whichever name an order is asked for, it is the same one
    orders = [
        re.findall(r'id="s-([0-9a-f]+)"', pointed.get(f"/r/{run.slug}/s?sort={name}").text)
        for name in ("iou", "giou", "")
    ]
    assert len(orders[0]) == 6
    assert orders[0] == orders[1] == orders[2]


def other_settings(folder: Path, changes: Mapping[str, Any]) -> None:
    """The run's card says that its protocol was another one."""
    path = folder / "result_card.json"
    card = json.loads(path.read_text())
    card["protocol_info"] |= changes
    path.write_text(json.dumps(card))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"input": {"size": [96, 96]}}, "input.size [96, 96]"),
        ({"seed_rule": "another"}, "seed_rule another"),
        ({}, ""),
    ],
)
def test_a_row_says_which_settings_it_has_of_its_own(
    world: World, tmp_path: Path, changes: Mapping[str, Any], told: str
) -> None:
    for model in ("near", "hostile"):
        copy = tmp_path / "runs" / model / "many" / "first"
        shutil.copytree(run_of(world.results, MANY_TASK, model), copy)
    other_settings(tmp_path / "runs" / "hostile" / "many" / "first", changes)
    client = client_of(tmp_path)
    page = client.get(f"/t/{row_of(client, MANY_TASK, 'near').task_slug}").text
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    (row,) = [one for one in rows if "hostile" in one and "<td" in one]
    if told:
        assert told in re.sub("<[^>]*>", " ", row)
        assert "vs leader" not in row
    else:
        assert "vs leader" in row
    (leader,) = [one for one in rows if ">near<" in one and "<td" in one]
    assert ", not " not in re.sub("<[^>]*>", " ", leader)


def test_answered_only_counts_what_the_number_is_made_of(world: World, tmp_path: Path) -> None:
    source = run_of(world.results, FAMILIES["count"], "hostile")
    shutil.copytree(source, tmp_path / "runs" / "hostile" / "count" / "first")
    client = client_of(tmp_path)
    (run,) = client.app.state.site.index.runs()  # type: ignore[attr-defined]
    card = client.app.state.site.index.card(run)  # type: ignore[attr-defined]
    answered, failed = card.counts.answered, card.counts.model_failure
    cell = r'data-head="Samples">([^<]*)<'
    counted = re.findall(cell, client.get(f"/t/{run.task_slug}").text)
    assert counted == [str(answered + failed)]
    alone = re.findall(cell, client.get(f"/t/{run.task_slug}?fail=answered").text)
    assert alone == [str(answered)]


def test_of_several_attempts_the_answered_ones_are_counted(client: TestClient) -> None:
    run = row_of(client, FAMILIES["count"], "flaky")
    card = client.app.state.site.index.card(run)  # type: ignore[attr-defined]
    assert run.attempts == 2
    assert card.counts.model_failure > 0
    page = client.get(f"/t/{run.task_slug}?fail=answered").text
    assert f'data-head="Samples">{card.counts.answered} attempts<' in page


def test_a_leaderboard_of_many_runs_is_quick(world: World, tmp_path: Path) -> None:
    import time

    for at in range(200):
        model = ("near", "hostile")[at % 2]
        copy = tmp_path / "runs" / f"{model}{at}" / "many" / "first"
        shutil.copytree(run_of(world.results, MANY_TASK, model), copy)
    client = client_of(tmp_path)
    address = f"/t/{client.app.state.site.index.runs()[0].task_slug}"  # type: ignore[attr-defined]
    client.get(address)
    begun = time.perf_counter()
    assert client.get(address).status_code == 200
    assert time.perf_counter() - begun < 2.0
