"""A run opened for looking: its job with data or without, and where its lines lie."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.engine.calibration import recall
from vgen_eval.engine.keeping import Keeper
from vgen_eval.engine.plan import Job
from vgen_eval.engine.rescore import reopen
from vgen_eval.errors import UsageError, nearest
from vgen_eval.store.run import RunStore
from vgen_eval.store.transcript import is_sound
from vgen_eval.types import Item
from vgen_eval.viewer.index.lines import LineAt
from vgen_eval.viewer.looking.journals import Journal
from vgen_eval.viewer.looking.lines import mended_prediction, mended_reply, mended_score
from vgen_eval.viewer.looking.reasons import ANYTHING, say
from vgen_eval.viewer.looking.samples import Samples
from vgen_eval.viewer.looking.views import versions_of_views

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Given", "Lines", "NoSuchAttempt", "Opened", "Where"]

Where = Callable[[Path, str, int], Mapping[str, LineAt]]
"""Run, sample, attempt -> name of a file below the run -> where its current line lies."""

RETRY_S = 30.0
"""After which it is tried again to open what could not be opened."""


class NoSuchAttempt(UsageError):
    """The run was not asked for that sample, or makes fewer attempts at one."""


class Lines:
    """The lines of one attempt, as they stand now, and its answer's file."""

    def __init__(
        self, line: Mapping[str, Any] | None, score: Mapping[str, Any] | None,
        replies: tuple[Mapping[str, Any], ...], notices: tuple[str, ...],
        file: tuple[int, int] | None = None,
    ) -> None:  # fmt: skip
        """`file`: bytes and time of the answer's file; None where there is none."""
        self.file = file
        self.line = line
        self.score = score
        self.replies = replies
        self.notices = notices

    @cached_property
    def digest(self) -> str:
        """Of all of them, without what differs between equal runs, and of the file's stat."""
        parts = (self.line, self.score, *self.replies)
        told = [{k: v for k, v in (part or {}).items() if k != "volatile"} for part in parts]
        return jsonio.digest([*told, self.file])


