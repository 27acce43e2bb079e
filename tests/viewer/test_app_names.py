"""Names that hide characters, and numbers that no one can mean: what pages make of them."""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from app_kit import client_of, row_of
from results_kit import FAMILIES, World, run_of
from starlette.testclient import TestClient
from vgen_eval.viewer.staging.templating import environment, exact

HIDDEN = "\u202e\u0007\u001b\u0000\u2066\u0085"
TAIL = f"x{HIDDEN}\ny"
RAW = re.compile("[\u202e\u0007\u001b\u0000\u2066\u0085]")
NINES = "9" * 5000
DEPTH = FAMILIES["depth"]


@pytest.fixture(scope="module")
def client(world: World, tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    results = tmp_path_factory.mktemp("named") / "results"
    for model in ("classical", "oracle"):
        found = run_of(world.results, DEPTH, model)
        copy = results / found.relative_to(world.results)
        shutil.copytree(found, copy)
        rename(copy)
    return client_of(results, data_root=world.data)


def rename(run: Path) -> None:
    """Gives all that a run names a tail that hides characters."""
    record = json.loads((run / "run.json").read_text())
    ids = {name: name + TAIL for name in record["samples"]}

    def renamed(line: dict[str, Any]) -> dict[str, Any]:
        for field in ("sample", "id", "group"):
            if line.get(field) in ids:
                line[field] = ids[line[field]]
        if "tags" in line:
            line["tags"] = {"t" + TAIL: "v" + TAIL}
        if "of" in line:  # a score line
            line |= {"flags": ["f" + TAIL], "reason": "r" + TAIL}
        return line

    for path in (*run.glob("*.jsonl"), *run.glob("scores/*.jsonl")):
        lines = [renamed(json.loads(line)) for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    record["samples"] = list(ids.values())
    record["model"] += TAIL
    record["prompt"]["variant"] = "p" + TAIL
    record["prompt"]["text"] = "words" + TAIL
    (run / "run.json").write_text(json.dumps(record))
    card = json.loads((run / "result_card.json").read_text())
    card |= {"model": card["model"] + TAIL, "prompt": "p" + TAIL}
    for score in card["scores"]:
        score["reason"] = "r" + TAIL
    (run / "result_card.json").write_text(json.dumps(card))


def read_value(value: str) -> str:
    """What a browser reads of an attribute (HTML, section 13.2.5.80: controls are kept)."""
    return html.unescape(re.sub(r"&#([0-9]+);", lambda found: chr(int(found[1])), value))


def crawl(client: TestClient) -> Iterator[tuple[str, str]]:
    """Every page, by its links."""
    waiting, seen = ["/", "/table", "/?q=" + "a%E2%80%AE%07"], set()
    while waiting:
        address = waiting.pop()
        answer = client.get(address)
        if not answer.headers.get("content-type", "").startswith("text/html"):
            continue
        yield address, answer.text
        for link in map(html.unescape, re.findall(r'href="(/[^"#]*)', answer.text)):
            path = urlsplit(link).path
            if path not in seen and not path.startswith("/static/"):
                seen.add(path)
                waiting.append(link)


def test_no_page_says_a_name_with_hidden_characters_as_they_are(client: TestClient) -> None:
    found = dict(crawl(client))
    kinds = {re.sub(r"[0-9a-f]{14}[^/?]*", "*", urlsplit(address).path) for address in found}
    assert {"/", "/table", "/t/*", "/r/*", "/r/*/s", "/r/*/s/*", "/t/*/s/*", "/c"} <= kinds
    for address, page in found.items():
        # of C1 controls a form's value alone holds true ones: no number means them in HTML
        shown = re.sub(r' value="[^"]*"', "", page)
        assert not RAW.search(shown), (
            address,
            shown[max(0, RAW.search(shown).start() - 90) :][:99],
        )  # type: ignore[union-attr]
        assert not re.search("[\u202e\u0007\u001b\u2066]", page), address
        if urlsplit(address).path.startswith("/r/"):
            assert "U+202E" in page.partition("<title>")[2].partition("</title>")[0]
            assert "U+202E" in page.partition("<h1>")[2].partition("</h1>")[0]


def test_boxes_of_such_names_filter_by_what_they_are(client: TestClient) -> None:
    row = row_of(client, DEPTH.partition("@")[0], "classical" + TAIL)
    page = client.get(f"/r/{row.key}/s").text
    (box,) = re.findall(r'name="flag" value="([^"]*)"', page)
    # NUL alone cannot be said in HTML: a browser reads U+FFFD
    assert read_value(box) == "f" + TAIL
    (chip,) = re.findall(r'href="(/r/[^"]*flag=[^"]*)"', client.get(f"/r/{row.key}").text)
    assert ("flag", "f" + TAIL) in parse_qsl(urlsplit(html.unescape(chip)).query)
    whole = client.get(html.unescape(chip)).text
    assert f"{row.samples} of {row.samples} samples" in whole


def test_what_is_new_is_told_with_hidden_characters_shown(client: TestClient) -> None:
    row = row_of(client, DEPTH.partition("@")[0], "classical" + TAIL)
    told = client.get(f"/r/{row.key}/since/0").json()["samples"]
    assert told
    for one in told:
        assert not RAW.search(one["id"])
        assert "[U+202E]" in one["id"]


def test_templates_show_what_any_text_hides_and_leave_markup() -> None:
    template = environment().from_string(
        '<b title="{{ a }}">{{ a }}</b>{{ a|said }}<i id="{{ a|exact }}">{{ n }}{{ none }}</i>'
    )
    assert template.render(a="<\u202e\r", n=1.5) == (
        '<b title="&lt;[U+202E][U+000D]">&lt;[U+202E][U+000D]</b>'
        '<bdi>&lt;<span class="hidden-char">U+202E</span>'
        '<span class="hidden-char">U+000D</span></bdi>'
        '<i id="&lt;&#8238;&#13;">1.5None</i>'
    )
    assert read_value(exact('a"\u202e\u001b\u0085\r\n&')) == 'a"\u202e\u001b\u0085\r\n&'


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("{run}/s?page=" + NINES, 400),
        ("{run}/s?n=" + NINES + "&select=random:7", 400),
        ("{run}/s?select=random:" + NINES, 400),
        ("{run}/since/" + NINES, 400),
        ("{run}/since/x", 400),
        ("{sample}?a=" + NINES, 400),
        ("{sample}/" + NINES + "/thumb.webp", 404),
        ("{sample}/" + NINES + "/prediction.png", 404),
        ("{sample}/1/prediction/frame/" + NINES + ".webp", 404),
        ("{sample}/1/prediction/frame/" + "0" * 5000 + ".webp", 404),
        ("{sample}/1/prediction.png?lo=-1e308&hi=1e308", 400),
        ("{sample}/1/prediction.png?lo=0&hi=5e-324", 200),
        ("{sample}/1/prediction.png?lo=-1e30&hi=1e30", 200),
    ],
)
def test_numbers_that_nobody_means_are_refused(
    client: TestClient, address: str, status: int
) -> None:
    site = client.app.state.site  # type: ignore[attr-defined]
    row = row_of(client, DEPTH.partition("@")[0], "classical" + TAIL)
    sample = next(iter(site.index.all_samples(row)))
    given = address.format(run=f"/r/{row.key}", sample=f"/r/{row.key}/s/{sample.key}")
    answer = client.get(given)
    assert answer.status_code == status
    if status >= 400 and "select" not in address:  # a rule is shown as it was given
        assert "9" * 200 not in answer.text


def test_the_direction_box_says_what_its_sort_does(client: TestClient) -> None:
    row = row_of(client, DEPTH.partition("@")[0], "classical" + TAIL)

    def first(sort: str) -> str:
        page = client.get(f"/r/{row.key}/s?sort={sort}").text
        (words,) = re.findall(r'id="dir"[^>]*>\s*<option value="">([^<]*)', page)
        return str(words)

    assert first("") == "worst first"
    assert first("order") == first("id") == first("status") == "first to last"


def test_pages_tell_that_the_index_cannot_be_written(world: World, tmp_path: Path) -> None:
    found = run_of(world.results, DEPTH, "oracle")
    shutil.copytree(found, tmp_path / "results" / "runs" / "a")
    client = client_of(tmp_path / "results")
    assert "could not be written" not in client.get("/").text
    view = tmp_path / "results" / ".view"
    shutil.rmtree(view)
    view.write_text("in the way")
    for address in ("/", "/table"):
        page = client.get(address)
        assert page.status_code == 200
        assert f"the index could not be written: {view}" in page.text
    assert "oracle" in client.get("/").text
