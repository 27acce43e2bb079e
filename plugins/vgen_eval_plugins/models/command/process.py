"""One child process: its pipes drained by threads, its whole process group ended when it ends."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import msgspec
from vgen_eval.errors import NotRunnable

from vgen_eval_plugins.models.command.lines import Bad, Message, Strays, parse, read_lines
from vgen_eval_plugins.models.command.protocol import CLOSE
from vgen_eval_plugins.models.service import words

__all__ = ["Ended", "Launch", "Process"]

log = logging.getLogger(__name__)

CLOSE_S = 5.0
"""How long a program may take to end once it was told to."""
TERM_S = 3.0
"""How long its process group may take after SIGTERM."""
SETTLE_S = 2.0
"""How long a program that closed its stdout may take to end."""
INBOX = 64
"""Messages that may wait: a program that writes more of them is held up."""
TAIL = 1 << 14
"""Bytes of stderr that are kept."""
LAST_LINES = 3
TICK_S = 0.05


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """How a program is started."""

    name: str
    """For messages: its words as the card has them."""
    args: tuple[str, ...]
    folder: Path
    env: Mapping[str, str]


class Ended(msgspec.Struct, frozen=True):
    """The program will say nothing more: why, in words."""

    reason: str


class Process:
    """A started program. One caller at a time sends and receives."""

    def __init__(self, launch: Launch, strays: Strays) -> None:
        """Starts it; NotRunnable when there is no such program, or it cannot be run."""
        self._launch = launch
        self._inbox: queue.Queue[Message | Bad | None] = queue.Queue(INBOX)
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._tail = bytearray()
        self._deaf = threading.Event()
        self._over = threading.Event()
        self._broken = threading.Event()
        self._child = _spawn(launch)
        # no program outlives the harness, whichever way a run was ended
        self._guard = weakref.finalize(self, _end_in, os.getpid(), self._child.pid)
        stdin, stdout, stderr = self._child.stdin, self._child.stdout, self._child.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        self._drain = threading.Thread(target=_keep_tail, args=(stderr, self._tail), daemon=True)
        self._drain.start()
        hear = (stdout, self._inbox, strays, self._deaf, self._over)
        tell = (stdin, self._outbox, self._inbox, self._deaf, self._broken)
        threading.Thread(target=_hear, args=hear, daemon=True).start()
        threading.Thread(target=_tell, args=tell, daemon=True).start()

    @property
    def pid(self) -> int:
        """The process id, which is its group's too."""
        return self._child.pid

    @property
    def is_over(self) -> bool:
        """Has it ended, or closed its stdout?"""
        return self._over.is_set() or self._child.poll() is not None

    def send(self, data: bytes) -> None:
        """Gives it a line; does not wait for it to read."""
        self._outbox.put(data)

    def unread(self) -> list[Message | Bad]:
        """What it said and nobody waited for; a program that ended is told of by `receive`."""
        found: list[Message | Bad] = []
        with contextlib.suppress(queue.Empty):
            while (said := self._inbox.get_nowait()) is not None:
                found.append(said)
            self._inbox.put_nowait(None)
        return found

    def receive(self, deadline: float) -> Message | Bad | Ended:
        """What it says next. TimeoutError when the monotonic clock reaches the deadline."""
        while True:
            left = deadline - time.monotonic()
            try:
                # a program that died may have left its stdout open in a child of its own
                said = self._inbox.get(timeout=max(0.0, min(left, 1.0)))
            except queue.Empty:
                if self._child.poll() is not None and self._inbox.empty():
                    return Ended(self.tell_end())
                if left <= 0:
                    raise TimeoutError from None
                continue
            return Ended(self.tell_end()) if said is None else said

    def tell_end(self) -> str:
        """Why it says nothing more, once it ended or closed a pipe; what is left of it is ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(SETTLE_S)
        code = self._child.returncode
        self.kill()
        if code is None:
            closed = "reads its stdin no longer" if self._broken.is_set() else "closed its stdout"
            how = f"it {closed} and lived on: it was killed"
        elif code < 0:
            how = f"it died of {_signal_name(-code)}"
            if -code == signal.SIGKILL:
                how += " (by hand, or out of memory)"
        else:
            how = f"it ended with exit code {code}"
        return how + self.last_words()

    def last_words(self) -> str:
        """The last lines of its stderr, for the end of a sentence; empty where there are none."""
        self._drain.join(0.5)
        text = bytes(self._tail).decode("utf-8", "replace").replace("\r", "\n")
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        said = words(" | ".join(lines[-LAST_LINES:])[-300:])
        return f"; its last words: {said}" if said else ""

    def close(self) -> None:
        """Tells it to end and waits; what does not end in time is ended."""
        self._deaf.set()
        self._outbox.put(CLOSE)
        self._outbox.put(None)
        try:
            self._child.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            log.warning("%s: did not end within %g s of close: ended", self._launch.name, CLOSE_S)
        self._end_group(TERM_S)

    def kill(self) -> None:
        """Ends it and all its children at once."""
        self._deaf.set()
        self._outbox.put(None)
        self._end_group(0.0)

    def _end_group(self, grace: float) -> None:
        """SIGTERM to the group, SIGKILL to what is left of it after `grace` seconds."""
        if grace:
            deadline = time.monotonic() + grace
            _signal_group(self.pid, signal.SIGTERM)
            while time.monotonic() < deadline and _signal_group(self.pid, 0):
                self._child.poll()
                time.sleep(TICK_S)
        _signal_group(self.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(TERM_S)
        self._guard.detach()


def _spawn(launch: Launch) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            launch.args,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=launch.folder,
            env=dict(launch.env),
            start_new_session=True,  # a group of its own, which the terminal's Ctrl-C spares
        )
    except (OSError, ValueError) as exc:
        why = getattr(exc, "strerror", None) or str(exc)
        cure = "docs/command.md: options.program is a list, the program first"
        if isinstance(exc, PermissionError):
            cure = f"chmod +x {launch.args[0]}"
        elif isinstance(exc, OSError) and why == "Exec format error":
            cure = "a script needs a first line such as #!/usr/bin/env python3"
        raise NotRunnable(f"'{launch.args[0]}' cannot be run: {why}", cure=cure) from None


def _hear(
    stdout: IO[bytes],
    inbox: queue.Queue[Message | Bad | None],
    strays: Strays,
    deaf: threading.Event,
    over: threading.Event,
) -> None:
    """Puts the program's messages into the inbox, None at the end; reads on when nobody listens."""
    with stdout:
        for line in read_lines(stdout.fileno()):
            if deaf.is_set():
                continue
            for said in [line] if isinstance(line, Bad) else parse(line, strays):
                _post(said, inbox, deaf)
    over.set()
    _post(None, inbox, deaf)


def _post(
    said: Message | Bad | None, inbox: queue.Queue[Message | Bad | None], deaf: threading.Event
) -> None:
    while not deaf.is_set():
        with contextlib.suppress(queue.Full):
            inbox.put(said, timeout=0.2)
            return


def _tell(
    stdin: IO[bytes],
    outbox: queue.SimpleQueue[bytes | None],
    inbox: queue.Queue[Message | Bad | None],
    deaf: threading.Event,
    broken: threading.Event,
) -> None:
    """Writes lines as the program reads them; None into the inbox when it reads no longer."""
    try:
        with stdin:
            while (data := outbox.get()) is not None:
                view = memoryview(data)
                while view:
                    view = view[stdin.write(view) :]
    except OSError:
        broken.set()
        _post(None, inbox, deaf)


def _keep_tail(stderr: IO[bytes], tail: bytearray) -> None:
    with stderr:
        while chunk := os.read(stderr.fileno(), TAIL):
            tail += chunk
            del tail[:-TAIL]


def _signal_group(group: int, number: int) -> bool:
    """False when no process of the group is left."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _end_in(owner: int, group: int) -> None:
    if os.getpid() == owner:  # a fork of the harness leaves its programs alone
        _signal_group(group, signal.SIGKILL)
