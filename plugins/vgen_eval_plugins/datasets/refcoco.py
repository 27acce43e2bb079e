"""RefCOCO, RefCOCO+ and RefCOCOg: phrases that mean one thing in a photograph of COCO."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
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
from vgen_eval_plugins.datasets.refer_files import SPLITS, read_annotations, read_refs
from vgen_eval_plugins.datasets.release import Release
from vgen_eval_plugins.datasets.segments import draw_segments

__all__ = ["RefCoco"]

PICTURES = "images/mscoco/images/train2014"
CURE = "vgen-eval data prepare referring/refcoco (refcoco-plus, refcocog) converts the release once"


class _Line(Head, frozen=True):
    """A reference: one thing, and what people called it."""

    ref: int
    split: str
    category: str
    sentences: tuple[tuple[int, str], ...]
    """Number and text of each."""


class RefCoco:
    """One sample a sentence; the truth is the union of the parts of the thing's annotation.

    Files: `<dataset>/refs(<split_by>).p` and `<dataset>/instances.json`, which `prepare` writes as
    `refs(<split_by>).jsonl`, masks and all: a run opens neither. Pictures: COCO train2014.
    """

    version: ClassVar[int] = 1

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

    def __init__(self, options: Options, *, root: Path | None, folder: Path) -> None:  # noqa: ARG002
        self.options = options
        titles = {"refcoco": "RefCOCO", "refcoco+": "RefCOCO+", "refcocog": "RefCOCOg"}
        self._release = Release(root, title=titles[options.dataset])

    def index(self) -> Sequence[Item]:
        """Every sentence of the split, by reference; MissingData until `prepare` was done."""
        return [item for item, _ in self._samples.values()]

    def load(self, item: Item) -> Sample:
        """The photograph and the mask; BadSample when a file is faulty or of another size."""
        known = self._samples.get(item.id)
        if known is None:
            raise BadSample(f"{self._masks.path}: no sample '{item.id}'")
        item, (line, place, text) = known
        name = f"{PICTURES}/{line.image}"
        picture = read_picture(self._release, name)
        return masked_sample(item, picture, self._masks.mask(line, place), what=name, query=text)

    def look(self, items: Sequence[Item]) -> list[Problem]:
        """Photographs of these samples that are missing or empty."""
        return self._release.look(
            {i.id: (f"{PICTURES}/{self._samples[i.id][1][0].image}",) for i in items}
        )

    def verify(self, items: Sequence[Item]) -> list[Problem]:
        """Every fault that loading these samples shows."""
        return self._release.verify(items, self.load)

    def fingerprint(self) -> str:
        """sha256 over the ids and the split's prepared lines, which hold phrases and masks."""
        told = "\n".join([*self._samples, self._masks.fingerprint()])
        return hashlib.sha256(told.encode()).hexdigest()

    def prepare(self, say: Callable[[str], None]) -> None:
        """Writes `refs(<split_by>).jsonl`; MissingData, naming the file, for what is no release."""
        name, by = self.options.dataset, self.options.split_by
        refs = read_refs(self._release, f"{name}/refs({by}).p")
        say(f"{self._release.title}: {len(refs):,} things in refs({by}).p")
        found = read_annotations(self._release, f"{name}/instances.json", refs)
        say(f"{self._release.title}: their outlines read from instances.json")

        def lines() -> Iterator[dict[str, Any]]:
            for ref in refs:
                try:
                    mask = found.mask(ref, draw_segments)
                    image = found.images[ref.image_id]
                except (KeyError, ValueError, TypeError) as exc:
                    raise MissingData(
                        f"{self._release.title}: {name}/instances.json: the annotation of ref "
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

        path = self._release.root / self._prepared
        count = write_lines(path, lines())
        say(f"{self._release.title}: {count:,} things written to {path}")

    @property
    def _prepared(self) -> str:
        return f"{self.options.dataset}/refs({self.options.split_by}).jsonl"

    @cached_property
    def _masks(self) -> PreparedMasks:
        return PreparedMasks(self._release, self._prepared, _Line, cure=CURE)

    @cached_property
    def _samples(self) -> dict[str, tuple[Item, tuple[_Line, tuple[int, int], str]]]:
        samples: dict[str, Any] = {}
        for line, place in self._masks.heads(lambda head: head.split == self.options.split):
            tags = {"category": line.category, "split": line.split}
            for number, text in self._kept(line):
                item = Item(id=f"{line.ref}-{number}", group=line.image, tags=tags)
                samples[item.id] = (item, (line, place, text))
        if not samples:
            raise MissingData(f"{self._masks.path} holds no '{self.options.split}'", cure=CURE)
        return samples

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
