"""From the names that a user gives to the tasks they mean: cards, globs, files, suites."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from vgen_eval import cards
from vgen_eval.cards.records import SuiteCard, TaskCard
from vgen_eval.distributions import LOCAL, name_with
from vgen_eval.engine.models import is_path
from vgen_eval.errors import CardError, UsageError, nearest

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["TASK_CARD", "TaskRef", "card_file", "expand_tasks", "open_suite"]

TASK_CARD = "task.yaml"
"""What a folder's own task card is called."""


class TaskRef(msgspec.Struct, frozen=True, kw_only=True):
    """A task@protocol that was asked for, and whether by its exact name."""

    name: str
    distribution: str
    card: TaskCard
    card_digest: str
    folder: Path
    """Where the card lies."""
    protocol: str
    exact: bool
    suite: str | None = None

    @property
    def label(self) -> str:
        """task@protocol, the distribution before it when it is not vgen-eval's own."""
        return name_with(self.distribution, f"{self.name}@{self.protocol}")

    @property
    def path(self) -> str:
        """Its part of a run's path."""
        return name_with(self.distribution, f"{self.name}@{self.protocol}", between="/")


def expand_tasks(
    names: Sequence[str], catalog: Catalog, *, notices: list[str]
) -> Iterator[TaskRef]:
    """The tasks that the names mean, each once, in the order asked for.

    `all` and globs give every task's default protocol; suites theirs. UsageError for a name or a
    glob that means nothing.
    """
    seen: set[tuple[str, str, str]] = set()
    for name in names:
        for ref in _expand(name, catalog, notices):
            key = (ref.distribution, ref.name, ref.protocol)
            if key not in seen:
                seen.add(key)
                yield ref


def _expand(name: str, catalog: Catalog, notices: list[str]) -> Iterator[TaskRef]:
    path = card_file(name) if is_path(name) else None
    if path is not None:
        # taken as it is called: a folder's name may hold an @ or a bracket
        loaded = cards.load_card(path)
        if isinstance(loaded.record, TaskCard):
            yield _ref(loaded, LOCAL, "", exact=True)
            return
    found_suite = open_suite(name, catalog, notices=notices)
    if found_suite is not None:
        suite, home = found_suite
        for member in suite.tasks:
            yield _named(member, catalog, home=home, notices=notices, suite=suite.suite)
        return
    pattern, _, protocol = name.partition("@")
    if name != "all" and not any(c in pattern for c in "*?["):
        yield _named(name, catalog, home=None, notices=notices)
        return
    found = False
    for plugin, head in catalog.heads("task"):
        qualified = f"{plugin.name}:{head.name}"
        if pattern == "all" or any(fnmatch.fnmatchcase(n, pattern) for n in (head.name, qualified)):
            try:
                loaded = cards.load_card(head.path)
            except CardError as exc:  # the other tasks do not hang on this one
                notices.append(f"task '{qualified}' is left out: {exc.what}")
                continue
            assert isinstance(loaded.record, TaskCard)
            if protocol and protocol not in loaded.record.protocols:
                continue
            found = True
            yield _ref(loaded, plugin.name, protocol, exact=False)
    if not found:
        known = [head.name for _, head in catalog.heads("task")]
        raise UsageError(
            f"no task matches '{name}'.{nearest(pattern.strip('*'), known)}",
            cure="vgen-eval list tasks",
        )


def open_suite(
    name: str, catalog: Catalog, *, notices: list[str]
) -> tuple[SuiteCard, str | None] | None:
    """The suite that `suite:NAME` or a card file is, and its distribution; None for other names."""
    if name.startswith("suite:"):
        plugin, head = catalog.find("suite", name.removeprefix("suite:"), notices=notices)
        loaded, home = cards.load_card(head.path), plugin.name
    elif name.endswith(".yaml"):
        loaded, home = _load_file(name), None
    else:
        return None
    return (loaded.record, home) if isinstance(loaded.record, SuiteCard) else None


def card_file(name: str) -> Path | None:
    """The card that a path means: the file itself, or the task card in a folder; None without."""
    path = Path(name).expanduser()
    try:
        return next((file for file in (path, path / TASK_CARD) if file.is_file()), None)
    except OSError:  # a name that no file can have
        return None


def _load_file(name: str) -> cards.LoadedCard:
    path = card_file(name)
    if path is None:
        try:
            folder = Path(name).expanduser().is_dir()
        except OSError:
            folder = False
        raise UsageError(
            f"no card file '{name}'" + (f": no {TASK_CARD} in that folder" if folder else ""),
            cure="vgen-eval task new makes one of pictures and truths" if folder else None,
        )
    return cards.load_card(path)


def _find(
    name: str, catalog: Catalog, *, home: str | None, notices: list[str], folders: bool
) -> tuple[cards.LoadedCard, str]:
    """The card that a name means, and its distribution; last of all, one in a folder so called."""
    try:
        plugin, head = catalog.find("task", name, home=home, notices=notices)
    except UsageError as exc:
        path = card_file(name) if folders else None
        if path is None or path.name != TASK_CARD:
            if home is None and folders and ":" not in name:
                raise UsageError(exc.what, cure=_own_task(name) or exc.cure) from exc
            raise
        notices.append(f"task '{name}' is {path}: no plugin has one of that name")
        return cards.load_card(path), LOCAL
    return cards.load_card(head.path), plugin.name


def _own_task(name: str) -> str | None:
    """How a task of one's own is named, for a name that only its card and the tables have."""
    folder = name.rpartition("/")[2]
    path = card_file(f"./{folder}") if folder else None
    if path is not None and path.name == TASK_CARD:
        return f"a task of your own is named by its folder or its card: {path}"
    if name.startswith("my/"):
        return f"a task of your own is named by its folder or its card: FOLDER/{TASK_CARD}"
    return None


def _named(
    name: str, catalog: Catalog, *, home: str | None, notices: list[str], suite: str | None = None
) -> TaskRef:
    bare, at, protocol = name.rpartition("@")
    bare = bare if at else name
    protocol = protocol if at else ""
    if is_path(bare):
        loaded, distribution = _load_file(bare), LOCAL
    else:
        loaded, distribution = _find(
            bare, catalog, home=home, notices=notices, folders=suite is None
        )
    if not isinstance(loaded.record, TaskCard):
        raise UsageError(f"{bare} is a {loaded.kind} card, not a task card")
    return _ref(loaded, distribution, protocol, exact=suite is None, suite=suite)


def _ref(
    loaded: cards.LoadedCard, distribution: str, protocol: str, *, exact: bool,
    suite: str | None = None,
) -> TaskRef:  # fmt: skip
    card = loaded.record
    assert isinstance(card, TaskCard)
    return TaskRef(
        name=card.task,
        distribution=distribution,
        card=card,
        card_digest=loaded.card_digest,
        folder=loaded.path.parent,
        protocol=protocol or card.default_protocol,
        exact=exact,
        suite=suite,
    )
