"""The file of the index: shared by viewers, killed, damaged, deleted, or in a place of its own."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from indexkit import Drawn, prediction, record_of, text, write_run
from vgen_eval.viewer.index import Index, view_folder
from vgen_eval.viewer.index.schema import OURS
from vgen_eval.viewer.records import Query, SampleRow

BUILD = (
    "import sys; from pathlib import Path\n"
    "from vgen_eval.viewer.index import Index\n"
    "index = Index(Path(sys.argv[1])); print('begun', flush=True); index.refresh()\n"
    "print(len(index.runs()))\n"
)


def write_runs(results: Path, count: int, samples: int) -> None:
    drawn = Drawn(21, samples=samples)
    for number in range(count):
        write_run(
            results / f"run{number:02}",
            drawn.record(),
            items=drawn.items,
            predictions=drawn.predictions,
            scores=drawn.scores,
        )


def held(index: Index) -> list[list[SampleRow]]:
    return [list(index.all_samples(run)) for run in index.runs()]


def begin(results: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", BUILD, str(results)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def is_sound(path: Path) -> bool:
    db = sqlite3.connect(path)
    try:
        return db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    finally:
        db.close()


def test_two_processes_that_build_at_once_make_one_index(tmp_path: Path) -> None:
    write_runs(tmp_path / "r", 12, 300)
    both = [begin(tmp_path / "r") for _ in range(2)]
    for child in both:
        out, err = child.communicate(timeout=120)
        assert (child.returncode, out.split(), err) == (0, ["begun", "12"], "")
    index, anew = Index(tmp_path / "r"), Index(tmp_path / "r", place=tmp_path / "anew")
    anew.refresh()
    assert held(index) == held(anew)
    assert is_sound(tmp_path / "r" / ".view" / "index.sqlite")


def test_a_killed_build_is_gone_on_with(tmp_path: Path) -> None:
    write_runs(tmp_path / "r", 12, 400)
    child = begin(tmp_path / "r")
    file = tmp_path / "r" / ".view" / "index.sqlite"
    end = time.monotonic() + 60
    while time.monotonic() < end and (not file.exists() or file.stat().st_size < 200_000):
        time.sleep(0.005)
    child.kill()
    child.communicate()
    index, anew = Index(tmp_path / "r"), Index(tmp_path / "r", place=tmp_path / "anew")
    index.refresh()
    anew.refresh()
    assert len(index.runs()) == 12
    assert held(index) == held(anew)
    assert is_sound(file)


@pytest.mark.parametrize("size", [0, 100, 40_000])
def test_a_damaged_file_is_made_anew(tmp_path: Path, size: int) -> None:
    write_runs(tmp_path, 2, 50)
    index = Index(tmp_path)
    index.refresh()
    before = held(index)
    file = tmp_path / ".view" / "index.sqlite"
    index.close()
    file.write_bytes(b"no database " * (size // 12))
    later = Index(tmp_path)
    later.refresh()
    assert held(later) == before
    assert is_sound(file)


@pytest.mark.parametrize("fault", ["deleted", "folder deleted", "garbage", "emptied", "foreign"])
def test_a_file_that_is_lost_under_an_open_index_is_made_anew(tmp_path: Path, fault: str) -> None:
    write_runs(tmp_path, 2, 50)
    index = Index(tmp_path)
    index.refresh()
    before = held(index)
    file = tmp_path / ".view" / "index.sqlite"
    if fault == "garbage":
        file.write_bytes(b"\x00garbage" * 9000)
    elif fault == "emptied":
        file.write_bytes(b"")
    else:
        file.unlink()
    if fault == "folder deleted":
        (tmp_path / ".view" / "index.lock").unlink()
        (tmp_path / ".view").rmdir()
    if fault == "foreign":
        db = sqlite3.connect(file)
        db.execute("CREATE TABLE runs (other TEXT)")
        db.close()
    assert held(index) == before
    index.refresh(0)
    assert held(index) == before
    assert is_sound(file)


def test_a_file_of_another_layout_is_made_anew(tmp_path: Path) -> None:
    write_runs(tmp_path, 1, 20)
    (tmp_path / ".view").mkdir()
    db = sqlite3.connect(tmp_path / ".view" / "index.sqlite")
    db.execute("CREATE TABLE runs (other TEXT)")
    db.execute("INSERT INTO runs VALUES ('x')")
    db.execute(f"PRAGMA application_id = {OURS}")
    db.execute("PRAGMA user_version = 99")
    db.commit()
    db.close()
    index = Index(tmp_path)
    index.refresh()
    assert [len(rows) for rows in held(index)] == [20]


def test_a_results_folder_that_takes_nothing_has_its_index_in_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results"
    write_runs(results, 1, 20)
    (results / ".view").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    index = Index(results)
    index.refresh()
    assert [len(rows) for rows in held(index)] == [20]
    assert index.path.parent == view_folder(results)
    assert index.path.is_relative_to(tmp_path / "cache" / "vgen-eval" / "view")
    other = tmp_path / "other"
    write_runs(other, 1, 20)
    (other / ".view").write_text("in the way")
    assert view_folder(other) != view_folder(results)


def test_where_nothing_can_be_written_the_index_is_kept_for_the_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results"
    write_runs(results, 1, 20)
    (results / ".view").write_text("in the way")
    (tmp_path / "cache").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert view_folder(results) is None
    index = Index(results)
    index.refresh()
    assert [len(rows) for rows in held(index)] == [20]
    folder = index.path.parent
    assert folder.is_dir()
    index.close()
    assert not folder.exists()


def test_a_view_folder_that_links_elsewhere_is_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, elsewhere = tmp_path / "results", tmp_path / "elsewhere"
    write_runs(results, 1, 20)
    elsewhere.mkdir()
    (results / ".view").symlink_to(elsewhere)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    index = Index(results)
    index.refresh()
    assert len(index.runs()) == 1
    assert list(elsewhere.iterdir()) == []


def test_threads_may_ask_and_refresh_at_once(tmp_path: Path) -> None:
    ids = [f"s{at}" for at in range(200)]
    run = write_run(tmp_path / "a", record_of(ids), predictions=[])
    index = Index(tmp_path)
    index.refresh()
    faults: list[BaseException] = []
    seen: list[int] = []
    stop = threading.Event()

    def ask() -> None:
        try:
            while not stop.is_set():
                index.refresh(0.001)
                (row,) = index.runs()
                rows, total = index.samples(row, Query(sort="order"))
                assert total == len(ids)
                assert [found.id for found in rows] == ids[:60]
                seen.append(sum(index.facets(row).statuses.values()))
        except BaseException as exc:  # told below
            faults.append(exc)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    with (run / "predictions.jsonl").open("a") as file:
        for name in ids:
            file.write(text([prediction(name)]))
            file.flush()
            time.sleep(0.002)
    stop.set()
    for thread in threads:
        thread.join()
    assert faults == []
    assert set(seen) == {200}
    index.refresh(0)
    assert index.runs()[0].ended == 200
