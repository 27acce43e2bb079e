"""What a folder of a model is known by, and which weights are refused."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from vgen_eval.errors import NotRunnable
from vgen_eval_plugins.models.local.folders import digest_folder, refuse_pickles


def make(folder: Path, *, seed: int = 0, size: int = 100_000, name: str = "a") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text('{"layers": 1}')
    weights = np.random.default_rng(seed).normal(size=size).astype(np.float32)
    save_file({name: weights}, folder / "model.safetensors")
    return folder


def test_equal_contents_are_equal_wherever_they_lie(tmp_path: Path) -> None:
    first, second = make(tmp_path / "a"), make(tmp_path / "b")
    assert digest_folder(first) == digest_folder(second)
    assert digest_folder(first) == digest_folder(first / "." / ".." / "a")
    (second / "notes.md").write_text("words")
    (second / ".git").mkdir()
    (second / ".git" / "config.json").write_text("{}")
    assert digest_folder(first) == digest_folder(second)


def test_any_configuration_header_size_or_training_makes_another(tmp_path: Path) -> None:
    plain = digest_folder(make(tmp_path / "a"))
    others = {
        digest_folder(make(tmp_path / "b", seed=1)),
        digest_folder(make(tmp_path / "c", name="b")),
        digest_folder(make(tmp_path / "d", size=100_001)),
    }
    changed = make(tmp_path / "e")
    (changed / "config.json").write_text('{"layers": 2}')
    moved = make(tmp_path / "f")
    (moved / "config.json").rename(moved / "other.json")
    others |= {digest_folder(changed), digest_folder(moved)}
    assert len(others | {plain}) == 6


def test_a_model_of_a_few_bytes_is_read_to_its_end(tmp_path: Path) -> None:
    first, second = make(tmp_path / "a", size=3), make(tmp_path / "b", size=3, seed=1)
    assert digest_folder(first) != digest_folder(second)


def test_a_link_counts_as_what_it_points_to(tmp_path: Path) -> None:
    plain = make(tmp_path / "a")
    linked = tmp_path / "b"
    linked.mkdir()
    for path in plain.iterdir():
        (linked / path.name).symlink_to(path)
    assert digest_folder(linked) == digest_folder(plain)


def test_a_linked_folder_counts_and_one_within_itself_ends(tmp_path: Path) -> None:
    plain, elsewhere = make(tmp_path / "a"), tmp_path / "elsewhere"
    make(plain / "unet")
    whole = digest_folder(plain)
    (plain / "unet").rename(elsewhere)
    (plain / "unet").symlink_to(elsewhere)
    assert digest_folder(plain) == whole
    (elsewhere / "config.json").write_text('{"layers": 2}')
    changed = digest_folder(plain)
    assert changed != whole
    (plain / "again").symlink_to(plain)
    assert digest_folder(plain) == changed


def test_a_pipe_is_no_part_of_a_model(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    plain = digest_folder(folder)
    os.mkfifo(folder / "pipe.json")
    assert digest_folder(folder) == plain


BOMB = (1 << 60).to_bytes(8, "little") + b"{}"
"""A safetensors header of an exabyte."""


@pytest.mark.parametrize("data", [b"", b"\x01", b"version https://git-lfs", b"\xff" * 64, BOMB])
def test_weights_that_are_no_safetensors_are_named(tmp_path: Path, data: bytes) -> None:
    folder = make(tmp_path / "a")
    (folder / "model.safetensors").write_bytes(data)
    with pytest.raises(NotRunnable, match="is no safetensors file") as caught:
        digest_folder(folder)
    assert "fetch it again" in str(caught.value.cure)


def test_a_folder_that_holds_no_model_or_a_dangling_link_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotRunnable, match="holds no configuration"):
        digest_folder(tmp_path)
    with pytest.raises(NotRunnable, match="cannot be read"):
        digest_folder(tmp_path / "none")
    folder = make(tmp_path / "a")
    (folder / "other.json").symlink_to(tmp_path / "nowhere")
    with pytest.raises(NotRunnable, match=r"other\.json cannot be read"):
        digest_folder(folder)


def test_pickles_are_refused_where_weights_are_wanted_and_alone(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    (folder / "training_args.bin").write_bytes(b"x")
    refuse_pickles(folder)
    part = folder / "unet"
    part.mkdir()
    (part / "model.bin").write_bytes(b"x")
    refuse_pickles(folder)
    refuse_pickles(folder, parts=["none"])
    with pytest.raises(NotRunnable, match=r"unet holds pickled weights only \(\.bin\)") as caught:
        refuse_pickles(folder, parts=["unet"])
    assert "safetensors" in str(caught.value.cure)
