"""A run that goes on: what was appended is taken in, and comes to what a new index would hold."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from indexkit import DIGEST, Drawn, card_of, prediction, record_of, score, text, write_run
from vgen_eval.store.run import RunStore
from vgen_eval.viewer.index import Index
from vgen_eval.viewer.records import Facets, Query, RunRow, SampleRow


def held(index: Index) -> list[tuple[RunRow, list[SampleRow], Facets]]:
    return [(run, list(index.all_samples(run)), index.facets(run)) for run in index.runs()]


def row_of(index: Index) -> RunRow:
    (run,) = index.runs()
    return run


@pytest.mark.parametrize(("seed", "attempts"), [(11, 1), (12, 1), (13, 3)])
def test_appended_pieces_come_to_what_a_rebuild_holds(
    tmp_path: Path, seed: int, attempts: int
) -> None:
    drawn = Drawn(seed, samples=60, attempts=attempts)
    results = tmp_path / "results"
    run = write_run(results / "a", drawn.record(), items=drawn.items)
    index = Index(results)
    index.refresh()
    files = {
        run / "predictions.jsonl": text(drawn.predictions).encode(),
        run / "scores" / f"{DIGEST}.jsonl": text(drawn.scores).encode(),
    }
    step = 0
    while any(files.values()):
        step += 1
        for path, left in list(files.items()):
            cut = drawn.random.randrange(1, 900)  # mostly within a line
            with path.open("ab") as file:
                file.write(left[:cut])
            files[path] = left[cut:]
        index.refresh(0)
        if step % 8 == 0 or not any(files.values()):
            anew = Index(results, place=tmp_path / f"anew{step}")
            anew.refresh()
            assert held(index) == held(anew)
    assert step > 10
    assert [row.score for row in index.all_samples(row_of(index))] == pytest.approx(
        [row["score"] for row in drawn.expected()]
    )


def test_nothing_changed_is_told(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", record_of(["x"]), predictions=[prediction("x")])
    index = Index(tmp_path)
    assert index.refresh()
    assert not index.refresh(0)
    with (run / "predictions.jsonl").open("a") as file:
        file.write(text([prediction("x", status="refused")]))
    assert not index.refresh(60)
    assert index.refresh(0)
    assert not index.refresh(0)


def test_what_another_index_of_the_folder_took_in_counts_as_a_change(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", record_of(["x"]), predictions=[])
    first, second = Index(tmp_path), Index(tmp_path)
    first.refresh()
    second.refresh()
    with (run / "predictions.jsonl").open("a") as file:
        file.write(text([prediction("x")]))
    assert first.refresh(0)
    assert second.refresh(0)
    assert held(first) == held(second)


def test_a_row_counts_what_ended_and_failed(tmp_path: Path) -> None:
    ids = [f"s{at}" for at in range(8)]
    states = ("ok", "refused", "error", "bad_sample", "no_valid_target", "undecodable")
    lines = [prediction(name, status=s) for name, s in zip(ids, states, strict=False)]
    write_run(tmp_path / "a", record_of(ids, attempts=2), predictions=lines)
    index = Index(tmp_path)
    index.refresh()
    row = row_of(index)
    assert (row.samples, row.attempts, row.expected) == (8, 2, 16)
    assert (row.ended, row.failed) == (6, 4)
    statuses = [sample.status for sample in index.all_samples(row)]
    assert statuses == [*states, "not_run", "not_run"]


def test_scores_that_were_replaced_whole_are_read_anew(tmp_path: Path) -> None:
    ids = [f"s{at}" for at in range(50)]
    run = write_run(tmp_path / "a", record_of(ids), scores=[score(i, {"good": 0.5}) for i in ids])
    index = Index(tmp_path)
    index.refresh()
    beside = run / "scores" / ".new"
    beside.write_text(text(score(name, {"good": 0.25, "more": 9.0}) for name in ids[:40]))
    beside.replace(run / "scores" / f"{DIGEST}.jsonl")
    assert index.refresh(0)
    found = list(index.all_samples(row_of(index)))
    assert [row.score for row in found] == [0.25] * 40 + [None] * 10
    assert found[0].values == {"good": 0.25, "more": 9.0}


def test_a_file_that_shrank_is_read_anew(tmp_path: Path) -> None:
    ids = [f"s{at}" for at in range(50)]
    run = write_run(tmp_path / "a", record_of(ids), predictions=map(prediction, ids))
    index = Index(tmp_path)
    index.refresh()
    with (run / "predictions.jsonl").open("r+") as file:
        file.truncate(len(text(map(prediction, ids[:10]))))
    assert index.refresh(0)
    assert row_of(index).ended == 10


def test_a_run_scored_again_under_newer_components_is_read_by_its_card(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", record_of(["x"]), scores=[score("x", {"good": 0.5})])
    lines = [score("x", {"good": 0.75})]
    (run / "scores" / "fedcba9876543210.jsonl").write_text(text(lines))
    card = card_of(lines)
    card["protocol_info"]["score_digest"] = "fedcba9876543210"
    (run / "result_card.json").write_text(json.dumps(card))
    index = Index(tmp_path)
    index.refresh()
    row = row_of(index)
    assert row.state == "complete"
    assert index.samples(row, Query())[0][0].score == 0.75
    assert index.scores(row) == run / "scores" / "fedcba9876543210.jsonl"


def test_a_card_that_comes_is_the_rows_number_and_state(tmp_path: Path) -> None:
    lines = [score("x", {"good": 0.5}), score("y", {"good": 0.25})]
    run = write_run(tmp_path / "a", record_of(["x", "y"]), scores=lines)
    index = Index(tmp_path)
    index.refresh()
    row = row_of(index)
    assert (row.state, row.value, row.primary) == ("stopped", None, "good")
    assert "no result card yet" in row.reason
    assert f"vgen-eval score {run}" in row.reason
    (run / "result_card.json").write_text(json.dumps(card_of(lines, value=0.375, unit="m")))
    assert index.refresh(0)
    row = row_of(index)
    assert (row.state, row.reason, row.value, row.interval, row.unit) == (
        "complete", "", 0.375, (0.25, 0.75), "m",
    )  # fmt: skip
    card = index.card(row)
    assert card is not None
    assert card.score().value == 0.375
    record = index.record(row.slug)
    assert record is not None
    assert record["samples"] == ["x", "y"]


@pytest.mark.parametrize(
    ("lines", "expected", "state", "words"),
    [
        ([score("x", {"good": 1.0}), score("y", status="error")], 2, "incomplete",
         "1 attempt failed.*--retry-failed"),
        ([score("x", {"good": 1.0})], 2, "incomplete", "1 attempt not made yet"),
        ([score("x", {"good": 1.0}), score("y", {"good": 1.0})], 2, "complete", "^$"),
    ],
)  # fmt: skip
def test_the_state_of_a_run_with_a_card_is_its_cards(
    tmp_path: Path, lines: list[dict[str, Any]], expected: int, state: str, words: str
) -> None:
    card = card_of(lines, expected=expected)
    write_run(tmp_path / "a", record_of(["x", "y"]), scores=lines, card=card)
    index = Index(tmp_path)
    index.refresh()
    row = row_of(index)
    assert row.state == state
    assert re.search(words, row.reason)


def test_a_card_older_than_its_lines_is_told(tmp_path: Path) -> None:
    lines = [score("x", {"good": 1.0}), score("y", {"good": 1.0})]
    run = write_run(tmp_path / "a", record_of(["x", "y"]), scores=lines, card=card_of(lines[:1]))
    index = Index(tmp_path)
    index.refresh()
    row = row_of(index)
    assert (row.state, row.value) == ("stopped", 0.5)
    assert "its card is older than its lines" in row.reason
    (run / "scores" / f"{DIGEST}.jsonl").unlink()
    assert index.refresh(0)
    row = row_of(index)
    assert row.state == "stopped"
    assert "0 of the 1 score that its card was made of are here" in row.reason


def test_a_run_is_running_while_its_lock_is_held(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", record_of(["x"]), predictions=[])
    index = Index(tmp_path)
    index.refresh()
    assert row_of(index).state == "stopped"
    store = RunStore(run)
    store.lock()
    try:
        assert index.refresh(0)
        assert (row_of(index).state, row_of(index).reason) == ("running", "")
        store.append_prediction(prediction("x"))
        index.refresh(0)
        assert (row_of(index).state, row_of(index).ended) == ("running", 1)
    finally:
        store.close()
    assert index.refresh(0)
    assert row_of(index).state == "stopped"


def test_a_run_of_another_host_counts_as_running_for_a_while(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", record_of(["x"]), predictions=[prediction("x")])
    (run / "lock").write_text("process 12 on another-host.example\n")
    index = Index(tmp_path)
    index.refresh()
    assert row_of(index).state == "running"
    os.utime(run / "predictions.jsonl", (1e9, 1e9))
    index.refresh(0)
    assert row_of(index).state == "stopped"


def test_a_killed_writer_leaves_a_stopped_run(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", record_of(["x"]), predictions=[])
    source = (
        "import sys, time; from pathlib import Path\n"
        "from vgen_eval.store.run import RunStore\n"
        f"RunStore(Path({str(run)!r})).lock(); print('held', flush=True); time.sleep(60)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        index = Index(tmp_path)
        index.refresh()
        assert row_of(index).state == "running"
    finally:
        child.kill()
        child.communicate()
    assert index.refresh(0)
    assert row_of(index).state == "stopped"


def test_a_run_that_is_deleted_goes(tmp_path: Path) -> None:
    write_run(tmp_path / "a", record_of(["x"]), predictions=[prediction("x")])
    write_run(tmp_path / "b", record_of(["x"]), predictions=[prediction("x")])
    index = Index(tmp_path)
    index.refresh()
    gone, left = index.runs()
    shutil.rmtree(tmp_path / "a")
    assert index.refresh(0)
    assert index.runs() == [left]
    assert index.samples(gone, Query()) == ([], 0)
    assert index.models(gone.task, index.samples(left, Query())[0][0].key)[0][0] == left


def test_a_primary_that_lines_show_only_later_is_every_samples_score(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", record_of(["x", "y"]), scores=[score("x", {"bad": 1.0})])
    index = Index(tmp_path)
    index.refresh()
    assert [row.score for row in index.all_samples(row_of(index))] == [None, None]
    with (run / "scores" / f"{DIGEST}.jsonl").open("a") as file:
        file.write(text([score("y", {"bad": 1.0, "good": 0.5}), score("x", {"good": 0.25})]))
    index.refresh(0)
    assert [row.score for row in index.all_samples(row_of(index))] == [0.25, 0.5]
