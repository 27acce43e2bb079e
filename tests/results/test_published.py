"""The papers' figures: every file loads, names what there is, and holds what was printed."""

from __future__ import annotations

import pytest
from vgen_eval import cards
from vgen_eval.errors import CardError, UsageError
from vgen_eval.plugins import Catalog
from vgen_eval.results.published import Table, _read, find_table, load_published

TABLES = load_published()
IDS = [f"{table.paper}:{table.table}" for table in TABLES]

PRINTED = {  # typed again from the papers' tables, in the unit of the value
    ("editors:table-2", "NYUv2", "Qwen-Image-Edit-2511", "absrel"): 0.176,
    ("editors:table-2", "DIODE outdoor", "FireRed-Image-Edit-1.1", "rmse"): 7.83,
    ("editors:table-3", "NYUv2", "LongCat", "mean"): 67.86,
    ("editors:table-3", "NYUv2", "Qwen-Image-Edit", "within_11_25"): 0.432,
    ("editors:table-4", "Cityscapes, 19 classes", "FireRed", "image_miou"): 0.205,
    ("editors:table-4", "Cityscapes, 7 categories", "LongCat", "image_pixel_accuracy"): 0.609,
    ("probegen:table-3", "NYUv2", "Qwen-Image-Edit-2511", "absrel"): 0.056,
    ("probegen:table-4", "PixMo-Points, generators", "Nano Banana 2", "rmse"): 15.5,
    ("probegen:table-6", "RefCOCOg, long prompt", "Nano Banana 2", "giou"): 0.757,
    ("vision_banana:table-3", "nuScenes", "Vision Banana", "delta1"): 0.643,
    ("vision_banana:table-4", "NYUv2", "Vision Banana", "median"): 8.876,
    ("qbench:a1", "dev, multiple choice", "Qwen-VL (QwenLM)", "accuracy"): 0.5940,
    ("qbench:a1", "test, multiple choice", "Senior-level Human", "accuracy"): 0.8174,
    ("qbench:a1", "test, perplexity", "kosmos_2", "accuracy"): 0.4950,
    ("qbench:a1", "test, multiple choice, later entries", "BlueImage-GPT", "accuracy"): 0.8107,
    ("qbench:a2", "LLDescribe", "Kosmos-2", "sum"): 4.03,
    ("qbench:a2", "LLDescribe, later entries", "BlueImage-GPT", "sum"): 5.49,
    ("qbench:a3", "LIVE-itw", "idefics", "srcc"): 0.409,
    ("qbench:a3", "AGIQA-3K", "idefics", "plcc"): 0.622,
    ("qbench:a3", "SPAQ", "shikra", "srcc"): 0.327,
    ("qbench:a3", "SPAQ, as the README prints it", "shikra", "srcc"): 0.320,
    ("qbench:a3", "mean of the seven sets", "NIQE", "srcc"): 0.387,
    ("vgi:video", "all domains", "Seedance 2.0", "final"): 0.510,
    ("vgi:video", "structured puzzles", "VBVR-Wan 2.2 (fine-tuned)", "final"): 0.510,
    ("vgi:levels", "physical manipulation, hard", "HunyuanVideo-1.5", "final"): 0.119,
    ("vgi:levels", "visual organization, easy", "Kling 3.0", "final"): 0.676,
    ("vgi:image", "easy", "GPT-Image-2", "success"): 0.488,
    ("vgi:evaluator", "lowest of the slices by domain and skill", "full judge", "roc_auc"): 0.73,
    ("pixelarena:text", "COCO, where OneFormer is best", "OneFormer", "f1"): 0.8096,
}


@pytest.mark.parametrize("key", PRINTED, ids="/".join)
def test_a_figure_is_the_one_that_the_paper_prints(key):
    table, data, label, value = key
    (row,) = (row for row in find_table(table).rows if row.data == data)
    (cell,) = (cell for cell in row.cells if cell.label == label)
    assert cell.values[value] == PRINTED[key]


