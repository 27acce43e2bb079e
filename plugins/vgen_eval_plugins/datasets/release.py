"""A public release on disk: finding its files, reading them, telling what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, MissingData, Problem, Undecodable, VgenEvalError
from vgen_eval.imaging import MAX_BYTES, decode_image, read_bytes
from vgen_eval.types import Item

from vgen_eval_plugins.files import File, Folder
from vgen_eval_plugins.fingerprint import sample_files

__all__ = ["WHERE", "Release", "parse_json", "picture_name"]

WHERE = "vgen-eval data list says where the files come from and how they lie"
"""The cure for a release that is not there, or is another."""

THREADS = 4

Found = TypeVar("Found")


BOM = b"\xef\xbb\xbf"


def parse_json(data: bytes, parse: Callable[[bytes], Found]) -> Found:
    """What `parse` makes of a file's bytes without the mark that some editors begin files with.

    ValueError where it is none, or is nested so deep that no such file is.
    """
    try:
        return parse(data.removeprefix(BOM))
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def picture_name(told: str) -> str:
    """The name of a picture as it is written in a list: `./a//b.png ` is `a/b.png`."""
    name = told.strip()
    return PurePosixPath(name).as_posix() if name else ""


class Release:
    """The folder that a data set was unpacked into; names in it have forward slashes."""

    def __init__(self, root: Path | None, *, title: str) -> None:
        """`title`: what people call the data set. MissingData when the card names no folder."""
        if root is None:
            raise MissingData(
                f"{title} lies in a folder of its own", cure="give the card's dataset a root"
            )
        self.root = root
        self.title = title
        self._folder = Folder(root)

    def has(self, name: str) -> bool:
        """Is there a file or a folder of this name?"""
        return (self.root / name).exists()

    def first(self, names: Sequence[str]) -> str:
        """Of the names that a file or a folder may have, the one that is there, else the first."""
        return next((name for name in names if self.has(name)), names[0])

    def scan(self, folder: str, pattern: str, *, told: str | None = None) -> list[Path]:
        """What lies below a folder, sorted; MissingData when nothing does.

        `told`: the pattern in the words of the release, for that message.
        """
        found = sorted((self.root / folder).glob(pattern))
        if not found:
            raise MissingData(
                f"{self.title}: {self.root / folder} holds no {told or pattern}", cure=WHERE
            )
        return found

    def find(self, name: str) -> File:
        """The file; BadSample, with the reason, when it is not there or leads out of the folder."""
        try:
            return self._folder.find(name)
        except ValueError as exc:
            raise BadSample(str(exc)) from exc

    def read(self, name: str, *, limit: int = MAX_BYTES) -> bytes:
        """Its bytes, for one sample; BadSample when they cannot be had."""
        try:
            return read_bytes(Path(self.find(name).path), limit=limit)
        except Undecodable as exc:
            raise BadSample(f"{self.root / name}: {exc.what}") from exc

    def decode(self, name: str, decoder: Callable[..., Found], **options: Any) -> Found:
        """What decoder(bytes, what=name) makes of it, for one sample; BadSample, naming it."""
        try:
            return decoder(self.read(name), what=name, **options)
        except Undecodable as exc:
            raise BadSample(f"{self.root}: {exc.what}") from exc

    def picture(self, name: str) -> NDArray[np.uint8]:
        """uint8 (H, W, 3); BadSample, naming the file, when it is faulty."""
        return self.decode(name, decode_image)

    def read_index(self, name: str, *, cure: str | None = None, limit: int = MAX_BYTES) -> bytes:
        """The bytes of a file that all samples hang on; MissingData when they cannot be had."""
        try:
            return read_bytes(Path(self._folder.find(name).path), limit=limit)
        except (ValueError, Undecodable) as exc:
            reason = exc.what if isinstance(exc, Undecodable) else str(exc)
            raise MissingData(f"{self.title}: {reason}", cure=cure) from exc

    def parse_index(
        self, name: str, parse: Callable[[bytes], Found], *, limit: int = MAX_BYTES
    ) -> Found:
        """What such a file says; MissingData when `parse` raises ValueError, as msgspec does."""
        data = self.read_index(name, cure=WHERE, limit=limit)
        try:
            return parse_json(data, parse)
        except ValueError as exc:
            raise MissingData(f"{self.title}: {self.root / name}: {exc}", cure=WHERE) from exc

    def look(self, names: Mapping[str, Sequence[str]]) -> list[Problem]:
        """Files that are missing or empty, of sample id -> names; none is opened."""
        found = []
        for sample, files in names.items():
            for name in files:
                try:
                    fault = None if self._folder.find(name).size else "is empty"
                except ValueError as exc:
                    fault = str(exc)
                if fault is not None:
                    found.append(Problem(fault, file=str(self.root / name), path=sample))
        return found

    def verify(self, items: Sequence[Item], load: Callable[[Item], object]) -> list[Problem]:
        """Every fault that loading these samples shows."""

        def fault(item: Item) -> Problem | None:
            try:
                load(item)
            except (VgenEvalError, ValueError, OSError, MemoryError) as exc:
                message = getattr(exc, "what", None) or str(exc) or type(exc).__name__
                return Problem(message, file=str(self.root), path=item.id)
            return None

        with ThreadPoolExecutor(THREADS) as pool:
            return [problem for problem in pool.map(fault, items) if problem is not None]

    def fingerprint(self, names: Iterable[str]) -> str:
        """A digest of these files, those that are not there left out."""
        files = {}
        for name in dict.fromkeys(names):
            try:
                files[name] = self._folder.find(name)
            except ValueError:
                continue
        return sample_files(files)
