"""The programs for specialists: each drives a tiny model as the model's own library does."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import (
    SIZE,
    Message,
    converse,
    converse_apart,
    hello,
    read_array,
    read_picture,
    request,
)
from PIL import Image
from vgen_eval_plugins.models.command.launch import PROGRAMS

Folders = Mapping[str, Path]
SHAPE = SIZE[::-1]
CLOSE = {"type": "close"}


def ask(*requests: Message) -> Message:
    return {"type": "generate", "requests": list(requests)}


def answers(program: str, *messages: Message) -> list[Message]:
    """Those that come after `ready`, of a program that ends well."""
    said, code = converse(program, [*messages, CLOSE])
    assert code == 0, said
    ready = [message for message in said if message["type"] == "ready"]
    assert len(ready) == sum(message["type"] == "hello" for message in messages)
    assert all(r["protocol"] == 1 and r["deterministic"] and r["versions"]["torch"] for r in ready)
    return [message for message in said if message["type"] != "ready"]


def test_depth_anything_gives_the_models_map_at_the_pictures_size(
    folders: Folders, picture: Image.Image
) -> None:
    found, painted = answers(
        "depth_anything.py",
        hello(folders["depth"]),
        ask(request("depth_map", picture), request("image", picture)),
    )
    import torch
    from transformers import AutoImageProcessor, AutoModelForDepthEstimation

    model = AutoModelForDepthEstimation.from_pretrained(folders["depth"]).eval()
    inputs = AutoImageProcessor.from_pretrained(folders["depth"])(picture, return_tensors="pt")
    with torch.inference_mode():
        small = model(**inputs).predicted_depth[:, None]
        whole = torch.nn.functional.interpolate(small, SHAPE, mode="bicubic", align_corners=False)
    near = whole[0, 0].numpy()
    np.testing.assert_allclose(read_array(found["depth_map"]), near, atol=1e-4)
    grey = read_picture(painted["image"])
    assert grey.shape == (*SHAPE, 3)
    scaled = (near - near.min()) / (near.max() - near.min())
    np.testing.assert_allclose(grey[..., 0], scaled * 255, atol=1)


def test_clip_weighs_the_sentence_of_each_choice(folders: Folders, picture: Image.Image) -> None:
    import torch
    from transformers import CLIPModel, CLIPProcessor

    [answer] = answers(
        "clip.py",
        hello(folders["clip"], template="a {choice} one"),
        ask(request("choice", picture, choices=["good", "bad"])),
    )
    found = answer["choice"]
    model = CLIPModel.from_pretrained(folders["clip"]).eval()
    processor = CLIPProcessor.from_pretrained(folders["clip"])
    with torch.inference_mode():
        inputs = processor(
            text=["a good one", "a bad one"], images=picture, return_tensors="pt", padding=True
        )
        scores = model(**inputs).logits_per_image[0].numpy()
    assert list(found) == ["good", "bad"]
    assert found["good"] - found["bad"] == pytest.approx(scores[0] - scores[1], abs=1e-4)
    assert sum(np.exp(list(found.values()))) == pytest.approx(1)


def test_oneformer_gives_the_class_of_every_pixel(folders: Folders, picture: Image.Image) -> None:
    import torch
    from transformers import AutoProcessor, OneFormerForUniversalSegmentation

    own, grouped = answers(
        "oneformer.py",
        hello(folders["oneformer"], numbers="own"),
        ask(request("label_map", picture)),
        hello(folders["oneformer"], classes=[["sky"], ["cat", "dog"]]),
        ask(request("label_map", picture)),
    )
    model = OneFormerForUniversalSegmentation.from_pretrained(folders["oneformer"]).eval()
    processor = AutoProcessor.from_pretrained(folders["oneformer"])
    with torch.inference_mode():
        made = model(**processor(picture, ["semantic"], return_tensors="pt"))
        classes = made.class_queries_logits.softmax(-1)[..., :-1]
        maps = torch.einsum("bqc,bqhw->bchw", classes, made.masks_queries_logits.sigmoid())
        whole = torch.nn.functional.interpolate(maps, SHAPE, mode="bilinear", align_corners=False)
    expected = whole[0].argmax(0).numpy()
    found = read_array(own["label_map"])
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, expected)
    by_task = np.array([-1, 1, 1, 0])[expected]
    np.testing.assert_array_equal(read_array(grouped["label_map"]), by_task)


def test_the_tasks_numbers_of_oneformers_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PROGRAMS)
    import oneformer

    names = {0: "person", 1: "cat", 2: "sky", 3: "sea"}
    table = oneformer.translation([["cat"], [], "rest", ["person"]], None, names)
    assert table.tolist() == [3, 0, 2, 2]
    with pytest.raises(ValueError, match="no class 'lion'; it has person, cat, sky, sea"):
        oneformer.translation([["lion"]], None, names)
    with pytest.raises(ValueError, match=r"classes: .*, or numbers: own"):
        oneformer.translation(None, None, names)


def test_sam3_is_asked_for_the_query_and_joins_what_it_finds(
    folders: Folders, picture: Image.Image
) -> None:
    import torch
    from transformers import Sam3Model, Sam3Processor

    long = "the cat" + " that sits on a red mat" * 5
    *found, beginning, alike, nothing = answers(
        "sam3.py",
        hello(folders["sam3"], threshold=0.0),
        ask(
            request("mask", picture, prompt="the cat"),
            request("mask", picture, id="query", fields={"query": "the person"}),
            request("mask", picture, prompt=long),
            request("mask", picture, prompt=f"{long}, not the one on the blue mat"),
        ),
        hello(folders["sam3"], threshold=0.9999),
        ask(request("mask", picture)),
    )
    model = Sam3Model.from_pretrained(folders["sam3"]).eval()
    processor = Sam3Processor.from_pretrained(folders["sam3"])
    for answer, text in zip(found, ("the cat", "the person"), strict=True):
        with torch.inference_mode():
            made = model(**processor(images=picture, text=text, return_tensors="pt"))
            masks = made.pred_masks.sigmoid()
            whole = torch.nn.functional.interpolate(masks, SHAPE, mode="bilinear")[0]
        mask = read_array(answer["mask"])
        assert mask.dtype == np.bool_
        assert (mask == (whole > 0.5).any(0).numpy()).mean() > 0.98
    assert beginning["mask"] == alike["mask"]
    mask = read_array(nothing["mask"])
    assert mask.shape == SHAPE
    assert not mask.any()


def test_marigold_gives_depth_near_white_or_in_numbers(
    folders: Folders, picture: Image.Image
) -> None:
    depth, painted, normals = answers(
        "marigold.py",
        hello(folders["marigold_depth"]),
        ask(*(request(form, picture) for form in ("depth_map", "image", "normal_map"))),
    )
    expected = _marigold(folders["marigold_depth"], picture)[..., 0]
    np.testing.assert_allclose(read_array(depth["depth_map"]), expected + 1e-3, atol=1e-4)
    grey = read_picture(painted["image"])[..., 0]
    scaled = (expected - expected.min()) / (expected.max() - expected.min())
    np.testing.assert_allclose(grey, 255 * (1 - scaled), atol=1)
    assert normals["type"] == "error"
    assert normals["message"].endswith("gives image, depth_map, and no normal_map")


def test_marigold_does_not_take_disparity_for_depth(folders: Folders, tmp_path: Path) -> None:
    place = shutil.copytree(folders["marigold_depth"], tmp_path / "disparity")
    index = place / "model_index.json"
    index.write_text(index.read_text("utf-8").replace('"depth"', '"disparity"'), "utf-8")
    said, code = converse("marigold.py", [hello(place)])
    assert code == 1
    assert "predicts disparity" in said[0]["message"]


def test_marigold_gives_unit_normals(folders: Folders, picture: Image.Image) -> None:
    place = folders["marigold_normals"]
    [answer] = answers("marigold.py", hello(place), ask(request("normal_map", picture)))
    found = read_array(answer["normal_map"])
    assert found.shape == (*SHAPE, 3)
    np.testing.assert_allclose(found, _marigold(place, picture), atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(found, axis=-1), 1, atol=1e-3)


def test_a_program_of_its_own_process_keeps_stdout_for_the_protocol(
    folders: Folders, picture: Image.Image, tmp_path: Path
) -> None:
    """And what it cannot answer costs that request alone."""
    requests = (
        request("text", picture),
        request("choice", picture, id="blind", choices=["a"], images=[]),
        request("choice", picture, choices=["a", "b"]),
    )
    said, code = converse_apart(
        "clip.py", [hello(folders["clip"]), ask(*requests), CLOSE], tmp_path
    )
    assert code == 0
    assert [message["type"] for message in said] == ["ready", "error", "error", "answer"]
    assert said[0]["name"] == str(folders["clip"])
    assert said[1]["message"] == "ValueError: it gives choice, and no text"
    assert said[2]["id"] == "blind"
    assert "one picture, 0 came" in said[2]["message"]
    assert set(said[3]["choice"]) == {"a", "b"}


@pytest.mark.parametrize(
    ("program", "config", "words"),
    [
        ("depth_anything.py", {"sharp": 1}, "options.config has 'sharp'; known here: nothing"),
        ("clip.py", {"template": "a photo"}, "options.config.template holds no {choice}"),
        ("sam3.py", {}, "the card names no checkpoint"),
    ],
)
def test_a_card_that_cannot_be_meant_ends_the_program_with_the_reason(
    program: str, config: dict[str, Any], words: str, tmp_path: Path
) -> None:
    said, code = converse_apart(program, [hello(None, **config)], tmp_path, mended=False)
    assert [message["type"] for message in said] == ["error"]
    assert words in said[0]["message"]
    assert code == 1


def _marigold(folder: Path, picture: Image.Image) -> np.ndarray[Any, Any]:
    """What the pipeline itself predicts with the seed of the test's requests."""
    import torch
    from diffusers import DiffusionPipeline

    pipe = DiffusionPipeline.from_pretrained(folder)
    made = pipe(picture, generator=torch.Generator().manual_seed(5), output_type="np")
    found: np.ndarray[Any, Any] = np.asarray(made.prediction)[0]
    return found
