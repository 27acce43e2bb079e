"""Who writes a run now: told without taking the lock that the writer wants."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from vgen_eval.store import locking
from vgen_eval.store.locking import holder_of, locked_files, named_elsewhere
from vgen_eval.store.run import RunStore

ME = f"process {os.getpid()} on {socket.gethostname()}"


@pytest.fixture(params=["table", "no table"])
def _ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the kernel's table of locks, and on a system that has none."""
    if request.param == "no table":
        monkeypatch.setattr(locking, "locked_files", lambda: None)
    elif locked_files() is None:
        pytest.skip("this system has no table of locks")


@pytest.mark.usefixtures("_ways")
def test_the_holder_is_named_for_as_long_as_it_holds(tmp_path: Path) -> None:
    assert holder_of(tmp_path) is None
    store = RunStore(tmp_path)
    store.lock()
    try:
        assert holder_of(tmp_path) == ME
    finally:
        store.close()
    assert (tmp_path / "lock").read_text().strip() == ME
    assert holder_of(tmp_path) is None


@pytest.mark.usefixtures("_ways")
def test_a_process_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    source = (
        "import sys, time; from pathlib import Path\n"
        "from vgen_eval.store.run import RunStore\n"
        "RunStore(Path(sys.argv[1])).lock(); print('held', flush=True); time.sleep(60)\n"
    )
    command = [sys.executable, "-c", source, str(tmp_path)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        assert holder_of(tmp_path) == f"process {child.pid} on {socket.gethostname()}"
    finally:
        child.kill()
        child.communicate()
    assert holder_of(tmp_path) is None


@pytest.mark.usefixtures("_ways")
@pytest.mark.parametrize(
    "said",
    [
        "",
        "process 1 on elsewhere.example",
        "process x on y",
        f"process {2**70} on here",
        "\x00\xff",
    ],
)
def test_a_lock_file_that_nobody_holds_is_no_holder(tmp_path: Path, said: str) -> None:
    (tmp_path / "lock").write_text(said.replace("here", socket.gethostname()))
    assert holder_of(tmp_path) is None


@pytest.mark.usefixtures("_ways")
def test_a_process_that_took_the_number_of_a_dead_one_is_no_holder(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(f"{ME}\n")
    assert holder_of(tmp_path) is None


def test_another_host_is_told(tmp_path: Path) -> None:
    assert named_elsewhere(tmp_path) is None
    (tmp_path / "lock").write_text("process 7 on elsewhere.example\n")
    assert named_elsewhere(tmp_path) == "process 7 on elsewhere.example"
    (tmp_path / "lock").write_text(f"{ME}\n")
    assert named_elsewhere(tmp_path) is None


def test_looking_takes_no_lock(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    store.lock()
    store.close()
    for _ in range(100):
        assert holder_of(tmp_path) is None
        again = RunStore(tmp_path)
        again.lock()  # RunLocked, were it taken
        again.close()
