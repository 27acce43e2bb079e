"""Which runs words mean, in every verb that takes runs; what is said where they mean none."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import vgen_eval
from vgen_eval.cli import main
from vgen_eval.cli.finding import find_run, find_run_paths
from vgen_eval.engine.importing import import_predictions
from vgen_eval.errors import UsageError
from vgen_eval.plugins import Catalog

Output = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results hold copy and classical on two tasks, and predicted counts of alpha
    with their bounds, oracle and blind."""
    folder = tmp_path_factory.mktemp("words")
    tasks = ["samples/counting", "samples/semantic"]
    vgen_eval.evaluate(
        tasks=tasks, models=["copy", "classical"], output=folder / "results", bounds=False, limit=3
    )
    (folder / "p.jsonl").write_text('{"id": "coins", "output": "3"}\n')
    import_predictions(
        task="samples/counting", predictions=folder / "p.jsonl", model_name="alpha",
        catalog=Catalog.discover(), output=str(folder / "results"), answer="text",
    )  # fmt: skip
    return folder


@pytest.fixture(autouse=True)
def _there(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made)


RESULTS = Path("results")


def test_a_run_is_found_as_exports_and_cards_name_it(tmp_path: Path) -> None:
    assert main(["export", "csv", "--to", str(tmp_path)]) == 0
    with (tmp_path / "scores.csv").open(newline="") as file:
        names = {row["run"] for row in csv.DictReader(file)}
    assert len(names) == 7
    for name in names:
        assert find_run(name, RESULTS) == RESULTS / name
        assert find_run_paths([name], RESULTS) == [RESULTS / name]


@pytest.mark.parametrize(
    ("word", "count"),
    [
        ("runs/copy", 2),
        ("copy", 2),
        ("vgen-eval:copy", 2),
        ("predictions:alpha", 1),
        ("alpha", 1),
        ("alpha/samples/counting", 1),
        ("alpha/samples/counting@standard", 1),
        ("copy/samples/semantic", 1),
        ("results", 7),
    ],
)
def test_folders_and_models_mean_their_runs(word: str, count: int) -> None:
    assert len(find_run_paths([word], RESULTS)) == count


def test_a_word_that_holds_one_run_means_it_where_one_is_wanted(capsys: Output) -> None:
    assert main(["show", "predictions:alpha"]) == 0
    assert "samples/counting@standard: alpha" in capsys.readouterr().out.splitlines()
    assert main(["show", "copy/samples/semantic", "--failed"]) == 0
    with pytest.raises(UsageError, match="'runs/copy' holds 2 runs: "):
        find_run("runs/copy", RESULTS)


def test_nothing_is_deleted_that_was_not_named_itself(capsys: Output) -> None:
    assert main(["runs", "rm", "alpha", "--yes"]) == 2
    assert "'alpha' is no run itself: it holds one" in capsys.readouterr().err
    assert len(find_run_paths(["alpha"], RESULTS)) == 1


def test_what_is_near_a_wrong_word_is_a_model_before_an_id() -> None:
    with pytest.raises(UsageError, match=r"no run 'alph' in results/runs\. Nearest: alpha"):
        find_run("alph", RESULTS)
    name = find_run("alpha", RESULTS).name
    with pytest.raises(UsageError, match=f"Nearest: {name}"):
        find_run(name[1:], RESULTS)


def test_a_folder_without_runs_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no runs"):
        find_run_paths([str(tmp_path)], RESULTS)
    with pytest.raises(UsageError, match=r"the folder '.*' holds no runs"):
        find_run(str(tmp_path), RESULTS)


def test_one_task_is_picked_from_folders_of_several(capsys: Output) -> None:
    for task in ("samples/semantic", "semantic", "samples/semantic@standard"):
        paths = find_run_paths(["copy", "classical"], RESULTS, task=task)
        assert [path.parent.name for path in paths] == ["semantic@standard"] * 2
    with pytest.raises(UsageError, match=r"of 'samples/semantics'\. Nearest: samples/semantic@"):
        find_run_paths(["copy"], RESULTS, task="samples/semantics")
    assert main(["compare", "copy", "classical"]) == 2
    cause, cure = capsys.readouterr().err.splitlines()
    assert cause == ("error: these are runs of several tasks: samples/counting / samples/semantic")
    assert cure.startswith("name runs of one task, or --task samples/counting; --across tasks")
    assert main(["compare", "copy", "classical", "--task", "samples/semantic"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "samples/semantic@standard   2 runs"


def test_runs_of_several_tasks_without_a_common_sample_are_told_to_be_that(capsys: Output) -> None:
    runs = [str(find_run(f"copy/samples/{task}", RESULTS)) for task in ("counting", "semantic")]
    assert main(["compare", *runs, "--anyway"]) == 2
    said = capsys.readouterr().err
    assert "several tasks" in said or "not every run has it" in said


@pytest.mark.parametrize("verb", ["table", "plot", "export", "plugin new", "data export"])
def test_what_is_written_is_named_by_to_in_every_verb(verb: str, capsys: Output) -> None:
    assert main([*verb.split(), "--help"]) == 0
    assert "-o, --to" in capsys.readouterr().out


def test_a_results_folder_given_as_the_file_to_write_is_told(capsys: Output) -> None:
    assert main(["table", "copy", "-o", "results"]) == 2
    cause, cure = capsys.readouterr().err.splitlines()
    assert "results is a folder" in cause
    assert "--output DIR is the results folder" in cure


def test_run_takes_task_as_the_other_verbs_do(capsys: Output) -> None:
    words = ["--task", "samples/counting", "--model", "copy", "--limit", "3", "--no-bounds"]
    assert main([*words, "--dry-run"]) == 0
    assert "3 of 13 samples" in capsys.readouterr().out
