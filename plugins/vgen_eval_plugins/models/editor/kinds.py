"""What a pipeline's class takes: which argument holds pictures, and what a list of them means."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

import msgspec
from vgen_eval.errors import NotRunnable

from vgen_eval_plugins.models.arguments import check_arguments

__all__ = ["Kind", "check_settings", "read_kind"]

PICTURES = ("image", "input_images", "images")
"""Names that pipelines give their input pictures."""
ALSO_WANTED = ("mask_image", "control_image", "original_image", "example_image")
"""Further pictures that no task gives: pipelines of inpainting, of control nets."""

# `image=[a, b]` is two references of one edit for some pipelines and two edits for others, and
# no signature tells which: these were read (diffusers 0.42.1). Any other class gets one picture
# and one request a call, which is right for all of them.
REFERENCES = frozenset({
    "BriaFibo2Pipeline", "BriaFiboEditPipeline", "Flux2KleinKVPipeline", "Flux2KleinPipeline",
    "Flux2Pipeline", "GlmImagePipeline", "JoyImageEditPlusPipeline", "OmniGenPipeline",
    "QwenImage21Pipeline", "QwenImageEditPlusPipeline", "ZImageOmniPipeline",
})  # fmt: skip
"""A list holds the pictures of one edit."""
EDITS = frozenset({
    "FluxImg2ImgPipeline", "FluxKontextPipeline", "StableDiffusion3Img2ImgPipeline",
    "StableDiffusionImg2ImgPipeline", "StableDiffusionInstructPix2PixPipeline",
    "StableDiffusionXLImg2ImgPipeline", "StableDiffusionXLInstructPix2PixPipeline",
})  # fmt: skip
"""A list holds one picture of each edit, all of one size, each with a prompt and a generator."""
ONE_PICTURE = frozenset({
    "DreamLitePipeline", "JoyImageEditPipeline", "Kandinsky5I2IPipeline",
    "LongCatImageEditPipeline", "QwenImageEditPipeline", "QwenImageImg2ImgPipeline",
    "ZImageImg2ImgPipeline",
})  # fmt: skip
"""Read as well: one picture and one request a call, as any class that stands in no table."""
AS_LIST = frozenset({"GlmImagePipeline", "JoyImageEditPlusPipeline", "OmniGenPipeline"})
"""Even a single picture comes in a list."""
PLACEHOLDERS = frozenset({"OmniGenPipeline"})
"""The prompt says where each picture belongs: <img><|image_1|></img>."""

OURS = frozenset({
    "callback", "callback_on_step_end", "callback_on_step_end_tensor_inputs", "callback_steps",
    "generator", "image", "images", "input_images", "latents", "num_images_per_prompt",
    "output_type", "prompt", "return_dict", "seed", "self",
})  # fmt: skip
"""Arguments that the adapter fills itself, ..."""
EMBEDDINGS = ("_embeds", "_embeds_mask")
"""... and ends of the names of those that stand for the prompt."""


class Kind(msgspec.Struct, frozen=True):
    """How pipelines of one class are called."""

    pipeline: Any
    picture: str
    """The argument of the input pictures."""
    arguments: tuple[str, ...]
    """All that `__call__` names."""
    references: bool
    edits: bool

    @property
    def name(self) -> str:
        """The class's name."""
        return str(self.pipeline.__name__)

    @property
    def sized(self) -> bool:
        """Does it take the size of its picture?"""
        return {"height", "width"} <= set(self.arguments)

    @property
    def told_of_steps(self) -> bool:
        """Does it call back after each step?"""
        return "callback_on_step_end" in self.arguments

    @property
    def as_list(self) -> bool:
        """Does a single picture come in a list?"""
        return _is_one_of(self.pipeline, AS_LIST)

    @property
    def placeholders(self) -> bool:
        """Does the prompt hold a mark for each picture?"""
        return _is_one_of(self.pipeline, PLACEHOLDERS)


def read_kind(pipeline: Any) -> Kind:
    """How pipelines of the class are called; NotRunnable when they edit no picture."""
    name = pipeline.__name__
    given = inspect.signature(pipeline.__call__).parameters
    named = tuple(key for key, entry in given.items() if entry.kind != entry.VAR_KEYWORD)
    picture = next((key for key in PICTURES if key in named), None)
    if "prompt" not in named or picture is None:
        lacks = "prompt" if "prompt" not in named else "picture"
        raise NotRunnable(
            f"{name} takes no {lacks}: it is no image-to-image pipeline",
            cure="name its image-to-image class: -M pipeline=...Img2ImgPipeline",
        )
    wanted = [key for key in ALSO_WANTED if key in named]
    if wanted:
        raise NotRunnable(
            f"{name} wants {', '.join(wanted)} too, which no task gives",
            cure="name an editing or image-to-image class: -M pipeline=...",
        )
    return Kind(
        pipeline=pipeline,
        picture=picture,
        arguments=named,
        references=_is_one_of(pipeline, REFERENCES),
        edits=_is_one_of(pipeline, EDITS),
    )


def _is_one_of(pipeline: Any, names: frozenset[str]) -> bool:
    return any(base.__name__ in names for base in pipeline.__mro__)


def check_settings(kind: Kind, settings: Iterable[str], *, options: frozenset[str]) -> None:
    """UsageError, with the nearest names, unless the pipeline's `__call__` names each setting.

    Only named arguments count: some classes swallow any other in silence. `options`: of the
    adapter, for settings that stand in the wrong place.
    """
    made_of_prompt = {name for name in kind.arguments if name.endswith(EMBEDDINGS)}
    filled = dict.fromkeys(OURS | made_of_prompt, "the adapter fills it")
    elsewhere = {
        name: f"options.{name} in the card, or -M {name}=..."
        for name in options - set(kind.arguments)
    }
    check_arguments(settings, known=kind.arguments, ours=elsewhere | filled, call=kind.name)
