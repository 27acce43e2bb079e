"""Thumbnails on disk: made once, bounded, and never worth keeping."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path

import pytest
from vgen_eval.viewer.drawing.thumbs import Thumbs, cache_folder

KEY = "ab" * 32


def body(size: int = 1000) -> bytes:
    return b"RIFF" + bytes(size - 4)


def key(number: int) -> str:
    return f"{number:08x}" * 8


def test_a_picture_is_made_once_and_found_by_another_viewer(tmp_path: Path) -> None:
    made = []

    def make() -> bytes:
        made.append(1)
        return body()

    first = Thumbs(tmp_path)
    assert first.get(KEY, make) == first.get(KEY, make) == body()
    assert Thumbs(tmp_path).get(KEY, make) == body()
    assert len(made) == 1
    assert (tmp_path / ".view" / "thumbs" / "ab" / f"{KEY}.webp").read_bytes() == body()


def test_of_many_who_ask_at_once_one_makes_it(tmp_path: Path) -> None:
    made, found = [], []
    thumbs = Thumbs(tmp_path)

    def make() -> bytes:
        made.append(1)
        time.sleep(0.05)
        return body()

    threads = [
        threading.Thread(target=lambda: found.append(thumbs.get(KEY, make))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [body()] * 8
    assert len(made) == 1


def test_the_folder_stays_below_its_limit_and_loses_the_oldest(tmp_path: Path) -> None:
    for number in range(10):
        Thumbs(tmp_path, most_bytes=10_000).get(key(number), body)
        path = tmp_path / ".view" / "thumbs" / key(number)[:2] / f"{key(number)}.webp"
        os.utime(path, (1000 + number, 1000 + number))
    thumbs = Thumbs(tmp_path, most_bytes=10_000)
    thumbs.get(key(10), body)
    kept = sorted(path.stem for path in (tmp_path / ".view").rglob("*.webp"))
    assert kept == [key(number) for number in range(3, 11)]
    fresh = Thumbs(tmp_path, most_bytes=10_000)
    assert fresh.find(key(0)) is None
    assert fresh.find(key(9)) == body()


def test_deleting_the_folder_is_safe_at_any_time(tmp_path: Path) -> None:
    thumbs = Thumbs(tmp_path)
    thumbs.get(KEY, body)
    shutil.rmtree(tmp_path / ".view")
    assert thumbs.get(KEY, body) == body()
    assert thumbs.get(key(1), body) == body()
    assert Thumbs(tmp_path).find(key(1)) == body()


def test_a_file_that_is_no_picture_is_made_again(tmp_path: Path) -> None:
    Thumbs(tmp_path).get(KEY, body)
    path = tmp_path / ".view" / "thumbs" / "ab" / f"{KEY}.webp"
    path.write_bytes(b"")
    assert Thumbs(tmp_path).get(KEY, lambda: body(2000)) == body(2000)
    assert path.read_bytes() == body(2000)


def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    thumbs = Thumbs(tmp_path)

    def fail() -> bytes:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        thumbs.get(KEY, fail)
    assert thumbs.get(KEY, body) == body()


def test_beside_closed_results_they_lie_in_a_cache_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results"
    results.mkdir()
    (results / ".view").write_text("a file in its place")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    thumbs = Thumbs(results)
    assert thumbs.place == cache_folder(results)
    assert thumbs.place.is_relative_to(tmp_path / "cache")
    thumbs.get(KEY, body)
    assert Thumbs(results).find(KEY) == body()


def test_where_nothing_can_be_written_they_are_kept_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("a file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    thumbs = Thumbs(tmp_path / "cache" / "results")
    assert thumbs.place is None
    assert thumbs.get(KEY, body) == body()
    assert thumbs.find(KEY) == body()


def test_results_that_are_not_there_are_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Thumbs(tmp_path / "no" / "results").get(KEY, body)
    assert not (tmp_path / "no").exists()


def test_a_key_is_no_path(tmp_path: Path) -> None:
    for bad in ("../../etc/passwd", "", "ABCDEF0123", "ab/../cd12"):
        with pytest.raises(ValueError, match="no key"):
            Thumbs(tmp_path).get(bad, body)


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    Thumbs(tmp_path).get(KEY, body)
    path = tmp_path / ".view" / "thumbs" / "ab" / f"{KEY}.webp"
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]  # nothing half written


def test_what_may_look_otherwise_soon_is_kept_in_memory_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    thumbs = Thumbs(tmp_path)
    assert thumbs.get_brief(KEY, body) == body()
    assert thumbs.get_brief(KEY, lambda: body(2000)) == body()
    assert thumbs.find(KEY) is None
    assert not list(tmp_path.rglob("*.webp"))
    now = time.monotonic()
    monkeypatch.setattr("vgen_eval.viewer.drawing.thumbs.time.monotonic", lambda: now + 61)
    assert thumbs.find_brief(KEY) is None
    assert thumbs.get_brief(KEY, lambda: body(2000)) == body(2000)


def test_nothing_is_written_through_a_link_that_took_the_folders_place(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    thumbs = Thumbs(tmp_path, place=tmp_path / ".view" / "thumbs")
    (tmp_path / ".view" / "thumbs").rmdir()
    (tmp_path / ".view").rmdir()
    (tmp_path / ".view").symlink_to(elsewhere)
    assert thumbs.get("ab" * 16, lambda: b"RIFFpicture") == b"RIFFpicture"
    assert list(elsewhere.iterdir()) == []
