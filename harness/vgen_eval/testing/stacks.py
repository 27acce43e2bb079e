"""Where a child stands when its time is up: its stack, asked for from outside, and read."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import re
import signal
import time
from collections.abc import Iterable
from pathlib import Path

from vgen_eval.testing.outcome import is_below, short_place

__all__ = ["ask_stack", "offer_stack", "read_place"]

_FRAME = re.compile(r'  File "(.+)", line (\d+)')
_WAIT_S = 0.5
_POLL_S = 0.01


def offer_stack(path: str) -> None:
    """In the child: its stack goes into the file when `ask_stack` asks for it."""
    if hasattr(faulthandler, "register"):
        sink = os.open(path, os.O_WRONLY | os.O_CREAT)
        faulthandler.register(signal.SIGUSR1, file=sink, all_threads=True)


def ask_stack(pid: int, path: Path) -> None:
    """Ask a child for its stack, and wait until it is written, or for half a second."""
    if not hasattr(signal, "SIGUSR1") or not path.is_file():
        return  # it is not ready for the signal, which would end it
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGUSR1)
    deadline, size = time.monotonic() + _WAIT_S, -1
    while time.monotonic() < deadline and (size <= 0 or path.stat().st_size != size):
        size = path.stat().st_size
        time.sleep(_POLL_S)


def read_place(path: Path, folders: Iterable[str]) -> str:
    """file:line of the innermost code of these folders; "" when the stack shows none."""
    if not path.is_file():
        return ""
    own = [Path(folder) for folder in folders]
    others, _, current = path.read_text("utf-8", "replace").partition("Current thread")
    for filename, line in _FRAME.findall(current) + _FRAME.findall(others):
        if is_below(filename, own):
            return short_place(filename, int(line), own)
    return ""
