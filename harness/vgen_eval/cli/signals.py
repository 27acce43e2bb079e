"""Ctrl-C and SIGTERM during a run: first finish the calls in flight, then drop them, then leave."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from vgen_eval.cli import terminal

if TYPE_CHECKING:
    from vgen_eval.engine.pipeline import Stop

__all__ = ["Signals"]

_AGAIN = {signal.SIGINT: "press again", signal.SIGTERM: "signal again"}


class Signals:
    """While entered, signals ask the stop; `exit_code` tells which one came."""

    def __init__(self, stop: Stop) -> None:
        self.exit_code: int | None = None
        self._stop = stop
        self._count = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Signals:
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
        self._count += 1
        self.exit_code = 128 + number
        self._stop.ask()
        if self._count == 1:
            again = _AGAIN[signal.Signals(number)]
            _announce(f"stopping: calls in flight are finished first ({again} to drop them)")
        elif self._count == 2:
            _announce("dropping the calls in flight")
        else:  # something that a stop does not reach, such as a model that is being loaded
            raise KeyboardInterrupt


def _announce(text: str) -> None:
    # from a thread: the handler may have come in the middle of a write to stderr
    threading.Thread(target=terminal.note, args=(text,), daemon=True).start()
