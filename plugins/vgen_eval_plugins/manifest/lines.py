"""The lines of a manifest: their record, and every fault of all of them at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, get_args

import msgspec
from vgen_eval.errors import CardError, Problem, nearest

from vgen_eval_plugins.files import Folder
from vgen_eval_plugins.manifest.options import Scores, Target
from vgen_eval_plugins.manifest.questions import faults_of_choice, faults_of_score
from vgen_eval_plugins.quality.perception.targets import letter_options

__all__ = ["PATHS", "TARGETS", "Line", "keys_twice", "read_lines"]

Name = Annotated[str, msgspec.Meta(min_length=1)]
Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]

TARGETS: tuple[Target, ...] = get_args(Target)
"""Fields that may hold the truth."""
PATHS = ("depth", "normals", "mask", "labels", "valid")
"""Fields that name a file, pictures aside."""
MOST_PROBLEMS = 1000
MOST = (1 << 63) - 1
"""The largest whole number that other programs read."""
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_AT = re.compile(r" - at `\$(.*)`$")


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One sample: its pictures, its truths, and what a prompt may name."""

    id: str | Annotated[int, msgspec.Meta(ge=-MOST, le=MOST)]
    group: Name | None = None
    image: Name | None = None
    images: Annotated[tuple[Name, ...], msgspec.Meta(min_length=1)] | None = None
    depth: Name | None = None
    normals: Name | None = None
    mask: Name | None = None
    labels: Name | None = None
    count: Annotated[int, msgspec.Meta(ge=0, le=MOST)] | None = None
    points: tuple[tuple[float, float], ...] | None = None
    """x, y in pixels of the first picture."""
    choice: Name | None = None
    """The right one of `options`: its text or its letter."""
    answer: Name | Annotated[tuple[Name, ...], msgspec.Meta(min_length=1)] | None = None
    """The right answer in words, or all that are accepted."""
    score: float | None = None
    question: Name | None = None
    options: tuple[Name, ...] | None = None
    """What may be chosen, A first."""
    part: Name | None = None
    """The part of the data whose scores are correlated apart."""
    valid: Name | None = None
    """A mask of the pixels whose truth is known."""
    query: str | None = None
    fields: Mapping[str, str] = {}
    tags: Mapping[str, str] = {}
    sha256: Mapping[str, Sha256] = {}
    """Of files of this line, by their names."""

    @property
    def name(self) -> str:
        """The id as a string: 7 and "7" are one id."""
        return str(self.id)

    @property
    def pictures(self) -> tuple[str, ...]:
        """The pictures' files, the one that truths lie on first."""
        return (self.image,) if self.image is not None else self.images or ()

    @property
    def files(self) -> tuple[str, ...]:
        """Every file that the line names."""
        named = (getattr(self, field) for field in PATHS)
        return (*self.pictures, *(name for name in named if name is not None))

    @property
    def texts(self) -> Mapping[str, str]:
        """What a prompt may name."""
        own = {"query": self.query, "question": self.question}
        texts = {name: text for name, text in own.items() if text is not None}
        if self.options is not None:
            lettered = letter_options(self.options).items()
            texts["options"] = "\n".join(f"{letter}. {text}" for letter, text in lettered)
        return {**texts, **self.fields} if texts else self.fields

    @property
    def accepted(self) -> tuple[str, ...]:
        """Every right answer in words."""
        return (self.answer,) if isinstance(self.answer, str) else self.answer or ()


_TYPES = {field.name: field.type for field in msgspec.structs.fields(Line)}
_DECODER = msgspec.json.Decoder(Line)


