"""Ended from outside: what is finished is kept, and the same command goes on."""

from __future__ import annotations

import re
import signal
import time

import bad_models
import numpy as np
import PIL.Image
import pytest
from badkit import COUNTING, TRACEBACK, Done, Shell, lines_of, runs_in, wait_for_lines

WORDS = (*COUNTING, "--model", "plug-bad:slow", "--json")
SIZE = 13


@pytest.fixture
def slow(shell: Shell) -> Shell:
    shell.install("plug-bad", bad_models.files())
    return shell


def goes_on(shell: Shell, kept: int) -> None:
    """Holds when the same command makes what is missing, and that alone."""
    (run,) = runs_in(shell.folder)
    before = (run / "predictions.jsonl").read_bytes()
    before = before[: before.rfind(b"\n") + 1]
    done = shell(*WORDS)
    assert (done.code, done.err) == (0, "")
    assert done.document["results"][0]["counts"]["statuses"] == {"ok": SIZE}
    after = (run / "predictions.jsonl").read_bytes()
    assert after.startswith(before)
    assert before.count(b"\n") == kept
    found = [line["sample"] for line in lines_of(run / "predictions.jsonl")]
    assert len(found) == len(set(found)) == SIZE


def kept_of(done: Done) -> int:
    said = re.search(r"^kept (\d+) of 13\. Run the same command to go on\.$", done.err, re.M)
    assert said is not None, done
    assert TRACEBACK not in done.err
    return int(said.group(1))


@pytest.mark.parametrize(
    ("number", "code", "again"),
    [(signal.SIGINT, 130, "press again"), (signal.SIGTERM, 143, "signal again")],
)
def test_one_signal_finishes_the_call_in_flight(
    slow: Shell, number: signal.Signals, code: int, again: str
) -> None:
    process = slow.start(*WORDS)
    wait_for_lines(slow.folder, 2)
    process.send_signal(number)
    done = slow.finish(process)
    assert done.code == code
    lines = done.err.splitlines()
    assert lines[0] == f"stopping: calls in flight are finished first ({again} to drop them)"
    assert len(lines) == 2
    kept = kept_of(done)
    assert 2 < kept < SIZE
    assert done.document["stopped"]
    assert done.document["exit_code"] == code
    (card,) = done.document["results"]
    assert not card["complete"]
    assert card["counts"]["answered"] == kept
    assert card["counts"]["not_run"] == SIZE - kept
    goes_on(slow, kept)


def test_two_presses_drop_it(slow: Shell) -> None:
    process = slow.start(*WORDS)
    wait_for_lines(slow.folder, 2)
    process.send_signal(signal.SIGINT)
    time.sleep(0.03)
    process.send_signal(signal.SIGINT)
    done = slow.finish(process)
    assert done.code == 130
    assert "dropping the calls in flight" in done.err
    assert len(done.err.splitlines()) == 3
    goes_on(slow, kept_of(done))


def test_a_kill_loses_nothing_that_was_finished(slow: Shell) -> None:
    process = slow.start(*WORDS)
    wait_for_lines(slow.folder, 3)
    process.kill()
    assert slow.finish(process).code == -signal.SIGKILL
    (run,) = runs_in(slow.folder)
    kept = (run / "predictions.jsonl").read_bytes().count(b"\n")
    assert 3 <= kept < SIZE
    shown = slow("runs", "list", "--json")
    assert (shown.document[0]["done"], shown.document[0]["state"]) == (kept, "no card")
    goes_on(slow, kept)


def test_a_signal_while_the_model_is_loaded_runs_nothing(slow: Shell) -> None:
    words = (*COUNTING, "--model", "plug-bad:slow_load", "--json")
    process = slow.start(*words)
    wait_for = slow.folder / "loading"
    deadline = time.monotonic() + 30
    while not wait_for.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    done = slow.finish(process)
    assert done.code == 143
    assert kept_of(done) == 0
    assert slow(*words).code == 0


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_task_that_is_being_made_leaves_the_folder_as_it_was(
    shell: Shell, number: signal.Signals, code: int, again: bool
) -> None:
    folder = shell.folder / "rooms"
    rng = np.random.default_rng(0)
    for name in ("images", "depth"):
        (folder / name).mkdir(parents=True)
    for sample in range(150):
        pixels = rng.integers(0, 255, (240, 320, 3), np.uint8)
        PIL.Image.fromarray(pixels).save(folder / "images" / f"{sample}.png")
        np.save(folder / "depth" / f"{sample}.npy", 1 + rng.random((240, 320), np.float32))
    old = {name: f"old {name}".encode() for name in ("task.yaml", "manifest.jsonl", "preview.html")}
    kept = old if again else {}
    for name, data in kept.items():
        (folder / name).write_bytes(data)
    words = ("task", "new", "rooms", "--family", "depth", *(["--force"] if again else []))
    process = shell.start(*words)
    until = time.monotonic() + 60
    card = folder / "task.yaml"
    while not (card.exists() and card.read_bytes() != kept.get("task.yaml")):
        assert time.monotonic() < until
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(number)
    done = shell.finish(process)
    assert done.code == code, done
    assert done.err.splitlines()[-1] == "error: interrupted; nothing was written"
    assert TRACEBACK not in done.err
    found = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert found == kept
