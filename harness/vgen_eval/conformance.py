"""The conformance record: what a plugin's checks came to, and for which files it holds."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

if TYPE_CHECKING:
    from vgen_eval.plugins import Plugin

__all__ = [
    "Check",
    "Conformance",
    "Outcome",
    "files_digest",
    "record_path",
    "short_record",
    "write_record",
]

log = logging.getLogger(__name__)

Outcome = Literal["passed", "failed", "skipped"]
MOST_NAMED = 50
"""Failed checks that a result card names."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check of one subject."""

    subject: str
    """package, model:NAME, task:NAME, codec:TASK@PROTOCOL/FORM, metric:NAME; of a part that no
    card uses its kind and name, such as decoder:NAME."""
    check: str
    asks: str
    outcome: Outcome
    detail: str = ""
    """Which sample, which value; why it was skipped."""
    cure: str = ""
    """Of a failure: what to do about it."""

    @property
    def id(self) -> str:
        """subject::check, which `only` can name."""
        return f"{self.subject}::{self.check}"


class Conformance(msgspec.Struct, frozen=True, kw_only=True):
    """What the checks of a plugin came to."""

    schema: int = 1
    plugin: str
    version: str
    vgen_eval: str
    files_digest: str
    """sha256 over the files of the package and its cards."""
    checked: str
    """When, UTC."""
    passed: int
    failed: int
    skipped: int
    checks: tuple[Check, ...]

    @property
    def failures(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.outcome == "failed")


def files_digest(plugin: Plugin) -> str:
    """sha256 over name and content of every file of the plugin's package and cards."""
    facts = []
    for place, path in _files(plugin):
        stat = path.stat()
        facts.append((place, str(path), stat.st_size, stat.st_mtime_ns))
    known = tuple(facts)
    if known not in _digests:
        digest = hashlib.sha256()
        for place, path_text, _, _ in known:
            content = hashlib.sha256(Path(path_text).read_bytes()).hexdigest()
            digest.update(f"{content} {place}\n".encode())
        _digests[known] = digest.hexdigest()
    return _digests[known]


_digests: dict[tuple[tuple[str, str, int, int], ...], str] = {}
"""Sizes and times of the files -> their digest: a long process writes many result cards."""


def _files(plugin: Plugin) -> Iterator[tuple[str, Path]]:
    """Files with the names they are digested under, sorted; compiled ones left out."""
    spec = importlib.util.find_spec(plugin.package)
    places = list(spec.submodule_search_locations or ()) if spec else []
    roots = [Path(place) for place in places] or (
        [Path(spec.origin)] if spec and spec.origin else []
    )
    roots += [f for f in plugin.card_dirs if not any(f.is_relative_to(root) for root in roots)]
    for root in roots:
        if root.is_file():
            yield root.name, root
            continue
        for path in sorted(root.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc":
                yield f"{root.name}/{path.relative_to(root).as_posix()}", path


def record_path(results: Path, plugin: str) -> Path:
    """Where the record of a distribution lies below a results folder."""
    from vgen_eval.discovery import normalise

    return results / "conformance" / f"{normalise(plugin)}.json"


def write_record(results: Path, record: Conformance) -> Path:
    """Writes the record below the results folder; StorageError when that cannot be done."""
    from vgen_eval import jsonio
    from vgen_eval.errors import StorageError
    from vgen_eval.store.run import write_atomic

    path = record_path(results, record.plugin)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise StorageError(f"cannot write {path}: {exc.strerror or exc}") from exc
    write_atomic(path, jsonio.pretty(msgspec.to_builtins(record)).encode())
    return path


def short_record(results: Path, plugin: Plugin) -> Mapping[str, Any] | None:
    """What a result card says of a plugin's record; None when there is none that can be read.

    `current`: was the record made of the files that are installed now?
    """
    path = record_path(results, plugin.name)
    try:
        record = msgspec.json.decode(path.read_bytes(), type=Conformance)
        current = record.files_digest == files_digest(plugin)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as exc:  # a damaged record is no record; the run does not end
        log.warning("%s: cannot be read: %s", path, exc)
        return None
    return {
        "passed": record.passed,
        "failed": record.failed,
        "skipped": record.skipped,
        "failed_checks": [check.id for check in record.failures[:MOST_NAMED]],
        "checked": record.checked,
        "current": current and record.version == plugin.version,
    }
