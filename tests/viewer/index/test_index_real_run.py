"""The index over runs that the harness itself made: what it says is what their files say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from vgen_eval import evaluate
from vgen_eval.store.run import RunStore
from vgen_eval.viewer.index import Index
from vgen_eval.viewer.records import Query, RunRow


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("results")
    evaluate(
        tasks=["samples/counting", "samples/referring", "samples/quality"],
        models=["blind", "oracle"],
        output=str(output),
        bounds=False,
    )
    return output


def opened(results: Path, place: Path) -> Index:
    index = Index(results, place=place)
    index.refresh()
    return index


def test_rows_are_what_cards_and_records_say(results: Path, tmp_path: Path) -> None:
    index = opened(results, tmp_path)
    rows = index.runs()
    assert len(rows) == 6
    for row in rows:
        card = index.card(row)
        assert card is not None
        assert row.path == card.run
        assert row.task == f"{card.task}@{card.protocol}"
        assert (row.model, row.answer, row.prompt) == (card.model, card.answer, card.prompt)
        assert (row.role, row.family) == (card.model_info["role"], card.task_info["family"])
        assert (row.state, row.reason) == ("complete", "")
        assert (row.primary, row.value) == (card.primary, card.score().value)
        counts = card.counts
        assert (row.expected, row.ended, row.failed) == (
            counts.expected,
            counts.ended,
            counts.failed,
        )


def test_samples_are_what_score_lines_say(results: Path, tmp_path: Path) -> None:
    index = opened(results, tmp_path)
    for run in index.runs():
        store = RunStore(results / run.path)
        lines = {line["sample"]: line for line in store.scores(store.record["score_digest"])}
        rows = list(index.all_samples(run))
        assert [row.id for row in rows] == store.record["samples"]
        for row, item in zip(rows, store.samples() or (), strict=True):
            line = lines[row.id]
            assert (row.status, row.values) == (line["status"], line["values"])
            assert (row.group, row.tags) == (item.group, dict(item.tags))


def test_a_primary_is_found_under_the_key_that_its_metric_has_for_it(
    results: Path, tmp_path: Path
) -> None:
    index = opened(results, tmp_path)
    run = next(row for row in index.runs() if row.primary == "giou" and row.model == "blind")
    rows, _ = index.samples(run, Query())
    assert [row.score for row in rows] == sorted(row.values["iou"] or 0.0 for row in rows)
    mean = sum(row.score or 0.0 for row in rows) / len(rows)
    assert mean == pytest.approx(run.value, abs=1e-12)
    by_name = [index.samples(run, Query(sort=name))[0] for name in ("giou", "iou")]
    assert by_name == [rows, rows]


def test_a_pooled_primary_without_a_value_a_sample_has_no_score(
    results: Path, tmp_path: Path
) -> None:
    index = opened(results, tmp_path)
    run = next(row for row in index.runs() if row.primary == "srcc")
    assert {row.score for row in index.all_samples(run)} == {None}


def test_a_run_without_a_card_knows_its_primary_its_direction_and_its_unit(
    results: Path, tmp_path: Path
) -> None:
    source = next(row for row in opened(results, tmp_path / "a").runs() if row.family == "counting")
    folder = tmp_path / "b" / source.path
    folder.parent.mkdir(parents=True)
    for file in (results / source.path).rglob("*"):
        if file.is_file() and not file.name.startswith("result_card"):
            copy = folder / file.relative_to(results / source.path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
    index = opened(tmp_path / "b", tmp_path / "c")
    (row,) = index.runs()
    told: RunRow = row
    assert (told.state, told.value) == ("stopped", None)
    assert (told.primary, told.higher_is_better, told.unit) == (
        source.primary,
        False,
        source.unit,
    )
    scores = [found.score or 0.0 for found in index.samples(row, Query())[0]]
    assert scores == sorted(scores, reverse=True)
    assert json.loads((folder / "run.json").read_bytes()) == index.record(row)
