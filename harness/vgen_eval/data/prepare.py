"""Fetches the data of a task where its terms allow, and converts what has to be converted."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgen_eval import cards, jsonio
from vgen_eval.cards.records import DatasetCard, Hub
from vgen_eval.engine.naming import TaskRef
from vgen_eval.engine.tasks import open_root
from vgen_eval.errors import MissingData, MissingExtra, NotRunnable, StorageError, UsageError
from vgen_eval.machine import now
from vgen_eval.paths import confined
from vgen_eval.store.run import write_atomic

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["RECORD", "fetch", "make_root", "prepare"]

RECORD = "fetched.json"
"""What was fetched, beside the files: repository, revision, terms, date."""

COMMIT = re.compile(r"[0-9a-f]{40}")
Say = Callable[[str], None]


def make_root(dataset: DatasetCard, data_root: str | None) -> Path:
    """The folder of the data, made where it can be filled; MissingData when it is not there."""
    try:
        found = open_root(dataset.root, data_root)
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


def fetch(dataset: DatasetCard, root: Path, *, revision: str | None, say: Say) -> str:
    """Fetches the files of the card's Hub data set into `root`; gives the commit.

    UsageError without a commit; NotRunnable, in our words, when the Hub does not give them. What
    is there already is not fetched again.
    """
    hub = dataset.hub
    assert hub is not None
    wanted = revision or hub.revision
    page = f"https://huggingface.co/datasets/{hub.repo}/commits/main"
    if wanted is None or not COMMIT.fullmatch(wanted):
        raise UsageError(
            f"{hub.repo}: the card pins no commit"
            if wanted is None
            else f"--revision {wanted}: a commit of 40 hex digits is wanted, which cannot move",
            cure=f"--revision SHA; the commits stand on {page}",
        )
    try:
        import huggingface_hub
    except ImportError as exc:
        raise MissingExtra("data") from exc
    try:
        names = _names(huggingface_hub.HfApi().dataset_info(hub.repo, revision=wanted), hub, root)
        say(f"{hub.repo}: {len(names)} files at {wanted[:12]}")
        huggingface_hub.snapshot_download(
            hub.repo, repo_type="dataset", revision=wanted, local_dir=root, allow_patterns=names
        )
    except NotRunnable:
        raise
    except OSError as exc:
        if exc.errno is not None and not hasattr(exc, "response"):
            raise StorageError(f"{root}: {exc.strerror}") from exc
        raise _in_our_words(exc, hub, wanted) from None
    except Exception as exc:  # the library's, and its transport's
        raise _in_our_words(exc, hub, wanted) from None
    record = {
        "repo": hub.repo, "revision": wanted, "files": names, "terms": dataset.terms,
        "licence": dataset.licence, "date": now(),
    }  # fmt: skip
    write_atomic(root / RECORD, jsonio.pretty(record).encode())
    return wanted


def _names(info: Any, hub: Hub, root: Path) -> list[str]:
    """The files wanted; NotRunnable for one that would not lie below the folder, and for none."""
    everything = [entry.rfilename for entry in info.siblings or ()]
    patterns = hub.files or ("*",)
    names = [n for n in everything if any(fnmatch.fnmatchcase(n, p) for p in patterns)]
    if not names:
        raise NotRunnable(f"{hub.repo}: none of its files is like {', '.join(patterns)}")
    for name in names:
        try:
            confined(root, name)
        except ValueError as exc:
            raise NotRunnable(f"{hub.repo}: {exc}") from exc
    return names


def _in_our_words(exc: Exception, hub: Hub, revision: str) -> NotRunnable:
    kind = type(exc).__name__
    if kind == "GatedRepoError":
        return NotRunnable(
            f"{hub.repo} wants its terms accepted by you",
            cure=f"accept them on https://huggingface.co/datasets/{hub.repo} and set HF_TOKEN",
        )
    if kind == "RevisionNotFoundError":
        return NotRunnable(f"{hub.repo} has no commit {revision}", cure="--revision SHA")
    if kind == "RepositoryNotFoundError":
        return NotRunnable(f"the Hub has no data set {hub.repo}, or shows it to members alone")
    words = " ".join(str(exc).split())[:200]
    return NotRunnable(
        f"{hub.repo} could not be fetched: {kind}: {words}",
        cure="run the same command again: what is there is kept",
    )


def prepare(ref: TaskRef, catalog: Catalog, root: Path, *, say: Say) -> bool:
    """Lets the task's reader convert its data, once; False when it has nothing to convert."""
    home = ref.distribution if ref.distribution != "local" else "vgen-eval"
    reader = catalog.component("dataset", ref.card.dataset.reader, home=home)
    own = getattr(reader.obj, "prepare", None)
    if own is None:
        return False
    part = cards.protocol(ref.card, ref.protocol).data.options
    options = cards.convert(
        reader.obj.Options,
        {**ref.card.dataset.options, **part},
        file=ref.name,
        path="dataset.options",
    )
    try:
        reader.obj(options, root=root, folder=ref.folder).prepare(say)
    except OSError as exc:
        raise StorageError(f"{root}: {exc.strerror or exc}") from exc
    return True
