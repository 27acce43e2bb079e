"""How an image-to-video pipeline of diffusers is driven: the adapter's options."""

from __future__ import annotations

from typing import Annotated

import msgspec

from vgen_eval_plugins.models.editor.options import PipelineOptions
from vgen_eval_plugins.models.local.devices import Dtype

__all__ = ["VideoOptions"]


# msgspec takes a bound only on the bare type
Rate = Annotated[float, msgspec.Meta(gt=0, le=240)]


class VideoOptions(PipelineOptions, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options of `diffusers_video`; arguments of each call stand in the card's generation."""

    size: Annotated[
        str,
        msgspec.Meta(
            description="Size asked of the pipeline: input (the first frame's), auto (the "
            "pipeline's own), WIDTHxHEIGHT, or area:WIDTHxHEIGHT (as many pixels as that in the "
            "shape of the first frame). Sides become multiples of what the model needs.",
            pattern=r"^(input|auto|(area:)?[1-9][0-9]{0,4}x[1-9][0-9]{0,4})$",
        ),
    ] = "input"
    fps: Annotated[
        Rate | None,
        msgspec.Meta(
            description="Frames a second of the file, and of the model where it takes a "
            "frame_rate; null: what its pipeline was made for."
        ),
    ] = None
    vae_dtype: Annotated[
        Dtype | None,
        msgspec.Meta(
            description="Number type of the VAE, which some models want in float32; null: dtype."
        ),
    ] = None
    crf: Annotated[
        int,
        msgspec.Meta(
            description="How much the H.264 file may lose: 0 nothing, 18 hardly anything to the "
            "eye, 51 almost all.",
            ge=0,
            le=51,
        ),
    ] = 12
