"""Drafts of tasks whose truth is a map: depth, normals, classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from vgen_eval.drafts import Draft, DraftRequest
from vgen_eval.errors import Undecodable, UsageError
from vgen_eval.imaging import decode_depth, decode_labels, read_bytes

from vgen_eval_plugins.manifest.draft import Paired, find_pairs, find_valid
from vgen_eval_plugins.manifest.files import Folder
from vgen_eval_plugins.manifest.palette import make_palette
from vgen_eval_plugins.manifest.tables import read_classes
from vgen_eval_plugins.normals.frames import parse_frame
from vgen_eval_plugins.semantic.colours import as_rgb
from vgen_eval_plugins.semantic.labels import LabelClass

__all__ = ["draft_depth", "draft_normals", "draft_semantic"]

LOOKED_AT = 20
"""Files that are opened to tell how all of them are written."""
NO_READING = 65535
VOID = 255
FAR_M = 1000.0
THREADS = 4


def draft_depth(request: DraftRequest, folder: Folder) -> Draft:
    """Depth files of any kind beside their pictures."""
    paired, valid = _with_valid(request, folder, "depth")
    hints = request.hints
    depth: dict[str, Any] = {
        key: hints[hint]
        for key, hint in (
            ("scale", "depth_scale"),
            ("key", "depth_key"),
            ("max_depth", "max_depth"),
        )
        if hints.get(hint) is not None
    }
    notes = list(_look_at_depth(folder, paired, depth))
    if hints.get("ignore"):
        depth["invalid"] = list(hints["ignore"])
    options: dict[str, Any] = {"target": "depth"}
    if depth:
        options["depth"] = depth
    return Draft(
        options=options,
        lines=paired.lines("depth", valid),
        replacements={"max_depth": depth["max_depth"]} if "max_depth" in depth else {},
        guessed=(*paired.guessed, *notes),
        left_out=paired.left_out,
    )


def draft_normals(request: DraftRequest, folder: Folder) -> Draft:
    """Files of normals beside their pictures."""
    paired, valid = _with_valid(request, folder, "normals")
    frame = request.hints.get("frame")
    notes = []
    if frame is None:
        frame = "opengl"
        notes.append("frame: opengl, x right, y up, z towards the camera (--frame opencv, ...)")
    try:
        parse_frame(frame)
    except ValueError as exc:
        raise UsageError(f"--frame: {exc}") from exc
    return Draft(
        options={"target": "normals", "normals": {"frame": frame}},
        lines=paired.lines("normals", valid),
        guessed=(*paired.guessed, *notes),
        left_out=paired.left_out,
    )


def draft_semantic(request: DraftRequest, folder: Folder) -> Draft:
    """Label files beside their pictures, and the table of classes."""
    paired, valid = _with_valid(request, folder, "labels")
    said = request.hints.get("classes")
    ignore = sorted(set(request.hints.get("ignore") or ()))
    if said is None:
        classes, labels, notes = _classes_of_files(folder, paired, ignore)
    else:
        classes = read_classes(Path(said))
        labels, notes = _labels_of_classes(folder, paired, classes, ignore)
    names = tuple(dict.fromkeys(entry.name for entry in classes))
    palette = make_palette(names)
    notes.append(f"colours of {len(names)} classes: chosen to be far apart, see task.yaml")
    return Draft(
        options={"target": "labels", "labels": labels},
        lines=paired.lines("labels", valid),
        replacements={"palette": palette},
        prompts=_prompts(names),
        colours={
            name: as_rgb(paint if isinstance(paint, str) else paint["rgb"])
            for name, paint in palette.items()
        },
        guessed=(*paired.guessed, *notes),
        left_out=paired.left_out,
    )


def _prompts(names: tuple[str, ...]) -> Mapping[str, Mapping[str, str]]:
    """Prompts for classes of any kind; the palette is the decoder's to spell."""
    numbered = ", ".join(f"{at} {name}" for at, name in enumerate(names))
    numbered = numbered.replace("{", "{{").replace("}", "}}")
    return {
        "image": {
            "short": "Paint each class in its colour. {palette}.",
            "mid": "Turn this picture into a class map: paint every pixel in the one flat "
            "colour of the class it belongs to. {palette}.",
            "long": "Redraw this picture as a map of classes, same size and framing. Every pixel "
            "takes the exact colour of its class and nothing else. {palette}. Fill each region "
            "edge to edge with one solid colour, follow its outline closely, and use no shading, "
            "texture, gradient, blending, outline or text.",
        },
        "label_map": {
            "short": f"Segment the classes of this picture: {numbered}.",
            "mid": f"Give every pixel the number of its class: {numbered}.",
            "long": f"Give every pixel the number of its class: {numbered}. -1 only where you "
            "cannot tell.",
        },
    }


def _with_valid(
    request: DraftRequest, folder: Folder, field: str
) -> tuple[Paired, Mapping[str, str]]:
    paired = find_pairs(request, folder, field)
    valid, guessed, left_out = find_valid(request, folder, paired.images)
    told = Paired(
        paired.images, paired.of, (*paired.guessed, *guessed), (*paired.left_out, *left_out)
    )
    return told, valid


