"""Lets the Hub's library download one commit in a process of its own, which can be ended.

Within this process it could not: its threads finish the files that they have begun, however large.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec

from vgen_eval.data.hub_faults import Fault, fault_of

__all__ = ["download", "serve_parent"]

_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from vgen_eval.data.download import serve_parent; serve_parent(sys.argv[2])"
)


class _Task(msgspec.Struct, frozen=True):
    repo: str
    commit: str
    root: str
    patterns: tuple[str, ...] | None
    bars: bool


def download(
    repo: str, commit: str, root: Path, *, patterns: Sequence[str] | None, bars: bool
) -> Fault | None:
    """Downloads into `root` and waits for it; why it failed. Any exception ends it at once."""
    wanted = None if patterns is None else tuple(patterns)
    task = msgspec.json.encode(_Task(repo, commit, str(root), wanted, bars)).decode()
    places = json.dumps([str(Path(place or ".").resolve()) for place in sys.path])
    child = subprocess.Popen(
        [sys.executable, "-c", _BOOT, places, task],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for us: we end it
    )
    try:
        # not communicate(): it closes stdin, whose end tells the child that we are gone
        assert child.stdout is not None
        printed = child.stdout.read()
        status = child.wait()
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()
    try:
        return msgspec.json.decode(printed.splitlines()[-1], type=Fault | None)
    except (IndexError, msgspec.DecodeError):
        return Fault(kinds=(), words=f"the download ended with exit status {status}")


def serve_parent(task: str) -> None:
    """In the child: downloads, and prints the fault or null."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    asked = msgspec.json.decode(task, type=_Task)
    fault = None
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.utils import disable_progress_bars, logging

        logging.set_verbosity_error()
        if not asked.bars:
            disable_progress_bars()
        snapshot_download(
            asked.repo,
            repo_type="dataset",
            revision=asked.commit,
            local_dir=asked.root,
            allow_patterns=None if asked.patterns is None else list(asked.patterns),
        )
    except Exception as exc:
        fault = fault_of(exc)
    sys.stdout.write("\n" + msgspec.json.encode(fault).decode() + "\n")
    sys.stdout.flush()


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)
