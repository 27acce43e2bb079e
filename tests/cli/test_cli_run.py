"""The run verb on the built-in samples: streams, exit codes, signals, the plan."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from clikit import Command

Start = Callable[..., "subprocess.Popen[str]"]
COUNTING = ("--tasks", "samples/counting", "--answer", "text", "--no-bounds")
NOISES = ("PYTHON", "DESCRIPTOR", "CHILD", "LIBRARY")


def test_what_models_print_goes_to_stderr_and_stdout_is_one_document(vgen: Command) -> None:
    done = vgen(*COUNTING, "--model", "plug-noise:loud", "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["exit_code"] == 0
    assert document["results"][0]["model"] == "loud"
    assert document["skipped"] == []
    assert all(noise in done.stderr for noise in NOISES)


def test_without_a_terminal_stdout_is_headline_table_and_where_things_are(vgen: Command) -> None:
    done = vgen(*COUNTING, "--model", "plug-noise:loud", "--limit", "3")
    assert done.returncode == 0
    lines = [line for line in done.stdout.splitlines() if line]
    headline = r"vgen-eval \S+   model loud \(plug-noise\)   1 task, 3 of 13 samples"
    assert re.fullmatch(headline, lines[0])
    assert lines[1].split() == ["task", "answer", "done", "failed", "score", "ceiling", "floor"]
    assert lines[2].split()[:5] == ["samples/counting@standard", "text", "3/3", "0", "mae"]
    assert lines[3].startswith("done in ")
    assert "1 result card, 3 predictions" in lines[3]
    folder = lines[4].split()[0]
    assert folder.startswith("results/runs/plug-noise/loud/samples/counting@standard/")
    assert lines[5].startswith("vgen-eval show " + folder.rstrip("/"))
    assert not any(noise in done.stdout for noise in NOISES)


def test_a_log_file_has_one_aligned_line_a_task(vgen: Command) -> None:
    tasks = "samples/counting,samples/referring"
    done = vgen("--tasks", tasks, "--model", "copy", "--limit", "2", "--no-bounds")
    assert done.stderr == ""
    lines = [line for line in done.stdout.splitlines() if line][1:4]
    assert [line.split()[0] for line in lines] == [
        "task", "samples/counting@standard", "samples/referring@standard",
    ]  # fmt: skip
    assert lines[1].split()[2:5] == ["2/2", "0", "mae"]
    assert len({line.index("image") for line in lines[1:]}) == 1
    assert lines[0].index("answer") == lines[1].index("image")
    assert len({len(line) for line in lines}) == 1


def test_a_terminal_sees_a_bar_and_the_table(tmp_path: Path, environment: dict[str, str]) -> None:
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "vgen_eval.cli", *COUNTING, "--model", "plug-noise:slow",
               "--limit", "4"]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=tmp_path, stdin=child, stdout=child, stderr=child,
        env=environment | {"TERM": "xterm", "COLUMNS": "120", "LINES": "30"},
    )  # fmt: skip
    os.close(child)
    seen = b""
    while True:
        try:
            part = os.read(parent, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.close(parent)
    assert process.wait(60) == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())
    assert "━" in text
    assert re.search(r"[1-3]/4 .*/s, .* left", text)
    assert "samples/counting@standard   text" in text
    assert "done in " in text


def test_a_dry_run_writes_nothing_and_says_where_it_would(vgen: Command, tmp_path: Path) -> None:
    before = set(tmp_path.iterdir())
    done = vgen(*COUNTING, "--model", "copy,oracle", "--attempts", "2", "--dry-run", "--json")
    assert done.returncode == 3  # copy was named, and gives no text
    plan = json.loads(done.stdout)
    [job] = plan["jobs"]
    assert (job["samples"], job["attempts"], job["calls"]) == (13, 2, 26)
    assert job["run"].startswith("results/runs/oracle/samples/counting@standard/")
    assert [skip["model"] for skip in plan["skipped"]] == ["copy"]
    assert set(tmp_path.iterdir()) == before
    text = vgen(*COUNTING, "--model", "oracle", "--dry-run")
    assert text.returncode == 0
    assert "total 13 calls" in text.stdout


def test_a_dry_run_counts_what_is_there_and_prices_the_rest(vgen: Command, tmp_path: Path) -> None:
    card = tmp_path / "paid.yaml"
    card.write_text(
        "model: paid\nadapter: copy\nanswers: [image]\nlicence: x\nprice: {per_image_usd: 0.5}\n"
    )
    words = ("--tasks", "samples/counting", "--model", str(card), "--no-bounds")
    vgen(*words, "--samples", "coins,chelsea-eyes")
    done = vgen(*words, "--samples", "coins,chelsea-eyes", "--dry-run")
    assert "total 0 calls, about $0.00, 2 answered already" in done.stdout
    assert "total 13 calls, about $6.50" in vgen(*words, "--dry-run").stdout


def test_a_model_that_cannot_be_loaded_is_3_with_its_traceback_in_the_log(
    vgen: Command, tmp_path: Path
) -> None:
    done = vgen(*COUNTING, "--model", "plug-noise:unloadable")
    assert done.returncode == 3
    assert "done in" not in done.stdout
    error, cure = done.stderr.splitlines()
    assert error.startswith("error: model 'unloadable' cannot be loaded: ValueError: the weights")
    assert "\x1b" not in error
    log = re.search(r"\(log: (.+)\)$", cure)
    assert log is not None
    assert log.group(1).startswith("results/logs/vgen-eval-")
    assert "Traceback" in (tmp_path / log.group(1)).read_text()
    assert "Traceback" not in done.stderr


def test_failures_are_counted_explained_and_change_the_exit_code(vgen: Command) -> None:
    words = ("--tasks", "samples/counting", "--model", "flaky", "--no-bounds")
    done = vgen(*words)
    assert done.returncode == 1
    assert "incomplete after " in done.stdout
    assert "--failed   lists the failed samples" in done.stdout
    assert "The same command with --retry-failed runs them again." in done.stderr
    assert "Traceback" not in done.stderr


def test_a_share_of_failures_over_the_limit_is_named(vgen: Command) -> None:
    done = vgen("--tasks", "samples/counting", "--model", "flaky", "--no-bounds",
                "--fail-over", "0.01")  # fmt: skip
    assert done.returncode == 1
    assert "failed, more than --fail-over 0.01" in done.stderr


def test_when_everything_is_skipped_nothing_ran_and_the_reason_stands_there(
    vgen: Command,
) -> None:
    done = vgen("--tasks", "all", "--model", "copy", "--answer", "choice")
    assert done.returncode == 3
    assert "skipped" in done.stdout
    assert "error: nothing ran: every pair was skipped" in done.stderr


def test_a_suite_without_an_aggregate_is_reported_as_its_tasks(vgen: Command) -> None:
    done = vgen("--tasks", "suite:samples", "--model", "copy", "--no-bounds", "--json")
    [suite] = json.loads(done.stdout)["suites"]
    exact = ("hanoi", "maze")
    names = (
        "answers", "counting", "depth", "description", "fidelity", "hanoi", "maze", "normals",
        "perception", "quality", "referring", "semantic",
    )  # fmt: skip
    assert suite == {
        "suite": "samples", "aggregate": "none", "means": [],
        "tasks": [f"samples/{n}@{'exact' if n in exact else 'standard'}" for n in names],
    }  # fmt: skip


def test_a_mean_over_unlike_primaries_is_refused_with_the_reason(
    vgen: Command, tmp_path: Path
) -> None:
    (tmp_path / "site/plug_noise/cards/both.yaml").write_text(
        "suite: both\ntasks: [samples/counting, samples/referring]\naggregate: mean\n"
    )
    done = vgen("--tasks", "suite:plug-noise:both", "--model", "copy", "--no-bounds")
    [line] = [line for line in done.stdout.splitlines() if "suite:both" in line]
    assert "no mean: the primaries share no unit and direction: " in line
    (tmp_path / "site/plug_noise/cards/both.yaml").write_text(
        "suite: both\ntasks: [samples/counting]\naggregate: mean\n"
    )
    done = vgen("--tasks", "suite:plug-noise:both", "--model", "copy", "--no-bounds", "--json")
    document = json.loads(done.stdout)
    [mean] = document["suites"][0]["means"]
    primary = document["results"][0]["scores"][0]
    assert (mean["value"], mean["unit"]) == (primary["value"], primary["unit"])


@pytest.fixture
def start(tmp_path: Path, environment: dict[str, str]) -> Iterator[Start]:
    """Starts the command; whatever becomes of the test, its children end with it."""
    children: list[subprocess.Popen[str]] = []

    def start_one(*words: str) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-m", "vgen_eval.cli", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=environment,
        )
        children.append(child)
        return child

    yield start_one
    for child in children:
        child.kill()
        child.communicate()


def _wait_for_a_line(folder: Path) -> None:
    for _ in range(600):
        if any(path.stat().st_size for path in folder.rglob("predictions.jsonl")):
            return
        time.sleep(0.05)
    raise AssertionError("no prediction came")


@pytest.mark.parametrize(
    ("number", "code", "again"),
    [(signal.SIGINT, 130, "press again"), (signal.SIGTERM, 143, "signal again")],
)
def test_a_signal_keeps_what_is_done_and_the_same_command_goes_on(
    number: signal.Signals, code: int, again: str, tmp_path: Path, start: Start
) -> None:
    words = [*COUNTING, "--model", "plug-noise:slow"]
    process = start(*words)
    _wait_for_a_line(tmp_path)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert f"stopping: calls in flight are finished first ({again} to drop them)" in err
    kept = re.search(r"kept (\d+) of 13\. Run the same command to go on\.", err)
    assert kept is not None
    assert 1 <= int(kept.group(1)) < 13
    rest = start(*words, "--json")
    out, _ = rest.communicate(timeout=60)
    assert rest.returncode == 0
    assert json.loads(out)["results"][0]["counts"]["answered"] == 13
    [journal] = tmp_path.rglob("predictions.jsonl")
    assert len(journal.read_text().splitlines()) == 13  # none was made twice


def test_a_second_signal_drops_the_call(tmp_path: Path, start: Start) -> None:
    process = start(*COUNTING, "--model", "plug-noise:slow")
    _wait_for_a_line(tmp_path)
    process.send_signal(signal.SIGINT)
    time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "kept " in err
    assert "Traceback" not in err


def test_what_makes_one_doubt_a_number_is_said_below_it(vgen: Command) -> None:
    words = ("--tasks", "samples/referring", "--model", "copy", "--no-bounds")
    done = vgen(*words)
    assert "samples/referring@standard: every answer is flagged copied_input" in done.stdout
    again = vgen(*words)
    assert "17 predictions (all from before)" in again.stdout


def test_failed_attempts_are_a_part_of_those_done_and_lines_name_their_model(vgen: Command) -> None:
    tasks = ("--tasks", "samples/counting,samples/referring", "--no-bounds")
    done = vgen(*tasks, "--model", "copy,flaky")
    assert done.returncode == 1
    text = done.stdout
    row = next(line.split() for line in text.splitlines() if "counting@standard    flaky" in line)
    assert row[3:5] == ["13/13", "5"]
    assert "samples/counting@standard copy: every answer is flagged copied_input" in text
    assert (
        "samples/counting@standard flaky: incomplete: 4 of 13 attempts without a score "
        "(3 error, 1 timeout)" in text
    )
    assert "4 result cards, 60 attempts, 53 of them scored" in text
    total, _, *reasons = done.stderr.splitlines()
    told = {line.split(",")[0].strip(): line.split(", ")[1] for line in reasons}
    counts = {name: int(text.partition(":")[0]) for name, text in told.items()}
    assert total.startswith(f"{sum(counts.values())} attempts failed in calling or scoring")
    assert counts == {"samples/counting@standard flaky": 4, "samples/referring@standard flaky": 3}
    # refusals and empty answers are the model's, and no reason why a score is missing
    assert not any("declines" in line or "gave nothing" in line for line in reasons)
    parts = re.findall(r"(\d+) x ", reasons[0])
    assert sum(map(int, parts)) == 4
    # what failed is not called again by the same command
    planned = vgen(*tasks, "--model", "flaky", "--dry-run").stdout
    assert "total 0 calls, 30 answered already" in planned
    again = vgen(*tasks, "--model", "flaky", "--retry-failed", "--dry-run").stdout
    assert "total 7 calls" in again


def test_reasons_are_whole_on_a_narrow_terminal(vgen: Command) -> None:
    vgen("--tasks", "samples/counting", "--model", "flaky", "--no-bounds")
    lines = vgen("show", "flaky/samples/counting", "--failed", COLUMNS="60").stdout.splitlines()
    assert max(map(len, lines)) <= 60
    text = " ".join(" ".join(lines).split())
    assert "RuntimeError this adapter fails on scene-balls on purpose" in text
