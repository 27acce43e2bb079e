"""The built-in samples: photographs that another package ships, and rendered scenes."""

from __future__ import annotations

DATASETS = {"samples": "vgen_eval_plugins.samples.reader:Samples"}
