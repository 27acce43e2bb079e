"""Specialists of a few thousand random weights in folders, as `save_pretrained` writes them.

Each builder needs `mend_torchvision()` before.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

END = "<|endoftext|>"
CLASSES = ("person", "cat", "dog", "sky")
"""Classes of the tiny OneFormer."""


def build_depth_anything(folder: Path) -> Path:
    """A DepthAnything with its image processor."""
    _seed()
    import transformers

    backbone = transformers.Dinov2Config(
        hidden_size=16, num_hidden_layers=4, num_attention_heads=2, image_size=28, patch_size=14,
        out_indices=[1, 2, 3, 4], apply_layernorm=True, reshape_hidden_states=False,
    )  # fmt: skip
    config = transformers.DepthAnythingConfig(
        backbone_config=backbone, patch_size=14, reassemble_hidden_size=16,
        reassemble_factors=[4, 2, 1, 0.5], neck_hidden_sizes=[4, 4, 8, 8], fusion_hidden_size=8,
        head_hidden_size=4,
    )  # fmt: skip
    transformers.DepthAnythingForDepthEstimation(config).save_pretrained(folder)
    transformers.DPTImageProcessor(
        size={"height": 28, "width": 28}, keep_aspect_ratio=False, ensure_multiple_of=14
    ).save_pretrained(folder)
    return folder


def build_clip(folder: Path) -> Path:
    """A CLIP with its processor."""
    _seed()
    import transformers

    tokenizer = clip_tokenizer()
    text = {
        "vocab_size": len(tokenizer), "hidden_size": 16, "intermediate_size": 16,
        "num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 77,
        "eos_token_id": tokenizer.eos_token_id, "bos_token_id": tokenizer.bos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }  # fmt: skip
    vision = {
        "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1,
        "num_attention_heads": 2, "image_size": 32, "patch_size": 8,
    }  # fmt: skip
    config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=8)
    transformers.CLIPModel(config).save_pretrained(folder)
    pictures = transformers.CLIPImageProcessor(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    )
    transformers.CLIPProcessor(pictures, tokenizer).save_pretrained(folder)
    return folder


def build_oneformer(folder: Path) -> Path:
    """A OneFormer over a Swin, with its processor."""
    _seed()
    import transformers

    tokenizer = clip_tokenizer()
    backbone = transformers.SwinConfig(
        image_size=32, embed_dim=8, depths=[1, 1, 1, 1], num_heads=[1, 1, 1, 1], window_size=2,
        out_features=["stage1", "stage2", "stage3", "stage4"],
    )  # fmt: skip
    names = dict(enumerate(CLASSES))
    config = transformers.OneFormerConfig(
        backbone_config=backbone, num_queries=6, hidden_dim=32, conv_dim=32, mask_dim=32,
        encoder_feedforward_dim=16, dim_feedforward=16, num_attention_heads=2, encoder_layers=1,
        decoder_layers=2, query_dec_layers=1, text_encoder_width=16, text_encoder_context_length=77,
        text_encoder_num_layers=1, text_encoder_vocab_size=len(tokenizer), text_encoder_n_ctx=2,
        task_seq_len=77, max_seq_len=77, use_task_norm=True, id2label=names,
        label2id={name: number for number, name in names.items()},
    )  # fmt: skip
    transformers.OneFormerForUniversalSegmentation(config).save_pretrained(folder)
    classes = {str(number): {"isthing": 1, "name": name} for number, name in names.items()}
    (folder / "classes.json").write_text(json.dumps(classes), encoding="utf-8")
    pictures = transformers.OneFormerImageProcessor(
        size={"shortest_edge": 32, "longest_edge": 64}, repo_path=str(folder),
        class_info_file="classes.json", num_labels=len(CLASSES), num_text=4,
    )  # fmt: skip
    transformers.OneFormerProcessor(
        pictures, tokenizer, max_seq_length=77, task_seq_length=77
    ).save_pretrained(folder)
    return folder


def build_sam3(folder: Path) -> Path:
    """A SAM 3 with its processor."""
    _seed()
    import transformers

    tokenizer = clip_tokenizer(length=32)
    small = {"hidden_size": 32, "intermediate_size": 32, "num_attention_heads": 2}
    config = transformers.Sam3Config(
        vision_config={
            "backbone_config": {
                **small, "model_type": "sam3_vit_model", "num_hidden_layers": 2, "image_size": 56,
                "patch_size": 14, "window_size": 2, "global_attn_indexes": [1],
                "pretrain_image_size": 28,
            },
            "fpn_hidden_size": 32, "backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]],
        },
        text_config={
            **small, "num_hidden_layers": 1, "projection_dim": 32, "vocab_size": len(tokenizer),
            "max_position_embeddings": 32, "eos_token_id": tokenizer.eos_token_id,
            "bos_token_id": tokenizer.bos_token_id, "pad_token_id": tokenizer.pad_token_id,
        },
        geometry_encoder_config={**small, "num_layers": 1},
        detr_encoder_config={**small, "num_layers": 1},
        detr_decoder_config={**small, "num_layers": 2, "num_queries": 4},
        mask_decoder_config={**small, "num_upsampling_stages": 3},
    )  # fmt: skip
    transformers.Sam3Model(config).save_pretrained(folder)
    pictures = transformers.Sam3ImageProcessor(size={"height": 56, "width": 56})
    transformers.Sam3Processor(pictures, tokenizer).save_pretrained(folder)
    return folder


def build_marigold(folder: Path, kind: str) -> Path:
    """A Marigold pipeline; `kind`: Depth, Normals."""
    _seed()
    import diffusers
    import transformers

    tokenizer = clip_tokenizer()
    vae = diffusers.AutoencoderKL(
        down_block_types=["DownEncoderBlock2D"] * 4, up_block_types=["UpDecoderBlock2D"] * 4,
        block_out_channels=(8, 8, 16, 16), layers_per_block=1, norm_num_groups=4,
        latent_channels=4, sample_size=64,
    )  # fmt: skip
    unet = diffusers.UNet2DConditionModel(
        in_channels=8, out_channels=4, sample_size=8, block_out_channels=(8, 16),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"), layers_per_block=1,
        attention_head_dim=4, norm_num_groups=4, cross_attention_dim=16,
    )  # fmt: skip
    text = transformers.CLIPTextConfig(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=2, max_position_embeddings=77, eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.bos_token_id, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    pipe: Any = getattr(diffusers, f"Marigold{kind}Pipeline")(
        unet=unet,
        vae=vae,
        scheduler=diffusers.DDIMScheduler(prediction_type="v_prediction"),
        text_encoder=transformers.CLIPTextModel(text),
        tokenizer=tokenizer,
        prediction_type=kind.lower(),
        default_denoising_steps=1,
        default_processing_resolution=64,
    )
    pipe.save_pretrained(folder)
    return folder


def clip_tokenizer(length: int = 77) -> Any:
    """CLIP's tokenizer over single letters."""
    import transformers

    letters = [chr(code) for code in range(33, 127)]
    words = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", END]
    vocabulary = {word: number for number, word in enumerate(words)}
    return transformers.CLIPTokenizer(vocab=vocabulary, merges=[], model_max_length=length)


def _seed() -> None:
    import torch

    torch.manual_seed(0)
