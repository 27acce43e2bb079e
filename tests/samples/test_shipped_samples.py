"""The samples that ship: all load, their numbers are the cards', their truths survive the codec."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from vgen_eval.cards import convert, load_card
from vgen_eval.types import Scene
from vgen_eval_plugins.counting.encoders import RedDotsEncoder
from vgen_eval_plugins.counting.red_dots import RedDots
from vgen_eval_plugins.raycast.render import render
from vgen_eval_plugins.raycast.scenes import parse_scenes
from vgen_eval_plugins.samples.reader import Samples
from vgen_eval_plugins.segmentation.binary_mask import BinaryMask
from vgen_eval_plugins.segmentation.encoders import BinaryMaskEncoder

CARDS = Path(str(files("vgen_eval.task_cards")))


def card(name: str) -> Any:
    return load_card(CARDS / "samples" / f"{name}.yaml").record


def sample_reader(name: str) -> Samples:
    record = card(name)
    options = convert(Samples.Options, record.dataset.options, file=name)
    return Samples(options, root=None, folder=CARDS / "samples")


@pytest.mark.parametrize("name", ["counting", "referring"])
def test_shipped_samples_all_load_and_number_what_the_card_says(name: str) -> None:
    data = sample_reader(name)
    items = data.index()
    assert len(items) == card(name).dataset.n
    for item in items:
        assert data.load(item).fields["query"]


@pytest.mark.parametrize("kind", ["depth", "normals"])
def test_shipped_depth_and_normals_are_of_the_motorcycle_and_of_scenes(kind: str) -> None:
    data = sample_reader(kind)
    items = data.index()
    assert len(items) == card(kind).dataset.n
    assert [item.group for item in items].count("motorcycle") == 4
    assert len({item.group for item in items}) == len(items) - 3
    for item in items:
        sample = data.load(item)
        size = sample.images[0].array.shape[:2]
        values = sample.target
        assert values.dtype == np.float32
        assert values.shape == (size if kind == "depth" else (*size, 3))
        known = np.isfinite(values if kind == "depth" else values.sum(axis=2))
        assert np.array_equal(known, np.ones(size, bool) if sample.valid is None else sample.valid)
        assert known.mean() > 0.6
        if kind == "normals":
            length = np.linalg.norm(values[known], axis=1)
            assert length == pytest.approx(np.ones(known.sum()), abs=1e-6)
        elif item.group == "motorcycle":
            assert 2.1 < values[known].min() < values[known].max() < 5.1


def test_the_motorcycles_floor_and_wall_face_up_and_forth() -> None:
    data = sample_reader("normals")
    normals = data.load(data.index()[0]).target
    floor = np.nanmedian(normals[420:490, 100:350], axis=(0, 1))
    box = np.nanmedian(normals[60:100, 530:570], axis=(0, 1))  # cardboard on a shelf
    assert floor[1] > 0.9
    assert box[2] > 0.7


def test_counted_objects_of_scenes_are_seen_well() -> None:
    scenes = parse_scenes((CARDS / "samples/scenes.json").read_bytes(), file="scenes.json")
    for name, label, count in (("balls", "ball", 7), ("table", "box", 5)):
        rendering = render(scenes[name])
        named = [shape.name for shape in scenes[name].objects if shape.label == label]
        assert len(rendering.points(label)) == len(named) == count
        assert all(rendering.mask([one]).sum() > 1000 for one in named)


@pytest.mark.parametrize("name", ["counting", "referring"])
def test_shipped_prompts_name_only_the_query(name: str) -> None:
    protocol = card(name).protocols["standard"]
    for answer in protocol.answers:
        assert set(answer.prompt) == {"short", "mid", "long"}
        for text in answer.prompt.values():
            assert "coins" in text.format(query="coins")
    assert protocol.primary == {"counting": "mae", "referring": "giou"}[name]


def test_shipped_counts_survive_the_codec() -> None:
    answer = card("counting").protocols["standard"].answers[0]
    decoder = RedDots(convert(RedDots.Options, answer.options, file="counting"))
    encoder = RedDotsEncoder(
        convert(RedDotsEncoder.Options, answer.encoder_options, file="counting")
    )
    data = sample_reader("counting")
    for item in data.index():
        sample = data.load(item)
        scene = Scene(image=sample.images[0], size=sample.images[0].array.shape[:2])
        assert decoder.decode(encoder.encode(sample.target, scene), scene).value == (
            sample.target.count
        ), item.id


def test_shipped_masks_survive_the_codec() -> None:
    data = sample_reader("referring")
    decoder = BinaryMask(BinaryMask.Options())
    for item in data.index():
        sample = data.load(item)
        scene = Scene(image=sample.images[0], size=sample.images[0].array.shape[:2])
        answer = BinaryMaskEncoder(BinaryMask.Options()).encode(sample.target, scene)
        assert np.array_equal(decoder.decode(answer, scene).value, sample.target), item.id
