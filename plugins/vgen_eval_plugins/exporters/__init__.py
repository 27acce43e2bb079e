"""Result cards and per-sample scores in the formats that others read."""

from __future__ import annotations

EXPORTERS = {
    "every-eval-ever": "vgen_eval_plugins.exporters.every_eval_ever:EveryEvalEver",
    "csv": "vgen_eval_plugins.exporters.tables:Csv",
    "parquet": "vgen_eval_plugins.exporters.tables:Parquet",
    "hf-eval-results": "vgen_eval_plugins.exporters.hub:HubResults",
}
