"""Each bad input of diffusers_editor: named, with its cure, before or in place of an answer."""

from __future__ import annotations

import json
import logging
import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import pytest
from editorkit import KLEIN, STEPS, ask, card, editor, picture, read_loras, request
from vgen_eval.errors import CallError, NotRunnable, UsageError
from vgen_eval_plugins.models.editor import kinds
from vgen_eval_plugins.models.editor.adapter import DiffusersEditor
from vgen_eval_plugins.models.editor.kinds import read_kind
from vgen_eval_plugins.models.editor.options import EditorOptions


@pytest.fixture
def own_copy(tiny_pix2pix: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(tiny_pix2pix, tmp_path / "copy"))


def identity(folder: Path, **more: Any) -> Any:
    return DiffusersEditor.identify(EditorOptions(model=str(folder), **more), card())


def test_an_unknown_argument_is_named_with_the_nearest_before_weights_load(own_copy: Path) -> None:
    shutil.rmtree(own_copy / "unet")
    with pytest.raises(
        UsageError, match=r"guidance_scal: .* takes none\..* Nearest: .*guidance_scale"
    ):
        editor(own_copy, generation={"guidance_scal": 7.0})


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("image", "image: set by the harness: the adapter fills it"),
        ("prompt", "prompt: set by the harness: the adapter fills it"),
        ("generator", "generator: set by the harness: the adapter fills it"),
        ("prompt_embeds", "prompt_embeds: set by the harness: the adapter fills it"),
        ("dtype", r"dtype: set by the harness: options\.dtype in the card, or -M dtype="),
        ("kwargs", r"generation\.kwargs: StableDiffusionInstructPix2PixPipeline takes none"),
    ],
)
def test_arguments_that_are_not_the_cards_are_refused(
    tiny_pix2pix: Path, key: str, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        editor(tiny_pix2pix, generation={key: "x"})


def test_the_arguments_of_a_request_are_checked_too(tiny_pix2pix: Path) -> None:
    adapter = editor(tiny_pix2pix, generation={**STEPS, "seed": 3})
    with pytest.raises(UsageError, match=r"generation\.strengh"):
        ask(adapter, request("a", strengh=1.0))


def test_a_size_in_numbers_wants_a_pipeline_that_takes_one(tiny_pix2pix: Path) -> None:
    with pytest.raises(UsageError, match="takes no height and width"):
        editor(tiny_pix2pix, size="64x64")


def test_a_folder_without_an_index_is_no_pipeline(own_copy: Path) -> None:
    (own_copy / "model_index.json").unlink()
    with pytest.raises(NotRunnable, match=r"has no model_index\.json") as caught:
        editor(own_copy)
    assert "save_pretrained" in str(caught.value.cure)


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "{}", '"words"', '{"_class_name": []}', '{"_class_name": 5}', "[" * 100_000],
    ids=str.__len__,
)
def test_an_index_that_is_none_is_named(own_copy: Path, text: str) -> None:
    (own_copy / "model_index.json").write_text(text)
    with pytest.raises(NotRunnable, match=r"model_index\.json"):
        editor(own_copy)


def rename_class(folder: Path, name: Any) -> Path:
    path = folder / "model_index.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "_class_name": name}))
    return folder


def test_a_class_that_this_diffusers_lacks_is_named(own_copy: Path) -> None:
    rename_class(own_copy, "FutureEditPipeline")
    with pytest.raises(NotRunnable, match=r"diffusers 0\.\S+ has no FutureEditPipeline"):
        editor(own_copy)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("StableDiffusionPipeline", "takes no picture"),
        ("MarigoldDepthPipeline", "takes no prompt"),
        ("StableDiffusionInpaintPipeline", "wants mask_image too"),
        ("UNet2DConditionModel", "is no pipeline"),
    ],
)
def test_a_class_that_edits_no_picture_is_refused(own_copy: Path, name: str, words: str) -> None:
    rename_class(own_copy, name)
    with pytest.raises((NotRunnable, UsageError), match=words):
        editor(own_copy)


def test_another_class_can_be_named_for_the_same_weights(own_copy: Path) -> None:
    with pytest.raises(UsageError, match="no class 'Nonesuch'"):
        editor(own_copy, pipeline="Nonesuch")
    rename_class(own_copy, "StableDiffusionPipeline")
    adapter = editor(own_copy, pipeline="StableDiffusionInstructPix2PixPipeline")
    assert ask(adapter, request("a", **STEPS))["a"].answer.shape == (64, 96, 3)


