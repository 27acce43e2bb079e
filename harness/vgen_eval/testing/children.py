"""Runs the checks of one subject in child processes, and outlives whatever they do."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal

import msgspec

from vgen_eval.testing.cures import CRASHED, ENDED, cure_of_hang
from vgen_eval.testing.rules import closure, rules_of
from vgen_eval.testing.stacks import ask_stack, read_place
from vgen_eval.testing.subjects import Subject

__all__ = ["Event", "Spec", "run_subject"]

_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from vgen_eval.testing.child import main; main(sys.argv[2])"
)
_POLL_S = 0.02
_SHOWN = 200
_OUTPUT_END = 4000
MOST_CHILDREN = 5
"""How often a subject that ends its process is taken up again, after the check that did it."""


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """What a child is to do."""

    plugin: str
    subject: Subject
    rest: tuple[Subject, ...] = ()
    """Others of its kind, for which the same checks are made after it in the same process."""
    wanted: tuple[str, ...]
    done: Mapping[str, str]
    """subject::check made already -> passed, failed, skipped or blocked."""
    events: str
    """File that the child appends its events to."""
    printed: str
    """File that its stdout and stderr go to."""
    stack: str = ""
    """File that its stack goes to when its time is up."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One line from a child."""

    what: Literal["start", "end", "alive", "leave", "facts", "finished"]
    """alive: a step of a check is done; leave: its checks are made, and it puts things back."""
    subject: str = ""
    check: str = ""
    outcome: str = ""
    """passed, failed, skipped, or blocked: skipped, and what builds on it as well."""
    detail: str = ""
    cure: str = ""
    facts: Mapping[str, Any] = {}


def run_subject(
    plugin: str, subject: Subject, wanted: Sequence[str], *, timeout_s: float,
    stop: threading.Event | None = None, rest: Sequence[Subject] = (),
) -> tuple[list[Event], Mapping[str, Any]]:  # fmt: skip
    """One `end` event for each wanted check, in their order, and the facts the child told.

    A step without a sign of life for `timeout_s` ends its check, and nothing more is asked of the
    process; one that ends its process fails, and the next are made in another process. `stop`,
    once set, ends the child; what it had not told is skipped. `rest`: subjects of the same kind
    that share the process. Fact "ended": the checks that ended a child.
    """
    stop = stop or threading.Event()
    ends: dict[str, Event] = {}
    facts: dict[str, Any] = {}
    order = [(one.label, rule.id) for one in (subject, *rest)
             for rule in closure(subject.kind, wanted)]  # fmt: skip
    for _ in range(MOST_CHILDREN + len(rest)):
        if stop.is_set():
            break
        spec = Spec(
            plugin=plugin, subject=subject, rest=tuple(rest), wanted=tuple(wanted),
            done={key: event.outcome for key, event in ends.items()}, events="", printed="",
        )  # fmt: skip
        events, ending, output = _run_child(spec, timeout_s, stop)
        ends |= {_key(event): event for event in events if event.what == "end"}
        for event in events:
            facts |= event.facts if event.what == "facts" else {}
        if any(event.what == "finished" for event in events) or stop.is_set():
            break
        at_fault = _at_fault(events, ends, order)
        if at_fault is None:
            break
        ends[_key(at_fault)] = _end_of(at_fault, subject, ending, output, facts, timeout_s)
        if ending.startswith("not done"):
            break
    reason = "not made: the subject hangs or keeps ending its process"
    return [
        ends.get(f"{label}::{check}")
        or Event(what="end", subject=label, check=check, outcome="skipped", detail=reason)
        for label, check in order
        if check in wanted
    ], facts


def _key(event: Event) -> str:
    return f"{event.subject}::{event.check}"


def _at_fault(
    events: Sequence[Event], ends: Mapping[str, Event], order: Sequence[tuple[str, str]]
) -> Event | None:
    """What the child was at when it ended: a check, or putting things back."""
    steps = [event for event in events if event.what in ("start", "leave")]
    if steps and steps[-1].what == "leave":
        return steps[-1]
    open_steps = [event for event in steps if _key(event) not in ends]
    if open_steps:
        return open_steps[-1]
    left = [pair for pair in order if "::".join(pair) not in ends]
    return Event(what="start", subject=left[0][0], check=left[0][1]) if left else None


