"""What the cards of depth and normals promise: both readings, the field's bounds and crops."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
from vgen_eval import cards
from vgen_eval.cards.records import ProtocolCard, TaskCard
from vgen_eval_plugins.datasets.nyuv2 import NYUv2

CARDS = Path(str(files("vgen_eval.task_cards")))
DEPTH = ("nyuv2", "diode-indoor", "diode-outdoor", "scannet", "kitti")
NORMALS = ("nyuv2", "nyuv2-dsine", "diode-indoor", "diode-outdoor")
DISPARITY = {"disparity_lsq", "disparity_lsq_clamped", "midas"}


def task(name: str) -> TaskCard:
    record = cards.load_card(CARDS / f"{name}.yaml").record
    assert isinstance(record, TaskCard)
    return record


def protocol(name: str, which: str) -> ProtocolCard:
    return cards.protocol(task(name), which)


def options(name: str, which: str) -> list[dict[str, object]]:
    return [dict(metric.options) for metric in protocol(name, which).metrics]


@pytest.mark.parametrize("name", DEPTH)
def test_depth_that_is_fitted_is_read_in_both_spaces(name):
    for which in set(task(f"depth/{name}").protocols) - {"vision_banana"}:
        fits = {str(told["fit"]) for told in options(f"depth/{name}", which)}
        assert fits & DISPARITY, which
        assert "depth_lsq" in fits, which


@pytest.mark.parametrize(
    ("name", "which", "low", "high", "crop"),
    [
        ("nyuv2", "editors", None, 10, None),
        ("nyuv2", "standard", None, 10, "eigen_nyu"),
        ("diode-indoor", "editors", None, 10, None),
        ("diode-outdoor", "editors", None, 350, None),
        ("diode-indoor", "standard", 0.6, 350, None),
        ("diode-outdoor", "standard", 0.6, 350, None),
        ("scannet", "standard", None, 10, None),
        ("kitti", "probegen", None, 80, "eigen"),
        ("kitti", "standard", None, 80, "eigen"),
    ],
)
def test_depth_is_scored_within_the_bounds_of_its_source(name, which, low, high, crop):
    for told in options(f"depth/{name}", which):
        assert (told.get("min_depth"), told["max_depth"], told.get("crop")) == (low, high, crop)


def test_the_standard_of_nyuv2_reads_raw_depth_and_the_editors_filled():
    card = task("depth/nyuv2")
    assert card.dataset.options["depth_field"] == "filled"
    assert protocol("depth/nyuv2", "standard").data.options["depth_field"] == "raw"
    assert protocol("depth/nyuv2", "editors").data.options == {}


@pytest.mark.parametrize("name", NORMALS)
def test_pixels_without_an_answer_leave_the_score_where_public_code_drops_them(name):
    assert options(f"normals/{name}", "editors") == [{"short": "drop", "min_valid": 10}]
    assert options(f"normals/{name}", "standard") == [{"short": "drop"}]
    assert options(f"normals/{name}", "vision_banana") == [{}]


@pytest.mark.parametrize("name", NORMALS)
def test_only_the_editors_normals_are_calibrated(name):
    calibrated = {
        which for which, told in task(f"normals/{name}").protocols.items() if told.calibration
    }
    assert calibrated == {"editors"}


def test_the_two_ground_truths_of_nyuv2_have_a_card_each():
    for name, wanted in (("nyuv2", "ladicky"), ("nyuv2-dsine", "dsine")):
        given = task(f"normals/{name}").dataset.options
        assert cards.convert(NYUv2.Options, given, file=name).ground_truth == wanted


@pytest.mark.parametrize("name", [f"depth/{n}" for n in DEPTH] + [f"normals/{n}" for n in NORMALS])
def test_a_picture_is_asked_for_in_the_papers_words_or_in_three_lengths(name):
    for which in task(name).protocols:
        (answer,) = [each for each in protocol(name, which).answers if each.form == "image"]
        wanted = {"mid"} if which == "editors" else {"short", "mid", "long"}
        assert set(answer.prompt) == wanted, which
