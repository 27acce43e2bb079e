"""Predictions made elsewhere: what they give way to, what is said of them, names without a card."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from reproducekit import CELL, ROW, Say, cells, import_counts, run, table
from vgen_eval.cli import main

ALPHA = {"label": "Alpha", "model": "alpha", "values": {"mae": 2.0}}
OWN = {"label": "Classical", "model": "classical", "values": {"mae": 2.0}}
NOT_KNOWN = "how they were made is not known"


def three(_request: Any) -> str:
    return "3"


def run_three(folder: Path, **more: Any) -> Any:
    return run(
        folder, tasks="samples/counting", model=three, model_name="three", forms=["text"], **more
    )


THREE = {"label": "3", "model": "three", "values": {"mae": 2.0}}


def test_a_run_that_departs_in_nothing_comes_before_predictions(tmp_path: Path, say: Say) -> None:
    own = run_three(tmp_path)
    import_counts(tmp_path, model="three")  # newer, and of as many samples
    (cell,) = cells(say(table(tmp_path, {**ROW, "cells": [THREE]}))[1])
    assert cell["sources"][0]["run"] == str(tmp_path / "out" / own.run)
    assert (cell["source"], cell["making"], cell["report"]) == ("run", "recorded", [])
    assert cell["sources"][0]["other_runs"] == 1


def test_predictions_come_before_a_run_that_departs(tmp_path: Path, say: Say) -> None:
    run_three(tmp_path, limit=4)
    import_counts(tmp_path, model="three")
    (cell,) = cells(say(table(tmp_path, {**ROW, "cells": [THREE]}))[1])
    assert (cell["source"], cell["ours"]["n"]) == ("predictions made elsewhere", 13)


def test_predictions_that_are_named_come_before_a_run_that_fits(tmp_path: Path, say: Say) -> None:
    run_three(tmp_path)
    card = import_counts(tmp_path, model="three")
    own = table(tmp_path, {**ROW, "cells": [THREE]})
    (cell,) = cells(say(own, "--use", str(tmp_path / "out" / card.run))[1])
    assert cell["source"] == "predictions made elsewhere"


def test_a_run_to_be_read_again_comes_before_predictions(tmp_path: Path, say: Say) -> None:
    setting = {"protocol.failure_value": "skip"}
    run_three(tmp_path)
    import_counts(tmp_path, model="three", **setting)
    row = {**ROW, "set": setting, "cells": [THREE]}
    (cell,) = cells(say(table(tmp_path, row))[1])
    assert (cell["source"], cell["making"], cell["report"]) == ("read again", "recorded", [])


def test_predictions_that_are_read_again_are_still_made_elsewhere(tmp_path: Path, say: Say) -> None:
    import_counts(tmp_path, model="alpha")
    row = {**ROW, "set": {"protocol.failure_value": "skip"}, "cells": [ALPHA]}
    (cell,) = cells(say(table(tmp_path, row), "--no-run")[1])
    assert cell["source"] == "predictions made elsewhere, read again"
    assert cell["making"] == "not known"


@pytest.mark.parametrize("form", ["terminal", "markdown", "latex"])
def test_predictions_are_called_so_and_never_said_to_depart_in_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    monkeypatch.chdir(tmp_path)
    import_counts(tmp_path)
    own = table(tmp_path, {**ROW, "cells": [{**CELL, "values": {"mae": 9.0}}]})
    assert main(["reproduce", own, "--output", "out", "--format", form]) == 1
    out = capsys.readouterr().out
    assert "Gemini is outside: predictions made elsewhere, of whose making nothing is known" in out
    assert NOT_KNOWN in out
    assert "in nothing" not in out


def test_the_dry_run_says_that_predictions_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    import_counts(tmp_path)
    assert main(["reproduce", table(tmp_path, ROW), "--output", "out", "--dry-run"]) == 0
    assert "predictions made elsewhere" in capsys.readouterr().out


def test_a_table_may_name_predictions_that_have_no_card(tmp_path: Path, say: Say) -> None:
    import_counts(tmp_path, model="alpha")
    code, record = say(table(tmp_path, {**ROW, "cells": [ALPHA]}))
    (cell,) = cells(record)
    assert (code, cell["verdict"], cell["report"]) == (0, "within", [])
    assert cell["ours"]["value"] == pytest.approx(2.0)


def test_predictions_of_another_folder_may_be_named_too(tmp_path: Path, say: Say) -> None:
    other = tmp_path / "other"
    other.mkdir()
    import_counts(other, model="alpha")
    own = table(tmp_path, {**ROW, "cells": [ALPHA]})
    assert cells(say(own, "--use", str(other / "out"))[1])[0]["verdict"] == "within"


def test_a_function_that_was_run_under_a_name_needs_no_card_either(
    tmp_path: Path, say: Say
) -> None:
    run_three(tmp_path)
    (cell,) = cells(say(table(tmp_path, {**ROW, "cells": [THREE]}))[1])
    assert (cell["source"], cell["making"], cell["report"]) == ("run", "recorded", [])


def test_a_task_that_it_has_no_predictions_of_says_how_to_bring_them(
    tmp_path: Path, say: Say
) -> None:
    import_counts(tmp_path, model="alpha")
    row = {**ROW, "task": "samples/referring", "reports": ["giou"], "tolerance": {}}
    code, record = say(table(tmp_path, {**row, "cells": [{"label": "A", "model": "alpha"}]}))
    (cell,) = cells(record)
    assert (code, cell["verdict"]) == (0, "not run")
    assert "protocol takes" in cell["reason"] or "--model-name alpha" in cell["reason"]


def test_a_name_that_nothing_has_says_how_it_could_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    import_counts(tmp_path, model="alpha")
    row = {**ROW, "cells": [{**ALPHA, "model": "alphaa"}]}
    assert main(["reproduce", table(tmp_path, row), "--output", "out"]) == 2
    told = capsys.readouterr().err
    assert "no model 'alphaa'. Nearest: alpha" in told
    assert "--predictions DIR --model-name alphaa" in told


@pytest.mark.parametrize("words", [[], ["--dry-run"], ["--no-run"]])
def test_a_limit_leaves_runs_that_are_here_whole_and_names_them(
    tmp_path: Path, say: Say, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    own = run(tmp_path, tasks="samples/counting", model="classical")
    path = table(tmp_path, {**ROW, "cells": [OWN]})
    _, record = say(path, "--limit", "3", *words)
    (note,) = record["notes"]
    assert "--limit 3 is for runs that are made now" in note
    assert note.endswith(f": out/{own.run}")
    assert say(path, *words)[1]["notes"] == []
    assert main(["reproduce", path, "--output", "out", "--limit", "3", *words]) in (0, 1)
    assert "taken whole, because they are here" in " ".join(capsys.readouterr().out.split())


def test_a_limit_that_a_run_keeps_is_not_told(tmp_path: Path, say: Say) -> None:
    own = table(tmp_path, {**ROW, "cells": [OWN]})
    for _ in range(2):
        _, record = say(own, "--limit", "3")
        assert (record["notes"], cells(record)[0]["ours"]["n"]) == ([], 3)
