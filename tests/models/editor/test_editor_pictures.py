"""What diffusers_editor gives: pictures of the right request, size, seed and batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from editorkit import KLEIN, QWEN, STEPS, ask, editor, picture, read_loras, request
from vgen_eval.errors import CallError, Refused, UsageError
from vgen_eval_plugins.models.editor.calls import make_prompt, to_multiple
from vgen_eval_plugins.models.editor.kinds import read_kind
from vgen_eval_plugins.models.editor.steps import unpack
from vgen_eval_plugins.standins.tiny_editors import build_instruct_pix2pix, build_lora

# picture of 100x75: height and width to the nearest multiple of the pipeline's 16
SIZES = [("tiny_klein", KLEIN, (80, 96)), ("tiny_qwen", QWEN, (80, 96))]


@pytest.mark.parametrize(("tiny", "settings", "size"), SIZES)
def test_the_answer_has_the_inputs_size_to_the_pipelines_multiple(
    tiny: str, settings: Any, size: tuple[int, int], request: pytest.FixtureRequest
) -> None:
    adapter = editor(request.getfixturevalue(tiny))
    answer = ask(adapter, make(picture(75, 100), settings))["a"].answer
    assert answer.dtype == np.uint8
    assert answer.shape == (*size, 3)
    adapter.close()


def make(image: Any, settings: Any, **more: Any) -> Any:
    return request("a", image, **settings, **more)


def test_a_size_in_words_or_in_numbers_or_in_generation_is_taken(tiny_klein: Path) -> None:
    shown = picture(64, 128)
    wide = editor(tiny_klein, size="160x96")
    assert ask(wide, make(shown, KLEIN))["a"].answer.shape == (96, 160, 3)
    assert ask(wide, make(shown, {**KLEIN, "height": 64, "width": 80}))["a"].answer.shape[:2] == (
        64, 80,
    )  # fmt: skip
    own = editor(tiny_klein, size="auto")
    assert ask(own, make(picture(70, 128), KLEIN))["a"].answer.shape[:2] == (64, 128)


@pytest.mark.parametrize(
    ("length", "step", "wanted"), [(75, 16, 80), (71, 16, 64), (72, 16, 80), (3, 16, 16)]
)
def test_lengths_go_to_the_nearest_multiple_and_never_to_none(
    length: int, step: int, wanted: int
) -> None:
    assert to_multiple(length, step) == wanted


@pytest.mark.parametrize(
    ("tiny", "settings"), [("tiny_pix2pix", STEPS), ("tiny_klein", KLEIN), ("tiny_qwen", QWEN)]
)
def test_the_seed_alone_decides_what_is_drawn(
    tiny: str, settings: Any, request: pytest.FixtureRequest
) -> None:
    adapter = editor(request.getfixturevalue(tiny))
    assert adapter.deterministic
    assert adapter.max_batch == 1
    first, other, again = (
        ask(adapter, make(picture(), settings, seed=seed))["a"].answer for seed in (0, 1, 0)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_answer_does_not_hang_on_the_requests_beside_it(tiny_pix2pix: Path) -> None:
    shown = [picture(64, 96, 1), picture(48, 64, 2), picture(64, 96, 3), picture(64, 96, 4)]
    requests = [
        request(f"r{at}", image, seed=at, prompt=f"number {at}", **STEPS)
        for at, image in enumerate(shown)
    ]
    one = editor(tiny_pix2pix)
    alone = {name: out.answer for r in requests for name, out in ask(one, r).items()}
    assert all(np.array_equal(out.answer, alone[n]) for n, out in ask(one, *requests).items())
    # three of one size go together: the sums have another shape, so a level may differ
    many = editor(tiny_pix2pix, batch=3)
    assert (many.max_batch, many.deterministic) == (3, False)
    together = ask(many, *requests)
    assert list(together) == ["r0", "r2", "r3", "r1"]
    for name, output in together.items():
        assert output.answer.shape == alone[name].shape
        assert np.abs(output.answer.astype(int) - alone[name]).max() <= 1
    assert np.abs(alone["r0"].astype(int) - alone["r2"]).max() > 20


def test_a_negative_prompt_is_repeated_for_a_batch(tiny_pix2pix: Path) -> None:
    adapter = editor(tiny_pix2pix, batch=2)
    settings = {**STEPS, "negative_prompt": "blue"}
    requests = [request(f"r{at}", picture(seed=at), seed=at, **settings) for at in range(2)]
    alone = {name: out.answer for r in requests for name, out in ask(adapter, r).items()}
    for name, output in ask(adapter, *requests).items():
        assert np.abs(output.answer.astype(int) - alone[name]).max() <= 1


@pytest.mark.parametrize(("tiny", "settings"), [("tiny_klein", KLEIN), ("tiny_qwen", QWEN)])
def test_several_pictures_are_references_of_one_edit(
    tiny: str, settings: Any, request: pytest.FixtureRequest
) -> None:
    adapter = editor(request.getfixturevalue(tiny), batch=4)
    assert adapter.max_batch == 1
    pictures = picture(seed=1), picture(seed=2)
    one = ask(adapter, ask_for("a", pictures[:1], settings))["a"].answer
    two = ask(adapter, ask_for("a", pictures, settings))["a"].answer
    assert one.shape == two.shape == (64, 96, 3)
    assert not np.array_equal(one, two)


def ask_for(name: str, images: Any, settings: Any) -> Any:
    return request(name, *images, **settings)


def test_a_pipeline_of_one_picture_says_so_when_several_come(tiny_pix2pix: Path) -> None:
    adapter = editor(tiny_pix2pix)
    with pytest.raises(CallError, match="takes one picture, 2 came"):
        ask(adapter, request("a", picture(), picture(), **STEPS))


def test_marks_of_pictures_are_put_before_a_prompt_that_lacks_them() -> None:
    import diffusers

    kind = read_kind(diffusers.OmniGenPipeline)
    assert (kind.picture, kind.as_list, kind.references) == ("input_images", True, True)
    plain = make_prompt(kind, request("a", picture(), picture(), prompt="swap them"))
    assert plain == "<img><|image_1|></img> <img><|image_2|></img> swap them"
    marked = "<img><|image_1|></img> as a mask"
    assert make_prompt(kind, request("a", picture(), prompt=marked)) == marked


@pytest.mark.parametrize(
    ("tiny", "settings"), [("tiny_pix2pix", STEPS), ("tiny_klein", KLEIN), ("tiny_qwen", QWEN)]
)
def test_steps_are_decoded_as_the_pipeline_decodes_its_last(
    tiny: str, settings: Any, request: pytest.FixtureRequest
) -> None:
    adapter = editor(request.getfixturevalue(tiny), capture_steps=2)
    asked = {**settings, "num_inference_steps": 4}
    output = ask(adapter, make(picture(), asked))["a"]
    assert [step.shape for step in output.pictures] == [(64, 96, 3)] * 2
    assert not np.array_equal(output.pictures[1], output.answer)
    pipe, latents = adapter._pipe, []

    def keep(_pipe: Any, _step: int, _time: Any, given: Any) -> Any:
        latents.append(given["latents"].clone())
        return given

    import torch

    image = picture().to_pil()
    more = {} if tiny == "tiny_pix2pix" else {"height": 64, "width": 96}
    plain = pipe(
        image=image, prompt="paint it red", generator=torch.Generator().manual_seed(0),
        callback_on_step_end=keep, **asked, **more,
    )  # fmt: skip
    with torch.no_grad():
        raw = pipe.vae.decode(unpack(pipe, latents[-1], height=64, width=96)).sample
    raw = raw[:, :, 0] if raw.ndim == 5 else raw
    decoded = pipe.image_processor.postprocess(raw, output_type="pil")[0]
    assert np.array_equal(np.asarray(decoded), np.asarray(plain.images[0]))
    assert np.array_equal(output.answer, np.asarray(plain.images[0]))


def test_steps_cannot_be_had_from_a_pipeline_that_does_not_tell_of_them() -> None:
    import diffusers
    from vgen_eval_plugins.models.editor.steps import check_capture

    with pytest.raises(UsageError, match="does not tell of its steps"):
        check_capture(read_kind(diffusers.LongCatImageEditPipeline))


def test_what_the_safety_checker_takes_is_refused_after_the_others(tmp_path: Path) -> None:
    asked = [request(f"r{at}", picture(seed=at), seed=at, **STEPS) for at in range(2)]
    plain = editor(build_instruct_pix2pix(tmp_path / "plain"), batch=2)
    pictures = [output.answer for output in ask(plain, *asked).values()]
    parts, bad = make_checker(pictures)
    adapter = editor(build_instruct_pix2pix(tmp_path / "safe", **parts), batch=2)
    answers = []
    with pytest.raises(Refused, match="safety checker"):
        answers.extend(output.id for output in adapter.generate(asked))
    assert answers == [f"r{1 - bad}"]


def make_checker(pictures: list[Any]) -> tuple[dict[str, Any], int]:
    """A real safety checker of random weights that takes one of two pictures, and which."""
    import torch
    import transformers
    from diffusers.pipelines.stable_diffusion.safety_checker import StableDiffusionSafetyChecker

    torch.manual_seed(0)
    small = {
        "hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2,
        "num_hidden_layers": 1, "projection_dim": 16,
    }  # fmt: skip
    config = transformers.CLIPConfig(
        text_config={**small, "vocab_size": 10, "bos_token_id": 0, "eos_token_id": 1},
        vision_config={**small, "image_size": 32, "patch_size": 16},
        projection_dim=16,
    )
    checker = StableDiffusionSafetyChecker(config).eval()
    pixels = transformers.CLIPImageProcessor(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    )
    with torch.no_grad():
        seen = checker.vision_model(
            pixels([p.copy() for p in pictures], return_tensors="pt").pixel_values
        )[1]
        concept = checker.visual_projection(seen[0]) - checker.visual_projection(seen[1])
        checker.concept_embeds.data = concept.repeat(17, 1)
        checker.concept_embeds_weights.data.fill_(0.0)
        checker.special_care_embeds_weights.data.fill_(2.0)
        unit = torch.nn.functional.normalize(checker.visual_projection(seen))
        near = unit @ torch.nn.functional.normalize(concept, dim=0)
        checker.concept_embeds_weights.data.fill_(float(near.mean()))
    return {"safety_checker": checker, "feature_extractor": pixels}, int(near.argmax())


def test_low_rank_weights_change_the_answer_by_their_scale(
    tiny_pix2pix: Path, tmp_path: Path
) -> None:
    folder = build_lora(tmp_path / "lora", tiny_pix2pix)
    file = next(folder.glob("*.safetensors"))
    answers = []
    for scale in (None, 0.0, 1.0, 4.0):
        loras = [] if scale is None else [{"model": str(file), "scale": scale}]
        adapter = editor(tiny_pix2pix, loras=read_loras(loras))
        answers.append(ask(adapter, request("a", **STEPS))["a"].answer.astype(int))
        adapter.close()
    plain, none, one, four = answers
    assert np.abs(none - plain).max() <= 1
    assert 0 < np.abs(one - plain).mean() < np.abs(four - plain).mean()


def test_it_closes_twice_and_comes_back(tiny_pix2pix: Path) -> None:
    adapter = editor(tiny_pix2pix)
    before = ask(adapter, request("a", **STEPS))["a"].answer
    adapter.close()
    adapter.close()
    adapter.load()
    assert np.array_equal(ask(adapter, request("a", **STEPS))["a"].answer, before)


def test_tiles_and_slices_and_half_floats_are_taken(tiny_pix2pix: Path) -> None:
    import torch

    adapter = editor(tiny_pix2pix, vae_tiling=True, vae_slicing=True, dtype="bfloat16")
    assert not adapter.deterministic
    assert adapter._pipe.vae.use_tiling
    assert adapter._pipe.vae.use_slicing
    assert adapter._pipe.unet.dtype is torch.bfloat16
    assert ask(adapter, request("a", **STEPS))["a"].answer.shape == (64, 96, 3)
