"""Checkpoints that cannot be loaded, each told with its cure; and those that can."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mllmkit import ask, load, make_request
from vgen_eval.cards.records import ModelCard
from vgen_eval.errors import CallError, MissingExtra, NotRunnable, UsageError
from vgen_eval_plugins.models.mllm.adapter import TransformersMLLM

Folder = Callable[..., Path]

quiet_peft = pytest.mark.filterwarnings(
    "ignore:`is_gradient_checkpointing` is deprecated:FutureWarning"
)  # peft asks transformers for it


@pytest.fixture
def copied(tiny_mllm: Folder, tmp_path: Path) -> Path:
    """A tiny Qwen2.5-VL to be spoiled."""
    return Path(shutil.copytree(tiny_mllm("qwen2_5_vl"), tmp_path / "model"))


def change(path: Path, **values: Any) -> None:
    """Keys of a JSON file set."""
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_without_transformers_the_extra_is_named(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)  # an import of it fails
    with pytest.raises(MissingExtra) as told:
        load(copied)
    assert told.value.cure == "pip install 'vgen-eval[transformers]'"


def test_an_older_transformers_is_named(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    monkeypatch.setattr(transformers, "__version__", "4.57.1")
    with pytest.raises(NotRunnable, match=r"transformers 4.57.1 is older than 5.24") as told:
        load(copied)
    assert told.value.cure == "pip install 'transformers>=5.24'"


def test_a_folder_without_configuration(copied: Path) -> None:
    (copied / "config.json").unlink()
    with pytest.raises(NotRunnable, match=r"holds no config.json"):
        load(copied)


def test_no_folder_and_no_name(tmp_path: Path) -> None:
    with pytest.raises(NotRunnable, match="no folder"):
        load(tmp_path / "nowhere")
    nameless = TransformersMLLM(TransformersMLLM.Options(), device="cpu")
    with pytest.raises(UsageError, match="no checkpoint is named"):
        nameless.load()


def test_a_configuration_of_another_kind_of_model(copied: Path) -> None:
    change(copied / "config.json", model_type="bert")
    with pytest.raises(NotRunnable, match="'bert' is no image-text-to-text model"):
        load(copied)
    change(copied / "config.json", model_type="qwen2_5_v")
    with pytest.raises(NotRunnable, match="Nearest: qwen2_5_vl"):
        load(copied)


def test_code_of_the_checkpoint_is_not_run_unasked(copied: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    (copied / "modeling_own.py").write_text(f"open({str(mark)!r}, 'w')\nclass Own: pass\n")
    change(
        copied / "config.json",
        model_type="own",
        auto_map={"AutoModelForImageTextToText": "modeling_own.Own"},
    )
    with pytest.raises(NotRunnable, match="Python code of its own") as told:
        load(copied)
    assert told.value.cure == "read it, then: -M trust_remote_code=true"
    assert not mark.exists()


def test_pickled_weights_alone_are_refused_unread(copied: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    (copied / "model.safetensors").unlink()
    # a pickle that makes a file when it is read
    (copied / "pytorch_model.bin").write_bytes(
        b"cbuiltins\nopen\n(V" + str(mark).encode() + b"\nVw\ntR."
    )
    with pytest.raises(NotRunnable, match="pickled weights only"):
        load(copied)
    assert not mark.exists()


def test_no_weights_at_all(copied: Path) -> None:
    (copied / "model.safetensors").unlink()
    with pytest.raises(NotRunnable, match="no safetensors weights"):
        load(copied)


def test_weights_cut_off(copied: Path) -> None:
    weights = copied / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    with pytest.raises(NotRunnable, match="cannot be loaded"):
        load(copied)


def test_no_chat_template(copied: Path) -> None:
    (copied / "chat_template.jinja").unlink()
    with pytest.raises(NotRunnable, match="no chat template"):
        load(copied)


def test_a_chat_template_can_be_given(copied: Path, tiny_mllm: Folder) -> None:
    (copied / "chat_template.jinja").unlink()
    own = (tiny_mllm("qwen2_5_vl") / "chat_template.jinja").read_text()
    request = make_request(max_new_tokens=4)
    (expected,) = ask(load(tiny_mllm("qwen2_5_vl")), request)
    (output,) = ask(load(copied, chat_template=own), request)
    assert (output.answer, output.usage) == (expected.answer, expected.usage)
    (other,) = ask(load(copied, chat_template="Say: " + own), request)
    assert other.answer != expected.answer


def test_no_processor(copied: Path) -> None:
    (copied / "processor_config.json").unlink()
    with pytest.raises(NotRunnable, match=r"cannot be loaded|no chat template"):
        load(copied)


def test_a_device_that_is_not_here(copied: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(NotRunnable, match="no device 'cuda' here"):
        load(copied, device="cuda")
    with pytest.raises(UsageError, match="no device 'gpu'"):
        load(copied, device="gpu")


def test_quantization_without_its_library(copied: Path) -> None:
    if importlib.util.find_spec("bitsandbytes") is not None:
        pytest.skip("it is here")
    with pytest.raises(NotRunnable, match="needs bitsandbytes") as told:
        load(copied, quantization="bitsandbytes_4bit")
    assert told.value.cure == "pip install bitsandbytes"
    wanted = TransformersMLLM.Options(quantization="bitsandbytes_8bit")
    card = ModelCard(model="m", adapter="a", answers=("text",), licence="CC0-1.0")
    assert "pip install bitsandbytes" in TransformersMLLM.lacks(wanted, card)[0]
    assert not TransformersMLLM.lacks(TransformersMLLM.Options(), card)


def test_an_attention_that_there_is_not(copied: Path) -> None:
    with pytest.raises(NotRunnable, match=r"cannot be loaded: .*flash_of_genius"):
        load(copied, attn_implementation="flash_of_genius")


def test_eager_attention_answers_like_the_usual_one(copied: Path) -> None:
    request = make_request(form="choice", choices=("yes", "no"))
    usual, eager = (ask(load(copied, **given), request)[0].answer for given in (
        {}, {"attn_implementation": "eager"},
    ))  # fmt: skip
    assert eager == pytest.approx(usual, abs=1e-4)


def test_weights_take_the_type_that_is_asked_for(copied: Path) -> None:
    import torch

    assert load(copied)._model.dtype == torch.float32
    assert load(copied, dtype="bfloat16")._model.dtype == torch.bfloat16


def make_lora(base: Path, folder: Path, seed: int) -> Path:
    """Low-rank weights that change every answer."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForImageTextToText

    model = AutoModelForImageTextToText.from_pretrained(base)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        wrapped = get_peft_model(
            model, LoraConfig(r=4, target_modules=["q_proj", "down_proj"], init_lora_weights=False)
        )
    wrapped.save_pretrained(folder)
    return folder


