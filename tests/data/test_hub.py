"""Fetching from a Hub that denies, breaks off, falls silent or moves on; and people who do."""

from __future__ import annotations

import errno
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from datakit import FILES, HUB, environment, picture, run, write_card
from hub import SHA, Hub, serve
from vgen_eval.data.hub_faults import fault_of, in_our_words
from vgen_eval.errors import NotRunnable, StorageError

LATER = "f" * 40


def prepare(tmp_path: Path, hub: Hub, *words: object, **more: str) -> Any:
    card = tmp_path / "task.yaml"
    return run(
        "prepare", card, "--data-root", tmp_path / "d", *words, hub=hub, home=tmp_path, **more
    )


def test_a_file_that_broke_off_goes_on_where_it_stopped(tmp_path):
    write_card(tmp_path, hub=HUB)
    large = {**FILES, "1.png": FILES["1.png"] + bytes(30_000_000)}
    with serve(large, drop="1.png") as hub:
        done = prepare(tmp_path, hub)
        assert (done.returncode, done.stdout) == (0, "my/cats: ready, 3/3 samples\n")
        assert len(hub.ranges) == 1
        assert int(hub.ranges[0].removeprefix("bytes=").split("-")[0]) > 0
    assert (tmp_path / "d/cats/1.png").read_bytes() == large["1.png"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_download_at_once_and_the_same_command_goes_on(tmp_path, number):
    card = write_card(tmp_path, hub=HUB)
    words = [sys.executable, "-m", "vgen_eval.cli", "data", "prepare", str(card),
             "--data-root", str(tmp_path / "d")]  # fmt: skip
    with serve(FILES, slow="2.png") as hub:
        child = subprocess.Popen(
            words, env=environment(hub=hub, home=tmp_path), stderr=subprocess.PIPE, text=True
        )
        assert hub.half.wait(60)
        downloads = psutil.Process(child.pid).children()
        assert downloads
        since = time.monotonic()
        child.send_signal(number)
        _, told = child.communicate(timeout=30)
        assert time.monotonic() - since < 10
        assert child.returncode == 128 + number
        assert told.endswith("error: interrupted; the same command goes on\n")
        assert not any(process.is_running() for process in downloads)
        assert not (tmp_path / "d/cats/fetched.json").exists()
        hub.slow = ""
        done = prepare(tmp_path, hub)
    assert (done.returncode, done.stdout) == (0, "my/cats: ready, 3/3 samples\n")


def test_a_download_ends_with_the_command_that_was_killed(tmp_path):
    card = write_card(tmp_path, hub=HUB)
    words = [sys.executable, "-m", "vgen_eval.cli", "data", "prepare", str(card),
             "--data-root", str(tmp_path / "d")]  # fmt: skip
    with serve(FILES, slow="2.png") as hub:
        child = subprocess.Popen(
            words, env=environment(hub=hub, home=tmp_path), stderr=subprocess.DEVNULL
        )
        assert hub.half.wait(60)
        (download,) = psutil.Process(child.pid).children()
        child.kill()
        child.wait()
        psutil.wait_procs([download], timeout=10)
        assert not download.is_running() or download.status() == psutil.STATUS_ZOMBIE


def test_a_hub_that_falls_silent_is_not_taken_for_a_whole_download(tmp_path):
    # the library then gives the folder as it is, and says so in its log alone
    write_card(tmp_path, hub=HUB)
    (tmp_path / "d/cats/.cache/huggingface").mkdir(parents=True)
    (tmp_path / "d/cats/manifest.jsonl").write_bytes(FILES["manifest.jsonl"])
    with serve(FILES, lists=1) as hub:
        done = prepare(tmp_path, hub)
        assert done.returncode == 3
        assert "owner/set: 3 of 4 files did not come: 0.png" in done.stderr
        assert not (tmp_path / "d/cats/fetched.json").exists()
        hub.lists = 9
        assert prepare(tmp_path, hub).returncode == 0


def test_the_token_of_the_environment_is_sent_and_never_shown(tmp_path):
    write_card(tmp_path, hub=HUB)
    token = "hf_" + "k" * 34
    with serve(FILES, refuse=token) as hub:
        done = prepare(tmp_path, hub, HF_TOKEN=token)
        assert done.returncode == 3
        assert "takes no such call with this token (status 401)" in done.stderr
        hub.refuse = ""
        assert prepare(tmp_path, hub, HF_TOKEN=token).returncode == 0
        assert token in hub.tokens
    assert token not in done.stderr + (tmp_path / "d/cats/fetched.json").read_text()


def test_a_library_that_was_told_to_stay_offline_says_so(tmp_path):
    write_card(tmp_path, hub=HUB)
    with serve(FILES) as hub:
        done = prepare(tmp_path, hub, HF_HUB_OFFLINE="1")
        assert hub.asked == []
    assert done.returncode == 3
    assert "unset HF_HUB_OFFLINE" in done.stderr


def test_without_the_library_its_extra_is_named(tmp_path):
    write_card(tmp_path, hub=HUB)
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "huggingface_hub.py").write_text("raise ModuleNotFoundError('not here')\n")
    with serve(FILES) as hub:
        done = prepare(tmp_path, hub, PYTHONPATH=str(hidden))
    assert done.returncode == 3
    assert done.stderr.splitlines() == [
        "error: this needs the extra 'data'",
        "pip install 'vgen-eval[data]'",
    ]


