"""Reads the data of a task and names every fault of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.cards.check_data import spread
from vgen_eval.data.state import ask_reader, expected_of, look_for
from vgen_eval.engine.naming import TaskRef
from vgen_eval.engine.tasks import open_root, open_task
from vgen_eval.errors import NotRunnable, Problem, UsageError, nearest
from vgen_eval.paths import confined
from vgen_eval.types import Item
from vgen_eval.wording import describe, plural

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Verified", "verify"]

BLOCK = 1 << 20
CHUNK = 32
"""Samples between two signs of life."""
THREADS = 4

Tell = Callable[[str, int, int], None]
"""Takes what is being read, how much of it is done, and how much there is."""


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """What reading the data of a task came to."""

    task: str
    samples: int
    """In the index."""
    read: int
    """Of these: asked for, and therefore read."""
    sound: int
    """Of these: without a fault."""
    missing: tuple[Problem, ...] = ()
    """Files that are missing or empty."""
    unreadable: tuple[Problem, ...] = ()
    """Samples that do not load."""
    differing: tuple[Problem, ...] = ()
    """What is not as the card says: counts, sizes, hashes."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All of them."""
        return (*self.differing, *self.missing, *self.unreadable)


def verify(
    ref: TaskRef,
    catalog: Catalog,
    *,
    data_root: str | None,
    samples: Sequence[str] = (),
    limit: int | None = None,
    tell: Tell = lambda _what, _done, _all: None,
) -> Verified:
    """Compares files with the card and reads samples; NotRunnable when there is no index at all.

    `samples`: ids of those to read, none for all; UsageError for an unknown one. `limit`: read so
    many, evenly spaced.
    """
    task = open_task(ref, catalog, overrides={}, data_root=data_root, partial=True)
    reader, items = ref.card.dataset.reader, task.items
    chosen = _choose(ref, items, samples, limit)
    differing = list(_compare(ref, data_root, len(items), whole=not samples, tell=tell))
    missing = look_for(task.dataset, chosen, what=reader)
    gone = {problem.path for problem in missing}
    present = [item for item in chosen if item.id not in gone]
    unreadable: list[Problem] = []
    for start in range(0, len(present), CHUNK):
        tell("samples", start, len(present))
        part = present[start : start + CHUNK]
        unreadable += _read(task.dataset, part, ref)
    faulty = gone | {problem.path for problem in unreadable}
    return Verified(
        task=ref.label,
        samples=len(items),
        read=len(chosen),
        sound=sum(item.id not in faulty for item in chosen),
        missing=tuple(missing),
        unreadable=tuple(unreadable),
        differing=tuple(differing),
    )


def _choose(
    ref: TaskRef, items: Sequence[Item], samples: Sequence[str], limit: int | None
) -> Sequence[Item]:
    known = {item.id for item in items}
    unknown = [name for name in samples if name not in known]
    if unknown:
        raise UsageError(f"{ref.name}: no sample '{unknown[0]}'.{nearest(unknown[0], known)}")
    wanted = set(samples) or known
    chosen = [item for item in items if item.id in wanted]
    return chosen if limit is None else spread(chosen, limit)


def _read(dataset: Any, items: Sequence[Item], ref: TaskRef) -> Sequence[Problem]:
    """Faults that reading these samples shows, by the reader's own `verify` where it has one."""
    own = getattr(dataset, "verify", None)
    if own is not None:
        return list(ask_reader(ref.card.dataset.reader, lambda: own(items)))

    def fault(item: Item) -> Problem | None:
        try:
            dataset.load(item)
        except NotRunnable:
            raise
        except Exception as exc:  # a reader is anyone's code
            what = getattr(exc, "what", None) or describe(exc)
            return Problem(str(what), file=ref.name, path=item.id)
        return None

    with ThreadPoolExecutor(THREADS) as pool:
        return [problem for problem in pool.map(fault, items) if problem is not None]


def _compare(
    ref: TaskRef, data_root: str | None, count: int, *, whole: bool, tell: Tell
) -> Iterator[Problem]:
    """What is not as the card says; the count only where all samples are asked for."""
    expected, dataset = expected_of(ref), ref.card.dataset
    root = open_root(dataset.root, data_root, task=ref.name)
    if root is not None:
        yield from _compare_files(root, dataset.sizes, dataset.hashes, tell)
    if whole and expected not in (None, count):
        yield Problem(f"{plural(expected, 'sample')} expected, {count:,} found", file=ref.name)
    elif whole and not count:
        yield Problem("the index holds no sample", file=ref.name)


def _compare_files(
    root: Path, sizes: Mapping[str, int], hashes: Mapping[str, str], tell: Tell
) -> Iterator[Problem]:
    """Files whose size or sha256 is not the one that the card gives."""
    names = list(dict.fromkeys((*sizes, *hashes)))
    for at, name in enumerate(names):
        tell("files of the card", at, len(names))
        try:
            path = confined(root, name)
            size = path.stat().st_size
            if size != sizes.get(name, size):
                yield Problem(f"{plural(size, 'byte')}, not {sizes[name]:,}", file=name)
            elif name in hashes and _sha256(path) != hashes[name].lower():
                yield Problem("its sha256 is not that of the release", file=name)
        except (OSError, ValueError) as exc:
            yield Problem(getattr(exc, "strerror", None) or str(exc), file=name)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()
