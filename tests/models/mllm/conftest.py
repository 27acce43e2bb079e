"""Tiny multimodal models, each built once, and loaded once where a test changes nothing of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("transformers")

from mllmkit import load
from vgen_eval_plugins.models.mllm.adapter import TransformersMLLM
from vgen_eval_plugins.standins.tiny_mllms import BUILDERS
from vgen_eval_plugins.standins.vision_ops import mend_torchvision

Folder = Callable[..., Path]
Adapter = Callable[..., TransformersMLLM]


@pytest.fixture(scope="session", autouse=True)
def few_threads() -> None:
    """Two cores are shared; torchvision is mended before anything imports it."""
    import torch

    torch.set_num_threads(1)
    mend_torchvision()


@pytest.fixture(scope="session")
def tiny_mllm(tmp_path_factory: pytest.TempPathFactory, few_threads: None) -> Folder:
    """Folder of the tiny model of that family."""
    made: dict[Any, Path] = {}

    def build(name: str, **more: Any) -> Path:
        key = (name, *sorted(more.items()))
        if key not in made:
            made[key] = BUILDERS[name](tmp_path_factory.mktemp(name), **more)
        return made[key]

    return build


@pytest.fixture(scope="session")
def tiny_adapter(tiny_mllm: Folder) -> Adapter:
    """The adapter on a tiny model, loaded on the CPU with those options."""
    loaded: dict[Any, TransformersMLLM] = {}

    def get(name: str, **options: Any) -> TransformersMLLM:
        key = (name, *sorted(options.items()))
        if key not in loaded:
            loaded[key] = load(tiny_mllm(name), **options)
        return loaded[key]

    return get
