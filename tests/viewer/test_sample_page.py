"""A sample's page, as it is without scripts: panes, walk, attempts, models, view kept in links."""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from app_kit import client_of, row_of, text_of
from results_kit import FAMILIES, LONG, MANY_TASK, MARK, World
from starlette.testclient import TestClient
from vgen_eval.viewer.drawing.maps import TABLES
from vgen_eval.viewer.records import Query, RunRow, SampleRow
from vgen_eval.viewing import ClassMap


@pytest.fixture(scope="module")
def client(world: World) -> TestClient:
    return client_of(world.results, data_root=world.data)


def samples_of(client: TestClient, run: RunRow, **query: object) -> list[SampleRow]:
    """A page of a run's samples, in the order of the gallery."""
    rows: list[SampleRow] = client.app.state.site.index.samples(run, Query(**query))[0]  # type: ignore[attr-defined]
    return rows


def first(client: TestClient, task: str, model: str) -> tuple[RunRow, SampleRow]:
    run = row_of(client, task, model)
    return run, samples_of(client, run)[0]


def page_of(client: TestClient, run: RunRow, row: SampleRow, rest: str = "") -> str:
    answer = client.get(f"/r/{run.slug}/s/{row.slug}{rest}")
    assert answer.status_code == 200, answer.text[-2000:]
    return answer.text


def sources(page: str) -> dict[str, str]:
    """Key of a pane -> the address of its picture."""
    found = re.findall(r'<figure[^>]* data-key="([^"]*)".*?<img src="([^"]*)"', page, re.DOTALL)
    return {key: html.unescape(source) for key, source in found}


def link(page: str, mark: str) -> str:
    """The address of the first link that carries the attribute."""
    (tag,) = re.findall(rf"<a [^>]*{mark}[^>]*>", page)[:1]
    return html.unescape(re.search(r'href="([^"]*)"', tag).group(1))  # type: ignore[union-attr]


def test_a_part_of_the_view_is_handed_on_as_it_came_or_left_out_whole(client: TestClient) -> None:
    run, row = first(client, MANY_TASK, "near")
    for classes, is_kept in ((range(10, 261), True), (range(1000, 2000), False)):
        off = ".".join(map(str, classes))
        page = page_of(client, run, row, f"?z=2&off={off}")
        given = parse_qs(urlsplit(link(page, 'rel="next"')).query)
        assert given["z"] == ["2"]
        assert given.get("off") == ([off] if is_kept else None)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_a_page_and_every_address_on_it_answers(
    client: TestClient, family: str
) -> None:
    run, row = first(client, FAMILIES[family], "oracle")
    page = page_of(client, run, row)
    assert row.id in text_of(page)
    media = set(re.findall(r'(?:src|data-field)="(/r/[^"]*)"', page))
    assert media
    for address in sorted(media):
        answer = client.get(html.unescape(address))
        assert answer.status_code == 200, address
        assert answer.content


@pytest.mark.parametrize("family", ["depth", "normals", "mask", "labels", "count"])
def test_maps_stand_side_by_side_with_their_notes(client: TestClient, family: str) -> None:
    run, row = first(client, FAMILIES[family], "classical")
    page = page_of(client, run, row)
    roles = re.findall(r'<figure[^>]* data-role="([^"]*)"', page)
    assert roles[:2] == ["input", "answer"]
    assert {"target", "prediction", "error"} <= set(roles)
    assert 'style="' not in page
    assert not re.search(r"\son\w+=", page.partition("<main")[2])


def test_values_of_the_attempt_stand_in_a_table(client: TestClient) -> None:
    run, row = first(client, FAMILIES["depth"], "classical")
    page = page_of(client, run, row)
    told = dict(re.findall(r'<th scope="row"><bdi>(\w+)</bdi></th><td class="num">([^<]*)<', page))
    assert float(told["absrel"]) == pytest.approx(row.values["absrel"], rel=1e-3)
    assert float(told["delta1"]) == pytest.approx(row.values["delta1"], rel=1e-3)


def test_the_walk_is_that_of_the_list_the_reader_came_from(client: TestClient) -> None:
    run = row_of(client, MANY_TASK, "near")
    rows = samples_of(client, run, sort="id", q="s01")
    assert len(rows) > 2
    page = page_of(client, run, rows[1], "?sort=id&q=s01&z=2.5&map=turbo")
    assert f"2 of {len(rows)} (filtered)" in text_of(page)
    for mark, other in (('rel="prev"', rows[0]), ('rel="next"', rows[2])):
        address = urlsplit(link(page, mark))
        assert address.path.endswith(other.slug)
        kept = parse_qs(address.query)
        assert kept == {"sort": ["id"], "q": ["s01"], "z": ["2.5"], "map": ["turbo"]}


