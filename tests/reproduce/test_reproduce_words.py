"""What people read: the table, its notes, the difference report; Markdown and CSV."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from reproducekit import CELL, DEPTH, ROW, import_counts, run, table
from vgen_eval.cli import main


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_table_shows_ours_beside_the_papers(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_counts(here)
    assert main(["reproduce", table(here, ROW), "--output", "out"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "own:one   A table"
    assert lines[1].split() == [
        "data", "model", "value", "paper", "ours", "95", "%", "interval", "difference", "n",
        "verdict",
    ]  # fmt: skip
    assert lines[2].split()[:5] == ["photographs", "Gemini", "mae", "2.0", "2"]
    assert lines[2].endswith("13   within")
    assert lines[-1] == "  1 within"


def test_a_cell_that_is_outside_has_its_report_below(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(here, tasks="samples/depth", model="oracle",
        set={"protocol.metrics.0.options.fit": "depth_lsq"})  # fmt: skip
    assert main(["reproduce", table(here, DEPTH), "--output", "out", "--no-run"]) == 1
    out = capsys.readouterr().out
    assert "  scenes, Oracle is outside and departs from the paper in\n" in out
    assert (
        "    metrics.affine_depth.options.fit   paper disparity_lsq_clamped   ours depth_lsq\n"
        in out
    )


def test_an_outside_cell_that_departs_in_nothing_says_so(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_counts(here)
    own = table(here, {**ROW, "cells": [{**CELL, "values": {"mae": 9.0}}]})
    assert main(["reproduce", own, "--output", "out"]) == 1
    assert "Gemini is outside and departs from the paper in nothing\n" in capsys.readouterr().out


def test_long_reasons_stand_below_by_number(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "editors:table-2", "--output", "out"]) == 0
    out = capsys.readouterr().out
    assert "not run [1]" in out
    assert "\n  [1] data not found: nyuv2 " in out


def test_markdown_escapes_what_would_split_a_cell(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_counts(here)
    own = table(here, {**ROW, "data": "a | b"})
    assert main(["reproduce", own, "--output", "out", "--format", "markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "**own:one** A table"
    assert lines[4].startswith("| a \\| b | Gemini | mae | 2.0 | 2 |")


def test_csv_holds_every_number_in_full(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import_counts(here)
    row = {**ROW, "reports": ["rmse"]}
    assert main(["reproduce", table(here, row), "--output", "out", "--format", "csv"]) == 0
    rmse, mae = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (rmse["value"], mae["value"]) == ("rmse", "mae")
    assert float(rmse["ours"]) == pytest.approx((64 / 13) ** 0.5, abs=1e-15)
    assert (mae["verdict"], mae["published"], mae["n"], mae["n_paper"]) == (
        "within", "2.0", "13", "13",
    )  # fmt: skip
    assert rmse["verdict"] == "no published value"


def test_no_target_lists_them(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--output", "out"]) == 0
    out = capsys.readouterr().out
    assert "editors:table-2 " in out
    assert "probegen:table-a1 (decoder-selection)" in out


def test_targets_are_completed() -> None:
    from vgen_eval.cli.completing import complete_targets

    assert complete_targets(None, None, "editors:") == [  # type: ignore[arg-type]
        "editors:table-2", "editors:table-3", "editors:table-4",
    ]  # fmt: skip


def test_the_table_of_the_docs_is_sound(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[2] / "docs" / "reproduce.md").read_text(encoding="utf-8")
    found = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert found is not None
    (here / "own.yaml").write_text(found[1], encoding="utf-8")
    assert main(["reproduce", "own.yaml", "--output", "out", "--no-run"]) == 0
    assert "  2 not run\n" in capsys.readouterr().out
