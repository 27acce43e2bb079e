"""Figures of samples: what stands in the cells, what the caption says, equal bytes."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import msgspec
import numpy as np
import PIL.Image
import pytest
import shown_kit as kit
import yaml
from vgen_eval import evaluate
from vgen_eval.errors import UsageError
from vgen_eval.plugins import Catalog
from vgen_eval.results.reading import read_run
from vgen_eval.viewer.drawing.maps import ABOVE, BELOW
from vgen_eval.viewer.drawing.render import Style
from vgen_eval.viewer.figure.build import build_figure
from vgen_eval.viewer.figure.cells import Cell
from vgen_eval.viewer.figure.draw import draw_figure
from vgen_eval.viewer.figure.extent import measure

pytest.importorskip("matplotlib")
CARDS = Path(__file__).parents[2] / "task_cards"
DEPTH = ("classical depth", "oracle depth")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return kit.make_runs(tmp_path_factory.mktemp("figures"))


def figure(runs, *names, layout="editors", select="random:1", n=2, width=7.0, **more):
    gathered = kit.gathered(runs, *(names or DEPTH), select=select, n=n)
    return build_figure(gathered, layout=layout, width=width, **more)


def test_editors_has_answers_over_what_they_were_read_as(runs):
    made = figure(runs)
    assert made.heads == ("input, truth", "classical", "oracle (ceiling)")
    assert len(made.bands) == 4
    assert [band.title != "" for band in made.bands] == [True, False, True, False]
    assert all(cell.kind == "picture" for band in made.bands for cell in band.cells)
    assert [cell.under for cell in made.bands[0].cells] == ["", "", ""]
    assert made.bands[1].cells[2].under.startswith("delta1 ")


def test_a_row_of_errors_is_asked_for(runs):
    made = figure(runs, n=1, with_error=True)
    assert [cell.kind for cell in made.bands[2].cells] == ["empty", "picture", "picture"]


def test_a_gallery_is_a_row_a_sample_and_a_block_a_model(runs):
    made = figure(runs, layout="gallery", n=3)
    assert made.heads == ("input", "truth", "answer", "prediction", "answer", "prediction")
    assert made.models == ("classical", "oracle (ceiling)")
    assert made.blocks == (2, 4)
    assert len(made.bands) == 3


def test_the_record_has_rule_seed_ids_runs_map_and_range(runs):
    made = figure(runs, select="random:5", n=1)
    record = made.record
    assert (record["select"], record["seed"]) == ("random:5", 5)
    assert len(record["ids"]) == 1
    assert [run["run"] for run in record["runs"]] == [runs[name].card.run for name in DEPTH]
    (colours,) = record["colours"]
    assert (colours["map"], colours["unit"], colours["reverse"]) == ("viridis", "m", True)
    assert 0 < colours["low"] < colours["high"]
    assert record["shown"][0]["sample"] == record["ids"][0]


def test_the_caption_names_the_choice_the_map_its_range_and_the_number(runs):
    caption = figure(runs, select="random:5", n=1).record["caption"]
    low, high = figure(runs, select="random:5", n=1).record["colours"][0]["ranges"][0]
    assert "1 sample drawn at random (seed 5), of 3 samples" in caption
    assert f"map viridis, {low:.3g} to {high:.3g} m, the low end bright" in caption
    assert "under each: delta1, higher is better" in caption
    assert "range of each sample beside it in m" in figure(runs, n=3).record["caption"]


def test_all_models_on_a_sample_share_one_range(runs):
    made = figure(runs, n=3)
    scales = [band.scale for band in made.bands if band.scale is not None]
    assert len(scales) == 3
    assert [[s.low, s.high] for s in scales] == made.record["colours"][0]["ranges"]


def test_numbers_beyond_the_range_are_drawn_as_its_ends(runs):
    made = figure(runs, n=3)
    for band in made.bands[1::2]:
        for cell in band.cells:
            flat = cell.array.reshape(-1, 3)
            assert not (flat == ABOVE).all(axis=1).any()
            assert not (flat == BELOW).all(axis=1).any()


def test_an_end_that_single_precision_rounds_up_is_within_the_range(runs):
    made = figure(runs, n=3, style=Style(low=1.3, high=3.7))  # float32(3.7) lies above 3.7
    for band in made.bands[1::2]:
        flat = band.cells[0].array.reshape(-1, 3)
        assert not (flat == ABOVE).all(axis=1).any()
        assert not (flat == BELOW).all(axis=1).any()


def test_a_failure_is_a_word(runs):
    made = figure(runs, "oracle depth", "shy depth", select="ids:motorcycle")
    answer, read = made.bands[0].cells[2], made.bands[1].cells[2]
    assert (answer.kind, answer.text) == ("tile", "refused")
    assert (read.kind, read.text) == ("tile", "refused")
    assert made.record["shown"][0]["statuses"] == {"oracle": "ok", "shy": "refused"}


def test_texts_are_shown_as_texts(runs):
    made = figure(runs, "hostile answers", "oracle answers", n=1)
    cell = made.bands[0].cells[1]
    assert cell.kind == "words"
    assert "<script>window.hostile=1</script>" in cell.text
    assert "\x07" not in cell.text
    assert "\u202e" not in cell.text
    tree = ET.fromstring(draw_figure(made, "svg"))
    assert not [one for one in tree.iter() if one.tag.endswith(("script", "img", "}a"))]


def test_where_the_data_are_gone_the_answers_are_shown_all_the_same(tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    PIL.Image.new("RGB", (64, 48), (90, 120, 40)).save(folder / "a.png")
    (folder / "manifest.jsonl").write_text(
        '{"id": "a", "image": "a.png", "count": 3, "query": "things"}'
    )
    card = yaml.safe_load((CARDS / "samples/counting.yaml").read_text())
    card |= {
        "task": "own/gone",
        "dataset": {
            "reader": "manifest", "options": {"target": "count"}, "n": 1, "licence": "CC0-1.0",
            "source": "rule", "citation": "none",
        },
    }  # fmt: skip
    (folder / "task.yaml").write_text(json.dumps(card))
    evaluate(
        tasks=str(folder / "task.yaml"), model=lambda request: "4", model_name="four",
        forms=["text"], output=str(tmp_path / "results"), bounds=False,
    )  # fmt: skip
    (folder / "manifest.jsonl").unlink()
    (path,) = tmp_path.glob("results/runs/*/own/*/*")
    made = figure({"four": read_run(path, Catalog.discover())}, "four")
    assert [(cell.kind, cell.text) for cell in made.bands[0].cells] == [
        ("tile", "data not here"), ("words", "4"),
    ]  # fmt: skip
    assert any("manifest.jsonl" in note for note in made.record["notes"])


@pytest.mark.parametrize("form", ["png", "svg"])
def test_equal_figures_are_equal_bytes(runs, form):
    first, second = (draw_figure(figure(runs, n=1), form) for _ in range(2))
    assert first == second


def test_a_png_is_as_wide_as_asked_and_holds_its_record(runs):
    made = figure(runs, n=1, width=3.5)
    with PIL.Image.open(io.BytesIO(draw_figure(made, "png", width=3.5))) as picture:
        assert picture.width == 1050
        assert picture.text["Title"] == made.record["caption"]
        assert json.loads(picture.text["Description"]) == json.loads(json.dumps(made.record))
        assert np.asarray(picture.convert("RGB")).std() > 10


def test_an_svg_keeps_text_as_text_and_holds_its_record(runs):
    made = figure(runs, n=1)
    tree = ET.fromstring(draw_figure(made, "svg"))
    said = [one.text or "" for one in tree.iter()]
    assert "classical" in said
    assert any(text.startswith('{"kind":"figure"') for text in said)


def test_another_map_and_range_are_named(runs):
    made = figure(runs, n=2, style=Style(map="turbo", low=1.0, high=4.0))
    assert "map turbo, 1 to 4 m" in made.record["caption"]


def test_too_many_columns_for_the_width_are_refused(runs):
    with pytest.raises(UsageError, match="6 columns do not fit into 1 inches"):
        draw_figure(figure(runs, layout="gallery", n=1), "png", width=1)


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Questions with options, with free answers, and about things to be counted."""
    output = tmp_path_factory.mktemp("asked")
    found = {}
    common = {"model": "oracle", "output": str(output), "bounds": False}
    evaluate(tasks="samples/perception", samples=["astronaut-how-contrast"], **common)
    for task in ("answers", "counting", "referring", "description", "quality"):
        evaluate(tasks=f"samples/{task}", limit=2, **common)
    for path in output.glob("runs/*/samples/*/*"):
        found[path.parent.name.partition("@")[0]] = read_run(path, Catalog.discover())
    return found


