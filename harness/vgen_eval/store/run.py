"""One run's directory: what was asked, what was answered, what it scored.

run.json            what was asked
samples.jsonl       one line a sample of it: id, group, tags
predictions.jsonl   one line a finished attempt, append-only
judgements.jsonl    one line a reply of a judge, append-only, where one is asked
outputs/            raw answers, files named by sha256
scores/<digest>.jsonl    what the answers came to under one protocol; derived
scores/<digest>.calibration.json   what their decoder learned of the first samples, if it did
result_card.json, .md    derived
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import socket
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.answers import Packed
from vgen_eval.errors import NotRunnable, RunLocked, StorageError
from vgen_eval.store.journal import Journal, storage_error
from vgen_eval.store.record import AGAIN, RUN_SCHEMA, fault_of, gaps_of
from vgen_eval.store.regular import read_regular
from vgen_eval.store.rows import Rows
from vgen_eval.types import Item

__all__ = ["RunStore", "find_runs", "is_folder", "is_run", "runs_below", "write_atomic"]

_MEND = "mend its permissions"


def write_atomic(path: Path, data: bytes) -> None:
    """The file is there whole or not at all: written beside, synced, renamed."""
    # two threads may write one name at once: equal answers do
    beside = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException as exc:  # a signal too: no half of a file is left
        with contextlib.suppress(OSError):
            beside.unlink()
        if isinstance(exc, OSError):
            raise storage_error(path, exc) from exc
        raise


class RunStore:
    """Reads a run directory; writes it between `lock()` and `close()`."""

    def __init__(self, path: Path, *, within: Path | None = None) -> None:
        """`within`: files that links lead out of this folder are not read."""
        self.path = path
        self.within = within
        self._lock_fd = -1
        self._opening = threading.Lock()
        self._predictions: Journal | None = None
        self._judgements: Journal | None = None
        self._scores: dict[str, Journal] = {}

    # --- what was asked -------------------------------------------------------------------

    @property
    def record(self) -> dict[str, Any]:
        """run.json, the fields that it has of the right types; NotRunnable when there is none."""
        try:
            record = jsonio.loads(read_regular(self.path / "run.json", within=self.within))
        except FileNotFoundError:
            raise NotRunnable(f"{self.path}: no run here (run.json is missing)") from None
        except OSError as exc:
            raise NotRunnable(
                f"{self.path}/run.json: cannot be read: {exc.strerror}", cure=_MEND
            ) from exc
        except ValueError as exc:
            raise self._damaged(str(exc)) from exc
        fault = fault_of(record) if isinstance(record, dict) else "no mapping"
        if fault is not None:
            raise self._damaged(fault)
        found: dict[str, Any] = record
        return found

    @property
    def asked(self) -> dict[str, Any]:
        """run.json with everything that a run is read by; NotRunnable where anything is missing."""
        record = self.record
        schema = record.get("schema", RUN_SCHEMA)
        if schema != RUN_SCHEMA:
            raise NotRunnable(
                f"{self.path}/run.json: schema {schema}, {RUN_SCHEMA} wanted",
                cure="score it with the version of vgen-eval that made it",
            )
        gap = gaps_of(record)
        if gap is not None:
            raise self._damaged(f"'{gap}' is missing")
        return record

    def _damaged(self, reason: str) -> NotRunnable:
        return NotRunnable(f"{self.path}/run.json: damaged: {reason}", cure=AGAIN)

    def has_record(self) -> bool:
        """Whether run.json is there and sound; a damaged one is written anew like a lost one."""
        try:
            return bool(self.record) and gaps_of(self.record) is None
        except NotRunnable:
            return False

    def write_record(self, record: Mapping[str, Any]) -> None:
        """Writes run.json."""
        write_atomic(self.path / "run.json", jsonio.pretty(dict(record)).encode())

    def write_samples(self, items: Iterable[Item]) -> None:
        """Writes what is known of the samples: runs are compared without their data."""
        path = self.path / "samples.jsonl"
        # an item's own mapping of tags may be one that JSON does not know
        plain = (msgspec.structs.replace(item, tags=dict(item.tags)) for item in items)
        data = b"".join(jsonio.dumps(msgspec.to_builtins(item)) + b"\n" for item in plain)
        try:
            kept = path.read_bytes() == data
        except OSError:
            kept = False
        if not kept:
            write_atomic(path, data)

    def samples(self, only: slice | None = None) -> tuple[Item, ...] | None:
        """The samples as they were written down; None where they were not, or not whole.

        `only`: those at these places, which takes a fraction of the time; of the others it is
        looked at how many there are.
        """
        ids = self.record.get("samples")
        try:
            lines = read_regular(self.path / "samples.jsonl", within=self.within).splitlines()
            if not isinstance(ids, list) or len(lines) != len(ids):
                return None
            wanted = slice(None) if only is None else only
            items = tuple(msgspec.json.decode(line, type=Item) for line in lines[wanted])
        except (OSError, msgspec.DecodeError):
            return None
        return items if [item.id for item in items] == ids[wanted] else None

    # --- one writer -----------------------------------------------------------------------

    def lock(self) -> None:
        """Becomes the writer; RunLocked, naming the holder, when another process is.

        A flock goes with its process, however that ends.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            fd = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as exc:
            raise storage_error(self.path, exc) from exc
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(fd, 200, 0).decode("utf-8", "replace").strip() or "another process"
            os.close(fd)
            raise RunLocked(
                f"{self.path} is being written by {holder}",
                cure="wait for it to end, or give another --output",
            ) from None
        self._lock_fd = fd
        # a full disk must not keep a run from being finished: the holder's name is a courtesy
        with contextlib.suppress(OSError):
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        for left_over in self.path.glob("**/.*.tmp"):  # of a writer that was killed
            left_over.unlink(missing_ok=True)

    def close(self) -> None:
        """Closes the journals and frees the lock."""
        with self._opening, contextlib.ExitStack() as closing:
            if self._lock_fd >= 0:
                closing.callback(os.close, self._lock_fd)
                self._lock_fd = -1
            for journal in (self._predictions, self._judgements, *self._scores.values()):
                if journal is not None:
                    closing.callback(journal.close)
            self._predictions = self._judgements = None
            self._scores.clear()

    # --- predictions ----------------------------------------------------------------------

    @property
    def predictions_path(self) -> Path:
        """The journal of finished attempts."""
        return self.path / "predictions.jsonl"

    def append_prediction(self, line: dict[str, Any]) -> int:
        """Writes the line of a finished attempt and returns its offset."""
        with self._opening:
            if self._predictions is None:
                self._predictions = self._open(self.predictions_path)
            journal = self._predictions
        return journal.append(line)

    def _open(self, path: Path) -> Journal:
        """The journal, for the writer alone: a thread left behind by a stop writes nothing more."""
        if self._lock_fd < 0:
            raise StorageError(f"{path}: the run is not open for writing")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise storage_error(path, exc) from exc
        return Journal(path)

    def predictions(self, rows: Rows | None = None) -> Iterator[dict[str, Any]]:
        """The current line of each attempt by sample and attempt: a later one supersedes."""
        return (rows or self.rows()).lines(self.predictions_path)

    def rows(self, record: Mapping[str, Any] | None = None) -> Rows:
        """The attempts that run.json asks for; NotRunnable where it does not say.

        `record`: what stands there, where that was read before.
        """
        record = self.record if record is None else record
        for field in ("samples", "attempts"):
            if field not in record:
                raise self._damaged(f"'{field}' is missing")
        return Rows(record["samples"], record["attempts"])

    # --- judgements -----------------------------------------------------------------------

    @property
    def judgements_path(self) -> Path:
        """The journal of what judges replied."""
        return self.path / "judgements.jsonl"

    def append_judgement(self, line: dict[str, Any]) -> int:
        """Writes the line of a judge's reply and returns its offset."""
        with self._opening:
            if self._judgements is None:
                self._judgements = self._open(self.judgements_path)
            journal = self._judgements
        return journal.append(line)

    # --- outputs --------------------------------------------------------------------------

    def put(self, packed: Packed) -> dict[str, Any]:
        """Keeps an answer and returns what its line says of it: the file comes first."""
        if packed.data is None:
            return {"sha256": packed.sha256, "value": packed.value}
        name = packed.sha256 + packed.suffix
        self.put_file(name, packed.data)
        return {"sha256": packed.sha256, "file": name, "bytes": len(packed.data)}

    def put_file(self, name: str, data: bytes) -> None:
        """Keeps the bytes of an answer under its name; equal bytes are kept once."""
        path = self.path / "outputs" / name
        try:
            kept = path.read_bytes() == data  # a file that was altered is written anew
        except OSError:
            kept = False
        if not kept:
            write_atomic(path, data)

    def get(self, answer: Mapping[str, Any]) -> bytes | None:
        """The bytes of a kept file, checked against its name; None when gone or altered."""
        name = answer.get("file")
        if not isinstance(name, str) or "/" in name or name.startswith("."):
            return None
        try:
            data = read_regular(self.path / "outputs" / name, within=self.within)
        except (OSError, ValueError):  # a name that no file can have
            return None
        return data if hashlib.sha256(data).hexdigest() == answer["sha256"] else None

    def intact(self, answer: Mapping[str, Any]) -> bool:
        """Whether the answer is still kept, byte for byte."""
        return "file" not in answer or self.get(answer) is not None

    def altered(self, answer: Mapping[str, Any]) -> Path | None:
        """The kept file that is there and cannot be used: other bytes, or none to be read."""
        if self.intact(answer):
            return None
        path = self.path / "outputs" / Path(str(answer["file"])).name
        return path if path.exists() else None

    def drop(self, answer: Mapping[str, Any]) -> None:
        """Deletes a kept file."""
        if "file" in answer:
            with contextlib.suppress(FileNotFoundError):
                (self.path / "outputs" / answer["file"]).unlink()

    # --- scores ---------------------------------------------------------------------------

    def scores_path(self, digest: str) -> Path:
        """The scores under one protocol digest."""
        return self.path / "scores" / f"{digest}.jsonl"

    def calibration_path(self, digest: str) -> Path:
        """What the decoder was calibrated to for these scores."""
        return self.path / "scores" / f"{digest}.calibration.json"

    def all_scores(self) -> list[Path]:
        """The scores under every protocol digest that there are."""
        return sorted(self.path.glob("scores/[!.]*.jsonl"))

    def append_score(self, digest: str, line: dict[str, Any]) -> None:
        """Writes the score line of an attempt."""
        with self._opening:
            journal = self._scores.get(digest)
            if journal is None:
                journal = self._scores[digest] = self._open(self.scores_path(digest))
        journal.append(line)

    def begin_rescore(self, digest: str) -> None:
        """From now on score lines go to a new file, beside the one that is there."""
        beside = self._beside(digest)
        beside.unlink(missing_ok=True)
        self._scores[digest] = self._open(beside)

    def end_rescore(self, digest: str) -> None:
        """The new scores replace the old ones, whole."""
        self._scores.pop(digest).close()
        self._beside(digest).replace(self.scores_path(digest))

    def _beside(self, digest: str) -> Path:
        return self.path / "scores" / f".{digest}.new"

    def scores(self, digest: str, rows: Rows | None = None) -> Iterator[dict[str, Any]]:
        """The current score line of each attempt, by sample and attempt."""
        return (rows or self.rows()).lines(self.scores_path(digest))

    # --- equality -------------------------------------------------------------------------

    def content_digest(self, scores_digest: str, rows: Rows | None = None) -> str:
        """sha256 over the canonical current lines without `volatile`, by sample and attempt.

        Two runs are equal when this is: however often they were interrupted, with however many
        workers. Prediction lines come first, then the score lines under `scores_digest`.
        """
        total = hashlib.sha256()
        for record in self.predictions(rows):
            total.update(_canonical_line(record))
        for record in self.scores(scores_digest, rows):
            total.update(_canonical_line(record))
        return total.hexdigest()


