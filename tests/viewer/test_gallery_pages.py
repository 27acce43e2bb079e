"""The gallery without a browser: cards, filters in the address, chips, live marks, its size."""

from __future__ import annotations

import io
import re

import numpy as np
import PIL.Image
import pytest
from app_kit import client_of, labels, row_of, text_of
from results_kit import FAMILIES, MANY, MANY_TASK, World
from starlette.testclient import TestClient
from vgen_eval.viewer.drawing.sheets import draw_words
from vgen_eval.viewer.records import PAGE_SIZE, Query, RunRow
from vgen_eval.viewing import Words


@pytest.fixture(scope="module")
def client(world: World) -> TestClient:
    return client_of(world.results, data_root=world.data)


@pytest.fixture(scope="module")
def many(client: TestClient) -> RunRow:
    return row_of(client, MANY_TASK, "near")


def get(client: TestClient, run: RunRow, query: str = "") -> str:
    answer = client.get(f"/r/{run.slug}/s{query}")
    assert answer.status_code == 200, answer.text[:300]
    return answer.text


def test_a_page_holds_sixty_cards_in_sixty_kilobytes(client: TestClient, many: RunRow) -> None:
    query = "?tag=half=even&tag=half=odd&status=ok&score=0~3"
    for page in (get(client, many), get(client, many, query)):
        assert len(labels(page)) == PAGE_SIZE
        assert len(page.encode()) <= 60_000
    last = get(client, many, "?page=3")
    assert len(labels(last)) == MANY - 2 * PAGE_SIZE
    assert 'start="121"' in last


def test_a_page_beyond_the_last_leads_to_the_last(client: TestClient, many: RunRow) -> None:
    answer = client.get(f"/r/{many.slug}/s?page=99&status=ok")
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/r/{many.slug}/s?status=ok&page=3"


def test_a_card_is_one_link_with_a_full_name(client: TestClient, many: RunRow) -> None:
    page = get(client, many, "?q=s012")
    assert labels(page) == ["s012, mae 2 objects, status ok"]
    (link,) = re.findall(r'<li class="card[^>]*>(.*?)</li>', page, re.DOTALL)
    assert link.count("<a ") == 1
    assert "q=s012" in re.findall(r'href="([^"]*)"', link)[0]
    for mark in ('width="256"', 'height="256"', 'loading="lazy"', 'decoding="async"', "srcset"):
        assert mark in link


def test_the_form_leads_to_an_address_without_gaps(client: TestClient, many: RunRow) -> None:
    answer = client.get(f"/r/{many.slug}/s?sort=&dir=&layer=&q=&low=.5&high=&tag=half=even&page=2")
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/r/{many.slug}/s?tag=half=even&score=.5~"
    bare = client.get(f"/r/{many.slug}/s?sort=&q=&low=&high=")
    assert bare.headers["location"] == f"/r/{many.slug}/s"


@pytest.mark.parametrize(
    ("query", "said"),
    [("?page=x", "no number of a page"), ("?score=abc", "no range"), ("?dir=up", "not asc or desc"),
     ("?low=1&high=b", "no range")],
)  # fmt: skip
def test_what_cannot_be_meant_is_said(
    client: TestClient, many: RunRow, query: str, said: str
) -> None:
    answer = client.get(f"/r/{many.slug}/s{query}")
    assert answer.status_code == 400
    assert said in text_of(answer.text)


def test_each_filter_has_a_chip_that_removes_it(client: TestClient, many: RunRow) -> None:
    page = get(client, many, "?tag=half=even&score=1~&q=s0")
    chips = page.partition('class="chips"')[2].partition("</ul>")[0]
    links = re.findall(r'<a href="([^"]*)"><span class="off">Remove', chips)
    tail = [link.replace("&amp;", "&").partition("?")[2] for link in links]
    assert tail == ["score=1~&q=s0", "tag=half=even&q=s0", "tag=half=even&score=1~"]
    assert ">Clear all</a>" in chips
    text = text_of(f"<main>{chips}</main>")
    assert "mae at least 1" in text
    assert "id has s0" in text


def test_what_leaves_nothing_tells_how_many_without_each(client: TestClient, many: RunRow) -> None:
    text = text_of(get(client, many, "?q=no-such&tag=half=odd"))
    assert f"0 of {MANY} samples" in text
    assert "0 without it" in text
    assert f"{MANY // 2} without it" in text
    assert "No sample is left" in text


