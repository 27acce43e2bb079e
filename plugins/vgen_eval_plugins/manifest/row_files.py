"""Tables beside pictures: which file is the table, and which picture a row of it means."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from vgen_eval.drafts import DraftRequest
from vgen_eval.errors import UsageError

from vgen_eval_plugins.files import Folder
from vgen_eval_plugins.manifest.finding import Found, key_of

__all__ = ["NOISE", "Once", "find_table", "look_up", "names_of"]

NOISE = frozenset({"mask", "masks", "seg", "segmentation", "gt", "target", "rgb", "image", "img"})
_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson")
_MANIFEST = "manifest.jsonl"


class Once:
    """Gives every sample a name that stands once: the second `a` is `a-2`."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def __call__(self, wanted: str) -> str:
        """The name, with a number behind it where it is taken."""
        name, at = wanted, 1
        while name in self._taken:
            at += 1
            name = f"{wanted}-{at}"
        self._taken.add(name)
        return name


def names_of(found: Found) -> dict[str, str]:
    """Everything that a table may call a file -> its name; what is called alike is left out."""
    made: dict[str, str] = {}
    for called in (
        lambda name: key_of(found.stem(name), NOISE),
        found.stem,
        lambda name: name.removeprefix(f"{found.place}/"),
        lambda name: name,
    ):
        groups: dict[str, list[str]] = {}
        for name in found.names:
            groups.setdefault(called(name), []).append(name)
        made.update({call: names[0] for call, names in groups.items() if len(names) == 1})
    return made


def look_up(names: Mapping[str, str], name: str) -> str | None:
    """The file that a table calls so; None for none, or several."""
    if not name:
        return None
    stem = str(PurePosixPath(name).with_suffix("")) if PurePosixPath(name).suffix else name
    return names.get(name) or names.get(stem) or names.get(key_of(stem, NOISE))


def find_table(request: DraftRequest, folder: Folder, guessed: list[str]) -> Path | None:
    """The table that was named, or the only one in the folder; None where there is none."""
    said = request.hints.get("queries")
    if said is not None:
        for path in (Path(said).expanduser(), folder.path / said):
            if path.is_file():
                return path
        raise UsageError(f"--queries: no file '{said}'")
    found = sorted(
        path
        for path in folder.path.iterdir()
        if path.suffix.lower() in _TABLES and path.name != _MANIFEST and path.is_file()
    )
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise UsageError(
            f"{folder.path} has several tables: {names}", cure=f"--queries {found[0].name}"
        )
    if found:
        guessed.append(f"table: {found[0].name}")
        return found[0]
    return None
