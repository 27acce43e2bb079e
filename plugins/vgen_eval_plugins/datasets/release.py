"""A public release on disk: finding its files, reading them, telling what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from vgen_eval.errors import BadSample, MissingData, Problem, Undecodable, VgenEvalError
from vgen_eval.imaging import MAX_BYTES, read_bytes
from vgen_eval.types import Item

from vgen_eval_plugins.files import File, Folder
from vgen_eval_plugins.fingerprint import sample_files

__all__ = ["Release"]

THREADS = 4


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

    def read_index(self, name: str, *, cure: str | None = None, limit: int = MAX_BYTES) -> bytes:
        """The bytes of a file that all samples hang on; MissingData when they cannot be had."""
        try:
            return read_bytes(Path(self._folder.find(name).path), limit=limit)
        except (ValueError, Undecodable) as exc:
            reason = exc.what if isinstance(exc, Undecodable) else str(exc)
            raise MissingData(f"{self.title}: {reason}", cure=cure) from exc

    def look(self, names: Mapping[str, Sequence[str]]) -> list[Problem]:
        """Files that are missing or empty, of sample id -> names; none is opened."""
        found = []
        for sample, files in names.items():
            for name in files:
                try:
                    empty = self._folder.find(name).size == 0
                except ValueError as exc:
                    found.append(Problem(str(exc), file=str(self.root / name), path=sample))
                else:
                    if empty:
                        file = str(self.root / name)
                        found.append(Problem("is empty", file=file, path=sample))
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
        for name in names:
            try:
                files[name] = self._folder.find(name)
            except ValueError:
                continue
        return sample_files(files)
