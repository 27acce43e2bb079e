"""Where the harness lies, and the type of the `vgen` fixture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import vgen_eval

if TYPE_CHECKING:
    import subprocess

__all__ = ["HARNESS", "ROOT", "Command"]

HARNESS = Path(vgen_eval.__file__).parents[1]
ROOT = HARNESS.parent

Command = Callable[..., "subprocess.CompletedProcess[str]"]
