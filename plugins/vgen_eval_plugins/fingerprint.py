"""What tells one state of somebody's files from another, on any machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from vgen_eval_plugins.files import File

__all__ = ["MOST_BYTES", "digest_files", "sample_files"]

MOST_BYTES = 1 << 29
"""Sum of sizes up to which files are read whole."""
BLOCK = 1 << 16
THREADS = 4
FILES_A_TASK = 64


def digest_files(
    manifest: bytes, files: Mapping[str, File], pinned: Iterable[str], *, most: int = MOST_BYTES
) -> str:
    """sha256 over the manifest and the files that it names; times and folders do not count.

    Files are read whole while all of them together have at most `most` bytes; beyond that each
    counts by its size and its first, middle and last 64 KiB. `pinned` files, whose sha256 the
    manifest gives, are not read: loading them checks it.
    """
    kept = set(pinned)
    loose = {name: file for name, file in files.items() if name not in kept}
    whole = sum(file.size for file in loose.values()) <= most
    digest = hashlib.sha256(manifest)
    names = sorted(loose)
    # many files a task: to hand over one takes as long as to read a small one
    parts = [names[at : at + FILES_A_TASK] for at in range(0, len(names), FILES_A_TASK)]
    with ThreadPoolExecutor(THREADS) as pool:
        marks = pool.map(lambda part: [_mark(loose[name], whole=whole) for name in part], parts)
        for part, found in zip(parts, marks, strict=True):
            for name, mark in zip(part, found, strict=True):
                digest.update(f"\n{name}\n{loose[name].size}\n{mark}".encode())
    return digest.hexdigest()


def sample_files(files: Mapping[str, File], *, block: int = 1 << 12) -> str:
    """sha256 over names, sizes and the first, middle and last 4 KiB: for official releases.

    They are too large to be read whole at every start, and nobody edits a pixel of them.
    """
    digest = hashlib.sha256()
    names = sorted(files)
    parts = [names[at : at + FILES_A_TASK] for at in range(0, len(names), FILES_A_TASK)]
    with ThreadPoolExecutor(THREADS) as pool:
        marks = pool.map(
            lambda part: [_mark(files[name], whole=False, block=block) for name in part], parts
        )
        for part, found in zip(parts, marks, strict=True):
            for name, mark in zip(part, found, strict=True):
                digest.update(f"{name}\n{files[name].size}\n{mark}\n".encode())
    return digest.hexdigest()


def _mark(file: File, *, whole: bool, block: int = BLOCK) -> str:
    digest = hashlib.sha256()
    with open(file.path, "rb", buffering=0) as stream:  # noqa: PTH123
        for start in _starts(file.size, whole=whole, block=block):
            stream.seek(start)
            digest.update(stream.read(block))
    return digest.hexdigest()


def _starts(size: int, *, whole: bool, block: int) -> Iterator[int]:
    if whole or size <= 3 * block:
        return iter(range(0, max(size, 1), block))
    return iter((0, size // 2 - block // 2, size - block))
