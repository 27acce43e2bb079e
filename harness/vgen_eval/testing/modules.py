"""Importing the modules of a plugin, each with all that shows of it measured."""

from __future__ import annotations

import importlib
import sys
import time
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from vgen_eval.testing.child import Printed

__all__ = ["HEAVIEST", "HEAVY", "Imported", "import_measured"]

HEAVIEST = (
    "torch", "torchvision", "tensorflow", "keras", "jax", "flax", "transformers", "diffusers",
    "accelerate", "vllm", "onnxruntime", "mediapipe", "openai", "anthropic", "google.genai", "ray",
)  # fmt: skip
"""Libraries of seconds and gigabytes: no module that a hook names loads them when imported, since
`check`, `list` and every run that reads a card of the plugin imports it."""
HEAVY = (
    *HEAVIEST, "cv2", "skimage", "scipy", "sklearn", "pandas", "matplotlib", "av",
)  # fmt: skip
"""Libraries that importing the package itself must not load either: whoever uses one part of it
pays for them."""


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What importing one module came to."""

    module: str
    cpu_s: float
    wall_s: float
    said: str
    """What it printed."""
    heavy: tuple[str, ...]
    """Heavy libraries that came with it."""
    fault: BaseException | None = None


def import_measured(module: str, printed: Printed, *, heavy: tuple[str, ...]) -> Imported:
    """Imports a module; what it raises is kept, whatever it is."""
    before, start = set(sys.modules), printed.size()
    wall, cpu = time.perf_counter(), time.process_time()
    fault = None
    try:
        importlib.import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as exc:  # foreign code: it may call sys.exit, or raise what it likes
        fault = exc
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    printed.size()
    return Imported(
        module=module,
        cpu_s=cpu,
        wall_s=wall,
        said=printed.text(start).strip(),
        heavy=tuple(name for name in heavy if name in sys.modules and name not in before),
        fault=fault,
    )
