"""The toy plugin and the helpers of the engine's tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from kit import toys

__all__ = ["toys"]
