"""Masks written once as JSON lines, so that a run parses no annotation file of hundreds of MB."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, MissingData, StorageError

from vgen_eval_plugins.datasets.release import Release
from vgen_eval_plugins.datasets.segments import pack_mask, unpack_mask

__all__ = ["Head", "PreparedMasks", "with_mask", "write_lines"]

FORMAT = "vgen-eval masks 1"


class Head(msgspec.Struct, frozen=True):
    """What a line says beside its mask; readers add fields of their own."""

    image: str
    """Below the folder of the pictures, with forward slashes."""
    size: tuple[int, int]
    """(height, width) in pixels."""
    area: int
    """Pixels of the mask."""


class _Mask(msgspec.Struct, frozen=True):
    counts: str


class _First(msgspec.Struct, frozen=True):
    format: str


class _Last(msgspec.Struct, frozen=True):
    end: int


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> int:
    """Writes entries as lines of JSON, one at a time, and returns how many.

    The file is whole or not there: it is written beside its place, synced and renamed, and its
    last line says how many there are. StorageError when the folder takes no file.
    """
    count = 0
    temporary: Path | None = None
    try:
        with tempfile.NamedTemporaryFile(
            "wb", prefix=f".{path.name}.", dir=path.parent, delete=False
        ) as file:
            temporary = Path(file.name)
            file.write(_line({"format": FORMAT}))
            for entry in lines:
                file.write(_line(entry))
                count += 1
            file.write(_line({"end": count}))
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)  # others may read what lies beside it, so they may read this
        temporary.replace(path)
    except OSError as exc:
        raise StorageError(f"{path} cannot be written: {exc.strerror or exc}") from exc
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
    return count


def with_mask(head: Head, mask: NDArray[np.bool_]) -> dict[str, Any]:
    """The entry of a mask."""
    entry: dict[str, Any] = msgspec.to_builtins(head)
    return entry | {"counts": pack_mask(mask)}


def _line(entry: Any) -> bytes:
    return msgspec.json.encode(entry) + b"\n"


class PreparedMasks:
    """Reads such a file: heads at once, their masks skipped, and one mask when it is asked for.

    `head`: what a line says; Head or a subclass, where lines hold masks.
    """

    def __init__(self, release: Release, name: str, head: type[Any], *, cure: str) -> None:
        self._release = release
        self._name = name
        self._head = head
        self._cure = cure
        self._digest = hashlib.sha256()

    @property
    def path(self) -> Path:
        """Where the file lies."""
        return self._release.root / self._name

    def heads(self, wanted: Callable[[Any], bool]) -> Iterator[tuple[Any, tuple[int, int]]]:
        """The lines that are wanted, each with its place (offset, bytes) in the file.

        MissingData when the file is not there, is cut off or is of another format.
        """
        if not self.path.is_file():
            raise MissingData(
                f"{self._release.title}: {self.path} was not made yet", cure=self._cure
            )
        decode = msgspec.json.Decoder(self._head).decode
        try:
            with self.path.open("rb") as file:
                first = msgspec.json.decode(file.readline(), type=_First)
                if first.format != FORMAT:
                    raise ValueError(f"its format is '{first.format}', not '{FORMAT}'")
                offset, seen, end = file.tell(), 0, -1
                for line in file:
                    if line.startswith(b'{"end":'):
                        end = msgspec.json.decode(line, type=_Last).end
                        break
                    try:
                        head = decode(line)
                    except ValueError as exc:
                        raise ValueError(f"line {seen + 2}: {exc}") from exc
                    seen += 1
                    if wanted(head):
                        self._digest.update(line)
                        yield head, (offset, len(line))
                    offset += len(line)
                if seen != end:
                    raise ValueError("it is cut off")
        except (OSError, ValueError) as exc:
            raise MissingData(
                f"{self._release.title}: {self.path} is no prepared file: {exc}", cure=self._cure
            ) from exc

    def mask(self, head: Head, place: tuple[int, int]) -> NDArray[np.bool_]:
        """bool (H, W) of one line; BadSample when the file changed under it."""
        try:
            with self.path.open("rb") as file:
                file.seek(place[0])
                line = file.read(place[1])
            if msgspec.json.decode(line, type=self._head) != head:
                raise ValueError("its lines have moved since the index was read")
            mask = unpack_mask(msgspec.json.decode(line, type=_Mask).counts, head.size)
        except (OSError, ValueError) as exc:
            raise BadSample(f"{self.path}: {exc}") from exc
        if np.count_nonzero(mask) != head.area:
            raise BadSample(f"{self.path}: the mask on {head.image} has not {head.area} pixels")
        return mask

    def fingerprint(self) -> str:
        """sha256 over the lines that were wanted, once all of them were read."""
        return self._digest.hexdigest()
