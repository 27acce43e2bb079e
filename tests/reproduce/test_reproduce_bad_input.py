"""Tables, names and runs that are faulty: said in place, and never a crash."""

from __future__ import annotations

from pathlib import Path

import pytest
from reproducekit import (
    CELL,
    COUNTER,
    ROW,
    Say,
    cells,
    edit_card,
    import_counts,
    run,
    table,
)  # fmt: skip
from vgen_eval.cli import main

FAULTY = """\
paper: own
table: one
title: A table
source: made up
rows:
  - data: a
    task: samples/countin
    protocol: standard
    tag: S
    tolerance: {mae: 0.05}
    comparability: comparable
    cells:
      - label: m
        model: google/gemini-3.5-flahs
        values: {mae: 2}
  - data: b
    task: samples/counting
    protocol: standart
    tag: S
    comparability: comparable
    reports: [mae]
    cells: [{label: m}]
  - data: c
    task: samples/counting
    protocol: standard
    prompt: longest
    tag: S
    comparability: comparable
    reports: [maee]
    cells: [{label: m}]
  - data: d
    task: samples/counting
    protocol: standard
    set: {protocol.answers.0.options.methd: blob}
    tag: S
    comparability: approximate
    reports: [mae]
    cells: [{label: m}]
"""


def test_every_fault_of_a_file_is_told_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(FAULTY)
    assert main(["reproduce", str(path)]) == 2
    told = capsys.readouterr().err.splitlines()
    for line, words in (
        (7, "no task 'samples/countin'. Nearest: samples/counting"),
        (14, "no model 'google/gemini-3.5-flahs'. Nearest: google/gemini-3.5-flash"),
        (18, "no protocol 'standart'. Nearest: standard"),
        (26, "no prompt variant 'longest' (there is: long, mid, short)"),
        (29, "reports no 'maee'. Nearest: mae"),
        (34, "methd"),
        (36, "what does not compare needs a reason"),
    ):
        assert any(f"own.yaml:{line}:" in each and words in each for each in told), (line, told)
    assert told[-1] == "7 errors"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("- 1\n", "wanted a mapping"),
        ("paper: [\n", "not YAML"),
        (FAULTY.replace("title: A table", "titel: A table"), "did you mean 'title'?"),
        ("paper: a\ntable: b\ntitle: t\nsource: s\n", "a table has rows"),
    ],
)
def test_a_file_that_is_no_table_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    assert main(["reproduce", str(path)]) == 2
    assert words in capsys.readouterr().err


def test_a_file_that_is_not_there_says_so_with_the_cure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["reproduce", "/nowhere/own.yaml"]) == 2
    told = capsys.readouterr().err
    assert "/nowhere/own.yaml: cannot be read: No such file" in told
    assert "docs/reproduce.md" in told
    assert "vgen-eval reproduce list" in told


def test_a_folder_that_is_called_like_a_file_says_so_with_the_cure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.yaml").mkdir()
    assert main(["reproduce", str(tmp_path / "own.yaml")]) == 2
    told = capsys.readouterr().err
    assert "own.yaml: cannot be read: Is a directory" in told
    assert "docs/reproduce.md" in told


@pytest.mark.parametrize(
    ("line", "written", "words"),
    [
        (10, "    tolerance: {mae: -0.05}", "-0.05 must be at least 0"),
        (10, "    tolerance: {mae: .nan}", "nan"),
        (11, "    n_paper: 0", "0 must be at least 1"),
        (11, "    n_paper: -5", "-5 must be at least 1"),
        (7, "    mean_of: [samples/counting@standard, samples/counting@standard]", "named twice"),
    ],
)
def test_what_cannot_be_is_refused_in_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: int, written: str, words: str
) -> None:
    first_row, _, _ = FAULTY.partition("  - data: b")
    lines = first_row.replace("flahs", "flash").replace("countin\n", "counting\n").splitlines()
    place = line - 1
    if "mean_of" in written:
        lines[place : place + 2] = [written]
    elif "n_paper" in written:
        lines.insert(place, written)
    else:
        lines[place] = written
    path = tmp_path / "own.yaml"
    path.write_text("\n".join(lines) + "\n")
    assert main(["reproduce", str(path), "--output", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert f"own.yaml:{line}: rows[0]." in told
    assert words in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["editors:table-22"], "no published table 'editors:table-22'. Nearest: editors:table-2"),
        (["editors:table-2", "--use", "nothing"], "no run 'nothing'"),
        (["editors:table-2", "--limit", "0"], "--limit"),
        (["editors:table-2", "--format", "html"], "html"),
        (["vgi:video", "-o", "."], "is a folder"),
    ],
)
def test_wrong_words_are_usage_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    words: list[str], told: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", *words]) == 2
    assert told in capsys.readouterr().err


