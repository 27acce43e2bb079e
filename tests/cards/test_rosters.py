"""The model cards that ship: whole rosters, honest about what runs, arguments that exist."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from vgen_eval.cards import load_card
from vgen_eval.cards.records import ModelCard

FOLDER = Path(__file__).parents[2] / "model_cards"
PATHS = {
    path.relative_to(FOLDER).with_suffix("").as_posix(): path
    for path in sorted(FOLDER.rglob("*.yaml"))
    if path.parent.name not in ("baselines", "classic", "judges")  # code of this project
}

ROSTERS = {
    "probegen": """
        google/nano-banana google/nano-banana-pro google/nano-banana-2 openai/gpt-image-2
        bytedance/seedream-4.5 black-forest-labs/flux.2-dev qwen/qwen-image-edit-2511
        bytedance/bagel vectorspacelab/omnigen2 bytedance/lance bytedance/uno
        google/gemini-3.5-flash qwen/qwen3-vl-8b-thinking
        depth-anything/depth-anything-v2-large facebook/sam3
    """,
    "editors": """
        qwen/qwen-image-edit-2511 firered/firered-image-edit-1.1 meituan/longcat-image-edit
    """,
    "pixelarena": """
        google/nano-banana-pro google/nano-banana openai/gpt-image-1 baai/emu3.5
        hit-tmg/uni-moe-2-omni hit-tmg/uni-moe-2-image
        facebook/sam3 kartiknarayan/segface shi-labs/oneformer-coco
    """,
    "qbench": """
        huggingfacem4/idefics-9b-instruct salesforce/instructblip-flan-t5-xl
        salesforce/instructblip-vicuna-7b internlm/internlm-xcomposer-vl-7b microsoft/kosmos-2
        opengvlab/llama-adapter-v2 liuhaotian/llava-v1-13b llava-hf/llava-1.5-7b
        llava-hf/llava-1.5-13b vision-cair/minigpt-4-13b x-plug/mplug-owl-7b luodian/otter
        qwen/qwen-vl shikras/shikra-7b thudm/visualglm-6b openai/clip-vit-large-patch14
        openai/gpt-4v google/gemini-pro-vision qwen/qwen-vl-plus vivo/blueimage-gpt
    """,
    "vgi": """
        google/nano-banana-pro bytedance/seedream-5.0-pro qwen/qwen-image-3-pro openai/gpt-image-2
        microsoft/mai-image-2.5-pro xai/grok-imagine bytedance/seedream-4.5
        sensenova/sensenova-u1.5-8b black-forest-labs/flux.2-max sensenova/sensenova-u1
        jd/joyai-image-edit qwen/qwen-image-edit bytedance/bagel stepfun/step1x-edit
        bytedance/seedance-2.0 minimax/minimax-h3 kuaishou/kling-3.0 video-reason/vbvr-wan2.2
        openai/sora-2 runway/gen-4.5 wan-ai/wan2.7 google/veo-3.1 wan-ai/wan2.2-i2v-a14b
        tencent/hunyuanvideo-1.5
    """,
}
PIPELINES = {
    "black-forest-labs/flux.1-kontext-dev": "FluxKontextPipeline",
    "black-forest-labs/flux.2-dev": "Flux2Pipeline",
    "black-forest-labs/flux.2-klein-4b": "Flux2KleinPipeline",
    "firered/firered-image-edit-1.1": "QwenImageEditPlusPipeline",
    "jd/joyai-image-edit": "JoyImageEditPipeline",
    "meituan/longcat-image-edit": "LongCatImageEditPipeline",
    "qwen/qwen-image-edit": "QwenImageEditPipeline",
    "qwen/qwen-image-edit-2511": "QwenImageEditPlusPipeline",
    "timbrooks/instruct-pix2pix": "StableDiffusionInstructPix2PixPipeline",
    "vectorspacelab/omnigen": "OmniGenPipeline",
}
"""The class that each editor's model_index.json names."""
FILMS = {
    "lightricks/ltx-video": "LTXImageToVideoPipeline",
    "tencent/hunyuanvideo-1.5": "HunyuanVideo15ImageToVideoPipeline",
    "video-reason/vbvr-wan2.2": "WanImageToVideoPipeline",
    "wan-ai/wan2.2-i2v-a14b": "WanImageToVideoPipeline",
    "wan-ai/wan2.2-ti2v-5b": "WanImageToVideoPipeline",
    "zai-org/cogvideox-5b-i2v": "CogVideoXImageToVideoPipeline",
}
"""The class that films for each, by its model_index.json or by its card."""
OUR_OWN = {"seed"}
"""Generation keys that the adapters themselves read."""


@pytest.fixture(scope="module")
def cards() -> Mapping[str, ModelCard]:
    found = {}
    for name, path in PATHS.items():
        card = load_card(path).record
        assert isinstance(card, ModelCard)
        assert card.model == name
        found[name] = card
    return found


def of_adapter(cards: Mapping[str, ModelCard], adapter: str) -> Iterator[tuple[str, set[str]]]:
    """Name and generation keys of the runnable cards of an adapter."""
    for name, card in cards.items():
        if card.adapter == adapter and card.runnable:
            yield name, set(card.generation) - OUR_OWN


