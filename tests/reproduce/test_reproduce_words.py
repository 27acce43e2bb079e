"""What people read: the table, its notes, the difference report; Markdown and CSV."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import msgspec
import pytest
from reproducekit import DEPTH, ROW, import_counts, run, table
from vgen_eval.cli import main
from vgen_eval.results.published import Cell, Row, Table


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
    assert lines[2].split()[:5] == ["photographs", "Gemini", "mae", "2.0", "2.00"]
    assert lines[2].endswith("0.00   13   within, predictions made elsewhere")
    assert "  source: made up" in lines
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
    run(here, tasks="samples/depth", model="oracle")
    own = table(here, {**DEPTH, "cells": [{**DEPTH["cells"][0], "values": {"delta1": 0.5}}]})
    assert main(["reproduce", own, "--output", "out"]) == 1
    assert "Oracle is outside and departs from the paper in nothing\n" in capsys.readouterr().out


def far(**more: object) -> dict[str, object]:
    return {**DEPTH, **more, "cells": [{**DEPTH["cells"][0], "values": {"delta1": 0.5}}]}


@pytest.mark.parametrize("kind", ["limit", "incomplete", "the table says so"])
def test_what_is_approximate_is_called_so_below_the_table_too(
    here: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    limit = {"limit": 4} if kind == "limit" else {}
    card = run(here, tasks="samples/depth", model="oracle", **limit)
    row, told = far(), " and departs from the paper in\n"
    if kind == "incomplete":
        path = here / "out" / card.run / "result_card.json"
        path.write_text(path.read_text().replace('"complete": true', '"complete": false'))
        told = ": incomplete: 10 of 10 attempts\n"
    elif kind != "limit":
        row, told = far(comparability="approximate", reason="another pool"), ": another pool\n"
    assert main(["reproduce", table(here, row), "--output", "out", "--no-run"]) == 0
    out = capsys.readouterr().out
    assert f"scenes, Oracle is approximate (outside by number){told}" in out
    assert "in nothing" not in out


def test_csv_holds_no_formulas(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = table(here, {**far(), "data": "=1+1", "reports": []})
    words = ["reproduce", own, "--output", "out", "--format", "csv"]
    for more in (["--no-run"], ["--dry-run"]):
        assert main([*words, *more]) == 0
        (line,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
        assert line["data"] == "'=1+1"


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
    assert lines[4].startswith("| a \\| b | Gemini | mae | 2.0 | 2.00 |")


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
    (line,) = (line for line in out.splitlines() if line.startswith("probegen:table-a1 "))
    assert line.split()[1] == "probegen:decoder-selection"


def test_targets_are_completed() -> None:
    from vgen_eval.cli.completing import complete_targets

    assert complete_targets(None, None, "editors:") == [  # type: ignore[arg-type]
        "editors:table-2", "editors:table-3", "editors:table-4",
    ]  # fmt: skip


def test_the_table_of_the_docs_is_sound(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[2] / "docs" / "reproduce.md").read_text(encoding="utf-8")
    least, whole = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    for yaml, told in ((least, "  1 not run\n"), (whole, "  2 not run\n")):
        (here / "own.yaml").write_text(yaml, encoding="utf-8")
        assert main(["reproduce", "own.yaml", "--output", "out", "--no-run"]) == 0
        assert told in capsys.readouterr().out


def test_the_docs_name_every_key_and_which_have_to_be_given() -> None:
    text = (Path(__file__).parents[2] / "docs" / "reproduce.md").read_text(encoding="utf-8")
    least, whole = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    keys = re.compile(r"^[ -]*([a-z_]+):", re.MULTILINE)
    written = set(keys.findall(whole)) | {"mean_of"}
    fields = [f for kind in (Table, Row, Cell) for f in msgspec.structs.fields(kind)]
    assert written == {field.name for field in fields}
    required = {field.name for field in fields if field.required}
    assert required <= set(keys.findall(least))
    for name in required:
        (line, *_) = (each for each in whole.splitlines() if re.match(rf"[ -]*{name}:", each))
        assert "required" in line or name in ("table", "title", "source"), line
