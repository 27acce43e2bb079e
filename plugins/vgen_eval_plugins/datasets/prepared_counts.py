"""What `prepare` leaves beside a release for counting: index.jsonl, images/ and prepared.json."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import CardError, MissingData, Problem, StorageError, Undecodable
from vgen_eval.imaging import decode_image
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.counting.targets import MOST, CountTarget
from vgen_eval_plugins.datasets.release import Release
from vgen_eval_plugins.datasets.release_reader import Entry, ReleaseReader, make_sample

__all__ = ["IMAGES", "INDEX", "Line", "PreparedCounts", "make_ids", "suffix_of", "write_atomic"]

INDEX = "index.jsonl"
RECORD = "prepared.json"
IMAGES = "images"
CURE = "vgen-eval data prepare TASK makes it"
SLUG = 40
PREFIX = 12

_MAGIC = (
    (b"\x89PNG", "png"), (b"\xff\xd8\xff", "jpg"), (b"GIF8", "gif"), (b"BM", "bmp"),
    (b"II*\x00", "tif"), (b"MM\x00*", "tif"), (b"P5", "ppm"), (b"P6", "ppm"),
)  # fmt: skip


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One sample of index.jsonl."""

    part: str
    """The split or collection it was prepared for; one folder may hold several."""
    id: str
    sha256: str
    """Of the picture's bytes."""
    suffix: str
    size: tuple[int, int]
    """(width, height) of the picture."""
    count: int
    points: tuple[tuple[float, float], ...] | None = None
    """x, y in pixels; None where only the count is known."""
    fields: Mapping[str, str] = {}
    tags: Mapping[str, str] = {}

    @property
    def image(self) -> str:
        """The picture's name below the root."""
        return f"{IMAGES}/{self.sha256}.{self.suffix}"

    def fault(self) -> str | None:
        """What cannot be of it, if anything."""
        if not re.fullmatch(r"[0-9a-f]{64}", self.sha256) or not self.suffix.isalnum():
            return f"'{self.image}' is no name of a prepared picture"
        if not 0 <= self.count <= MOST:
            return f"a count is 0 to {MOST:,}, not {str(self.count)[:20]}"
        if self.points is None:
            return None
        if len(self.points) != self.count:
            return f"{len(self.points)} points for a count of {self.count}"
        width, height = self.size
        for x, y in self.points:
            if not (0 <= x <= width and 0 <= y <= height):
                return f"point ({x:g}, {y:g}) lies outside the picture, {width}x{height}"
        return None


class _Entry(Entry, frozen=True, kw_only=True):
    line: Line


class PreparedCounts(ReleaseReader[_Entry]):
    """Reader of prepared samples; subclasses know the release and write the lines."""

    @property
    def part(self) -> str:
        """Which of the prepared lines are asked for."""
        raise NotImplementedError

    @property
    def choice(self) -> Mapping[str, Any]:
        """The options that decide which samples of a part are prepared."""
        return {}

    def find_entries(self) -> Sequence[_Entry]:
        """Every prepared sample of the part.

        MissingData when it was not prepared, or with other options; CardError with all faults of
        the index.
        """
        lines = [line for line in self._read() if line.part == self.part]
        told = _read_record(self._release).get(self.part)
        if told is None and not lines:
            raise MissingData(f"{self.title}: nothing was prepared for '{self.part}'", cure=CURE)
        known = dict((told or {}).get("options", self.choice))
        if known != dict(self.choice):
            raise MissingData(
                f"{self.title}: '{self.part}' was prepared with {known}, "
                f"asked for with {dict(self.choice)}",
                cure="vgen-eval data prepare TASK makes it anew",
            )
        if not lines:
            raise MissingData(
                f"{self.title}: no sample of '{self.part}' could be prepared",
                cure=f"{self._release.root / RECORD} says why",
            )
        return [
            _Entry(Item(id=line.id, group=line.sha256, tags=line.tags), (line.image,), line=line)
            for line in lines
        ]

    def read_entry(self, entry: _Entry) -> Sample:
        """The picture, how many there are and where; BadSample for a file of other bytes."""
        line = entry.line
        picture = self._release.decode(line.image, _decode_pinned, sha256=line.sha256)
        points = None
        if line.points is not None:
            points = np.array(line.points, dtype=np.float64).reshape(-1, 2)
        target = CountTarget(line.count, points)
        return make_sample(entry.item, picture, target, fields=line.fields)

    def fingerprint(self) -> str:
        """sha256 over the part's lines, which pin every picture by its own."""
        digest = hashlib.sha256()
        for entry in self._entries.values():
            digest.update(msgspec.json.encode(entry.line) + b"\n")
        return digest.hexdigest()

    def _read(self) -> list[Line]:
        data = self._release.read_index(INDEX, cure=CURE)
        return read_lines(data, file=str(self._release.root / INDEX))

    def write(self, lines: Sequence[Line], told: Mapping[str, Any]) -> None:
        """The part's lines in place of those before, those of other parts kept, and the record."""
        others: list[Line] = []
        if self._release.has(INDEX):
            try:
                others = [line for line in self._read() if line.part != self.part]
            except CardError:  # what cannot be read is made anew
                others = []
        kept = {line.part for line in others}
        # a part whose lines are lost was not prepared, whatever the record says
        record = {p: t for p, t in _read_record(self._release).items() if p in kept}
        record[self.part] = dict(told)
        encoded = [msgspec.json.encode(line) + b"\n" for line in [*others, *lines]]
        write_atomic(self._release.root / INDEX, b"".join(encoded))
        pretty = msgspec.json.format(msgspec.json.encode(record), indent=2)
        write_atomic(self._release.root / RECORD, pretty + b"\n")
        self.__dict__.pop("_entries", None)

    def report(
        self, lines: Sequence[Line], left_out: Mapping[str, int], say: Callable[[str], None]
    ) -> dict[str, Any]:
        """What prepared.json says of the part; the sum of it is told."""
        pictures = len({line.sha256 for line in lines})
        out = {why: count for why, count in sorted(left_out.items()) if count}
        told = ", ".join(f"{count} {why}" for why, count in out.items())
        say(
            f"{self.title}, {self.part}: {len(lines)} samples on {pictures} pictures"
            + (f"; left out: {told}" if told else "")
        )
        return {
            "options": dict(self.choice),
            "samples": len(lines),
            "pictures": pictures,
            "left_out": out,
        }


