"""How a diffusers pipeline is driven: the adapter's options."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from vgen_eval_plugins.models.local.devices import Dtype
from vgen_eval_plugins.models.local.weights import Lora, Quantization

__all__ = ["EditorLora", "EditorOptions", "PipelineOptions", "read_size"]


WeightFile = Annotated[str, msgspec.Meta(pattern=r"^(?!(.*/)?\.\.?/)[^/].*\.safetensors$")]
"""Below the folder, and no pickle."""


class EditorLora(Lora, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Low-rank weights of a pipeline: one file of a repository or folder."""

    weight: Annotated[
        WeightFile | None,
        msgspec.Meta(description="File of the repository or folder that holds them."),
    ] = None
    scale: Annotated[float, msgspec.Meta(description="How strongly they count.")] = 1.0


class PipelineOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which pipeline, and how it is loaded and placed."""

    model: Annotated[
        str | None,
        msgspec.Meta(description="Hub repository or ./folder; null: the card's checkpoint."),
    ] = None
    revision: Annotated[
        str | None, msgspec.Meta(description="Commit, tag or branch; null: the card's, or main.")
    ] = None
    variant: Annotated[
        str | None, msgspec.Meta(description="Variant of the weight files: fp16, ...")
    ] = None
    pipeline: Annotated[
        str | None,
        msgspec.Meta(
            description="Class of diffusers in the place of the one that model_index.json names."
        ),
    ] = None
    dtype: Annotated[
        Dtype, msgspec.Meta(description="Number type; auto: bfloat16 on cuda, float32 elsewhere.")
    ] = "auto"
    offload: Annotated[
        Literal["none", "model", "sequential"],
        msgspec.Meta(
            description="What waits in main memory until it is used: models or layers.",
            extra={"provenance": True},
        ),
    ] = "none"
    quantization: Annotated[
        Quantization,
        msgspec.Meta(description="Weights in fewer bits, made while they load."),
    ] = "none"
    quantize: Annotated[
        tuple[str, ...],
        msgspec.Meta(description="Components to quantize; none: the denoiser and text encoders."),
    ] = ()
    compile: Annotated[bool, msgspec.Meta(description="torch.compile the denoiser.")] = False
    vae_tiling: Annotated[
        bool, msgspec.Meta(description="Decode large pictures in tiles, to save memory.")
    ] = False
    vae_slicing: Annotated[
        bool, msgspec.Meta(description="Decode the pictures of a batch one by one.")
    ] = False
    loras: Annotated[
        tuple[EditorLora, ...],
        msgspec.Meta(description="Low-rank weights that go over the model's own."),
    ] = ()
    trust_remote_code: Annotated[
        bool, msgspec.Meta(description="May Python code of the checkpoint be run?")
    ] = False


class EditorOptions(PipelineOptions, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options of `diffusers_editor`; arguments of each call stand in the card's generation."""

    size: Annotated[
        str,
        msgspec.Meta(
            description="Size asked of the pipeline: input (the input picture's), auto (the "
            "pipeline's own), or WIDTHxHEIGHT.",
            pattern=r"^(input|auto|[1-9][0-9]{0,4}x[1-9][0-9]{0,4})$",
        ),
    ] = "input"
    batch: Annotated[
        int,
        msgspec.Meta(
            description="Requests a call at most, where the pipeline takes many.",
            ge=1,
            extra={"provenance": True},
        ),
    ] = 1
    capture_steps: Annotated[
        int,
        msgspec.Meta(
            description="Pictures of so many steps on the way to keep as evidence.", ge=0, le=100
        ),
    ] = 0


def read_size(text: str) -> tuple[int, int] | None:
    """Height and width of WIDTHxHEIGHT; None for a word."""
    width, cross, height = text.partition("x")
    return (int(height), int(width)) if cross and width.isdecimal() else None
