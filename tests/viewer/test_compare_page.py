"""Runs side by side: numbers as `compare` gives them, quadrants, refusals, rows that decide."""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from app_kit import client_of, row_of, text_of
from results_kit import FAMILIES, MANY, MANY_TASK, World
from starlette.testclient import TestClient
from vgen_eval.errors import VgenEvalError
from vgen_eval.results.contrast import contrast
from vgen_eval.results.reading import read_run
from vgen_eval.viewer import contrasts
from vgen_eval.viewer.contrasting import contrast_apart
from vgen_eval.viewer.contrasts import Contrasts
from vgen_eval.viewer.pages import compare


@pytest.fixture(scope="module")
def client(world: World) -> TestClient:
    return client_of(world.results, data_root=world.data)


def keys(client: TestClient, task: str, *models: str) -> str:
    return ",".join(row_of(client, task, model).key for model in models)


def text(client: TestClient, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text[-2000:]
    return answer.text


def test_values_difference_and_p_are_those_of_the_command(client: TestClient) -> None:
    page = text(client, f"/c?runs={keys(client, MANY_TASK, 'near', 'hostile')}")
    site = client.app.state.site  # type: ignore[attr-defined]
    paths = [site.results / row_of(client, MANY_TASK, m).path for m in ("near", "hostile")]
    found = contrast([read_run(path, site.catalog) for path in paths], site.catalog)
    (pair,) = found.measures[0].parts[0].pairs
    told = text_of(page)
    assert f"{pair.difference:+.4g}"[:5] in told
    low, high = pair.interval.low, pair.interval.high
    assert low is not None
    assert high is not None
    assert f"[{low:.4g}"[:5] in told
    assert f"{pair.wins}, {pair.ties}, {pair.losses}" in told
    assert ("better" if pair.p_corrected < 0.05 else "not shown to differ") in told  # type: ignore[operator]
    assert f"{MANY} of {MANY} samples" in told


def test_quadrants_hold_what_they_count(client: TestClient) -> None:
    pair = keys(client, MANY_TASK, "near", "hostile")
    told = text_of(text(client, f"/c?runs={pair}"))
    total = 0
    for name, words in (("both_bad", "both bad"), ("only_a", "only A good"),
                        ("only_b", "only B good"), ("both_good", "both good")):  # fmt: skip
        count = int(re.search(rf"{words} (\d+)", told).group(1))  # type: ignore[union-attr]
        page = text(client, f"/c?runs={pair}&quadrant={name}")
        assert f"{count} of {MANY} samples" in text_of(page)
        assert len(re.findall(r'<li class="pair">', page)) == min(count, 60)
        total += count
    assert total == MANY


def test_rows_come_by_the_size_of_their_difference(client: TestClient) -> None:
    page = text(client, f"/c?runs={keys(client, FAMILIES['depth'], 'classical', 'oracle')}")
    deltas = [float(d) for d in re.findall(r"<b>[AB] better by ([\d.]+)</b>", page)]
    assert deltas
    assert deltas == sorted(deltas, reverse=True)
    row = html.unescape(re.search(r'<li class="pair"><a href="([^"]*)"', page).group(1))  # type: ignore[union-attr]
    state = parse_qs(urlsplit(row).query)
    assert state["panes"] == ["errors"]
    assert state["runs"] == [keys(client, FAMILIES["depth"], "classical", "oracle")]
    assert client.get(row).status_code == 200
    for source in set(re.findall(r'<img src="([^"]*)"', page)):
        assert client.get(html.unescape(source)).status_code == 200


def test_of_more_than_two_the_first_is_set_against_each(client: TestClient) -> None:
    trio = keys(client, FAMILIES["depth"], "oracle", "classical", "blind")
    page = text(client, f"/c?runs={trio}")
    link = html.unescape(re.search(r'href="([^"]*with=[^"]*)"', page).group(1))  # type: ignore[union-attr]
    other = text(client, link)
    assert re.search(r"A oracle , B blind", text_of(other))
    # filters keep the pair
    assert f"with={trio.split(',')[2]}" in other.partition('aria-label="Which samples"')[2]


def test_runs_that_differ_in_more_than_the_model_are_not_compared_in_silence(
    client: TestClient,
) -> None:
    pair = keys(client, FAMILIES["count"], "classical", "hostile")
    page = text(client, f"/c?runs={pair}")
    assert "Differ in more than the model" in page
    assert "answer.form" in text_of(page)
    assert '<li class="pair">' not in page
    link = html.unescape(re.search(r'href="([^"]*anyway=1)"', page).group(1))  # type: ignore[union-attr]
    anyway = text(client, link)
    assert '<li class="pair">' in anyway
    assert "no measure of the models alone" in text_of(anyway)


def test_runs_of_several_tasks_are_refused(client: TestClient) -> None:
    one = row_of(client, FAMILIES["depth"], "classical").key
    two = row_of(client, FAMILIES["labels"], "classical").key
    page = text(client, f"/c?runs={one},{two}")
    assert '<li class="pair">' not in page
    assert "task" in text_of(page)


def test_the_boxes_of_a_table_lead_to_one_address(client: TestClient) -> None:
    one, two = keys(client, FAMILIES["depth"], "classical", "oracle").split(",")
    answer = client.get("/c", params=[("runs", one), ("runs", two)])
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/c?runs={one},{two}"


def test_one_run_alone_is_told_what_is_wanted(client: TestClient) -> None:
    answer = client.get(f"/c?runs={keys(client, FAMILIES['depth'], 'classical')}")
    assert answer.status_code == 400
    assert "2 to 12 are wanted" in answer.text
    assert client.get("/c").status_code == 400
    assert client.get("/c?runs=0123456789,0123456788").status_code == 404


def test_a_test_that_takes_long_comes_later_and_the_rows_at_once(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = client.app.state.site  # type: ignore[attr-defined]
    monkeypatch.setattr(compare, "SMALL", 0)
    monkeypatch.setattr(contrasts, "SHORT_S", 0.0)
    monkeypatch.setattr(site, "contrasts", Contrasts(site.catalog))
    address = f"/c?runs={keys(client, MANY_TASK, 'hostile', 'near')}"
    answer = client.get(address)
    assert answer.headers["refresh"] == "1"
    assert "being worked out" in text_of(answer.text)
    assert '<li class="pair">' in answer.text
    (at_work,) = site.contrasts._kept.values()
    at_work.result(timeout=60)
    done = client.get(address)
    assert "refresh" not in done.headers
    assert "better, tied, worse" in text_of(done.text)
    monkeypatch.setattr(compare, "SMALL", 10_000)
    monkeypatch.setattr(site, "contrasts", Contrasts(site.catalog))
    assert text_of(client.get(address).text) == text_of(done.text)  # as it is made at once


def test_a_test_in_a_process_of_its_own_is_that_of_the_command(client: TestClient) -> None:
    site = client.app.state.site  # type: ignore[attr-defined]
    paths = [site.results / row_of(client, MANY_TASK, m).path for m in ("near", "hostile")]
    wanted = contrast([read_run(path, site.catalog) for path in paths], site.catalog)
    assert contrast_apart(paths, anyway=False) == wanted
    with pytest.raises(VgenEvalError, match="2 at least are wanted"):
        contrast_apart(paths[:1], anyway=False)


def test_lines_that_changed_since_are_not_tested(world: World, tmp_path: Path) -> None:
    results = tmp_path / "results"
    task = FAMILIES["depth"]
    for model in ("classical", "oracle"):
        path = row_of(client_of(world.results), task, model).path
        shutil.copytree(world.results / path, results / path)
    client = client_of(results)
    address = f"/c?runs={keys(client, task, 'classical', 'oracle')}"
    assert "better, tied, worse" in text_of(text(client, address))
    path = results / row_of(client, task, "oracle").path / "predictions.jsonl"
    lines = path.read_text().splitlines()
    path.write_text(
        "\n".join([*lines[1:], lines[0].replace('"status"', '"note":1,"status"')]) + "\n"
    )
    client.app.state.site.index.refresh(0)  # type: ignore[attr-defined]
    told = text_of(text(client, address))
    assert "its card is older than its lines" in told
    assert "better, tied, worse" not in told
