"""The lines of an annotation file: their records, and every fault at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from vgen_eval.errors import CardError, Problem

__all__ = ["KINDS", "CountingLine", "Line", "ReferringLine", "read_lines"]

Name = Annotated[str, msgspec.Meta(min_length=1)]
PhotoName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
Polygon = Annotated[tuple[tuple[int, int], ...], msgspec.Meta(min_length=3)]


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What every kind of line holds."""

    id: str | int
    group: Name
    image: PhotoName
    sha256: Sha256
    query: Name
    tags: Mapping[str, str] = {}

    @property
    def name(self) -> str:
        """The id as a string: 7 and "7" are one id."""
        return str(self.id)


class CountingLine(Line, frozen=True, kw_only=True):
    """A query, its count, and a point on every object."""

    count: Annotated[int, msgspec.Meta(ge=0)]
    points: tuple[tuple[float, float], ...] | None = None
    """x, y in pixels of the photograph."""

    def __post_init__(self) -> None:
        if self.points is not None and len(self.points) != self.count:
            raise ValueError(f"{len(self.points)} points for a count of {self.count}")


class ReferringLine(Line, frozen=True, kw_only=True):
    """A query and its mask: the union of polygons less the holes, x, y in pixels."""

    polygons: tuple[Polygon, ...]
    holes: tuple[Polygon, ...] = ()


KINDS: Mapping[str, type[Line]] = {"counting": CountingLine, "referring": ReferringLine}


def read_lines(path: Path, data: bytes, kind: str) -> Sequence[Line]:
    """The lines in order, blank ones left out; CardError with every fault, each with its line."""
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(KINDS[kind])
    problems: list[Problem] = []
    first: dict[str, int] = {}
    lines: list[Line] = []
    for number, raw in enumerate(data.splitlines(), 1):
        if not raw.strip():
            continue
        try:
            line: Line = decoder.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            problems.append(Problem(str(exc), file=str(path), line=number))
            continue
        if not line.name:
            problems.append(Problem("the id is empty", file=str(path), line=number, path="id"))
        elif line.name in first:
            message = f"id {line.id!r} is that of line {first[line.name]} again"
            problems.append(Problem(message, file=str(path), line=number, path="id"))
        else:
            first[line.name] = number
            lines.append(line)
    if not lines and not problems:
        problems.append(Problem("the file holds no annotation", file=str(path)))
    if problems:
        raise CardError(problems)
    return lines