def test_a_sample_that_the_filter_leaves_out_says_so(client: TestClient) -> None:
    run = row_of(client, MANY_TASK, "near")
    row = samples_of(client, run, q="s020")[0]
    page = page_of(client, run, row, "?q=s03")
    assert "not in the filtered list of" in text_of(page)


def test_a_map_and_a_range_of_the_address_are_those_of_the_pictures(client: TestClient) -> None:
    run, row = first(client, FAMILIES["depth"], "classical")
    page = page_of(client, run, row, "?map=turbo&lo=2&hi=4&scale=log")
    found = sources(page)
    for key in ("target", "prediction"):
        query = parse_qs(urlsplit(found[key]).query)
        assert (query["map"], query["lo"], query["hi"]) == (["turbo"], ["2"], ["4"])
        assert query["scale"] == ["log"]
    # an error keeps its own colours: they mean something else
    assert "map" not in parse_qs(urlsplit(found["error"]).query)
    bar = re.search(r'data-key="target".*?</figure>', page, re.DOTALL).group()  # type: ignore[union-attr]
    assert 'data-end="low">2<' in bar
    assert 'data-end="high">4 m<' in bar
    colours = re.findall(r'<rect data-step[^>]* fill="(#[0-9a-f]{6})"', bar)
    table = {"#{:02x}{:02x}{:02x}".format(*colour) for colour in TABLES["turbo"]}
    assert set(colours) <= table


def test_a_class_is_hidden_by_a_link(client: TestClient) -> None:
    run, row = first(client, FAMILIES["labels"], "classical")
    site = client.app.state.site  # type: ignore[attr-defined]
    look = site.looker.look(site.results / run.path, row.id, 0)
    body = look.of_role("target")[0].pane.body
    assert isinstance(body, ClassMap)
    ids, counts = np.unique(body.ids[body.ids >= 0], return_counts=True)
    by_area = [int(place) for place in ids[np.argsort(-counts, kind="stable")]]
    page = page_of(client, run, row)
    listed = [int(place) for place in re.findall(r'<li data-class="(\d+)"', page)]
    assert listed[: len(by_area)] == by_area  # the largest in the truth first
    address = link(page, "data-toggle")
    assert parse_qs(urlsplit(address).query) == {"off": [str(by_area[0])]}
    hidden = page_of(client, run, row, "?" + urlsplit(address).query)
    assert f"off={by_area[0]}" in sources(hidden)["target"]
    assert "off" not in parse_qs(urlsplit(link(hidden, "data-toggle")).query)  # and back


def test_attempts_are_tabs_of_one_page(client: TestClient) -> None:
    run, row = first(client, FAMILIES["depth"], "flaky")
    page = page_of(client, run, row)
    second = link(page, "data-next-attempt")
    assert second.endswith("a=2")
    assert "data-last-attempt" in client.get(second).text
    answer = client.get(f"/r/{run.slug}/s/{row.slug}?a=3")
    assert answer.status_code == 400
    assert "attempts are 1 to 2" in answer.text


def test_every_failure_tells_its_status_and_its_reason(client: TestClient) -> None:
    run = row_of(client, FAMILIES["depth"], "flaky")
    seen = set()
    for row in samples_of(client, run):
        for attempt in (1, 2):
            text = text_of(page_of(client, run, row, f"?a={attempt}"))
            seen |= {w for w in ("refused", "undecodable", "timed out", "error") if w in text}
    assert seen


def test_all_models_on_the_sample_are_links(client: TestClient) -> None:
    run, row = first(client, FAMILIES["depth"], "classical")
    page = page_of(client, run, row)
    for model in ("oracle", "blind", "flaky"):
        assert f"/r/{row_of(client, FAMILIES['depth'], model).slug}/s/{row.slug}" in page
    assert link(page, "data-next-model") != ""


def test_addresses_that_are_not_there_say_so(client: TestClient) -> None:
    run, row = first(client, FAMILIES["depth"], "classical")
    assert client.get(f"/r/{run.slug}/s/0123456789-none").status_code == 404
    assert client.get(f"/r/0123456789/s/{row.slug}").status_code == 404
    assert client.get(f"/r/{run.slug}/s/{row.slug}?lo=4&hi=2").status_code == 400
    assert client.get(f"/r/{run.slug}/s/{row.slug}?map=rainbow").status_code == 400


