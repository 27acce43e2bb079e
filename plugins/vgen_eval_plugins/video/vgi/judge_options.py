"""The ways in which VGI-Bench's judge of videos can go about it: ours by default.

Each point on which the original's code (arXiv 2608.19583) and this harness part is an option; the
protocol `vgi` of video/vgi sets the original's.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from vgen_eval_plugins.video.vgi.film import Duration, FrameAt, GridEnd, Labels, Scaling
from vgen_eval_plugins.video.vgi.marks import Rounding
from vgen_eval_plugins.video.vgi.replies import Numbers, Reading

__all__ = ["EVEN_FPS", "Options", "Preset"]

EVEN_FPS = {"even_2": 2.0, "even_4": 4.0, "even_8": 8.0}
"""Presets without a closer look: frames a second."""

Preset = Literal[
    "full", "no_zoom", "no_window", "even_2", "even_4", "even_8", "rubric_only", "completeness_only"
]


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How it is judged; each point on which the original's code is followed, or not."""

    preset: Annotated[
        Preset,
        Meta(
            description="full; no_zoom: no closer look; no_window: all frames in one call; "
            "even_N: N frames a second and no closer look; rubric_only, completeness_only."
        ),
    ] = "full"
    frame_at: Annotated[
        FrameAt,
        Meta(
            description="The frame on screen at t, or the first one from t on, which may be none."
        ),
    ] = "on_screen"
    labels: Annotated[
        Labels, Meta(description="A frame's own number and time, or those reckoned from t.")
    ] = "decoded"
    duration: Annotated[
        Duration, Meta(description="Of the video stream, or of the container, sound included.")
    ] = "stream"
    grid_end: Annotated[
        GridEnd, Meta(description="Is the last frame added to a grid that ends before it?")
    ] = "last_frame"
    scaling: Annotated[
        Scaling, Meta(description="How the shorter side of a frame comes to a whole number.")
    ] = "rounded"
    numbers: Annotated[
        Numbers, Meta(description="Whole numbers only, or whatever can be cut to one.")
    ] = "integral"
    reading: Annotated[
        Reading,
        Meta(
            description="strict: a key that stands twice, and a window's reply with neither "
            "comments nor nominations, cannot be read; plain: any JSON object with something in it."
        ),
    ] = "strict"
    failed_window: Annotated[
        Literal["error", "keep_partial", "zero"],
        Meta(
            description="A window without a readable reply: the judge fails; the others count and "
            "success is open; or the answer scores 0."
        ),
    ] = "error"
    failed_counts: Annotated[
        Literal["error", "one_violation"],
        Meta(description="Counts that are no JSON: the judge fails, or each entry has one."),
    ] = "error"
    missing_entry: Annotated[
        Literal["one_violation", "no_violation", "error"],
        Meta(description="An entry of the checklist without a readable count."),
    ] = "one_violation"
    failed_tier: Annotated[
        Literal["error", "rubric_decides"],
        Meta(
            description="Completeness that cannot be read: the judge fails; or it is open, and "
            "success is that of the checklist alone."
        ),
    ] = "error"
    rounding: Annotated[
        Rounding, Meta(description="none; twice: the rubric score and the product, to 4 decimals.")
    ] = "none"
    re_asks: Annotated[
        int, Meta(description="How often an unreadable reply is asked for again.", ge=0, le=10)
    ] = 1
    repeats: Annotated[
        int, Meta(description="Whole judgings of each answer; their mean counts.", ge=1, le=25)
    ] = 1
    failure_labels: Annotated[
        bool, Meta(description="Is each violation's kind asked for, too?")
    ] = False
