"""Predictions in another program's format: its importer found, its file read, its truths served."""

from __future__ import annotations

import hashlib
import re
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from vgen_eval import cards, jsonio
from vgen_eval.adapters import BaseAdapter
from vgen_eval.answers import INLINE
from vgen_eval.cards.records import ProtocolCard
from vgen_eval.distributions import HOME
from vgen_eval.engine.imported import check_imported
from vgen_eval.engine.naming import TaskRef
from vgen_eval.engine.tasks import Task, open_recorded
from vgen_eval.errors import (
    BadSample,
    BrokenPlugin,
    MissingExtra,
    NoPrediction,
    NotRunnable,
    UsageError,
    VgenEvalError,
    nearest,
)
from vgen_eval.importing import Answer, Imported, Scope
from vgen_eval.types import Item, NoOptions, Output, Request, Sample
from vgen_eval.wording import describe, plural

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = [
    "AnswersAdapter",
    "Format",
    "ReadFile",
    "find_format",
    "name_after",
    "open_imported",
    "read_file",
    "reopen_imported",
]

MAX_ATTEMPTS = 1000
NOTHING: Mapping[str, Any] = {}


class Format(msgspec.Struct, frozen=True):
    """An importer, built, and what is known of it."""

    importer: Any
    info: Mapping[str, Any]
    """Qualified name, version and options."""


class ReadFile(msgspec.Struct, frozen=True):
    """What an importer made of a file."""

    reader: Format
    path: Path
    sha256: str
    """Of the file, or of all files of the folder."""
    held: Imported
    by_attempt: Mapping[tuple[str, int], Answer]

    @property
    def attempts(self) -> int:
        """Attempts of the sample that has most."""
        return 1 + max(attempt for _, attempt in self.by_attempt)

    @property
    def fingerprint(self) -> str:
        """What the file's own samples hang on."""
        return jsonio.digest([dict(self.reader.info), self.sha256])

    def options(self) -> dict[str, Any]:
        """What the model's card tells of where its answers came from."""
        return {
            "format": self.reader.info["name"],
            "format_version": self.reader.info["version"],
            "format_options": dict(self.reader.info["options"]),
            "own_samples": self.held.samples is not None,
            "sha256": self.sha256,
        }

    def unknown(self, known: Collection[str]) -> tuple[str, ...]:
        """Ids of answers that are of no sample."""
        ids = dict.fromkeys(sample for sample, _ in self.by_attempt)
        return tuple(sample for sample in ids if sample not in known)


def find_format(name: str, catalog: Catalog, options: Mapping[str, Any] = NOTHING) -> Format:
    """The importer of that name; UsageError naming those known for another."""
    known = catalog.names("importer")
    if ":" not in name and name not in known:
        raise UsageError(
            f"no format '{name}'.{nearest(name, known)}",
            cure=f"--format is one of {', '.join(sorted(known))} (vgen-eval list importers)",
        )
    component = catalog.component("importer", name, home=HOME)
    read = cards.convert(component.obj.Options, options, file=f"--format {name}", path="format")
    what = f"importer '{component.qualified}'"
    return Format(_guarded(what, lambda: component.obj(read)), component.identify(read))


def read_file(
    reader: Format, path: Path, ref: TaskRef, *, known: Collection[str] | None,
    protocol: ProtocolCard | None = None,
) -> ReadFile:  # fmt: skip
    """All that the importer finds; UsageError for what is not of the format or answers twice.

    `known`: ids of the task's samples, None where its data is not there. `protocol`: the task's,
    overrides applied, where the answers are to be held to what it reads; None of a file that was
    taken before.
    """
    answers = () if protocol is None else protocol.answers
    protocol = protocol or cards.protocol(ref.card, ref.protocol)
    scope = Scope(
        task=ref.label,
        family=ref.card.family,
        forms=tuple(answer.form for answer in protocol.answers),
        choices=next((answer.choices for answer in protocol.answers if answer.choices), ()),
        decoders={
            each.form: (each.decoder, each.options) for each in answers if each.decoder is not None
        },
        data={**ref.card.dataset.options, **protocol.data.options},
        known=known,
    )
    _refuse_odd_files(path)
    sha256 = _digest(path)
    what = f"importer '{reader.info['name']}'"
    given = _guarded(what, lambda: reader.importer.read(path, scope))
    held = check_imported(given, what=what)
    if held.form not in scope.forms or held.form not in INLINE:
        raise UsageError(
            f"{path} holds answers of form {held.form}: {ref.label} takes {', '.join(scope.forms)}"
        )
    by_attempt: dict[tuple[str, int], Answer] = {}
    for answer in held.answers:
        key = (answer.sample, answer.attempt)
        if key in by_attempt:
            raise UsageError(f"{path}: attempt {answer.attempt} of '{answer.sample}' stands twice")
        if answer.attempt >= MAX_ATTEMPTS:
            most = plural(MAX_ATTEMPTS, "attempt")
            raise UsageError(f"{path}: '{answer.sample}' has more than {most}")
        by_attempt[key] = answer
    if not by_attempt:
        raise UsageError(f"{path} holds no answer")
    return ReadFile(reader, path, sha256, held, by_attempt)


