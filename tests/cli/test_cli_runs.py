"""runs list, runs rm, and show of runs: only what is a run, only inside the results folder."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from clikit import Command
from vgen_eval.cli import main
from vgen_eval.store.run import RunStore

Output = pytest.CaptureFixture[str]
RUN = {
    "run": "abc123def456",
    "task": "samples/counting@standard",
    "model": "vgen-eval:copy",
    "answer": "text",
    "prompt": {"variant": "mid", "text": "?"},
    "samples": ["b", "a", "c"],
    "attempts": 1,
    "score_digest": "0123",
}
LINES = [
    {"sample": "b", "attempt": 0, "status": "error", "kind": "Transient",
     "volatile": {"reason": "reset\x1b[31m by peer"}},
    {"sample": "a", "attempt": 0, "status": "ok", "answer": {"sha256": "x", "value": "many"}},
]  # fmt: skip
SCORES = [
    {"sample": "b", "attempt": 0, "of": "error:", "status": "error"},
    {"sample": "a", "attempt": 0, "of": "ok:x", "status": "undecodable", "reason": "no number"},
]


def _make_run(path: Path) -> Path:
    (path / "scores").mkdir(parents=True)
    (path / "run.json").write_text(json.dumps(RUN))
    for name, lines in (("predictions.jsonl", LINES), ("scores/0123.jsonl", SCORES)):
        (path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An unfinished run: one answer, one fault, one attempt not made."""
    monkeypatch.chdir(tmp_path)
    return _make_run(Path("results/runs/copy/samples/counting@standard/abc123def456"))


@pytest.mark.usefixtures("run")
def test_runs_are_listed_with_how_far_they_are(capfd: Output) -> None:
    assert main(["runs", "list"]) == 0
    row = capfd.readouterr().out.splitlines()[1].split()
    assert row[:6] == ["abc123def456", "copy", "samples/counting@standard", "text", "mid", "2/3"]
    assert row[-2:] == ["no", "card"]
    assert main(["runs", "list", "--json"]) == 0
    [record] = json.loads(capfd.readouterr().out)
    assert record["id"] == "copy/samples/counting@standard/abc123def456"
    assert (record["done"], record["expected"], record["state"]) == (2, 3, "no card")


def test_a_damaged_run_is_listed_as_such(run: Path, capfd: Output) -> None:
    for text in ("{", "[]", "{}"):
        (run / "run.json").write_text(text)
        assert main(["runs", "list"]) == 0
        assert capfd.readouterr().out.splitlines()[1].endswith("damaged")


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    "word",
    [
        "abc1", "abc123def456", "copy/samples/counting@standard/abc123def456",
        "results/runs/copy/samples/counting@standard/abc123def456/",
    ],
)  # fmt: skip
def test_a_run_without_a_card_is_shown_by_path_or_start_of_its_id(word: str, capfd: Output) -> None:
    assert main(["show", word]) == 0
    assert "no result card yet: 2 of 3 are done" in capfd.readouterr().out


@pytest.mark.usefixtures("run")
def test_failed_attempts_are_listed_in_sample_order_with_kind_and_reason(capfd: Output) -> None:
    assert main(["show", "abc1", "--failed"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].split() == ["sample", "status", "kind", "reason"]
    assert lines[1].split(maxsplit=3) == ["b", "error", "Transient", "reset[31m by peer"]
    assert lines[2].split(maxsplit=3) == ["a", "undecodable", "-", "no number"]
    assert lines[3] == "1 attempt not made yet"


def test_a_retried_attempt_that_is_ok_now_is_no_failure(run: Path, capfd: Output) -> None:
    answer = {"sample": "b", "attempt": 0, "status": "ok", "answer": {"sha256": "y"}}
    with (run / "predictions.jsonl").open("a") as file:
        file.write(json.dumps(answer) + "\n")
    assert main(["show", str(run), "--failed", "--json"]) == 0
    record = json.loads(capfd.readouterr().out)
    assert [entry["sample"] for entry in record["failed"]] == ["a"]
    assert record["not_run"] == 1


def test_the_start_of_two_ids_is_ambiguous(run: Path, capfd: Output) -> None:
    _make_run(run.with_name("abc123ffffff"))
    for words in (["show", "abc1"], ["runs", "rm", "abc1", "--yes"], ["show", "abc1", "--failed"]):
        assert main(words) == 2
        assert "is the start of 2 runs" in capfd.readouterr().err
    assert run.is_dir()


def test_a_run_is_deleted_with_the_folders_that_are_empty_then(run: Path, capfd: Output) -> None:
    other = _make_run(Path("results/runs/copy/samples/referring@standard/fff"))
    assert main(["runs", "rm", "abc1", "--yes"]) == 0
    assert "deleted " in capfd.readouterr().out
    assert not run.parent.exists()
    assert (other / "run.json").is_file()
    assert main(["runs", "rm", str(other), "--yes"]) == 0
    assert list(Path("results/runs").iterdir()) == []


@pytest.mark.parametrize(("answer", "code", "there"), [("y\n", 0, False), ("n\n", 1, True)])
def test_deletion_asks_first(
    run: Path, vgen: Command, environment: dict[str, str], answer: str, code: int, there: bool
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "vgen_eval.cli", "runs", "rm", str(run)],
        input=answer, text=True, capture_output=True, env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == code
    assert "delete 1 run, " in done.stderr
    assert run.is_dir() is there


def test_without_an_answer_nothing_is_deleted(run: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "vgen_eval.cli", "runs", "rm", str(run)],
        stdin=subprocess.DEVNULL, text=True, capture_output=True, env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.endswith("error: nobody answered, so nothing is deleted\n--yes\n")
    assert run.is_dir()


def test_nothing_outside_the_runs_folder_can_be_deleted(
    run: Path, tmp_path: Path, capfd: Output
) -> None:
    outside = _make_run(tmp_path / "elsewhere/run")
    link = run.with_name("linked")
    link.symlink_to(outside)
    words = [
        str(outside), "elsewhere/run", "linked", str(link), "../../elsewhere/run",
        str(run / "../../../../../../elsewhere/run"), "results/runs", ".", "..", "/", "",
        str(run.parent),
    ]  # fmt: skip
    for word in words:
        assert main(["runs", "rm", "--yes", str(run), word]) == 2, word
        assert capfd.readouterr().err.startswith("error: ")
    assert (outside / "run.json").is_file()
    assert (run / "run.json").is_file()  # not even the sound one that stood beside it


def test_a_link_inside_a_run_is_deleted_and_not_followed(run: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    (run / "outputs").symlink_to(kept)
    assert main(["runs", "rm", str(run), "--yes"]) == 0
    assert (kept / "file").read_text() == "x"


def test_a_run_that_is_being_written_is_not_deleted(run: Path, capfd: Output) -> None:
    store = RunStore(run)
    store.lock()
    try:
        assert main(["runs", "rm", "abc1", "--yes"]) == 3
        assert "is being written by process" in capfd.readouterr().err
        assert (run / "run.json").is_file()
    finally:
        store.close()
