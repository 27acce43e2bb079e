"""Predictions that no program of ours made: people's answers."""

from __future__ import annotations

IMPORTERS = {"human": "vgen_eval_plugins.importers.human:Human"}
