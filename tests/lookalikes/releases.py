"""The cards that read public releases, and a look-alike of each release below one data root."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from vgen_eval import cards
from vgen_eval.cards.records import TaskCard
from vgen_eval.data.prepare import prepare
from vgen_eval.engine.naming import TaskRef, expand_tasks
from vgen_eval.engine.tasks import open_task
from vgen_eval.plugins import Catalog
from vgen_eval.types import Sample

from lookalikes import (
    celebamask_hq,
    cityscapes,
    coco,
    countbench,
    diode,
    dram,
    fsc147,
    kitti,
    lldescribe,
    llvisionqa,
    manga109,
    nyuv2,
    pixmo,
    reason_seg,
    refer_seg,
    scannet,
    vgi_bench,
)
from lookalikes.server import serve

__all__ = ["CATALOG", "ids_there", "open_reader", "protocols", "read"]

CATALOG = Catalog.discover()
FAMILIES = ("depth", "normals", "referring", "semantic", "counting")

DRAWN = 150
"""Pictures of a seeded draw, which need that many to draw from."""

FACES = sorted(random.Random(77).sample(range(30_000), DRAWN))[:2]
"""The first numbers of the draw of faces that the card is about."""


def protocols() -> Iterator[TaskRef]:
    """Every task@protocol whose data is a public release."""
    for _, head in CATALOG.heads("task"):
        if head.family not in FAMILIES:
            continue
        card = cards.load_card(head.path).record
        assert isinstance(card, TaskCard)
        if card.dataset.root is not None:  # what ships with the package has none
            names = [f"{head.name}@{protocol}" for protocol in card.protocols]
            yield from expand_tasks(names, CATALOG, notices=[])


def ids_there(ref: TaskRef, root: Path, *, count: int = 2) -> list[str]:
    """`count` samples of the task's look-alike, evenly spaced, which is written and made ready."""
    name = str(ref.card.dataset.root)
    if not (root / name).exists():
        WRITERS[name](root)
    if name not in MADE_READY:
        prepare(ref, CATALOG, root / name, say=lambda _: None)
    task = open_task(ref, CATALOG, overrides={}, data_root=str(root), partial=True)
    dataset: Any = task.dataset
    gone = {problem.path for problem in dataset.look(task.items)}
    there = [item.id for item in task.items if item.id not in gone]
    return there[:: -(-len(there) // count)][:count]


def open_reader(name: str, root: Path, **more: object) -> Any:
    """The task's reader on what it has made ready, with `more` options than the card's own."""
    (ref,) = expand_tasks([name], CATALOG, notices=[])
    data = ref.card.dataset
    kind = CATALOG.component("dataset", data.reader, home=ref.distribution).obj
    options = cards.convert(kind.Options, {**data.options, **more}, file=name)
    reader = kind(options, root=root / str(data.root), folder=ref.folder)
    if hasattr(reader, "prepare"):
        reader.prepare(lambda _: None)
    return reader


def read(name: str, root: Path, **more: object) -> list[Sample]:
    """Every sample that the task's reader gives, none of which it may find fault with."""
    reader = open_reader(name, root, **more)
    items = reader.index()
    assert reader.look(items) == []
    assert reader.verify(items) == []
    return [reader.load(item) for item in items]


def _write_nyuv2(root: Path) -> None:
    """The flat extraction, the 16-bit re-export with raw depth, and the other normals."""
    nyuv2.write_flat(root, samples=5)  # as many as decoders of normals are calibrated on
    nyuv2.write_png_export(root, samples=2)
    nyuv2.write_dsine(root, samples=5)


def _write_diode(root: Path) -> None:
    for domain in ("indoors", "outdoor"):
        diode.write(root, domain=domain, samples=2)


def _write_refer_seg(root: Path) -> None:
    for dataset, split_by in (("refcoco", "unc"), ("refcoco+", "unc"), ("refcocog", "umd")):
        refer_seg.write(root, dataset=dataset, split_by=split_by)


def _write_reason_seg(root: Path) -> None:
    for split in ("val", "test"):
        reason_seg.write(root, split=split, samples=2)


def _write_pixmo_points(root: Path) -> None:
    with serve(pixmo.pictures()) as url:
        pixmo.write_points(root, url)
        open_reader("counting/pixmo-points", root, trusted=url)


def _write_pixmo_count(root: Path) -> None:
    with serve(pixmo.pictures()) as url:
        pixmo.write_count(root, url)
        open_reader("counting/pixmo-count", root, trusted=url)


WRITERS: Mapping[str, Callable[[Path], object]] = {
    "nyuv2": _write_nyuv2,
    "diode": _write_diode,
    "scannet": lambda root: scannet.write(root, samples=2, large_colour=True),
    "kitti": lambda root: kitti.write(root, samples=2),
    "refer_seg": _write_refer_seg,
    "reason_seg": _write_reason_seg,
    "dram": lambda root: dram.write(root, samples=2, movements="dram"),
    "manga109": lambda root: manga109.write(root, samples=2),
    "cityscapes": lambda root: cityscapes.write(root, samples=2),
    "celebamask_hq": lambda root: celebamask_hq.write_official(root, numbers=FACES),
    "coco": lambda root: coco.write(root, samples=2, listed=DRAWN),
    "pixmo-points": _write_pixmo_points,
    "pixmo-count": _write_pixmo_count,
    "fsc147": lambda root: fsc147.write(root, samples=2),
    "countbench": lambda root: countbench.write(root, samples=2),
    "llvisionqa": llvisionqa.write,
    "lldescribe": lldescribe.write,
    "vgi_bench": vgi_bench.write,
}
"""A card's folder below the data root -> what writes the look-alike."""

MADE_READY = {"pixmo-points", "pixmo-count"}
"""While their pictures are served; afterwards nobody has them."""
