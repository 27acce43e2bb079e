"""What an answer in video is shown as: the clip, when it was looked at, and what was said of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from vgen_eval.errors import Undecodable
from vgen_eval.video import Clip
from vgen_eval.viewing import Film, Moment, Pane, Seen, Words

from vgen_eval_plugins.telling import Fact, number, outcome
from vgen_eval_plugins.video.clip_decoder import open_answer

__all__ = ["ClipView", "clip_facts", "clip_of", "film_pane"]


class ClipView:
    """The clip and its facts: of protocols that look at a clip as it is."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "clip"

    def panes(self, seen: Seen) -> Sequence[Pane]:
        """The clip where there is one."""
        clip = clip_of(seen)
        facts = outcome(seen, counted_as="no clip")
        panes: list[Pane] = []
        if clip is not None:
            panes.append(film_pane(clip))
            facts += clip_facts(clip)
        if facts:
            panes.append(Pane(role="detail", title="Clip", body=Words(facts=tuple(facts))))
        return panes


def clip_of(seen: Seen) -> Clip | None:
    """The clip that was decoded, else the one in the answer; None where there is none.

    MissingExtra where videos cannot be read here.
    """
    value = None if seen.prediction is None else seen.prediction.value
    if isinstance(value, Clip):
        return value
    if seen.form != "video" or seen.answer is None:
        return None
    try:
        return open_answer(seen.answer)
    except Undecodable:  # the score line's reason tells it
        return None


def film_pane(
    clip: Clip,
    *,
    moments: Sequence[Moment] = (),
    shown: Sequence[float] = (),
    curve: Sequence[tuple[float, float]] = (),
    note: str = "",
) -> Pane:
    """The clip as the prediction's pane; moments by their times, those of all of it first."""
    ordered = sorted(moments, key=lambda moment: -1.0 if moment.time_s is None else moment.time_s)
    return Pane(
        role="prediction",
        title="Video",
        body=Film(clip=clip, moments=tuple(ordered), shown=tuple(shown), curve=tuple(curve)),
        note=note,
    )


def clip_facts(clip: Clip) -> list[Fact]:
    """Size, frames, rate, length; whether its rate changes or its end is gone."""
    width, height = clip.size
    told = clip.summary()
    facts = [
        ("size", f"{width} x {height}"),
        ("frames", number(told["frames"])),
        ("frames a second", number(told["fps"]) + (" (varies)" if told["variable_rate"] else "")),
        ("length", f"{number(told['duration_s'])} s"),
    ]
    if clip.flags:
        facts.append(("flags", ", ".join(clip.flags)))
    return facts