def open_imported(
    ref: TaskRef, catalog: Catalog, read: ReadFile, *, overrides: Mapping[str, Any]
) -> Task:
    """The task over the file's own samples: its data set is not opened."""
    assert read.held.samples is not None
    items = [Item(id=s.id, group=s.group, tags=s.tags) for s in read.held.samples]
    own = _OwnSamples(items, read.held.samples, read.fingerprint)
    return open_recorded(
        ref, catalog, overrides=overrides, items=items, fingerprint=read.fingerprint, dataset=own
    )


def reopen_imported(
    ref: TaskRef, catalog: Catalog, options: Mapping[str, Any], *, overrides: Mapping[str, Any]
) -> Task:
    """The task of a run whose samples came from a file, which is read again.

    `options`: the model's, as the run's record has them. NotRunnable when the file is gone or is
    another.
    """
    try:
        path, sha256 = Path(options["file"]), options["sha256"]
        given, name = options["format_options"], options["format"]
    except (KeyError, TypeError) as exc:
        raise NotRunnable(f"the run does not say where its samples came from: {exc}") from exc
    cure = "put the file back: the truths of the run are in it"
    if not path.exists():
        raise NotRunnable(f"{path} is gone", cure=cure)
    if _digest(path) != sha256:
        raise NotRunnable(f"{path} has changed since it was imported", cure=cure)
    read = read_file(find_format(name, catalog, given), path, ref, known=None)
    return open_imported(ref, catalog, read, overrides=overrides)


class _OwnSamples:
    """Samples that a file of predictions brought along."""

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, items: Sequence[Item], samples: Sequence[Sample], fingerprint: str) -> None:
        self._items = items
        self._samples = {sample.id: sample for sample in samples}
        self._fingerprint = fingerprint

    def index(self) -> Sequence[Item]:
        return self._items

    def load(self, item: Item) -> Sample:
        try:
            return self._samples[item.id]
        except KeyError:
            raise BadSample(f"no sample '{item.id}' in the file of predictions") from None

    def fingerprint(self) -> str:
        return self._fingerprint


class AnswersAdapter(BaseAdapter):
    """Answers from what was read; NoPrediction for what is not there."""

    def __init__(self, read: ReadFile) -> None:
        super().__init__(NoOptions())
        self._read = read

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """The stored answer of each request."""
        for request in requests:
            answer = self._read.by_attempt.get((request.sample, request.attempt))
            if answer is None:
                raise NoPrediction("no prediction for this sample")
            yield Output(id=request.id, answer=answer.value, answer_s=answer.seconds)


def name_after(path: Path) -> str:
    """What to call a model whose predictions lie there: as its file, in a model's letters."""
    name = re.sub(r"[^a-z0-9._-]+", "-", path.stem.lower()).strip("-._")
    return name or "predictions"


def _refuse_odd_files(path: Path) -> None:
    """UsageError for what is neither a file nor a folder: of a pipe the end would be waited for."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise UsageError(f"--predictions: {path} does not exist") from None
    except (OSError, ValueError) as exc:  # a name that no file can have, or not ours to look at
        reason = getattr(exc, "strerror", None) or exc
        raise UsageError(f"--predictions: {path}: {reason}") from exc
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise UsageError(
            f"--predictions: {path} is a pipe, a device or a socket, no file",
            cure="write it into a file first: it is read more than once",
        )


def _digest(path: Path) -> str:
    """sha256 of a file, or of the names and contents of a folder's."""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    try:
        digests = []
        for file in files:
            with file.open("rb") as handle:
                found = hashlib.file_digest(handle, "sha256").hexdigest()
            digests.append([file.relative_to(path).as_posix(), found])
    except OSError as exc:
        reason = exc.strerror or exc
        raise UsageError(f"--predictions: {exc.filename or path}: {reason}") from exc
    return digests[0][1] if path.is_file() else jsonio.digest(digests)


def _guarded(what: str, action: Any) -> Any:
    """The action's result; what anyone's code raises in it names the importer."""
    try:
        return action()
    except (VgenEvalError, MissingExtra, KeyboardInterrupt):
        raise
    except BaseException as exc:
        raise BrokenPlugin(f"{what}: {describe(exc)}", cure="vgen-eval list plugins") from exc
