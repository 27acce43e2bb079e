"""Digits, widths and formats of a reproduced table, of its plan and of the list."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from reproducekit import CELL, DEPTH, ROW, Say, import_counts, run, table
from vgen_eval.cli import main
from vgen_eval.results.reproducing.digits import find_digits, spell

WORDS = [
    ["own.yaml", "--dry-run"], ["own.yaml", "--no-run"], ["list"],
    ["editors:table-2"], ["editors:table-2", "--dry-run"], ["probegen:table-5", "--dry-run"],
    ["probegen:efficiency"],
]  # fmt: skip


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, a run that is outside and predictions of one cell."""
    monkeypatch.chdir(tmp_path)
    for name in ("VGEN_DATA", "OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    import_counts(tmp_path)
    run(tmp_path, tasks="samples/depth", model="oracle",
        set={"protocol.metrics.0.options.fit": "depth_lsq"})  # fmt: skip
    table(tmp_path, ROW, DEPTH, note="a remark")
    return tmp_path


def show(*words: str) -> int:
    return main(["reproduce", *words, "--output", "out"])


def cell(published: float | None, tolerance: float | None, *ours: float) -> dict[str, Any]:
    value, low, high = (*ours, None, None, None)[:3]
    own = {"value": value, "low": low, "high": high} if ours else None
    return {"data": "d", "value": "v", "selection": "mean", "published": published,
            "tolerance": tolerance, "ours": own}  # fmt: skip


@pytest.mark.parametrize(
    ("cells", "published", "ours"),
    [
        ([cell(12.0, 0.05, 12.23077)], "12.0", "12.23"),
        ([cell(50, 0.5, 49.5)], "50", "49.5"),
        ([cell(0.756, 0.0005, 0.74931)], "0.756", "0.7493"),
        ([cell(0.7, 0.0005, 0.00003)], "0.700", "0.0000"),
        ([cell(12.5, 5, 12.23)], "12.5", "12.23"),  # never fewer digits than were written
        ([cell(12.0, 0.05, 1234.5678)], "12.0", "1,234.57"),
        ([cell(None, None, 0.0000359)], "-", "0.0000359"),
        ([cell(None, None, 3.1)], "-", "3.100"),
        ([cell(None, None, 24.551, 2.91, 40.0)], "-", "24.55"),
        ([cell(None, None, 0.0)], "-", "0.000"),
        ([cell(None, None, 3e-12)], "-", "3e-12"),
        ([cell(2e-11, 5e-12, 3e-11)], "2e-11", "3e-11"),
    ],
)
def test_digits_are_those_of_the_tolerance_and_one_more(
    cells: list[dict[str, Any]], published: str, ours: str
) -> None:
    (digits,) = find_digits(cells)
    figure = cells[0]["published"]
    assert ("-" if figure is None else spell(figure, digits.published)) == published
    assert spell(cells[0]["ours"]["value"], digits.ours) == ours


def test_one_value_has_its_digits_throughout_a_row() -> None:
    cells = [cell(12.0, 0.05, 11.0), cell(None, 0.05, 0.123456)]
    pairs = zip(cells, find_digits(cells), strict=True)
    ours = [spell(each["ours"]["value"], digits.ours) for each, digits in pairs]
    assert ours == ["11.00", "0.12"]


@pytest.mark.parametrize(
    ("number", "text"), [(0.2311, "+0.231"), (-0.2, "-0.200"), (-3.59e-05, "0.000")]
)
def test_a_difference_has_a_sign_where_it_does_not_round_to_nothing(
    number: float, text: str
) -> None:
    assert spell(number, 3, signed=True) == text


def test_an_interval_and_a_difference_have_the_digits_of_ours(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_counts(here, (1, 3, 5) * 4 + (30,))  # another set of predictions, and newer
    assert show("own.yaml") == 1
    row = next(line for line in capsys.readouterr().out.splitlines() if "photographs" in line)
    paper, ours, low, high, difference = row.split()[3:8]
    assert paper == "2.0"
    numbers = [text.strip("[],+-") for text in (ours, low, high, difference)]
    assert all(len(text.partition(".")[2]) == 2 for text in numbers), row


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
@pytest.mark.parametrize("columns", [80, 120])
def test_no_line_is_wider_than_the_terminal(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    words: list[str], columns: int,
) -> None:  # fmt: skip
    monkeypatch.setenv("COLUMNS", str(columns))
    assert show(*words) in (0, 1)
    lines = capsys.readouterr().out.splitlines()
    wide = [line for line in lines if len(line) > columns and " " in line.strip()]
    assert wide == []
    assert "..." not in "".join(line for line in lines if "export" not in line)


def test_a_narrow_table_says_all_that_a_wide_one_does(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    for columns in ("80", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        assert show("own.yaml", "--no-run") == 1
        told.append(set(capsys.readouterr().out.replace(",", " ").split()))
    assert told[0] == told[1]


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_other_formats_say_all_that_the_terminal_does(
    here: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    assert show("own.yaml", "--no-run", "--format", form) == 1
    out = capsys.readouterr().out.replace("\\_", "_")
    for words in (
        "scenes, Oracle is outside and departs from the paper in",
        "metrics.affine_depth.options.fit, paper disparity_lsq_clamped, ours depth_lsq",
        "source: made up", "a remark", "1 within, 1 outside", "difference: ours less the paper's",
        "predictions made elsewhere",
    ):  # fmt: skip
        assert words in out


def test_latex_is_a_table_for_booktabs_with_its_signs_escaped(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table(here, {**ROW, "data": "50 % & more_", "cells": [{**CELL, "values": {"mae": 9.0}}]})
    assert show("own.yaml", "-o", "own.tex") == 1
    text = (here / "own.tex").read_text()
    assert text.startswith("% needs \\usepackage{booktabs}\n\\begin{table}")
    row = next(line for line in text.splitlines() if line.startswith("50"))
    assert row.startswith(r"50 \% \& more\_ & Gemini & mae & 9.0 & 2.00 & {[}1.")
    assert "& $-$7.00 & 13 & outside" in row
    assert text.count(r"\begin{") == text.count(r"\end{") == 2


@pytest.mark.parametrize("words", [["own.yaml", "--no-run"], ["own.yaml", "--dry-run"], ["list"]])
@pytest.mark.parametrize(
    ("file", "start"),
    [
        ("t.md", ("**own:one**", "**targets**")),
        ("t.tex", ("% needs",)),
        ("t.csv", ("data,label", "target,also named")),
        ("t.txt", ("own:one   A table", "target ")),
    ],
)
def test_a_file_is_written_as_it_is_called(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], file: str,
    start: tuple[str, ...],
) -> None:  # fmt: skip
    assert show(*words, "-o", file) in (0, 1)
    assert (here / file).read_text().startswith(start)
    told = capsys.readouterr()
    assert (told.out, f"written to {file}" in told.err) == ("", True)


def test_the_plan_as_csv_has_a_line_a_cell(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show("probegen:table-4", "--dry-run", "--format", "csv") == 0
    lines = {line["label"]: line for line in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    pro = lines["Nano Banana Pro"]
    assert (pro["does"], pro["calls"], pro["if_data_were_here"]) == ("nothing", "500", "1")
    assert float(pro["usd"]) == pytest.approx(67.0)
    assert lines["Nano Banana 2"]["calls"] == ""  # nobody can run it any more


def test_the_plan_tells_what_runs_would_take_if_the_data_were_here(
    here: Path, say: Say, capsys: pytest.CaptureFixture[str]
) -> None:
    _, record = say("probegen:table-4", "--dry-run")
    would = record["if_data_were_here"]
    assert (record["calls"], would["calls"], would["estimated_usd"]) == (0, 1500, 67.0)
    assert would["without_price"] == 1
    assert show("probegen:table-4", "--dry-run") == 0
    out = capsys.readouterr().out
    assert "500 *" in out
    assert "$67.00 *" in out
    assert "* if the data were here" in out
    assert "if the data were here, besides: 1,500 calls, about $67.00" in out


def test_a_limit_holds_for_what_runs_would_take(here: Path, say: Say) -> None:
    _, record = say("probegen:table-4", "--dry-run", "--limit", "10")
    assert record["if_data_were_here"]["calls"] == 30


def test_answers_that_several_rows_read_are_counted_once(here: Path, say: Say) -> None:
    _, record = say("probegen:table-5", "--dry-run")
    calls = [cell["calls"] for cell in record["cells"] if cell["label"] == "GPT-Image-2"]
    assert calls == [3000] * 4
    models = [run["model"] for run in record["if_data_were_here"]["runs"]]
    assert models.count("vgen-eval:openai/gpt-image-2") == 6  # sets


def test_the_list_names_each_alias_so_that_it_works(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert show("list") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "also named probegen:decoder-selection" in out
    assert "Semantic segmentation of Cityscapes with an oracle list" in out
    assert "The judge against people" in out
    assert show("probegen:decoder-selection", "--no-run") == 0
