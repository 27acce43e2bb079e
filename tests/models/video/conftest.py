"""Tiny image-to-video pipelines, built once a session, re-loaded by path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("diffusers")
pytest.importorskip("av")
pytest.importorskip("ftfy")

from vgen_eval_plugins.standins import tiny_videos
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
def tiny_films_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("films")


@pytest.fixture(scope="session")
def tiny_wan(tiny_films_folder: Path) -> Path:
    """As Wan 2.2: two denoisers, sides of 16n, frames of 4n + 1."""
    return tiny_videos.build_wan(tiny_films_folder / "wan")


@pytest.fixture(scope="session")
def tiny_ltx(tiny_films_folder: Path) -> Path:
    """As LTX-Video: told its frame rate; its own index names a class without a first frame."""
    return tiny_videos.build_ltx(tiny_films_folder / "ltx")


@pytest.fixture(scope="session")
def tiny_cogvideox(tiny_films_folder: Path) -> Path:
    """As CogVideoX: one size, one number of frames."""
    return tiny_videos.build_cogvideox(tiny_films_folder / "cogvideox")
