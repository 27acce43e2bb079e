"""Run directories: answers named by content and checked, one writer, equality of runs."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from vgen_eval.answers import pack
from vgen_eval.errors import NotRunnable, RunLocked, StorageError
from vgen_eval.store.run import RunStore, find_runs, write_atomic


@contextlib.contextmanager
def writing(path: Path, *, samples: tuple[str, ...] = ("a", "b"), attempts: int = 1) -> Iterator[
    RunStore
]:  # fmt: skip
    store = RunStore(path)
    store.lock()
    store.write_record({"samples": list(samples), "attempts": attempts})
    try:
        yield store
    finally:
        store.close()


# --- outputs ------------------------------------------------------------------------------

IDS = ("A fantasy landscape", "a fantasy landscape", "cat/dog", "../up", "x" * 300, "con", "tail. ")


def test_answers_of_awkward_ids_are_distinct_files_inside_the_folder(tmp_path: Path) -> None:
    with writing(tmp_path / "run", samples=IDS) as store:
        for number, name in enumerate(IDS):
            answer = store.put(pack("video", b"film %d" % number))
            store.append_prediction(
                {"sample": name, "attempt": 0, "status": "ok", "answer": answer}
            )
    outputs = sorted((tmp_path / "run" / "outputs").iterdir())
    assert len({path.name.casefold() for path in outputs}) == len(IDS)
    assert all(len(path.name.encode()) <= 255 for path in outputs)
    everything = {p.relative_to(tmp_path / "run").parts[0] for p in (tmp_path / "run").rglob("*")}
    assert everything == {"run.json", "lock", "predictions.jsonl", "outputs"}
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    text = (tmp_path / "run" / "predictions.jsonl").read_text()
    found = {json.loads(line)["sample"]: json.loads(line)["answer"] for line in text.splitlines()}
    for number, name in enumerate(IDS):
        path = tmp_path / "run" / "outputs" / found[name]["file"]
        assert path.read_bytes() == b"film %d" % number
        assert path.name.split(".")[0] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_equal_answers_are_kept_once(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        first, second = (store.put(pack("video", b"same")) for _ in range(2))
    assert first == second
    assert len(list((tmp_path / "outputs").iterdir())) == 1


@pytest.mark.parametrize("damage", [b"sAme", b"", b"longer than before"])
def test_an_altered_answer_is_noticed_and_written_anew(tmp_path: Path, damage: bytes) -> None:
    with writing(tmp_path) as store:
        answer = store.put(pack("video", b"same"))
        file = tmp_path / "outputs" / answer["file"]
        assert store.get(answer) == b"same"
        file.write_bytes(damage)
        assert store.get(answer) is None
        assert not store.intact(answer)
        store.put(pack("video", b"same"))
        assert store.get(answer) == b"same"
        file.unlink()
        assert store.get(answer) is None


@pytest.mark.parametrize("name", ["../run.json", "/etc/hostname", ".hidden", 7, None])
def test_an_answer_that_points_elsewhere_is_not_read(tmp_path: Path, name: Any) -> None:
    with writing(tmp_path) as store:
        assert store.get({"file": name, "sha256": "0"}) is None


def test_a_dropped_answer_is_gone_and_dropping_twice_is_no_fault(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        answer = store.put(pack("video", b"film"))
        store.drop(answer)
        store.drop(answer)
        store.drop(store.put(pack("text", "words")))
        assert list((tmp_path / "outputs").iterdir()) == []


def test_files_appear_whole_and_leave_nothing_beside_when_they_cannot(tmp_path: Path) -> None:
    write_atomic(tmp_path / "deep" / "er" / "a.json", b"{}")
    assert (tmp_path / "deep" / "er" / "a.json").read_bytes() == b"{}"
    (tmp_path / "taken").mkdir()
    with pytest.raises(StorageError, match="cannot write"):
        write_atomic(tmp_path / "taken", b"x")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["deep", "taken"]


# --- one writer ---------------------------------------------------------------------------

HOLD = """
import sys, time
from pathlib import Path
from vgen_eval.store.run import RunStore
store = RunStore(Path(sys.argv[1]))
store.lock()
print("locked", flush=True)
time.sleep(60)
"""


def test_a_second_writer_is_told_who_holds_the_run_until_it_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
        with pytest.raises(RunLocked, match=f"process {holder.pid} on ") as caught:
            RunStore(tmp_path).lock()
        assert caught.value.exit_code == 3
        holder.send_signal(signal.SIGKILL)
        holder.wait(10)
    store = RunStore(tmp_path)
    store.lock()
    assert (tmp_path / "lock").read_text().startswith(f"process {os.getpid()} on ")
    store.close()


def test_the_lock_holds_within_a_process_and_is_free_after_close(tmp_path: Path) -> None:
    with writing(tmp_path), pytest.raises(RunLocked, match=f"process {os.getpid()}"):
        RunStore(tmp_path).lock()
    with writing(tmp_path):
        pass


def test_what_a_killed_writer_left_half_written_is_swept_up(tmp_path: Path) -> None:
    (tmp_path / "outputs").mkdir()
    left_over = tmp_path / "outputs" / ".abc.png.1-2.tmp"
    left_over.write_bytes(b"half")
    with writing(tmp_path):
        assert not left_over.exists()


def test_nothing_is_written_without_the_lock(tmp_path: Path) -> None:
    with writing(tmp_path) as store:
        store.append_prediction({"sample": "a", "attempt": 0})
    for append in (store.append_prediction, lambda line: store.append_score("d", line)):
        with pytest.raises(StorageError, match="not open for writing"):
            append({"sample": "b", "attempt": 0})
    assert len((tmp_path / "predictions.jsonl").read_text().splitlines()) == 1


def test_threads_that_write_the_first_line_at_once_share_one_journal(tmp_path: Path) -> None:
    names = tuple(f"s{n}" for n in range(40))
    for turn in range(10):
        path = tmp_path / str(turn)
        with writing(path, samples=names) as store:
            gate = threading.Barrier(8)

            def write(start: int, store: RunStore = store, gate: threading.Barrier = gate) -> None:
                gate.wait()
                for name in names[start::8]:
                    store.append_prediction({"sample": name, "attempt": 0})
                    store.append_score("d", {"sample": name, "attempt": 0})

            threads = [threading.Thread(target=write, args=(t,)) for t in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert [line["sample"] for line in store.predictions()] == sorted(names)
        assert [line["sample"] for line in store.scores("d")] == sorted(names)


# --- run.json -----------------------------------------------------------------------------


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff\xfe"])
def test_a_damaged_run_file_is_named(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "run.json").write_bytes(damage)
    with pytest.raises(NotRunnable, match=r"run\.json: damaged"):
        _ = RunStore(tmp_path).record


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotRunnable, match=r"no run here \(run\.json is missing\)"):
        _ = RunStore(tmp_path).record


def test_runs_are_found_in_order_and_not_inside_each_other(tmp_path: Path) -> None:
    for name in ("b/t/1", "a/t/2", "a/t/1", "a/t/1/inner"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.json").write_text("{}")
    found = [str(path.relative_to(tmp_path / "runs")) for path in find_runs(tmp_path)]
    assert found == ["a/t/1", "a/t/2", "b/t/1"]
    assert list(find_runs(tmp_path / "none")) == []


# --- equality -----------------------------------------------------------------------------


def line(sample: str, attempt: int = 0, **more: Any) -> dict[str, Any]:
    return {"sample": sample, "attempt": attempt, "status": "ok", **more}


def digest_of(path: Path, written: list[dict[str, Any]], scored: list[dict[str, Any]]) -> str:
    with writing(path, attempts=2) as store:
        for record in written:
            store.append_prediction(record)
        for record in scored:
            store.append_score("d", record)
        return store.content_digest("d")


def test_equal_runs_share_a_digest_whatever_order_retries_and_volatile_facts(
    tmp_path: Path,
) -> None:
    base = [line("a"), line("a", 1), line("b")]
    score = [line("a", values={"x": 0.1})]
    whole = digest_of(tmp_path / "1", base, score)
    timed = [{**record, "volatile": {"seconds": n}} for n, record in enumerate(base)]
    assert digest_of(tmp_path / "2", timed[::-1], score) == whole
    retried = [line("b", status="error"), line("a", 1, status="timeout"), *base]
    assert digest_of(tmp_path / "3", retried, [line("a", values={"x": 9}), *score]) == whole
    stranger = [line("zzz"), line("a", 7), {"no": "attempt"}, *base]
    assert digest_of(tmp_path / "4", stranger, score) == whole


def test_any_difference_that_counts_changes_the_digest(tmp_path: Path) -> None:
    score = [line("a", values={"x": 0.1})]
    variants = [
        ([line("a"), line("b")], score),
        ([line("a")], score),
        ([line("a"), line("b", status="refused")], score),
        ([line("a"), line("b", 1)], score),
        ([line("a"), line("b")], [line("a", values={"x": 0.2})]),
        ([line("a"), line("b")], []),
        (score, [line("a"), line("b")]),
    ]
    found = {digest_of(tmp_path / str(n), *variant) for n, variant in enumerate(variants)}
    assert len(found) == len(variants)
