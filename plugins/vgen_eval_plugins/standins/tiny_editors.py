"""Image editing pipelines of a few thousand random weights, built from their configurations.

Each builder writes a folder as `save_pretrained` does. What they paint is noise, and their scores
are chance; how they are driven is real.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vgen_eval_plugins.models.editor import kinds
from vgen_eval_plugins.models.local.chatter import no_bars
from vgen_eval_plugins.standins.vision_ops import mend_torchvision

__all__ = [
    "BUILDERS",
    "build_flux2_klein",
    "build_instruct_pix2pix",
    "build_lora",
    "build_qwen_edit_plus",
    "calls_of_pipelines",
    "lenient_pipeline",
    "ready",
    "save",
    "small_qwen_pictures",
]

END = "<|endoftext|>"
CHAT = ("<|im_start|>", "<|im_end|>")
VISION = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TEXT: Mapping[str, Any] = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "max_position_embeddings": 2048,
}


def build_instruct_pix2pix(folder: Path, *, seed: int = 0, **more: Any) -> Path:
    """A StableDiffusionInstructPix2PixPipeline in the folder, which is returned.

    Pictures of any size from 8 pixels; one step takes about 20 ms on a CPU. `more`: components of
    the pipeline to put in the place of its own (safety_checker, feature_extractor).
    """
    torch = ready(seed)
    import diffusers
    import transformers

    channels, groups = (8, 8, 16, 16), 4
    vae = diffusers.AutoencoderKL(
        down_block_types=["DownEncoderBlock2D"] * 4, up_block_types=["UpDecoderBlock2D"] * 4,
        block_out_channels=channels, layers_per_block=1, norm_num_groups=groups,
        latent_channels=4, sample_size=64,
    )  # fmt: skip
    unet = diffusers.UNet2DConditionModel(
        in_channels=8, out_channels=4, sample_size=8, block_out_channels=(8, 16),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"), layers_per_block=1,
        attention_head_dim=4, norm_num_groups=groups, cross_attention_dim=16,
    )  # fmt: skip
    tokenizer = _clip_tokenizer()
    text = transformers.CLIPTextConfig(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=2, max_position_embeddings=77, eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.bos_token_id, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    parts = {
        "vae": vae,
        "text_encoder": transformers.CLIPTextModel(text),
        "tokenizer": tokenizer,
        "unet": unet,
        "scheduler": diffusers.EulerAncestralDiscreteScheduler(
            beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear"
        ),
        "safety_checker": None,
        "feature_extractor": None,
        "image_encoder": None,
    }
    checks = more.get("safety_checker") is not None
    kind = diffusers.StableDiffusionInstructPix2PixPipeline
    _spread(torch, vae.decoder)
    return save(kind(**{**parts, **more}, requires_safety_checker=checks), folder)


def build_flux2_klein(folder: Path, *, seed: int = 0) -> Path:
    """A Flux2KleinPipeline in the folder, which is returned. Pictures from 64 pixels a side.

    Its text encoder gives the layers 1 and 2: call it with text_encoder_out_layers=[1, 2].
    """
    torch = ready(seed)
    import diffusers
    import transformers

    tokenizer = _qwen_tokenizer((END, *CHAT), chat_template=CHATML)
    text = transformers.Qwen3Config(**TEXT, head_dim=8, vocab_size=len(tokenizer))
    vae = diffusers.AutoencoderKLFlux2(
        down_block_types=["DownEncoderBlock2D"] * 4, up_block_types=["UpDecoderBlock2D"] * 4,
        block_out_channels=(4, 4, 4, 4), layers_per_block=1, latent_channels=1,
        norm_num_groups=1, sample_size=64,
    )  # fmt: skip
    transformer = diffusers.Flux2Transformer2DModel(
        in_channels=4, num_layers=1, num_single_layers=1, attention_head_dim=16,
        num_attention_heads=2, joint_attention_dim=2 * TEXT["hidden_size"],
        timestep_guidance_channels=16, axes_dims_rope=(4, 4, 4, 4), guidance_embeds=False,
    )  # fmt: skip
    _spread(torch, vae.decoder)
    pipe = diffusers.Flux2KleinPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=vae,
        text_encoder=transformers.Qwen3ForCausalLM(text),
        tokenizer=tokenizer,
        transformer=transformer,
        is_distilled=True,
    )
    return save(pipe, folder)


def build_qwen_edit_plus(folder: Path, *, seed: int = 0) -> Path:
    """A QwenImageEditPlusPipeline in the folder, which is returned.

    The pipeline works at a megapixel whatever it is given: see `small_qwen_pictures`.
    """
    torch = ready(seed)
    import diffusers
    import transformers

    tokenizer = _qwen_tokenizer((END, *CHAT, *VISION))
    pictures = transformers.Qwen2VLImageProcessor(
        size={"shortest_edge": 28 * 28, "longest_edge": 56 * 56}
    )
    videos = transformers.Qwen2VLVideoProcessor()
    vision = {
        "depth": 2, "hidden_size": 16, "intermediate_size": 16, "num_heads": 2,
        "out_hidden_size": TEXT["hidden_size"], "fullatt_block_indexes": [1],
    }  # fmt: skip
    rotation = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0}
    names = ("vision_start", "vision_end", "image", "video")
    config = transformers.Qwen2_5_VLConfig(
        text_config={
            **TEXT,
            "vocab_size": len(tokenizer),
            "rope_parameters": rotation,
            "bos_token_id": None,
            "eos_token_id": tokenizer.eos_token_id,
        },
        vision_config=vision,
        **{
            f"{name}_token_id": tokenizer.convert_tokens_to_ids(token)
            for name, token in zip(names, VISION, strict=True)
        },
    )
    vae = diffusers.AutoencoderKLQwenImage(
        base_dim=8, z_dim=4, dim_mult=[1, 1, 1, 1], num_res_blocks=1,
        latents_mean=[0.0] * 4, latents_std=[1.0] * 4,
    )  # fmt: skip
    transformer = diffusers.QwenImageTransformer2DModel(
        in_channels=16, out_channels=4, num_layers=1, attention_head_dim=16,
        num_attention_heads=2, joint_attention_dim=TEXT["hidden_size"], axes_dims_rope=(4, 6, 6),
    )  # fmt: skip
    _spread(torch, vae.decoder)
    pipe = diffusers.QwenImageEditPlusPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=vae,
        text_encoder=transformers.Qwen2_5_VLForConditionalGeneration(config),
        tokenizer=tokenizer,
        processor=transformers.Qwen2VLProcessor(pictures, tokenizer, videos),
        transformer=transformer,
    )
    return save(pipe, folder)


def build_lora(folder: Path, editor: Path, *, seed: int = 0) -> Path:
    """LoRA weights for the tiny InstructPix2Pix `editor` in the folder, which is returned."""
    torch = ready(seed)
    import diffusers
    import peft

    unet = diffusers.UNet2DConditionModel.from_pretrained(editor / "unet", use_safetensors=True)
    unet.add_adapter(peft.LoraConfig(r=2, lora_alpha=2, target_modules=["to_q", "to_v"]))
    weights = peft.get_peft_model_state_dict(unet)
    for weight in weights.values():  # half of them begin as zeros, under which nothing changes
        torch.nn.init.normal_(weight, std=1.0)
    diffusers.StableDiffusionInstructPix2PixPipeline.save_lora_weights(
        folder, unet_lora_layers=weights
    )
    return folder


@contextmanager
def small_qwen_pictures(side: int = 64) -> Iterator[None]:
    """Lets QwenImageEditPlusPipeline work at side x side pixels in the place of a megapixel.

    The pipeline has those areas as constants of its module, not as arguments.
    """
    mend_torchvision()
    from diffusers.pipelines.qwenimage import pipeline_qwenimage_edit_plus as module

    names = ("CONDITION_IMAGE_SIZE", "VAE_IMAGE_SIZE")
    before = {name: getattr(module, name) for name in names}
    for name in names:
        setattr(module, name, side * side)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


@contextmanager
def lenient_pipeline(arguments: Iterable[str], *, named: str | None = None) -> Iterator[str]:
    """Name of a tiny pipeline's class, of diffusers while this is open, that takes `arguments`.

    It edits as StableDiffusionInstructPix2PixPipeline does, in two steps, whatever it is asked;
    what that one does not know is passed over. So one stand-in serves the cards of all editors.
    It takes what one editing pipeline of diffusers takes: the class `named`, or else the one that
    knows most of the arguments. A checkpoint's own class is not known without it.
    """
    mend_torchvision()
    import diffusers

    plain: Any = diffusers.StableDiffusionInstructPix2PixPipeline
    known = inspect.signature(plain.__call__)
    asked = frozenset(arguments)
    editors = _editors(Path(diffusers.__file__).parent / "pipelines")
    best = max(sorted(editors), key=lambda name: len(editors[name] & asked))
    taken_there = editors.get(named or best, frozenset())

    class LenientEditPipeline(plain):  # type: ignore[misc]
        def __call__(self, **given: Any) -> Any:
            taken = {key: value for key, value in given.items() if key in known.parameters}
            return super().__call__(**taken | {"num_inference_steps": 2})

    ours = [
        entry
        for name, entry in known.parameters.items()
        if entry.kind != entry.VAR_KEYWORD and (name in kinds.OURS or name in taken_there)
    ]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
        for name in sorted(taken_there & asked - set(known.parameters))
    ]
    signature = known.replace(parameters=[*ours, *more])
    LenientEditPipeline.__call__.__signature__ = signature  # type: ignore[attr-defined]
    name = LenientEditPipeline.__name__
    setattr(diffusers, name, LenientEditPipeline)
    try:
        yield name
    finally:
        delattr(diffusers, name)


@functools.cache
def _editors(folder: Path) -> Mapping[str, frozenset[str]]:
    wanted = set(kinds.PICTURES) - set(kinds.ALSO_WANTED)
    return {name: taken for name, taken in calls_of_pipelines(folder).items() if taken & wanted}


@functools.cache
def calls_of_pipelines(folder: Path) -> Mapping[str, frozenset[str]]:
    """Pipeline with a prompt -> arguments of its call, by the sources below the folder.

    Some of them want libraries that are not here, so that none can be imported to be asked.
    """
    part = re.compile(r"^class (\w+)|^    def __call__\((.*?)^    \)", re.MULTILINE | re.DOTALL)
    argument = re.compile(r"^        (\w+)\s*[:=,]", re.MULTILINE)
    found = {}
    for path in sorted(folder.rglob("pipeline_*.py")):
        kind = ""
        for match in part.finditer(path.read_text("utf-8")):
            kind = match[1] or kind
            names = frozenset(argument.findall(match[2] or ""))
            if "prompt" in names:
                found[kind] = names
    return found


BUILDERS: Mapping[str, Callable[[Path], Path]] = {
    "flux2_klein": build_flux2_klein,
    "instruct_pix2pix": build_instruct_pix2pix,
    "qwen_edit_plus": build_qwen_edit_plus,
}
"""Name -> what builds it in a folder."""


def ready(seed: int) -> Any:
    """torch, with weights to come drawn from the seed."""
    mend_torchvision()
    import torch

    torch.manual_seed(seed)
    return torch


def save(pipe: Any, folder: Path) -> Path:
    """The pipeline written to the folder, which is returned."""
    with no_bars("transformers"):
        pipe.save_pretrained(folder)
    return folder


def _spread(torch: Any, decoder: Any) -> None:
    """Wider weights at the end of a decoder: with the usual ones every picture is mid-grey."""
    torch.nn.init.normal_(decoder.conv_out.weight, std=0.3)


def _alphabet() -> list[str]:
    from tokenizers import pre_tokenizers

    return sorted(pre_tokenizers.ByteLevel.alphabet())


def _clip_tokenizer() -> Any:
    from transformers import CLIPTokenizer

    letters = _alphabet()
    words = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", END]
    vocabulary = {word: at for at, word in enumerate(words)}
    return CLIPTokenizer(vocab=vocabulary, merges=[], model_max_length=77)


def _qwen_tokenizer(control: Sequence[str], **more: Any) -> Any:
    from transformers import Qwen2Tokenizer

    letters = _alphabet()
    vocabulary = {word: at for at, word in enumerate([*letters, *control])}
    return Qwen2Tokenizer(
        vocab=vocabulary,
        merges=[],
        extra_special_tokens=[token for token in control if token != END],
        model_max_length=2048,
        **more,
    )
