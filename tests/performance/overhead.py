"""What the harness adds: a run of 10 samples, and CPU time a text sample up to 100,000."""

from __future__ import annotations

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from bench_plugin import NAME, console_script, install, text_task
from figures import ROUNDS, report

SIZES = (1_000, 10_000, 100_000)
CHILD = str(Path(__file__).with_name("child.py"))


def evaluate_apart(task: str, model: str, output: Path, env: Mapping[str, str]) -> dict[str, float]:
    """Cost of one evaluation in a process of its own; the run must be complete."""
    done = subprocess.run(
        [sys.executable, CHILD, f"{NAME}:{task}", f"{NAME}:{model}", str(output)],
        env=env, check=False, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr)
    cost: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return cost


def run_script(output: Path, env: Mapping[str, str]) -> tuple[float, float]:
    """Wall seconds and peak MB of `vgen-eval` over ten samples."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [console_script(), "--tasks", f"{NAME}:ten", "--model", f"{NAME}:noop",
         "--output", str(output)],
        env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"vgen-eval ended with {process.returncode}")
    scale = 2**20 if sys.platform == "darwin" else 2**10
    return time.perf_counter() - start, usage.ru_maxrss / scale


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cards = {f"echo{n}": text_task(f"echo{n}", n) for n in SIZES}
        env = install(folder / "site", {"ten": text_task("ten", 10), **cards})
        small: list[tuple[float, float]] = []
        cpu: dict[int, list[float]] = {n: [] for n in SIZES}
        for number in range(ROUNDS):
            small.append(run_script(folder / f"ten{number}", env))
            for n in SIZES:
                cost = evaluate_apart(f"echo{n}", "noop", folder / f"{n}-{number}", env)
                cpu[n].append(cost["cpu_s"])
    report("run of 10 samples, wall", statistics.median(wall for wall, _ in small), " s")
    report("run of 10 samples, peak memory", statistics.median(mb for _, mb in small), " MB",
           most=120)  # fmt: skip
    # slopes between sizes: start-up is in both and falls out
    slopes = []
    for less, more in itertools.pairwise(SIZES):
        slope = statistics.median(
            1e3 * (b - a) / (more - less) for a, b in zip(cpu[less], cpu[more], strict=True)
        )
        slopes.append(slope)
        report(f"CPU a sample, {less} to {more}", slope, " ms", most=0.25)
    report("CPU a sample, second slope / first", slopes[1] / slopes[0], most=1.25)


if __name__ == "__main__":
    main()
