"""Drafts of tasks whose truth is classes: which values the files hold, and what they are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from vgen_eval.drafts import Draft, DraftRequest
from vgen_eval.errors import Undecodable, UsageError
from vgen_eval.imaging import decode_labels

from vgen_eval_plugins.colours import as_rgb
from vgen_eval_plugins.files import Folder
from vgen_eval_plugins.manifest.draft import LOOKED_AT, Paired, find_pairs, read_file
from vgen_eval_plugins.manifest.palette import make_palette
from vgen_eval_plugins.manifest.tables import read_classes
from vgen_eval_plugins.semantic.labels import LabelClass

__all__ = ["draft_semantic"]

VOID = 255
MOST_NUMBER = 1 << 16
"""Beyond this a number in an answer is no label."""
THREADS = 4


def draft_semantic(request: DraftRequest, folder: Folder) -> Draft:
    """Label files beside their pictures, and the table of classes."""
    paired = find_pairs(request, folder, "labels")
    said = request.hints.get("classes")
    ignore = sorted(set(request.hints.get("ignore") or ()))
    if said is None:
        classes, labels, notes = _classes_of_files(folder, paired, ignore)
    else:
        classes = read_classes(Path(said))
        labels, notes = _labels_of_classes(folder, paired, classes, ignore)
    names = tuple(dict.fromkeys(entry.name for entry in classes))
    palette, numbers = make_palette(names), _numbers(classes, labels)
    notes.append(f"colours of {len(names)} classes: chosen to be far apart, see task.yaml")
    return Draft(
        options={"target": "labels", "labels": labels},
        lines=paired.lines("labels"),
        replacements={"palette": palette},
        additions={"label_map": _numbering(numbers, labels)},
        prompts=_prompts(names, numbers),
        colours={
            name: as_rgb(paint if isinstance(paint, str) else paint["rgb"])
            for name, paint in palette.items()
        },
        guessed=(*paired.guessed, *notes),
        left_out=paired.left_out,
    )


def _numbers(classes: Iterable[LabelClass], labels: Mapping[str, Any]) -> dict[str, int] | None:
    """Class -> its one value in the files, which is its number in answers too; None without."""
    numbers = {entry.name: entry.value for entry in classes}
    values = [entry["value"] for entry in labels["classes"]]
    if "encoding" in labels or len(numbers) < len(values):
        return None
    whole = {name: v for name, v in numbers.items() if isinstance(v, int) and 0 <= v <= MOST_NUMBER}
    return whole if len(whole) == len(numbers) else None


def _numbering(numbers: dict[str, int] | None, labels: Mapping[str, Any]) -> dict[str, Any]:
    """Options under which label maps are read as the truth's files are."""
    if numbers is None:
        return {}
    ordered = list(numbers.values()) == list(range(len(numbers)))
    made: dict[str, Any] = {} if ordered else {"classes": numbers}
    return {**made, "ignore": list(labels["ignore"])} if "ignore" in labels else made


def _prompts(
    names: tuple[str, ...], numbers: Mapping[str, int] | None
) -> Mapping[str, Mapping[str, str]]:
    """Prompts for classes of any kind; the palette is the decoder's to spell."""
    pairs = ((at, name) for at, name in enumerate(names))
    if numbers is not None:
        pairs = ((number, name) for name, number in numbers.items())
    numbered = ", ".join(f"{number} {name}" for number, name in pairs)
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


def _values_of(folder: Folder, names: Iterable[str]) -> list[int]:
    """Every value that the label files hold; faulty files are told later, with their lines."""

    def values(name: str) -> set[int]:
        data = read_file(folder, name)
        try:
            raw = None if data is None else decode_labels(data, what=name)
        except Undecodable:
            raw = None
        if raw is None:
            return set()
        return {int(value) for value in np.unique(raw)}

    with ThreadPoolExecutor(THREADS) as pool:
        return sorted(set().union(*pool.map(values, names)))


def _classes_of_files(
    folder: Folder, paired: Paired, ignore: list[int]
) -> tuple[tuple[LabelClass, ...], dict[str, Any], list[str]]:
    seen = _values_of(folder, paired.of.values())
    notes = []
    # of two values 255 is the other class: masks are written so
    if not ignore and VOID in seen and len(seen) > 2:
        ignore = [VOID]
        notes.append(f"value {VOID}: taken as no truth (--ignore VALUE says otherwise)")
    below = [value for value in seen if value < 0 and value not in ignore]
    if below:
        raise UsageError(
            f"the label files hold negative values, which are no classes: "
            f"{', '.join(map(str, below[:12]))}",
            cure=f"{' '.join(f'--ignore {value}' for value in [*ignore, *below][:12])} leaves them "
            "out; --classes FILE names them",
        )
    classes = tuple(LabelClass(f"class_{value}", value) for value in seen if value not in ignore)
    if not classes:
        raise UsageError(
            f"no label file holds a class: {next(iter(paired.of.values()))} and the others are "
            "painted in colours, or broken",
            cure="--targets names their folder; files painted in colours need --classes FILE",
        )
    if len(classes) == 1:
        raise UsageError(
            f"the label files hold one class only, value {classes[0].value}"
            + (f" ({', '.join(map(str, ignore))} ignored)" if ignore else ""),
            cure="--family referring is for masks of one thing; --classes FILE names the classes "
            "where there are more",
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
            cure=f"{' '.join(f'--ignore {value}' for value in [*ignore, *lost][:12])} leaves them "
            "out; a YAML file of value: name says which is which",
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
