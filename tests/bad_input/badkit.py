"""What the tests of bad input share: console script, throwaway distributions, what must hold."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import vgen_eval

HARNESS = Path(vgen_eval.__file__).parents[1]
COUNTING = ("--tasks", "samples/counting", "--no-bounds")
TRACEBACK = "Traceback (most recent call last)"
SAFE = re.compile(r"[^\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]*")
"""Text that holds nothing a terminal obeys but line feeds."""


class Done:
    """What a command came to."""

    def __init__(self, code: int, out: str, err: str, folder: Path) -> None:
        self.code = code
        self.out = out
        self.err = err
        self.folder = folder
        """Where it ran."""

    def __repr__(self) -> str:
        return f"exit {self.code}\n--- stdout\n{self.out[-3000:]}\n--- stderr\n{self.err[-3000:]}"

    @property
    def document(self) -> Any:
        """stdout as the one JSON document that it is."""
        return json.loads(self.out)

    def refuses(self, code: int, *words: str) -> Path | None:
        """Holds when the command ended with this code and at most two lines that say the words.

        Nothing is on stdout, no traceback and nothing that a terminal obeys on stderr. Gives the
        log file when a line names one.
        """
        assert self.code == code, self
        assert self.out == "", self
        lines = self.err.splitlines()
        assert 1 <= len(lines) <= 2, self
        assert lines[0].startswith("error: "), self
        for word in words:
            assert word in self.err, (word, self)
        assert TRACEBACK not in self.err, self
        assert SAFE.fullmatch(self.err), self
        named = re.search(r"log: (.+?)\)?$|traceback is in (.+)$", lines[-1])
        return self.folder / (named.group(1) or named.group(2)) if named else None


class Shell:
    """Runs `vgen-eval` in a folder, with the distributions that were installed into it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: list[str] = []
        self.places: list[Path] = []

    @property
    def environment(self) -> dict[str, str]:
        """That of a process which sees the built-ins and these distributions alone."""
        kept = {k: v for k, v in os.environ.items() if k not in ("VGEN_DATA", "COLUMNS")}
        paths = [*map(str, self.places), str(HARNESS), str(HARNESS.parent / "plugins")]
        return kept | {
            "PYTHONPATH": os.pathsep.join(paths),
            "VGEN_EVAL_PLUGINS": ",".join(self.names),
        }

    def install(
        self, name: str, files: Mapping[str, str], *, site: str = "site", entry: str | None = None
    ) -> Path:
        """Writes a distribution with one entry point, as an installer would; gives its folder."""
        place = self.folder / site
        package = name.replace("-", "_")
        info = f"{package}-1.0.dist-info"
        for path, text in {
            **files,
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
            f"{info}/entry_points.txt": f"[vgen_eval]\n{name} = {entry or package}\n",
        }.items():
            write(place / path, text)
        if place not in self.places:
            self.places.append(place)
        self.names.append(name)
        return place

    def words(self, *words: object) -> list[str]:
        """The command line."""
        return [*program(), *map(str, words)]

    def __call__(self, *words: object, **extra: str) -> Done:
        done = subprocess.run(
            self.words(*words), capture_output=True, cwd=self.folder, timeout=120, check=False,
            env=self.environment | extra, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode(), self.folder)

    def start(self, *words: object) -> subprocess.Popen[bytes]:
        """The command, running."""
        return subprocess.Popen(
            self.words(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
            env=self.environment, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def finish(self, process: subprocess.Popen[bytes]) -> Done:
        """Waits for what was started."""
        out, err = process.communicate(timeout=60)
        return Done(process.returncode, out.decode(), err.decode(), self.folder)


def program() -> list[str]:
    """The installed console script; the same entry where the source tree is not installed."""
    beside = shutil.which("vgen-eval", path=str(Path(sys.executable).parent))
    return [beside] if beside else [sys.executable, "-m", "vgen_eval.cli"]


def write(path: Path, content: str | bytes) -> Path:
    """The file, its folders made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below a folder and its bytes, without locks and logs."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "lock" and path.suffix != ".log"
    }


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The lines of a journal: each must be whole."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def runs_in(folder: Path) -> Iterator[Path]:
    """The run directories of a results folder."""
    for record in sorted(folder.rglob("run.json")):
        yield record.parent


def model_card(name: str, form: str, *, adapter: str | None = None) -> str:
    """A model card, of the adapter of that name when no other is given. JSON is YAML."""
    card = {"model": name, "adapter": adapter or name, "answers": [form], "licence": "CC0-1.0"}
    return json.dumps(card)


def picture() -> bytes:
    """A PNG file of 12x16 noise."""
    import numpy as np
    from vgen_eval.imaging import encode_png

    return encode_png(np.random.default_rng(0).integers(0, 256, (12, 16, 3)).astype(np.uint8))


def wait_for_lines(folder: Path, count: int) -> None:
    """Returns once a journal in the folder holds so many lines."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for path in folder.rglob("predictions.jsonl"):
            if path.read_bytes().count(b"\n") >= count:
                return
        time.sleep(0.02)
    raise AssertionError("no prediction came")
