"""What pages that poll are told: samples that came, scores that were replaced, runs that went."""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path

import msgspec
import pytest
from app_kit import client_of, row_of
from results_kit import MANY_TASK, run_of
from starlette.testclient import TestClient
from vgen_eval.viewer.pages.marks import Mark, mark_run, news


@pytest.fixture
def run(results: Path, tmp_path: Path) -> Path:
    """A finished run of the test's own."""
    folder = tmp_path / "results" / "runs" / "near"
    shutil.copytree(run_of(results, MANY_TASK, "near"), folder)
    return folder


@pytest.fixture
def client(run: Path) -> TestClient:
    return client_of(run.parents[1])


def polled(client: TestClient, rest: str = "") -> str:
    """What a page of the run asks again and again."""
    page = client.get(f"/r/{row_of(client, MANY_TASK, 'near').slug}{rest}").text
    found = re.search(r'data-live="([^"]*)" data-mark="([^"]*)"', page)
    assert found is not None
    return found[1] + found[2]


def ask(client: TestClient, address: str) -> dict[str, object]:
    client.app.state.site.index.refresh(0)  # type: ignore[attr-defined]
    answer = client.get(address)
    assert answer.status_code == 200, answer.text[-300:]
    found: dict[str, object] = answer.json()
    return found


def scores_of(run: Path) -> Path:
    (found,) = (run / "scores").glob("*.jsonl")
    return found


@pytest.mark.parametrize("rest", ["", "/s", "/s?page=2"])
def test_scores_that_were_replaced_are_news_though_counts_are_equal(
    client: TestClient, run: Path, rest: str
) -> None:
    address = polled(client, rest)
    assert ask(client, address)["scored_again"] is False
    scores = scores_of(run)
    beside = scores.with_name(".new")
    beside.write_text(scores.read_text().replace('"mae":2.0', '"mae":3.0'))
    beside.replace(scores)
    told = ask(client, address)
    assert told["scored_again"] is True
    assert told["fresh"] == 0
    # told once: the new mark is of the new scores
    again = ask(client, address.rpartition("/")[0] + f"/{told['mark']}")
    assert again["scored_again"] is False


def test_scores_that_were_written_over_in_place_are_news(client: TestClient, run: Path) -> None:
    address = polled(client)
    time.sleep(0.01)  # its time of writing is another one
    scores = scores_of(run)
    scores.write_text(scores.read_text().replace('"mae":2.0', '"mae":3.0'))
    assert ask(client, address)["scored_again"] is True


def test_scores_that_are_being_made_anew_are_told_at_their_end(
    client: TestClient, run: Path
) -> None:
    site = client.app.state.site  # type: ignore[attr-defined]
    row = row_of(client, MANY_TASK, "near")
    at_first = mark_run(site, row)
    at_work = msgspec.structs.replace(row, state="running", changed=row.changed + 1)
    _, meanwhile, told = news(site, at_work, at_first)
    assert (meanwhile, told) == (at_first, False)
    done = msgspec.structs.replace(row, changed=row.changed + 2)
    assert news(site, done, meanwhile)[2] is True
    # of a page that was made while the run went on, its end alone is no such news
    begun = mark_run(site, at_work)
    assert news(site, done, begun)[2] is False


def test_a_run_that_was_resumed_was_not_scored_again(client: TestClient, run: Path) -> None:
    site = client.app.state.site  # type: ignore[attr-defined]
    opened = mark_run(site, row_of(client, MANY_TASK, "near"))
    for path in (run / "predictions.jsonl", scores_of(run)):
        with path.open("a") as file:
            file.write(path.read_text().splitlines(keepends=True)[0])
    site.index.refresh(0)
    row = row_of(client, MANY_TASK, "near")
    at_work = msgspec.structs.replace(row, state="running")
    came, meanwhile, told = news(site, at_work, opened)
    assert (len(came), told) == (1, False)
    came, meanwhile, told = news(site, at_work, meanwhile)
    assert (came, told) == ([], False)
    done = msgspec.structs.replace(row, changed=row.changed + 1)
    came, ended, told = news(site, done, meanwhile)
    assert (came, told) == ([], False)
    # and what is made anew after that is news once more
    later = msgspec.structs.replace(row, changed=row.changed + 2)
    assert news(site, later, ended)[2] is True


@pytest.mark.parametrize("seconds", [-5e8, -1e-3, 0.0, 1.7e9, 4e11, -9e18])
def test_a_run_dated_at_any_moment_has_a_mark_that_is_read(
    client: TestClient, seconds: float
) -> None:
    site = client.app.state.site  # type: ignore[attr-defined]
    row = msgspec.structs.replace(row_of(client, MANY_TASK, "near"), changed=seconds)
    mark = mark_run(site, row)
    assert mark.moment
    assert Mark.read(str(mark)) == mark


def test_the_page_of_a_run_dated_before_1970_is_told_what_is_new(
    client: TestClient, run: Path
) -> None:
    for path in (run / "samples.jsonl", run / "predictions.jsonl", scores_of(run)):
        os.utime(path, (-5e8, -5e8))
    client.app.state.site.index.refresh(0)  # type: ignore[attr-defined]
    assert ask(client, polled(client))["scored_again"] is False


def test_a_mark_that_cannot_be_read_is_not_told_as_a_run_that_is_gone(client: TestClient) -> None:
    address = polled(client).rpartition("/")[0]
    answer = client.get(f"{address}/1--2--3")
    assert answer.status_code == 400
    assert "this is none" in answer.text


def test_a_mark_is_read_from_an_address_or_is_none() -> None:
    known = Mark(260, "76de8baa98414c", "6618393f891ac")
    assert str(known) == "260-76de8baa98414c-6618393f891ac"
    assert Mark.read(str(known)) == known
    assert Mark.read("12") == Mark(12)
    assert [Mark.read(text) for text in ("", "x", "1-2", "1-x-", "9" * 19)] == [None] * 5


def test_the_page_of_a_run_that_went_is_told_so(client: TestClient, run: Path) -> None:
    address = polled(client, "/s")
    shutil.rmtree(run)
    client.app.state.site.index.refresh(0)  # type: ignore[attr-defined]
    assert client.get(address).status_code == 404


def test_the_list_of_runs_is_another_once_a_value_is(client: TestClient, run: Path) -> None:
    before = ask(client, "/live")["mark"]
    card = run / "result_card.json"
    row = row_of(client, MANY_TASK, "near")
    assert row.value is not None
    text = re.sub(rf'"value":\s*{re.escape(str(row.value))}', '"value":0.125', card.read_text())
    assert text != card.read_text()
    card.write_text(text)
    assert ask(client, "/live")["mark"] != before