def test_the_truth_of_a_choice_is_the_right_option_below_its_question(asked):
    made = figure(asked, "perception", select="ids:astronaut-how-contrast")
    first, second = made.bands
    assert first.cells[0].asked == "How is the contrast of the picture?"
    assert (second.cells[0].kind, second.cells[0].text) == ("words", "B. Low contrast")
    lines = second.cells[1].text.splitlines()
    assert "B. Low contrast  (truth, taken)" in lines
    assert "–" not in second.cells[1].text
    assert made.record["shown"][0]["asked"] == first.cells[0].asked


@pytest.mark.parametrize("task", ["answers", "counting", "referring", "description", "quality"])
@pytest.mark.parametrize("layout", ["editors", "gallery"])
def test_every_family_has_its_truth(asked, task, layout):
    made = figure(asked, task, n=1, layout=layout)
    truth = made.bands[1].cells[0] if layout == "editors" else made.bands[0].cells[1]
    assert truth.kind in ("picture", "words")
    if task in ("answers", "counting", "referring"):
        assert made.bands[0].cells[0].asked


def test_what_is_asked_stands_in_the_drawing(asked):
    made = figure(asked, "referring", n=1)
    tree = ET.fromstring(draw_figure(made, "svg"))
    drawn = " ".join(text for one in tree.iter() for text in (one.text or "").split("\n"))
    assert made.bands[0].cells[0].asked.split()[0] in drawn