def read_lines(
    data: bytes, *, file: str, folder: Folder, target: str, scores: Scores | None = None
) -> Mapping[str, tuple[int, Line]]:
    """id -> number and line, in order, blank ones left out; no picture is opened.

    `file`: the manifest, for messages; `folder`: where the files that it names lie; `target`: the
    field that every line must have; `scores`: the scale that those lie on. CardError with every
    fault.
    """
    found: dict[str, tuple[int, Line]] = {}
    problems: list[Problem] = []
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if not raw.strip():
            continue
        line, faults = _read(raw)
        if line is not None:
            faults += _faults_of(line, folder, target)
            if target == "score" and line.score is not None:
                faults += faults_of_score(line.score, scores or Scores())
            if line.name in found:
                faults.append(("id", f"{line.id!r} is the id of line {found[line.name][0]} again"))
            found.setdefault(line.name, (number, line))
        problems += (Problem(text, file=file, line=number, path=path) for path, text in faults)
        if len(problems) >= MOST_PROBLEMS:
            problems.append(Problem("and maybe more: the lines below were not read", file=file))
            break
    if not found and not problems:
        problems.append(Problem("the manifest holds no line", file=file))
    if problems:
        raise CardError(problems)
    return found


def _read(raw: bytes) -> tuple[Line | None, list[tuple[str, str]]]:
    """The line, or its faults by field."""
    try:
        line = _DECODER.decode(raw)
        twice = keys_twice(raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None, list(_faults_of_json(raw))
    return line, [(key, "this key stands twice") for key in twice]


def keys_twice(raw: bytes | str) -> list[str]:
    """Keys of one object that stand twice in it: JSON readers take the last in silence."""
    twice: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            seen: set[str] = set()
            twice.extend(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        return made

    json.loads(raw, object_pairs_hook=note)
    return twice


def _faults_of_json(raw: bytes) -> Iterator[tuple[str, str]]:
    """Every fault of a line that is no `Line`."""
    try:
        read = msgspec.json.decode(raw)
    except (msgspec.DecodeError, ValueError, RecursionError) as exc:
        odd = re.search(rb"(-?\b(?:NaN|Infinity))\b", raw)
        hint = f": {odd[1].decode()} is no JSON, leave the field out" if odd else ""
        yield "", f"{str(exc) or 'this is no JSON'}{hint}"
        return
    if not isinstance(read, dict):
        yield "", f"a line is one object {{...}}, {type(read).__name__} seen"
        return
    for key, value in read.items():
        if key not in _TYPES:
            yield key, f"unknown key.{nearest(key, _TYPES)}"
            continue
        try:
            msgspec.convert(value, _TYPES[key])
        except msgspec.ValidationError as exc:
            at = _AT.search(str(exc))
            yield key + (at[1] if at else ""), _AT.sub("", str(exc)).replace("`", "")
    if "id" not in read:
        yield "id", "every line needs an id"


def _faults_of(line: Line, folder: Folder, target: str) -> list[tuple[str, str]]:
    """What is wrong with a line that has the right keys and types."""
    faults: list[tuple[str, str]] = []
    if not line.name.strip():
        faults.append(("id", "the id is empty"))
    if (line.image is None) == (line.images is None):
        faults.append(("image", "a line has either image or images"))
    if getattr(line, target) is None:
        faults.append((target, f"this is the task's target, and the line has none.{_near(line)}"))
    faults += (
        (f"fields.{name}", f"the {name} {verb} given twice")
        for name, verb in (("query", "is"), ("question", "is"), ("options", "are"))
        if getattr(line, name) is not None and name in line.fields
    )
    faults += faults_of_choice(line.options, line.choice, needed=target == "choice")
    if not all(text.strip() for text in line.accepted):
        faults.append(("answer", "a right answer is empty"))
    faults += (
        (f"fields.{name}", "no prompt can name this: letters, digits and _ only")
        for name in line.fields
        if not _FIELD.fullmatch(name)
    )
    if line.points is not None and line.count not in (None, len(line.points)):
        faults.append(("points", f"{len(line.points)} points for a count of {line.count}"))
    files = line.files
    for name in files:
        try:
            folder.find(name)
        except ValueError as exc:
            faults.append((_field_of(line, name), str(exc)))
    faults += (
        ("sha256", f"'{name}' is no file of this line.{nearest(name, files)}")
        for name in line.sha256
        if name not in files
    )
    return faults


def _near(line: Line) -> str:
    given = [field for field in TARGETS if getattr(line, field) is not None]
    return f" It has: {', '.join(given)}" if given else ""


def _field_of(line: Line, name: str) -> str:
    if name in line.pictures:
        return "image" if line.image is not None else f"images[{line.pictures.index(name)}]"
    return next(field for field in PATHS if getattr(line, field) == name)
