"""`vgen-eval table` and `vgen-eval plot`, as they are typed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tablekit import find
from vgen_eval.cli import main

Output = pytest.CaptureFixture[str]


def test_a_table_of_a_results_folder(results: Path, capfd: Output) -> None:
    assert main(["table", "--output", str(results)]) == 0
    out, err = capfd.readouterr()
    assert out.splitlines()[0].split() == [
        "model", *["samples/counting"] * 2, "samples/referring", "samples/semantic",
    ]  # fmt: skip
    assert err == ""


def test_json_is_the_record_and_the_file_is_written(
    results: Path, tmp_path: Path, capfd: Output
) -> None:
    file = tmp_path / "new" / "table.tex"
    assert main(["table", str(results), "--json", "-o", str(file)]) == 0
    out, err = capfd.readouterr()
    record = json.loads(out)
    assert record["rows_by"] == ["model"]
    assert record["exit_code"] == 0
    assert len(record["cells"]) == 4
    assert file.read_text().count(r"\toprule") == 1
    assert f"written to {file}" in err


@pytest.mark.parametrize(
    ("name", "start"), [("t.md", "| model |"), ("t.csv", "row,column,"), ("t.txt", "model ")]
)
def test_a_files_name_says_its_format(
    name: str, start: str, results: Path, tmp_path: Path, capfd: Output
) -> None:
    assert main(["table", str(results), "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_text().startswith(start)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("word", "start"), [("text", "model  "), ("md", "| model"), ("Markdown", "| model"),
                        ("TEX", "% needs"), ("csv", "row,")],
)  # fmt: skip
def test_a_format_has_other_words_and_wins_over_the_files_name(
    word: str, start: str, results: Path, tmp_path: Path, capfd: Output
) -> None:
    assert main(["table", str(results), "--format", word]) == 0
    assert capfd.readouterr().out.startswith(start)
    assert main(["table", str(results), "--format", word, "-o", str(tmp_path / "t.dat")]) == 0
    assert (tmp_path / "t.dat").read_text().startswith(start)


def test_axes_are_lists(results: Path, capfd: Output) -> None:
    words = ["table", str(results), "--rows", "model,prompt", "--cols", "task, metric", "--json"]
    assert main(words) == 0
    record = json.loads(capfd.readouterr().out)
    assert record["rows_by"] == ["model", "prompt"]
    assert record["cols_by"] == ["task", "metric"]


def broken(results: Path, folder: Path) -> dict[str, Path]:
    """A results folder with a run of another schema, a half-written and a damaged one."""
    shutil.copytree(results, folder)
    runs = [run.path for run in find(folder, model="classical")]
    schema, half, damaged = sorted(runs)
    card = json.loads((schema / "result_card.json").read_text())
    (schema / "result_card.json").write_text(json.dumps({**card, "schema_version": "9.0"}))
    (half / "result_card.json").unlink()
    (damaged / "result_card.json").write_text('{"schema_version": "1.0", "ru')
    return {"schema": schema, "half": half, "damaged": damaged}


def test_runs_that_cannot_be_read_are_told_and_left_out(
    results: Path, tmp_path: Path, capfd: Output
) -> None:
    runs = broken(results, tmp_path / "results")
    assert main(["table", "--output", str(tmp_path / "results")]) == 0
    out, err = capfd.readouterr()
    assert "classical" not in out
    lines = err.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("left out: ") for line in lines)
    for name, told in (
        ("schema", "schema 9.0"),
        ("half", "no result card yet"),
        ("damaged", "damaged"),
    ):
        (line,) = (line for line in lines if str(runs[name]) in line)
        assert told in line


def test_a_named_run_that_cannot_be_read_ends_with_3(
    results: Path, tmp_path: Path, capfd: Output
) -> None:
    runs = broken(results, tmp_path / "results")
    assert main(["table", str(runs["half"])]) == 3
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("error: no run can be read: ")
    other = next((tmp_path / "results" / "runs" / "blind").glob("**/run.json")).parent
    assert main(["table", str(runs["half"]), str(other)]) == 3
    out, err = capfd.readouterr()
    assert "blind (floor)" in out
    assert err.startswith("left out: ")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["table"], "no runs in"),
        (["table", "nothing-there"], "no run 'nothing-there'"),
        (["plot", "tags", "-o", "x.png"], "no runs in"),
        (["plot", "tags"], "a figure is a file"),
        (["plot", "tags", "-o", "x.pdf"], "no format '.pdf'"),
        (["plot", "pie", "-o", "x.png"], "pie"),
        (["table", "--format", "html"], "html"),
        (["table", "--format", "markdow"], "Nearest: markdown"),
        (["table", "-o", "x.pdf"], "x.pdf: no format '.pdf'"),
        (["table", "-o", "t.json"], "t.json: no format '.json'"),
        (["table", "-o", "t"], "t: no format ''"),
        (["table", "--cols"], "vgen-eval table --help shows its options"),
        (["runs", "list", "--output"], "vgen-eval runs list --help shows its options"),
        (["--model"], "vgen-eval run --help shows its options"),
    ],
)
def test_slips_end_with_2(
    words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Output
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert told in err


def test_a_folder_is_no_file(results: Path, tmp_path: Path, capfd: Output) -> None:
    assert main(["table", str(results), "-o", str(tmp_path)]) == 2
    assert "is a folder" in capfd.readouterr().err


def test_plots_are_written_and_their_numbers_told(
    results: Path, tmp_path: Path, capfd: Output
) -> None:
    pytest.importorskip("matplotlib")
    classical = str(results / "runs" / "classical")
    for kind, task, name in (
        ("errors", "samples/counting", "e.png"), ("confusion", "samples/semantic", "c.SVG"),
    ):  # fmt: skip
        words = ["plot", kind, classical, "--task", task, "-o", str(tmp_path / name), "--json"]
        assert main(words) == 0
        record = json.loads(capfd.readouterr().out)
        assert (record["kind"], record["exit_code"]) == (kind, 0)
        assert (tmp_path / name).stat().st_size > 5000


def test_confusion_is_of_one_run(results: Path, capfd: Output) -> None:
    words = ["plot", "confusion", str(results), "--task", "samples/semantic", "--json"]
    assert main(words) == 2
    assert "a confusion matrix is of one run, 3 are meant" in capfd.readouterr().err


@pytest.mark.parametrize("word", ["counting", "samples/coun", "counting@standard"])
def test_a_part_of_a_tasks_name_means_the_same_to_table_and_plot(
    word: str, results: Path, capfd: Output
) -> None:
    classical = str(results / "runs" / "classical")
    assert main(["table", classical, "--task", word, "--json"]) == 0
    (col,) = json.loads(capfd.readouterr().out)["cols"]
    assert col["labels"] == ["samples/counting"]
    assert main(["plot", "tags", classical, "--task", word, "--json"]) == 0
    assert "samples/counting@standard" in json.loads(capfd.readouterr().out)["caption"]


@pytest.mark.parametrize("word", ["samples", "counting@other", "nothing"])
def test_a_part_that_means_several_or_none_is_refused_by_both_alike(
    word: str, results: Path, capfd: Output
) -> None:
    told = []
    for verb in (["table"], ["plot", "tags"]):
        assert main([*verb, str(results), "--task", word, "--json"]) == 2
        told.append(capfd.readouterr().err)
    assert told[0] == told[1]
    assert "may be samples/counting, samples/" in told[0] or "no run here is of" in told[0]


@pytest.mark.parametrize(
    ("rows", "cols", "told"),
    [("", "", "rows"), ("model", "", "columns"), (" , ", "task", "rows")],
)
def test_an_axis_of_nothing_is_refused(
    rows: str, cols: str, told: str, results: Path, capfd: Output
) -> None:
    assert main(["table", str(results), "--rows", rows, "--cols", cols]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert f"a table without anything to lay out in {told}" in err
