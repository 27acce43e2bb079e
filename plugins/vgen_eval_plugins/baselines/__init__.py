"""Baselines: the ceiling, the floor, a copy, a classical method, and one that fails on purpose."""

from __future__ import annotations

_HERE = "vgen_eval_plugins.baselines"

ADAPTERS = {
    "oracle": f"{_HERE}.oracle:Oracle",
    "blind": f"{_HERE}.blind:Blind",
    "copy": f"{_HERE}.copying:Copy",
    "classical": f"{_HERE}.classical:Classical",
    "flaky": f"{_HERE}.flaky:Flaky",
}
