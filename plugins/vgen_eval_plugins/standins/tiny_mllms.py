"""Multimodal language models of a few thousand random weights, built from their configurations.

Each builder writes a folder as `save_pretrained` does: configuration, safetensors, tokenizer,
processor, chat template. What they answer is noise; how they are driven is real.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from vgen_eval_plugins.standins.tiny_tokens import make_tokenizer
from vgen_eval_plugins.standins.vision_ops import mend_torchvision

__all__ = ["BUILDERS", "build_llava", "build_qwen2_5_vl", "build_qwen3_vl", "build_smolvlm"]

POSITIONS = 32768
TEXT: Mapping[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": POSITIONS,
}
SPREAD = 0.2
"""Of the random weights: with the usual 0.02 every logit is nearly the same."""

WINDING_UP = (16, 1.5)
"""From this token on the end grows likelier, by this factor each time: noise would never end."""

VISION_TOKENS = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}{% if part['type'] == 'image' %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% elif part['type'] == 'text' %}"
    "{{ part['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\nTHINKING{% endif %}"
)
THINKING = {
    "none": "",
    "always": "<think>\n",
    "switch": "{% if enable_thinking is defined and enable_thinking is false %}"
    "<think>\n\n</think>\n\n{% endif %}",
}
"""How a template begins the answer: as it is, within a trace, or with one that can be shut."""

SMOL_CONTROL = (
    "<|endoftext|>", "<|im_start|>", "<end_of_utterance>", "<fake_token_around_image>",
    "<image>", "<global-img>",
    *(f"<row_{row}_col_{column}>" for row in range(1, 5) for column in range(1, 5)),
)  # fmt: skip
SMOL_CHAT = (
    "<|im_start|>{% for message in messages %}{{ message['role'] | capitalize }}"
    "{% if message['content'][0]['type'] == 'image' %}:{% else %}: {% endif %}"
    "{% for part in message['content'] %}{% if part['type'] == 'text' %}{{ part['text'] }}"
    "{% elif part['type'] == 'image' %}<image>{% endif %}{% endfor %}<end_of_utterance>\n"
    "{% endfor %}{% if add_generation_prompt %}Assistant:{% endif %}"
)
LLAVA_CHAT = (
    "<s>{% for message in messages %}{% if message['role'] != 'system' %}"
    "{{ message['role'] | upper }}: {% endif %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>\n{% elif part['type'] == 'text' %}"
    "{{ part['text'] }} {% endif %}{% endfor %}"
    "{% if message['role'] == 'assistant' %}</s>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)


def build_qwen2_5_vl(
    folder: Path, *, seed: int = 0, thinking: str = "none", letters_only: bool = False
) -> Path:
    """A Qwen2.5-VL: ChatML, 3-axis rotary positions, window attention in the vision tower.

    letters_only: whatever is drawn, it writes a few letters, and so always an answer.
    """
    mend_torchvision()
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2_5_VLProcessor,
        Qwen2VLImageProcessor,
        Qwen2VLVideoProcessor,
    )

    tokenizer = _chatml_tokenizer()
    vision = {
        "depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "patch_size": 14,
        "out_hidden_size": TEXT["hidden_size"], "window_size": 56, "fullatt_block_indexes": [1],
        "spatial_merge_size": 2, "initializer_range": SPREAD,
    }  # fmt: skip
    config = Qwen2_5_VLConfig(
        text_config=_text(tokenizer, rope_scaling={"type": "mrope", "mrope_section": [1, 1, 2]}),
        vision_config=vision,
        **_vision_ids(tokenizer),
    )
    size = {"shortest_edge": 28 * 28, "longest_edge": 28 * 28 * 16}
    processor = Qwen2_5_VLProcessor(
        image_processor=Qwen2VLImageProcessor(size=size),
        tokenizer=tokenizer,
        video_processor=Qwen2VLVideoProcessor(size=size),
        chat_template=_chatml(thinking),
    )
    more = _only_letters(tokenizer) if letters_only else {}
    return _save(folder, Qwen2_5_VLForConditionalGeneration, config, processor, seed, **more)


def build_qwen3_vl(folder: Path, *, seed: int = 0, thinking: str = "none") -> Path:
    """A Qwen3-VL: ChatML, interleaved rotary positions, picture features in several layers."""
    mend_torchvision()
    from transformers import (
        Qwen2VLImageProcessor,
        Qwen3VLConfig,
        Qwen3VLForConditionalGeneration,
        Qwen3VLProcessor,
        Qwen3VLVideoProcessor,
    )

    tokenizer = _chatml_tokenizer()
    vision = {
        "depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "patch_size": 16,
        "out_hidden_size": TEXT["hidden_size"], "num_position_embeddings": 64,
        "deepstack_visual_indexes": [0, 1], "spatial_merge_size": 2, "initializer_range": SPREAD,
    }  # fmt: skip
    rope = {"rope_type": "default", "mrope_section": [2, 1, 1], "mrope_interleaved": True}
    config = Qwen3VLConfig(
        text_config=_text(tokenizer, head_dim=8, rope_scaling=rope),
        vision_config=vision,
        **_vision_ids(tokenizer),
    )
    size = {"shortest_edge": 32 * 32, "longest_edge": 32 * 32 * 16}
    processor = Qwen3VLProcessor(
        image_processor=Qwen2VLImageProcessor(patch_size=16, size=size),
        tokenizer=tokenizer,
        video_processor=Qwen3VLVideoProcessor(),
        chat_template=_chatml(thinking),
    )
    return _save(folder, Qwen3VLForConditionalGeneration, config, processor, seed)


def build_smolvlm(folder: Path, *, seed: int = 0) -> Path:
    """A SmolVLM: Llama over a SigLIP tower, pictures cut into tiles, `Assistant:` and a space."""
    mend_torchvision()
    from transformers import (
        SmolVLMConfig,
        SmolVLMForConditionalGeneration,
        SmolVLMImageProcessor,
        SmolVLMProcessor,
        SmolVLMVideoProcessor,
    )

    tokenizer = make_tokenizer(
        SMOL_CONTROL, pad="<|endoftext|>", eos="<end_of_utterance>", bos="<|im_start|>"
    )
    config = SmolVLMConfig(
        text_config=_text(tokenizer, model_type="llama"),
        vision_config={
            "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
            "num_attention_heads": 2, "image_size": 32, "patch_size": 8,
            "initializer_range": SPREAD,
        },
        scale_factor=2,
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    sizes = {"size": {"longest_edge": 64}, "max_image_size": {"longest_edge": 32}}
    processor = SmolVLMProcessor(
        image_processor=SmolVLMImageProcessor(**sizes),
        tokenizer=tokenizer,
        video_processor=SmolVLMVideoProcessor(**sizes),
        image_seq_len=4,
        chat_template=SMOL_CHAT,
    )
    return _save(folder, SmolVLMForConditionalGeneration, config, processor, seed)


def build_llava(folder: Path, *, seed: int = 0) -> Path:
    """A LLaVA: Llama over a CLIP tower, roles in plain words, `ASSISTANT:` and a space."""
    mend_torchvision()
    from transformers import (
        CLIPImageProcessor,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    tokenizer = make_tokenizer(
        ("<pad>", "<s>", "</s>", "<image>"), pad="<pad>", eos="</s>", bos="<s>"
    )
    config = LlavaConfig(
        text_config=_text(tokenizer, model_type="llama"),
        vision_config={
            "model_type": "clip_vision_model", "hidden_size": 32, "intermediate_size": 48,
            "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 32, "patch_size": 8,
            "projection_dim": 16, "initializer_factor": 4.0,
        },
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    processor = LlavaProcessor(
        image_processor=CLIPImageProcessor(
            size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
        ),
        tokenizer=tokenizer,
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=LLAVA_CHAT,
    )
    return _save(folder, LlavaForConditionalGeneration, config, processor, seed)


BUILDERS: Mapping[str, Callable[..., Path]] = {
    "qwen2_5_vl": build_qwen2_5_vl,
    "qwen3_vl": build_qwen3_vl,
    "smolvlm": build_smolvlm,
    "llava": build_llava,
}


def _chatml(thinking: str) -> str:
    return CHATML.replace("THINKING", THINKING[thinking])


def _chatml_tokenizer() -> Any:
    return make_tokenizer(
        ("<|endoftext|>", "<|im_start|>", "<|im_end|>", *VISION_TOKENS),
        pad="<|endoftext|>",
        eos="<|im_end|>",
        plain=("<think>", "</think>"),
    )


def _text(tokenizer: Any, **more: Any) -> dict[str, Any]:
    return {
        **TEXT,
        "vocab_size": len(tokenizer),
        "initializer_range": SPREAD,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        **more,
    }


def _vision_ids(tokenizer: Any) -> dict[str, int]:
    start, end, image, video = map(tokenizer.convert_tokens_to_ids, VISION_TOKENS)
    return {
        "vision_start_token_id": start,
        "vision_end_token_id": end,
        "image_token_id": image,
        "video_token_id": video,
    }


def _only_letters(tokenizer: Any) -> dict[str, Any]:
    """Settings under which noise is one letter or more, and then the end."""
    end = tokenizer.eos_token_id
    letters = tokenizer.convert_tokens_to_ids(list(string.ascii_letters))
    return {
        "suppress_tokens": sorted(set(range(len(tokenizer))) - {end, *letters}),
        "begin_suppress_tokens": [end],
    }


def _save(
    folder: Path, kind: Any, config: Any, processor: Any, seed: int, **generation: Any
) -> Path:
    """Random weights of the seed alone, whatever was drawn before; nothing else is disturbed."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = kind(config)
    model.generation_config.eos_token_id = config.text_config.eos_token_id
    model.generation_config.pad_token_id = config.text_config.pad_token_id
    model.generation_config.exponential_decay_length_penalty = WINDING_UP
    for name, value in generation.items():
        setattr(model.generation_config, name, value)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
