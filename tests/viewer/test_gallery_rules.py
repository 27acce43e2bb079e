"""The gallery of a selection rule: which samples, in what order, how it is told and taken away."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import statistics
import sys
from pathlib import Path
from typing import Any

import pytest
from app_kit import client_of, labels, row_of, text_of
from results_kit import MANY_TASK, World
from starlette.testclient import TestClient
from vgen_eval.plugins import Catalog
from vgen_eval.results.reading import read_runs
from vgen_eval.viewer.choosing import candidates_of
from vgen_eval.viewer.records import CHOSEN, PAGE_SIZE, Query, RunRow
from vgen_eval.viewer.selection import choose
from vgen_eval.viewer.staging import links

sys.path.insert(0, str(Path(__file__).parent / "index"))
from indexkit import card_of, prediction, record_of, score, write_run

IDS = [f"s{at:02}" for at in range(90)]
HOLD = {at: {"good": (at * 37 % 90) / 90, "bad": (at * 53 % 90) / 90} for at in range(90)}


def write(
    folder: Path, name: str, *, model: str, values: dict[int, Any], created: str = ""
) -> None:
    """A complete run of `toys/depth` whose samples have these values."""
    lines = [score(IDS[at], found) for at, found in values.items()]
    record = record_of(IDS, model=f"vgen-eval:{model}")
    if created:
        record["created"] = created
    write_run(
        folder / "runs" / name,
        record,
        items=[
            {"id": one, "group": one, "tags": {"half": "even" if at % 2 == 0 else "odd"}}
            for at, one in enumerate(IDS)
        ],
        predictions=[prediction(IDS[at]) for at in values],
        scores=lines,
        card=card_of(lines, expected=len(IDS)),
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """Runs of `painter`, two of `other` of which the later is the reverse, one not complete."""
    folder = tmp_path_factory.mktemp("ruled") / "results"
    write(folder, "mine", model="painter", values=HOLD)
    reverse = {at: {"good": 1 - values["good"]} for at, values in HOLD.items()}
    write(folder, "early", model="other", values=HOLD, created="2026-01-01T00:00:00Z")
    write(folder, "late", model="other", values=reverse, created="2026-02-01T00:00:00Z")
    few = {at: {"good": 0.0} for at in range(5)}
    write(folder, "part", model="third-one", values=few, created="2026-03-01T00:00:00Z")
    return client_of(folder)


@pytest.fixture(scope="module")
def mine(made: TestClient) -> RunRow:
    return row_of(made, "toys/depth", "painter")


def get(client: TestClient, run: RunRow, *, status: int = 200, **query: Any) -> str:
    address = links.gallery(run, Query(**query))
    answer = client.get(address)
    assert answer.status_code == status, answer.text[:500]
    return answer.text


def ids(page: str) -> list[str]:
    return [label.partition(",")[0] for label in labels(page)]


def command(page: str, verb: str) -> list[str]:
    (found,) = re.findall(rf"<pre data-command[^>]*><bdi>(vgen-eval {verb} [^<]*)</bdi>", page)
    return shlex.split(found.replace("&lt;", "<").replace("&#39;", "'").replace("&gt;", ">"))


def test_it_shows_these_samples_in_the_order_of_the_rule(made: TestClient, mine: RunRow) -> None:
    page = get(made, mine, select="median:bad", n=7, sort="id")
    middle = statistics.median(values["bad"] for values in HOLD.values())
    near = sorted(HOLD, key=lambda at: (abs(HOLD[at]["bad"] - middle), at))
    assert ids(page) == [IDS[at] for at in near[:7]]
    text = text_of(page)
    assert "7 of 90 samples" in text
    assert "7 samples nearest the median bad (0.494) of painter, of 90 samples; ties by id" in text
    assert f"bad {HOLD[near[0]]['bad']:.3g}" in labels(page)[0]


def test_without_a_number_it_takes_as_many_as_a_report(made: TestClient, mine: RunRow) -> None:
    assert len(ids(get(made, mine, select="worst:primary"))) == CHOSEN


def test_more_than_a_page_holds_go_on_to_the_next(made: TestClient, mine: RunRow) -> None:
    both = [ids(get(made, mine, select="random:3", n=75, page=page)) for page in (1, 2)]
    assert [len(page) for page in both] == [PAGE_SIZE, 15]
    assert len(set(both[0] + both[1])) == 75
    assert ids(get(made, mine, select="random:3", n=4)) == both[0][:4]


def test_the_rule_looks_at_what_the_filters_leave(made: TestClient, mine: RunRow) -> None:
    page = get(made, mine, select="top:good", n=5, tag=("half=odd",))
    odd = sorted((at for at in HOLD if at % 2), key=lambda at: -HOLD[at]["good"])
    assert ids(page) == [IDS[at] for at in odd[:5]]
    assert "The filters were applied first: the rule looked at the 45" in text_of(page)
    words = command(page, "report")
    assert "--select" not in words
    assert [words[at + 1] for at, word in enumerate(words) if word == "--sample"] == ids(page)


def test_another_model_is_its_newest_complete_run(made: TestClient, mine: RunRow) -> None:
    page = get(made, mine, select="worst:good@other", n=3)
    assert ids(page) == [IDS[at] for at in sorted(HOLD, key=lambda at: -HOLD[at]["good"])[:3]]
    assert "with other (runs/late) , the newest complete run" in text_of(page)
    ahead = ids(get(made, mine, select="advantage:other-painter", n=2))
    assert ahead == [IDS[at] for at in sorted(HOLD, key=lambda at: HOLD[at]["good"])[:2]]
    assert command(page, "figure")[2:4] == ["runs/mine", "runs/late"]


def test_a_model_without_a_complete_run_is_refused(made: TestClient, mine: RunRow) -> None:
    page = get(made, mine, status=400, select="advantage:painter-third-one")
    assert "no complete run of a model &#39;third-one&#39; of toys/depth@standard" in page
    assert "one of: other, painter" in text_of(page)


@pytest.mark.parametrize(
    ("rule", "said"),
    [("wurst:good", "Nearest: worst"), ("median:gud", "Nearest: good"), ("top:", "is missing"),
     ("good>=7", "finds none of 90 samples"), ("decides", "one run decides no ranking"),
     ("best-of:othr", "Nearest: other"), ("ids:nobody", "no sample &#39;nobody&#39;")],
)  # fmt: skip
def test_a_wrong_rule_is_answered_in_the_form(
    made: TestClient, mine: RunRow, rule: str, said: str
) -> None:
    page = get(made, mine, status=400, select=rule, q="s")
    text = text_of(page)
    assert said in text
    assert "--select" not in text
    assert labels(page) == []
    assert 'aria-invalid="true"' in page
    (box,) = re.findall(r'<input type="search" id="select"[^>]*>', page)
    assert f'value="{rule.replace(">", "&gt;")}"' in box
    assert 'href="' + links.gallery(mine, Query(q="s")) + '"' in page


def test_filters_that_leave_nothing_for_a_rule_are_told(made: TestClient, mine: RunRow) -> None:
    text = text_of(get(made, mine, status=400, select="random:1", q="zzz"))
    assert "take a filter away" in text


def test_a_number_that_is_none_is_refused(made: TestClient, mine: RunRow) -> None:
    for n in ("0", "x", "-1", "100001", "²"):
        answer = made.get(f"/r/{mine.slug}/s", params={"select": "random:1", "n": n})
        assert answer.status_code == 400
        assert "no number of samples" in answer.text


def test_the_rule_is_a_chip_and_a_field_of_the_form(made: TestClient, mine: RunRow) -> None:
    page = get(made, mine, select="bad<=.5", n=3, q="s")
    chips = page.partition('class="chips"')[2].partition("</ul>")[0]
    assert "rule bad&lt;=.5, 3 at most" in chips
    assert links.gallery(mine, Query(q="s")) in chips
    assert links.gallery(mine) + '">Clear all' in chips
    sent = made.get(f"/r/{mine.slug}/s?sort=&low=&high=&q=&select=bad%3C%3D.5&n=3")
    assert sent.headers["location"] == f"/r/{mine.slug}/s?select=bad%3C=.5&n=3"
    bare = made.get(f"/r/{mine.slug}/s?low=&high=&select=&n=3")
    assert bare.headers["location"] == f"/r/{mine.slug}/s"


def test_the_sample_page_walks_the_chosen(made: TestClient, mine: RunRow) -> None:
    asked = Query(select="median:bad", n=3)
    index = made.app.state.site.index  # type: ignore[attr-defined]
    rows, total = index.samples(mine, asked)
    assert total == 3
    page = made.get(links.sample(mine, rows[1], asked)).text
    assert "2 of 3" in text_of(page)
    for rel, row in (("prev", rows[0]), ("next", rows[2])):
        (href,) = re.findall(rf'rel="{rel}" data-carry href="([^"]*)"', page)
        assert href.replace("&amp;", "&") == links.sample(mine, row, asked)
    outside = next(row for row in index.all_samples(mine) if row.id not in {r.id for r in rows})
    assert "not in the filtered list of 3" in made.get(links.sample(mine, outside, asked)).text


@pytest.mark.parametrize("rule", ["median:mae", "worst:primary", "advantage:near-hostile",
                                  "random:11", "top:mae:q=.5:per-tag=half", "mae<=1"])  # fmt: skip
def test_it_takes_what_the_report_of_its_command_takes(world: World, rule: str) -> None:
    client = client_of(world.results, data_root=world.data)
    run = row_of(client, MANY_TASK, "near")
    page = get(client, run, select=rule, n=9)
    words = command(page, "report")
    paths = [world.results / word for word in words[2 : words.index("--select")]]
    catalog = Catalog.discover()
    runs, faults = read_runs(paths, catalog)
    assert faults == []
    given = dict(itertools.pairwise(words))
    wanted = choose(given["--select"], candidates_of(runs, catalog), int(given["-n"]))
    index = client.app.state.site.index  # type: ignore[attr-defined]
    chosen = index.selection(run, Query(select=rule, n=9))
    assert chosen.selection.ids == wanted.ids
    assert chosen.selection.words == wanted.words
    assert chosen.selection.numbers == pytest.approx(wanted.numbers)
    assert len(labels(page)) == len(wanted.ids)


def test_a_rule_and_what_it_names_are_inert(made: TestClient, mine: RunRow) -> None:
    evil = '"><script>alert(1)</script>'
    page = get(made, mine, status=400, select=f"median:{evil}")
    assert evil not in page
    assert "<script>alert" not in page


def test_a_selection_is_made_again_when_the_run_changes(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    write(folder, "mine", model="painter", values={at: HOLD[at] for at in range(40)})
    client = client_of(folder)
    run = row_of(client, "toys/depth", "painter")
    index = client.app.state.site.index  # type: ignore[attr-defined]
    assert index.samples(run, Query(select="worst:good", n=1))[0][0].id == IDS[0]
    (journal,) = (folder / "runs" / "mine" / "scores").glob("*.jsonl")
    with journal.open("a") as lines:
        lines.write(json.dumps(score(IDS[77], {"good": -1.0, "bad": 0.5})) + "\n")
    index.refresh(0)
    assert index.samples(run, Query(select="worst:good", n=1))[0][0].id == IDS[77]