def test_what_was_lost_since_is_fetched_again_and_nothing_else(tmp_path):
    write_card(tmp_path, hub=HUB)
    with serve(FILES) as hub:
        assert prepare(tmp_path, hub).returncode == 0
        (tmp_path / "d/cats/2.png").unlink()
        hub.asked.clear()
        assert prepare(tmp_path, hub).returncode == 0
        given = [line for line in hub.asked if line.startswith("GET /datasets/")]
    assert given == [f"GET /datasets/owner/set/resolve/{SHA}/2.png"]
    assert (tmp_path / "d/cats/2.png").read_bytes() == FILES["2.png"]


def test_another_commit_is_fetched_when_it_is_named_and_what_only_the_first_had_is_told(tmp_path):
    write_card(tmp_path, hub=HUB)
    with serve({**FILES, "old.png": b"x"}) as hub:
        assert prepare(tmp_path, hub).returncode == 0
        hub.sha, hub.files = LATER, {**FILES, "1.png": picture(200)}
        assert prepare(tmp_path, hub).returncode == 0
        assert (tmp_path / "d/cats/1.png").read_bytes() == FILES["1.png"]
        done = prepare(tmp_path, hub, "--revision", LATER)
    assert done.returncode == 0
    assert "of the commit before 1 file left, such as old.png" in done.stderr
    assert (tmp_path / "d/cats/1.png").read_bytes() == picture(200)
    assert json.loads((tmp_path / "d/cats/fetched.json").read_text())["revision"] == LATER


def test_files_that_somebody_laid_there_are_left_as_they_are(tmp_path):
    write_card(tmp_path, hub=HUB)
    (tmp_path / "d/cats").mkdir(parents=True)
    (tmp_path / "d/cats/0.png").write_bytes(b"mine")
    with serve(FILES) as hub:
        done = prepare(tmp_path, hub)
        assert hub.asked == []
    assert done.returncode == 3
    assert "they are left as they are" in done.stderr
    assert (tmp_path / "d/cats/0.png").read_bytes() == b"mine"


def test_a_folder_of_other_things_is_fetched_into(tmp_path):
    write_card(tmp_path, hub=HUB)
    (tmp_path / "d/cats").mkdir(parents=True)
    (tmp_path / "d/cats/README.txt").write_text("notes of mine")
    with serve(FILES) as hub:
        assert prepare(tmp_path, hub).returncode == 0


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 2), ("\x04", 2)])
def test_terms_may_be_accepted_on_the_terminal(tmp_path, typed, code):
    card = write_card(tmp_path, hub=HUB, terms="For cats alone.")
    ours, theirs = pty.openpty()
    with serve(FILES) as hub:
        os.write(ours, typed.encode())
        done = subprocess.run(
            [sys.executable, "-m", "vgen_eval.cli", "data", "prepare", str(card),
             "--data-root", str(tmp_path / "d")],
            env=environment(hub=hub, home=tmp_path) | {"TERM": "xterm"}, stdin=theirs,
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        fetched = any(line.startswith("GET /datasets/") for line in hub.asked)
    os.close(ours)
    os.close(theirs)
    assert done.returncode == code, done.stderr
    assert "For cats alone." in done.stderr
    assert fetched is (code == 0)
    if fetched:
        record = json.loads((tmp_path / "d/cats/fetched.json").read_text())
        assert record["accepted"] == "on the terminal"
        assert record["terms"] == "For cats alone."
        assert record["task"] == "my/cats"
        assert len(record["card_digest"]) == 64
        assert record["files"]["1.png"] == len(FILES["1.png"])


def test_a_disk_without_room_is_told_before_anything_is_fetched(tmp_path):
    card = write_card(tmp_path, hub=HUB)
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["unshare", "-rm", "sh", "-c",
             f'mount -t tmpfs -o size=64k none {disk} && exec "$@"', "sh"]  # fmt: skip
    if shutil.which("unshare") is None or subprocess.run([*mount, "true"], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    with serve({**FILES, "9.png": bytes(200_000)}) as hub:
        done = subprocess.run(
            [*mount, sys.executable, "-m", "vgen_eval.cli", "data", "prepare", str(card),
             "--data-root", str(disk)],
            env=environment(hub=hub, home=tmp_path), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert not any("/resolve/" in line for line in hub.asked)
    assert done.returncode == 1
    assert "0.20 MB are to be fetched, 0.0" in done.stderr
    assert "make room" in done.stderr


def test_a_full_disk_is_an_error_of_storage_however_deep_it_lies():
    try:
        try:
            raise OSError(errno.ENOSPC, "No space left on device")
        except OSError as exc:
            raise RuntimeError("a task failed") from exc
    except RuntimeError as exc:
        error = in_our_words(fault_of(exc), "owner/set", SHA, Path("/data/cats"))
    assert isinstance(error, StorageError)
    assert "No space left on device" in error.what
    refused = fault_of(ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"))
    assert isinstance(in_our_words(refused, "owner/set", SHA, Path("/d")), NotRunnable)
