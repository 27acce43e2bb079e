"""What is no comparison of models: refused with what differs, or done and said; and bad input."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import vgen_eval
from comparekit import Compare, run_path, score_values
from vgen_eval.cli import main


@pytest.fixture
def copied(tmp_path: Path, output: Path) -> Path:
    """A results folder of its own: oracle, blind and copy on counting."""
    for model in ("oracle", "blind", "copy"):
        run = run_path(output, model, "counting")
        shutil.copytree(run, tmp_path / run.relative_to(output))
    return tmp_path


def _refused(capsys: pytest.CaptureFixture[str], *words: object, code: int = 2) -> str:
    assert main(["compare", *map(str, words)]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert len(said.err.splitlines()) <= 2
    return said.err


@pytest.fixture
def text_oracle(counted: dict[str, Path]) -> Path:
    """The ceiling of predicted counts: an oracle that answers with text."""
    return run_path(counted["right"].parents[5], "oracle", "counting", answer="text")


def test_another_answer_form_is_refused_and_told(
    output: Path, text_oracle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [run_path(output, "oracle", "counting"), text_oracle]
    told = _refused(capsys, *runs)
    assert "oracle image, oracle text differ in more than the model" in told
    assert "answer.form: image / text" in told
    assert "decoder.name: vgen-eval:red_dots / vgen-eval:count_text" in told
    assert "--anyway" in told


def test_anyway_says_what_differs_above_the_numbers(
    output: Path, text_oracle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [run_path(output, "oracle", "counting"), text_oracle]
    assert main(["compare", *map(str, runs), "--anyway"]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("  answer.form: image / text")
    assert at < lines.index("mae in objects, lower is better   13 samples in 10 groups")
    assert max(map(len, lines)) <= 80


def test_other_samples_are_compared_where_they_are_common(
    output: Path, tmp_path: Path, compare: Compare, capsys: pytest.CaptureFixture[str]
) -> None:
    [card] = vgen_eval.evaluate(
        tasks="samples/counting", model="copy", output=str(tmp_path), limit=5, bounds=False
    )
    runs = [run_path(output, "blind", "counting"), tmp_path / card.run]
    told = _refused(capsys, *runs)
    assert "samples.n: 13 / 5" in told
    record = compare(*runs, "--anyway")
    assert {"field": "samples.n", "values": [13, 5]} in record["identity"]
    second = score_values(runs[1], "mae")
    first = {name: score_values(runs[0], "mae")[name] for name in second}
    part = record["measures"][0]["parts"][0]
    assert part["n"] == 5
    assert [value["value"] for value in part["values"]] == [
        pytest.approx(sum(first.values()) / 5), pytest.approx(sum(second.values()) / 5),
    ]  # fmt: skip
    assert part["pairs"][0]["difference"] == pytest.approx(
        (sum(second.values()) - sum(first.values())) / 5
    )


def test_options_of_a_model_are_what_is_compared(
    output: Path, tmp_path: Path, compare: Compare, capsys: pytest.CaptureFixture[str]
) -> None:
    [card] = vgen_eval.evaluate(
        tasks="samples/referring", model="blind", output=str(tmp_path), bounds=False,
        model_args={"box": 0.25},
    )  # fmt: skip
    runs = [run_path(output, "blind", "referring"), tmp_path / card.run]
    record = compare(*runs)
    assert record["identity"] == []
    assert {"field": "model.options.box", "values": [0.5, 0.25]} in record["model"]
    assert [run["label"] for run in record["runs"]] == ["blind box=0.5", "blind box=0.25"]
    assert main(["compare", *map(str, runs)]) == 0
    assert "  model.options.box: 0.5 / 0.25" in capsys.readouterr().out.splitlines()


def test_runs_of_several_tasks_are_sent_across(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [run_path(output, "oracle", task) for task in ("counting", "depth")]
    told = _refused(capsys, *runs)
    assert "several tasks: samples/counting / samples/depth" in told
    assert "--across tasks" in told
    assert "not every run has it" in _refused(capsys, *runs, "--anyway")


def test_samples_that_are_never_common_are_refused(
    output: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = []
    for name, sample in (("blind", "coins"), ("copy", "chelsea-eyes")):
        [card] = vgen_eval.evaluate(
            tasks="samples/counting", model=name, output=str(tmp_path), samples=[sample],
            bounds=False, forms=("image",),
        )  # fmt: skip
        runs.append(tmp_path / card.run)
    assert "no sample in common" in _refused(capsys, *runs, "--anyway", "--metric", "mae")


def test_one_run_is_none_to_compare(output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = run_path(output, "oracle", "counting")
    assert "1 run to compare" in _refused(capsys, run)
    assert "named twice" in _refused(capsys, run, run)
    assert "no run named" in _refused(capsys)


def test_a_copy_of_a_run_is_the_same_run(
    output: Path, copied: Path, capsys: pytest.CaptureFixture[str], compare: Compare
) -> None:
    run = run_path(output, "oracle", "counting")
    assert "the same run as" in _refused(capsys, run, run_path(copied, "oracle", "counting"))
    record = compare(
        run, run_path(output, "copy", "counting"), run_path(copied, "oracle", "counting")
    )
    assert len(record["runs"]) == 2
    assert record["left_out"][0]["reason"] == f"the same run as {run}"


def test_a_run_that_cannot_be_read_ends_it_when_named_and_is_left_out_of_a_folder(
    copied: Path, compare: Compare, capsys: pytest.CaptureFixture[str]
) -> None:
    half = run_path(copied, "copy", "counting")
    (half / "result_card.json").unlink()
    oracle, blind = (run_path(copied, model, "counting") for model in ("oracle", "blind"))
    assert "no result card yet" in _refused(capsys, oracle, half, code=3)
    record = compare(oracle, blind, copied)
    assert [run["label"] for run in record["runs"]] == ["oracle", "blind"]
    reason = "no result card yet (the run has not ended)"
    cure = f"vgen-eval score {half}, or the command that began it"
    assert record["left_out"] == [{"what": str(half), "reason": f"{reason}; {cure}"}]


@pytest.mark.parametrize(
    ("change", "told", "code"),
    [
        ({"schema_version": "9.0"}, "schema 9.0", 3),
        ({"schema_version": None}, "schema", 3),
        ({"primary": "nosuch"}, "no value of its primary 'nosuch'", 3),
        ({"primary": None}, "damaged", 3),
        ({"scores": "none"}, "damaged", 3),
    ],
)
def test_cards_that_say_too_little_are_told(
    copied: Path, change: dict[str, object], told: str, code: int,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    runs = [run_path(copied, model, "counting") for model in ("oracle", "blind")]
    for run in runs:
        card = json.loads((run / "result_card.json").read_text())
        (run / "result_card.json").write_text(json.dumps(card | change))
    assert told in _refused(capsys, *runs, code=code)


def test_a_card_without_its_primary_is_compared_by_another_value(
    copied: Path, compare: Compare
) -> None:
    runs = [run_path(copied, model, "counting") for model in ("oracle", "blind")]
    card = json.loads((runs[0] / "result_card.json").read_text())
    (runs[0] / "result_card.json").write_text(json.dumps(card | {"primary": "nosuch"}))
    assert compare(*runs, "--metric", "rmse")["measures"][0]["metric"] == "rmse"


def test_scores_of_other_components_are_told_with_the_cure(
    copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [run_path(copied, model, "counting") for model in ("oracle", "blind")]
    [path] = (runs[1] / "scores").glob("*.jsonl")
    path.rename(path.with_name("other.jsonl"))
    told = _refused(capsys, *runs, code=3)
    assert f"vgen-eval score {runs[1]}" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--metric", "rms"], "value 'rms': no run has it. Nearest: rmse"),
        (["--by", "densty"], "no sample has that tag. Nearest: density"),
        (["--with-bounds"], "goes with --across tasks"),
        (["--across", "tasks", "--metric", "mae"], "--metric goes with runs of one task"),
        (["--across", "tasks", "--anyway"], "--anyway goes with runs of one task"),
        (["--across", "models"], "--across"),
        (["nosuchrun"], "no run 'nosuchrun'"),
    ],
)
def test_words_that_cannot_be_meant_are_refused(
    output: Path, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [run_path(output, model, "counting") for model in ("oracle", "blind")]
    assert told in _refused(capsys, *runs, *words, "--output", output)
