"""From what a user names to the tasks whose data is meant: task names, globs, folders of data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from vgen_eval import cards
from vgen_eval.cards.records import TaskCard
from vgen_eval.engine.naming import TaskRef, expand_tasks
from vgen_eval.errors import CardError, UsageError, nearest

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["find_tasks", "parts_of", "roots_of"]


def find_tasks(names: Sequence[str], catalog: Catalog, *, notices: list[str]) -> list[TaskRef]:
    """The tasks that the names mean, each once; a folder below the data root means all of its own.

    UsageError, with what is near, for a name that is neither.
    """
    found: dict[str, TaskRef] = {}
    for name in names:
        for ref in _expand(name, catalog, notices):
            found.setdefault(f"{ref.distribution}:{ref.label}", ref)
    return list(found.values())


def _expand(name: str, catalog: Catalog, notices: list[str]) -> Sequence[TaskRef]:
    try:
        return list(expand_tasks((name,), catalog, notices=notices))
    except UsageError as exc:
        roots = roots_of(catalog)
        tasks = roots.get(name.rstrip("/"))
        if tasks:
            return list(expand_tasks(tasks, catalog, notices=notices))
        if "/" in name or "Nearest:" in exc.what:
            raise
        raise UsageError(f"{exc.what}{nearest(name, roots)}", cure=exc.cure) from exc


def roots_of(catalog: Catalog) -> dict[str, list[str]]:
    """Folder below the data root -> the tasks whose data lies there; faulty cards are left out."""
    found: dict[str, list[str]] = {}
    for plugin, head in catalog.heads("task"):
        try:
            card = cards.load_card(head.path).record
        except CardError:
            continue
        if isinstance(card, TaskCard) and card.dataset.root:
            root = card.dataset.root.rstrip("/")
            found.setdefault(root, []).append(f"{plugin.name}:{head.name}")
    return found


def parts_of(ref: TaskRef) -> Iterator[TaskRef]:
    """The task, then its other protocols that are about another part or variant of the data."""
    yield ref
    seen = [cards.protocol(ref.card, ref.protocol).data.options]
    for name in ref.card.protocols:
        options = cards.protocol(ref.card, name).data.options
        if options not in seen:
            seen.append(options)
            yield msgspec.structs.replace(ref, protocol=name)