def _decode_pinned(data: bytes, *, what: str, sha256: str) -> NDArray[np.uint8]:
    if hashlib.sha256(data).hexdigest() != sha256:
        raise Undecodable(f"{what}: its sha256 is not its name")
    return decode_image(data, what=what)


def read_lines(data: bytes, *, file: str) -> list[Line]:
    """The lines of an index; CardError with every fault, each with its line."""
    lines: list[Line] = []
    problems: list[Problem] = []
    seen: set[tuple[str, str]] = set()
    for number, text in enumerate(data.splitlines(), 1):
        if not text.strip():
            continue
        try:
            line = msgspec.json.decode(text, type=Line)
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            problems.append(Problem(str(exc), file=file, line=number))
            continue
        fault = line.fault()
        if (line.part, line.id) in seen:
            fault = "this id stands twice"
        seen.add((line.part, line.id))
        if fault is not None:
            problems.append(Problem(fault, file=file, line=number, path=line.id))
        lines.append(line)
    if problems:
        raise CardError(problems)
    return lines


def _read_record(release: Release) -> dict[str, dict[str, Any]]:
    """What was told of each part; empty where there is no record that can be read."""
    if not release.has(RECORD):
        return {}
    try:
        data = release.read_index(RECORD)
        return msgspec.json.decode(data, type=dict[str, dict[str, Any]])
    except (MissingData, msgspec.DecodeError, UnicodeDecodeError):
        return {}


def make_ids(sha256: str, labels: Iterable[str]) -> list[str]:
    """Ids of one picture's samples: the head of its sha256 and the label, told apart by -2, -3."""
    taken: Counter[str] = Counter()
    made: list[str] = []
    for label in labels:
        name = f"{sha256[:PREFIX]}/{_slug(label)}"
        taken[name] += 1
        while (made_name := name if taken[name] == 1 else f"{name}-{taken[name]}") in made:
            taken[name] += 1
        made.append(made_name)
    return made


def _slug(label: str) -> str:
    plain = unicodedata.normalize("NFKC", label).casefold()
    short = re.sub(r"[^\w]+", "-", plain).strip("-_")[:SLUG].rstrip("-_")
    return short or hashlib.sha256(label.encode()).hexdigest()[:8]


def suffix_of(data: bytes) -> str:
    """The ending of a picture's name by its first bytes; `bin` for none that is known."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return next((suffix for magic, suffix in _MAGIC if data.startswith(magic)), "bin")


def write_atomic(path: Path, data: bytes) -> None:
    """The file whole or not at all, whatever ends the program; StorageError when it cannot be."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with beside.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as exc:
        raise StorageError(f"{path} cannot be written: {exc.strerror or exc}") from exc
