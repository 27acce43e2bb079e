"""The tables that ship: each can be asked for, one is reproduced on a look-alike of its data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lookalikes import refer_seg
from PIL import Image
from reproducekit import Say, cells, table
from vgen_eval.engine.importing import import_predictions
from vgen_eval.engine.naming import expand_tasks
from vgen_eval.engine.tasks import open_task
from vgen_eval.pairing import Unpaired
from vgen_eval.plugins import Catalog
from vgen_eval.results.published import Table, find_table, load_published
from vgen_eval.results.reproducing.asking import ask
from vgen_eval.results.reproducing.departures import make_reference
from vgen_eval.results.reproducing.targets import check_table
from vgen_eval_plugins.datasets.refcoco import RefCoco

TABLES = load_published()
WANTED = {
    "probegen": ["table-1", "table-2", "table-3", "table-4", "table-5", "table-6",
                 "decoder-selection", "tuning", "efficiency"],
    "editors": ["table-2", "table-3", "table-4"],
    "pixelarena": ["figure-6", "figure-11"],
    "qbench": ["a1", "a2", "a3", "argmax", "ensemble"],
    "vgi": ["video", "image", "strict", "levels", "evaluator"],
}  # fmt: skip


@pytest.mark.parametrize("paper", WANTED)
def test_the_targets_are_there(paper: str) -> None:
    assert all(find_table(f"{paper}:{name}").paper == paper for name in WANTED[paper])


@pytest.mark.parametrize("shipped", TABLES, ids=lambda t: t.name)
def test_a_table_names_only_what_there_is(shipped: Table) -> None:
    check_table(shipped, Catalog.discover())


@pytest.mark.parametrize("shipped", TABLES, ids=lambda t: t.name)
def test_every_cell_can_be_held_against_a_protocol(shipped: Table) -> None:
    catalog = Catalog.discover()
    unpaired = set()
    for part in (part for asked in ask(shipped, catalog) for part in asked.parts):
        try:
            make_reference(part.row, part.ref, part.model, catalog)
        except Unpaired:
            unpaired.add(part.model.word)
    # it gives a mask, where these figures are of classes
    of_classes = ("pixelarena:figure-6", "vision_banana:table-2")
    assert unpaired == ({"facebook/sam3"} if shipped.name in of_classes else set())


def test_a_table_whose_task_is_not_there_says_so(tmp_path: Path, say: Say) -> None:
    code, record = say(table(tmp_path, awaits="a task of another day"))
    assert (code, record["cells"]) == (0, [])
    assert record["awaits"] == "a task of another day"


def test_every_shipped_table_has_rows() -> None:
    assert [one.name for one in TABLES if one.awaits or not one.rows] == []


def test_the_list_tells_how_much_of_each_is_here(say: Say) -> None:
    code, record = say("list")
    states = {target["target"]: target for target in record["targets"]}
    assert code == 0
    assert states["editors:table-2"]["state"] == "not run"
    assert states["editors:table-2"]["figures"] == 29
    assert states["qbench:a3"]["state"] == "not run"
    assert states["qbench:a3"]["figures"] == 7 * 15 * 2 + 7 + 4
    assert states["probegen:table-a1"]["also"] == ["probegen:decoder-selection"]
    assert {name.partition(":")[0] for name in states} >= set(WANTED)


def _paint(folder: Path, root: Path, share: float) -> None:
    """Masks that hold this share of each target and nothing else: their IoU."""
    catalog = Catalog.discover()
    (ref,) = expand_tasks(["referring/refcocog@probegen"], catalog, notices=[])
    task = open_task(ref, catalog, overrides={}, data_root=str(root))
    for item in task.items:
        truth = np.asarray(task.dataset.load(item).target) == 1
        inside = np.flatnonzero(truth)
        picture = np.zeros(truth.size, np.uint8)
        picture[inside[: round(share * inside.size)]] = 255
        path = folder / f"{item.id}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.repeat(picture.reshape(*truth.shape, 1), 3, axis=2)).save(path)


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_a_shipped_table_on_a_look_alike(tmp_path: Path, say: Say) -> None:
    root = tmp_path / "data"
    refer_seg.write(root, samples=6, dataset="refcocog", split_by="umd")
    options = RefCoco.Options(dataset="refcocog", split_by="umd")
    RefCoco(options, root=root / "refer_seg", folder=root).prepare(lambda _: None)
    _paint(tmp_path / "masks", root, 0.767)  # the figure of the mid prompt
    import_predictions(
        task="referring/refcocog@probegen", predictions=tmp_path / "masks",
        model_name="google/nano-banana-2", catalog=Catalog.discover(),
        output=str(tmp_path / "out"), data_root=str(root),
    )  # fmt: skip
    code, record = say("probegen:table-6", "--no-run")
    assert code == 0
    short, mid, long = cells(record)
    assert mid["ours"]["value"] == pytest.approx(0.767, abs=1e-3)
    assert (mid["verdict"], mid["number"]) == ("approximate", "within")
    assert [each["field"] for each in mid["report"]] == ["samples"]
    assert mid["reason"].startswith("3 samples, paper 500; its 500 samples")
    for other in (short, long):
        assert {each["field"] for each in other["report"]} == {"prompt", "samples"}
        assert f"prompt mid, not {other['prompt']}" in other["reason"]
    _, read_again = say("probegen:table-5", "--no-run", "--data-root", str(root))
    assert {cell["verdict"] for cell in cells(read_again)} == {"not comparable", "not run"}
    told = "no run of google/nano-banana-2 is here (referring/refcoco, "
    assert told in _reason(read_again, "Nano Banana 2")
    assert "referring/refcocog" not in _reason(read_again, "Nano Banana 2")


def _reason(record: dict[str, Any], label: str) -> str:
    return next(str(c["reason"]) for c in cells(record) if c["label"] == label)


def test_documents_hold_nothing_but_plain_json(say: Say) -> None:
    for name in ("editors:table-2", "pixelarena:figure-6", "probegen:table-5"):
        _, record = say(name, "--no-run")
        assert json.loads(json.dumps(record, allow_nan=False)) == record
