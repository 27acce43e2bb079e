"""The hooks a plugin may implement: each returns name -> "package.module:Object".

A plugin is a distribution with one entry point in the group `vgen_eval` whose value names a
top-level package. Its cards lie in `<package>/cards/**.yaml` and are found without importing it;
the hooks below are looked up in the package itself (`<package>/__init__.py`), and the objects
they name are imported only when a run needs them.
"""

from __future__ import annotations

from collections.abc import Mapping

import pluggy

__all__ = ["HOOKS", "hookimpl", "hookspec"]

hookspec = pluggy.HookspecMarker("vgen_eval")
hookimpl = pluggy.HookimplMarker("vgen_eval")


@hookspec
def vgen_adapters() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Adapters: classes that drive one kind of model (`vgen_eval.types.Adapter`)."""


@hookspec
def vgen_datasets() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Readers of data layouts (`vgen_eval.types.Dataset`)."""


@hookspec
def vgen_decoders() -> Mapping[str, str]:  # type: ignore[empty-body]
    """answer -> prediction (`vgen_eval.types.Decoder`); failure values are decoders too."""


@hookspec
def vgen_encoders() -> Mapping[str, str]:  # type: ignore[empty-body]
    """target -> ideal answer (`vgen_eval.types.Encoder`)."""


@hookspec
def vgen_metrics() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Metrics: update, merge, compute (`vgen_eval.types.Metric`)."""


@hookspec
def vgen_judges() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Ways of judging: what a model is asked about an answer (`vgen_eval.judging.Judge`)."""


@hookspec
def vgen_importers() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Readers of predictions that another program wrote."""


@hookspec
def vgen_exporters() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Writers of runs in other formats (`vgen_eval.exporting.Exporter`)."""


@hookspec
def vgen_views() -> Mapping[str, str]:  # type: ignore[empty-body]
    """What is shown of a sample, by what its metrics measure (`vgen_eval.viewing.View`)."""


HOOKS: Mapping[str, str] = {
    "adapter": "vgen_adapters",
    "dataset": "vgen_datasets",
    "decoder": "vgen_decoders",
    "encoder": "vgen_encoders",
    "metric": "vgen_metrics",
    "judge": "vgen_judges",
    "importer": "vgen_importers",
    "exporter": "vgen_exporters",
    "view": "vgen_views",
}
"""Kind of component -> the hook that names such components."""
