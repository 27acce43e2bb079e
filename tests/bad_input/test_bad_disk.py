"""A full disk, a folder that cannot be written, a run that another process writes."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import bad_models
import pytest
from badkit import (
    COUNTING,
    TRACEBACK,
    Done,
    Shell,
    lines_of,
    runs_in,
    snapshot,
    wait_for_lines,
    write,
)

ROOMY = """\
mkdir -p disk && mount -t tmpfs -o size=$1 none disk || exit 99
eval "$2"
shift 2
"$@" >out1 2>err1; echo $? >code1; cp -a disk after1
mount -o remount,rw,size=64m disk
"$@" >out2 2>err2; echo $? >code2; cp -a disk after2
"""
"""Mounts a disk of a size, runs the command, makes room, runs it again; both states are copied."""


@functools.cache
def may_mount() -> str | None:
    """Why no disk can be mounted here; None when one can."""
    if shutil.which("unshare") is None:
        return "unshare is not installed"
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(
            ["unshare", "-rm", "mount", "-t", "tmpfs", "-o", "size=4k", "none", place],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    return None if done.returncode == 0 else f"no user namespaces: {done.stderr.strip()}"


def on_a_disk(shell: Shell, size: str, *words: str, first: str = ":") -> tuple[Done, Done]:
    """What the command came to on a disk of that size, and again once there was room."""
    reason = may_mount()
    if reason:
        pytest.skip(reason)
    command = shell.words(*words, "--output", "disk")
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", ROOMY, "sh", size, first, *command],
        cwd=shell.folder, env=shell.environment, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

    def read(number: int) -> Done:
        names = (f"{name}{number}" for name in ("code", "out", "err"))
        code, out, err = ((shell.folder / name).read_text() for name in names)
        return Done(int(code), out, err, shell.folder)

    return read(1), read(2)


MAKE_ROOM = "make room and run the same command again: it goes on"


@pytest.mark.parametrize(
    ("size", "model", "least"),
    [
        ("600k", "copy", 2),  # some pictures
        ("72k", "plug-bad:good", 1),  # some lines
        ("80k", "plug-bad:good", 13),  # every line, no result card
    ],
)
def test_a_full_disk_is_1_and_the_same_command_goes_on_when_there_is_room(
    shell: Shell, size: str, model: str, least: int
) -> None:
    shell.install("plug-bad", bad_models.files())
    full, roomy = on_a_disk(shell, size, *COUNTING, "--model", model, "--json")
    full.refuses(1, "cannot write disk/runs/", "No space left on device", MAKE_ROOM)
    kept = [line for run in runs_in(shell.folder / "after1") for line in journal(run)]
    assert len(kept) >= least
    for run in runs_in(shell.folder / "after1"):
        for line in journal(run):
            if "file" in line.get("answer", {}):
                data = (run / "outputs" / line["answer"]["file"]).read_bytes()
                assert len(data) == line["answer"]["bytes"]
    assert (roomy.code, roomy.err) == (0, "")
    (card,) = roomy.document["results"]
    assert card["counts"]["statuses"] == {"ok": 13}
    (run,) = runs_in(shell.folder / "after2")
    lines = journal(run)
    assert lines[: len(kept)] == kept  # what was there is there, and was not made again
    assert len(lines) == 13
    assert not list(run.rglob("*.tmp"))


def journal(run: Path) -> list[dict[str, object]]:
    path = run / "predictions.jsonl"
    return lines_of(path) if path.exists() else []


def test_with_no_room_for_the_log_it_is_written_elsewhere(shell: Shell) -> None:
    fill = "head -c 5000000 /dev/zero >disk/filler 2>/dev/null"
    shell.install("plug-raises", {
        "plug_raises/__init__.py": "raise RuntimeError('torn')\n",
        "plug_raises/cards/m.yaml": "model: m\nadapter: m\nanswers: [text]\nlicence: x\n",
    })  # fmt: skip
    full, _ = on_a_disk(shell, "64k", *COUNTING, "--model", "plug-raises:m", first=fill)
    log = full.refuses(3, "RuntimeError: torn")
    assert log is not None
    assert not log.is_relative_to(shell.folder)
    assert TRACEBACK in log.read_text()
    shutil.rmtree(log.parent)


def test_a_read_only_disk_is_1_and_what_is_there_stays(shell: Shell) -> None:
    first = "mount -o remount,ro disk"
    locked, roomy = on_a_disk(shell, "64m", *COUNTING, "--model", "copy", "--json", first=first)
    locked.refuses(1, "cannot write disk/runs/", "Read-only file system", "give another --output")
    assert snapshot(shell.folder / "after1") == {}
    assert roomy.code == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into every folder")
def test_a_folder_without_permission_is_1_and_what_is_there_stays(shell: Shell) -> None:
    words = (*COUNTING, "--model", "copy", "--samples", "coins", "--json")
    assert shell(*words).code == 0
    (run,) = runs_in(shell.folder)
    before = snapshot(run)
    folders = [shell.folder / "results", *(p for p in run.parents if p != shell.folder), run]
    for folder in folders:
        folder.chmod(0o555)
    try:
        done = shell(*COUNTING, "--model", "copy", "--json")
        done.refuses(1, "cannot write results/", "Permission denied", "permissions")
        assert snapshot(run) == before
    finally:
        for folder in folders:
            folder.chmod(0o755)


@pytest.mark.parametrize("output", ["file/below", "/proc/nothing"])
def test_an_output_that_is_no_folder_is_1(shell: Shell, output: str) -> None:
    write(shell.folder / "file", "mine")
    done = shell(*COUNTING, "--model", "copy", "--output", output, "--json")
    done.refuses(1, f"cannot write {output}/runs/", "give another --output")
    assert (shell.folder / "file").read_text() == "mine"


def test_of_two_runs_at_once_the_second_is_3_and_names_the_first(home: Shell) -> None:
    words = (*COUNTING, "--model", "plug-bad:slow", "--json")
    first = home.start(*words)
    try:
        wait_for_lines(home.folder, 1)
        done = home(*words)
        done.refuses(3, f"is being written by process {first.pid} on ", "wait for it to end")
        other = home(*words, "--output", "elsewhere", "--samples", "coins")
        assert other.code == 0
    finally:
        ended = home.finish(first)
    assert ended.code == 0
    assert ended.document["results"][0]["counts"]["statuses"] == {"ok": 13}


@pytest.mark.parametrize("file", ["run.json", "result_card.json"])
@pytest.mark.parametrize("content", [b"", b"[]"])
def test_a_damaged_record_is_told_and_ends_no_other_verb(
    damaged: tuple[Shell, Path], file: str, content: bytes
) -> None:
    shell, run = damaged
    whole = (run / file).read_bytes()
    (run / file).write_bytes(content)
    try:
        listed = shell("runs", "list", "--json")
        assert (listed.code, listed.err) == (0, "")
        assert listed.document[0]["state"] in ("damaged", "no card")
        shown = shell("show", run)
        shown.refuses(3, str(run))
    finally:
        (run / file).write_bytes(whole)


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Shell, Path]:
    """A finished run."""
    shell = Shell(tmp_path_factory.mktemp("damaged"))
    assert shell(*COUNTING, "--model", "copy", "--samples", "coins").code == 0
    (run,) = runs_in(shell.folder)
    return shell, run