def test_a_filter_without_a_box_stays_when_the_form_is_sent(
    client: TestClient, many: RunRow
) -> None:
    page = get(client, many, "?flag=no-such&tag=half=even&status=timeout")
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page)
    assert [pair for pair in hidden if pair[0] != "low"] == [
        ("status", "timeout"), ("flag", "no-such"),
    ]  # fmt: skip
    assert 'value="half=even" checked' in page


def test_failed_samples_have_a_word_and_a_shape(client: TestClient) -> None:
    run = row_of(client, FAMILIES["depth"], "flaky")
    page = get(client, run, "?status=refused")
    (only,) = labels(page)
    assert "status refused" in only
    assert 'class="card card-model_failure"' in page
    assert "✕ refused" in text_of(page)


def test_the_layer_goes_into_every_thumbnail(client: TestClient, many: RunRow) -> None:
    page = get(client, many, "?layer=input")
    sources = re.findall(r'<img src="([^"]*)"', page)
    assert len(sources) == PAGE_SIZE
    assert all("layer=input" in source for source in sources)
    assert 'value="input" checked' in page
    assert all(f"/r/{many.key}/s/" in source for source in sources)


def test_a_value_can_be_sorted_by_and_is_shown(client: TestClient) -> None:
    run = row_of(client, FAMILIES["depth"], "blind")
    page = get(client, run, "?sort=absrel&dir=asc")
    found = [float(re.findall(r"absrel ([\d.e-]+)", label)[0]) for label in labels(page)]
    assert len(found) == 2
    assert found == sorted(found)


def test_texts_are_inert_and_hidden_characters_are_seen(client: TestClient, many: RunRow) -> None:
    page = get(client, many, "?sort=id") + get(client, many, "?q=bell")
    assert "<img src=x" not in page
    assert "<i>tag</i>" not in page
    assert "<script>alert" not in page
    assert "\u202e" not in re.sub(r'(aria-label|href)="[^"]*"', "", page)
    assert "U+202E" in page


def test_the_histogram_says_what_it_shows(client: TestClient, many: RunRow) -> None:
    page = get(client, many)
    (label,) = re.findall(r'role="img" aria-label="([^"]*)"', page)
    assert label.startswith(f"Histogram of mae: {MANY} samples from 0 to 2")
    assert " style=" not in page


def test_what_comes_of_a_run_is_asked_for_by_a_mark(client: TestClient, many: RunRow) -> None:
    told = client.get(f"/r/{many.key}/since/0").json()
    assert told["state"] == "complete"
    assert told["ended"] == told["expected"] == MANY
    assert told["fresh"] == PAGE_SIZE
    assert told["more"] is True
    assert len(set(told["keys"])) == PAGE_SIZE
    assert len(told["samples"]) == 20
    nothing = client.get(f"/r/{many.key}/since/{told['mark']}").json()
    assert nothing["fresh"] == 0
    assert nothing["more"] is False
    assert nothing["mark"] == told["mark"]


def test_of_equal_scores_none_is_the_worst(client: TestClient) -> None:
    oracle = row_of(client, FAMILIES["depth"], "oracle")
    said = text_of(get(client, oracle))
    assert "delta1, all equal: in the order of the run" in said
    assert "worst first" not in said
    assert "worst first" not in text_of(client.get(f"/r/{oracle.slug}").text)
    # one is no equality, and another value of theirs may differ
    assert "all equal" not in text_of(get(client, oracle, "?q=scene-meadow"))
    classical = row_of(client, FAMILIES["depth"], "classical")
    assert "delta1, worst first" in text_of(get(client, classical))


def test_equal_scores_are_told_of_what_filters_leave(client: TestClient, many: RunRow) -> None:
    assert "mae, worst first" in text_of(get(client, many))
    assert "mae, all equal: in the order of the run" in text_of(get(client, many, "?score=0~0"))
    # on a page without a difference, where other pages have others
    last = get(client, many, "?page=3")
    assert len({label.partition(", ")[2] for label in labels(last)}) == 1
    assert "mae, worst first" in text_of(last)


@pytest.mark.parametrize("layer", ["error", "target"])
def test_nothing_stands_for_an_error_or_a_truth_that_is_not_there(
    client: TestClient, layer: str
) -> None:
    run = row_of(client, FAMILIES["option"], "classical")
    (first, *_), _ = client.app.state.site.index.samples(run, Query())  # type: ignore[attr-defined]
    found = client.get(f"/r/{run.key}/s/{first.key}/1/thumb.webp?layer={layer}&w=256")
    shown = np.asarray(PIL.Image.open(io.BytesIO(found.content)).convert("RGB"))
    no_error = draw_words(Words(text="no error map"), "error", 256)
    assert np.array_equal(shown, no_error) == (layer == "error")