@quiet_peft
def test_loras_go_over_the_weights(tiny_mllm: Folder, tmp_path: Path) -> None:
    import torch
    from peft import PeftModel
    from transformers import AutoModelForImageTextToText

    base = tiny_mllm("qwen2_5_vl")
    lora = make_lora(base, tmp_path / "lora", 1)
    plain = load(base)
    adapter = load(base, loras=_loras(lora))
    request = make_request(form="choice", choices=("yes", "no"))
    assert ask(adapter, request)[0].answer != ask(plain, request)[0].answer
    by_hand = PeftModel.from_pretrained(AutoModelForImageTextToText.from_pretrained(base), lora)
    merged = by_hand.merge_and_unload().eval()
    inputs = adapter._chats.inputs(request)
    with torch.no_grad():
        logprobs = torch.log_softmax(merged(**inputs).logits[0, -1], dim=-1)
    yes = adapter._chats.tokenizer.convert_tokens_to_ids("yes")
    assert ask(adapter, request)[0].answer["yes"] == pytest.approx(float(logprobs[yes]), abs=1e-4)


@quiet_peft
@pytest.mark.filterwarnings("ignore:Already found a `peft_config` attribute:UserWarning")
def test_several_loras_add_up(tiny_mllm: Folder, tmp_path: Path) -> None:
    base = tiny_mllm("qwen2_5_vl")
    places = [make_lora(base, tmp_path / str(seed), seed) for seed in (1, 2)]
    request = make_request(form="choice", choices=("yes", "no"))
    answers = [
        ask(load(base, loras=_loras(*chosen)), request)[0].answer["yes"]
        for chosen in ([places[0]], [places[1]], places)
    ]
    assert len(set(answers)) == 3


def test_a_folder_that_is_no_lora(tiny_mllm: Folder, tmp_path: Path) -> None:
    with pytest.raises(NotRunnable, match=r"holds no adapter_config.json"):
        load(tiny_mllm("qwen2_5_vl"), loras=_loras(tiny_mllm("llava")))


def _loras(*places: Path) -> Any:
    from vgen_eval_plugins.models.local.weights import Lora

    return tuple(Lora(model=str(place)) for place in places)


