"""Help, unknown words and the two-line rule."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import vgen_eval
from vgen_eval._version import __version__
from vgen_eval.cli import VERBS, cli, main

Output = pytest.CaptureFixture[str]


def _fails(words: list[str], output: Output, code: int) -> list[str]:
    """The lines on stderr of a command that must fail with this code and a clean stdout."""
    assert main(words) == code
    out, err = output.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert 1 <= len(lines) <= 2
    assert lines[0].startswith("error: ")
    return lines


def test_no_words_print_the_help(capfd: Output) -> None:
    assert main([]) == 0
    bare = capfd.readouterr().out
    assert main(["--help"]) == 0
    assert capfd.readouterr().out == bare
    for verb, (_, text) in VERBS.items():
        assert f"{verb} " in bare
        assert text in bare


def test_version_is_the_packages(capfd: Output) -> None:
    assert main(["--version"]) == 0
    assert capfd.readouterr().out == f"vgen-eval {__version__}\n"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_of_the_table_has_a_command_that_helps(verb: str, capfd: Output) -> None:
    assert main([verb, "--help"]) == 0
    text = capfd.readouterr().out
    assert text.startswith(f"Usage: vgen-eval {verb}")
    command = cli.get_command(cli.make_context("vgen-eval", ["--x"], resilient_parsing=True), verb)
    assert command is not None
    assert command.name == verb


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (["lst"], "list"),
        (["lisst", "tasks"], "list"),
        (["runs", "lst"], "list"),
        (["list", "task"], "tasks"),
        (["run", "--taks", "all"], "--tasks"),
        (["--modle", "x"], "--model"),
        (["show", "--faild", "x"], "--failed"),
        (["show", "samples/countin"], "samples/counting"),
        (["completion", "bsh"], "bash"),
        (["--tasks", "samples/countin", "--model", "copy"], "samples/counting"),
        (["--tasks", "samples/counting", "--model", "cpy"], "copy"),
    ],
)
def test_an_unknown_word_names_the_nearest(words: list[str], nearest: str, capfd: Output) -> None:
    first = _fails(words, capfd, 2)[0]
    assert "Nearest: " in first
    assert nearest in first.partition("Nearest: ")[2].split(", ")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--tasks", "all"], "no model given"),
        (["--model", "copy"], "no task given"),
        (["--limit", "x"], "--limit: "),
        (["--tasks", "all", "--limit", "0"], "--limit: 0 must be at least 1"),
        (["--keep", "some"], "--keep: 'some' is not one of all, failed, none"),
        (["--retry-failed=errr"], "--retry-failed: 'errr' is not one of "),
        (["--fail-over", "2"], "--fail-over: "),
        (["--fail-over", "nan"], "--fail-over: "),
        (["-M", "novalue"], "--model-args 'novalue' is no setting"),
        (["-M", "a=1", "-M", "a=2"], "'a' is given twice"),
        (["--log-level", "loud"], "--log-level: "),
        (["run", "stray"], "unexpected extra argument"),
        (["show"], "NAME|RUN is missing"),
        (["check"], "CARD is missing"),
        (["check", "judge", "acme"], "--human FILE is missing"),
        (["score"], "no run named"),
        (["score", "--task", "samples/counting"], "--predictions is missing"),
        (["list", "models", "--family", "depth"], "--family picks tasks"),
        (["list", "--family", "cooking"], "no task of the family 'cooking'"),
        (["runs", "rm", "abcdef"], "no run 'abcdef'"),
        (["--config", "none.yaml"], "none.yaml: cannot be read"),
        (["--samples", "@none.txt"], "--samples @none.txt: cannot be read"),
    ],
)
def test_usage_errors_are_two_lines_and_exit_with_2(
    words: list[str], text: str, capfd: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert text in _fails(words, capfd, 2)[0]
    assert list(tmp_path.iterdir()) == []


def test_json_leaves_stdout_empty_when_the_words_are_wrong(capfd: Output) -> None:
    _fails(["--tasks", "nope", "--model", "copy", "--json"], capfd, 2)


def test_a_config_file_is_faulted_by_file_and_line(
    capfd: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.yaml").write_text("tasks: [all]\nlimt: 3\nkeep: some\n")
    lines = _fails(["--config", "run.yaml"], capfd, 2)
    assert lines == ["error: run.yaml:2: limt: unknown key (did you mean 'limit'?) (and 1 more)"]


def test_an_unexpected_fault_is_4_and_names_the_log(
    capfd: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode() -> None:
        raise RuntimeError("first\nsecond\x1b[2J")

    monkeypatch.setattr("vgen_eval.plugins.Catalog.discover", explode)
    lines = _fails(["list"], capfd, 4)
    assert lines[0] == "error: internal error: RuntimeError: first second[2J"
    log = Path(lines[1].removeprefix("the traceback is in "))
    assert "in explode" in log.read_text()
    log.unlink()
    log.parent.rmdir()


def test_a_reader_that_goes_away_ends_the_command_quietly(environment: dict[str, str]) -> None:
    for words in (["list"], ["--help"], ["list", "--help"]):
        child = subprocess.Popen(
            [sys.executable, "-m", "vgen_eval.cli", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        assert child.stdout is not None
        child.stdout.close()
        assert child.stderr is not None
        assert child.stderr.read() == b""
        child.stderr.close()
        assert child.wait(60) == 141


def test_messages_name_only_verbs_that_exist() -> None:
    package = Path(vgen_eval.__file__).parent
    named = {
        (path.name, word)
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for word in re.findall(r"(?:^|`|\n +)vgen-eval ([a-z]+)\b(?! card)", node.value)
    }
    assert ("errors.py", "check") in named  # such texts are found
    assert {(file, word) for file, word in named if word not in VERBS} == set()


def test_lists_are_one_json_document(capfd: Output) -> None:
    assert main(["list", "tasks", "--json"]) == 0
    records = json.loads(capfd.readouterr().out)
    assert {"vgen-eval:samples/counting", "vgen-eval:samples/referring"} <= {
        record["id"] for record in records
    }
