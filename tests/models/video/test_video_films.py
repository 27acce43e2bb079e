"""diffusers_video: what pipelines are asked, and the films that come back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from filmkit import SHORT, ask, filmer, first_frame, frames, rate, request
from vgen_eval.errors import CallError, NotRunnable, UsageError
from vgen_eval.imaging import Image
from vgen_eval_plugins.models.video.films import ROUNDED
from vgen_eval_plugins.models.video.kinds import FRAME_RATES, is_plain

LTX = {"pipeline": "LTXImageToVideoPipeline"}


@pytest.fixture(scope="module")
def wan(tiny_wan: Path):
    """The tiny Wan, loaded once."""
    adapter = filmer(tiny_wan)
    yield adapter
    adapter.close()


# --- films ------------------------------------------------------------------------------------


def test_a_film_is_a_file_of_the_frames_that_were_asked_for(wan):
    output = ask(wan, request())["a"]
    assert output.answer[4:8] == b"ftyp"
    assert frames(output.answer).shape == (9, 48, 64, 3)
    assert rate(output.answer) == 16
    assert output.usage.video_seconds == 9 / 16
    assert output.flags == ()


def test_pipelines_of_other_families_film_too(tiny_ltx: Path, tiny_cogvideox: Path):
    ltx = ask(filmer(tiny_ltx, **LTX), request("a", first_frame(64, 64)))["a"].answer
    assert frames(ltx).shape == (9, 64, 64, 3)
    assert rate(ltx) == 25  # the default of its argument frame_rate
    cog = ask(filmer(tiny_cogvideox, size="48x32"), request())["a"].answer
    assert frames(cog).shape == (9, 32, 48, 3)
    assert rate(cog) == 8


def test_the_frames_of_the_file_are_those_of_the_pipeline(tiny_wan: Path):
    import torch
    from diffusers import WanImageToVideoPipeline

    adapter = filmer(tiny_wan, crf=0)
    made = frames(ask(adapter, request(seed=5))["a"].answer)
    pipe = WanImageToVideoPipeline.from_pretrained(str(tiny_wan))
    pipe.set_progress_bar_config(disable=True)
    direct = pipe(
        image=first_frame().to_pil(), prompt="the ball rolls", height=48, width=64,
        generator=torch.Generator("cpu").manual_seed(5), output_type="np", **SHORT,
    ).frames[0]  # fmt: skip
    # the colours of yuv420p are halved in both directions: brightness is what is kept
    weights = np.array([0.299, 0.587, 0.114])
    apart = np.abs(made @ weights - (direct * 255) @ weights)
    assert apart.mean() < 4


def test_the_same_request_gives_the_same_bytes_and_another_seed_others(wan):
    first = ask(wan, request("a", seed=1), request("b", seed=2), request("c", seed=1))
    assert first["a"].answer == first["c"].answer
    assert first["a"].answer != first["b"].answer
    assert wan.deterministic


def test_the_first_frame_and_the_prompt_reach_the_pipeline(wan):
    plain = ask(wan, request())["a"].answer
    assert ask(wan, request("a", first_frame(level=10)))["a"].answer != plain
    assert ask(wan, request(prompt="the ball stops"))["a"].answer != plain


def test_torchs_global_generator_is_left_as_it_was(wan):
    import torch

    before = torch.random.get_rng_state()
    ask(wan, request())
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_number_of_frames_that_the_model_cannot_make_is_rounded_and_flagged(wan):
    output = ask(wan, request(num_frames=7))["a"]
    assert len(frames(output.answer)) == 5
    assert output.usage.video_seconds == 5 / 16
    assert output.flags == (ROUNDED,)


# --- size and rate ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "shape"),
    [
        ("input", (48, 80)),  # 50 x 77, to the nearest multiples of 16
        ("96x32", (32, 96)),
        ("area:48x48", (32, 64)),  # 38.7 x 59.6
    ],
)
def test_a_film_is_as_large_as_the_option_says(size, shape, tiny_wan: Path):
    output = ask(filmer(tiny_wan, size=size), request("a", first_frame(50, 77), num_frames=1))["a"]
    assert frames(output.answer).shape[1:3] == shape


def test_the_cards_own_height_and_width_come_first(wan):
    output = ask(wan, request(height=32, width=32))["a"]
    assert frames(output.answer).shape[1:3] == (32, 32)


def test_the_rate_is_an_option_and_reaches_a_pipeline_that_is_told_it(
    wan, tiny_wan: Path, tiny_ltx: Path
):
    assert rate(ask(filmer(tiny_wan, fps=24), request())["a"].answer) == 24
    frame = first_frame(64, 64)
    usual = ask(filmer(tiny_ltx, **LTX), request("a", frame))["a"].answer
    slow = ask(filmer(tiny_ltx, fps=10, **LTX), request("a", frame))["a"].answer
    assert rate(slow) == 10
    assert not np.array_equal(frames(slow), frames(usual))  # it is part of what the model reads


def test_a_rate_that_nothing_says_is_asked_for(tiny_wan: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(FRAME_RATES, "WanImageToVideoPipeline")
    with pytest.raises(UsageError, match="how many frames a second") as caught:
        filmer(tiny_wan)
    assert "fps" in str(caught.value.cure)


# --- what it cannot do --------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 2])
def test_a_film_has_one_first_frame(wan, count):
    import msgspec

    asked = msgspec.structs.replace(request(), images=(first_frame(),) * count)
    with pytest.raises(CallError, match=f"the request has {count} pictures"):
        ask(wan, asked)


def test_an_unknown_argument_is_named_before_any_weights(tiny_wan: Path, tmp_path: Path):
    hollow = tmp_path / "hollow"
    hollow.mkdir()
    (hollow / "model_index.json").write_bytes((tiny_wan / "model_index.json").read_bytes())
    with pytest.raises(UsageError, match="num_frame: WanImageToVideoPipeline takes none"):
        filmer(hollow, generation={"num_frame": 9})


@pytest.mark.parametrize(
    ("setting", "words"),
    [("fps", r"options\.fps"), ("frame_rate", r"options\.fps"), ("last_image", "the adapter"),
     ("prompt_embeds", "the adapter"), ("size", r"options\.size")],
)  # fmt: skip
def test_arguments_that_are_not_the_cards_say_whose_they_are(setting, words, tiny_wan: Path):
    with pytest.raises(UsageError, match=words):
        filmer(tiny_wan, generation={setting: 24})


def test_a_class_that_takes_no_first_frame_says_which_to_name(tiny_ltx: Path):
    with pytest.raises(NotRunnable, match="LTXPipeline makes no video of a prompt and a first"):
        filmer(tiny_ltx)


def test_what_the_pipeline_says_no_to_is_an_error_of_that_request(tiny_cogvideox: Path):
    adapter = filmer(tiny_cogvideox, size="48x32")
    with pytest.raises(CallError, match="CogVideoXImageToVideoPipeline: "):
        ask(adapter, request(height=33, width=48))


def test_frames_that_are_not_finite_are_no_film(tiny_wan: Path):
    import torch

    adapter = filmer(tiny_wan)
    with torch.no_grad():
        adapter._pipe.vae.decoder.conv_out.bias.fill_(float("nan"))
    with pytest.raises(CallError, match="not finite"):
        ask(adapter, request())


def test_memory_that_runs_out_is_an_error_with_a_cure(tiny_wan: Path):
    adapter = filmer(tiny_wan)

    def full(*given, **more):
        raise RuntimeError("CUDA out of memory")

    adapter._pipe.vae.decode = full
    with pytest.raises(CallError, match=r"out of memory at batch 1 on cpu: .*num_frames"):
        ask(adapter, request())


def test_a_missing_library_is_named_before_the_weights(
    tiny_wan: Path, monkeypatch: pytest.MonkeyPatch
):
    from diffusers.pipelines.wan import pipeline_wan_i2v

    monkeypatch.delattr(pipeline_wan_i2v, "ftfy")
    with pytest.raises(NotRunnable, match="ftfy, which is not installed") as caught:
        filmer(tiny_wan)
    assert caught.value.cure == "pip install ftfy"


def test_without_pyav_the_extra_is_named(tiny_wan: Path, monkeypatch: pytest.MonkeyPatch):
    import sys

    from vgen_eval.errors import MissingExtra

    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(MissingExtra, match="video"):
        filmer(tiny_wan)


def test_numbers_of_the_vae_may_have_a_type_of_their_own(tiny_wan: Path):
    import torch

    adapter = filmer(tiny_wan, dtype="bfloat16", vae_dtype="float32")
    assert adapter._pipe.vae.dtype == torch.float32
    assert adapter._pipe.transformer.dtype == torch.bfloat16
    assert not adapter.deterministic
    assert len(frames(ask(adapter, request())["a"].answer)) == 9


def test_close_lets_go_of_the_pipeline(tiny_wan: Path):
    adapter = filmer(tiny_wan)
    adapter.close()
    assert adapter._pipe is None


def test_classes_that_want_more_than_a_first_frame_are_none():
    assert is_plain({"image", "prompt", "num_frames"})
    assert not is_plain({"image", "prompt"})
    assert not is_plain({"prompt", "num_frames"})
    assert not is_plain({"image", "prompt", "num_frames", "mask_image"})


def test_every_class_with_a_rate_of_its_own_is_one_that_films_a_first_frame():
    import diffusers
    from vgen_eval_plugins.models.video.kinds import read_kind

    for name in FRAME_RATES:
        assert read_kind(getattr(diffusers, name)).fps(None) == FRAME_RATES[name]


def test_an_image_of_any_size_is_a_first_frame(wan):
    assert frames(ask(wan, request("a", Image(np.zeros((1, 1, 3), np.uint8))))["a"].answer).size
