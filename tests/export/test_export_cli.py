"""`vgen-eval export`: what it prints, what it exits with."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from exportkit import Copied, runs_of
from vgen_eval.cli import main
from vgen_eval.exporting import File, LeftOut
from vgen_eval.plugins import Catalog
from vgen_eval.results.kept import open_kept

ROOT = Path(__file__).parents[2]


def test_all_of_the_results_folder_goes_out_when_no_run_is_named(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["export", "csv", "--output", str(results), "-o", str(out)]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[0] == f"vgen-eval:csv   10 runs   2 files   {out}"
    assert "scores.csv" in said.out
    assert said.err == ""


def test_runs_are_named_as_other_verbs_name_them(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run,) = runs_of(results, "blind", "depth")
    for number, words in enumerate(([run.name[:8]], [str(run)], ["blind"], [str(results)])):
        out = tmp_path / str(number)
        options = ["--output", str(results), "--to", str(out), "--json"]
        assert main(["export", "csv", *words, *options]) == 0
        record = json.loads(capsys.readouterr().out)
        assert len(record["runs"]) == (1, 1, 3, 10)[number]
        assert record["format"] == "vgen-eval:csv"
        assert {file["path"] for file in record["files"]} == {"scores.csv", "columns.json"}
        assert record["exit_code"] == 0


def test_runs_that_are_left_out_are_told_and_change_the_exit_status(
    results: Path, copied: Copied, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    half = copied("blind", "depth")
    (half / "result_card.json").unlink()
    (good,) = runs_of(results, "oracle", "depth")
    out = ["-o", str(tmp_path / "out"), "--output", str(results)]
    assert main(["export", "csv", str(good), str(half), *out]) == 1
    assert f"left out: {half}: no result card yet" in capsys.readouterr().err
    assert main(["export", "csv", str(half), *out]) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[-1] == "error: nothing was exported"
    assert main(["export", "csv", str(half), *out, "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["files"] == []


@pytest.mark.parametrize(
    ("words", "what", "cure"),
    [
        (["cvs", "-o", "out"], "no exporter 'cvs'. Nearest: csv", "vgen-eval list"),
        (["csv"], "no folder to write into is named", "vgen-eval export csv -o DIR"),
        (["csv", "-o", "--json"], "'--json' is no folder", "-o DIR"),
        (["csv", "-o", "out", "--output", "nowhere"], "no runs in nowhere/runs", "--output DIR"),
        (["csv", "none-such", "-o", "out"], "no run 'none-such'", "runs list"),
        (["csv", "-o", "out", "--task-id", "t"], "has no option 'task_id'", "it has none"),
        (["hf-eval-results", "-o", "out", "--set", "task_id=a", "--task-id", "b"], "twice", ""),
        (["hf-eval-results", "-o", "out"], "under which id", "--task-id ID"),
        (["csv", "-o", "file"], "file is a file", "-o names a folder"),
    ],
)
def test_mistakes_are_told_with_their_cure(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], words: list[str], what: str, cure: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").symlink_to(results)
    (tmp_path / "file").write_text("mine")
    assert main(["export", *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert what in said.err
    assert cure in said.err
    assert not (tmp_path / "out").exists()


def test_the_exporter_of_the_docs_runs(results: Path) -> None:
    text = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found is not None
    names: dict[str, Any] = {}
    exec(compile(found[1], "export.md", "exec"), names)
    kind = names["Names"]
    runs, faults = open_kept(runs_of(results), Catalog.discover())
    assert faults == []
    *gone, file = kind(kind.Options()).export(runs)
    assert [type(given) for given in gone] == [LeftOut]
    assert isinstance(file, File)
    assert len(b"".join(file.parts).splitlines()) == 9


def test_formats_are_listed_shown_and_completed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["list", "exporters"]) == 0
    assert "every-eval-ever" in capsys.readouterr().out
    assert main(["show", "hf-eval-results"]) == 0
    assert "hub_dataset" in capsys.readouterr().out
    monkeypatch.setenv("_VGEN_EVAL_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "vgen-eval export c")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert main([]) == 0
    assert capsys.readouterr().out.split() == ["plain,csv"]


def test_runs_with_one_reason_are_one_line(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["export", "hf-eval-results", "classical", "--task-id", "t", "--hub-dataset", "a/b"]
    options = ["-o", str(tmp_path / "out"), "--output", str(results)]
    assert main([*words, *options]) == 3
    line, end = capsys.readouterr().err.splitlines()
    assert line.startswith("left out: 3 runs (")
    assert line.count("runs/classical/") == 2
    assert line.endswith(", ...): 3 runs of classical would be one number under task id 't'; "
                         "name one run, or --task NAME")  # fmt: skip
    assert end == "error: nothing was exported"
    assert main([*words, *options, "--task", "depth"]) == 0