# --- depth


def _look_at_depth(folder: Folder, paired: Paired, depth: dict[str, Any]) -> Iterator[str]:
    """What a few files say of all of them; adds to `depth`. UsageError when a scale is needed."""
    scale, key = depth.get("scale"), depth.get("key")
    largest, stored = 0.0, False
    for name, data in _some(folder, paired.of.values()):
        try:
            raw = decode_depth(data, what=name, key=key)
        except Undecodable:  # whole numbers, whose step only the user knows; or a broken file
            try:
                raw = decode_depth(data, what=name, scale=1.0, key=key)
            except Undecodable:
                continue  # told with its line when all files are read
            stored = True
            if scale is None:
                raise _ask_for_scale(name, raw) from None
        known = raw[np.isfinite(raw) & (raw > 0) & (raw != (NO_READING if stored else np.inf))]
        largest = max(largest, float(known.max(initial=0)) * (scale or 1.0))
    if stored:
        depth["invalid"] = [NO_READING]
        yield f"no reading: 0 and {NO_READING} in the depth files (--ignore VALUE)"
    if largest > FAR_M:
        yield f"the largest depth seen is {largest:,.0f} m: is that so? (--depth-scale 1/1000)"
    elif largest > 0:
        yield f"depth in metres, up to {largest:.3g} m in the files looked at"


def _ask_for_scale(name: str, raw: Any) -> UsageError:
    known = raw[(raw > 0) & (raw != NO_READING)]
    top = float(known.max(initial=0))
    return UsageError(
        f"{name} holds whole numbers up to {top:,.0f}: what is one step in metres?",
        cure=f"--depth-scale 1/1000 for millimetres (up to {top / 1000:.3g} m), "
        f"--depth-scale 1/256 as KITTI (up to {top / 256:.3g} m)",
    )


def _some(folder: Folder, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    every = list(names)
    step = max(1, len(every) // LOOKED_AT)
    for name in every[::step][:LOOKED_AT]:
        yield name, read_bytes(Path(folder.find(name).path))


# --- classes


def _values_of(folder: Folder, names: Iterable[str]) -> list[int]:
    """Every value that the label files hold; faulty files are told later, with their lines."""

    def values(name: str) -> set[int]:
        try:
            raw = decode_labels(read_bytes(Path(folder.find(name).path)), what=name)
        except Undecodable:
            return set()
        return {int(value) for value in np.unique(raw)}

    with ThreadPoolExecutor(THREADS) as pool:
        return sorted(set().union(*pool.map(values, names)))


def _classes_of_files(
    folder: Folder, paired: Paired, ignore: list[int]
) -> tuple[tuple[LabelClass, ...], dict[str, Any], list[str]]:
    seen = _values_of(folder, paired.of.values())
    notes = []
    if not ignore and VOID in seen and len(seen) > 1:
        ignore = [VOID]
        notes.append(f"value {VOID}: taken as no truth (--ignore VALUE says otherwise)")
    classes = tuple(LabelClass(f"class_{value}", value) for value in seen if value not in ignore)
    if not classes:
        raise UsageError(
            "the label files hold no class",
            cure="--targets names their folder; files painted in colours need --classes FILE",
        )
    values = ", ".join(str(entry.value) for entry in classes[:12])
    notes.insert(0, f"classes: class_<value> of the values found, {values} (--classes FILE)")
    return classes, _as_options(classes, ignore), notes


def _labels_of_classes(
    folder: Folder, paired: Paired, classes: tuple[LabelClass, ...], ignore: list[int]
) -> tuple[dict[str, Any], list[str]]:
    """How the files' values meet the classes; UsageError when they do not."""
    sample = list(paired.of.values())
    seen = _values_of(folder, sample[:: max(1, len(sample) // LOOKED_AT)])
    notes: list[str] = []
    if not seen and all(entry.colour is not None for entry in classes):
        notes.append("labels: painted in the colours of the classes")
        return {**_as_options(classes, ignore), "encoding": "colour"}, notes
    known = {entry.value for entry in classes}
    lost = [value for value in seen if value not in known and value not in ignore]
    if lost == [VOID] and not ignore:
        ignore, lost = [VOID], []
        notes.append(f"value {VOID}: taken as no truth (--ignore VALUE says otherwise)")
    if lost:
        raise UsageError(
            f"the label files hold values that no class has: {', '.join(map(str, lost[:12]))}",
            cure=f"--ignore {lost[0]} leaves a value out; a YAML file of value: name says "
            "which is which",
        )
    return _as_options(classes, ignore), notes


def _as_options(classes: Iterable[LabelClass], ignore: list[int]) -> dict[str, Any]:
    table = []
    for entry in classes:
        written: dict[str, Any] = {"name": entry.name, "value": entry.value}
        if entry.colour is not None:
            written["colour"] = entry.colour if isinstance(entry.colour, str) else [*entry.colour]
        table.append(written)
    return {"classes": table, "ignore": ignore} if ignore else {"classes": table}
