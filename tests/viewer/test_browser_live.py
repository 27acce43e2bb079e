"""A run that is being written: it is told as it goes, and the list never moves under the reader."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_kit import Server, page_of, raw, serve, shoot
from results_kit import MANY, MANY_TASK, run_of

BEGUN = 40
WRITER = """
import sys
from pathlib import Path
from vgen_eval import jsonio
from vgen_eval.store.run import RunStore

store, rest, digest = RunStore(Path(sys.argv[1])), Path(sys.argv[2]), sys.argv[3]
store.lock()
lines = [[jsonio.loads(line) for line in (rest / name).read_bytes().splitlines()]
         for name in ("predictions.jsonl", "scores.jsonl")]
print("ready", flush=True)
for order in sys.stdin:
    for _ in range(int(order)):
        store.append_prediction(lines[0].pop(0))
        store.append_score(digest, lines[1].pop(0))
    print("done", flush=True)
"""


class Writer:
    """A process that holds a run's lock and writes lines when it is told to."""

    def __init__(self, run: Path, rest: Path) -> None:
        (scores,) = (run / "scores").glob("*.jsonl")
        self._process = subprocess.Popen(
            [sys.executable, "-c", WRITER, run, rest, scores.stem],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip
        try:
            self._hear("ready")
        except AssertionError:
            self.end()
            raise

    def write(self, lines: int) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{lines}\n")
        self._hear("done")

    def _hear(self, word: str) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline().strip() == word

    def end(self) -> None:
        """It goes as a killed one does: its lock goes with it."""
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def writer(results: Path, tmp_path: Path) -> Iterator[Writer]:
    """A run of 130 samples of which 40 are there, its lock held by another process."""
    source = run_of(results, MANY_TASK, "near")
    run, rest = tmp_path / "results" / "runs" / "near", tmp_path / "rest"
    shutil.copytree(source, run)
    rest.mkdir()
    for name in ("result_card.json", "result_card.md", "lock"):
        (run / name).unlink()
    (scores,) = (run / "scores").glob("*.jsonl")
    for path in (run / "predictions.jsonl", scores):
        lines = path.read_text().splitlines(keepends=True)
        lines.sort(key=lambda line: json.loads(line)["sample"])  # both in one order
        path.write_text("".join(lines[:BEGUN]))
        name = "scores.jsonl" if path == scores else path.name
        (rest / name).write_text("".join(lines[BEGUN:]))
    found = Writer(run, rest)
    yield found
    found.end()


@pytest.fixture
def live(writer: Writer, tmp_path: Path) -> Iterator[Server]:
    with serve(tmp_path / "results") as found:
        yield found


def test_a_running_run_is_told_as_it_goes(page: Any, live: Server, writer: Writer) -> None:
    page.goto(live.url + "/")
    body = page.locator("main")
    assert "running" in body.inner_text().lower()
    assert f"{BEGUN} of {MANY}" in body.inner_text()
    gallery = page_of(live, MANY_TASK, "near", rest="?sort=order")
    page.goto(gallery)
    assert page.locator("#found").inner_text() == f"{BEGUN} of {MANY} samples so far"
    before = page.locator(".cards a").evaluate_all("all => all.map(a => a.href)")
    assert page.locator("[data-live-count]").first.inner_text() == f"{BEGUN} of {MANY}"
    writer.write(5)
    fresh = page.locator("[data-live-new]").first
    fresh.wait_for(state="visible")
    assert "5 new" in fresh.inner_text()
    assert page.locator("[data-live-count]").first.inner_text() == f"{BEGUN + 5} of {MANY}"
    # nothing moved
    assert page.locator(".cards a").evaluate_all("all => all.map(a => a.href)") == before
    shoot(page, "live", whole=False)
    writer.write(7)
    page.wait_for_function(
        "() => [...document.querySelectorAll('[data-live-new]')]"
        ".some(one => one.textContent.includes('12 new'))"
    )
    fresh.click()
    page.wait_for_load_state()
    assert page.locator(f"text={BEGUN + 12} of {MANY}").first.is_visible()
    # not asked for yet: a card of its own look, and a page that says so
    page.goto(page_of(live, MANY_TASK, "near", "s129"))
    assert re.search(r"not run|running|not.*yet", page.locator("main").inner_text(), re.IGNORECASE)


def test_a_run_whose_writer_died_has_ended_early(page: Any, live: Server, writer: Writer) -> None:
    page.goto(page_of(live, MANY_TASK, "near"))
    assert page.locator("[data-live-box]").is_visible()
    writer.end()
    page.wait_for_function(
        "() => !document.querySelector('[data-live-word]').textContent.includes('running')"
    )
    # what says so has the sign of it, too
    mark = page.locator("[data-live-mark]")
    assert mark.inner_text().split() == ["■", "stopped"]
    assert mark.get_attribute("class") == "mark mark-stopped"
    page.reload()
    assert "▶" not in page.locator("body").inner_text()
    text = page.locator("main").inner_text()
    assert f"{BEGUN} of {MANY}" in text
    assert "stopped" in text
    assert re.search(r"again|resume|goes on", text)


def test_the_page_of_a_sample_tells_of_its_own_answer(
    page: Any, live: Server, writer: Writer, tmp_path: Path
) -> None:
    lines = (tmp_path / "rest" / "predictions.jsonl").read_text().splitlines()
    first, second = (json.loads(line)["sample"] for line in lines[:2])
    page.goto(page_of(live, MANY_TASK, "near", second))
    writer.write(1)
    page.wait_for_timeout(4500)
    assert not page.locator("[data-live-new]").is_visible(), first
    writer.write(1)
    link = page.locator("[data-live-new]")
    link.wait_for(state="visible")
    assert link.inner_text() == "answered: show"
    link.click()
    page.wait_for_load_state()
    assert "not run yet" not in page.locator("main").inner_text()


def count_saying(page: Any, words: str) -> None:
    """Counts in `window.said` how often the page announces the words from now on."""
    page.evaluate(
        """words => {
          window.said = 0;
          const place = document.getElementById('announce');
          new MutationObserver(() => (window.said += place.textContent.includes(words)))
            .observe(place, {childList: true});
        }""",
        words,
    )


@pytest.fixture
def still(results: Path, tmp_path: Path) -> Iterator[tuple[Server, Path]]:
    """A finished run of the test's own, and its server."""
    run = tmp_path / "results" / "runs" / "near"
    shutil.copytree(run_of(results, MANY_TASK, "near"), run)
    with serve(tmp_path / "results") as found:
        yield found, run


@pytest.mark.parametrize("sample", ["", "s012"])
def test_a_page_says_once_that_its_run_is_gone(
    page: Any, faults: Any, still: tuple[Server, Path], sample: str
) -> None:
    server, run = still
    page.goto(page_of(server, MANY_TASK, "near", sample))
    count_saying(page, "gone")
    shutil.rmtree(run)
    faults.expected += ["status of 404", "status of 409"]  # what was on its way, too
    page.locator("[data-live-box]", has_text="This run is gone").wait_for(state="visible")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_timeout(500)
    assert page.evaluate("window.said") == 1
    assert len([one for one in faults.seen if "/since/" in one]) == 1


def test_scores_that_were_made_anew_are_told(page: Any, still: tuple[Server, Path]) -> None:
    server, run = still
    page.goto(page_of(server, MANY_TASK, "near"))
    before = page.locator(".cards a").evaluate_all("all => all.map(a => a.href)")
    (scores,) = (run / "scores").glob("*.jsonl")
    beside = scores.with_suffix(".new")
    beside.write_text(scores.read_text().replace('"mae":2.0', '"mae":3.0'))
    beside.replace(scores)
    link = page.locator("[data-live-new]")
    link.wait_for(state="visible")
    assert link.inner_text() == "scored again: show"
    assert page.locator(".cards a").evaluate_all("all => all.map(a => a.href)") == before
    link.click()
    page.wait_for_load_state()
    assert page.locator(".cards .score").first.inner_text() == "3"


def test_what_is_new_is_asked_for_cheaply(live: Server, writer: Writer) -> None:
    run = live.site.index.runs()[0]
    _, mark = live.site.index.newest(run, 0)
    writer.write(3)
    time.sleep(2.1)  # the index looks at its files every two seconds
    status, headers, body = raw(live, f"/r/{run.key}/since/{mark}")
    assert status == 200
    assert headers["content-type"] == "application/json"
    assert b'"fresh":3' in body.replace(b" ", b"")
    assert len(body) < 4000
