"""`-o FILE`: links, pipes, modes and places that are no file; and stdout that was never open."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from vgen_eval.cli import main, writing
from vgen_eval.cli.writing import write_file
from vgen_eval.errors import StorageError, UsageError
from vgen_eval.store.whole import write_fault


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    target, link = tmp_path / "there" / "target.csv", tmp_path / "link.csv"
    target.parent.mkdir()
    link.symlink_to(target)
    for data in (b"1", b"2"):  # a link that leads to nothing yet, and one that leads to a file
        write_file(link, data)
        assert link.is_symlink()
        assert target.read_bytes() == data
    assert list(target.parent.iterdir()) == [target]


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()
    data = b"x" * 200_000  # more than a pipe holds
    write_file(pipe, data)
    reader.join(20)
    assert found == [data]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_modes_are_kept_and_write_protected_files_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("old")
    file.chmod(0o600)
    write_file(file, b"new")
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("new", 0o600)
    file.chmod(0o444)
    with pytest.raises(UsageError, match=r"-o: .*a\.csv is write-protected"):
        write_file(file, b"newer")
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("new", 0o444)


def test_places_that_are_no_file_are_told_with_their_cure(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        write_file(tmp_path, b"")
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="Not a directory") as caught:
        write_file(tmp_path / "file" / "a.csv", b"")
    assert caught.value.cure == "a file stands where a folder is wanted: give another -o"
    with pytest.raises(StorageError, match="name too long") as caught:
        write_file(tmp_path / ("a" * 300), b"")
    assert caught.value.cure == "give a shorter name"
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(StorageError, match="symbolic links"):
        write_file(loop, b"")
    with pytest.raises(UsageError, match="names no file"):
        write_file(tmp_path / "a\0b", b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "loop"]


def test_room_is_asked_for_only_where_there_is_none() -> None:
    for number in (errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EIO):
        cure = write_fault(Path("a"), OSError(number, os.strerror(number))).cure
        assert cure is not None
        assert ("make room" in cure) == (number == errno.ENOSPC)
        assert "-o" in cure


def test_a_name_of_stdout_means_the_stdout_that_results_go_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(writing, "STDOUT", (str(tmp_path / "stdout"),))
    write_file(tmp_path / "stdout", b"\x89PNG")
    assert capfdbinary.readouterr().out == b"\x89PNG"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words", [["list", "tasks"], ["--help"], ["list", "--help"], ["show", "samples/depth"]]
)
@pytest.mark.parametrize("closed", [">&-", ">&- <&-"])
def test_without_stdout_a_verb_does_its_work_in_silence(
    words: list[str], closed: str, environment: dict[str, str], tmp_path: Path
) -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "vgen_eval.cli", *words],
        stderr=subprocess.PIPE, env=environment, cwd=tmp_path, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_program_without_stdout_can_call_main(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["list", "tasks"]) == 0
    assert sys.stdout is None


def test_names_of_models_longer_than_a_folder_can_be_called_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["score", "--task", "samples/counting", "--predictions", str(tmp_path)]
    for name in ("a" * 101, "lab/" + "b" * 300, "/".join("abcdefghijk")):
        assert main([*words, "--model-name", name, "--output", str(tmp_path / "out")]) == 2
        said = capsys.readouterr().err
        assert "is no name of a model" in said
        assert "10 parts at most, of 100 characters" in said
        assert len(said) < 400
    assert not (tmp_path / "out").exists()
