"""Where an installed distribution came from: an index, a VCS commit, a checkout, a file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit, urlunsplit

if TYPE_CHECKING:
    from importlib.metadata import Distribution

__all__ = ["checkout_state", "origin_of", "source_origin", "strip_credentials"]

_GIT_TIMEOUT_S = 20.0


def strip_credentials(url: str) -> str:
    """The URL without user, password, query and fragment; the bare user `git` stays.

    Tokens hide in all of them; `git@` is the login every host gives to everyone.
    """
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    netloc = parts.netloc if at and user == "git" else host
    return urlunsplit((parts.scheme, netloc, parts.path, "", ""))


def source_origin(folder: Path) -> dict[str, Any]:
    """The origin of code that runs from a folder which no installer put there."""
    return {"kind": "source", "url": folder.resolve().as_uri(), "commit": None}


def origin_of(distribution: Distribution, *, folder: Path) -> dict[str, Any]:
    """kind (pypi, vcs, editable, file, source or unknown), url and commit of a distribution.

    Read from the `direct_url.json` that installers write (PEP 610); without it a distribution
    with an INSTALLER came from an index, and one without runs from `folder`, where it lies.
    """
    text = distribution.read_text("direct_url.json")
    if text is None:
        if distribution.read_text("INSTALLER"):
            return {"kind": "pypi", "url": None, "commit": None}
        return source_origin(folder)
    try:
        record = json.loads(text)
        return _read_direct_url(record)
    except (ValueError, KeyError, TypeError, AttributeError):
        return {"kind": "unknown", "url": None, "commit": None}


def _read_direct_url(record: Mapping[str, Any]) -> dict[str, Any]:
    url = strip_credentials(record["url"])
    if "vcs_info" in record:
        return {"kind": "vcs", "url": url, "commit": record["vcs_info"]["commit_id"]}
    editable = bool(record.get("dir_info", {}).get("editable"))
    origin: dict[str, Any] = {"kind": "editable" if editable else "file", "url": url}
    origin["commit"] = None
    sha256 = record.get("archive_info", {}).get("hashes", {}).get("sha256")
    return origin | {"sha256": sha256} if sha256 else origin


def checkout_state(origin: Mapping[str, Any]) -> dict[str, Any]:
    """The origin with commit and `dirty` of the git checkout it runs from, as it is now.

    `dirty` says whether files below the folder differ from the commit, new ones included; it is
    None when the code does not run from a checkout, or git is absent or does not answer.
    """
    state = dict(origin) | {"dirty": None}
    if origin["kind"] not in ("editable", "source") or not origin["url"]:
        return state
    folder = Path(unquote(urlsplit(origin["url"]).path))
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    changes = _git(folder, "status", "--porcelain", "--untracked-files=normal", "--", ".")
    if commit is None or changes is None:
        return state
    return state | {"commit": commit, "dirty": bool(changes)}


def _git(folder: Path, *arguments: str) -> str | None:
    """What git prints, stripped; None when it is absent, fails or hangs."""
    git = shutil.which("git")
    if git is None or not folder.is_dir():
        return None
    # a checkout's own configuration may name a program to run as file monitor
    command = [git, "-c", "core.fsmonitor=false", "-C", str(folder), *arguments]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_GIT_TIMEOUT_S,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
