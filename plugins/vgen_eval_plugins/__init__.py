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
    importers,
    manifest,
    models,
    normals,
    samples,
    segmentation,
    semantic,
    video,
)
from vgen_eval_plugins.quality import assessment, classic, description, perception
from vgen_eval_plugins.video import puzzles, vgi

_ROOMS = (
    counting, segmentation, baselines, samples, semantic, depth, normals, manifest, datasets,
    models, exporters, importers, assessment, perception, description, classic, video, puzzles, vgi,
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
def vgen_judges() -> Mapping[str, str]:
    """Ways of judging."""
    return _gather("JUDGES")


@hookimpl
def vgen_importers() -> Mapping[str, str]:
    """Readers of predictions that other programs wrote."""
    return _gather("IMPORTERS")


@hookimpl
def vgen_exporters() -> Mapping[str, str]:
    """Formats that others read."""
    return _gather("EXPORTERS")


@hookimpl
def vgen_views() -> Mapping[str, str]:
    """What the families show of a sample."""
    return _gather("VIEWS")
