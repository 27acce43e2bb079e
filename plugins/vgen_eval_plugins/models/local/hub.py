"""Where a local model's checkpoint lies: a hub repository at one commit, or a folder.

Nothing here imports torch: a run asks for a model's identity before anything is loaded.
"""

from __future__ import annotations

import functools
import json
import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec
from vgen_eval.cards.records import ModelCard
from vgen_eval.errors import AccessDenied, MissingExtra, NotRunnable, UsageError
from vgen_eval.secrets import read_secret

from vgen_eval_plugins.models.local.folders import digest_folder

__all__ = [
    "Source",
    "find_source",
    "hub_faults",
    "identity_facts",
    "is_local",
    "read_json",
    "refuse_changed",
    "resolve",
]

log = logging.getLogger(__name__)

COMMIT = re.compile(r"[0-9a-f]{40}")
REPO = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_told: dict[str, str] = {}
"""Folder -> digest of its contents, as they were when a run was identified."""
HUB_TIMEOUT_S = 30.0
TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
"""Variables in which the hub's library looks for the user's key."""
JSON_LIMIT = 1 << 25
"""Bytes of a configuration; an index of a thousand shards has a hundredth of it."""


class Source(msgspec.Struct, frozen=True):
    """A checkpoint's place."""

    place: str
    """Hub repository, or absolute folder."""
    commit: str | None = None
    """Of a hub repository; None: a folder of this machine."""
    asked: str | None = None
    """The floating revision that `commit` was resolved from."""

    @property
    def folder(self) -> Path | None:
        """The folder; None for a hub repository."""
        return Path(self.place) if self.commit is None else None

    def __str__(self) -> str:
        return self.place if self.commit is None else f"{self.place}@{self.commit[:12]}"


def is_local(name: str) -> bool:
    """Is it a folder? Only a name that starts with `.`, `/` or `~` is: nothing shadows a repo."""
    return name.startswith((".", "~")) or Path(name).is_absolute()


def find_source(
    model: str | None, revision: str | None, *, card: ModelCard | None, extra: str
) -> Source:
    """The checkpoint that an adapter's options name, or else its card's.

    `model`: ORG/NAME on the hub, or a folder that starts with `.`, `/` or `~`; `extra`: of
    vgen-eval, for the message where a library is missing. A floating revision becomes a commit.
    UsageError when neither names one; NotRunnable, with the cure, when it is not to be had.
    """
    given = None if card is None else card.checkpoint
    if model is None and given is not None and given.path is not None:
        return resolve(str(Path(given.path).expanduser().absolute()), revision, extra=extra)
    if model is None and given is not None:
        model = given.repo
    if model is None:
        raise UsageError(
            "no checkpoint is named",
            cure="-M model=ORG/NAME or -M model=./FOLDER, or the card's checkpoint",
        )
    if revision is None and given is not None and given.repo == model:
        revision = given.revision
    return resolve(model, revision, extra=extra)


def resolve(name: str, revision: str | None, *, extra: str) -> Source:
    """The place of a folder or of a hub repository, its revision as a commit.

    A revision of 40 hex digits is taken as it is, without a network. Another is asked for on the
    hub, once a process; where the hub cannot be reached, in the local cache.
    """
    if is_local(name):
        folder = Path(name).expanduser().absolute()
        if revision is not None:
            raise UsageError(
                f"a folder has no revision ('{revision}' for {folder})", cure="leave it out"
            )
        if not folder.is_dir():
            raise NotRunnable(f"no folder {folder}", cure="name the folder that holds the model")
        return Source(str(folder))
    if not REPO.fullmatch(name):
        raise UsageError(f"'{name}' is no repository of the hub", cure="ORG/NAME, or ./FOLDER")
    _cut_out_tokens()
    if revision is not None and COMMIT.fullmatch(revision):
        return Source(name, revision)
    asked = revision or "main"
    return Source(name, _commit(name, asked, extra), asked)


def _cut_out_tokens() -> None:
    """Has the user's key to the hub cut out of all that is kept or shown; it may well not be set.

    UsageError for one that no header can carry.
    """
    for name in TOKENS:
        if os.environ.get(name, "").strip():
            read_secret(name)


