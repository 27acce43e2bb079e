"""What answers to questions are shown as: options with the chosen and the right one, or texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from vgen_eval.viewing import Bar, Bars, Pane, Seen, Words

from vgen_eval_plugins.quality.perception.targets import AcceptedTexts, OptionTarget
from vgen_eval_plugins.telling import (
    Fact,
    number,
    outcome,
    reply_facts,
    summary_of,
    whole_words,
)

__all__ = ["AnswerView", "OptionView"]

VOTES: Mapping[Any, str] = {1: "right", 0: "wrong", None: "unread"}


class OptionView:
    """The options, with probabilities where these were asked for; what was read, by which rule."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "option"

    def panes(self, seen: Seen) -> Sequence[Pane]:
        """Options as bars, which tell the truth too; then how the answer was read; then votes."""
        summary = summary_of(seen)
        target = seen.sample.target
        panes: list[Pane] = []
        if isinstance(target, OptionTarget):
            panes.append(_options(target, summary))
        facts = outcome(seen, counted_as="no option, which is wrong")
        if not seen.substitute:
            facts += _reading(target, summary)
        panes.append(
            Pane(
                role="detail",
                title="How the answer was read",
                body=Words(
                    text=seen.answer if isinstance(seen.answer, str) else "", facts=tuple(facts)
                ),
            )
        )
        if "votes" in summary or seen.judgements:
            panes.append(_votes(seen, summary))
        return panes


def _options(target: OptionTarget, summary: Mapping[str, Any]) -> Pane:
    """One bar an option; without log-probabilities they have no height."""
    stored = summary.get("logprobs")
    stored = stored if isinstance(stored, Mapping) else {}
    known = [value for value in stored.values() if value is not None]
    is_probability = all(value <= 0 for value in known)
    chosen = summary.get("letter")

    def height(letter: str) -> float | None:
        value = stored.get(letter)
        if value is None:
            return None
        return math.exp(value) if is_probability else float(value)

    bars = tuple(
        Bar(
            label=f"{letter}. {text}", value=height(letter), right=letter == target.right,
            chosen=letter == chosen,
        )
        for letter, text in target.options.items()
    )  # fmt: skip
    low, high, note = 0.0, 1.0, ""
    if stored and is_probability:
        note = "The exponential of each log-probability as stored; no bar: it is not listed."
    elif stored:
        low, high = min(0.0, *known), max(0.0, *known)
        note = "The numbers as stored: some are above 0, so they are no log-probabilities."
    elif chosen is None:
        note = "No option was read off the answer."
    return Pane(
        role="prediction" if summary else "target",
        title="Options with their probabilities" if stored else "Options",
        body=Bars(bars=bars, low=low, high=high),
        note=note,
    )


def _reading(target: Any, summary: Mapping[str, Any]) -> list[Fact]:
    """What was taken for the answer, and by which rule."""
    facts: list[Fact] = []
    letter = summary.get("letter")
    if letter is not None:
        texts = target.options if isinstance(target, OptionTarget) else {}
        text = summary.get("option", texts.get(letter, ""))
        facts.append(("chosen", f"{letter}. {text}" if text else str(letter)))
    elif "letter" in summary:
        facts.append(("chosen", "not known which"))
    facts += [(name, number(summary[name])) for name in ("extracted", "rule") if name in summary]
    if "logprobs" in summary:
        facts.append(("rule", "the likeliest option"))
    if isinstance(summary.get("right"), bool):
        facts.append(("right, says the judge", number(summary["right"])))
    return facts


def _votes(seen: Seen, summary: Mapping[str, Any]) -> Pane:
    """Votes by round as they were counted, with the judge's own words."""
    votes = summary.get("votes")
    votes = votes if isinstance(votes, Sequence) and not isinstance(votes, str) else ()
    facts: list[Fact] = [
        (f"round {at + 1}", VOTES.get(vote, number(vote))) for at, vote in enumerate(votes)
    ]
    if summary.get("unread"):
        facts.append(("votes that could not be read", number(summary["unread"])))
    count = len(votes) or len(seen.judgements)
    facts += reply_facts(seen.judgements, [f"grade/{at}" for at in range(count)])
    return Pane(
        role="detail",
        title="The judge's votes",
        body=Words(facts=tuple(facts)),
        note="" if votes else "They came to no verdict.",
    )


class AnswerView:
    """A short free answer: the words that were read, and all that would have been right."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "answer"

    def panes(self, seen: Seen) -> Sequence[Pane]:
        """What was read; the accepted texts."""
        summary = summary_of(seen)
        facts = outcome(seen, counted_as="no words, which are wrong")
        panes: list[Pane] = []
        if summary:
            if not seen.substitute:
                facts.append(("rule", _rule(seen)))
            body = Words(text=whole_words(seen, summary), facts=tuple(facts))
            panes.append(Pane(role="prediction", title="Answer as read", body=body))
        elif facts:
            body = Words(facts=tuple(facts))
            panes.append(Pane(role="detail", title="How the answer was read", body=body))
        target = seen.sample.target
        if isinstance(target, AcceptedTexts):
            others = tuple(("also accepted", text) for text in target.texts[1:])
            panes.append(
                Pane(
                    role="target",
                    title="Right answer",
                    body=Words(text=target.texts[0], facts=others),
                    note="Compared without regard to case, and to spaces and marks at the ends.",
                )
            )
        return panes


def _rule(seen: Seen) -> str:
    flags = seen.score.get("flags") or ()
    if "by_mark" in flags:
        return "what the answer marks as such"
    return "all of it, outside of a thinking trace"
