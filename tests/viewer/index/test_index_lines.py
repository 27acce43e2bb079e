"""Where lines lie: the index says so, and whoever is told wrong looks for himself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from indexkit import DIGEST, Drawn, prediction, record_of, score, text, write_run
from vgen_eval import jsonio
from vgen_eval.store.rows import Rows
from vgen_eval.viewer.index import Index
from vgen_eval.viewer.index.lines import LineAt, stamp_of
from vgen_eval.viewer.looking.journals import Journal

SCORES = f"scores/{DIGEST}.jsonl"


def line_at(path: Path, place: LineAt) -> dict[str, Any]:
    with path.open("rb") as file:
        file.seek(place.offset)
        found: dict[str, Any] = jsonio.loads(file.readline())
    return found


@pytest.mark.parametrize("attempts", [1, 3])
def test_every_attempts_current_lines_are_found(tmp_path: Path, attempts: int) -> None:
    drawn = Drawn(5, samples=40, attempts=attempts)
    results = tmp_path / "results"
    run = write_run(results / "a", drawn.record(), items=drawn.items)
    (run / "predictions.jsonl").write_text(text(drawn.predictions[:50]))
    index = Index(results)
    index.refresh()
    with (run / "predictions.jsonl").open("a") as file:  # and what came later
        file.write(text(drawn.predictions[50:]))
    (run / SCORES).parent.mkdir(exist_ok=True)
    (run / SCORES).write_text(text(drawn.scores))
    index.refresh(0)
    for name, lines in (("predictions.jsonl", drawn.predictions), (SCORES, drawn.scores)):
        current = {(line["sample"], line["attempt"]): line for line in lines}
        for sample in drawn.record()["samples"]:
            for attempt in range(attempts):
                place = index.lines_of(run, sample, attempt)[name]
                assert place.stamp == stamp_of((run / name).stat())
                wanted = current.get((sample, attempt))
                if wanted is None:
                    assert place.offset == -1
                else:
                    assert line_at(run / name, place) == wanted


def test_nothing_is_said_of_runs_samples_and_damaged_files(tmp_path: Path) -> None:
    results = tmp_path / "results"
    run = write_run(results / "a", record_of(["x", "y"]))
    (run / "predictions.jsonl").write_text(text([prediction("x")]) + "{\n")
    (run / "scores").mkdir(exist_ok=True)
    (run / SCORES).write_text(text([score("x", {"good": 1.0})]))
    index = Index(results)
    index.refresh()
    assert set(index.lines_of(run, "x", 0)) == {SCORES}
    assert index.lines_of(run, "y", 0)[SCORES].offset == -1
    assert index.lines_of(run, "z", 0) == {}
    assert index.lines_of(results / "b", "x", 0) == {}
    assert index.lines_of(tmp_path, "x", 0) == {}


def test_a_place_counts_for_a_file_of_its_stamp_and_the_samples_own_line(tmp_path: Path) -> None:
    path = tmp_path / "predictions.jsonl"
    path.write_text(text([prediction("x"), prediction("y"), prediction("x", status="refused")]))
    journal = Journal(path, Rows(["x", "y", "z"], 1))
    stamp = stamp_of(path.stat())
    second = len(text([prediction("x")]))
    assert journal.find("y", 0, LineAt(stamp, second)) == [prediction("y")]
    assert journal.find("x", 0, LineAt(stamp, 0)) == [prediction("x")]  # as the index has it
    # another's line, the middle of one, behind the end
    for offset in (second, 3, 10_000):
        assert journal.find("x", 0, LineAt(stamp, offset)) == [prediction("x", status="refused")]
    assert journal.find("y", 0, LineAt(stamp, -1)) == []
    with path.open("a") as file:
        file.write(text([prediction("y", status="error")]))
    assert journal.find("y", 0, LineAt(stamp, second)) == [prediction("y", status="error")]
    assert journal.find("z", 0, LineAt(stamp, -1)) == []
    path.unlink()
    assert journal.find("y", 0, LineAt(stamp, second)) == []


def test_a_refresh_tells_how_far_it_is(tmp_path: Path) -> None:
    for name in "abc":
        write_run(tmp_path / name, record_of(["x"]))
    told: list[tuple[int, int]] = []
    Index(tmp_path).refresh(0, tell=lambda done, total: told.append((done, total)))
    assert told == [(0, 3), (1, 3), (2, 3)]