def test_code_of_the_checkpoint_is_run_only_when_it_is_trusted(own_copy: Path) -> None:
    (own_copy / "mine.py").write_text(
        "from diffusers import StableDiffusionInstructPix2PixPipeline\n\n\n"
        "class Mine(StableDiffusionInstructPix2PixPipeline):\n    pass\n"
    )
    rename_class(own_copy, ["mine", "Mine"])
    with pytest.raises(NotRunnable, match="Python code of the checkpoint") as caught:
        editor(own_copy)
    assert "trust_remote_code" in str(caught.value.cure)
    adapter = editor(own_copy, trust_remote_code=True)
    assert type(adapter._pipe).__name__ == "Mine"
    assert ask(adapter, request("a", **STEPS))["a"].answer.shape == (64, 96, 3)


def test_pickled_weights_are_refused(own_copy: Path) -> None:
    weights = own_copy / "unet" / "diffusion_pytorch_model.safetensors"
    weights.rename(weights.with_suffix(".bin"))
    with pytest.raises(NotRunnable, match=r"unet holds pickled weights only \(\.bin\)"):
        editor(own_copy)


def test_weights_that_are_cut_off_are_named(own_copy: Path) -> None:
    weights = own_copy / "unet" / "diffusion_pytorch_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(NotRunnable, match="cannot be loaded"):
        editor(own_copy)
    weights.write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(NotRunnable, match="is no safetensors file"):
        identity(own_copy)


def test_a_part_that_is_not_there_is_named(own_copy: Path) -> None:
    shutil.rmtree(own_copy / "vae")
    with pytest.raises(NotRunnable, match=r"cannot be loaded \(no folder vae\)"):
        editor(own_copy)


def test_a_folder_that_is_not_there_or_not_named_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotRunnable, match="no folder"):
        editor(tmp_path / "nowhere")
    adapter = DiffusersEditor(EditorOptions(), card=card(), device="cpu")
    with pytest.raises(UsageError, match="no checkpoint is named"):
        adapter.load()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_is_told(own_copy: Path) -> None:
    (own_copy / "unet").chmod(0)
    try:
        with pytest.raises(NotRunnable, match="cannot be read"):
            identity(own_copy)
    finally:
        (own_copy / "unet").chmod(0o755)


def test_a_device_that_is_not_here_is_named_with_those_that_are(tiny_pix2pix: Path) -> None:
    import torch

    absent = "mps" if torch.cuda.is_available() else "cuda"
    with pytest.raises(NotRunnable, match=rf"no device '{absent}' here.*there is .*cpu"):
        editor(tiny_pix2pix, device=absent)


def test_offload_wants_another_device_than_the_cpu(tiny_pix2pix: Path) -> None:
    with pytest.raises(UsageError, match="offload=model needs a device"):
        editor(tiny_pix2pix, offload="model")


def test_quantization_without_its_library_says_what_to_install(tiny_pix2pix: Path) -> None:
    if find_spec("bitsandbytes") is not None:
        pytest.skip("bitsandbytes is installed")
    with pytest.raises(NotRunnable, match="needs bitsandbytes") as caught:
        editor(tiny_pix2pix, quantization="bitsandbytes_4bit")
    assert caught.value.cure == "pip install bitsandbytes"
    wanted = EditorOptions(quantization="bitsandbytes_8bit")
    assert "pip install bitsandbytes" in DiffusersEditor.lacks(wanted, card())[0]
    assert not DiffusersEditor.lacks(EditorOptions(), card())


def test_low_rank_weights_that_do_not_fit_are_named(tiny_pix2pix: Path, tmp_path: Path) -> None:
    missing = read_loras([{"model": str(tmp_path / "none")}])
    with pytest.raises(NotRunnable, match="no folder"):
        editor(tiny_pix2pix, loras=missing)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(NotRunnable, match=r"LoRA .*empty cannot be loaded"):
        editor(tiny_pix2pix, loras=read_loras([{"model": str(empty)}]))


def test_a_request_without_a_picture_or_with_half_a_letter_is_told(tiny_pix2pix: Path) -> None:
    adapter = editor(tiny_pix2pix)
    bare = request("a", **STEPS)
    with pytest.raises(CallError, match="the request has none"):
        ask(adapter, msgspec.structs.replace(bare, images=()))
    with pytest.raises(CallError, match="is no text"):
        ask(adapter, request("a", prompt="half \ud83d", **STEPS))


