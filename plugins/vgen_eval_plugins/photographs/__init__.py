"""Photographs that another installed package ships, with annotations that lie beside a card."""

from __future__ import annotations

DATASETS = {"photographs": "vgen_eval_plugins.photographs.reader:Photographs"}
