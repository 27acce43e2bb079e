"""Files written to a place that a user names: whole, with the mode that was there, nothing left."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from vgen_eval.store.whole import refusal, sweep, whole_file

HOLD = """
import sys, time
from pathlib import Path
from vgen_eval.store.whole import whole_file
with whole_file(Path(sys.argv[1])) as out:
    out.write(b"half")
    print("open", flush=True)
    time.sleep(60)
"""


def test_what_a_killed_process_left_is_removed_and_what_is_being_written_stays(
    tmp_path: Path,
) -> None:
    words = [sys.executable, "-c", HOLD, str(tmp_path / "a.txt")]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"open\n"
        (beside,) = tmp_path.iterdir()
        mine = tmp_path / ".a.txt.tmp"
        mine.write_text("mine")
        sweep(tmp_path)
        assert beside.exists()
        child.send_signal(signal.SIGKILL)
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == [mine]


def test_the_mode_of_a_file_is_kept_and_a_new_one_has_the_usual_mode(tmp_path: Path) -> None:
    place = tmp_path / "sub" / "a.txt"
    old = os.umask(0o027)
    try:
        with whole_file(place) as out:
            out.write(b"1")
    finally:
        os.umask(old)
    assert stat.S_IMODE(place.stat().st_mode) == 0o640
    place.chmod(0o600)
    with whole_file(place) as out:
        out.write(b"2")
        assert place.read_bytes() == b"1"
    assert (place.read_bytes(), stat.S_IMODE(place.stat().st_mode)) == (b"2", 0o600)
    with pytest.raises(KeyboardInterrupt), whole_file(place):
        raise KeyboardInterrupt
    assert [path.name for path in place.parent.iterdir()] == ["a.txt"]
    assert place.read_bytes() == b"2"


def test_folders_and_files_that_nobody_may_write_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    assert refusal(file) is None
    file.write_text("")
    assert refusal(file) is None
    file.chmod(0o444)
    assert refusal(file) == "is write-protected"
    assert refusal(tmp_path) == "is a folder"
