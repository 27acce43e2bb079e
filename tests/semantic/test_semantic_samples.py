"""The samples that ship: drawn inside their pictures, of known classes, nearly fully labelled."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from vgen_eval.cards import convert, load_card, protocol
from vgen_eval.cards.records import TaskCard
from vgen_eval.plugins import Catalog
from vgen_eval.prompting import fill, placeholders
from vgen_eval.types import NoOptions, Sample, Scene
from vgen_eval_plugins.semantic.encoders import NearestColourEncoder
from vgen_eval_plugins.semantic.metrics import LabelIoU
from vgen_eval_plugins.semantic.nearest_colour import NearestColour, NearestColourOptions

FOLDER = Path(str(files("vgen_eval.task_cards"))) / "samples"
LOADED = load_card(FOLDER / "semantic.yaml").record
assert isinstance(LOADED, TaskCard)
CARD: TaskCard = LOADED
CLASSES = tuple(CARD.dataset.options["classes"])
LINES: list[dict[str, Any]] = [
    json.loads(line) for line in (FOLDER / "semantic.jsonl").read_text().splitlines()
]


def read_samples() -> list[Sample]:
    component = Catalog.discover().component("dataset", "samples", home="vgen-eval")
    options = convert(component.obj.Options, CARD.dataset.options, file="semantic.yaml")
    reader = component.obj(options, root=None, folder=FOLDER)
    return [reader.load(item) for item in reader.index()]


@pytest.fixture(scope="module")
def samples() -> dict[str, Sample]:
    return {sample.id: sample for sample in read_samples()}


def palette_decoder() -> NearestColour:
    answer = next(a for a in protocol(CARD, "standard").answers if a.form == "image")
    return NearestColour(convert(NearestColourOptions, answer.options, file="semantic.yaml"))


def test_lines_name_known_classes_and_draw_inside_the_picture(samples: dict[str, Sample]) -> None:
    assert len(LINES) == CARD.dataset.n == len(samples)
    for line in LINES:
        assert line["rest"] is None or line["rest"] in CLASSES
        for layer in line["layers"]:
            assert layer["label"] in CLASSES
            for polygon in (*layer["polygons"], *layer["holes"]):
                assert len({tuple(point) for point in polygon}) >= 3
                xy = np.array(polygon)
                top, left, _, _ = line.get("crop", [0, 0, 0, 0])
                image = samples[line["id"]].images[0]
                assert (xy >= 0).all()
                assert (xy[:, 0] <= left + image.width).all()
                assert (xy[:, 1] <= top + image.height).all()


def test_nearly_every_pixel_has_a_class_and_every_class_a_picture(
    samples: dict[str, Sample],
) -> None:
    pixels = np.zeros(len(CLASSES), int)
    for sample in samples.values():
        labels = sample.target.labels
        assert sample.target.classes == CLASSES
        assert labels.shape == (sample.images[0].height, sample.images[0].width)
        assert (labels == -1).mean() < 0.15
        found = np.bincount(labels[labels >= 0], minlength=len(CLASSES))
        assert (found > 0).sum() >= 2
        assert (found[found > 0] >= 1000).all()  # a class is no speck
        pixels += found
    assert (pixels > 0).all()


def test_drawn_classes_lie_where_the_pictures_show_them(samples: dict[str, Sample]) -> None:
    places = {  # x, y in the picture -> what is plainly there
        "astronaut": {(220, 120): "person", (400, 140): "vehicle", (400, 450): "other"},
        "chelsea": {(200, 60): "animal", (430, 60): "other"},
        "coffee": {(300, 60): "tableware", (120, 200): "tableware", (540, 100): "table"},
        "rocket": {(232, 250): "vehicle", (300, 50): "sky", (230, 418): "building"},
        "motorcycle": {(420, 210): "vehicle", (200, 450): "ground", (230, 40): "other"},
        "camera": {(100, 250): "person", (450, 50): "sky", (300, 160): "other",
                   (420, 160): "building", (293, 400): "other", (450, 400): "ground"},
        "coins": {(335, 44): "coin", (20, 20): "other"},
        "horse": {(180, 150): "animal", (20, 20): "other"},
    }  # fmt: skip
    assert places.keys() == samples.keys()
    for name, points in places.items():
        for (x, y), label in points.items():
            assert CLASSES[samples[name].target.labels[y, x]] == label, (name, x, y)


def test_painting_the_truth_scores_one(samples: dict[str, Sample]) -> None:
    decoder, metric = palette_decoder(), LabelIoU(NoOptions())
    assert tuple(decoder.options.palette) == CLASSES
    for sample in samples.values():
        scene = Scene(
            image=sample.images[0], size=(sample.images[0].height, sample.images[0].width)
        )
        answer = NearestColourEncoder(decoder.options).encode(sample.target, scene)
        prediction = decoder.decode(answer, scene)
        assert prediction.flags == ()
        statistics = metric.update(prediction.value, sample.target, sample.valid)
        assert metric.compute(statistics)["miou"] == 1.0


def test_palette_colours_lie_far_apart() -> None:
    decoder = palette_decoder()
    colours = np.array(
        [*decoder._table(tuple(decoder.palette)).palette], dtype=float
    )  # the void is among them
    gaps = np.sqrt(((colours[:, None] - colours[None]) ** 2).sum(axis=2))
    assert gaps[np.triu_indices(len(colours), 1)].min() > 120


def test_prompts_name_every_class_with_its_colour(samples: dict[str, Sample]) -> None:
    decoder = palette_decoder()
    fields = decoder.fields(Scene(image=samples["coins"].images[0], size=(303, 384)))
    for answer in protocol(CARD, "standard").answers:
        assert not isinstance(answer.prompt, str)
        assert set(answer.prompt) == {"short", "mid", "long"}
        for text in answer.prompt.values():
            filled = fill(text, fields)
            if answer.form == "image":
                assert "palette" in placeholders(text)
                assert "person: red (#ff0000); animal: yellow (#ffff00)" in filled
                assert all(f"{name}: " in filled for name in CLASSES)
            elif "0 person" in filled:
                assert all(f"{number} {name}" in filled.replace("whatever fits none of these",
                           "other") for number, name in enumerate(CLASSES))  # fmt: skip


def test_per_image_protocol_differs_in_its_primary_only() -> None:
    standard, per_image = protocol(CARD, "standard"), protocol(CARD, "per_image")
    assert (standard.primary, per_image.primary) == ("miou", "image_miou")
    assert per_image.answers == standard.answers
    assert per_image.metrics == standard.metrics
