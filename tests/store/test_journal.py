"""Journals: a line is whole or not there, whatever the disk, the kill and the threads do."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from vgen_eval.errors import StorageError
from vgen_eval.store.journal import Journal, read_lines


def records(path: Path) -> list[dict[str, object]]:
    return [record for _, record in read_lines(path)]


def test_lines_come_back_at_the_offsets_that_append_gave(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    journal = Journal(path)
    offsets = [journal.append({"n": n, "text": "é\n" * n}) for n in range(5)]
    journal.close()
    assert [offset for offset, _ in read_lines(path)] == offsets
    assert [record["n"] for record in records(path)] == list(range(5))
    assert path.read_bytes().count(b"\n") == 5


@pytest.mark.parametrize("tail", [b'{"n": 2', b"\x00\xff", b'{"n": 2}', b"x" * 200_000])
def test_a_torn_last_line_is_passed_over_and_cut_off_by_the_next_writer(
    tmp_path: Path, tail: bytes
) -> None:
    path = tmp_path / "a.jsonl"
    whole = b'{"n":0}\n{"n":1}\n'
    path.write_bytes(whole + tail)
    assert records(path) == [{"n": 0}, {"n": 1}]
    journal = Journal(path)
    assert path.read_bytes() == whole
    assert journal.append({"n": 2}) == len(whole)
    journal.close()
    assert path.read_bytes() == whole + b'{"n":2}\n'


def test_a_file_that_is_one_torn_line_becomes_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"n"')
    Journal(path).close()
    assert path.read_bytes() == b""


@pytest.mark.parametrize(
    "damage",
    [
        b"\x00\x00\x00\n", b'{"n": NaN}\n', b"[1]\n", b"\n",
        b'{"answer": null}\n', b'{"answer": {"file": 5}}\n', b'{"volatile": null}\n',
        b'{"values": []}\n', b'{"flags": {}}\n',
    ],
)  # fmt: skip
def test_a_damaged_line_in_the_middle_is_passed_over_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: bytes
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"n":0}\n' + damage + b'{"n":2}\n')
    with caplog.at_level(logging.WARNING):
        assert records(path) == [{"n": 0}, {"n": 2}]
    assert f"{path}:2: damaged line" in caplog.text


def test_a_file_that_is_not_there_has_no_lines(tmp_path: Path) -> None:
    assert records(tmp_path / "none.jsonl") == []


def test_lines_of_several_threads_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    journal = Journal(path)

    def write(thread: int) -> None:
        for n in range(200):
            journal.append({"thread": thread, "n": n, "filler": "x" * (n % 97)})

    threads = [threading.Thread(target=write, args=(t,)) for t in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    journal.close()
    found = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(found) == 1200
    for thread_number in range(6):
        mine = [record["n"] for record in found if record["thread"] == thread_number]
        assert mine == list(range(200))


def test_closing_twice_is_no_fault(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a.jsonl")
    journal.append({})
    journal.close()
    journal.close()


def test_a_folder_that_is_not_there_is_a_storage_error_with_a_cure(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"cannot write .*a\.jsonl") as caught:
        Journal(tmp_path / "none" / "a.jsonl")
    assert caught.value.cure is not None
    assert caught.value.exit_code == 1


FILL = """
import os, sys
from pathlib import Path
from vgen_eval.errors import StorageError
from vgen_eval.store.journal import Journal, read_lines
path = Path(sys.argv[1]) / "a.jsonl"
journal = Journal(path)
kept = 0
while True:
    before = path.stat().st_size
    try:
        journal.append({"n": kept, "filler": "x" * 3000})
    except StorageError as exc:
        assert "cannot write" in str(exc), exc
        break
    kept += 1
assert path.stat().st_size == before, (path.stat().st_size, before)
assert [r["n"] for _, r in read_lines(path)] == list(range(kept)) and kept > 10
"""

ROOM_AGAIN = """
(Path(sys.argv[1]) / "filler").unlink()
journal.append({"n": kept, "filler": "x" * 3000})
journal.close()
assert [r["n"] for _, r in read_lines(path)] == list(range(kept + 1))
print("kept", kept)
"""


def test_a_full_disk_leaves_the_file_as_it_was_and_room_lets_it_go_on(tmp_path: Path) -> None:
    if not _can_mount(tmp_path):
        pytest.skip("no file system can be mounted here")
    script = tmp_path / "fill.py"
    script.write_text(FILL + ROOM_AGAIN)
    mount = tmp_path / "disk"
    mount.mkdir(exist_ok=True)
    done = _in_small_disk(
        mount, f"head -c 100000 /dev/zero > {mount}/filler && {sys.executable} {script} {mount}"
    )
    assert done.returncode == 0, done.stderr
    assert "kept" in done.stdout


def test_a_file_size_limit_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
    command = [sys.executable, "-c", limit + FILL, str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def _in_small_disk(mount: Path, command: str) -> subprocess.CompletedProcess[str]:
    whole = f"mount -t tmpfs -o size=256k none {mount} && {command}"
    return subprocess.run(
        ["unshare", "-rm", "sh", "-c", whole],
        check=False, capture_output=True, text=True, timeout=60, env={**os.environ},
    )  # fmt: skip


def _can_mount(tmp_path: Path) -> bool:
    if shutil.which("unshare") is None:
        return False
    mount = tmp_path / "disk"
    mount.mkdir(exist_ok=True)
    return _in_small_disk(mount, "true").returncode == 0
