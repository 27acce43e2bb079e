"""Templates -> the files of a package, all filled in memory before one is written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from vgen_eval._version import __version__
from vgen_eval.errors import StorageError, UsageError
from vgen_eval.scaffold import Kind
from vgen_eval.scaffold.names import package_of

__all__ = ["make_files", "write_files"]

_WHAT: Mapping[Kind, str] = {
    "model": "a model",
    "task": "a task with its own pictures",
    "metric": "a metric, and a task that is measured by it",
    "family": "a family of tasks, with all that it takes",
}
_WITH_SHAPES: tuple[Kind, ...] = ("task", "metric")
_END = ".tmpl"
_FIELD = re.compile(r"\{\{(\w+)\}\}")


def make_files(name: str, kind: Kind) -> dict[str, bytes]:
    """Path below the package's folder -> content, of a plugin whose name has been checked."""
    values = {
        "name": name,
        "package": package_of(name),
        "what": _WHAT[kind],
        "vgen_version": __version__,
    }
    made: dict[str, bytes] = {}
    for folder in ("common", kind):
        for path, text in _templates(files("vgen_eval.scaffold") / "templates" / folder):
            place = path.removesuffix(_END).replace("PACKAGE", values["package"])
            made[place.replace("dot-", ".")] = _fill(text, values).encode()
    if kind in _WITH_SHAPES:
        from vgen_eval.scaffold.shapes import draw_data_set

        cards = f"{values['package']}/cards"
        made |= {f"{cards}/{path}": data for path, data in draw_data_set().items()}
    return dict(sorted(made.items()))


def write_files(made: Mapping[str, bytes], folder: Path) -> None:
    """Writes the files below a folder that is not there, or is empty.

    UsageError where something is in the way, StorageError where the disk refuses.
    """
    _refuse_taken(folder)
    try:
        for path, data in made.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as file:
                file.write(data)
    except OSError as exc:
        raise StorageError(
            f"cannot write {exc.filename or folder}: {exc.strerror or exc}",
            cure=f"remove {folder}, which is incomplete" if folder.exists() else None,
        ) from exc


def _refuse_taken(folder: Path) -> None:
    if not folder.exists() and not folder.is_symlink():
        return
    state = "is no folder" if not folder.is_dir() else "is not empty"
    if state == "is no folder" or any(folder.iterdir()):
        raise UsageError(f"{folder} is there and {state}", cure="--folder DIR names another one")


def _templates(folder: Traversable, above: str = "") -> Iterator[tuple[str, str]]:
    """Path below the folder and text of every template."""
    for entry in folder.iterdir():
        path = f"{above}{entry.name}"
        if entry.is_dir():
            yield from _templates(entry, f"{path}/")
        elif entry.name.endswith(_END):
            yield path, entry.read_text(encoding="utf-8")


def _fill(text: str, values: Mapping[str, str]) -> str:
    """The text with each {{field}} filled; KeyError for one that nobody knows."""
    return _FIELD.sub(lambda found: values[found[1]], text)
