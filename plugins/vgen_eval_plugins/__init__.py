"""The built-in plugin: every room's components, reached by the same hooks as anyone's."""

from __future__ import annotations

from collections.abc import Mapping

from vgen_eval.hookspecs import hookimpl

from vgen_eval_plugins import (
    baselines,
    counting,
    datasets,
    depth,
    exporters,
    manifest,
    models,
    normals,
    samples,
    segmentation,
    semantic,
)

_ROOMS = (
    counting, segmentation, baselines, samples, semantic, depth, normals, manifest, datasets,
    models, exporters,
)  # fmt: skip


def _gather(kind: str) -> Mapping[str, str]:
    return {name: target for room in _ROOMS for name, target in getattr(room, kind, {}).items()}


@hookimpl
def vgen_adapters() -> Mapping[str, str]:
    """The baselines, and what drives models that learned."""
    return _gather("ADAPTERS")


@hookimpl
def vgen_datasets() -> Mapping[str, str]:
    """Readers of the built-in samples."""
    return _gather("DATASETS")


@hookimpl
def vgen_decoders() -> Mapping[str, str]:
    """Decoders and failure values of the families."""
    return _gather("DECODERS")


@hookimpl
def vgen_encoders() -> Mapping[str, str]:
    """Encoders of the families."""
    return _gather("ENCODERS")


@hookimpl
def vgen_metrics() -> Mapping[str, str]:
    """Metrics of the families."""
    return _gather("METRICS")


@hookimpl
def vgen_exporters() -> Mapping[str, str]:
    """Formats that others read."""
    return _gather("EXPORTERS")
