"""`vgen-eval report`: one page, what it says on the terminal, and what is refused."""

from __future__ import annotations

import json
import os
import re

import pytest
from vgen_eval import evaluate
from vgen_eval.cli import main

pytest.importorskip("jinja2", reason="a report needs vgen-eval[view]")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    output = tmp_path_factory.mktemp("reported")
    evaluate(
        tasks=["samples/depth", "samples/answers"], model="oracle", output=output, bounds=False,
        limit=2,
    )  # fmt: skip
    return output


def test_a_page_is_written_and_the_choice_told(results, tmp_path, capfd):
    file = tmp_path / "page.html"
    words = ["--output", str(results), "--task", "depth", "-n", "1", "-o", str(file)]
    assert main(["report", "oracle", *words]) == 0
    said = capfd.readouterr()
    (line,) = said.err.splitlines()
    assert re.fullmatch(rf"written to {re.escape(str(file))}, [\d.]+ k?M?B, 1 sample", line)
    assert "samples/depth@standard: 1 sample, first by id: delta1 of oracle is 1 on all" in said.out
    assert file.read_text().startswith("<!doctype html>")
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]


def test_runs_of_several_tasks_are_one_page(results, tmp_path, capfd):
    file = tmp_path / "page.html"
    words = ["--output", str(results), "-n", "1", "-o", str(file), "--json"]
    assert main(["report", "oracle", *words]) == 0
    record = json.loads(capfd.readouterr().out)
    tasks = [part["task"] for part in record["parts"]]
    assert sorted(tasks) == ["samples/answers@standard", "samples/depth@standard"]
    assert all(len(part["shown"]) == 1 for part in record["parts"])


def test_what_does_not_fit_is_told(results, tmp_path, capfd):
    file = tmp_path / "page.html"
    words = ["--output", str(results), "--task", "depth", "--max-mb", "0.2", "-o", str(file)]
    assert main(["report", "oracle", *words]) == 0
    assert file.stat().st_size <= 200_000
    assert "no room for every value under the cursor" in capfd.readouterr().err


def test_named_samples_are_shown_by_the_tasks_that_have_them(results, tmp_path, capfd):
    words = ["--output", str(results), "-o", str(tmp_path / "page.html"), "--json"]
    (file,) = results.glob("runs/*/samples/depth*/*/samples.jsonl")
    name = json.loads(file.read_text().splitlines()[0])["id"]
    assert main(["report", "oracle", *words, "--sample", name]) == 0
    (part,) = json.loads(capfd.readouterr().out)["parts"]
    assert (part["task"], part["ids"]) == ("samples/depth@standard", [name])
    assert main(["report", "oracle", *words, "--sample", f"{name}x"]) == 2
    assert f"no sample '{name}x' of these runs. Nearest: {name}" in capfd.readouterr().err


def test_too_small_a_limit_says_what_is_needed_and_that_is_enough(results, tmp_path, capfd):
    file = tmp_path / "page.html"
    words = ["--output", str(results), "--task", "depth", "-o", str(file)]
    assert main(["report", "oracle", *words, "--max-mb", "0.1"]) == 2
    needed = re.findall(r"the first needs ([\d.]+)", capfd.readouterr().err)[0]
    assert main(["report", "oracle", *words, "--max-mb", needed]) == 0
    assert file.stat().st_size <= float(needed) * 1e6


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "a report is a file"),
        (["-o", "page.pdf"], "no format '.pdf'"),
        (["--select", "medan:x", "-o", "p.html"], "Nearest: median"),
        (["--select", "decides", "--sample", "x", "-o", "p.html"], "one of them chooses"),
        (["--sample", "scene-bals", "-o", "p.html"], "no sample 'scene-bals'"),
        (["--max-mb", "0.1", "-o", "p.html"], "--max-mb 0.1: not one sample fits"),
    ],
)
def test_what_cannot_be_is_refused(results, tmp_path, monkeypatch, words, said, capfd):
    monkeypatch.chdir(tmp_path)
    assert main(["report", "oracle", "--task", "depth", "--output", str(results), *words]) == 2
    assert said in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["report", "--max-mb", "nan"], "--max-mb: 'nan' is no number"),
        (["figure", "--width", "nan", "-o", "a.png"], "--width: 'nan' is no number"),
        (["figure", "--range", "0~inf", "-o", "a.png"], "--range: '0~inf' is no range"),
        (["figure", "--range", "nan~1", "-o", "a.png"], "--range: 'nan~1' is no range"),
        (["report", "--select", "random:" + "9" * 5000, "-o", "a.html"], "is no seed"),
        (["check", "x", "--timeout", "nan"], "--timeout: 'nan' is no number"),
    ],
)
def test_numbers_that_are_none_are_refused(words, told, capfd):
    assert main(words) == 2
    said = capfd.readouterr().err
    assert told in said
    assert len(said) < 400


@pytest.mark.parametrize(("verb", "name"), [("report", "a.html"), ("figure", "a.png")])
def test_a_pipe_is_no_file_to_write(verb, name, tmp_path, capfd):
    os.mkfifo(tmp_path / name)
    assert main([verb, "-o", str(tmp_path / name)]) == 2
    assert f"{tmp_path / name} is a pipe" in capfd.readouterr().err


@pytest.mark.parametrize("verb", ["report", "figure"])
def test_a_number_of_samples_that_is_none_names_the_short_option(verb, capfd):
    assert main([verb, "oracle", "-n", "0", "-o", "x.html"]) == 2
    assert capfd.readouterr().err.startswith("error: -n: 0 is not in the range")