def test_what_the_pipeline_refuses_is_told_in_its_words(tiny_klein: Path) -> None:
    adapter = editor(tiny_klein)
    with pytest.raises(CallError, match=r"Image too small: 48.32"):
        ask(adapter, request("a", picture(32, 48), **KLEIN))


def test_memory_that_runs_out_halves_the_batch_and_is_remembered(
    tiny_pix2pix: Path, caplog: pytest.LogCaptureFixture
) -> None:
    import torch

    adapter = editor(tiny_pix2pix, batch=4)
    sizes: list[int] = []

    def small_memory(_module: Any, given: Any) -> None:
        size = given[0].shape[0] // 3  # guidance asks three times at once
        sizes.append(size)
        if size > 2:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    adapter._pipe.unet.register_forward_pre_hook(small_memory)
    asked = [request(f"r{at}", seed=at, num_inference_steps=1) for at in range(5)]
    with caplog.at_level(logging.WARNING):
        assert list(ask(adapter, *asked)) == [f"r{at}" for at in range(5)]
    assert sizes == [4, 2, 2, 1]
    assert adapter.max_batch == 2
    assert "out of memory at batch 4 on cpu: batches of 2 from here on" in caplog.text


def test_memory_that_does_not_do_for_one_request_is_an_error_with_its_cure(
    tiny_pix2pix: Path,
) -> None:
    import torch

    adapter = editor(tiny_pix2pix, batch=2)

    def no_memory(*_: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    adapter._pipe.unet.register_forward_pre_hook(no_memory)
    with pytest.raises(CallError, match=r"out of memory at batch 1 on cpu: .*offload=model"):
        ask(adapter, request("a", **STEPS), request("b", **STEPS))
    assert adapter.max_batch == 1


def test_another_runtime_error_of_a_pipeline_is_no_lack_of_memory(tiny_pix2pix: Path) -> None:
    adapter = editor(tiny_pix2pix)

    def broken(*_: Any) -> None:
        raise RuntimeError("shapes differ")

    adapter._pipe.unet.register_forward_pre_hook(broken)
    with pytest.raises(RuntimeError, match="shapes differ"):
        ask(adapter, request("a", **STEPS))


def test_a_picture_that_is_not_finite_is_no_answer(tiny_pix2pix: Path) -> None:
    adapter = editor(tiny_pix2pix)

    def overflow(_module: Any, _given: Any, made: Any) -> Any:
        return (made[0] * float("nan"), *made[1:])

    adapter._pipe.unet.register_forward_hook(overflow)
    with pytest.raises(CallError, match="not finite"):
        ask(adapter, request("a", **STEPS))


def test_the_identity_is_the_contents_and_never_the_path(
    tiny_pix2pix: Path, own_copy: Path
) -> None:
    plain = identity(tiny_pix2pix)
    assert set(plain) == {"libraries", "contents"}
    assert set(plain["libraries"]) == {"torch", "diffusers", "transformers"}
    assert identity(own_copy) == plain
    (own_copy / "README.md").write_text("words")
    (own_copy / ".cache").mkdir()
    (own_copy / ".cache" / "x.json").write_text("{}")
    assert identity(own_copy) == plain
    config = own_copy / "scheduler" / "scheduler_config.json"
    config.write_text(config.read_text().replace("0.012", "0.013"))
    assert identity(own_copy) != plain


def test_another_training_of_one_architecture_has_another_identity(
    tiny_pix2pix: Path, tmp_path: Path
) -> None:
    from vgen_eval_plugins.standins.tiny_editors import build_instruct_pix2pix, build_lora

    other = build_instruct_pix2pix(tmp_path / "other", seed=1)
    assert identity(other) != identity(tiny_pix2pix)
    file = next(build_lora(tmp_path / "lora", tiny_pix2pix).glob("*.safetensors"))
    facts = identity(tiny_pix2pix, loras=read_loras([{"model": str(file)}]))
    assert len(facts["loras"][0]["contents"]) == 64


SEVERAL = (
    "Flux2KleinPipeline", "Flux2Pipeline", "GlmImagePipeline", "JoyImageEditPlusPipeline",
    "OmniGenPipeline", "QwenImageEditPlusPipeline",
)  # fmt: skip
BATCHES = (
    "FluxKontextPipeline", "StableDiffusionImg2ImgPipeline",
    "StableDiffusionInstructPix2PixPipeline", "StableDiffusionXLImg2ImgPipeline",
)  # fmt: skip


@pytest.mark.parametrize("name", sorted({*kinds.ONE_PICTURE, *SEVERAL, *BATCHES}))
def test_a_list_of_pictures_means_what_each_class_takes_it_for(name: str) -> None:
    import diffusers

    kind = read_kind(getattr(diffusers, name))
    assert kind.references == (name in SEVERAL)
    assert kind.edits == (name in BATCHES)
    assert not (kind.references and kind.edits)


def test_every_class_of_the_tables_is_one_of_diffusers() -> None:
    import diffusers

    tables = (kinds.REFERENCES, kinds.EDITS, kinds.ONE_PICTURE)
    assert len(frozenset().union(*tables)) == sum(map(len, tables))
    for name in frozenset().union(*tables):
        assert issubclass(getattr(diffusers, name), diffusers.DiffusionPipeline)


@pytest.mark.parametrize(
    "weight",
    [
        "../x.safetensors",
        "a/../../x.safetensors",
        "/etc/x.safetensors",
        "x.bin",
        "x.safetensors.pt",
    ],
)
def test_a_file_of_low_rank_weights_lies_in_its_folder_and_is_no_pickle(
    weight: str, tiny_pix2pix: Path, tmp_path: Path
) -> None:
    with pytest.raises(msgspec.ValidationError, match="weight"):
        read_loras([{"model": "org/name", "weight": weight}])
    assert read_loras([{"model": "org/name", "weight": "a/b..c.safetensors"}])
    pickle = tmp_path / "lora.bin"
    pickle.write_bytes(b"x")
    with pytest.raises(NotRunnable, match="is no safetensors file"):
        editor(tiny_pix2pix, loras=read_loras([{"model": str(pickle)}]))


def test_a_folder_that_changed_since_it_was_identified_is_not_run(own_copy: Path) -> None:
    identity(own_copy)
    config = own_copy / "scheduler" / "scheduler_config.json"
    config.write_text(config.read_text().replace("0.012", "0.013"))
    with pytest.raises(NotRunnable, match="changed while it was loaded or since the run began"):
        editor(own_copy)
    identity(own_copy)
    editor(own_copy)


def test_pictures_and_prompts_of_odd_sizes_are_answered_or_told(tiny_pix2pix: Path) -> None:
    adapter = editor(tiny_pix2pix)
    for size in ((1, 1), (1, 400)):
        with pytest.raises(CallError, match="must be > 0"):
            ask(adapter, request("a", picture(*size), **STEPS))
    odd = request("a", picture(37, 53), prompt="x " * 5000, seed=2**70, num_inference_steps=1)
    assert ask(adapter, odd)["a"].answer.shape == (32, 48, 3)


def test_a_stub_takes_what_editors_know_and_no_other_word(tmp_path: Path) -> None:
    one, two = {"num_inference_steps": 40, "true_cfg_scale": 4.0}, {"img_guidance_scale": 1.6}
    for settings, fits in ((one, True), (two, True), ({**one, "true_cfg_scal": 4.0}, False)):
        model = card(**settings, seed=0)
        with DiffusersEditor.stub(model, tmp_path) as options:
            read = msgspec.convert(options, EditorOptions)
            adapter = DiffusersEditor(read, card=model, device="cpu")
            if not fits:
                with pytest.raises(UsageError, match="Nearest: true_cfg_scale"):
                    adapter.load()
                continue
            adapter.load()
            assert ask(adapter, request("a", **settings))["a"].answer.shape == (64, 96, 3)
            adapter.close()


@pytest.mark.parametrize(
    ("settings", "options", "words"),
    [
        # each is known to some class, and no class takes both
        ({"true_cfg_scale": 4.0, "img_guidance_scale": 1.6}, {}, "takes none"),
        (
            {"true_cfg_scale": 4.0},
            {"pipeline": "Flux2KleinPipeline"},
            "true_cfg_scale: .* takes none",
        ),
    ],
)
def test_a_stub_takes_no_more_than_one_class_of_editors(
    settings: Any, options: Any, words: str, tmp_path: Path
) -> None:
    model = msgspec.structs.replace(card(**settings), options=options)
    with DiffusersEditor.stub(model, tmp_path) as stub:
        read = msgspec.convert({**options, **stub}, EditorOptions)
        with pytest.raises(UsageError, match=words):
            DiffusersEditor(read, card=model, device="cpu").load()
