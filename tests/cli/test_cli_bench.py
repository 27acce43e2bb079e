"""`vgen-eval bench`: real baselines, what is printed, and what ends it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from clikit import Command

TASK = "samples/counting"
QUICK = ["--samples", "5", "--long-side", "card"]


def test_a_baseline_is_measured_and_its_record_is_named(vgen: Command, tmp_path: Path) -> None:
    done = vgen("bench", "--model", "classical", "--task", TASK, "--samples", "5",
                "--long-side", "256")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].endswith(f"bench   {TASK}@standard with vgen-eval:classical (image)")
    assert lines[1] == (
        "  batch 1, 5 calls one after the other; pictures long side 256, smaller ones enlarged; "
        "3 warm-up calls left out"
    )
    rows = {line[2:].split("   ")[0].strip(): line for line in lines[3:] if line.startswith("  ")}
    assert list(rows) == [
        "generate", "decode", "generate + decode", "load", "allocator peak", "NVML peak",
        "main memory peak",
    ]  # fmt: skip
    assert re.search(r"generate +[\d,.]+ images/min +[\d.]+ m?s each", rows["generate"])
    record = Path(tmp_path, lines[-1].removeprefix("record: "))
    written = json.loads(record.read_text())
    assert record.parent == tmp_path / "results" / "bench" / "classical" / f"{TASK}@standard"
    assert written["generate"]["calls"] == 5
    total = written["generate"]["total_s"]
    assert written["images_per_minute"] == pytest.approx(60 * 5 / total)
    assert {max(height, width) for height, width, _ in written["input"]["seen"]} == {256}
    assert not (tmp_path / "results" / "runs").exists()  # no run is made, no answer kept


def test_failures_are_counted_and_said(vgen: Command) -> None:
    done = vgen("bench", "--model", "flaky", "--task", TASK, "--samples", "8",
                "-M", "hang_s=0.1", "--json")  # fmt: skip
    assert done.returncode == 0
    record = json.loads(done.stdout)
    calls = record["calls"]
    assert calls["failed"] > 0
    assert calls["asked"] == 8 == calls["answered"] + calls["failed"]
    assert record["generate"]["calls"] == calls["answered"]
    assert sum(calls["failures"].values()) == calls["failed"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--task", TASK], 2, "--model is missing"),
        (["--model", "blind"], 2, "--task is missing"),
        (["--model", "blnd", "--task", TASK], 2, "Nearest: blind"),
        (["--model", "blind", "--task", "samples/countng"], 2, "Nearest: samples/counting"),
        (["--model", "blind", "--task", TASK, "--samples", "0"], 2, "--samples: 0 must be from"),
        (["--model", "blind", "--task", TASK, "--samples", "many"], 2, "--samples"),
        (["--model", "blind", "--task", TASK, "--warmup", "2"], 2, "--warmup: 2 must be at"),
        (["--model", "blind", "--task", TASK, "--long-side", "7"], 2, "--long-side: '7'"),
        (["--model", "blind", "--task", TASK, "--long-side", "big"], 2, "--long-side: 'big'"),
        (["--model", "blind,copy", "--task", TASK], 2, "one pair is measured at a time"),
        (["--model", "blind", "--task", "samples/*"], 2, "one pair is measured at a time"),
        (["--model", "loud", "--task", "samples/depth"], 3, "model gives text; the protocol"),
        (["--model", "unloadable", "--task", TASK], 3, "cannot be loaded: ValueError"),
    ],
)
def test_wrong_words_have_their_exit_status(
    vgen: Command, tmp_path: Path, words: list[str], code: int, says: str
) -> None:
    done = vgen("bench", *words)
    assert (done.returncode, says in done.stderr) == (code, True), done.stderr
    assert not (tmp_path / "results" / "bench").exists()


def test_when_no_call_is_answered_it_exits_1_with_the_reason(vgen: Command, tmp_path: Path) -> None:
    path = tmp_path / "site" / "plug_noise" / "models.py"
    path.write_text(path.read_text().replace('print("PYTHON")\n            yield', "raise "
                                             'OSError("no pen")\n            yield'))  # fmt: skip
    done = vgen("bench", "--model", "loud", "--task", TASK, *QUICK)
    assert done.returncode == 1
    assert "error: no call was answered: OSError: no pen" in done.stderr
    assert re.search(r"failed +5 of 5 +5 error: in no time", done.stdout)


def test_what_a_model_prints_does_not_reach_the_record(vgen: Command) -> None:
    done = vgen("bench", "--model", "loud", "--task", TASK, *QUICK, "--json")
    assert json.loads(done.stdout)["generate"]["calls"] == 5
    assert "PYTHON" in done.stderr


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_it_without_a_record(
    environment: dict[str, str], tmp_path: Path, sent: signal.Signals, status: int
) -> None:
    models = tmp_path / "site" / "plug_noise" / "models.py"
    sleeps = "time.sleep(0.25)"
    models.write_text(models.read_text().replace(sleeps, f"open('mark', 'w').close(); {sleeps}"))
    words = ["bench", "--model", "slow", "--task", TASK, "--samples", "2000"]
    log = tmp_path / "err"
    with log.open("w") as sink:
        child = subprocess.Popen(
            [sys.executable, "-m", "vgen_eval.cli", *words], cwd=tmp_path, env=environment,
            stderr=sink, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while not (tmp_path / "mark").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        child.send_signal(sent)
        child.communicate(timeout=20)
    assert child.returncode == status
    assert "error: interrupted; no record was written" in log.read_text()
    assert not (tmp_path / "results" / "bench").exists()
