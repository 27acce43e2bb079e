"""Peak memory while a model is asked: torch's allocator, NVML, the process; each by its name.

No library is imported for it but NVML's own: torch is asked only where an adapter has loaded it.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from vgen_eval.machine import peak_memory_mb
from vgen_eval.results.bench import Memory

__all__ = ["MemoryWatch", "accelerators", "find_synchronise"]

WATCH_S = 0.05
MIB = 2**20


def find_synchronise(adapter: Any) -> tuple[str, Callable[[], object]]:
    """Who waits until the device has done what was asked of it, and how."""
    own = getattr(adapter, "synchronize", None)
    if own is not None:
        return "adapter", own
    torch = _cuda_torch()
    if torch is not None:
        return "torch.cuda", lambda: [
            torch.cuda.synchronize(at) for at in range(torch.cuda.device_count())
        ]
    torch = sys.modules.get("torch")
    if torch is not None and getattr(torch, "mps", None) and torch.backends.mps.is_available():
        return "torch.mps", torch.mps.synchronize
    return "nothing to wait for", lambda: None


def accelerators() -> list[str]:
    """Names of the CUDA devices that torch has in use here."""
    torch = _cuda_torch()
    if torch is None:
        return []
    return [torch.cuda.get_device_name(at) for at in range(torch.cuda.device_count())]


def _cuda_torch() -> Any:
    """torch, where it is loaded and holds a CUDA device; None otherwise."""
    torch = sys.modules.get("torch")
    try:
        in_use = torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized()
    except (AttributeError, RuntimeError):  # a module of that name that is another
        return None
    return torch if in_use else None


class MemoryWatch:
    """Peaks from entering to leaving; NVML is asked by a thread, since it keeps no peak."""

    def __init__(self) -> None:
        self._torch = _cuda_torch()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._nvml_peak = 0
        self._nvml_reason = ""

    def __enter__(self) -> Self:
        if self._torch is not None:
            for at in range(self._torch.cuda.device_count()):
                self._torch.cuda.reset_peak_memory_stats(at)
        self._thread = threading.Thread(target=self._watch, daemon=True, name="nvml")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def read(self, adapter: Any) -> Memory:
        """The peaks so far, and what the adapter says of its own."""
        reasons = {}
        allocator = None
        if self._torch is None:
            reasons["allocator_peak_mib"] = "no CUDA device in use by torch in this process"
        else:
            devices = range(self._torch.cuda.device_count())
            peak = sum(self._torch.cuda.max_memory_allocated(at) for at in devices)
            allocator = round(peak / MIB, 1)
        if not self._nvml_peak:
            reasons["nvml_process_peak_mib"] = self._nvml_reason or (
                "NVML names no process of this run (there is none on a device, or a container "
                "hides their ids)"
            )
        resident = peak_memory_mb()
        if resident is None:
            reasons["resident_peak_mib"] = "the system keeps no count"
        return Memory(
            allocator_peak_mib=allocator,
            nvml_process_peak_mib=round(self._nvml_peak / MIB, 1) if self._nvml_peak else None,
            resident_peak_mib=resident,
            reasons=reasons,
            adapter=_told_by(adapter),
        )

    def _watch(self) -> None:
        try:
            import pynvml
        except ImportError:
            self._nvml_reason = "nvidia-ml-py is not installed"
            return
        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError as exc:
            self._nvml_reason = f"NVML does not answer: {exc}"
            return
        try:
            handles = [
                pynvml.nvmlDeviceGetHandleByIndex(at) for at in range(pynvml.nvmlDeviceGetCount())
            ]
            while True:
                held = sum(_held_here(pynvml, handle) for handle in handles)
                self._nvml_peak = max(self._nvml_peak, held)
                if self._over.wait(WATCH_S):
                    return
        except pynvml.NVMLError as exc:
            self._nvml_reason = f"NVML does not answer: {exc}"
        finally:
            pynvml.nvmlShutdown()


def _held_here(pynvml: Any, handle: Any) -> int:
    """Bytes of a device that this process and those it started hold."""
    running = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    return sum(entry.usedGpuMemory or 0 for entry in running if _is_ours(entry.pid))


def _is_ours(pid: int) -> bool:
    """Is it this process, or one that descends from it?"""
    own = os.getpid()
    while pid > 1 and pid != own:
        pid = _parent(pid)
    return pid == own


def _parent(pid: int) -> int:
    try:  # the name, in brackets, may hold spaces and brackets of its own
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _told_by(adapter: Any) -> Mapping[str, Any] | None:
    """What its `memory()` says, where it has one."""
    from vgen_eval import jsonio

    own = getattr(adapter, "memory", None)
    if own is None:
        return None
    try:
        told = jsonio.plain(own(), "memory()")
    except Exception as exc:  # a plugin's code may raise anything, and the measuring is done
        return {"error": f"memory() raised {type(exc).__name__}: {exc}"}
    return told if isinstance(told, dict) else {"value": told}
