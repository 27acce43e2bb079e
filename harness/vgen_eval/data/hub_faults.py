"""What the Hub's library, its transport and the disk can come to, in our words."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import msgspec

from vgen_eval.errors import NotRunnable, StorageError, VgenEvalError

__all__ = ["GO_ON", "Fault", "fault_of", "in_our_words"]

LONGEST = 200
NO_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)
GO_ON = "run the same command again: what is there is kept"


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """An exception and its causes, as far as they matter."""

    kinds: tuple[str, ...]
    """Names of the classes: the library's own move between its versions."""
    words: str
    status: int | None = None
    """Of the HTTP answer."""
    errno: int | None = None
    """Of the disk or the network."""


def fault_of(exc: BaseException) -> Fault:
    """What happened."""
    chain: list[BaseException] = []
    cause: BaseException | None = exc
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    codes = [getattr(getattr(one, "response", None), "status_code", None) for one in chain]
    numbers = [one.errno for one in chain if isinstance(one, OSError)]
    return Fault(
        kinds=tuple(type(one).__name__ for one in chain),
        words=" ".join(str(exc).split())[:LONGEST],
        status=next((code for code in codes if isinstance(code, int)), None),
        errno=next((number for number in numbers if number is not None), None),
    )


def in_our_words(fault: Fault, repo: str, commit: str, root: Path) -> VgenEvalError:
    """The error that says it, with its cure."""
    page = f"https://huggingface.co/datasets/{repo}"
    if fault.errno in NO_WRITING and fault.status is None:
        why = os.strerror(fault.errno)
        return StorageError(f"{root}: {why}; what is there is kept")
    if "No space left" in fault.words:  # from the part of the library that is written in Rust
        return StorageError(f"{root}: no space left; what is there is kept")
    if "GatedRepoError" in fault.kinds:
        return NotRunnable(
            f"{repo}: the Hub gives it to those alone who accepted its terms there",
            cure=f"accept them on {page} and set HF_TOKEN to a token of yours",
        )
    if "RevisionNotFoundError" in fault.kinds:
        return NotRunnable(
            f"{repo} has no commit {commit}",
            cure=f"--revision SHA; the commits stand on {page}/commits/main",
        )
    if "RepositoryNotFoundError" in fault.kinds:
        return NotRunnable(
            f"the Hub has no data set {repo}, or does not show it to you",
            cure=f"look at {page}; HF_TOKEN holds the token of an account that may see it",
        )
    if fault.status in (401, 403):
        return NotRunnable(
            f"{repo}: the Hub takes no such call with this token (status {fault.status})",
            cure="set HF_TOKEN to a token that is valid, or unset it",
        )
    if "OfflineModeIsEnabled" in fault.kinds:
        return NotRunnable(f"{repo}: the Hub's library is offline", cure="unset HF_HUB_OFFLINE")
    kind = f"{fault.kinds[0]}: " if fault.kinds else ""
    return NotRunnable(f"{repo} could not be fetched: {kind}{fault.words}", cure=GO_ON)