def _canonical_line(record: Mapping[str, Any]) -> bytes:
    kept = {k: v for k, v in record.items() if k != "volatile"}
    return jsonio.canonical(kept, is_read=True) + b"\n"


def is_run(folder: Path) -> bool:
    """Whether a run lies there, as far as one may look."""
    try:
        return (folder / "run.json").is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Whether a folder lies there, as far as one may look."""
    try:
        return path.is_dir()
    except OSError:
        return False


def find_runs(root: Path) -> Iterator[Path]:
    """Every run directory below a results folder, as `runs_below` gives them."""
    return runs_below(root / "runs")


def runs_below(folder: Path) -> Iterator[Path]:
    """Every run directory below a folder, itself included, in order of name.

    A folder that cannot be listed is among them: runs may lie in it, and whoever reads it says why
    it is not read.
    """
    closed: list[OSError] = []
    for directory, folders, files in os.walk(folder, onerror=closed.append):
        yield from _drain(closed, folder)
        folders.sort()
        if "run.json" in files:
            folders.clear()
            yield Path(directory)
    yield from _drain(closed, folder)


def _drain(closed: list[OSError], top: Path) -> Iterator[Path]:
    """The folders that could not be listed, without those that are not there, or no folders."""
    while closed:
        exc = closed.pop(0)
        path = Path(exc.filename)
        is_gone = isinstance(exc, FileNotFoundError | NotADirectoryError)
        if not is_gone and (path != top or is_folder(path)):
            yield path
