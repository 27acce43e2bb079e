"""Opens attempts and keeps the last ones: runs opened once, each attempt made by one thread."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from vgen_eval import __version__, jsonio
from vgen_eval.errors import NotRunnable, UsageError
from vgen_eval.viewer.looking.building import build_look, tell_lines
from vgen_eval.viewer.looking.opened import Opened, Where
from vgen_eval.viewer.looking.panes import DRAWING_VERSION, bytes_of
from vgen_eval.viewer.looking.reasons import ANYTHING, say
from vgen_eval.viewer.looking.records import Look
from vgen_eval.viewer.looking.samples import Samples
from vgen_eval.viewer.looking.sizes import BASE, weigh
from vgen_eval.viewer.looking.workshop import PATIENCE_S, Piece, Room, Workshop
from vgen_eval.viewer.remembered import Remembered

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Looker"]

log = logging.getLogger(__name__)

MOST_BYTES = 32 * 2**20
"""Of pixels and numbers that are held for the next request."""
MOST_RUNS = 12
"""Runs that are held open: each holds the list of its task's samples."""
MOST_IN_HAND = 2 * BASE
"""Bytes in hand for the attempts that are made at one time, as `weigh` has them."""
LARGE = 256 * 2**20
"""Bytes in hand for one attempt, above which the others are let go of before it is made."""
STRIPES = 32


class Looker:
    """Opens attempts of runs and keeps the last ones; may be used from several threads.

    A run is opened once, with the task's data where that is here and without where not.
    """

    def __init__(
        self, catalog: Catalog, *, data_root: str | Path | None = None,
        most_bytes: int = MOST_BYTES, where: Where | None = None,
        root: Path | None = None, patience_s: float = PATIENCE_S,
    ) -> None:  # fmt: skip
        """`data_root`: the data folder, in the place of the one that runs name.

        `where`: who knows where lines lie, so that files are not searched for them. `root`: the
        results folder, which no link of a run may lead out of; else the one that it lies in.
        `patience_s`: how long is waited for an attempt.
        """
        self._catalog = catalog
        self._where = where
        self._data_root = None if data_root is None else str(data_root)
        self._most_bytes = most_bytes
        self._samples = Samples()
        self._runs: Remembered[Opened] = Remembered(MOST_RUNS)
        # the last one stays, be it ever so large: its page asks for each of its panes
        self._looks: Remembered[Look] = Remembered(most_bytes, weigh=_bytes_of, keeps_last=True)
        self._opening = [threading.Lock() for _ in range(STRIPES)]
        self._root = root
        self._workshop = Workshop(Room(MOST_IN_HAND), patience_s=patience_s)

    def look(self, run: Path, sample: str, attempt: int = 0) -> Look:
        """The attempt, from 0; whatever is damaged, gone or of another version is in its notices.

        UsageError alone is raised: for a sample or an attempt that the run does not have.
        """
        path = run.resolve()
        try:
            found = self._workshop.ask(
                f"look {path} {attempt} {sample}",
                str(path),
                lambda piece: self._make(piece, path, sample, attempt),
            )
        except UsageError:
            raise
        except NotRunnable as exc:
            return self._told(run, path, sample, attempt, say(exc))
        except ANYTHING as exc:  # what nobody has thought of is one attempt's fault alone
            log.warning("%s, %s: cannot be shown", run, sample, exc_info=exc)
            return self._told(run, path, sample, attempt, f"it cannot be shown: {say(exc)}")
        # named as it was asked for, whatever links lead there
        return found if found.run == run else msgspec.structs.replace(found, run=run)

    def _make(self, piece: Piece[Look], run: Path, sample: str, attempt: int) -> Look:
        opened = self._open(run)
        opened.check(sample, attempt)
        lines = opened.lines(sample, attempt)
        key = _key(opened, sample, attempt, lines.digest)
        found = self._looks.find(key)
        if found is None:
            weight = weigh(opened, lines.line)
            with piece.room(weight):
                if weight > LARGE:  # not beside what is held for later
                    self._looks.clear()
                found = build_look(opened, self._catalog, sample, attempt, lines)
            self._looks.put(key, found)
        return found

    def _told(self, run: Path, path: Path, sample: str, attempt: int, notice: str) -> Look:
        """What its lines say of it, where it cannot be shown; of a run that is not open nothing."""
        opened = self._runs.find(path)
        if opened is None:
            return _nothing(run, sample, attempt, notice)
        try:
            lines = opened.lines(sample, attempt)
        except ANYTHING:
            return _nothing(run, sample, attempt, notice)
        found = tell_lines(opened, sample, attempt, lines, notice)
        return msgspec.structs.replace(found, run=run)

    def look_ahead(self, run: Path, sample: str, attempt: int = 0) -> bool:
        """As `look`, to be held for whoever asks next; whether there was room for it.

        Beside the one that was looked at last and another of its size: that one is not put out.
        """
        last = self._looks.latest
        if last is not None and 3 * _bytes_of(last) > self._most_bytes:
            return False
        self.look(run, sample, attempt)
        return True

    def stamp(self, run: Path, sample: str, attempt: int = 0) -> str:
        """sha256 of the lines that the attempt hangs on, without opening data or answers.

        And of the versions of the views that draw it, and of the harness: when one of them changes
        its panes, pictures of before are not taken for its own. For keys of thumbnails.
        UsageError as `look`; NotRunnable where the run cannot be read.
        """
        path = run.resolve()
        return self._workshop.ask(
            f"stamp {path} {attempt} {sample}",
            str(path),
            lambda _: self._stamp(path, sample, attempt),
        )

    def _stamp(self, run: Path, sample: str, attempt: int) -> str:
        opened = self._open(run)
        opened.check(sample, attempt)
        lines = opened.lines(sample, attempt)
        parts = [
            DRAWING_VERSION, sample, attempt, lines.digest, opened.record.get("identity"),
            opened.score_digest, opened.views, __version__,
        ]  # fmt: skip
        return jsonio.digest(parts)

    def _open(self, path: Path) -> Opened:
        """`path`: its real one."""
        with self._opening[hash(path) % STRIPES]:
            found = self._runs.find(path)
            if found is None or found.is_stale:
                found = Opened(
                    path, self._catalog, self._data_root, self._samples, self._where, self._root
                )
                self._runs.put(path, found)
        return found


def _bytes_of(look: Look) -> int:
    """What it holds in memory, about."""
    return sum(bytes_of(shown) for shown in look.panes) + 4096


def _key(opened: Opened, sample: str, attempt: int, digest: str) -> str:
    return f"{id(opened)} {opened.store.path} {attempt} {sample} {digest}"


def _nothing(run: Path, sample: str, attempt: int, notice: str) -> Look:
    facts = {
        "status": "not_run", "reason": "", "fault": "", "flags": (), "form": "", "values": {},
        "files": (),
    }  # fmt: skip
    return Look(
        run=run, sample=sample, attempt=attempt, attempts=1, notices=(notice,), facts=facts,
        complete=False,
    )  # fmt: skip