def arguments(function: Any) -> set[str]:
    return set(inspect.signature(function).parameters)


@pytest.mark.parametrize("paper", ROSTERS)
def test_a_papers_roster_is_whole(cards: Mapping[str, ModelCard], paper: str) -> None:
    assert {name for name, card in cards.items() if paper in card.papers} == set(
        ROSTERS[paper].split()
    )


def test_no_card_names_another_paper(cards: Mapping[str, ModelCard]) -> None:
    assert {paper for card in cards.values() for paper in card.papers} == set(ROSTERS)


@pytest.mark.parametrize("name", PATHS)
def test_a_card_says_where_its_facts_come_from(cards: Mapping[str, ModelCard], name: str) -> None:
    card = cards[name]
    for text in (card.title, card.licence, card.source, card.developer):
        assert text
    assert card.source.startswith("https://")
    assert card.availability in ("open_weights", "closed_weights")
    pinned = card.checkpoint is not None and card.checkpoint.revision is not None
    assert not card.verified or pinned
    if card.price is not None:
        assert "https://" in card.price.source
        assert "2026-" in card.price.source, "the date on which it was read"
    assert all(entry.source for entry in card.exposure)


@pytest.mark.parametrize("name", PATHS)
def test_a_price_of_tokens_is_a_price_of_both_directions(
    cards: Mapping[str, ModelCard], name: str
) -> None:
    price = cards[name].price
    if price is None:
        return
    tokens = {field for field in price.__struct_fields__ if field.startswith("per_million_")}
    if any(getattr(price, field) is not None for field in tokens):
        assert price.per_million_input_usd is not None
        assert price.per_million_output_usd is not None


@pytest.mark.parametrize(
    ("name", "usage", "usd"),
    [
        # 600 read, 400 thought and 10 words of the answer, a picture of 1,120
        ("google/nano-banana-pro",
         {"input_tokens": 600, "output_tokens": 1530, "thinking_tokens": 400, "image_tokens": 1120},
         600 * 2 + 410 * 12 + 1120 * 120),
        ("google/nano-banana-pro", {"input_tokens": 600, "output_tokens": 0}, 600 * 2),
        # 50 words and a picture of 1,550 read, a picture of 4,160 made
        ("openai/gpt-image-2",
         {"input_tokens": 1600, "input_image_tokens": 1550, "output_tokens": 4160,
          "image_tokens": 4160},
         50 * 5 + 1550 * 8 + 4160 * 30),
    ],
)  # fmt: skip
def test_a_call_costs_what_the_price_list_says(
    cards: Mapping[str, ModelCard], name: str, usage: Mapping[str, int], usd: int
) -> None:
    from vgen_eval.engine.pricing import cost_of
    from vgen_eval.types import Usage

    cost = cost_of(Usage(**usage), cards[name].price, form="image", answered=True)
    assert cost is not None
    assert cost * 1_000_000 == usd


def test_maps_that_are_not_in_metres_are_no_depth_answer(cards: Mapping[str, ModelCard]) -> None:
    assert cards["depth-anything/depth-anything-v2-large"].answers == ("image",)


@pytest.mark.parametrize(
    ("name", "licence"),
    [
        ("baai/emu3.5", "MIT"),
        ("microsoft/kosmos-2", "MIT"),
        ("internlm/internlm-xcomposer-vl-7b", "Apache-2.0 (code); weights free for research"),
    ],
)
def test_licences_are_those_that_the_sources_state(
    cards: Mapping[str, ModelCard], name: str, licence: str
) -> None:
    assert cards[name].licence.startswith(licence)


@pytest.mark.parametrize("name", PATHS)
def test_a_card_that_cannot_run_says_why_and_what_to_do(
    cards: Mapping[str, ModelCard], name: str
) -> None:
    card = cards[name]
    assert card.runnable == (not card.reason)
    if card.runnable:
        assert card.adapter in ("anthropic", "gemini", "openai_compatible") or card.checkpoint
        if card.availability == "closed_weights":
            assert card.needs.key_env
    else:
        cure = ("copy of this card", "in its place", "google/gemini-3.8-flash", "reference")
        assert any(words in card.reason for words in cure), card.reason


def test_services_of_open_models_say_how_to_start_them(cards: Mapping[str, ModelCard]) -> None:
    served = [c for c in cards.values() if str(c.options.get("base_url", "")).startswith("http:")]
    assert served
    for card in served:
        assert card.checkpoint is not None
        assert card.checkpoint.repo is not None
        assert card.checkpoint.repo in card.needs.serve
        assert "--port 8091" in card.needs.serve


# --- generation: what is asked for is what the library takes ------------------------------------


def test_editors_ask_for_what_their_pipelines_take(cards: Mapping[str, ModelCard]) -> None:
    from vgen_eval_plugins.standins.vision_ops import mend_torchvision

    mend_torchvision()
    import diffusers

    editors = dict(of_adapter(cards, "diffusers_editor"))
    assert editors.keys() == PIPELINES.keys()
    for name, keys in editors.items():
        taken = arguments(getattr(diffusers, PIPELINES[name]).__call__)
        assert keys <= taken, name


