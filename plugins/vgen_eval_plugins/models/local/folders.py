"""What a checkpoint's folder holds: a digest that knows it again, and weights that are refused."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from vgen_eval.errors import NotRunnable

__all__ = ["digest_file", "digest_folder", "refuse_pickles"]

WORDS = (".json", ".txt", ".jinja", ".model", ".py", ".yaml", ".yml", ".tiktoken")
"""Configurations, tokenizers and code: read whole."""
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
HEADER_LIMIT = 100_000_000
"""Bytes; the format's own limit of a header."""
CHUNK = 1 << 20
SPOTS, SPOT = 16, 4096
"""Bytes are looked at in so many spots of each weight file, beside its header and size."""


def digest_folder(folder: Path) -> str:
    """sha256 over a model's folder, wherever it lies.

    Configurations, tokenizers and code are read whole; of weights the safetensors header, the
    size and 16 spots of 4 KiB, so that another training of one architecture is told apart without
    reading 60 GB. Hidden files, pictures and pickles do not count. NotRunnable when a file cannot
    be read or is no safetensors file.
    """
    entries = [
        f"{path.relative_to(folder).as_posix()}\0{digest_file(path)}\n"
        for path in _files(folder)
        if path.suffix in (*WORDS, ".safetensors")
    ]
    if not entries:
        raise NotRunnable(
            f"{folder} holds no configuration and no safetensors weights",
            cure="name the folder that save_pretrained wrote, or a snapshot of the hub",
        )
    return hashlib.sha256("".join(sorted(entries)).encode()).hexdigest()


def digest_file(path: Path) -> str:
    """sha256 of one file of a model, its weights by header, size and spots."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            if path.suffix == ".safetensors":
                for part in _weights(file, path):
                    digest.update(part)
            else:
                while part := file.read(CHUNK):
                    digest.update(part)
    except OSError as exc:
        raise NotRunnable(f"{path} cannot be read: {exc.strerror}") from exc
    return digest.hexdigest()


def _weights(file: BinaryIO, path: Path) -> Iterator[bytes]:
    size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(8), "little")
    header = file.read(length) if length <= min(HEADER_LIMIT, size - 8) else b""
    if not header.startswith(b"{"):
        raise NotRunnable(
            f"{path} is no safetensors file", cure="fetch it again: it may be a pointer, or cut off"
        )
    yield header
    yield size.to_bytes(8, "little")
    start = 8 + length
    for at in range(SPOTS):
        file.seek(start + max(0, size - start - SPOT) * at // (SPOTS - 1))
        yield file.read(SPOT)


def refuse_pickles(folder: Path, *, parts: Iterable[str] = ("",)) -> None:
    """NotRunnable when a part of the model has pickled weights and no safetensors beside them.

    `parts`: the folders below that hold weights; "" is the folder itself. Unpickling runs code of
    whoever wrote the file.
    """
    for part in parts:
        place = folder / part
        if not place.is_dir():
            continue
        try:
            kinds = {path.suffix for path in place.iterdir() if path.is_file()}
        except OSError as exc:
            raise NotRunnable(f"{place} cannot be read: {exc.strerror}") from exc
        pickled = sorted(kinds & set(PICKLES))
        if pickled and ".safetensors" not in kinds:
            raise NotRunnable(
                f"{place} holds pickled weights only ({', '.join(pickled)}), which run code "
                "when they are read",
                cure="save them as safetensors (model.save_pretrained(FOLDER)), or name a "
                "revision that has them",
            )


def _files(folder: Path) -> Iterator[Path]:
    """Every file below, hidden ones, pipes and devices left out.

    Links are followed, to files as in hub snapshots and to folders: what lies behind them is
    loaded. A folder within itself is gone through once.
    """

    def fail(exc: OSError) -> None:
        raise NotRunnable(f"{exc.filename} cannot be read: {exc.strerror}") from exc

    for here, folders, names in os.walk(folder, onerror=fail, followlinks=True):
        above = {os.path.realpath(place) for place in _way(folder, Path(here))}
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and os.path.realpath(Path(here) / name) not in above
        )
        paths = (Path(here) / name for name in sorted(names) if not name.startswith("."))
        yield from (path for path in paths if path.is_file() or not path.exists())


def _way(top: Path, place: Path) -> list[Path]:
    """The folders from the top to the place, both among them."""
    parts = place.relative_to(top).parts
    return [top.joinpath(*parts[:count]) for count in range(len(parts) + 1)]
