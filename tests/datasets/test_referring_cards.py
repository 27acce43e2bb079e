"""The referring cards, from files on disk to numbers, with the models that learned nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import vgen_eval
from referkit import CORNER, SQUARE, box, quiet, write_book, write_dram, write_reason, write_refcoco
from vgen_eval_plugins.datasets.dram import Dram
from vgen_eval_plugins.datasets.manga109 import Manga109
from vgen_eval_plugins.datasets.refcoco import RefCoco


def make_refcoco(name: str, by: str) -> Callable[[Path], list[str]]:
    def make(root: Path) -> list[str]:
        root = root / "refer_seg"
        write_refcoco(root, name=name, by=by)
        reader = RefCoco(
            RefCoco.Options(dataset=name, split_by=by),  # type: ignore[arg-type]
            root=root,
            folder=root,
        )
        reader.prepare(quiet)
        return [item.id for item in reader.index()]

    return make


def make_reason(split: str) -> Callable[[Path], list[str]]:
    def make(root: Path) -> list[str]:
        shapes = [box("target", 3, 3, 18, 15), box("ignore", 5, 5, 8, 8)]
        write_reason(root / "reason_seg", "a", shapes, split=split)
        write_reason(root / "reason_seg", "b", [], split=split)
        return ["a", "b"]

    return make


def make_dram(root: Path) -> list[str]:
    label = np.zeros((24, 32), np.uint8)
    label[3:12, 4:20] = 15
    label[14:22, 8:26] = 12
    label[0] = 255
    write_dram(root / "dram", {"realism/a/one": label})
    Dram(Dram.Options(), root=root / "dram", folder=root).prepare(quiet)
    return ["realism/a/one/person", "realism/a/one/dog"]


def make_manga(root: Path) -> list[str]:
    write_book(root / "manga109", "BookA", {"000.jpg": {"face": [[SQUARE]], "text": [[CORNER]]}})
    Manga109(Manga109.Options(), root=root / "manga109", folder=root).prepare(quiet)
    return ["BookA/000/face", "BookA/000/text"]


CARDS: dict[str, Callable[[Path], list[str]]] = {
    "refcoco": make_refcoco("refcoco", "unc"),
    "refcoco-plus": make_refcoco("refcoco+", "unc"),
    "refcocog": make_refcoco("refcocog", "umd"),
    "reasonseg": make_reason("test"),
    "reasonseg-val": make_reason("val"),
    "dram": make_dram,
    "manga109": make_manga,
}
PROTOCOLS = [
    *[(name, protocol) for name in CARDS for protocol in ("probegen", "standard")],
    *[(name, "vision_banana") for name in ("refcocog", "reasonseg", "reasonseg-val")],
]


def run(task: str, model: str, ids: list[str], root: Path, out: Path) -> vgen_eval.ResultCard:
    (card,) = vgen_eval.evaluate(
        tasks=f"referring/{task}",
        model=model,
        samples=ids,
        data_root=str(root),
        bounds=False,
        output=str(out),
    )
    return card


@pytest.mark.parametrize(("task", "protocol"), PROTOCOLS)
def test_a_model_that_sees_perfectly_scores_one(task: str, protocol: str, tmp_path: Path) -> None:
    ids = CARDS[task](tmp_path / "data")
    card = run(f"{task}@{protocol}", "oracle", ids, tmp_path / "data", tmp_path / "out")
    assert card.counts.answered == len(ids)
    values = {s.metric: s.value for s in card.scores if s.subset == "all"}
    assert values["giou"] == 1.0
    assert values["ciou"] == 1.0
    if protocol == "standard":
        assert values["lisa.giou"] == pytest.approx(1.0, abs=2e-5)


@pytest.mark.parametrize("model", ["classical", "blind"])
@pytest.mark.parametrize("task", ["refcoco", "reasonseg", "dram", "manga109"])
def test_models_that_learned_nothing_are_scored_below_one(
    task: str, model: str, tmp_path: Path
) -> None:
    ids = CARDS[task](tmp_path / "data")
    card = run(task, model, ids, tmp_path / "data", tmp_path / "out")
    assert card.counts.answered == len(ids)
    values = {s.metric: s.value for s in card.scores if s.subset == "all"}
    assert values["giou"] is not None
    assert 0 <= values["giou"] < 1