def test_films_ask_for_what_their_pipelines_take(cards: Mapping[str, ModelCard]) -> None:
    from vgen_eval.cards import convert
    from vgen_eval_plugins.models.video.adapter import OPTIONS
    from vgen_eval_plugins.models.video.kinds import check_settings, read_kind
    from vgen_eval_plugins.models.video.options import VideoOptions
    from vgen_eval_plugins.standins.vision_ops import mend_torchvision

    mend_torchvision()
    import diffusers

    films = dict(of_adapter(cards, "diffusers_video"))
    assert films.keys() == FILMS.keys()
    for name, keys in films.items():
        kind = read_kind(getattr(diffusers, FILMS[name]))
        check_settings(kind, keys, options=OPTIONS)
        options = convert(VideoOptions, cards[name].options, file=name, path="options")
        assert options.pipeline in (None, FILMS[name])
        assert options.size == "auto" or kind.sized
        seconds = cards[name].generation["num_frames"] / kind.fps(options.fps)
        assert 5 <= seconds < 7  # what the paper says of its clips: 5 s to 10 s


def test_language_models_ask_for_what_generate_takes(cards: Mapping[str, ModelCard]) -> None:
    from vgen_eval_plugins.standins.vision_ops import mend_torchvision

    mend_torchvision()
    from transformers import GenerationConfig

    known = set(vars(GenerationConfig()))
    found = dict(of_adapter(cards, "transformers_mllm"))
    assert len(found) > 5
    for name, keys in found.items():
        assert keys <= known, name
        if not cards[name].generation.get("do_sample"):
            assert not keys & {"temperature", "top_p", "top_k", "min_p"}, name


def test_openai_cards_ask_for_what_the_service_takes(cards: Mapping[str, ModelCard]) -> None:
    from openai.resources.chat.completions import Completions
    from openai.resources.images import Images

    found = [
        (name, set(card.generation))
        for name, card in cards.items()
        if card.adapter == "openai_compatible"
    ]
    assert len(found) > 5
    for name, keys in found:
        if "video" in cards[name].answers:
            assert not keys, name  # /v1/videos takes its fields from options
            continue
        edits = "image" in cards[name].answers and cards[name].options.get("api") != "chat"
        assert keys <= arguments(Images.edit if edits else Completions.create), name


def test_gemini_cards_ask_for_what_the_service_takes(cards: Mapping[str, ModelCard]) -> None:
    from google.genai import types

    found = [card for card in cards.values() if card.adapter == "gemini"]
    assert len(found) > 4
    for card in found:
        types.GenerateContentConfig(**card.generation)  # refuses what it does not know


def test_anthropic_cards_ask_for_what_the_service_takes(cards: Mapping[str, ModelCard]) -> None:
    from anthropic.resources.messages import Messages

    for name, card in cards.items():
        if card.adapter == "anthropic":
            assert set(card.generation) <= arguments(Messages.create), name


# --- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PATHS)
def test_a_cards_options_are_those_of_its_adapter(
    cards: Mapping[str, ModelCard], name: str
) -> None:
    from vgen_eval.cards import convert
    from vgen_eval.plugins import Catalog

    card = cards[name]
    adapter = Catalog.discover().component("adapter", card.adapter, home="vgen-eval").obj
    options = convert(adapter.Options, card.options, file=name, path="options")
    assert set(card.answers) <= set(adapter.forms)
    if card.runnable and card.adapter == "command":
        adapter.identify(options, card)


def test_specialists_of_this_package_find_their_programs(cards: Mapping[str, ModelCard]) -> None:
    from vgen_eval.cards import convert
    from vgen_eval_plugins.models.command.adapter import Command

    found = [c for c in cards.values() if c.adapter == "command" and c.runnable]
    assert len(found) == 6
    for card in found:
        options = convert(Command.Options, card.options, file=card.model, path="options")
        assert not list(Command.lacks(options, card))
        pins = options.env.requirements
        assert {pin.partition("==")[0] for pin in pins} >= {"torch", "transformers", "Pillow"}


def test_oneformers_classes_are_those_of_the_task(cards: Mapping[str, ModelCard]) -> None:
    from vgen_eval.cards.records import TaskCard

    task = load_card(FOLDER.parent / "task_cards" / "samples" / "semantic.yaml").record
    assert isinstance(task, TaskCard)
    classes = cards["shi-labs/oneformer-coco"].options["config"]["classes"]
    assert len(classes) == len(task.dataset.options["classes"])
    assert classes[-1] == "rest"


def test_nothing_runs_a_model_whose_weights_are_closed_for_good() -> None:
    from vgen_eval.engine.models import resolve_model
    from vgen_eval.errors import NotRunnable
    from vgen_eval.plugins import Catalog

    with pytest.raises(NotRunnable, match="neither weights nor a service are public") as caught:
        resolve_model(
            "google/vision-banana", Catalog.discover(), options={}, overrides={}, notices=[]
        )
    assert caught.value.exit_code == 3
