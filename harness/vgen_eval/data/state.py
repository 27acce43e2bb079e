"""Whether the data of a task is there, and what of it is missing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from vgen_eval.engine.naming import TaskRef
from vgen_eval.engine.tasks import Task, open_root, open_task
from vgen_eval.errors import CardError, MissingData, NotRunnable, Problem
from vgen_eval.paths import confined
from vgen_eval.types import Item

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["DataState", "look_at", "verify"]

State = Literal["built in", "ready", "partial", "not prepared", "not found", "faulty"]
BLOCK = 1 << 20


class DataState(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a task's data without opening its files."""

    task: str
    state: State
    path: str | None
    """Where it is looked for; None for data that a package ships."""
    reason: str | None = None
    """Why it is not ready, and what to do."""
    expected: int | None
    """Samples that the card promises."""
    found: int = 0
    """Samples of the index whose files are there."""
    missing: int = 0
    """Files that are missing or empty."""
    first: str | None = None
    """The first of them."""


def look_at(ref: TaskRef, catalog: Catalog, *, data_root: str | None) -> DataState:
    """The state of a task's data under its protocol; no file but the index is opened."""
    expected, dataset = _expected(ref), ref.card.dataset
    path = None
    try:
        path = open_root(dataset.root, data_root)
        task = open_task(ref, catalog, overrides={}, data_root=data_root, partial=True)
    except (CardError, NotRunnable) as exc:
        return DataState(
            task=ref.label,
            state=_state_without(ref, catalog, path, exc),
            path=None if path is None else str(path),
            reason=f"{exc.what} ({exc.cure})" if exc.cure else exc.what,
            expected=expected,
        )
    look = getattr(task.dataset, "look", None)
    problems: Sequence[Problem] = () if look is None else look(task.items)
    whole = not problems and expected in (None, len(task.items))
    state: State = "ready" if whole else "partial"
    if dataset.root is None and whole:
        state = "built in"
    reason = None
    if not whole and not problems:
        reason = f"{expected:,} samples expected, {len(task.items):,} found"
    return DataState(
        task=ref.label,
        state=state,
        path=None if path is None else str(path),
        reason=reason,
        expected=expected,
        found=len(task.items) - len({problem.path for problem in problems}),
        missing=len(problems),
        first=str(problems[0]) if problems else None,
    )


def _expected(ref: TaskRef) -> int | None:
    from vgen_eval.cards import protocol

    part = protocol(ref.card, ref.protocol).data
    return part.n if part.options else ref.card.dataset.n


def _state_without(ref: TaskRef, catalog: Catalog, path: Path | None, exc: Exception) -> State:
    if not isinstance(exc, MissingData):
        return "faulty"
    if path is None:
        return "not found"
    home = ref.distribution if ref.distribution != "local" else "vgen-eval"
    reader = catalog.component("dataset", ref.card.dataset.reader, home=home).obj
    return "not prepared" if hasattr(reader, "prepare") else "not found"


def verify(
    ref: TaskRef, catalog: Catalog, *, data_root: str | None, items: Sequence[str] = ()
) -> tuple[Task, list[Problem]]:
    """Every fault of the data: files that are missing or differ from the card, samples that do
    not load. MissingData when the data set cannot be opened at all.

    `items`: ids of the samples to look at; none: all of them.
    """
    task = open_task(ref, catalog, overrides={}, data_root=data_root, partial=True)
    dataset = ref.card.dataset
    root = open_root(dataset.root, data_root)
    problems = [] if root is None else _compare_files(root, dataset.sizes, dataset.hashes)
    expected, count = _expected(ref), len(task.items)
    if expected not in (None, count):
        problems.append(Problem(f"{expected:,} samples expected, {count:,} found", file=ref.name))
    wanted = set(items)
    chosen = [item for item in task.items if not wanted or item.id in wanted]
    look = getattr(task.dataset, "look", None)
    missing: Sequence[Problem] = () if look is None else look(chosen)
    gone = {problem.path for problem in missing}
    whole = [item for item in chosen if item.id not in gone]
    return task, [*problems, *missing, *_load(task, whole)]


def _load(task: Task, items: Sequence[Item]) -> Sequence[Problem]:
    own = getattr(task.dataset, "verify", None)
    if own is not None:
        found: Sequence[Problem] = own(items)
        return found
    problems = []
    for item in items:
        try:
            task.dataset.load(item)
        except NotRunnable:
            raise
        except Exception as exc:  # a reader is anyone's code
            what = getattr(exc, "what", None) or f"{type(exc).__name__}: {exc}"
            problems.append(Problem(str(what), file=task.ref.name, path=item.id))
    return problems


def _compare_files(
    root: Path, sizes: Mapping[str, int], hashes: Mapping[str, str]
) -> list[Problem]:
    """Files whose size or sha256 is not the one that the card gives."""
    problems = []
    for name in dict.fromkeys((*sizes, *hashes)):
        try:
            path = confined(root, name)
            size = path.stat().st_size
        except (OSError, ValueError) as exc:
            problems.append(Problem(getattr(exc, "strerror", None) or str(exc), file=name))
            continue
        if size != sizes.get(name, size):
            problems.append(Problem(f"{size:,} bytes, not {sizes[name]:,}", file=name))
        elif name in hashes and _sha256(path) != hashes[name]:
            problems.append(Problem("its sha256 is not that of the release", file=name))
    return problems


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()
