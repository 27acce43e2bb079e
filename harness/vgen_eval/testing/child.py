"""The child's side: makes the checks of one subject, one after the other, and tells of each."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from vgen_eval.errors import BrokenPlugin, CardError
from vgen_eval.testing.children import Event, Spec
from vgen_eval.testing.cures import STUB, cure_of
from vgen_eval.testing.outcome import Failed, Skipped, Unavailable, clip, own_code, place_of, tell
from vgen_eval.testing.rules import Rule, closure
from vgen_eval.testing.stacks import offer_stack

__all__ = ["Printed", "main"]

_BLOCKS = ("failed", "blocked")


class Printed:
    """What this process has written to stdout and stderr so far."""

    def __init__(self, path: str) -> None:
        # the path is in a plugin's reach, the handle is not; it is open as long as the process is
        self._file = Path(path).open("rb")  # noqa: SIM115

    def size(self) -> int:
        """Bytes, Python's and C's buffers flushed."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        with contextlib.suppress(Exception):
            import ctypes

            ctypes.CDLL(None).fflush(None)
        return os.fstat(self._file.fileno()).st_size

    def text(self, start: int) -> str:
        """What was written since `start`."""
        self._file.seek(start)
        return self._file.read().decode("utf-8", "replace")


def main(path: str) -> None:
    """Makes the checks that the spec at `path` names, and ends the process."""
    spec = msgspec.json.decode(Path(path).read_bytes(), type=Spec)
    logging.getLogger().addHandler(logging.NullHandler())  # logging is not printing
    logging.captureWarnings(True)
    room = importlib.import_module(f"vgen_eval.testing.check_{spec.subject.kind}")
    with Path(spec.events).open("ab", buffering=0) as sink:

        def send(event: Event) -> None:
            sink.write(msgspec.json.encode(event) + b"\n")

        printed = Printed(spec.printed)
        offer_stack(spec.stack)
        for subject in (spec.subject, *spec.rest):
            own = {
                check.removeprefix(f"{subject.label}::"): outcome
                for check, outcome in spec.done.items()
                if check.startswith(f"{subject.label}::")
            }
            one = msgspec.structs.replace(spec, subject=subject, rest=(), done=own)
            _make_all(room, room.Bench(one, printed), one, send)
        send(Event(what="finished"))
    # threads and exit handlers of the plugin are not waited for
    os._exit(0)


def _make_all(room: Any, bench: Any, spec: Spec, send: Callable[[Event], None]) -> None:
    """The checks of one subject that are not made yet."""
    places = _folders(bench.plugin.package)
    own_code(places)
    send(Event(what="facts", facts={"places": [str(place) for place in places]}))
    bench.alive = lambda: send(Event(what="alive"))
    rules = closure(spec.subject.kind, spec.wanted)
    label, outcomes, made = spec.subject.label, dict(spec.done), False
    for rule in rules:
        if rule.id in outcomes:
            continue
        made = True
        send(Event(what="start", subject=label, check=rule.id))
        event = _make(rule, room, bench, outcomes)
        outcomes[rule.id] = event.outcome
        send(msgspec.structs.replace(event, subject=label))
    if made and hasattr(bench, "leave"):
        send(Event(what="leave", subject=label, check=rules[0].id))
        fault = bench.leave()
        if fault is not None:
            cure = cure_of(fault, package=bench.plugin.package) or STUB
            event = _end(rules[0], "failed", f"leaving its stub raised {tell(fault)}", cure)
            send(msgspec.structs.replace(event, subject=label))
    send(Event(what="facts", facts=getattr(bench, "facts", {})))


def _folders(package: str) -> list[Path]:
    """Where the code of a package lies; it is not imported."""
    spec = importlib.util.find_spec(package)
    places = (
        [Path(place) for place in (spec.submodule_search_locations or ()) if place] if spec else []
    )
    return [place.resolve() for place in places]


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
        cause = exc.__cause__
        cure = exc.cure or (cure_of(cause, package=bench.plugin.package) if cause else "")
        return _end(rule, "failed", exc.detail, cure or rule.cure)
    except SystemExit as exc:
        return _end(rule, "failed", f"called sys.exit({exc.code!r})", cure_of(exc))
    # a plugin's code may raise anything
    except BaseException as exc:
        place = place_of(exc)
        mend = f"mend {place}: {rule.cure}" if place else rule.cure
        cure = cure_of(exc, package=bench.plugin.package) or mend
        return _end(rule, "failed", f"raised {tell(exc)}", cure)
    return _end(rule, "passed", detail or "")


def _end(rule: Rule, outcome: str, detail: str, cure: str = "") -> Event:
    return Event(what="end", check=rule.id, outcome=outcome, detail=clip(detail), cure=cure)
