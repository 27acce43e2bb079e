"""Manga109 with the outlines of MangaSegmentation: frames, text, figures and faces on pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

import msgspec
from vgen_eval.errors import MissingData
from vgen_eval.types import Item

from vgen_eval_plugins.datasets.mask_lines import Head, with_mask, write_lines
from vgen_eval_plugins.datasets.mask_reader import MaskEntry, MaskReader
from vgen_eval_plugins.datasets.refer_files import Category, Picture
from vgen_eval_plugins.datasets.segments import draw_segments

__all__ = ["QUERIES", "Manga109", "name_class"]

Class = Literal["frame", "text", "onomatopoeia", "body", "face", "balloon"]

QUERIES: Mapping[str, str] = {
    "frame": "comic panel",
    "text": "dialogue text",
    "onomatopoeia": "sound effect lettering",
    "body": "character's body",
    "face": "character's face",
    "balloon": "speech balloon",
}
"""Class -> what it is called in a prompt."""

OTHER_NAMES = {
    "dialog": "text", "dialogue": "text", "text/dialog": "text", "character body": "body",
    "character face": "face", "speech balloon": "balloon", "bubble": "balloon",
}  # fmt: skip

FOLDERS = ("segmentation", "jsons")
PREPARED = "masks.jsonl"


class _Line(Head, frozen=True):
    """All of one class on one page."""

    category: str


class _Annotation(msgspec.Struct, frozen=True):
    image_id: int
    category_id: int
    segmentation: Any


class _Book(msgspec.Struct, frozen=True):
    images: list[Picture]
    annotations: list[_Annotation]
    categories: list[Category]


class Manga109(MaskReader):
    """One sample a page and class on it: all pixels of the class.

    Files: `images/<Book>/NNN.jpg` and `segmentation/<Book>.json` in COCO's format, whose
    outlines `prepare` joins by class and writes as `segmentation/masks.jsonl`.
    """

    title = "Manga109"
    head = _Line
    cure = "vgen-eval data prepare referring/manga109 converts the annotations once"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which classes of which books, and how much of a class has to be there."""

        classes: Annotated[tuple[Class, ...], msgspec.Meta(description="Classes asked for.")] = (
            "frame", "text", "onomatopoeia", "body", "face", "balloon",
        )  # fmt: skip
        books: Annotated[
            tuple[str, ...], msgspec.Meta(description="Titles as folders have them; none: all.")
        ] = ()
        min_area: Annotated[
            int, msgspec.Meta(description="Pixels of a class below which it is no sample.", ge=1)
        ] = 1

        def __post_init__(self) -> None:
            if not self.classes or len(set(self.classes)) != len(self.classes):
                raise ValueError("`classes` names none, or one twice")

    options: Options

    @property
    def mask_file(self) -> str:
        """Beside the books' files."""
        return f"{self._folder}/{PREPARED}"

    def find_entries(self) -> Sequence[MaskEntry]:
        """Books by title, their pages by number, classes in their order; MissingData until
        `prepare` was done."""
        classes, books = set(self.options.classes), set(self.options.books)

        def wanted(line: _Line) -> bool:
            return (
                line.category in classes
                and line.area >= self.options.min_area
                and (not books or line.image.partition("/")[0] in books)
            )

        entries = []
        for line, place in self._masks.heads(wanted):
            page = line.image.rpartition(".")[0]
            tags = {"class": line.category, "book": page.partition("/")[0]}
            item = Item(id=f"{page}/{line.category}", group=page, tags=tags)
            query, files = QUERIES[line.category], (f"images/{line.image}",)
            entries.append(MaskEntry(item, files, head=line, place=place, query=query))
        if not entries:
            raise MissingData(
                f"{self._masks.path} holds none of the classes and books", cure=self.cure
            )
        return entries

    def prepare(self, say: Callable[[str], None]) -> None:
        """Writes `masks.jsonl`; MissingData, naming the book, for a file that is no annotation."""
        found = self._release.scan(self._folder, "*.json", told="<Book>.json")
        books = sorted(path.stem for path in found)

        def lines() -> Iterator[Mapping[str, Any]]:
            for number, book in enumerate(books, 1):
                say(f"Manga109: {book} ({number} of {len(books)})")
                yield from self._join(book, say)

        count = write_lines(self._masks.path, lines())
        say(f"Manga109: {count:,} masks of {len(books)} books written to {self._masks.path}")

    def _join(self, book: str, say: Callable[[str], None]) -> Iterator[Mapping[str, Any]]:
        """The masks of a book: all outlines of a class on a page."""
        place = f"{self._folder}/{book}.json"
        where = f"Manga109: {self._release.root / place}"
        found = self._release.parse_index(place, msgspec.json.Decoder(_Book).decode)
        names = {entry.id: name_class(entry.name) for entry in found.categories}
        others = sorted(c.name for c in found.categories if names[c.id] is None)
        if others:
            say(f"{where}: left out, of other classes: {', '.join(others)}")
        parts: dict[tuple[int, str], list[Any]] = defaultdict(list)
        for entry in found.annotations:
            name = names.get(entry.category_id)
            if name is not None:
                shape = entry.segmentation
                parts[entry.image_id, name] += shape if isinstance(shape, list) else [shape]
        for page in sorted(found.images, key=lambda page: page.file_name):
            for name in QUERIES:
                if (page.id, name) not in parts:
                    continue
                size = (page.height, page.width)
                try:
                    mask = draw_segments(parts.pop((page.id, name)), size)
                except (ValueError, TypeError) as exc:
                    raise MissingData(f"{where}: {name} on {page.file_name}: {exc}") from exc
                # the book's own name: some files name the pages of another
                image = f"{book}/{PurePosixPath(page.file_name).name}"
                yield with_mask(
                    _Line(image=image, size=size, area=int(mask.sum()), category=name), mask
                )
        if parts:
            raise MissingData(f"{where}: outlines on image {min(parts)[0]}, which it does not list")

    @property
    def _folder(self) -> str:
        return self._release.first(FOLDERS)


def name_class(name: str) -> str | None:
    """Our name of a class as an annotation file writes it; None for one that is not among them."""
    plain = " ".join(name.lower().replace("_", " ").split())
    plain = OTHER_NAMES.get(plain, plain)
    return plain if plain in QUERIES else None
