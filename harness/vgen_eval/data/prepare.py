"""Makes the data of a task ready: fetched where its terms allow, converted where it has to be."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vgen_eval import cards
from vgen_eval.cards.records import DatasetCard
from vgen_eval.data.hub import commit_of, fetch, is_fetched, lies_there
from vgen_eval.data.state import DataState, ask_reader, look_at, reader_of
from vgen_eval.engine.naming import TaskRef
from vgen_eval.engine.tasks import open_root
from vgen_eval.errors import MissingData, StorageError, UsageError
from vgen_eval.paths import confined

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Accept", "bring", "make_root", "prepare"]

Say = Callable[[str], None]
Accept = Callable[[TaskRef], str | None]
"""How the terms of a task's data were accepted, in a word; None when they were not."""


def bring(
    parts: Sequence[TaskRef],
    catalog: Catalog,
    *,
    data_root: str | None,
    revision: str | None = None,
    accept: Accept,
    say: Say,
    bars: bool = False,
) -> list[DataState]:
    """Fetches and converts what `parts` need, one task under several protocols; their states then.

    The first is what is asked for; that another one lacks something shows in its state alone. What
    is there is not fetched. UsageError when terms were not accepted; MissingData, with the
    source, for data that has to be got by hand; more in `fetch` and `prepare`.
    """
    ref, dataset = parts[0], parts[0].card.dataset
    if revision is not None and dataset.hub is None:
        raise UsageError(f"{ref.name}: the card names no data set of the Hub that has a revision")
    if dataset.root is None:
        return [look_at(part, catalog, data_root=data_root) for part in parts]
    try:
        root = make_root(dataset, data_root, task=ref.name)
    except MissingData as exc:
        raise _by_hand(ref, exc.what, exc.cure) from exc
    _fetch(ref, root, revision=revision, accept=accept, say=say, bars=bars)
    return [
        _convert(part, catalog, root, data_root=data_root, again=part is ref, say=say)
        for part in parts
    ]


def _convert(
    ref: TaskRef, catalog: Catalog, root: Path, *, data_root: str | None, again: bool, say: Say
) -> DataState:
    """The state once the reader has converted what it has to; `again`: though it did before.

    Its sources may be newer than what was made of them.
    """
    state = look_at(ref, catalog, data_root=data_root)
    if again or state.state == "not prepared":
        try:
            prepare(ref, catalog, root, say=say)
        except MissingData as exc:
            if again:
                raise _by_hand(ref, exc.what, exc.cure) from exc
            return state
        return look_at(ref, catalog, data_root=data_root)
    return state


def _by_hand(ref: TaskRef, what: str, cure: str | None) -> MissingData:
    """What a person has to do, who must get the data themselves."""
    dataset = ref.card.dataset
    if dataset.hub is not None:
        return MissingData(what, cure=cure)
    terms = f" Terms: {dataset.terms}" if dataset.terms else ""
    return MissingData(
        f"{what}. {ref.name}: you get it yourself from {dataset.source}.{terms}",
        cure=f"vgen-eval data list {ref.name} says how it has to lie in the data folder "
        "(--data-root DIR or $VGEN_DATA)",
    )


def _fetch(
    ref: TaskRef, root: Path, *, revision: str | None, accept: Accept, say: Say, bars: bool
) -> None:
    """Fetches unless it is done, or somebody laid the files there without us."""
    dataset, hub = ref.card.dataset, ref.card.dataset.hub
    if hub is None or is_fetched(hub, root, revision):
        return
    if revision is None and lies_there(hub, root):
        say(
            f"{ref.name}: files lie in {root} that were not fetched here: they are left as they are"
        )
        return
    commit = commit_of(hub, revision, root)  # asked before a person reads terms in vain
    accepted = accept(ref) if dataset.terms else "no terms"
    if accepted is None:
        raise UsageError(
            f"{ref.name}: its terms were not accepted",
            cure="--accept-terms says that you accept them",
        )
    facts = {"task": ref.name, "card_digest": ref.card_digest, "accepted": accepted}
    fetch(dataset, root, revision=commit, facts=facts, say=say, bars=bars)


def make_root(dataset: DatasetCard, data_root: str | None, *, task: str = "TASK") -> Path:
    """The folder of the data, made where it can be filled; MissingData when it is not there."""
    try:
        found = open_root(dataset.root, data_root, task=task)
    except MissingData:
        base = data_root or os.environ.get("VGEN_DATA")
        if not base or dataset.root is None or dataset.hub is None:
            raise
        try:
            found = confined(Path(base).expanduser().resolve(), dataset.root)
            found.mkdir(parents=True, exist_ok=True)
        except ValueError as exc:
            raise MissingData(str(exc)) from exc
        except OSError as exc:
            raise StorageError(f"{found or base}: {exc.strerror}") from exc
    if found is None:
        raise UsageError("this data ships with a package: there is nothing to prepare")
    return found


def prepare(ref: TaskRef, catalog: Catalog, root: Path, *, say: Say) -> bool:
    """Lets the task's reader convert its data, once; False when it has nothing to convert."""
    reader = reader_of(ref, catalog)
    if not hasattr(reader, "prepare"):
        return False
    part = cards.protocol(ref.card, ref.protocol).data.options
    given = {**ref.card.dataset.options, **part}
    options = cards.convert(reader.Options, given, file=ref.name, path="dataset.options")
    ask_reader(
        ref.card.dataset.reader,
        lambda: reader(options, root=root, folder=ref.folder).prepare(say),
    )
    return True
