"""Numbers in files that people and other programs wrote."""

from __future__ import annotations

import math
import re
from typing import Any

__all__ = ["read_number"]

# float() takes '1_0', 'infinity' and digits of every script, too: in a table they are slips
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)


def read_number(value: object) -> float | None:
    """A finite number, or the text of one; None for anything else, `True` and `nan` among it."""
    found: Any = value.strip() if isinstance(value, str) else value
    if isinstance(found, str):
        if _NUMBER.fullmatch(found) is None:
            return None
    elif isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        number = float(found)
    except OverflowError:  # a whole number of 400 digits
        return None
    return number if math.isfinite(number) else None
