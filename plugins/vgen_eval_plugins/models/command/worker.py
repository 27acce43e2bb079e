"""One program across its restarts: asked a call at a time, started again when it ended."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Iterator, Sequence

from vgen_eval.errors import AccessDenied, CallError, NotRunnable
from vgen_eval.types import Output, Request

from vgen_eval_plugins.models.command import protocol
from vgen_eval_plugins.models.command.exchange import Exchange
from vgen_eval_plugins.models.command.lines import Bad, Message, Strays
from vgen_eval_plugins.models.command.process import Ended, Launch, Process
from vgen_eval_plugins.models.command.protocol import Ready

__all__ = ["Restarts", "Worker"]

log = logging.getLogger(__name__)

PAUSE_S = 0.5
"""Wait after a start that failed: a device's memory is not free at once."""
BY_HAND = "run it by hand and give it the lines of docs/command.md"


class Restarts:
    """How often the programs of a model may be started again, all of them together."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made = 0
        self._lock = threading.Lock()

    def spend(self, name: str, reason: str) -> None:
        """Counts one; AccessDenied, with why the last program ended, when none is left."""
        with self._lock:
            if self._made >= self._most:
                raise AccessDenied(
                    f"program '{name}' was started again {self._made} times and is given up: "
                    f"{reason}",
                    cure=f"{BY_HAND}, or allow more: -M restarts=N",
                )
            self._made += 1
            log.warning("%s: started again (%d of %d): %s", name, self._made, self._most, reason)


class Worker:
    """Keeps one program alive and asks it."""

    def __init__(
        self,
        launch: Launch,
        hello: bytes,
        *,
        start_timeout_s: float,
        restarts: Restarts,
        strays: Strays,
    ) -> None:
        self._launch = launch
        self._hello = hello
        self._start_timeout_s = start_timeout_s
        self._restarts = restarts
        self._strays = strays
        self._process: Process | None = None
        self._asked: set[str] = set()
        """Ids of this process: what it says of one that is no longer open came late."""
        self._why = ""
        """Why the process before ended."""
        self._closed = False
        self.ready: Ready | None = None

    def start(self) -> Ready:
        """Starts the program and waits until it is ready; NotRunnable, with why, when it is not."""
        process = Process(self._launch, self._strays)
        self._process, self._asked = process, set()
        try:
            self.ready = self._greet(process)
        except BaseException:
            self._process = None
            process.kill()
            raise
        if self._closed:  # while it started
            self.close()
        return self.ready

    def _greet(self, process: Process) -> Ready:
        name = self._launch.name
        process.send(self._hello)
        try:
            said = process.receive(time.monotonic() + self._start_timeout_s)
        except TimeoutError:
            process.kill()
            raise NotRunnable(
                f"program '{name}' was not ready within {self._start_timeout_s:g} s"
                f"{process.last_words()}",
                cure="-M start_timeout_s=S gives it longer",
            ) from None
        if isinstance(said, Ended):
            raise NotRunnable(
                f"program '{name}' ended before it was ready: {said.reason}", cure=BY_HAND
            )
        if isinstance(said, Bad):
            raise NotRunnable(f"program '{name}': {said.reason}", cure=BY_HAND)
        try:
            return protocol.read_ready(said, self._strays)
        except NotRunnable as exc:
            raise NotRunnable(f"program '{name}': {exc.what}", cure=exc.cure or BY_HAND) from None

    def ask(self, requests: Sequence[Request], *, seconds: float | None) -> Iterator[Output]:
        """The program's outputs, in its order, within `seconds` in all.

        CallError when the program ended or broke the protocol, TimeoutError when it hangs: it is
        killed then. The next call starts it again; AccessDenied when that was done too often.
        """
        line = protocol.generate(requests)
        process, ready = self._alive()
        _check_form(requests, ready)
        for late in process.unread():  # a call made again has the ids of the one before
            self._strays.note("second or late answers", _kind_of(late))
        self._asked.update(request.id for request in requests)
        call = Exchange(requests, asked=self._asked, name=ready.name, strays=self._strays)
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        process.send(line)
        try:
            while call.is_waiting:
                said = process.receive(deadline)
                if isinstance(said, Ended):
                    self._drop(said.reason)
                    raise CallError(f"the program gave no answer: {said.reason}")
                output = call.take(said)
                if output is not None:
                    yield output
        except TimeoutError:
            self._drop("")
            self._why = f"no answer within {seconds:g} s: it was killed{process.last_words()}"
            raise TimeoutError(f"the program gave {self._why}") from None
        except GeneratorExit:
            if call.is_waiting:  # what it is at would come into the next call
                self._drop("its answer was wanted no longer")
            raise
        call.check()

    def _alive(self) -> tuple[Process, Ready]:
        """The process, started again where it has ended."""
        if self._process is not None and self._process.is_over:
            self._drop(f"between two calls {self._process.tell_end()}")
        while self._process is None or self.ready is None:
            if self._closed:
                raise CallError("the model is closed")
            self._restarts.spend(self._launch.name, self._why)
            before = self.ready
            try:
                self.start()
            except NotRunnable as exc:
                self._why = exc.what
                time.sleep(PAUSE_S)
            else:
                if before is not None and before != self.ready:
                    log.warning("%s: it says otherwise of itself than before", self._launch.name)
        return self._process, self.ready

    def _drop(self, why: str) -> None:
        process, self._process = self._process, None
        self._why = why
        if process is not None:
            process.kill()

    def kill(self) -> None:
        """Ends the program at once, also one that is not ready yet."""
        self._closed = True
        self._drop("the run was ended")

    def close(self) -> None:
        """Ends the program; a call that is under way fails."""
        self._closed = True
        process, self._process = self._process, None
        if process is not None:
            process.close()


def _kind_of(said: Message | Bad) -> str:
    return said.reason if isinstance(said, Bad) else str(said["type"])


def _check_form(requests: Sequence[Request], ready: Ready) -> None:
    """CallError for a form that the program does not give: its card says more than it can."""
    for request in requests:
        if ready.forms is not None and request.form not in ready.forms:
            can = ", ".join(ready.forms) or "none"
            raise CallError(f"the program does not give '{request.form}': its ready says {can}")
