"""Figures: things measured in turn, the median of the rounds, one line with its goal."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROUNDS = int(os.environ.get("ROUNDS", "7"))

Measure = Callable[[], float]


def seconds(work: Callable[[], object]) -> Measure:
    """Wall seconds of one call of `work`."""

    def measure() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return measure


def repeated(work: Callable[[], object], times: int) -> Measure:
    """Seconds of one call, taken over several."""

    def all_of_them() -> None:
        for _ in range(times):
            work()

    measure = seconds(all_of_them)
    return lambda: measure() / times


def interleave(*measures: Measure, rounds: int = ROUNDS, warm: bool = True) -> list[list[float]]:
    """Of each measure its numbers, taken A, B, A, B, ...: noise that drifts falls on all alike.

    With `warm` each is called once before, so that caches are filled for all.
    """
    if warm:
        for measure in measures:
            measure()
    found: list[list[float]] = [[] for _ in measures]
    for _ in range(rounds):
        for numbers, measure in zip(found, measures, strict=True):
            numbers.append(measure())
    return found


def ratio(a: Sequence[float], b: Sequence[float]) -> float:
    """Median over the rounds of a / b."""
    return statistics.median(x / y for x, y in zip(a, b, strict=True))


def report(
    name: str,
    figure: float | str,
    unit: str = "x",
    *,
    most: float | None = None,
    least: float | None = None,
) -> None:
    """Prints `name  figure  goal  ok|MISS`; `-` for a figure without a goal."""
    goal = f"<= {most:g}{unit}" if most is not None else f">= {least:g}{unit}" if least else "-"
    if isinstance(figure, str):
        shown, verdict = figure, "-"
    else:
        shown = f"{figure:.3g}{unit}"
        missed = (most is not None and figure > most) or (least is not None and figure < least)
        verdict = "-" if goal == "-" else "MISS" if missed else "ok"
    print(f"{name:<44} {shown:>14}  {goal:<14} {verdict}", flush=True)


def peak_mb() -> float:
    """Most memory this process held, in MB.

    Linux: VmHWM, which begins anew with the program; ru_maxrss begins with what the parent held.
    """
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # macOS counts bytes
