"""An index that others are in the way of: links, foreign files, locks, rows that nobody wrote."""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
import time
from pathlib import Path

import pytest
from indexkit import card_of, prediction, record_of, score, text, write_run
from vgen_eval.viewer.index import Index, database
from vgen_eval.viewer.records import Query


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def make(results: Path) -> Path:
    """A run of two samples."""
    lines = [score(name, {"good": 0.5}) for name in ("x", "y")]
    predictions = [prediction(name) for name in ("x", "y")]
    return write_run(
        results / "a", record_of(["x", "y"]), predictions=predictions, scores=lines,
        card=card_of(lines),
    )  # fmt: skip


def make_victim(path: Path) -> bytes:
    """A database of somebody else, with a table of a name that the index uses."""
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE runs (mine TEXT)")
    db.execute("INSERT INTO runs VALUES ('kept')")
    db.commit()
    db.close()
    return path.read_bytes()


def total(index: Index) -> int:
    (row,) = index.runs()
    return index.samples(row, Query())[1]


@pytest.mark.parametrize("suffix", ["", "-journal"])
def test_a_link_in_the_place_of_a_file_is_not_followed(
    tmp_path: Path, suffix: str, caplog: pytest.LogCaptureFixture
) -> None:
    results, victim = tmp_path / "results", tmp_path / "victim.sqlite"
    make(results)
    before = make_victim(victim)
    (results / ".view").mkdir()
    (results / ".view" / f"index.sqlite{suffix}").symlink_to(victim)
    index = Index(results)
    index.refresh()
    assert total(index) == 2
    assert victim.read_bytes() == before
    assert index.path.is_relative_to(tmp_path / "cache")
    (told,) = [record.message for record in caplog.records if "is a link" in record.message]
    assert str(results / ".view") in told


def test_a_lock_file_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    make(tmp_path / "results")
    (tmp_path / "results" / ".view").mkdir()
    (tmp_path / "results" / ".view" / "index.lock").symlink_to(tmp_path / "new")
    index = Index(tmp_path / "results")
    index.refresh()
    assert total(index) == 2
    assert not (tmp_path / "new").exists()


def test_another_programs_database_is_left_as_it_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make(tmp_path / "results")
    (tmp_path / "results" / ".view").mkdir()
    file = tmp_path / "results" / ".view" / "index.sqlite"
    before = make_victim(file)
    index = Index(tmp_path / "results")
    index.refresh()
    assert total(index) == 2
    assert file.read_bytes() == before
    assert "another program's database; move it away" in caplog.text


@pytest.mark.parametrize("way", ["file", "link", "foreign"])
def test_what_comes_into_the_way_of_an_open_index_is_told_and_left(
    tmp_path: Path, way: str
) -> None:
    results, elsewhere = tmp_path / "results", tmp_path / "elsewhere"
    make(results)
    index = Index(results)
    index.refresh()
    assert index.trouble == ""
    view = results / ".view"
    for path in view.iterdir():
        path.unlink()
    if way == "foreign":
        before = make_victim(view / "index.sqlite")
    else:
        view.rmdir()
        elsewhere.mkdir()
        view.symlink_to(elsewhere) if way == "link" else view.write_text("mine")
    assert total(index) == 2
    index.refresh(0)
    assert total(index) == 2
    assert index.trouble.startswith(f"the index could not be written: {view}")
    assert list(elsewhere.iterdir() if way == "link" else ()) == []
    if way == "file":
        assert view.read_text() == "mine"
    if way == "foreign":
        assert (view / "index.sqlite").read_bytes() == before


def test_a_locked_index_is_kept_elsewhere_until_it_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "PATIENCE_S", 0.2)
    make(tmp_path / "results")
    index = Index(tmp_path / "results")
    index.refresh()
    file = index.path
    index.close()
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    later = Index(tmp_path / "results")
    begun = time.monotonic()
    later.refresh(0)
    assert total(later) == 2
    assert time.monotonic() - begun < 10
    assert "is locked by another process" in later.trouble
    other.execute("ROLLBACK")
    other.close()
    monkeypatch.setattr(database, "AGAIN_S", 0.0)
    later.refresh(0)
    assert (later.trouble, later.path, total(later)) == ("", file, 2)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE runs SET row = '{}'",
        "UPDATE runs SET row = x'00', known = x'01'",
        "UPDATE runs SET known = '{}'",
        "UPDATE samples SET vals = x'00', parts = x'c1', flags = 'x', tags = 'y'",
        "DROP TABLE samples",
    ],
)
def test_rows_that_no_builder_wrote_are_made_anew(tmp_path: Path, damage: str) -> None:
    run = make(tmp_path / "results")
    index = Index(tmp_path / "results")
    index.refresh()
    db = sqlite3.connect(index.path)
    db.execute(damage)
    db.commit()
    db.close()
    later = Index(tmp_path / "results")
    rows = later.samples(later.runs()[0], Query())[0]
    assert [row.score for row in rows] == [0.5, 0.5]
    with (run / "predictions.jsonl").open("a") as file:  # the lines before it are recalled
        file.write(text([prediction("x", status="refused")]))
    later.refresh(0)
    assert later.runs()[0].state != "unreadable"
    assert total(later) == 2
    assert later.trouble == ""


def test_a_line_that_is_appended_to_a_run_with_damaged_rows_does_not_condemn_the_run(
    tmp_path: Path,
) -> None:
    run = make(tmp_path / "results")
    index = Index(tmp_path / "results")
    index.refresh()
    db = sqlite3.connect(index.path)
    db.execute("UPDATE samples SET parts = x'c1'")
    db.commit()
    db.close()
    with (run / "predictions.jsonl").open("a") as file:
        file.write(text([prediction("x", status="refused")]))
    index.refresh(0)
    assert index.runs()[0].state != "unreadable"
    assert total(index) == 2


def test_of_a_card_of_another_schema_the_samples_stay(tmp_path: Path) -> None:
    run = make(tmp_path / "results")
    card = json.loads((run / "result_card.json").read_text())
    (run / "result_card.json").write_text(json.dumps({**card, "schema_version": "0.9"}))
    index = Index(tmp_path / "results")
    index.refresh()
    (row,) = index.runs()
    assert (row.state, row.value, row.primary, row.ended) == ("stopped", None, "good", 2)
    assert "its card is of schema 0.9, not read" in row.reason
    assert [one.score for one in index.samples(row, Query())[0]] == [0.5, 0.5]


def test_waiting_for_a_builder_is_no_trouble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Who builds holds the lock beside the file: its readers wait."""
    monkeypatch.setattr(database, "PATIENCE_S", 0.1)
    make(tmp_path / "results")
    index = Index(tmp_path / "results")
    index.refresh()
    held, free = threading.Event(), threading.Event()

    def build() -> None:
        with index._db.building():
            db = sqlite3.connect(index.path, isolation_level=None)
            db.execute("BEGIN EXCLUSIVE")
            held.set()
            free.wait(10)
            db.execute("ROLLBACK")
            db.close()

    thread = threading.Thread(target=build)
    thread.start()
    held.wait(10)
    threading.Timer(0.6, free.set).start()
    later = Index(tmp_path / "results")
    with caplog.at_level(logging.WARNING):
        assert total(later) == 2
    thread.join()
    assert (later.trouble, later.path, caplog.records) == ("", index.path, [])
