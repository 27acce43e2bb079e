"""The machine that a run is made on: libraries, processor, memory, time."""

from __future__ import annotations

import functools
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

from vgen_eval._version import __version__

__all__ = ["hardware", "now", "peak_memory_mb", "versions"]


@functools.cache
def versions() -> dict[str, str]:
    """Versions of the harness, Python and the libraries that can change an answer."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"vgen-eval": __version__, "python": platform.python_version()}
    names = (
        "numpy", "opencv-python-headless", "scikit-image", "Pillow", "msgspec",
        "torch", "diffusers", "transformers",
    )  # fmt: skip
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@functools.cache
def hardware() -> dict[str, Any]:
    """System, processor, cores and memory."""
    memory = None
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1)
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": memory,
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()


def now() -> str:
    """The time, UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def peak_memory_mb() -> float | None:
    """Most memory that this process had resident so far, in MiB; None where nobody counts."""
    try:  # what getrusage says may be the peak of the process that started this one
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) / 2**10, 1)
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)
