"""Tiny editing pipelines, built once a session, re-loaded by path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from vgen_eval_plugins.standins import tiny_editors
from vgen_eval_plugins.standins.vision_ops import mend_torchvision


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """diffusers' schedulers make arrays of tensors in a way that NumPy 2 warns of."""
    warned = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(warned)


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    """Small sums gain nothing from threads, and torchvision must import beside this torch."""
    mend_torchvision()
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def tiny_editors_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("editors")


@pytest.fixture(scope="session")
def tiny_pix2pix(tiny_editors_folder: Path) -> Path:
    """An InstructPix2Pix: a batch of edits, no size."""
    return tiny_editors.build_instruct_pix2pix(tiny_editors_folder / "pix2pix")


@pytest.fixture(scope="session")
def tiny_klein(tiny_editors_folder: Path) -> Path:
    """A Flux2Klein: several references, packed latents, a size."""
    return tiny_editors.build_flux2_klein(tiny_editors_folder / "klein")


@pytest.fixture(scope="session")
def tiny_qwen(tiny_editors_folder: Path) -> Path:
    """A QwenImageEditPlus: several references, packed latents of a VAE of films."""
    return tiny_editors.build_qwen_edit_plus(tiny_editors_folder / "qwen")


@pytest.fixture(autouse=True)
def _small_qwen() -> Iterator[None]:
    with tiny_editors.small_qwen_pictures():
        yield
