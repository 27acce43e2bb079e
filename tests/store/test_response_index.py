"""The response index: a hit is checked, a fault is a miss, and deleting it loses nothing."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from vgen_eval.answers import pack
from vgen_eval.store.index import ResponseIndex, Row
from vgen_eval.store.run import RunStore


def write_run(
    results: Path, name: str, requests: list[str], *, index: ResponseIndex | None = None
) -> RunStore:
    store = RunStore(results / "runs" / name)
    store.lock()
    store.write_record({"samples": requests, "attempts": 1})
    for request in requests:
        answer = store.put(pack("video", f"film of {request}".encode()))
        record = {
            "sample": request, "attempt": 0, "status": "ok", "request": request, "answer": answer,
        }  # fmt: skip
        offset = store.append_prediction(record)
        if index is not None:
            index.add(request, run=index.name_of(store.path), line=offset, sha256=answer["sha256"])
    store.close()
    return store


def answer_for(index: ResponseIndex, request: str) -> bytes | None:
    found = index.find(request)
    return None if found is None else found[0].get(found[1]["answer"])


def test_an_answer_is_found_from_the_next_flush_on(tmp_path: Path) -> None:
    index = ResponseIndex(tmp_path)
    write_run(tmp_path, "m/t/1", ["q1", "q2"], index=index)
    index.flush()
    assert answer_for(index, "q2") == b"film of q2"
    assert answer_for(index, "q3") is None
    index.close()


def test_a_missing_index_is_made_again_from_the_runs(tmp_path: Path) -> None:
    write_run(tmp_path, "m/t/1", ["q1", "q2"])
    write_run(tmp_path, "m/t/2", ["q3"])
    index = ResponseIndex(tmp_path)
    assert [answer_for(index, q) for q in ("q1", "q3")] == [b"film of q1", b"film of q3"]
    index.close()
    for file in tmp_path.glob("responses.sqlite*"):
        file.unlink()
    again = ResponseIndex(tmp_path)
    assert answer_for(again, "q2") == b"film of q2"
    again.close()


@pytest.mark.parametrize("garbage", [b"no database" * 500, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_damaged_index_is_made_again_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, garbage: bytes
) -> None:
    write_run(tmp_path, "m/t/1", ["q1"])
    (tmp_path / "responses.sqlite").write_bytes(garbage)
    with caplog.at_level(logging.WARNING):
        index = ResponseIndex(tmp_path)
    assert "is damaged" in caplog.text
    assert answer_for(index, "q1") == b"film of q1"
    index.close()


def test_an_index_that_is_busy_is_not_thrown_away(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    ResponseIndex(tmp_path).close()
    path = tmp_path / "responses.sqlite"
    inode = path.stat().st_ino
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode=EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **{**k, "timeout": 0.1}))
    with caplog.at_level(logging.WARNING):
        index = ResponseIndex(tmp_path)
    assert "no response index: database is locked" in caplog.text
    assert index.find("q1") is None
    index.close()
    other.close()
    assert path.stat().st_ino == inode


def test_a_row_that_does_not_hold_any_more_is_a_miss(tmp_path: Path) -> None:
    index = ResponseIndex(tmp_path)
    names = ["gone", "altered", "line", "run", "kept"]
    stores = {name: write_run(tmp_path, f"m/t/{name}", [name], index=index) for name in names}
    index.flush()
    assert all(answer_for(index, name) is not None for name in names)
    (file,) = (stores["gone"].path / "outputs").iterdir()
    file.unlink()
    (file,) = (stores["altered"].path / "outputs").iterdir()
    file.write_bytes(b"other")
    path = stores["line"].predictions_path
    path.write_text(path.read_text().replace('"request":"line"', '"request":"nile"'))
    stores["run"].predictions_path.unlink()
    assert [name for name in names if answer_for(index, name) is not None] == ["kept"]
    index.close()


@pytest.mark.parametrize(("line", "sha"), [(3, None), (10**9, None), (-1, None), (0, "0" * 64)])
def test_a_row_that_points_beside_its_line_is_a_miss(
    tmp_path: Path, line: int, sha: str | None
) -> None:
    store = write_run(tmp_path, "m/t/1", ["q1"])
    (record,) = store.predictions()
    index = ResponseIndex(tmp_path)
    digest = sha or record["answer"]["sha256"]
    index.add("q1", run=index.name_of(store.path), line=line, sha256=digest)
    index.flush()
    assert index.find("q1") is None
    index.close()


WRITE = """
import sys
from collections.abc import Iterator
from pathlib import Path
from vgen_eval.store.index import ResponseIndex
print("ready", flush=True)
sys.stdin.read()
index = ResponseIndex(Path(sys.argv[1]))
for n in range(600):
    index.add(f"{sys.argv[2]}-{n}", run="runs/x", line=n, sha256="0")
index.close()
"""


def test_processes_that_start_at_one_moment_write_one_index(tmp_path: Path) -> None:
    write_run(tmp_path, "m/t/1", ["q1", "q2"])
    children = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", WRITE, str(tmp_path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in "abcd"
    ]
    for process in children:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in children:  # the end of its input is the word to go
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    said = [process.communicate(timeout=60)[1] for process in children]
    assert [(process.returncode, text) for process, text in zip(children, said, strict=True)] == [
        (0, "") for _ in children
    ]
    with contextlib.closing(sqlite3.connect(tmp_path / "responses.sqlite")) as db:
        assert db.execute("SELECT count(*) FROM responses").fetchone() == (2402,)


def test_an_index_that_was_killed_while_it_was_made_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run(tmp_path, "m/t/1", ["q1", "q2"])
    rows = ResponseIndex._rows_of_runs

    def killed(self: ResponseIndex) -> Iterator[Row]:
        yield next(iter(rows(self)))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ResponseIndex, "_rows_of_runs", killed)
        with pytest.raises(KeyboardInterrupt):
            ResponseIndex(tmp_path)
    assert (tmp_path / "responses.sqlite").exists()
    index = ResponseIndex(tmp_path)
    assert answer_for(index, "q2") == b"film of q2"
    index.close()


def test_a_folder_that_cannot_be_written_only_costs_the_reuse(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    with caplog.at_level(logging.WARNING):
        index = ResponseIndex(tmp_path / "file")
    assert "no response index" in caplog.text
    index.add("q", run="runs", line=0, sha256="0")
    assert index.find("q") is None
    index.close()


def test_a_writer_that_is_killed_leaves_what_it_noted_a_while_ago(tmp_path: Path) -> None:
    code = (
        "import os, sys, time\nfrom pathlib import Path\n"
        "from vgen_eval.store.index import ResponseIndex\n"
        "root = Path(sys.argv[1])\nindex = ResponseIndex(root)\n"
        "for n in range(3):\n"
        "    index.add(f'q{n}', run='runs/x', line=n, sha256='0')\n    time.sleep(0.6)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == -9
    with sqlite3.connect(tmp_path / "responses.sqlite") as db:
        assert db.execute("SELECT count(*) FROM responses").fetchone()[0] >= 2
    db.close()


def test_a_run_that_cannot_be_read_keeps_no_other_out_of_the_index(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_run(tmp_path, "m/t/2", ["q1"])
    (tmp_path / "runs/m/t/1/predictions.jsonl").mkdir(parents=True)
    (tmp_path / "runs/m/t/1/run.json").write_text("{}")
    index = ResponseIndex(tmp_path)
    assert answer_for(index, "q1") == b"film of q1"
    assert "runs/m/t/1/predictions.jsonl: cannot be read" in caplog.text
    index.close()