def test_what_a_model_says_is_words(client: TestClient) -> None:
    run = row_of(client, MANY_TASK, "hostile")
    for row in samples_of(client, run)[:20]:
        page = page_of(client, run, row)
        assert f"<script>window.{MARK}" not in page
        assert "<img src=x" not in page
        assert "<iframe" not in page


def test_all_of_a_long_text_is_one_link_away_as_plain_text(client: TestClient) -> None:
    run = row_of(client, MANY_TASK, "hostile")
    (row,) = samples_of(client, run, q="s012")
    page = page_of(client, run, row)
    assert len(page) < LONG / 5
    address = re.search(r'<a href="([^"]*)">show all</a>', page).group(1)  # type: ignore[union-attr]
    answer = client.get(html.unescape(address))
    assert len(answer.text) >= LONG - 100
    assert answer.headers["content-type"].startswith("text/plain")
    assert "sandbox" in answer.headers["content-security-policy"]
    assert client.get(f"/r/{run.slug}/s/{row.slug}/1/input.txt").status_code == 404


def test_a_clip_has_its_strip_and_never_starts_by_itself(client: TestClient) -> None:
    run, row = first(client, FAMILIES["puzzle"], "oracle")
    page = page_of(client, run, row)
    (video,) = re.findall(r"<video[^>]*>", page)
    assert 'preload="none"' in video
    assert "autoplay" not in video
    assert len(re.findall(r'<button type="button" data-frame="\d+"', page)) >= 16
    assert re.search(r"frame 0, 0\.00 s", page)


def test_several_models_share_input_truth_and_ranges(client: TestClient) -> None:
    task = FAMILIES["depth"]
    runs = [row_of(client, task, model) for model in ("classical", "blind")]
    row = samples_of(client, runs[0])[0]
    keys = ",".join(run.key for run in runs)
    answer = client.get(f"/t/{runs[0].task_slug}/s/{row.slug}?runs={keys}")
    assert answer.status_code == 200
    found = re.findall(r'<figure[^>]* data-key="([^"]*)"[^>]* data-role="([^"]*)"', answer.text)
    roles = [role for _, role in found]
    assert roles.count("input") == roles.count("target") == 1
    assert roles.count("prediction") == 2
    assert len({key for key, _ in found}) == len(found)
    of_error = re.findall(
        r'data-role="error"[^>]* data-low="([^"]*)" data-high="([^"]*)"', answer.text
    )
    assert len(of_error) >= 4
    by_place = {tuple(ends) for ends in of_error}
    assert len(by_place) <= len(of_error) // 2  # the same for both models
    assert "classical: Prediction" in text_of(answer.text)


def test_models_are_chosen_by_their_boxes(client: TestClient) -> None:
    task = FAMILIES["depth"]
    run, row = first(client, task, "classical")
    here = f"/t/{run.task_slug}/s/{row.slug}"
    some = client.get(here, params=[("runs", run.key), ("runs", row_of(client, task, "blind").key)])
    assert len(re.findall(r'name="runs"[^>]* checked', some.text)) == 2
    assert client.get(f"{here}?runs=0123456789").status_code == 404
    assert client.get(f"/t/0123456789/s/{row.slug}").status_code == 404


def test_samples_of_damaged_runs_say_what_is_missing(broken_results: Path) -> None:
    client = client_of(broken_results)
    site = client.app.state.site  # type: ignore[attr-defined]
    shown = 0
    for run in site.index.runs():
        for row in site.index.samples(run, Query())[0][:3]:
            page = page_of(client, run, row)
            shown += 1
            if row.status == "not_run":
                assert "not run yet" in text_of(page)
    assert shown > 5


@pytest.mark.parametrize(
    ("family", "bare"),
    [("depth", ["Relative error"]), ("normals", ["Angle to the target"])],
)
def test_scale_bars_have_swatches_for_ends_that_numbers_pass(
    client: TestClient, family: str, bare: list[str]
) -> None:
    run, row = first(client, FAMILIES[family], "classical")
    page = page_of(client, run, row)
    bars = {
        html.unescape(figure[1]): set(re.findall(r'aria-label="(below|above)"', figure[2]))
        for figure in re.finditer(
            r'<figure[^>]* data-title="([^"]*)"(.*?)</figure>', page, re.DOTALL
        )
        if "data-bar" in figure[2]
    }
    assert {title for title, ends in bars.items() if ends == {"above"}} == set(bare)
    assert all(ends == {"below", "above"} for title, ends in bars.items() if title not in bare)
