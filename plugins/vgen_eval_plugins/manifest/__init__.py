"""Anyone's own data: pictures and truths in a folder, one line of a manifest a sample."""

from __future__ import annotations

DATASETS = {"manifest": "vgen_eval_plugins.manifest.reader:Manifest"}
