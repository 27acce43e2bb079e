"""One sample of a report: its panes by every run, what the models said, what they scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from vgen_eval.results.card import ResultCard
from vgen_eval.viewer.drawing.ranges import shared_ranges
from vgen_eval.viewer.gathering import Gathered
from vgen_eval.viewer.looking import Look
from vgen_eval.viewer.records import key_of
from vgen_eval.viewer.report.media import Field, ReportMedia, clip_of
from vgen_eval.viewer.staging.stage import Card, Stage, build_stage
from vgen_eval.viewing import ClassMap, Directions, Film, ScalarMap, Words

__all__ = ["Attempt", "Clip", "Section", "make_section"]


class Attempt(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What one run came to on the sample, in words and numbers."""

    label: str
    role: str
    score: float | None
    """Of the primary: the mean over attempts."""
    unit: str
    primary: str
    look: Look
    """Without its panes: these are in the cards."""


class Clip(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A clip that a section may carry whole."""

    card: str
    """Section and key of its card."""
    address: str
    """Empty: the page has no room for it, or browsers do not play it."""
    bytes: int


class Section(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One sample, ready for the template."""

    task: str
    sample: str
    key: str
    """For its anchor."""
    number: float | None
    """What it was chosen by."""
    tags: tuple[tuple[str, str], ...]
    attempts: tuple[Attempt, ...]
    asked: str
    """The question or phrase of this sample; "" where it has none of its own."""
    prompt: str
    """Where all runs were asked the same; "" otherwise."""
    stage: Stage
    notices: tuple[str, ...]
    fields: Mapping[str, Field]
    """Every pane's numbers by their address, carried or not."""
    clips: tuple[Clip, ...]

    @property
    def size(self) -> int:
        """Bytes of its pictures in the page, nearly."""
        cards = (*self.stage.cards, *self.stage.others)
        return sum(_size_of(card) for card in cards)

    def with_stage(self, stage: Stage) -> Section:
        """The same with other cards."""
        return msgspec.structs.replace(self, stage=stage)


def make_section(
    gathered: Gathered, at: int, *, side: int, most_clip: int, known: dict[str, tuple[str, str]]
) -> Section:
    """The sample of that number, pictures at most `side` pixels, clips at most `most_clip` bytes.

    `known`: numbers of panes that were encoded before, by the pane's key; grows.
    """
    sample = gathered.selection.ids[at]
    looks = gathered.looks(sample)
    key = key_of(f"{gathered.runs[0].task} {sample}")
    media = ReportMedia(ranges=shared_ranges(looks), side=side, start=f"f-{key}", known=known)
    labels = gathered.labels
    stage = _ordered(build_stage(looks, media, labels=labels if len(looks) > 1 else ()))
    attempts = tuple(_attempts(gathered, sample, looks))
    prompts = {look.prompt or "" for look in looks}
    numbers = gathered.selection.numbers
    return Section(
        task=gathered.runs[0].task,
        sample=sample,
        key=f"s-{key}",
        number=numbers[at] if at < len(numbers) else None,
        tags=tuple(gathered.row(0, sample).tags.items()),
        attempts=attempts,
        asked=next((look.facts["asked"] for look in looks if "asked" in look.facts), ""),
        prompt=prompts.pop() if len(prompts) == 1 else "",
        stage=stage,
        notices=tuple(_notices(looks, labels)),
        fields=media.fields,
        clips=tuple(_clips(stage, key, most_clip)),
    ).with_stage(_thin(stage))


def _ordered(stage: Stage) -> Stage:
    """What all models share first, and then one model after the other."""
    cards = sorted(stage.cards, key=lambda card: card.shown.pane.role not in ("input", "target"))
    return msgspec.structs.replace(stage, cards=tuple(cards))


def _thin(stage: Stage) -> Stage:
    """The stage without pixels and numbers, which are encoded by now: pages may hold many."""
    main = None if stage.main is None else _thin_card(stage.main)
    return msgspec.structs.replace(stage, cards=tuple(map(_thin_card, stage.cards)), main=main)


def _thin_card(card: Card) -> Card:
    body: Any = card.shown.pane.body
    nothing: Any = np.empty((0, 0))
    if isinstance(body, (ScalarMap, Directions)):
        body = msgspec.structs.replace(body, values=nothing)
    elif isinstance(body, ClassMap):
        body = msgspec.structs.replace(body, ids=nothing)
    else:
        body = Words()
    pane = msgspec.structs.replace(card.shown.pane, body=body)
    return msgspec.structs.replace(
        card,
        shown=msgspec.structs.replace(card.shown, pane=pane),
        look=msgspec.structs.replace(card.look, panes=()),
    )


def _attempts(gathered: Gathered, sample: str, looks: Sequence[Look]) -> Iterator[Attempt]:
    of_runs = zip(looks, gathered.labels, gathered.roles, gathered.runs, strict=True)
    for at, (look, label, role, run) in enumerate(of_runs):
        card = run.card
        aliases = gathered.candidates[at].aliases
        unit = next((score.unit for score in card.scores if score.metric == card.primary), "")
        yield Attempt(
            label=label,
            role=role,
            score=gathered.row(at, sample).score,
            unit=unit,
            primary=card.primary,
            look=_by_card(msgspec.structs.replace(look, panes=(), notices=()), card, aliases),
        )


def _by_card(look: Look, card: ResultCard, aliases: Mapping[str, str]) -> Look:
    """The attempt, its values under the names that the card has for them."""
    told = dict.fromkeys((card.primary, *(score.metric for score in card.scores)))
    titles = {aliases[name]: name for name in reversed(told) if name in aliases}
    values = {
        key if key in told else titles.get(key, key): value
        for key, value in look.facts.get("values", {}).items()
    }
    return msgspec.structs.replace(look, facts={**look.facts, "values": values})


def _notices(looks: Sequence[Look], labels: Sequence[str]) -> Iterator[str]:
    """What could not be shown, each once; of a run where not every one says it."""
    told = {notice: None for look in looks for notice in look.notices}
    for notice in told:
        having = [
            label for look, label in zip(looks, labels, strict=True) if notice in look.notices
        ]
        yield notice if len(having) == len(looks) else f"{', '.join(having)}: {notice}"


def _clips(stage: Stage, key: str, most: int) -> Iterator[Clip]:
    """The models' clips, each where its frames are shown first."""
    done = set()
    for card in stage.others:
        body, line = card.shown.pane.body, card.look.line or {}
        kept = line.get("answer", {}).get("sha256")
        if isinstance(body, Film) and body.clip.sha256 == kept and kept not in done:
            done.add(kept)
            address, size = clip_of(card.look, most)
            if size:
                yield Clip(card=f"s-{key} {card.key}", address=address, bytes=size)


def _size_of(card: Card) -> int:
    frames = getattr(card, "frames", ())
    return len(card.image) + sum(len(frame.address) for frame in frames)
