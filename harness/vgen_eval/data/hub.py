"""Fetches a data set from the Hugging Face Hub at one commit, and writes down what was fetched."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vgen_eval import jsonio
from vgen_eval.cards.records import DatasetCard, Hub
from vgen_eval.data.download import download
from vgen_eval.data.hub_faults import GO_ON, fault_of, in_our_words
from vgen_eval.errors import MissingExtra, NotRunnable, StorageError, UsageError
from vgen_eval.machine import now
from vgen_eval.paths import confined
from vgen_eval.store.run import write_atomic
from vgen_eval.wording import plural

__all__ = ["RECORD", "commit_of", "fetch", "is_fetched", "lies_there"]

RECORD = "fetched.json"
"""What was fetched, beside the files: repository, revision, terms, date, files."""

COMMIT = re.compile(r"[0-9a-f]{40}")
HEARTBEAT_S = 30.0
TIMEOUT_S = 30.0
MARK = Path(".cache", "huggingface")
"""What the Hub's library keeps beside the files, to go on where it stopped."""

Say = Callable[[str], None]


def is_fetched(hub: Hub, root: Path, revision: str | None) -> bool:
    """Did a fetch at this commit end here, and are its files there still?"""
    record = _read_record(root)
    wanted = revision or hub.revision or record.get("revision")
    if record.get("repo") != hub.repo or record.get("revision") != wanted:
        return False
    files = record.get("files")
    return isinstance(files, dict) and not any(_absent(root, files))


def lies_there(hub: Hub, root: Path) -> bool:
    """Do files of the data set lie there that no fetch of ours began with?"""
    if (root / MARK).exists() or (root / RECORD).exists():
        return False
    for folder, _, files in os.walk(root):
        below = Path(folder).relative_to(root)
        if any(_is_wanted((below / name).as_posix(), hub) for name in files):
            return True
    return False


def fetch(
    dataset: DatasetCard,
    root: Path,
    *,
    revision: str | None,
    facts: Mapping[str, Any],
    say: Say,
    bars: bool = False,
) -> None:
    """Fetches the files of the card's Hub data set into `root`, and writes down that it did.

    What is there already is not fetched again, and a file that broke off goes on. `facts` join the
    record: the task, its card, how the terms were accepted. `bars`: let the Hub's library draw.
    UsageError without a commit; NotRunnable, in our words, when the Hub does not give the files;
    StorageError when they cannot be written; MissingExtra without the library.
    """
    hub = dataset.hub
    assert hub is not None
    wanted = commit_of(hub, revision, root)
    files = _list(hub, wanted, root)
    left = sum(size or 0 for name, size in files.items() if _size(root / name) != size)
    whole = plural(len(files), "file")
    say(f"{hub.repo} at {wanted[:12]}: {whole}, {_gb(left)} to fetch into {root}")
    _check_room(root, left)
    with _heartbeat(root, hub, _gb(sum(size or 0 for size in files.values())), say, bars):
        fault = download(hub.repo, wanted, root, patterns=_patterns(hub), bars=bars)
    if fault is not None:
        raise in_our_words(fault, hub.repo, wanted, root)
    # without an answer the library takes the folder for whole, and says so in its log alone
    absent = list(_absent(root, files))
    if absent:
        raise NotRunnable(
            f"{hub.repo}: {len(absent):,} of {whole} did not come: {absent[0]}, ...",
            cure=GO_ON,
        )
    _tell_left(root, files, say)
    record = {
        **facts, "repo": hub.repo, "revision": wanted, "terms": dataset.terms,
        "licence": dataset.licence, "date": now(), "files": files,
    }  # fmt: skip
    write_atomic(root / RECORD, jsonio.pretty(record).encode())


def commit_of(hub: Hub, revision: str | None, root: Path) -> str:
    """The commit that is asked for, pinned by the card, or was fetched before; else UsageError."""
    before = _read_record(root)
    kept = before.get("revision") if before.get("repo") == hub.repo else None
    wanted = revision or hub.revision or kept
    if wanted is not None and COMMIT.fullmatch(wanted):
        return wanted
    raise UsageError(
        f"{hub.repo}: the card pins no commit"
        if wanted is None
        else f"revision '{wanted}': a commit of 40 hex digits is wanted, which cannot move",
        cure="--revision SHA; the commits stand on "
        f"https://huggingface.co/datasets/{hub.repo}/commits/main",
    )


def _patterns(hub: Hub) -> list[str] | None:
    return [f"{p}*" if p.endswith("/") else p for p in hub.files] or None


def _is_wanted(name: str, hub: Hub) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in _patterns(hub) or ("*",))


def _list(hub: Hub, commit: str, root: Path) -> dict[str, int | None]:
    """File -> bytes; NotRunnable for a file that would not lie below the folder, and for none."""
    try:
        from huggingface_hub import HfApi
    except ImportError as exc:
        raise MissingExtra("data") from exc
    try:
        api = HfApi()
        # one call that is not tried again and again: what cannot be had is told at once
        api.dataset_info(hub.repo, revision=commit, expand=["sha"], timeout=TIMEOUT_S)
        tree = api.list_repo_tree(hub.repo, repo_type="dataset", revision=commit, recursive=True)
        sizes: dict[str, int | None] = {e.path: e.size for e in tree if hasattr(e, "size")}
    except Exception as exc:  # the library's, and its transport's
        raise in_our_words(fault_of(exc), hub.repo, commit, root) from None
    files = {name: size for name, size in sizes.items() if _is_wanted(name, hub)}
    if not files:
        raise NotRunnable(f"{hub.repo}: none of its files is like {', '.join(hub.files) or '*'}")
    for name in files:
        try:
            confined(root, name)
        except ValueError as exc:
            raise NotRunnable(f"{hub.repo}: {exc}") from exc
        if name == RECORD or Path(name).is_relative_to(MARK):
            raise NotRunnable(f"{hub.repo}: its file '{name}' has a name that is kept for us")
    return files


def _absent(root: Path, files: Mapping[str, int | None]) -> Iterator[str]:
    """Of these files those that are not there, or not with the size they should have."""
    for name, size in files.items():
        found = _size(root / name)
        if found is None or size not in (None, found):
            yield name


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _check_room(root: Path, left: int) -> None:
    free = shutil.disk_usage(root).free
    if left > free:
        raise StorageError(
            f"{root}: {_gb(left)} are to be fetched, {_gb(free)} are free",
            cure="make room, or name another data folder: --data-root DIR",
        )


def _gb(count: float) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e7 else f"{count / 1e6:.2f} MB"


@contextmanager
def _heartbeat(root: Path, hub: Hub, whole: str, say: Say, bars: bool) -> Iterator[None]:
    """A line now and then, where no bar is drawn."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(HEARTBEAT_S):
            there = sum(
                _size(Path(folder, name)) or 0 for folder, _, names in os.walk(root)
                for name in names
            )  # fmt: skip
            say(f"{hub.repo}: {_gb(there)} of {whole} are there")

    if not bars:
        threading.Thread(target=beat, daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _tell_left(root: Path, files: Mapping[str, int | None], say: Say) -> None:
    """Files that an earlier commit had: nothing is deleted, but a folder scan would find them."""
    before = _read_record(root).get("files")
    left = [n for n in before if n not in files] if isinstance(before, dict) else []
    if left:
        say(f"warning: of the commit before {plural(len(left), 'file')} left, such as {left[0]}")


def _read_record(root: Path) -> dict[str, Any]:
    try:
        record = jsonio.loads((root / RECORD).read_bytes())
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
