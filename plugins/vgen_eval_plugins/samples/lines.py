"""Reads an annotation file and its scenes, and tells every fault of both at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from vgen_eval.errors import CardError, Problem, nearest

from vgen_eval_plugins.raycast.scenes import Scene, parse_scenes
from vgen_eval_plugins.samples.annotations import (
    LINES,
    CountingScene,
    Kind,
    Line,
    ReferringScene,
    SceneLine,
    SemanticPhoto,
    SemanticScene,
)

__all__ = ["Annotated", "read_annotations"]


class Annotated(msgspec.Struct, frozen=True):
    """The lines of a file by their names, and the scenes that they may name."""

    lines: Mapping[str, Line]
    scenes: Mapping[str, Scene]


class _Head(msgspec.Struct):
    """Which of the two a line is about."""

    image: Any = msgspec.UNSET
    scene: Any = msgspec.UNSET


def read_annotations(
    path: Path,
    data: bytes,
    *,
    kind: Kind,
    scenes: tuple[Path, bytes] | None,
    classes: Sequence[str],
) -> Annotated:
    """The lines in order, blank ones left out.

    CardError with every fault, each with its line or its scene. `scenes`: the file of scenes and
    what it holds; None: no line may name one.
    """
    problems: list[Problem] = []
    known: Mapping[str, Scene] | None = {}
    if scenes is not None:
        try:
            known = parse_scenes(scenes[1], file=str(scenes[0]))
        except CardError as exc:
            problems += exc.problems
            known = None  # a line that names one cannot be judged
    found: dict[str, Line] = {}
    first: dict[str, int] = {}
    for number, raw in enumerate(data.splitlines(), 1):
        if not raw.strip():
            continue
        try:
            line = _decode(raw, kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            problems.append(Problem(str(exc), file=str(path), line=number))
            continue
        faults = [*_id_faults(line, first), *_name_faults(line, known, classes)]
        problems += [Problem(text, file=str(path), line=number, path=at) for at, text in faults]
        first.setdefault(line.name, number)
        found.setdefault(line.name, line)
    if not found and not problems:
        problems.append(Problem("the file holds no annotation", file=str(path)))
    if problems:
        raise CardError(problems)
    return Annotated(found, known or {})


def _decode(raw: bytes, kind: Kind) -> Line:
    head = msgspec.json.decode(raw, type=_Head)
    has_image, has_scene = head.image is not msgspec.UNSET, head.scene is not msgspec.UNSET
    if has_image == has_scene:
        both = "both `image` and `scene`" if has_image else "neither `image` nor `scene`"
        raise msgspec.ValidationError(f"a line names one of the two, not {both}")
    photo, scene = LINES[kind]
    if has_scene and scene is None:
        raise msgspec.ValidationError(f"kind {kind} has photographs alone: name an `image`")
    return msgspec.json.decode(raw, type=photo if has_image else scene)


def _id_faults(line: Line, first: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    if not line.name:
        yield "id", "the id is empty"
    elif line.name in first:
        yield "id", f"id {line.id!r} is that of line {first[line.name]} again"


def _name_faults(
    line: Line, scenes: Mapping[str, Scene] | None, classes: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Names that nothing bears: of scenes, objects, labels and classes."""
    if isinstance(line, SemanticPhoto):
        yield from _class_faults("layers", line.labels, classes)
    if not isinstance(line, SceneLine) or scenes is None:
        return
    scene = scenes.get(line.scene)
    if scene is None:
        near = nearest(line.scene, scenes) if scenes else " The option `scenes` names no file"
        yield "scene", f"no scene '{line.scene}'.{near}"
        return
    if isinstance(line, CountingScene) and line.label not in scene.labels:
        near = nearest(line.label, scene.labels)
        yield "label", f"nothing in scene '{scene.name}' has the label '{line.label}'.{near}"
    if isinstance(line, ReferringScene):
        for name in line.objects:
            if name not in scene.names:
                near = nearest(name, scene.names)
                yield "objects", f"scene '{scene.name}' has no object '{name}'.{near}"
    if isinstance(line, SemanticScene):
        for label in line.classes:
            if label not in scene.labels:
                near = nearest(label, scene.labels)
                yield "classes", f"nothing in scene '{scene.name}' has the label '{label}'.{near}"
        named = (line.classes.get(label, label) for label in scene.labels)
        yield from _class_faults("scene", [name for name in dict.fromkeys(named) if name], classes)


def _class_faults(
    at: str, labels: Sequence[str], classes: Sequence[str]
) -> Iterator[tuple[str, str]]:
    for label in labels:
        if label not in classes:
            yield at, f"'{label}' is none of the classes.{nearest(label, classes)}"
