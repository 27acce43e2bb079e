"""Selection from real runs: rows made of score lines, values under both of their names."""

from __future__ import annotations

import json

import pytest
from vgen_eval import evaluate
from vgen_eval.plugins import Catalog
from vgen_eval.results.reading import read_runs
from vgen_eval.viewer.choosing import candidates_of
from vgen_eval.viewer.selection import choose


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    output = tmp_path_factory.mktemp("chosen")
    for model in ("oracle", "blind"):
        evaluate(tasks="samples/referring", model=model, output=output)
    catalog = Catalog.discover()
    runs, faults = read_runs(sorted(output.glob("runs/*/samples/*/*")), catalog)
    assert faults == []
    return runs, candidates_of(runs, catalog)


def test_runs_are_named_by_their_models(found):
    runs, candidates = found
    assert [one.label for one in candidates] == ["blind", "oracle"]
    assert candidates[0].names[0] == "blind"
    assert runs[0].path.name in candidates[0].names


def test_a_value_goes_by_the_name_of_the_card_and_by_that_of_the_lines(found):
    _, candidates = found
    assert choose("worst:giou", candidates, 3).ids == choose("worst:iou", candidates, 3).ids
    assert (
        choose("worst:primary", candidates, 3).numbers == choose("worst:iou", candidates, 3).numbers
    )


def test_numbers_are_those_of_the_score_lines(found):
    runs, candidates = found
    (path,) = runs[0].path.glob("scores/*.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    ious = {line["sample"]: line["values"]["iou"] for line in lines}
    chosen = choose("top:iou", candidates, 99)
    assert dict(zip(chosen.ids, chosen.numbers, strict=True)) == ious
    assert list(chosen.numbers) == sorted(ious.values(), reverse=True)


def test_tags_are_those_of_the_samples(found):
    _, candidates = found
    chosen = choose("advantage:oracle-blind:per-tag=query", candidates, 9)
    tags = {row.id: row.tags["query"] for row in candidates[0].rows if row.id in chosen.ids}
    assert sorted(tags.values()) == sorted({row.tags["query"] for row in candidates[0].rows})
