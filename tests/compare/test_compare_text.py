"""What a person reads of a comparison, the help, and attempts that are taken together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import vgen_eval
from comparekit import MODELS, Compare, run_path, score_values
from vgen_eval.cli import main
from vgen_eval.types import Request


def test_a_known_difference_reads_so(
    counted: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [str(counted[name]) for name in ("right", "off", "again")]
    assert main(["compare", *runs, "--metric", "mae"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "samples/counting@standard   3 runs"
    assert lines[1] == "differences: to run 1, right, paired by sample, with 95 % intervals"
    assert lines[2] == "p: runs exchanged group by group, Holm-corrected for 2 tests"
    rows = [line.split() for line in lines]
    assert ["2", "-", "1", "+1", "[1,", "1]", "0.00391", "0", "0", "13", "worse"] in rows
    at = lines.index("farthest apart, 2 - 1   run 1   run 2")
    assert lines[at + 1].split() == ["coins", "0", "1"]


def test_a_difference_that_is_not_shown_says_what_it_would_take(
    counted: dict[str, Path], compare: Compare, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [str(counted[name]) for name in ("off", "mixed")]
    [pair] = compare(*runs)["measures"][0]["parts"][0]["pairs"]
    assert main(["compare", *runs]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "not shown" in text
    needed = pair["needed"]
    assert (
        f"it would take about {needed['samples']:,} samples ({needed['groups']:,} groups)" in text
    )


@pytest.mark.parametrize("task", ["counting", "depth", "normals", "referring", "semantic"])
def test_every_task_fits_in_80_columns(
    output: Path, task: str, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [str(run_path(output, model, task)) for model in MODELS]
    tag = {"counting": "density", "depth": "place", "normals": "place"}.get(task)
    by = [] if tag is None else ["--by", tag]
    assert main(["compare", *runs, "--pairs", "all", "--metric", "all", *by]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert "nan" not in text.lower()
    assert "inf" not in text.lower()


def test_the_document_says_what_the_text_says(
    output: Path, compare: Compare, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [str(run_path(output, model, "depth")) for model in ("copy", "classical")]
    record = compare(*runs)
    assert (record["schema_version"], record["exit_code"]) == ("1.0", 0)
    assert (record["pairing"], record["correction"]) == ("first", "holm")
    assert [run["model"] for run in record["runs"]] == ["vgen-eval:copy", "vgen-eval:classical"]
    assert main(["compare", *runs]) == 0
    text = capsys.readouterr().out
    [pair] = record["measures"][0]["parts"][0]["pairs"]
    assert f"{pair['difference']:+.3g}" in text
    assert "no interval: 7 groups, fewer than 10" in text


def test_several_attempts_count_as_their_mean(tmp_path: Path, compare: Compare) -> None:
    def guess(request: Request) -> str:
        return str(2 + 3 * request.attempt)

    def three(request: Request) -> str:
        return "3"

    runs = {}
    for name, function, attempts in (("guess", guess, 2), ("three", three, 2), ("once", three, 1)):
        [card] = vgen_eval.evaluate(
            tasks="samples/counting", model=function, model_name=name, forms=("text",),
            attempts=attempts, output=str(tmp_path), bounds=False,
        )  # fmt: skip
        runs[name] = tmp_path / card.run
    by_attempt: dict[str, dict[int, float]] = {}
    for text in next((runs["guess"] / "scores").glob("*.jsonl")).read_text().splitlines():
        line = json.loads(text)
        by_attempt.setdefault(line["sample"], {})[line["attempt"]] = line["values"]["mae"]
    second = score_values(runs["once"], "mae")
    part = compare(runs["guess"], runs["three"])["measures"][0]["parts"][0]
    means = [sum(values.values()) / 2 for values in by_attempt.values()]
    assert part["values"][0]["value"] == pytest.approx(sum(means) / 13)
    assert part["pairs"][0]["difference"] == pytest.approx((sum(second.values()) - sum(means)) / 13)
    # of unequal numbers of attempts, the first ones that both have
    part = compare(runs["guess"], runs["once"], "--anyway")["measures"][0]["parts"][0]
    alone = [values[0] for values in by_attempt.values()]
    assert part["values"][0]["value"] == pytest.approx(sum(alone) / 13)
    assert part["pairs"][0]["difference"] == pytest.approx((sum(second.values()) - sum(alone)) / 13)


def test_intervals_are_promised_only_where_there_are_some(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = {
        task: [str(run_path(output, model, task)) for model in ("classical", "copy")]
        for task in ("counting", "depth")
    }
    assert main(["compare", *runs["counting"]]) == 0
    text = capsys.readouterr().out
    assert "paired by sample, with 95 % intervals" in text
    assert "difference, 95 %" in text
    assert main(["compare", *runs["depth"], "--metric", "all"]) == 0
    text = capsys.readouterr().out
    assert text.count("95 %") == 0
    assert text.count("no interval: 7 groups, fewer than 10") == 1


def test_help_and_completion_know_the_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--help"]) == 0
    assert "--across tasks" in capsys.readouterr().out
    from click.shell_completion import ShellComplete
    from vgen_eval.cli import COMPLETE, PROGRAM, cli

    complete = ShellComplete(cli, {}, PROGRAM, COMPLETE)
    assert [item.value for item in complete.get_completions([], "comp")] == [
        "compare",
        "completion",
    ]
    found = [item.value for item in complete.get_completions(["compare", "--pairs"], "")]
    assert found == ["first", "all"]