def identify(folder: Path, **options: Any) -> Any:
    """What tells the model from others."""
    card = ModelCard(model="m", adapter="a", answers=("text",), licence="CC0-1.0")
    chosen = TransformersMLLM.Options(model=str(folder), **options)
    return TransformersMLLM.identify(chosen, card)


def test_identity_is_what_the_folder_holds_never_where_it_lies(
    tiny_mllm: Folder, tmp_path: Path
) -> None:
    base = tiny_mllm("qwen2_5_vl")
    facts = identify(base)
    assert facts == identify(Path(shutil.copytree(base, tmp_path / "elsewhere")))
    assert set(facts) == {"contents", "libraries"}
    assert {"torch", "torchvision", "transformers", "tokenizers"} == set(facts["libraries"])
    other = tmp_path / "other"
    from vgen_eval_plugins.standins.tiny_mllms import build_qwen2_5_vl

    build_qwen2_5_vl(other, seed=1)
    assert identify(other) != facts
    shutil.copytree(base, tmp_path / "templated")
    (tmp_path / "templated" / "chat_template.jinja").write_text("{{ messages }}")
    assert identify(tmp_path / "templated") != facts


@quiet_peft
def test_identity_counts_the_loras(tiny_mllm: Folder, tmp_path: Path) -> None:
    base = tiny_mllm("qwen2_5_vl")
    lora = make_lora(base, tmp_path / "lora", 1)
    facts = identify(base, loras=_loras(lora))
    assert facts["loras"] == [identify_folder(lora)]
    assert "peft" in facts["libraries"]


def identify_folder(folder: Path) -> Any:
    """Its contents' digest."""
    from vgen_eval_plugins.models.local.folders import digest_folder

    return {"contents": digest_folder(folder), "libraries": {}}


def test_a_folder_that_changed_since_it_was_identified_is_not_run(copied: Path) -> None:
    identify(copied)
    (copied / "chat_template.jinja").write_text("Say: {{ messages }}")
    with pytest.raises(NotRunnable, match="changed while it was loaded or since the run began"):
        load(copied)
    identify(copied)
    load(copied)


@quiet_peft
def test_a_repository_of_low_rank_weights_does_not_bring_another_model(
    tiny_mllm: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    commit = "0123456789abcdef0123456789abcdef01234567"
    base = tiny_mllm("qwen2_5_vl")
    place = tmp_path / "models--org--tuned" / "snapshots" / commit
    place.parent.mkdir(parents=True)
    shutil.copytree(base, place)
    shutil.copytree(make_lora(base, tmp_path / "lora", 1), place, dirs_exist_ok=True)
    change(place / "adapter_config.json", base_model_name_or_path=str(base))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    options = TransformersMLLM.Options(model="org/tuned", revision=commit)
    with pytest.raises(NotRunnable, match=r"org/tuned@0123456789ab is low-rank weights over /"):
        TransformersMLLM(options, device="cpu").load()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_numbers_that_run_over_are_no_words(dtype: str, copied: Path) -> None:
    adapter = load(copied, dtype=dtype)
    (fine,) = ask(adapter, make_request(max_new_tokens=4))
    assert fine.usage is not None
    adapter._model.lm_head.weight.data.fill_(float("nan"))
    drawn = make_request(do_sample=True, max_new_tokens=4)
    chosen = make_request(form="choice", choices=("yes", "no"))
    for request in (make_request(max_new_tokens=4), drawn, chosen):
        with pytest.raises(CallError, match="not finite: a number ran over; -M dtype=bfloat16"):
            ask(adapter, request)


def test_a_folders_name_may_hold_blanks_and_other_letters(copied: Path, tmp_path: Path) -> None:
    folder = copied.rename(tmp_path / "mein größtes Modell; v=1")
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert identify(link) == identify(folder)
    request = make_request(seed=2**70 + 1, do_sample=True, max_new_tokens=4)
    (output,) = ask(load(folder), request)
    assert ask(load(link), request)[0].answer == output.answer


def test_a_batch_of_one_on_a_cpu_is_deterministic_and_others_are_not(copied: Path) -> None:
    assert load(copied).deterministic
    assert not load(copied, batch=4).deterministic
    assert not load(copied, dtype="bfloat16").deterministic
    assert load(copied, batch=4).max_batch == 4


def test_closing_lets_go_of_the_weights(copied: Path) -> None:
    import gc
    import weakref

    adapter = load(copied)
    ask(adapter, make_request(max_new_tokens=2), make_request("b", form="choice", choices=("a",)))
    ghost = weakref.ref(adapter._model)
    adapter.close()
    adapter.close()
    gc.collect()
    assert ghost() is None
