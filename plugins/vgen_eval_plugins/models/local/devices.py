"""Which device and number type a local model runs with, its seeds, its memory."""

from __future__ import annotations

from typing import Any, Literal

from vgen_eval.errors import MissingExtra, NotRunnable, UsageError

__all__ = [
    "SEEDS",
    "Dtype",
    "choose_device",
    "choose_dtype",
    "is_exact",
    "release",
    "seed_generator",
]

Dtype = Literal["auto", "bfloat16", "float16", "float32"]
SEEDS = 1 << 64
"""So many different seeds torch knows."""
KINDS = ("cuda", "mps", "cpu")


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
    """A torch.Generator of one request. On the CPU, so that noise is the same on each device.

    A seed beyond 64 bits, which torch does not take, counts by its last 64.
    """
    import torch

    return torch.Generator(device="cpu").manual_seed(seed % SEEDS)


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


def _torch(extra: str) -> Any:
    try:
        import torch
    except ImportError as exc:
        raise MissingExtra(extra) from exc
    return torch