@functools.lru_cache(maxsize=256)  # what a run was identified by is what it loads
def _commit(repo: str, revision: str, extra: str) -> str:
    try:
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HTTPError
    except ImportError as exc:
        raise MissingExtra(extra) from exc
    try:
        with hub_faults(repo, revision):
            info = HfApi().model_info(repo, revision=revision, timeout=HUB_TIMEOUT_S)
            return str(info.sha)
    except AccessDenied:
        raise
    except NotRunnable as exc:
        cause = exc.__cause__
        answered = getattr(getattr(cause, "response", None), "status_code", 0)
        if not isinstance(cause, (HTTPError, OSError)) or 0 < answered < 500:
            raise  # the hub is there and says no
        known = _cached_commit(repo, revision)
        if known is None:
            raise
        log.warning("%s: the hub is out of reach; %s is %s by the cache", repo, revision, known)
        return known


def _cached_commit(repo: str, revision: str) -> str | None:
    from huggingface_hub import constants

    name = f"models--{repo.replace('/', '--')}"
    reference = Path(constants.HF_HUB_CACHE) / name / "refs" / revision
    return reference.read_text().strip() if reference.is_file() else None


@contextmanager
def hub_faults(repo: str, revision: str) -> Iterator[None]:
    """What the hub's library raises, in our words: NotRunnable or AccessDenied, with the cure."""
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError as exc:
        raise AccessDenied(
            f"{repo} is gated",
            cure=f"accept its terms at https://huggingface.co/{repo}, then: hf auth login",
        ) from exc
    except errors.RepositoryNotFoundError as exc:
        raise NotRunnable(
            f"no repository {repo} on the hub, or not for this login",
            cure=f"check the name; a folder is ./{repo}; a private repository: hf auth login",
        ) from exc
    except errors.RevisionNotFoundError as exc:
        raise NotRunnable(
            f"{repo} has no revision '{revision}'", cure="name a branch, a tag or a commit of it"
        ) from exc
    except (errors.HTTPError, OSError) as exc:  # offline, dropped, 5xx, not in the cache
        raise NotRunnable(
            f"{repo} at '{revision}' is not on this machine, and the hub cannot be reached "
            f"({type(exc).__name__})",
            cure=f"go online (HF_HUB_OFFLINE unset), or there: hf download {repo} "
            f"--revision {revision}",
        ) from exc


def read_json(source: Source, name: str, *, extra: str) -> Any | None:
    """The content of a small JSON file of the checkpoint; None when it holds no such file.

    Of a hub repository: taken from the cache, or fetched into it.
    """
    path = _small_file(source, name, extra=extra)
    if path is None or not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            data = file.read(JSON_LIMIT + 1)
        if len(data) > JSON_LIMIT:
            raise ValueError(f"it has more than {JSON_LIMIT >> 20} MiB")
        return json.loads(data)
    except (OSError, ValueError, RecursionError) as exc:
        raise NotRunnable(f"{source}: {name} cannot be read: {exc}") from exc


def _small_file(source: Source, name: str, *, extra: str) -> Path | None:
    if source.folder is not None:
        return source.folder / name
    assert source.commit is not None
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError
    except ImportError as exc:
        raise MissingExtra(extra) from exc
    with hub_faults(source.place, source.asked or source.commit):
        try:
            return Path(hf_hub_download(source.place, name, revision=source.commit))
        except LocalEntryNotFoundError:  # it may well be there: the hub was not asked
            raise
        except EntryNotFoundError:
            return None


def identity_facts(source: Source, *, libraries: Sequence[str]) -> Mapping[str, Any]:
    """What tells this checkpoint from another, for an adapter's `identify`.

    The commit of a hub repository; of a folder a digest over what it holds, never its path. And
    the versions of the libraries that run it.
    """
    found: dict[str, Any] = {"libraries": {name: _version(name) for name in libraries}}
    if source.folder is None:
        return found | {"commit": source.commit}
    _told[source.place] = digest_folder(source.folder)
    return found | {"contents": _told[source.place]}


def refuse_changed(source: Source) -> None:
    """NotRunnable when a folder holds something else than when it was told last.

    For `load`, once the weights are in memory: what a run was identified by is what answers.
    """
    told = _told.get(source.place)
    if source.folder is not None and told is not None and told != digest_folder(source.folder):
        raise NotRunnable(
            f"{source} changed while it was loaded or since the run began",
            cure="start the run again, once nothing writes there",
        )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
