"""What a description is shown as: its words, an expert's, and what the judge said of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from vgen_eval.viewing import Bar, Bars, Pane, Seen, Words

from vgen_eval_plugins.quality.description.targets import DIMENSIONS, SCORES, GoldenText
from vgen_eval_plugins.telling import (
    Fact,
    last_replies,
    number,
    outcome,
    summary_of,
    tell_reply,
    whole_words,
)

__all__ = ["DescriptionView"]

_SCORE = re.compile(r"(?i)score|[\s:*.\"{}]")


class DescriptionView:
    """The text beside the golden one; scores by dimension; votes and words of the judge."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "description"

    def panes(self, seen: Seen) -> Sequence[Pane]:
        """Text, golden text, bars of 0 to 2, rounds."""
        summary = summary_of(seen)
        facts = outcome(seen, counted_as="judgements of 0 in all dimensions")
        panes: list[Pane] = []
        text = _text(seen, summary)
        if text or facts:
            panes.append(
                Pane(
                    role="prediction",
                    title="Description",
                    body=Words(text=text, facts=tuple(facts)),
                )
            )
        golden = seen.sample.target
        if isinstance(golden, GoldenText):
            body = Words(text=golden.text)
            panes.append(Pane(role="target", title="Expert's description", body=body))
        if any(name in summary for name in DIMENSIONS):
            panes.append(_scores(seen, summary))
        told = _rounds(seen, summary)
        if told:
            panes.append(
                Pane(role="detail", title="The judge, by round", body=Words(facts=tuple(told)))
            )
        return panes


def _text(seen: Seen, summary: Mapping[str, Any]) -> str:
    """The words that the judge was given; the answer itself where it came to none."""
    answer = summary.get("answer")
    found = whole_words(seen, answer) if isinstance(answer, Mapping) else ""
    return found or (seen.answer if isinstance(seen.answer, str) else "")


def _scores(seen: Seen, summary: Mapping[str, Any]) -> Pane:
    dropped = summary.get("dropped") or {}
    lost = sum(dropped.values())
    notes = ["Mean of the rounds that could be read, 0 to 2."]
    if seen.substitute:
        notes = ["There is no description: it counts as judged 0, as often as others are judged."]
    if lost:
        notes.append(f"{lost} could not be read and are left out.")
    return Pane(
        role="detail",
        title="Scores by dimension",
        body=Bars(
            bars=tuple(Bar(label=name, value=summary.get(name)) for name in DIMENSIONS),
            low=float(SCORES[0]),
            high=float(SCORES[-1]),
        ),
        note=" ".join(notes),
    )


def _rounds(seen: Seen, summary: Mapping[str, Any]) -> list[Fact]:
    """Votes of each dimension as they were counted, then replies that say more than their vote."""
    votes = summary.get("votes")
    votes = votes if isinstance(votes, Mapping) else {}
    facts: list[Fact] = []
    for name in DIMENSIONS:
        if len(votes.get(name, ())) > 1:  # of a single round the bars tell it
            told = ("unread" if vote is None else number(vote) for vote in votes[name])
            facts.append((name, ", ".join(told)))
    lines = last_replies(seen.judgements)
    for name in DIMENSIONS:
        own = votes.get(name)
        for at in range(len(seen.judgements) if own is None else len(own)):
            line = lines.get(f"{name}/{at}")
            if line is not None and not _only_votes(line.get("reply"), own[at] if own else None):
                facts.append((f"{name}, round {at + 1}, the judge", tell_reply(line)))
    return facts


def _only_votes(reply: Any, vote: Any) -> bool:
    """Does a reply say no more than its vote: "2", "Score: 2"?"""
    return vote is not None and _SCORE.sub("", str(reply)).strip() == number(vote)
