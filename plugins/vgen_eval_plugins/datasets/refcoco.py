"""RefCOCO, RefCOCO+ and RefCOCOg: phrases that mean one thing in a photograph of COCO."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from vgen_eval.errors import MissingData
from vgen_eval.types import Item

from vgen_eval_plugins.datasets.mask_lines import Head, with_mask, write_lines
from vgen_eval_plugins.datasets.mask_reader import MaskEntry, MaskReader
from vgen_eval_plugins.datasets.refer_files import SPLITS, read_annotations, read_refs
from vgen_eval_plugins.datasets.segments import draw_segments

__all__ = ["RefCoco"]

TITLES = {"refcoco": "RefCOCO", "refcoco+": "RefCOCO+", "refcocog": "RefCOCOg"}
PICTURES = "images/mscoco/images/train2014"


class _Line(Head, frozen=True):
    """A reference: one thing, and what people called it."""

    ref: int
    split: str
    category: str
    sentences: tuple[tuple[int, str], ...]
    """Number and text of each."""


class RefCoco(MaskReader):
    """One sample a sentence; the truth is the union of the parts of the thing's annotation.

    Files: `<dataset>/refs(<split_by>).p` and `<dataset>/instances.json`, which `prepare` writes as
    `refs(<split_by>).jsonl`, masks and all: a run opens neither. Pictures: COCO train2014.
    """

    head = _Line
    cure = "vgen-eval data prepare referring/refcoco (refcoco-plus, refcocog) converts it once"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which of the three, how it is split, and which sentences count."""

        dataset: Annotated[
            Literal["refcoco", "refcoco+", "refcocog"], msgspec.Meta(description="Which of them.")
        ] = "refcoco"
        split_by: Annotated[
            Literal["unc", "umd", "google"], msgspec.Meta(description="Whose splits.")
        ] = "unc"
        split: Annotated[
            Literal["train", "val", "test", "testA", "testB"], msgspec.Meta(description="Split.")
        ] = "val"
        sentences: Annotated[
            Literal["all", "first", "one_per_ref"],
            msgspec.Meta(
                description="Every sentence of a thing, its first, or one drawn by its hash."
            ),
        ] = "all"

        def __post_init__(self) -> None:
            known = SPLITS[self.dataset]
            if self.split_by not in known:
                raise ValueError(f"{self.dataset} is split by {' or '.join(known)}")
            if self.split not in known[self.split_by]:
                splits = ", ".join(known[self.split_by])
                raise ValueError(f"{self.dataset} ({self.split_by}) has the splits {splits}")

    options: Options

    def __init__(self, options: Options, *, root: Path | None, folder: Path) -> None:
        self.title = TITLES[options.dataset]
        super().__init__(options, root=root, folder=folder)

    @property
    def mask_file(self) -> str:
        """Beside the pickle."""
        return f"{self.options.dataset}/refs({self.options.split_by}).jsonl"

    def find_entries(self) -> Sequence[MaskEntry]:
        """Every sentence of the split, by reference; MissingData until `prepare` was done."""
        entries = []
        for line, place in self._masks.heads(lambda head: head.split == self.options.split):
            tags = {"category": line.category, "split": line.split}
            files = (f"{PICTURES}/{line.image}",)
            for number, text in self._kept(line):
                item = Item(id=f"{line.ref}-{number}", group=line.image, tags=tags)
                entries.append(MaskEntry(item, files, head=line, place=place, query=text))
        if not entries:
            raise MissingData(f"{self._masks.path} holds no '{self.options.split}'", cure=self.cure)
        return entries

    def prepare(self, say: Callable[[str], None]) -> None:
        """Writes `refs(<split_by>).jsonl`; MissingData, naming the file, for what is no release."""
        name, by = self.options.dataset, self.options.split_by
        refs = read_refs(self._release, f"{name}/refs({by}).p")
        say(f"{self.title}: {len(refs):,} things in refs({by}).p")
        found = read_annotations(self._release, f"{name}/instances.json", refs)
        say(f"{self.title}: their outlines read from instances.json")

        def lines() -> Iterator[dict[str, Any]]:
            for ref in refs:
                try:
                    mask = found.mask(ref, draw_segments)
                    image = found.images[ref.image_id]
                except (KeyError, ValueError, TypeError) as exc:
                    raise MissingData(
                        f"{self.title}: {name}/instances.json: the annotation of ref "
                        f"{ref.ref_id} cannot be used: {exc}"
                    ) from exc
                yield with_mask(
                    _Line(
                        image=image.file_name,
                        size=(image.height, image.width),
                        area=int(mask.sum()),
                        ref=ref.ref_id,
                        split=ref.split,
                        category=found.categories.get(ref.category_id, ""),
                        sentences=tuple((s.sent_id, s.sent) for s in ref.sentences),
                    ),
                    mask,
                )

        count = write_lines(self._masks.path, lines())
        say(f"{self.title}: {count:,} things written to {self._masks.path}")

    def _kept(self, line: _Line) -> Sequence[tuple[int, str]]:
        if self.options.sentences == "all" or not line.sentences:
            return line.sentences
        if self.options.sentences == "first":
            return line.sentences[:1]
        return [
            min(
                line.sentences,
                key=lambda s: hashlib.sha256(f"{line.ref}\n{s[0]}".encode()).digest(),
            )
        ]
