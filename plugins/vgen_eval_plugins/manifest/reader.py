"""Reads anyone's pictures and truths by a manifest: one JSON object a line, one line a sample."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from vgen_eval.drafts import Draft, DraftRequest
from vgen_eval.errors import BadSample, MissingData, Problem, Undecodable
from vgen_eval.imaging import Image, decode_image, load_exr_library, read_bytes
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.files import File, Folder
from vgen_eval_plugins.fingerprint import digest_files
from vgen_eval_plugins.manifest import options as read_as
from vgen_eval_plugins.manifest.lines import Line, read_lines
from vgen_eval_plugins.manifest.truths import leave_open, read_truth, read_valid
from vgen_eval_plugins.quality.perception.targets import OptionTarget
from vgen_eval_plugins.semantic.labels import present_fields

__all__ = ["Manifest"]

_MEASURES: Mapping[str, str] = {
    "depth": "depth", "normals": "normals", "mask": "mask", "labels": "labels",
    "count": "count", "points": "count",
    "score": "quality", "choice": "option", "answer": "answer",
}  # fmt: skip

THREADS = min(8, os.cpu_count() or 1)


class Manifest:
    """Pictures and truths that a manifest names, below the data root or beside the card."""

    version: ClassVar[int] = 4
    Options: ClassVar[type[msgspec.Struct]] = read_as.Options

    def __init__(self, options: read_as.Options, *, root: Path | None, folder: Path) -> None:
        """`root`: the folder of the data; where it is None they lie in the card's `folder`."""
        self.options = options
        self._folder = Folder(folder if root is None else root)

    @property
    def measures(self) -> str:
        """What the truth is, as the metrics name it."""
        return _MEASURES[self.options.target]

    @classmethod
    def draft(cls, request: DraftRequest) -> Draft:
        """Options and lines for a folder of pictures and truths; UsageError for what is unclear."""
        from vgen_eval_plugins.manifest.draft import make_draft

        return make_draft(request)

    def index(self) -> Sequence[Item]:
        """Every line, in the manifest's order; no picture is opened.

        CardError with all faults, each with its line; MissingData when there is no manifest;
        MissingExtra when the truths are EXR files and their library is not installed.
        """
        lines = [line for _, line in self._lines.values()]
        named = (getattr(line, self.options.target) for line in lines)
        if any(isinstance(name, str) and name.lower().endswith(".exr") for name in named):
            load_exr_library()
        return [
            Item(id=line.name, group=line.group or line.name, tags=_tags(line)) for line in lines
        ]

    def load(self, item: Item) -> Sample:
        """The pictures and the truth of a line; BadSample, naming the line, for faulty files."""
        numbered = self._lines.get(item.id)
        if numbered is None:
            raise BadSample(f"{self._file.path}: no sample '{item.id}'")
        try:
            return self._load(numbered[1])
        except (Undecodable, ValueError, OSError, MemoryError) as exc:
            raise BadSample(f"{self._file.path}:{numbered[0]}: {_reason(exc)}") from exc

    def verify(self, items: Sequence[Item]) -> list[Problem]:
        """Every fault of these samples' files, each with the line that names them."""

        def fault(item: Item) -> Problem | None:
            number, line = self._lines[item.id]
            try:
                self._load(line)
            except (Undecodable, ValueError, OSError, MemoryError) as exc:
                return Problem(_reason(exc), file=self._file.path, line=number, path=line.name)
            return None

        with ThreadPoolExecutor(THREADS) as pool:
            return [problem for problem in pool.map(fault, items) if problem is not None]

    def fingerprint(self) -> str:
        """sha256 over the manifest and the files that its lines name, see `digest_files`."""
        lines = [line for _, line in self._lines.values()]
        pinned = (name for line in lines for name in line.sha256)
        try:
            files = {name: self._folder.find(name) for line in lines for name in line.files}
            return digest_files(self._data, files, pinned)
        except (ValueError, OSError) as exc:  # gone, or not ours to read, since the index was made
            raise MissingData(f"{self._file.path}: {exc}") from exc

    @cached_property
    def _file(self) -> File:
        try:
            return self._folder.find(self.options.manifest)
        except ValueError as exc:
            raise MissingData(
                f"manifest: {exc}", cure="it lies in the data's folder, or beside the card"
            ) from exc

    @cached_property
    def _data(self) -> bytes:
        try:
            return Path(self._file.path).read_bytes()
        except OSError as exc:
            raise MissingData(f"manifest {self._file.path}: {exc.strerror}") from exc

    @cached_property
    def _lines(self) -> Mapping[str, tuple[int, Line]]:
        return read_lines(
            self._data,
            file=self._file.path,
            folder=self._folder,
            target=self.options.target,
            scores=self.options.score,
        )

    @cached_property
    def _scale(self) -> tuple[float, float]:
        """The ends of the scores' scale: those of the card, else of the scores themselves."""
        if self.options.target != "score":
            return 0.0, 1.0
        known = [line.score for _, line in self._lines.values() if line.score is not None]
        said = self.options.score
        low = min(known) if said.low is None else said.low
        high = max(known) if said.high is None else said.high
        return (low, high) if low < high else (low - 1, high + 1)

    def _load(self, line: Line) -> Sample:
        def read(name: str) -> bytes:
            return self._read(name, line)

        images = tuple(
            Image(decode_image(read(name), what=name, background=self.options.background))
            for name in line.pictures
        )
        size = (images[0].height, images[0].width)
        truth = read_truth(line, self.options, read, size, self._scale)
        valid = read_valid(line, read, size)
        target = leave_open(truth, valid)
        return Sample(
            id=line.name,
            group=line.group or line.name,
            images=images,
            target=target,
            valid=valid,
            fields={**present_fields(target), **line.texts},
            choices=tuple(target.options.values()) if isinstance(target, OptionTarget) else (),
            tags=_tags(line),
        )

    def _read(self, name: str, line: Line) -> bytes:
        data = read_bytes(Path(self._folder.find(name).path))
        wanted = line.sha256.get(name)
        if wanted is not None and hashlib.sha256(data).hexdigest() != wanted:
            raise ValueError(f"{name}: its sha256 is not the one that the manifest gives")
        return data


def _tags(line: Line) -> Mapping[str, str]:
    """Those of the line, and its part."""
    return line.tags if line.part is None else {"part": line.part, **line.tags}


def _reason(exc: Any) -> str:
    if isinstance(exc, MemoryError):
        return "its files do not fit in memory"
    return getattr(exc, "strerror", None) or str(exc)
