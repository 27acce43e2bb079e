"""Drafts of tasks that ask for something: masks of what a phrase means, counts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vgen_eval.drafts import Draft, DraftRequest
from vgen_eval.errors import UsageError

from vgen_eval_plugins.files import Folder
from vgen_eval_plugins.manifest.draft import find_both, find_images
from vgen_eval_plugins.manifest.finding import Found, key_of, words_of
from vgen_eval_plugins.manifest.row_files import NOISE, Once, find_table, look_up, names_of
from vgen_eval_plugins.manifest.tables import Table, read_table

__all__ = ["draft_counting", "draft_referring"]


def draft_counting(request: DraftRequest, folder: Folder) -> Draft:
    """Counts from a table, a picture each row."""
    images, guessed, refused = find_images(request, folder)
    path = find_table(request, folder, guessed)
    if path is None:
        raise UsageError(
            f"{folder.path} has no table of counts",
            cure="--queries FILE: a CSV with the columns id,query,count, or JSONL",
        )
    table = read_table(path)
    rows = _Rows(images, None, request.hints.get("query"), path)
    for number, row in table.rows:
        truth = {key: row[key] for key in ("count", "points") if key in row}
        if "points" in truth and truth.setdefault("count", len(truth["points"])) != len(
            truth["points"]
        ):
            raise UsageError(
                f"{path}:{number}: {len(truth['points'])} points for a count of {truth['count']}"
            )
        rows.add(number, row, truth if truth else "no count")
    return Draft(
        options={"target": "count"},
        lines=tuple(rows.lines),
        guessed=(*guessed, *_unused(table, path)),
        left_out=(*refused, *rows.left_out, *rows.without_row()),
    )


def draft_referring(request: DraftRequest, folder: Folder) -> Draft:
    """Masks and phrases: from a table, one phrase for all, or the words of the masks' names."""
    images, masks, guessed, refused = find_both(request, folder, "mask")
    path = find_table(request, folder, guessed)
    said = request.hints.get("query")
    if path is None:
        lines, left_out, how = _by_names(images, masks, said)
        return Draft(
            options={"target": "mask"},
            lines=tuple(lines),
            guessed=(*guessed, *([how] if how else [])),
            left_out=(*refused, *left_out),
        )
    table = read_table(path)
    rows = _Rows(images, masks, said, path)
    for number, row in table.rows:
        mask = rows.mask_of(row)
        rows.add(number, row, "no mask" if mask is None else {"mask": mask})
    return Draft(
        options={"target": "mask"},
        lines=tuple(rows.lines),
        guessed=(*guessed, *_unused(table, path)),
        left_out=(*refused, *rows.left_out, *rows.without_row()),
    )


class _Rows:
    """Makes lines of rows: finds each row's picture, and an id that stands once."""

    def __init__(self, images: Found, masks: Found | None, query: str | None, table: Path) -> None:
        self.images = images
        self._by_name = names_of(images)
        self._masks = {} if masks is None else names_of(masks)
        self._query = query
        self._table = table
        self._once = Once()
        self._used: set[str] = set()
        self.lines: list[dict[str, Any]] = []
        self.left_out: list[str] = []

    def add(self, number: int, row: Mapping[str, Any], truth: Mapping[str, Any] | str) -> None:
        """A line of the row, or the reason why there is none."""
        where = f"{self._table.name}:{number}"
        name = str(row.get("image", row.get("id", "")))
        image = look_up(self._by_name, name)
        query = row.get("query", self._query)
        if image is None:
            self.left_out.append(f"{where}: no picture '{name}'")
            return
        if isinstance(truth, str):
            self.left_out.append(f"{where}: {truth} for '{name}'")
            return
        if query is None:
            raise UsageError(
                f"{self._table}:{number}: no query",
                cure='a column `query`, or --query "text" for all',
            )
        self._used.add(image)
        wanted = str(row.get("id", self.images.stem(image)))
        line = {"id": self._once(wanted), "group": str(row.get("group", self.images.stem(image)))}
        self.lines.append({**line, "image": image, "query": str(query), **truth})

    def mask_of(self, row: Mapping[str, Any]) -> str | None:
        """The mask that the row names, or the one with its id or its picture's name."""
        if "mask" in row:
            return look_up(self._masks, str(row["mask"]))
        for name in (row.get("id"), row.get("image")):
            found = None if name is None else look_up(self._masks, str(name))
            if found is not None:
                return found
        return None

    def without_row(self) -> list[str]:
        """Pictures that no row asks about."""
        return [
            f"{n}: no row in {self._table.name}" for n in self.images.names if n not in self._used
        ]


def _by_names(
    images: Found, masks: Found, said: str | None
) -> tuple[list[dict[str, Any]], list[str], str]:
    """Lines of masks that are called as their picture, with or without more words behind it."""
    stems = {images.stem(name): name for name in images.names}
    keys = {key_of(stem, NOISE): name for stem, name in stems.items()}
    lines: list[dict[str, Any]] = []
    left_out: list[str] = []
    used: set[str] = set()
    for name in masks.names:
        stem = masks.stem(name)
        image, rest = _longest(stem, stems)
        image = image or keys.get(key_of(stem, NOISE))
        if image is None:
            left_out.append(f"{name}: no picture")
            continue
        query = said or words_of(rest, NOISE) or words_of(stem, NOISE)
        if not query:
            raise UsageError(
                f"{name} says nothing of what it is a mask of",
                cure='--query "text" for all, or --queries FILE with the columns id,query',
            )
        used.add(image)
        group = images.stem(image)
        lines.append({"id": stem, "group": group, "image": image, "query": query, "mask": name})
    left_out += [f"{name}: no mask file" for name in images.names if name not in used]
    how = (
        ""
        if said or not lines
        else f"queries: the words of the masks' names, '{lines[0]['query']}'"
    )
    return lines, left_out, how


def _longest(stem: str, stems: Mapping[str, str]) -> tuple[str | None, str]:
    """The picture whose stem begins this one, the longest such, and what follows it."""
    for end in range(len(stem), 0, -1):
        if stem[:end] in stems and (end == len(stem) or stem[end] in "_-. "):
            return stems[stem[:end]], stem[end:]
    return None, ""


def _unused(table: Table, path: Path) -> list[str]:
    return (
        [f"columns of {path.name} passed over: {', '.join(table.unused)}"] if table.unused else []
    )
