"""Runs the blocks of docs/tutorial.md in order, and says or writes what they print.

python tests/house/tutorial.py        writes the outputs into the page
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))

from cleanroom import ROOT, CleanRoom

__all__ = ["PAGE", "Block", "Console", "as_page", "read_blocks", "same"]

PAGE = ROOT / "docs" / "tutorial.md"
NOT_RUN = "*Not run by the tests"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# what differs from one run, machine or release to the next
_VARIES = (
    (re.compile(r"\b\d+(\.\d+)? (s|ms)\b"), "N s"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "RUN"),
    (re.compile(r"\b\d+\.\d+\.\d+(\.?(dev|a|b|rc)\d+)?\b"), "VERSION"),
    (re.compile(r" +"), " "),
)


class Block(msgspec.Struct, frozen=True):
    """A fenced block of the page."""

    kind: str
    """bash, python, diff: executed; text: what the block before it printed."""
    text: str
    runs: bool
    line: int
    start: int
    end: int
    """Where its text lies in the page."""


def read_blocks(page: str) -> list[Block]:
    """The blocks, in order; one whose paragraph before says that it is not run, is not."""
    blocks = []
    for found in _BLOCK.finditer(page):
        before = page[: found.start()].rstrip().rpartition("\n")[2]
        runs = not before.startswith(NOT_RUN)
        line = page.count("\n", 0, found.start()) + 1
        blocks.append(Block(found[1], found[2], runs, line, *found.span(2)))
    return blocks


class Console:
    """A folder in which blocks are executed one after the other."""

    def __init__(self, folder: Path, room: CleanRoom) -> None:
        self.folder = folder
        self.room = room

    def execute(self, block: Block) -> str:
        """What the block printed; AssertionError, with its line, when it failed."""
        if block.kind == "diff":
            self._patch(block)
            return ""
        words = ["bash", "-euo", "pipefail", "-c", f'{block.text}\nprintf "\\n%s" "$PWD"']
        if block.kind == "python":
            words = [str(self.room.bin / "python"), "-c", block.text]
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=self.room.env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        said = done.stdout + done.stderr
        assert done.returncode == 0, f"{PAGE.name}:{block.line}: exit {done.returncode}\n{said}"
        printed = done.stdout
        if block.kind == "bash":
            printed, _, place = printed.rpartition("\n")
            self.folder = Path(place)
        return printed.rstrip("\n") + "\n"

    def _patch(self, block: Block) -> None:
        """Puts the lines of + in the place of those of -, where exactly one file has them."""
        lines = block.text.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] in " -")
        new = "".join(line[1:] for line in lines if line[0] in " +")
        places = [p for p in self.folder.rglob("*.py") if p.read_text().count(old) == 1]
        assert len(places) == 1, f"{PAGE.name}:{block.line}: fits {len(places)} files"
        places[0].write_text(places[0].read_text().replace(old, new))


def same(shown: str, printed: str) -> bool:
    """Are both equal, but for times, digests, versions and the width of columns?"""
    return _plain(shown) == _plain(printed)


def _plain(text: str) -> str:
    for pattern, word in _VARIES:
        text = pattern.sub(word, text)
    return "\n".join(line.strip() for line in text.strip().splitlines())


def as_page(page: str, outputs: dict[int, str]) -> str:
    """The page with each output, by the line of its block, in its place."""
    for block in reversed(read_blocks(page)):
        if block.line in outputs and not same(block.text, outputs[block.line]):
            page = page[: block.start] + outputs[block.line] + page[block.end :]
    return page


def main() -> None:
    """Writes what the blocks print into the page."""
    page = PAGE.read_text(encoding="utf-8")
    outputs, printed = {}, ""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "room").mkdir()
        (place / "here").mkdir()
        console = Console(place / "here", CleanRoom(place / "room"))
        for block in read_blocks(page):
            if block.kind == "text":
                outputs[block.line] = printed
            elif block.runs:
                printed = console.execute(block)
    PAGE.write_text(as_page(page, outputs), encoding="utf-8")


if __name__ == "__main__":
    main()