def test_no_runs_at_all_are_no_fault(tmp_path: Path, say: Say) -> None:
    code, record = say("probegen:table-6", "--no-run")
    assert (code, record["verdicts"], record["faults"]) == (0, {"not run": 3}, [])


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("schema_version", "7.0", "schema 7.0, 1."),
        ("primary", None, "damaged"),
        ("scores", "many", "damaged"),
    ],
)
def test_a_card_that_cannot_be_read_is_left_out_and_told(
    tmp_path: Path, say: Say, key: str, value: object, words: str
) -> None:
    import_counts(tmp_path)
    edit_card(tmp_path, lambda card: card.update({key: value}))
    code, record = say(table(tmp_path, ROW), "--no-run")
    assert (code, cells(record)[0]["verdict"]) == (0, "not run")
    assert words in record["faults"][0]


def test_a_card_without_a_primary_is_left_out_and_told(tmp_path: Path, say: Say) -> None:
    import_counts(tmp_path)
    edit_card(tmp_path, lambda card: card.pop("primary"))
    code, record = say(table(tmp_path, ROW), "--no-run")
    assert (code, cells(record)[0]["verdict"]) == (0, "not run")
    assert "primary" in record["faults"][0]


def test_a_half_written_run_is_left_out_and_told(tmp_path: Path, say: Say) -> None:
    import_counts(tmp_path)
    (edit_card(tmp_path, lambda card: None) / "result_card.json").unlink()
    code, record = say(table(tmp_path, ROW), "--no-run")
    assert (code, cells(record)[0]["verdict"]) == (0, "not run")
    assert "no result card yet" in record["faults"][0]


def test_a_half_written_run_that_is_finished_now_is_no_fault(tmp_path: Path, say: Say) -> None:
    half = run(tmp_path, tasks="samples/counting", model="classical")
    (tmp_path / "out" / half.run / "result_card.json").unlink()
    own = {"label": "Classical", "model": "classical", "values": {"mae": 2.0}}
    _, record = say(table(tmp_path, {**ROW, "cells": [own]}))
    (source,) = cells(record)[0]["sources"]
    assert (Path(source["run"]).name, record["faults"]) == (Path(half.run).name, [])


def test_a_card_of_an_older_kind_without_details_is_no_crash(tmp_path: Path, say: Say) -> None:
    import_counts(tmp_path)
    edit_card(tmp_path, lambda card: card.update(protocol_info={}, selection={}))
    code, record = say(table(tmp_path, ROW), "--no-run")
    (cell,) = cells(record)
    assert (code, cell["verdict"]) == (0, "approximate")
    assert {"decoder.name", "prompt", "samples"} <= {each["field"] for each in cell["report"]}


def test_details_of_another_shape_leave_a_card_out(tmp_path: Path, say: Say) -> None:
    import_counts(tmp_path)
    edit_card(tmp_path, lambda card: card["protocol_info"].update(answer=["text"]))
    code, record = say(table(tmp_path, ROW), "--no-run")
    assert (code, cells(record)[0]["verdict"]) == (0, "not run")
    assert "result_card.json: damaged" in record["faults"][0]


def test_a_value_without_a_number_is_not_run(tmp_path: Path, say: Say) -> None:
    import_counts(tmp_path)

    def empty(card: dict[str, list[dict[str, object]]]) -> None:
        for score in card["scores"]:
            if score["metric"] == "mae":
                score["value"] = None

    edit_card(tmp_path, empty)
    row = {**ROW, "reports": ["rmse"]}
    _, record = say(table(tmp_path, row), "--no-run")
    assert [cell["verdict"] for cell in cells(record)] == ["no published value", "not run"]
    assert cells(record)[1]["reason"] == "the run has no mae"


def test_a_model_that_does_not_fit_the_task_says_so(tmp_path: Path, say: Say) -> None:
    row = {**ROW, "cells": [{**CELL, "model": "facebook/sam3"}]}
    _, record = say(table(tmp_path, row))
    assert cells(record)[0]["reason"] == "model gives mask; the protocol takes image, text, points"


def test_a_model_of_that_name_on_another_task_is_not_taken(tmp_path: Path, say: Say) -> None:
    import_counts(tmp_path)
    row = {**ROW, "task": "samples/depth", "tolerance": {}, "reports": ["delta1"]}
    row["cells"] = [{"label": "Gemini", "model": COUNTER}]
    _, record = say(table(tmp_path, row), "--no-run")
    assert cells(record)[0]["verdict"] == "not run"
