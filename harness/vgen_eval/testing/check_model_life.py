"""Checks of an adapter's life: silence, memory, a second load, pickling, secrets."""

from __future__ import annotations

import gc
import os
import pickle
import time
import weakref
from pathlib import Path
from typing import Any

from vgen_eval.testing.model_bench import ModelBench, close, keep, load
from vgen_eval.testing.outcome import Failed, Skipped, clip, tell

__all__ = [
    "check_close_releases",
    "check_no_secret",
    "check_pickling",
    "check_quiet",
    "check_reload",
]

LEAK_MB = 24.0
"""Growth over the cycles below that no allocator explains."""
CYCLES = 4
SLOW_S = 5.0
"""A cycle above this is made once."""


def check_quiet(bench: ModelBench) -> None:
    """Does it print while it loads and generates?"""
    for form in bench.forms:
        bench.ask(bench.requests(form)[:1])
    if bench.printed.size() > bench.printed_before:
        text = bench.printed.text(bench.printed_before).strip()
        raise Failed(f"it printed {clip(text, longest=80)!r}")


def check_close_releases(bench: ModelBench) -> str:
    """Is it gone after close()?"""
    start = time.perf_counter()
    ghost = _cycle(bench)
    gc.collect()
    if ghost is not None and ghost() is not None:
        raise Failed(f"something still holds the adapter: {_holders(ghost())}")
    if not bench.is_light:
        return "weights are loaded: memory was not measured"
    if time.perf_counter() - start > SLOW_S or _resident_mb() is None:
        return "memory was not measured"
    _cycle(bench)
    gc.collect()
    before = _resident_mb() or 0.0
    for _ in range(CYCLES):
        _cycle(bench)
    gc.collect()
    grown = (_resident_mb() or 0.0) - before
    if grown > LEAK_MB:
        raise Failed(f"memory grew by {grown:.0f} MB over {CYCLES} times load, generate, close")
    return ""


def _cycle(bench: ModelBench) -> Any:
    """Builds, loads, asks, closes; a weak reference to the adapter, None if it takes none."""
    adapter = bench.build()
    load(adapter)
    for form in bench.forms[:1]:
        for request in bench.requests(form):
            bench.ask([request], adapter=adapter)
    close(adapter)
    try:
        return weakref.ref(adapter)
    except TypeError:
        return None


def _holders(adapter: Any) -> str:
    kinds = {type(holder).__name__ for holder in gc.get_referrers(adapter)} - {"frame"}
    return ", ".join(sorted(kinds)) or "unknown"


def _resident_mb() -> float | None:
    """Memory of this process that is resident now; None where that cannot be read."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def check_reload(bench: ModelBench) -> None:
    """Does it close twice and come back?"""
    adapter = bench.build()
    form = bench.forms[0]
    start = time.perf_counter()
    load(adapter)
    if not bench.is_light and time.perf_counter() - start > SLOW_S:
        close(adapter)
        raise Skipped("its weights take long to load, and it names no stub")
    before = _answers(bench, adapter)
    close(adapter)
    _try("a second close()", lambda: close(adapter))
    _try("load() after close()", lambda: load(adapter))
    after = _try("generate() after a second load()", lambda: _answers(bench, adapter))
    close(adapter)
    if bench.adapter.deterministic:
        bench.compare(form, before, after, "the first load and the second")


def _answers(bench: ModelBench, adapter: Any) -> dict[str, Any]:
    form = bench.forms[0]
    outputs = bench.ask(bench.requests(form)[:1], adapter=adapter)
    return {output.id: keep(form, output.answer) for output in outputs}


def _try(what: str, action: Any) -> Any:
    try:
        return action()
    except Exception as exc:
        raise Failed(f"{what} raised {tell(exc)}") from exc


def check_pickling(bench: ModelBench) -> None:
    """Can it be sent to another process?"""
    adapter = bench.build()
    for what, thing in (
        ("the class", bench.kind), ("the options", bench.options), ("the card", bench.card),
        ("the adapter before load()", adapter),
    ):  # fmt: skip
        try:
            back = pickle.loads(pickle.dumps(thing))  # noqa: S301
        except Exception as exc:
            raise Failed(f"{what} cannot be pickled: {tell(exc)}") from exc
    if not hasattr(back, "generate"):
        raise Failed("the adapter that comes back has no generate()")


def check_no_secret(bench: ModelBench) -> None:
    """Does a key's value stand where it would be written down?"""
    name = bench.card.needs.key_env
    if name is None:
        raise Skipped("its card needs no key")
    value = os.environ[name]
    for what, thing in (
        ("repr(adapter)", bench.adapter), ("its options", bench.options), ("its card", bench.card),
    ):  # fmt: skip
        if value in repr(thing):
            raise Failed(f"{what} holds the value of {name}")
