"""What is made ahead: after requests, never beside them; of the next page, and of neighbours."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from app_kit import client_of, row_of
from looking_kit import every_family, lines_of, looker, run_of
from results_kit import MANY, MANY_TASK, World
from starlette.testclient import TestClient
from vgen_eval.viewer.drawing.thumbs import Thumbs
from vgen_eval.viewer.looking import Look
from vgen_eval.viewer.looking.building import build_look
from vgen_eval.viewer.records import PAGE_SIZE, Query
from vgen_eval.viewer.site import Site
from vgen_eval.viewer.warming import MOST, Warmer, load_ahead

WAIT_S = 60.0


def settle(warmer: Warmer) -> None:
    end = time.monotonic() + WAIT_S
    while not warmer.is_idle:
        assert time.monotonic() < end, "it is still at work"
        time.sleep(0.01)


def site_of(client: TestClient) -> Site:
    found: Site = client.app.state.site  # type: ignore[attr-defined]
    return found


def test_nothing_is_begun_while_a_request_is_answered_nor_right_after() -> None:
    warmer = Warmer(quiet_s=0.2)
    begun = threading.Event()
    with warmer.serving():
        warmer.put([begun.set])
        assert not begun.wait(0.3)
    ended = time.monotonic()
    assert begun.wait(WAIT_S)
    assert time.monotonic() - ended >= 0.15
    settle(warmer)


def test_what_came_last_takes_the_place_of_what_waits() -> None:
    warmer = Warmer(quiet_s=0.0)
    done: list[str] = []
    with warmer.serving():
        warmer.put([lambda: done.append("old")] * 3)
        warmer.put([lambda: done.append("new")] * (MOST + 5))
    settle(warmer)
    assert done == ["new"] * MOST


def test_a_job_that_fails_does_not_keep_the_next_from_being_done() -> None:
    warmer = Warmer(quiet_s=0.0)
    done: list[int] = []

    def fail() -> None:
        raise RuntimeError("its data is gone")

    for number in (1, 2):  # the second time by another thread
        warmer.put([fail, lambda number=number: done.append(number)])  # type: ignore[misc]
        settle(warmer)
    assert done == [1, 2]


def test_a_gallery_makes_the_pictures_of_its_next_page(world: World, tmp_path: Path) -> None:
    warmer = Warmer(quiet_s=0.0)
    client = client_of(world.results, data_root=world.data, warmer=warmer)
    site = site_of(client)
    site.thumbs = Thumbs(world.results, place=tmp_path)
    run = row_of(client, MANY_TASK, "near")
    assert client.get(f"/r/{run.slug}/s?page=2").status_code == 200
    settle(warmer)
    made = set(tmp_path.rglob("*.webp"))
    assert made
    rows, _ = site.index.samples(run, Query(page=3))
    assert len(rows) == MANY - 2 * PAGE_SIZE
    for row in rows:
        picture = client.get(f"/r/{run.key}/s/{row.key}/1/thumb.webp?w=256")
        assert picture.status_code == 200
    assert set(tmp_path.rglob("*.webp")) == made  # all of them were there
    assert client.get(f"/r/{run.slug}/s?page=3").status_code == 200  # the last
    assert warmer.is_idle


def test_a_sample_opens_its_neighbours(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def build(*given: Any) -> Look:
        made.append(given[2])
        return build_look(*given)

    monkeypatch.setattr("vgen_eval.viewer.looking.looker.build_look", build)
    warmer = Warmer(quiet_s=0.0)
    client = client_of(world.results, data_root=world.data, warmer=warmer)
    site = site_of(client)
    run = row_of(client, MANY_TASK, "near")
    rows, _ = site.index.samples(run, Query(sort="order"))
    assert client.get(f"/r/{run.slug}/s/{rows[5].slug}?sort=order").status_code == 200
    settle(warmer)
    wanted = [rows[5].id, rows[6].id, rows[4].id]
    assert made == wanted
    for at in (4, 5, 6):
        site.looker.look(site.results / run.path, rows[at].id)
    assert made == wanted  # all of them were held


def test_what_is_looked_at_is_not_put_out_by_its_neighbours(world: World, tmp_path: Path) -> None:
    run = run_of(every_family(tmp_path), "depth")
    first, second = (line["sample"] for line in lines_of(run / "predictions.jsonl"))
    small = looker(most_bytes=1)
    kept = small.look(run, first)
    assert not small.look_ahead(run, second)
    assert small.look(run, first) is kept
    assert looker().look_ahead(run, second)


def test_libraries_and_a_run_are_loaded_ahead(world: World, tmp_path: Path) -> None:
    site = site_of(client_of(world.results, data_root=world.data))
    load_ahead(site).join(WAIT_S)
    assert site.looker._runs.held == 1
    nothing = site_of(client_of(tmp_path))
    load_ahead(nothing).join(WAIT_S)
    assert nothing.looker._runs.held == 0
