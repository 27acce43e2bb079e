"""Manga109 with the outlines of MangaSegmentation: frames, text, figures and faces on pages."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from vgen_eval.errors import BadSample, MissingData, Problem
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.mask_lines import (
    Head,
    PreparedMasks,
    masked_sample,
    read_picture,
    with_mask,
    write_lines,
)
from vgen_eval_plugins.datasets.release import Release
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
CURE = "vgen-eval data prepare referring/manga109 converts the annotations once"
WHERE = "vgen-eval data list says where the files come from and how they lie"

Side = Annotated[int, msgspec.Meta(ge=1, le=1 << 16)]


class _Line(Head, frozen=True):
    """All of one class on one page."""

    category: str


class _Page(msgspec.Struct, frozen=True):
    id: int
    file_name: str
    width: Side
    height: Side


class _Category(msgspec.Struct, frozen=True):
    id: int
    name: str


class _Annotation(msgspec.Struct, frozen=True):
    image_id: int
    category_id: int
    segmentation: Any


class _Book(msgspec.Struct, frozen=True):
    images: list[_Page]
    annotations: list[_Annotation]
    categories: list[_Category]


class Manga109:
    """One sample a page and class on it: all pixels of the class.

    Files: `images/<Book>/NNN.jpg` and `segmentation/<Book>.json` in COCO's format, whose
    outlines `prepare` joins by class and writes as `segmentation/masks.jsonl`.
    """

    version: ClassVar[int] = 1

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

    def __init__(self, options: Options, *, root: Path | None, folder: Path) -> None:  # noqa: ARG002
        self.options = options
        self._release = Release(root, title="Manga109")

    def index(self) -> Sequence[Item]:
        """Books by title, their pages by number, classes in their order; MissingData until
        `prepare` was done."""
        return [item for item, _, _ in self._samples.values()]

    def load(self, item: Item) -> Sample:
        """The page and the mask; BadSample when a file is faulty or of another size."""
        known = self._samples.get(item.id)
        if known is None:
            raise BadSample(f"{self._masks.path}: no sample '{item.id}'")
        item, line, place = known
        name, query = f"images/{line.image}", QUERIES[line.category]
        picture = read_picture(self._release, name)
        return masked_sample(item, picture, self._masks.mask(line, place), what=name, query=query)

    def look(self, items: Sequence[Item]) -> list[Problem]:
        """Pages of these samples that are missing or empty."""
        return self._release.look(
            {item.id: (f"images/{self._samples[item.id][1].image}",) for item in items}
        )

    def verify(self, items: Sequence[Item]) -> list[Problem]:
        """Every fault that loading these samples shows."""
        return self._release.verify(items, self.load)

    def fingerprint(self) -> str:
        """sha256 over the ids and the prepared lines, which hold the masks."""
        told = "\n".join([*self._samples, self._masks.fingerprint()])
        return hashlib.sha256(told.encode()).hexdigest()

    def prepare(self, say: Callable[[str], None]) -> None:
        """Writes `masks.jsonl`; MissingData, naming the book, for a file that is no annotation."""
        folder = self._release.root / self._folder
        books = sorted(path.stem for path in folder.glob("*.json"))
        if not books:
            raise MissingData(f"Manga109: no <Book>.json in {folder}", cure=WHERE)

        def lines() -> Iterator[Mapping[str, Any]]:
            for number, book in enumerate(books, 1):
                say(f"Manga109: {book} ({number} of {len(books)})")
                yield from self._join(book, say)

        count = write_lines(self._masks.path, lines())
        say(f"Manga109: {count:,} masks of {len(books)} books written to {self._masks.path}")

    def _join(self, book: str, say: Callable[[str], None]) -> Iterator[Mapping[str, Any]]:
        """The masks of a book: all outlines of a class on a page."""
        place = f"{self._folder}/{book}.json"
        data = self._release.read_index(place, cure=WHERE)
        where = f"Manga109: {self._release.root / place}"
        try:
            found = msgspec.json.decode(data, type=_Book)
        except ValueError as exc:
            raise MissingData(f"{where}: {exc}", cure=WHERE) from exc
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

    @cached_property
    def _folder(self) -> str:
        return next((name for name in FOLDERS if self._release.has(name)), FOLDERS[0])

    @cached_property
    def _masks(self) -> PreparedMasks:
        return PreparedMasks(self._release, f"{self._folder}/{PREPARED}", _Line, cure=CURE)

    @cached_property
    def _samples(self) -> dict[str, tuple[Item, _Line, tuple[int, int]]]:
        classes, books = set(self.options.classes), set(self.options.books)

        def wanted(line: _Line) -> bool:
            return (
                line.category in classes
                and line.area >= self.options.min_area
                and (not books or line.image.partition("/")[0] in books)
            )

        samples = {}
        for line, place in self._masks.heads(wanted):
            page = line.image.rpartition(".")[0]
            tags = {"class": line.category, "book": page.partition("/")[0]}
            item = Item(id=f"{page}/{line.category}", group=page, tags=tags)
            samples[item.id] = (item, line, place)
        if not samples:
            raise MissingData(f"{self._masks.path} holds none of the classes and books", cure=CURE)
        return samples


def name_class(name: str) -> str | None:
    """Our name of a class as an annotation file writes it; None for one that is not among them."""
    plain = " ".join(name.lower().replace("_", " ").split())
    plain = OTHER_NAMES.get(plain, plain)
    return plain if plain in QUERIES else None