@pytest.mark.parametrize("table", TABLES, ids=IDS)
def test_what_a_table_names_is_there(table: Table):
    catalog = Catalog.discover()
    models = {head.name for _, head in catalog.heads("model")}
    for row in table.rows:
        assert {cell.model for cell in row.cells} <= models | {None}
        if row.task is None:
            assert row.protocol is None
            continue
        _, head = catalog.find("task", row.task)
        protocols = cards.load_card(head.path).record.protocols
        if row.protocol is None or row.measure == "speed":
            continue
        protocol = cards.protocol(cards.load_card(head.path).record, row.protocol)
        reported = set()
        for metric in protocol.metrics:
            prefix = f"{metric.label}." if metric.label else ""
            component = catalog.component("metric", metric.name, home="vgen-eval")
            reported |= {prefix + value.name for value in component.obj.values}
        assert set(row.tolerance) <= reported, row.data
        assert row.protocol in protocols


@pytest.mark.parametrize("table", TABLES, ids=IDS)
def test_figures_lie_in_their_units(table: Table):
    shares = ("delta", "within", "giou", "ciou", "miou", "f1", "image_", "accuracy", "srcc", "plcc",
              "final", "success", "roc_auc", "pairwise_accuracy")  # fmt: skip
    for row in (row for row in table.rows if row.measure == "score"):
        for cell in row.cells:
            for name, number in cell.values.items():
                top = 1.0 if name.startswith(shares) else 180.0
                low = -1.0 if name in ("srcc", "plcc") else 0.0
                assert low <= number <= top
                least = 0.0005 if number else 0.05  # a lone 0.0 has one digit
                assert 0 < row.tolerance[name] <= max(0.06 * abs(number), least)


def test_no_row_stands_twice_and_no_model_twice_in_one():
    rows = [(t.paper, t.table, row.data) for t in TABLES for row in t.rows]
    assert len(set(rows)) == len(rows)
    for table in TABLES:
        for row in table.rows:
            labels = [cell.label for cell in row.cells]
            assert len(set(labels)) == len(labels)


def test_what_the_papers_disagree_about_is_marked():
    by_data = {row.data: row for row in find_table("editors:table-2").rows}
    assert by_data["DIODE indoor"].n_paper == 771
    assert by_data["DIODE indoor"].comparability == "not_comparable"
    assert by_data["NYUv2, Vision Banana"].comparability == "not_comparable"
    assert all(r.comparability == "not_comparable" for r in find_table("probegen:table-a1").rows)
    assert find_table("probegen:table-5").rows[0].cells[0].model is None
    assert "inferred" in str(find_table("probegen:table-6").rows[0].reason)


def test_an_unknown_table_names_the_nearest():
    with pytest.raises(UsageError, match="editors:table-2"):
        find_table("editors:table2")


GOOD = """
paper: a
table: b
title: t
source: s
rows:
  - {data: x, tag: S, tolerance: {mae: 0.5}, comparability: comparable,
     cells: [{label: m, values: {mae: 3}}]}
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD.replace("table: b", "table: c"), "name another file"),
        (
            GOOD.replace("{mae: 0.5}", "{rmse: 0.5}"),
            "has to give mae: half a step of the last digit",
        ),
        (GOOD.replace("{mae: 0.5}", "{mae: 0.5, rmse: 1}"), "of rmse: no cell has such a value"),
        (GOOD.replace("comparable,", "approximate,"), "needs a reason"),
        (GOOD.replace("tag: S", "tag: M"), "tag"),
        (GOOD.replace("data: x", "data: x, subset: how"), "subset"),
        (GOOD.replace("data: x", "data: x, answer: words"), "answer"),
        (GOOD.replace("title: t", "titel: t"), "title: required key is missing"),
    ],
)
def test_a_faulty_table_says_what_is_wrong(text, words):
    assert _read(GOOD, "a/b.yaml").rows[0].cells[0].values == {"mae": 3.0}
    with pytest.raises(CardError, match=words):
        _read(text, "a/b.yaml")
