"""Killed at any moment, a run goes on where it was and ends as if nothing had happened."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import kit
import pytest
from vgen_eval.errors import RunLocked
from vgen_eval.store.run import RunStore

SAMPLES, ATTEMPTS = 24, 2
SIZE = SAMPLES * ATTEMPTS
OPTIONS = {"off_by_attempt": 1, "nothing": ["s003"], "refuse": ["s005", "s011"]}
PROTOCOL = {"answers": [kit.IMAGE]}

CHILD = """
import sys
import toybench.parts, vgen_eval
task, model, output, toybench.parts.Teller.pause_s, toybench.parts.Error.delay_s = (
    *sys.argv[1:4], float(sys.argv[4]), float(sys.argv[5]))
vgen_eval.evaluate(tasks=task, model=model, output=output, bounds=False, attempts=2, workers=2)
"""


def count_lines(folder: Path, pattern: str) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob(pattern))


def phase_of(run: Path) -> str:
    """What a run that was killed was doing: an answer was on disk without its score, or not."""
    written = count_lines(run, "predictions.jsonl")
    return "scoring" if written > count_lines(run, "scores/*.jsonl") else "generating"


def test_twenty_kills_lose_nothing_and_change_nothing(toys: Path) -> None:
    cards = (
        kit.task(toys, n=SAMPLES, protocol=PROTOCOL),
        kit.model(toys, card={"answers": ["image"]}, **OPTIONS),
    )
    arguments = {"tasks": cards[0], "model": cards[1], "attempts": ATTEMPTS}
    (toys / "whole").mkdir()
    whole = kit.run(toys / "whole", workers=1, **arguments)
    assert whole.counts.expected == SIZE == len(kit.predictions(toys / "whole", whole))

    rng = random.Random(20)
    phases = []
    for chain, paces in enumerate(((0.012, 0.0), (0.0, 0.03), (0.012, 0.0), (0.0, 0.03))):
        folder = toys / f"chain{chain}"
        run = folder / "out" / whole.run
        for moment in sorted(rng.sample(range(1, SIZE - 4), 5)):
            kill_at(run, moment, folder, cards, paces, pause_s=rng.uniform(0, 0.012), site=toys)
            phases.append(phase_of(run))
        kept = (run / "predictions.jsonl").read_bytes()
        again = kit.run(folder, workers=4, **arguments)
        after = (run / "predictions.jsonl").read_bytes()
        assert after.startswith(kept[: kept.rfind(b"\n") + 1])
        assert after.count(b"\n") == SIZE
        assert again.content_digest == whole.content_digest
        assert kit.settled(folder, again) == kit.settled(toys / "whole", whole)
        assert again.complete
    assert len(phases) == 20
    assert phases.count("generating") >= 4, phases
    assert phases.count("scoring") >= 4, phases


def kill_at(
    run: Path, moment: int, folder: Path, cards: tuple[str, str], paces: tuple[float, float], *,
    pause_s: float, site: Path,
) -> None:  # fmt: skip
    """Goes on with the run in a child and kills it once `moment` lines are there."""
    process = kit.child(CHILD, *cards, folder / "out", *paces, site=site / "site")
    assert process.stderr is not None
    deadline = time.monotonic() + 30
    while count_lines(run, "predictions.jsonl") < moment:
        assert process.poll() is None, process.stderr.read().decode()
        assert time.monotonic() < deadline
        time.sleep(0.001)
    time.sleep(pause_s)
    process.kill()
    assert process.wait(10) == -9
    process.stderr.close()


@pytest.mark.parametrize("at_once", [1, 4])
@pytest.mark.parametrize("batch", [1, 5])
def test_workers_batches_and_calls_at_once_change_nothing(
    toys: Path, monkeypatch: pytest.MonkeyPatch, at_once: int, batch: int
) -> None:
    from toybench.parts import Teller

    task = kit.task(toys, n=SAMPLES, protocol=PROTOCOL)
    model = kit.model(toys, card={"answers": ["image"]}, **OPTIONS)
    digests = {kit.run(toys / "plain", tasks=task, model=model, attempts=2).content_digest}
    build = Teller.__init__

    def shaped(self: Teller, *a: Any, **k: Any) -> None:
        build(self, *a, **k)
        self.max_batch, self.concurrency = batch, at_once

    monkeypatch.setattr(Teller, "__init__", shaped)
    for workers in (1, 4):
        folder = toys / f"w{workers}"
        card = kit.run(folder, tasks=task, model=model, attempts=2, workers=workers)
        digests.add(card.content_digest)
        assert card.counts.statuses == {"no_answer": 2, "ok": 42, "refused": 4}
    assert len(digests) == 1


def test_a_torn_line_a_damaged_line_and_a_lost_answer_are_made_again(
    toys: Path, caplog: pytest.LogCaptureFixture
) -> None:
    arguments = {
        "tasks": kit.task(toys, protocol=PROTOCOL),
        "model": kit.model(toys, card={"answers": ["image"]}),
    }
    card = kit.run(toys, **arguments)
    whole = kit.settled(toys, card)
    folder = kit.run_folder(toys, card)
    assert sorted(kit.asked()) == [(f"s{n:03d}", 0) for n in range(6)]

    lines = (folder / "predictions.jsonl").read_bytes().splitlines(keepends=True)
    by_sample = {kit.strict(line)["sample"]: n for n, line in enumerate(lines)}
    lines[by_sample["s001"]] = b"\x00" * 40 + b"\n"
    (folder / "predictions.jsonl").write_bytes(b"".join(lines) + b'{"sample": "s00')
    (score_file,) = (folder / "scores").glob("*.jsonl")
    scores = score_file.read_bytes().splitlines(keepends=True)
    lost = [line for line in scores if b'"s004"' not in line]  # scored before its answer was lost
    score_file.write_bytes(b"".join(lost))
    (found,) = [r for r in kit.predictions_tolerant(folder) if r["sample"] == "s004"]
    (folder / "outputs" / found["answer"]["file"]).unlink()

    again = kit.run(toys, **arguments)
    assert sorted(kit.asked()) == [("s001", 0), ("s004", 0)]
    assert kit.settled(toys, again) == whole
    assert "damaged line" in caplog.text


def test_an_answer_without_its_score_is_scored_without_a_call(toys: Path) -> None:
    arguments = {"tasks": kit.task(toys), "model": kit.model(toys)}
    card = kit.run(toys, **arguments)
    whole = kit.settled(toys, card)
    (score_file,) = (kit.run_folder(toys, card) / "scores").glob("*.jsonl")
    score_file.unlink()
    kit.asked()
    again = kit.run(toys, **arguments)
    assert kit.asked() == []
    assert kit.settled(toys, again) == whole


def test_nothing_of_a_foreign_scores_line_is_believed(toys: Path) -> None:
    """A score that was made of another answer than the one that is there now is made again."""
    arguments = {"tasks": kit.task(toys), "model": kit.model(toys)}
    card = kit.run(toys, **arguments)
    (score_file,) = (kit.run_folder(toys, card) / "scores").glob("*.jsonl")
    records = kit.lines(score_file)
    for record in records:
        record["of"], record["values"] = "ok:" + "0" * 64, {"mae": 99.0, "rmse": 99.0}
    score_file.write_text("".join(f"{json.dumps(r)}\n" for r in records))
    again = kit.run(toys, **arguments)
    assert again.score("mae").value == 0
    assert again.content_digest == card.content_digest


def test_two_evaluations_into_one_run_at_once(toys: Path) -> None:
    task, model = kit.task(toys, n=30), kit.model(toys)
    (toys / "probe").mkdir()
    run = toys / "out" / kit.run(toys / "probe", tasks=task, model=model, attempts=2).run
    code = CHILD.replace("workers=2", "workers=1")
    process = kit.child(code, task, model, toys / "out", 0.2, 0.0, site=toys / "site")
    try:
        while count_lines(run, "predictions.jsonl") < 2:
            assert process.poll() is None
            time.sleep(0.01)
        with pytest.raises(RunLocked, match=f"is being written by process {process.pid} on"):
            kit.run(toys, tasks=task, model=model, attempts=2)
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()
    card = kit.run(toys, tasks=task, model=model, attempts=2)
    assert card.complete
    assert len(list(RunStore(run).predictions())) == 60
