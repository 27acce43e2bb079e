"""The child's side: makes the checks of one subject, one after the other, and tells of each."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from vgen_eval.errors import BrokenPlugin, CardError
from vgen_eval.testing.children import Event, Spec
from vgen_eval.testing.outcome import Failed, Skipped, Unavailable, clip, tell
from vgen_eval.testing.rules import Rule, closure

__all__ = ["Printed", "main"]

_BLOCKS = ("failed", "blocked")


class Printed:
    """What this process has written to stdout and stderr so far."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def size(self) -> int:
        """Bytes, Python's and C's buffers flushed."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        with contextlib.suppress(Exception):
            import ctypes

            ctypes.CDLL(None).fflush(None)
        return self._path.stat().st_size

    def text(self, start: int) -> str:
        """What was written since `start`."""
        return self._path.read_bytes()[start:].decode("utf-8", "replace")


def main(path: str) -> None:
    """Makes the checks that the spec at `path` names, and ends the process."""
    spec = msgspec.json.decode(Path(path).read_bytes(), type=Spec)
    logging.getLogger().addHandler(logging.NullHandler())  # logging is not printing
    logging.captureWarnings(True)
    room = importlib.import_module(f"vgen_eval.testing.check_{spec.subject.kind}")
    with Path(spec.events).open("ab", buffering=0) as sink:

        def send(event: Event) -> None:
            sink.write(msgspec.json.encode(event) + b"\n")

        bench = room.Bench(spec, Printed(spec.printed))
        outcomes = dict(spec.done)
        for rule in closure(spec.subject.kind, spec.wanted):
            if rule.id in outcomes:
                continue
            send(Event(what="start", check=rule.id))
            event = _make(rule, room, bench, outcomes)
            outcomes[rule.id] = event.outcome
            send(event)
        send(Event(what="facts", facts=getattr(bench, "facts", {})))
        send(Event(what="finished"))
    # threads and exit handlers of the plugin are not waited for
    os._exit(0)


def _make(rule: Rule, room: Any, bench: Any, outcomes: dict[str, str]) -> Event:
    """Makes one check, whatever it raises."""
    blocked = [need for need in rule.needs if outcomes.get(need) in _BLOCKS]
    if blocked:
        return _end(rule, "blocked", f"needs {blocked[0]}, see there")
    try:
        detail = getattr(room, f"check_{rule.id}")(bench)
    except Skipped as exc:
        return _end(rule, "skipped", str(exc))
    except Unavailable as exc:
        return _end(rule, "blocked", str(exc))
    except BrokenPlugin as exc:
        return _end(rule, "blocked", f"{exc.what}: see the checks of the package")
    except CardError as exc:
        return _end(rule, "blocked", f"{exc.what}: see package::cards_valid")
    except Failed as exc:
        return _end(rule, "failed", exc.detail, exc.cure or rule.cure)
    except SystemExit as exc:
        return _end(rule, "failed", f"called sys.exit({exc.code!r})", rule.cure)
    # a plugin's code may raise anything
    except BaseException as exc:
        return _end(rule, "failed", f"raised {tell(exc)}", rule.cure)
    return _end(rule, "passed", detail or "")


def _end(rule: Rule, outcome: str, detail: str, cure: str = "") -> Event:
    return Event(what="end", check=rule.id, outcome=outcome, detail=clip(detail), cure=cure)
