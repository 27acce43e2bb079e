"""All look-alikes below one data root, and the protocols that are about them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import classes
import counts
import geometry
import phrases
from vgen_eval import cards
from vgen_eval.data.prepare import prepare
from vgen_eval.engine.naming import TaskRef, expand_tasks
from vgen_eval.engine.tasks import open_task
from vgen_eval.plugins import Catalog

CATALOG = Catalog.discover()
FAMILIES = ("depth", "normals", "referring", "semantic", "counting")
FACES = tuple(sorted(random.Random(77).sample(range(30_000), 150))[:2])
RAW = {"depth/nyuv2@standard"}
"""Whose raw depth lies in another layout."""

WITHOUT_LOOKALIKE = {"counting/pixmo-points", "counting/pixmo-count"}
"""Fetched from addresses in their tables: their readers' own tests serve them."""


def write_all(root: Path) -> None:
    """Every release, small."""
    geometry.write_nyuv2(root)
    geometry.write_diode(root)
    geometry.write_scannet(root)
    geometry.write_kitti(root)
    classes.write_cityscapes(root)
    classes.write_faces(root, FACES)
    classes.write_coco(root)
    phrases.write_refer(root)
    phrases.write_reasonseg(root)
    phrases.write_dram(root)
    phrases.write_manga(root)
    counts.write_fsc147(root)
    counts.write_countbench(root)
    geometry.write_nyuv2_raw(root / "raw")


def protocols() -> Iterator[TaskRef]:
    """Every task@protocol of the dense benchmarks that has a look-alike."""
    for _, head in CATALOG.heads("task"):
        if head.family not in FAMILIES or head.name.startswith("samples/"):
            continue
        if head.name in WITHOUT_LOOKALIKE:
            continue
        for protocol in cards.load_card(head.path).record.protocols:
            yield from expand_tasks([f"{head.name}@{protocol}"], CATALOG, notices=[])


def root_of(ref: TaskRef, root: Path) -> Path:
    """The data root that holds the layout which the protocol reads."""
    return root / "raw" if ref.label in RAW else root


def ids_there(ref: TaskRef, root: Path) -> list[str]:
    """Two samples of a look-alike whose files are there, made ready as `data prepare` does."""
    prepare(ref, CATALOG, root / str(ref.card.dataset.root), say=lambda _: None)
    task = open_task(ref, CATALOG, overrides={}, data_root=str(root), partial=True)
    look = getattr(task.dataset, "look", lambda _: [])
    gone = {problem.path for problem in look(task.items)}
    return [item.id for item in task.items if item.id not in gone][:2]