def test_errors_in_a_gallery_have_their_own_bar(runs):
    (band,) = figure(runs, layout="gallery", n=1, with_error=True).bands
    assert (band.scale.of, band.error_scale.of) == ("prediction", "error")


def test_the_caption_may_stay_out_of_the_picture(runs):
    made = figure(runs, n=1)
    extent, bare = measure(made), measure(made, caption=False)
    assert extent.caption.lines
    assert bare.caption.lines == ()
    assert bare.height < extent.height
    with PIL.Image.open(io.BytesIO(draw_figure(made, "png", caption=False))) as picture:
        assert picture.height == pytest.approx(bare.height * 300, abs=1)
        assert picture.text["Title"] == made.record["caption"]


def test_how_many_samples_fit_a_page_is_known(runs):
    made = figure(runs, "oracle depth", n=3, with_error=True)
    extent = measure(made)
    assert extent.height > 1.35 * 7
    assert 0 < extent.fitting < 3
    fitting = figure(runs, "oracle depth", n=extent.fitting, with_error=True)
    assert measure(fitting).height <= 1.35 * 7


def test_a_white_picture_has_an_edge_on_paper(runs):
    made = figure(runs, n=1)
    white = Cell(kind="picture", array=np.full((30, 40, 3), 255, np.uint8))
    black = Cell(kind="picture", array=np.zeros((30, 40, 3), np.uint8))
    edges = []
    for cell in (white, black):
        band = msgspec.structs.replace(made.bands[0], cells=(cell, cell, cell))
        drawn = draw_figure(msgspec.structs.replace(made, bands=(band,)), "svg")
        edges.append(drawn.count(b"stroke: #9a9a9a"))
    assert edges == [3, 0]
