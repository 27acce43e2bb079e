"""The viewer's index over 200 runs and 200,000 samples, made up after the files of a real run."""

from __future__ import annotations

import copy
import html
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from figures import ROUNDS, Measure, peak_mb, report, seconds
from vgen_eval.store.run import RunStore

TASK, MODEL = "samples/depth", "classical"
RUNS = int(os.environ.get("RUNS", "200"))
SAMPLES = int(os.environ.get("SAMPLES", "200000"))
MODELS = 20
LARGEST = int(os.environ.get("LARGEST", str(SAMPLES // 20)))
"""Samples of one run, ten times the others': figures of a page are that run's."""
STATUSES = {"ok": 0.94, "refused": 0.03, "undecodable": 0.02, "error": 0.01}

PICTURES = tuple(
    f"samples/{name}" for name in ("depth", "normals", "semantic", "referring", "counting")
)
BROWSED = ("oracle", "classical", "blind")
READERS = 6
START_S, PAGE_S, MEMORY_MB = 2.0, 0.5, 300


class Template:
    """The files of one real run, of which others are made."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self.record = json.loads((run / "run.json").read_bytes())
        self.card = json.loads((run / "result_card.json").read_bytes())
        self.items = _lines(run / "samples.jsonl")
        self.predictions = _lines(run / "predictions.jsonl")
        self.scores = _lines(run / "scores" / f"{self.record['score_digest']}.jsonl")

    def write(
        self, results: Path, *, model: str, task: str, samples: int, seed: int, sealed: bool
    ) -> None:
        """A run of that many samples: ids its task's, numbers and statuses drawn by the seed.

        `sealed`: its card names its lines, as those do that are compared.
        """
        drawn = random.Random(seed)
        folder = results / "runs" / model / task / f"{seed:012x}"
        (folder / "scores").mkdir(parents=True)
        ids = [f"{task.partition('@')[0].rpartition('/')[2]}-{at:06}" for at in range(samples)]
        states = drawn.choices(list(STATUSES), list(STATUSES.values()), k=samples)
        items, predictions, scores = [], [], []
        for at, (name, status) in enumerate(zip(ids, states, strict=True)):
            kind = at % len(self.items)
            items.append({**self.items[kind], "id": name, "group": name})
            predictions.append(self._prediction(kind, name, status))
            scores.append(self._score(kind, name, status, drawn))
        drawn.shuffle(predictions)  # in the order in which they end
        digest = self.record["score_digest"]
        _write_lines(folder / "samples.jsonl", items)
        _write_lines(folder / "predictions.jsonl", predictions)
        _write_lines(folder / "scores" / f"{digest}.jsonl", scores)
        record = {
            **self.record, "run": folder.name, "task": task, "model": f"vgen-eval:{model}",
            "samples": ids,
        }  # fmt: skip
        (folder / "run.json").write_text(json.dumps(record, indent=2))
        card = self._card(Counter(states), drawn.random())
        card |= {"run": str(folder.relative_to(results)), "model": model}
        card["task"], card["protocol"] = task.split("@")
        if sealed:
            card["content_digest"] = RunStore(folder).content_digest(digest)
        (folder / "result_card.json").write_text(json.dumps(card, indent=2))
        if (self.run / "outputs").is_dir():
            (folder / "outputs").symlink_to(_kept_once(self.run, results))

    def _prediction(self, kind: int, name: str, status: str) -> dict[str, Any]:
        line = {**self.predictions[kind], "sample": name}
        if status in ("refused", "error"):
            line["status"], line["reason"] = status, f"{status}: so it was told"
            del line["answer"]
        return line

    def _score(self, kind: int, name: str, status: str, drawn: random.Random) -> dict[str, Any]:
        line = {**self.scores[kind], "sample": name, "status": status}
        if status == "error":
            return {key: line[key] for key in ("sample", "attempt", "of", "status")}
        line["values"] = {
            key: None if value is None else drawn.random() for key, value in line["values"].items()
        }
        if status != "ok":
            line |= {"substitute": True, "reason": f"{status}: so it was told"}
        elif drawn.random() < 0.1:
            line["flags"] = [drawn.choice(["inverted", "constant", "copied_input"])]
        return line

    def _card(self, states: Counter[str], value: float) -> dict[str, Any]:
        card = copy.deepcopy(self.card)
        bad, failed = states["error"], states["refused"] + states["undecodable"]
        total = states.total()
        card["counts"] |= {
            "expected": total, "answered": states["ok"], "model_failure": failed,
            "infrastructure": bad, "statuses": dict(states),
        }  # fmt: skip
        card["complete"] = not bad
        for score in card["scores"]:
            score |= {"value": value, "n": total}
            score["ci95"] |= {"low": value - 0.01, "high": value + 0.01, "reason": None}
        return card


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def _write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    with path.open("w") as file:
        for line in lines:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def _kept_once(run: Path, results: Path) -> Path:
    """The template's answers, below the results folder."""
    place = results / "answers"
    if not place.exists():
        place.mkdir()
        for file in (run / "outputs").iterdir():
            (place / file.name).write_bytes(file.read_bytes())
    return place


def make_results(folder: Path) -> Path:
    """A results folder of RUNS runs and SAMPLES samples; its template is evaluated first."""
    from vgen_eval import evaluate

    (card,) = evaluate(tasks=TASK, model=MODEL, output=str(folder / "template"), bounds=False)
    template = Template(folder / "template" / card.run)
    results = folder / "results"
    tasks = -(-RUNS // MODELS)
    each, rest = divmod(SAMPLES - LARGEST, RUNS - 1)
    for number in range(RUNS):
        template.write(
            results,
            model=f"model{number // tasks:02}",
            task=f"made-up/task{number % tasks:02}@standard",
            samples=LARGEST if number == 0 else each + (number <= rest),
            seed=number,
            sealed=number % tasks == 0,
        )
    return results


def make_pictures(folder: Path) -> Path:
    """A results folder of real runs over pictures and maps."""
    from vgen_eval import evaluate

    results = folder / "pictures"
    evaluate(tasks=PICTURES, models=BROWSED, output=str(results), bounds=False)
    return results


def start(results: Path) -> dict[str, float]:
    """What a fresh process pays until the first page of samples is there; its memory after that.

    The imports of the viewer's pages are not in it.
    """
    begun = time.perf_counter()
    from vgen_eval.viewer.index import Index
    from vgen_eval.viewer.records import Query

    index = Index(results)
    index.refresh()
    run = max(index.runs(), key=lambda row: row.samples)
    rows, total = index.samples(run, Query())
    taken = time.perf_counter() - begun
    if total != run.samples or not rows:
        raise SystemExit(f"{run.path}: {total} of its {run.samples} samples are in the index")
    return {"start_s": taken, "peak_mb": peak_mb()}


def build(results: Path) -> dict[str, float]:
    """What a fresh process pays where there is no index."""
    from vgen_eval.viewer.index import Index

    begun = time.perf_counter()
    index = Index(results)
    index.refresh()
    if len(index.runs()) != RUNS:
        raise SystemExit(f"{len(index.runs())} of {RUNS} runs are in the index")
    return {"build_s": time.perf_counter() - begun, "peak_mb": peak_mb()}


def questions(results: Path) -> Iterator[tuple[str, Measure]]:
    """First pages: each is asked of an Index that has answered nothing yet."""
    from vgen_eval.viewer.index import Index
    from vgen_eval.viewer.records import Query, RunRow

    known = Index(results)
    known.refresh()
    run = max(known.runs(), key=lambda row: row.samples)
    other = next(row for row in known.runs() if row.task == run.task and row.key != run.key)
    rows, total = known.samples(run, Query())
    sample, last = rows[-1], -(-total // 60)

    def fresh(work: Callable[[Index, RunRow], object]) -> Measure:
        def measure() -> float:
            index = Index(results)
            row = index.run(run.key)
            assert row is not None
            return seconds(lambda: work(index, row))()

        return measure

    every = {
        "runs": lambda index, _: index.runs(),
        "cards of a task": lambda index, row: [
            index.card(each) for each in index.runs() if each.task == row.task
        ],
        "samples, worst first": lambda index, row: index.samples(row, Query()),
        "samples, last page": lambda index, row: index.samples(row, Query(page=last)),
        "samples, by another value": lambda index, row: index.samples(row, Query(sort="rmse")),
        "samples, filtered": lambda index, row: index.samples(
            row, Query(status=("ok",), flag=("inverted",), score=".2~.5", q="7", sort="id")
        ),
        "facets": lambda index, row: index.facets(row),
        "a sample's place": lambda index, row: index.walk(row, Query(), sample.slug),
        "all models on a sample": lambda index, row: index.models(row.task, sample.key),
        "pairs by difference": lambda index, row: index.pair(row, other, Query()),
        "newest": lambda index, row: index.newest(row, 0),
        "nothing changed": lambda index, _: index.refresh(0),
    }
    for name, work in every.items():
        yield f"index: {name}", fresh(work)


def addresses_of(results: Path) -> dict[str, str]:
    """Name and address of a page of each kind; none without `[view]`."""
    try:
        import starlette.testclient  # noqa: F401
    except (ImportError, RuntimeError):
        return {}
    from vgen_eval.viewer.index import Index
    from vgen_eval.viewer.records import Query

    index = Index(results)
    index.refresh()
    run = max(index.runs(), key=lambda row: row.samples)
    other = next(row for row in index.runs() if row.task == run.task and row.key != run.key)
    sample = index.samples(run, Query())[0][0]
    return {
        "runs": "/",
        "leaderboard": f"/t/{run.task_slug}",
        "run": f"/r/{run.slug}",
        "gallery": f"/r/{run.slug}/s",
        "gallery, filtered": f"/r/{run.slug}/s?status=ok&score=.2~.5&sort=rmse",
        "sample": f"/r/{run.slug}/s/{sample.slug}",
        "sample, all models": f"/t/{run.task_slug}/s/{sample.slug}",
        "compare": f"/c?runs={run.key},{other.key}",
        "watching": f"/r/{run.slug}/since/0",
    }


def client_of(results: Path) -> Callable[[str], Any]:
    """What asks a site, opened now, for an address."""
    from starlette.testclient import TestClient
    from vgen_eval.viewer.app import make_app
    from vgen_eval.viewer.site import Site
    from vgen_eval.viewer.warming import load_ahead

    site = Site.open(results)
    load_ahead(site).join()  # as the server does meanwhile
    client = TestClient(make_app(site), base_url="http://127.0.0.1:8765")

    def get(address: str) -> Any:
        answer = client.get(address)
        if answer.status_code != 200:
            raise SystemExit(f"{address}: {answer.status_code}\n{answer.text[:2000]}")
        return answer

    return get


def pages(results: Path) -> Iterator[tuple[str, Measure]]:
    """The app's pages, each the first that a new site is asked for."""

    def first(address: str) -> Measure:
        def measure() -> float:
            get = client_of(results)
            return seconds(lambda: get(address))()

        return measure

    for name, address in addresses_of(results).items():
        yield f"page: {name}", first(address)


def visit(results: Path) -> dict[str, float]:
    """Memory of a fresh process that served every page once, and how long its test took."""
    addresses = addresses_of(results)
    taken = 0.0
    if addresses:
        get = client_of(results)
        for address in addresses.values():
            get(address)
        begun = time.perf_counter()
        while "refresh" in get(addresses["compare"]).headers:
            time.sleep(0.2)
        taken = time.perf_counter() - begun
    return {"peak_mb": peak_mb(), "test_s": taken}


def browse(results: Path) -> dict[str, float]:
    """Memory of a fresh process after six readers went through many pictures of many runs."""
    from vgen_eval.viewer.index import Index
    from vgen_eval.viewer.memory import keep_small
    from vgen_eval.viewer.records import Query

    if not addresses_of(results):
        return {"after_mb": 0.0, "asked": 0.0}
    keep_small()  # as the verb does
    index = Index(results)
    index.refresh()
    get = client_of(results)

    def look(address: str) -> int:
        found = re.findall(r'"(/r/[^" ]+\.(?:png|field|webp)[^" ]*)', get(address).text)
        for each in dict.fromkeys(map(html.unescape, found)):
            get(each)
        return len(found)

    pages = [
        f"/r/{run.slug}/s/{row.slug}"
        for run in index.runs()
        for row in index.samples(run, Query())[0]
    ]
    with ThreadPoolExecutor(READERS) as readers:
        asked = sum(readers.map(look, pages))
    status = Path("/proc/self/status").read_text()
    after = re.search(r"VmRSS:\s+(\d+)", status)
    return {"after_mb": int(after[1]) / 1024 if after else 0.0, "asked": float(asked)}


def apart(word: str, results: Path) -> dict[str, float]:
    """`start`, `build`, `visit` or `browse` in a process of its own."""
    command = [sys.executable, __file__, word, str(results)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    if len(sys.argv) == 3:
        work = {"start": start, "build": build, "visit": visit, "browse": browse}[sys.argv[1]]
        print(json.dumps(work(Path(sys.argv[2]))))
        return
    with tempfile.TemporaryDirectory() as name:
        results = make_results(Path(name))
        size = f"{RUNS} runs, {SAMPLES:,} samples"
        built = apart("build", results)
        report(f"index built, {size}", built["build_s"], " s")
        report("memory of that", built["peak_mb"], " MB", most=MEMORY_MB)
        file = results / ".view" / "index.sqlite"
        report("index file", file.stat().st_size / 2**20, " MB")
        started = [apart("start", results) for _ in range(ROUNDS)]
        taken = statistics.median(each["start_s"] for each in started)
        report("start when indexed, first page of samples", taken, " s", most=START_S)
        report("memory of that", max(each["peak_mb"] for each in started), " MB", most=MEMORY_MB)
        for question, measure in (*questions(results), *pages(results)):
            taken = statistics.median(measure() for _ in range(ROUNDS))
            report(question, taken, " s", most=PAGE_S)
        visited = apart("visit", results)
        report("until a comparison's test is there", visited["test_s"], " s")
        report("memory after every page", visited["peak_mb"], " MB", most=MEMORY_MB)
        browsed = apart("browse", make_pictures(Path(name)))
        report("pictures and maps, six at a time", browsed["asked"], "")
        report("memory after that", browsed["after_mb"], " MB", most=MEMORY_MB)


if __name__ == "__main__":
    main()
