"""Ctrl-C and SIGTERM: a run first finishes its calls, other work is undone on the way out."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from vgen_eval.cli import terminal

if TYPE_CHECKING:
    from vgen_eval.engine.pipeline import Stop

__all__ = ["Leaving", "Signals", "Unwinding"]

_AGAIN = {signal.SIGINT: "press again", signal.SIGTERM: "signal again"}


class _Listening:
    """While entered in the main thread, signals go to `_handle`; what heard them before returns."""

    def __init__(self) -> None:
        self.exit_code: int | None = None
        self._count = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _AGAIN:
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        raise NotImplementedError


class Signals(_Listening):
    """While entered, signals ask the stop; `exit_code` tells which one came.

    After the second none is heard any more, so that what is said last is not cut short.
    """

    def __init__(self, stop: Stop) -> None:
        super().__init__()
        self._stop = stop

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._count > 1:
            self._before = dict.fromkeys(self._before, signal.SIG_IGN)
        super().__exit__(kind, exc, trace)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        self._count += 1
        count = self._count  # another signal may come while this one is being told
        self.exit_code = 128 + number
        if count > 2:  # something that a stop does not reach, such as a model that is being loaded
            raise KeyboardInterrupt
        self._stop.ask()
        if count == 1:
            again = _AGAIN[signal.Signals(number)]
            _announce(f"stopping: calls in flight are finished first ({again} to drop them)")
        else:
            _announce("dropping the calls in flight")


class Unwinding(_Listening):
    """While entered, SIGTERM ends the work as Ctrl-C does: what it began is undone on the way out.

    A second signal is not heard, since things are being put back; a third ends that as well.
    """

    def check(self) -> None:
        """KeyboardInterrupt when a signal came: a callback from C may have swallowed its own."""
        if self.exit_code is not None:
            raise KeyboardInterrupt

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        self._count += 1
        self.exit_code = self.exit_code or 128 + number
        if self._count != 2:
            raise KeyboardInterrupt


class Leaving(_Listening):
    """While entered, each signal is a KeyboardInterrupt: of work that a reader ends, by Ctrl-C too.

    `exit_code`: 0 after Ctrl-C, 143 after SIGTERM, whichever came first.
    """

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self.exit_code is None:
            self.exit_code = 0 if number == signal.SIGINT else 128 + number
        raise KeyboardInterrupt


def _announce(text: str) -> None:
    # from a thread: the handler may have come in the middle of a write to stderr
    threading.Thread(target=terminal.note, args=(text,), daemon=True).start()
