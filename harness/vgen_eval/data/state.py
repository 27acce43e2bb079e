"""Whether the data of a task is there, and what of it is missing: no sample is opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from vgen_eval import cards
from vgen_eval.distributions import home_of
from vgen_eval.engine.naming import TaskRef
from vgen_eval.engine.tasks import open_task
from vgen_eval.errors import (
    BrokenPlugin,
    CardError,
    MissingData,
    Problem,
    StorageError,
    VgenEvalError,
)
from vgen_eval.wording import describe, plural

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["DataState", "ask_reader", "expected_of", "list_ids", "look_at", "place_of", "reader_of"]

State = Literal["built in", "ready", "partial", "not prepared", "not found", "faulty"]
Thing = TypeVar("Thing")


class DataState(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a task's data without opening its files."""

    task: str
    state: State
    path: str | None
    """Where it is looked for; None for data that a package ships, or without a data root."""
    reason: str | None = None
    """Why it is not ready."""
    cure: str | None = None
    expected: int | None
    """Samples that the card promises."""
    found: int = 0
    """Samples of the index whose files are there."""
    missing: int = 0
    """Files that are missing or empty."""
    first: str | None = None
    """The first of them."""

    @property
    def whole(self) -> bool:
        """Can it be run on as it is?"""
        return self.state in ("ready", "built in")


def look_at(ref: TaskRef, catalog: Catalog, *, data_root: str | None) -> DataState:
    """The state of a task's data under its protocol; a fault of its card or its plugin is one."""
    expected, dataset = expected_of(ref), ref.card.dataset
    place = place_of(ref, data_root)
    path = None if place is None else str(place)
    try:
        task = open_task(ref, catalog, overrides={}, data_root=data_root, partial=True)
        problems = look_for(task.dataset, task.items, what=ref.card.dataset.reader)
    except VgenEvalError as exc:
        return DataState(
            task=ref.label,
            state=_state_without(ref, catalog, place, exc),
            path=path,
            reason=exc.what,
            cure=exc.cure,
            expected=expected,
        )
    whole = not problems and expected in (None, len(task.items)) and bool(task.items)
    reason = None
    if not whole and not problems:
        wanted = "samples" if expected is None else plural(expected, "sample")
        reason = f"{wanted} expected, {len(task.items):,} found"
    return DataState(
        task=ref.label,
        state="partial" if not whole else "built in" if dataset.root is None else "ready",
        path=path,
        reason=reason,
        expected=expected,
        found=len(task.items) - len({problem.path for problem in problems}),
        missing=len(problems),
        first=str(problems[0]) if problems else None,
    )


def list_ids(
    ref: TaskRef, catalog: Catalog, *, data_root: str | None
) -> tuple[list[str], list[str]]:
    """Ids of the samples whose files are here, and of the others, in the data's order.

    MissingData and what else keeps the index from being read is raised.
    """
    task = open_task(ref, catalog, overrides={}, data_root=data_root, partial=True)
    gone = {p.path for p in look_for(task.dataset, task.items, what=ref.card.dataset.reader)}
    names = [item.id for item in task.items]
    return [name for name in names if name not in gone], [n for n in names if n in gone]


def look_for(dataset: Any, items: Sequence[Any], *, what: str) -> list[Problem]:
    """Files of these samples that are missing or empty, as far as the reader can tell quickly."""
    look = getattr(dataset, "look", None)
    return [] if look is None else list(ask_reader(what, lambda: look(items)))


def ask_reader(what: str, action: Callable[[], Thing]) -> Thing:
    """What a reader, which is anyone's code, answers; BrokenPlugin for what it should not raise."""
    try:
        return action()
    except VgenEvalError:
        raise
    except OSError as exc:
        if exc.errno is None:
            raise BrokenPlugin(f"dataset '{what}': {describe(exc)}") from exc
        name = f"{exc.filename}: " if exc.filename else ""
        raise StorageError(f"{name}{exc.strerror or exc}") from exc
    except Exception as exc:
        raise BrokenPlugin(
            f"dataset '{what}': {describe(exc)}", cure="vgen-eval list plugins"
        ) from exc


def expected_of(ref: TaskRef) -> int | None:
    """Samples that the card promises of the protocol's part; None where it does not say."""
    part = cards.protocol(ref.card, ref.protocol).data
    return part.n if part.options else ref.card.dataset.n


def place_of(ref: TaskRef, data_root: str | None) -> Path | None:
    """Where the data is looked for, there or not; None for built-in data or without a data root."""
    base = data_root or os.environ.get("VGEN_DATA")
    below = ref.card.dataset.root
    return Path(base).expanduser().absolute() / below if base and below else None


def reader_of(ref: TaskRef, catalog: Catalog) -> Any:
    """The class that reads the task's data."""
    home = home_of(ref.distribution)
    return catalog.component("dataset", ref.card.dataset.reader, home=home).obj


def _state_without(ref: TaskRef, catalog: Catalog, place: Path | None, exc: VgenEvalError) -> State:
    if not isinstance(exc, MissingData):
        return "faulty"
    if place is None or not _holds_something(place):
        return "not found"
    if hasattr(reader_of(ref, catalog), "prepare"):
        return "not prepared"
    return "faulty" if isinstance(exc.__cause__, CardError) else "not found"


def _holds_something(place: Path) -> bool:
    try:
        return any(place.iterdir())
    except OSError:
        return False