class Given(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A run's job as it could be opened."""

    job: Job | None
    has_data: bool
    is_whole: bool
    """Is all of it here?"""
    notices: tuple[str, ...]
    keeper: Keeper | None
    items: Mapping[str, Item]
    """Of all samples where the data is here; of none where not."""


class Opened:
    """A run's record, its job as far as it can be had, and finders of its lines.

    Jobs are opened when they are first asked for: without data for what is known by lines alone,
    with data for what is to be seen.
    """

    def __init__(
        self, path: Path, catalog: Catalog, data_root: str | None, samples: Samples,
        where: Where | None = None, root: Path | None = None,
    ) -> None:  # fmt: skip
        """NotRunnable where run.json cannot be read at all.

        `root`: the results folder, which no link may lead out of; else the one that the run lies
        in, or the run's own where it lies in none.
        """
        self.samples = samples
        self._where = where
        self.root = (_root_of(path) if root is None else root).resolve()
        self.store = RunStore(path, within=self.root)
        self.record = self.store.record
        self.rows = self.store.rows(self.record)
        self.catalog = catalog
        self._data_root = data_root
        self._version = _version(path)
        self._opened_at = time.monotonic()
        self._lock = threading.RLock()
        self._predictions = Journal(self.store.predictions_path, self.rows, within=self.root)
        self._replies = Journal(
            self.store.judgements_path, self.rows, keep_all=True, within=self.root
        )
        self._scores: dict[Path, Journal] = {}
        self._given: Given | None = None

    @cached_property
    def _without_data(self) -> tuple[Job | None, str]:
        """The job of the samples as the run wrote them down, or why there is none.

        Of no more of them than what is calibrated asks for: a run may have a hundred thousand.
        """
        try:
            job = self._reopen(first=0)
            rule = job.task.protocol.calibration
            if rule is not None:
                job = self._reopen(first=rule.samples)
        except ANYTHING as exc:  # decoders and metrics are anyone's code
            return None, say(exc)
        return job, ""

    def _reopen(self, *, first: int) -> Job:
        return reopen(
            self.store.path, self.catalog, data_root=self._data_root, with_data=False, first=first
        )

    @property
    def score_digest(self) -> str | None:
        """Names the scores under the components that are installed."""
        with self._lock:
            job, _ = self._without_data
        return None if job is None else job.score_digest

    @cached_property
    def views(self) -> Mapping[str, tuple[str, ...]]:
        """What its panes are made by, as far as that is known: see `versions_of_views`."""
        with self._lock:
            job, _ = self._without_data
        return {} if job is None else versions_of_views(job, self.catalog)

    @property
    def given(self) -> Given:
        """Its job, with data where that is here."""
        with self._lock:
            if self._given is None:
                self._given = self._open()
            return self._given

    def _open(self) -> Given:
        notices: list[str] = []
        job: Job | None = None
        try:
            job = reopen(self.store.path, self.catalog, data_root=self._data_root)
            has_data = True
        except ANYTHING as exc:  # readers are anyone's code
            has_data = False
            job, fault = self._without_data
            if job is None:
                told = "its task cannot be opened, so that its answers are shown as they are"
            else:
                told = "its data cannot be opened, so that neither input nor truth can be shown"
            notices.append(f"{told}: {fault or say(exc)}")
        is_calibrated = True
        if job is not None:
            job, told = _recalled(job, self.store)
            is_calibrated = not told
            notices += [told] if told else []
        return Given(
            job=job,
            has_data=has_data,
            is_whole=has_data and is_calibrated,
            notices=tuple(notices),
            keeper=None if job is None else Keeper(job, self.store, None, keep="all"),
            items={item.id: item for item in job.items} if job is not None and has_data else {},
        )

    def item(self, sample: str) -> Item | None:
        """The sample as it is known without its data; None where it is not."""
        found = self.given.items.get(sample)
        place = self.rows.of({"sample": sample, "attempt": 0}) // self.rows.attempts
        if found is not None or place < 0:
            return found
        items = self.store.samples(slice(place, place + 1))
        return items[0] if items else None

    @property
    def is_stale(self) -> bool:
        """Has run.json changed, or may what was missing be here by now?"""
        if _version(self.store.path) != self._version:
            return True
        is_late = time.monotonic() - self._opened_at > RETRY_S
        return is_late and self._given is not None and not self._given.is_whole

    def check(self, sample: str, attempt: int) -> None:
        """NoSuchAttempt for what the run was not asked for."""
        if self.rows.of({"sample": sample, "attempt": attempt}) >= 0:
            return
        samples = self.record["samples"]
        known = samples if len(samples) <= 10_000 else ()
        if self.rows.of({"sample": sample, "attempt": 0}) < 0:
            raise NoSuchAttempt(f"the run has no sample '{sample}'.{nearest(sample, known)}")
        raise NoSuchAttempt(
            f"the run has no attempt {attempt + 1} at a sample: it makes {self.rows.attempts}"
        )

    def lines(self, sample: str, attempt: int) -> Lines:
        """What the run's files say of the attempt now."""
        notices: list[str] = []
        hints = {} if self._where is None else self._where(self.store.path, sample, attempt)
        found = self._find(self._predictions, sample, attempt, notices, hints)
        scores, is_own = self._scores_of()
        scored = [] if scores is None else self._find(scores, sample, attempt, notices, hints)
        if scored and not is_own:
            notices.append(
                "its scores are of other versions of decoders or metrics than those installed: "
                f"vgen-eval score {self.store.path} makes them anew"
            )
        replies = self._find(self._replies, sample, attempt, notices, {})
        sound = [line for line in replies if _is_sound(line)]
        if len(sound) < len(replies):
            notices.append("replies of the judge that were changed since are left out")
        if scored and not found:
            notices.append(
                "the line of its prediction is gone: what is told of it is what its score says; "
                "the command that began the run asks for it anew"
            )
        mended = [mended_reply(line, notices) for line in sound]
        line = mended_prediction(found[-1] if found else None, notices)
        return Lines(
            line,
            mended_score(scored[-1] if scored else None, notices),
            tuple(reply for reply in mended if reply is not None),
            tuple(notices),
            _stat(self.store.path, line),
        )

    def _find(
        self, journal: Journal, sample: str, attempt: int, notices: list[str],
        hints: Mapping[str, LineAt],
    ) -> list[dict[str, Any]]:  # fmt: skip
        name = journal.path.relative_to(self.store.path).as_posix()
        try:
            return journal.find(sample, attempt, hints.get(name))
        except OSError as exc:
            reason = exc.strerror or exc
            cure = "mend its permissions" if exc.errno == errno.EACCES else "put the file back"
            notices.append(f"{journal.path.name} cannot be read: {reason}; {cure}")
            return []

    def _scores_of(self) -> tuple[Journal | None, bool]:
        """The scores that stand, and whether they are of what is installed."""
        own, recorded = self.score_digest, self.record.get("score_digest")
        for digest in (own, recorded):
            if isinstance(digest, str) and "/" not in digest:
                path = self.store.scores_path(digest)
                if path.exists():
                    return self._journal(path), own is None or digest == own
        others = self.store.all_scores()
        return (self._journal(others[-1]), False) if others else (None, True)

    def _journal(self, path: Path) -> Journal:
        if path not in self._scores:
            self._scores[path] = Journal(path, self.rows, within=self.root)
        return self._scores[path]


def _stat(run: Path, line: Mapping[str, Any] | None) -> tuple[int, int] | None:
    """Bytes and time of the file that the line's answer lies in: another, once it is altered."""
    answer = (line or {}).get("answer")
    name = answer.get("file") if isinstance(answer, Mapping) else None
    if not isinstance(name, str) or "/" in name or name.startswith("."):
        return None
    try:
        status = (run / "outputs" / name).stat()
    except (OSError, ValueError):  # a name that no file can have
        return None
    return status.st_size, status.st_mtime_ns


def _is_sound(line: Mapping[str, Any]) -> bool:
    try:
        return is_sound(line)
    except (RecursionError, TypeError, ValueError):  # nested deeper than JSON is written
        return False


def _root_of(run: Path) -> Path:
    """The folder whose `runs` it lies below; itself where there is none such."""
    return next((above.parent for above in run.parents if above.name == "runs"), run)


def _recalled(job: Job, store: RunStore) -> tuple[Job, str]:
    """The job under the calibration that its run kept, and why it is not ("")."""
    told = ""
    try:
        found = recall(job, store)
    except ANYTHING as exc:
        found, told = None, f" ({say(exc)})"
    if found is not None:
        return found, ""
    return job, (
        f"what its decoder is calibrated to is not known{told}: predictions are shown as it reads "
        f"them without; vgen-eval score {store.path}"
    )


def _version(path: Path) -> tuple[int, int]:
    try:
        status = (path / "run.json").stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