def _end_of(
    step: Event, subject: Subject, ending: str, output: str, facts: dict[str, Any],
    timeout_s: float,
) -> Event:  # fmt: skip
    """The failure of the step that ended a child."""
    facts["ended"] = [*facts.get("ended", ()), step.check]
    if step.check == "hooks_strings" and "importing" in facts:
        ending += f", importing {facts['importing']}"
    if step.what == "leave":
        ending = f"leaving its stub: {ending}"
    said = f"; it printed: {_last_line(output)}" if output else ""
    return Event(
        what="end", subject=step.subject, check=step.check, outcome="failed",
        detail=ending + said, cure=_cure(subject, step.check, ending, timeout_s),
    )  # fmt: skip


def _cure(subject: Subject, check: str, ending: str, timeout_s: float) -> str:
    """What cures a process that ended before its time, or did not end."""
    if "not done" in ending:
        return cure_of_hang(subject.kind, timeout_s)
    if check == "imports":
        return rules_of(subject.kind)[check].cure
    return CRASHED if "killed by" in ending else ENDED


def _run_child(spec: Spec, timeout_s: float, stop: threading.Event) -> tuple[list[Event], str, str]:
    """Its events, how it ended if before its time, and the end of what it printed."""
    # what a plugin does to the folder is its own affair: the files are read where they were opened
    with tempfile.TemporaryDirectory(prefix="vgen-check-", ignore_cleanup_errors=True) as folder:
        events, printed = Path(folder, "events.jsonl"), Path(folder, "output.txt")
        stack = Path(folder, "stack.txt")
        work = Path(folder, "work")
        work.mkdir()
        spec = msgspec.structs.replace(
            spec, events=str(events), printed=str(printed), stack=str(stack)
        )
        path = Path(folder, "spec.json")
        path.write_bytes(msgspec.json.encode(spec))
        places = json.dumps([str(Path(place or ".").resolve()) for place in sys.path])
        # files, not pipes: what a plugin leaves running could hold a pipe open for ever
        with printed.open("w+b") as sink, events.open("w+b") as told:
            child = subprocess.Popen(
                [sys.executable, "-c", _BOOT, places, str(path)],
                cwd=work,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=_environment(),
            )
            try:
                ending = _watch(child, told, timeout_s, stop)
                if ending.startswith("not done"):
                    ask_stack(child.pid, stack)
            finally:
                _kill(child)
            sink.seek(max(0, sink.seek(0, os.SEEK_END) - _OUTPUT_END))
            output = sink.read().decode("utf-8", "replace")
            told.seek(0)
            found = _read_events(told.read())
        folders = [place for event in found for place in event.facts.get("places", ())]
        if where := read_place(stack, folders):
            ending += f", in {where}"
        return found, ending, output


def _environment() -> dict[str, str]:
    """The child's: the checks are the CPU's, and a server on this machine needs no proxy."""
    direct = ",".join(filter(None, ("localhost,127.0.0.1,::1", os.environ.get("NO_PROXY"))))
    return os.environ | {"CUDA_VISIBLE_DEVICES": "", "NO_PROXY": direct, "no_proxy": direct}


def _read_events(data: bytes) -> list[Event]:
    """What the child told; lines that are none, which something else wrote there, are left out."""
    found = []
    for line in data.splitlines():
        with contextlib.suppress(msgspec.DecodeError):
            found.append(msgspec.json.decode(line, type=Event))
    return found


def _watch(
    child: subprocess.Popen[bytes], events: BinaryIO, timeout_s: float, stop: threading.Event
) -> str:
    """How the child ended, or why it is to be ended."""
    size, since = 0, time.monotonic()
    while (status := child.poll()) is None:
        time.sleep(_POLL_S)
        now = os.fstat(events.fileno()).st_size
        if now != size:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > timeout_s:
            return f"not done after {timeout_s:g} s"
        if stop.is_set():
            return "stopped"
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return f"ended the process with exit status {status}"


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End the child and what it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):  # all of them are gone
            os.killpg(child.pid, signal.SIGKILL)
    elif child.poll() is None:
        child.kill()
    child.wait()


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return (lines or [""])[-1][-_SHOWN:]
