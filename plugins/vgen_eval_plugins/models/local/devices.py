"""Which device and number type a local model runs with, its seeds, and the memory it took."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Any, Literal

from vgen_eval.errors import MissingExtra, NotRunnable, UsageError

__all__ = [
    "Dtype",
    "MemoryWatch",
    "choose_device",
    "choose_dtype",
    "is_exact",
    "release",
    "seed_generator",
]

Dtype = Literal["auto", "bfloat16", "float16", "float32"]
KINDS = ("cuda", "mps", "cpu")
WATCH_S = 0.05
"""Seconds between two looks at NVML."""


def choose_device(asked: str | None, *, extra: str) -> str:
    """The device: as asked (cuda, cuda:1, mps, cpu), or the best that is here.

    UsageError for another word; NotRunnable, naming what is here, for a device that is not.
    """
    torch = _torch(extra)
    here = _devices(torch)
    if asked is None or asked == "auto":
        return here[0]
    kind, _, number = asked.partition(":")
    if kind not in KINDS or (number and not (kind == "cuda" and number.isdecimal())):
        raise UsageError(f"no device '{asked}'", cure=f"one of {', '.join(KINDS)}, cuda:1")
    if asked not in here:
        built = "" if torch.backends.cuda.is_built() else " (this torch is built without CUDA)"
        raise NotRunnable(
            f"no device '{asked}' here{built if kind == 'cuda' else ''}: there is "
            f"{', '.join(here)}",
            cure=f"--device {here[0]}",
        )
    return asked


def _devices(torch: Any) -> list[str]:
    """What is here, best first."""
    found = []
    if torch.cuda.is_available():
        found += ["cuda", *(f"cuda:{at}" for at in range(torch.cuda.device_count()))]
    if torch.backends.mps.is_available():
        found.append("mps")
    return [*found, "cpu"]


def choose_dtype(name: Dtype, device: str, *, extra: str) -> Any:
    """The torch.dtype of that name; auto: bfloat16 on cuda, float32 elsewhere."""
    if name == "auto":
        name = "bfloat16" if device.startswith("cuda") else "float32"
    return getattr(_torch(extra), name)


def is_exact(name: Dtype, device: str | None) -> bool:
    """Does the same request give the same bytes in each batch? On a CPU in float32 it does.

    Kernels of other devices and types choose their order of summing by the batch. Nothing is
    imported: None, a device still to be chosen, is not exact.
    """
    return device == "cpu" and name in ("auto", "float32")


def seed_generator(seed: int) -> Any:
    """A torch.Generator of one request. On the CPU, so that noise is the same on each device."""
    import torch

    return torch.Generator(device="cpu").manual_seed(seed)


def release(device: str | None) -> None:
    """Gives back memory that torch holds and nobody uses."""
    import gc

    gc.collect()
    if device is None:
        return
    import torch

    if device.startswith("cuda"):
        torch.cuda.empty_cache()
    elif device == "mps":
        torch.mps.empty_cache()


class MemoryWatch:
    """Peak device memory while it is open, by torch's allocator and by NVML.

    The allocator knows tensors alone; NVML also counts the context and what other libraries took,
    but only when it is asked, so a thread asks it. Use as `with MemoryWatch(device) as watch`.
    """

    def __init__(self, device: str, *, every_s: float = WATCH_S) -> None:
        self._device = device
        self._every_s = every_s
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._nvml_peak = 0

    def __enter__(self) -> MemoryWatch:
        if self._device.startswith("cuda"):
            import torch

            torch.cuda.reset_peak_memory_stats(self._device)
            self._thread = threading.Thread(target=self._watch, daemon=True, name="nvml")
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def facts(self) -> Mapping[str, int | None]:
        """Bytes: allocator_peak, allocator_reserved_peak, nvml_process_peak; None: not known."""
        found: dict[str, int | None] = dict.fromkeys(
            ("allocator_peak", "allocator_reserved_peak", "nvml_process_peak")
        )
        if self._device.startswith("cuda"):
            import torch

            found["allocator_peak"] = int(torch.cuda.max_memory_allocated(self._device))
            found["allocator_reserved_peak"] = int(torch.cuda.max_memory_reserved(self._device))
            found["nvml_process_peak"] = self._nvml_peak or None
        elif self._device == "mps":  # no peak is kept: what the driver holds now
            import torch

            found["allocator_reserved_peak"] = int(torch.mps.driver_allocated_memory())
        return found

    def _watch(self) -> None:
        try:
            import pynvml
        except ImportError:
            return
        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError:
            return
        try:
            handle = pynvml.nvmlDeviceGetHandleByUUID(_uuid(self._device))
            while True:
                self._nvml_peak = max(self._nvml_peak, _of_process(pynvml, handle))
                if self._over.wait(self._every_s):
                    return
        except pynvml.NVMLError:
            return
        finally:
            pynvml.nvmlShutdown()


def _uuid(device: str) -> str:
    """NVML counts all devices, torch those of CUDA_VISIBLE_DEVICES: the id is common to both."""
    import torch

    return f"GPU-{torch.cuda.get_device_properties(device).uuid}"


def _of_process(pynvml: Any, handle: Any) -> int:
    """Bytes that this process holds; 0 where a container hides process ids."""
    running = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    return sum(entry.usedGpuMemory or 0 for entry in running if entry.pid == os.getpid())


def _torch(extra: str) -> Any:
    try:
        import torch
    except ImportError as exc:
        raise MissingExtra(extra) from exc
    return torch
