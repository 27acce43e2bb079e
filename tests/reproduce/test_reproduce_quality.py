"""Q-Bench's assessment held against its figures: what a wrong temperature does is told."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from reproducekit import ROW, Say, cells, run, table
from vgen_eval.cli import main

IDEFICS = "huggingfacem4/idefics-9b-instruct"


def _write_raw(path: Path, count: int) -> None:
    """Logits as Q-Bench publishes them, that go with made-up opinions about as the paper's do.

    "good" is far likelier than "poor" throughout: over 100 the softmax is nearly straight, without
    it nearly every score is 1.
    """
    draw = random.Random(7)
    records = []
    for at in range(count):
        opinion, noise = draw.gauss(0, 1), draw.gauss(0, 1)
        apart = 15 + 5 * (0.428 * opinion + (1 - 0.428**2) ** 0.5 * noise)
        records.append({"img_path": f"{at:04d}.jpg", "gt_score": 60 + 10 * opinion,
                        "logit_good": apart, "logit_poor": 0.0})  # fmt: skip
    path.write_text("".join(json.dumps(record) for record in records))


@pytest.fixture
def scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Scores made-up logits of the whole of LIVE-itw."""
    monkeypatch.chdir(tmp_path)

    def score(*words: str, name: str = IDEFICS) -> None:
        _write_raw(tmp_path / "livec.json", 1169)
        code = main([
            "score", "--task", "quality/livec@qbench", "--predictions", "livec.json", "--format",
            "qbench-raw", "--model-name", name, "--output", "out", *words,
        ])  # fmt: skip
        assert code == 0, capsys.readouterr().err

    return score


def _livec(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        cell["value"]: cell
        for cell in cells(record)
        if (cell["data"], cell["label"]) == ("LIVE-itw", "idefics")
    }


def test_logits_read_as_the_paper_reads_them_are_within(scored: Any, say: Say) -> None:
    scored()
    code, record = say("qbench:a3", "--no-run")
    found = _livec(record)
    assert code == 0
    assert {name: cell["verdict"] for name, cell in found.items()} == {
        "srcc": "within", "plcc": "within",
    }  # fmt: skip
    assert found["plcc"]["report"] == []


def test_a_wrong_temperature_puts_plcc_outside_and_is_named(scored: Any, say: Say) -> None:
    scored("--set", "protocol.answers.0.options.temperature=1")
    _, record = say("qbench:a3", "--no-run")
    found = _livec(record)
    assert found["plcc"]["verdict"] == "outside"
    assert found["srcc"]["verdict"] == "within"  # ranks know no temperature
    assert found["plcc"]["report"] == [
        {"field": "decoder.options.temperature", "paper": 100.0, "ours": 1.0}
    ]
    assert found["plcc"]["reason"] == "another decoder.options.temperature"


def test_a_run_under_the_name_of_a_row_is_told_which_model_the_row_looks_for(
    scored: Any, say: Say, capsys: pytest.CaptureFixture[str]
) -> None:
    scored(name="idefics")
    _, record = say("qbench:a3", "--no-run")
    assert {cell["reason"] for cell in _livec(record).values()} == {f"no run of {IDEFICS} is here"}
    assert main(["reproduce", "qbench:a3", "--no-run", "--output", "out", "--use", "out"]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert f"its model is called 'idefics'; the row 'idefics' looks for {IDEFICS}" in told


def test_what_a_cell_alone_sets_is_its_own(scored: Any, say: Say, tmp_path: Path) -> None:
    scored()
    cell = {"label": "as it is", "model": IDEFICS, "values": {"srcc": 0.409}}
    own = {**cell, "label": "argmax", "set": {"protocol.answers.0.options.score": "argmax"}}
    row = {
        "data": "LIVE-itw", "task": "quality/livec", "protocol": "qbench", "tag": "S",
        "tolerance": {"srcc": 0.0005}, "comparability": "comparable", "cells": [cell, own],
    }  # fmt: skip
    _, record = say(table(tmp_path, row), "--no-run")
    first, second = cells(record)
    assert (first["set"], first["report"]) == ({}, [])
    assert second["set"] == {"protocol.answers.0.options.score": "argmax"}
    assert second["source"] == "predictions made elsewhere, read again"


def test_a_row_of_one_answer_form_is_held_against_runs_of_that_form(
    tmp_path: Path, say: Say
) -> None:
    card = run(tmp_path, tasks=["samples/counting"], models=["oracle"], answer="image")
    oracle = {"label": "Oracle", "model": "oracle", "values": {"mae": 0.0}}
    row = {**ROW, "n_paper": card.selection["samples"], "cells": [oracle]}
    rows = [{**row, "data": form, "answer": form} for form in ("text", "image")]
    _, record = say(table(tmp_path, *rows), "--no-run")
    text, image = cells(record)
    assert (image["answer"], image["report"]) == ("image", [])
    assert {"field": "answer.form", "paper": "text", "ours": "image"} in text["report"]


def test_a_row_of_a_subset_is_held_against_the_score_of_that_subset(
    tmp_path: Path, say: Say
) -> None:
    card = run(tmp_path, tasks=["samples/counting"], models=["blind"])
    subsets = {score.subset: score.value for score in card.scores if score.metric == "mae"}
    subset = next(name for name, value in subsets.items() if value not in (subsets["all"], None))
    blind = {"label": "Blind", "model": "blind", "values": {"mae": 1.0}}
    row = {**ROW, "n_paper": card.selection["samples"], "cells": [blind]}
    rows = [{**row, "data": name, "subset": name} for name in ("all", subset)]
    _, record = say(table(tmp_path, *rows), "--no-run")
    assert [cell["ours"]["value"] for cell in cells(record)] == [subsets["all"], subsets[subset]]
    assert [cell["subset"] for cell in cells(record)] == ["all", subset]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"answer": "mask"}, "takes no mask"),
        ({"cells": [{"label": "x", "model": "oracle", "values": {"mae": 2.0},
                     "set": {"protocol.answers.0.nothing": 1}}]}, "nothing"),
        ({"subset": "how"}, "subset"),
    ],
)  # fmt: skip
def test_what_a_row_asks_for_in_vain_is_told(
    tmp_path: Path, say: Say, changed: dict[str, Any], words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    path = table(tmp_path, {**ROW, **changed})
    assert main(["reproduce", path, "--no-run"]) == 2
    assert words in capsys.readouterr().err
