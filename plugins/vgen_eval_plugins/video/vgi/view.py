"""What a judged video or picture is shown as: windows, comments at their times, rubric, votes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from vgen_eval.viewing import Moment, Pane, Picture, Seen, Words

from vgen_eval_plugins.telling import (
    Fact,
    last_replies,
    number,
    outcome,
    reply_facts,
    summary_of,
    value_facts,
)
from vgen_eval_plugins.video.vgi.records import VgiTruth
from vgen_eval_plugins.video.vgi.windows import Window, comments_of, read_reasons, window_of
from vgen_eval_plugins.video.view import clip_facts, clip_of, film_pane

__all__ = ["VgiView"]

MOST_WORDS = 2000
"""Characters of a remark."""


class VgiView:
    """The clip as its judge saw it, and how the verdict came about.

    Numbers are those of the score line; the transcript says when, and why.
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "VGI verdict"

    def panes(self, seen: Seen) -> Sequence[Pane]:
        """Film, solution, verdict; of a painted answer its votes."""
        panes: list[Pane] = []
        lines = last_replies(seen.judgements)
        judgings = _judgings(summary_of(seen))
        clip = clip_of(seen) if seen.form == "video" else None
        if clip is not None:
            windows = {
                name: window
                for name, line in lines.items()
                if (window := window_of(line, clip)) is not None and _is_of_now(name, judgings)
            }
            shown = {time for window in windows.values() for time in window.shown}
            note = "The judge's comments stand at the first frame that they name." if shown else ""
            panes.append(
                film_pane(
                    clip,
                    moments=list(_moments(lines, windows, judgings)),
                    shown=sorted(shown),
                    note=note,
                )
            )
        truth = seen.sample.target
        if isinstance(truth, VgiTruth):
            panes += _solution(truth)
        facts = outcome(seen, counted_as="scores of 0, no success")
        facts += value_facts(seen, "final", "rubric", "completeness", "success")
        if not seen.substitute:
            for turn, summary in enumerate(judgings):
                facts += _rubric(truth, summary, lines, turn, several=len(judgings) > 1)
            facts += _votes(seen, summary_of(seen))
        facts += [] if clip is None else clip_facts(clip)
        if facts:
            panes.append(Pane(role="detail", title="Verdict", body=Words(facts=tuple(facts))))
        return panes


def _judgings(summary: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The summary of each whole judging; one without any where there is no verdict."""
    told = summary.get("judgings")
    return list(told) if isinstance(told, Sequence) and told else [summary]


def _turn_of(name: str) -> int:
    """`window/0#1` belongs to the second judging."""
    _, mark, turn = name.partition("#")
    return int(turn) if mark and turn.isdecimal() else 0


def _is_of_now(name: str, judgings: Sequence[Mapping[str, Any]]) -> bool:
    """Did the verdict ask that? A transcript keeps what was asked under other options, too."""
    turn = _turn_of(name)
    if turn >= len(judgings):
        return False
    summary = judgings[turn]
    if "windows" not in summary or name.startswith("completeness"):
        return True
    return name in summary["windows"] or bool(_why_failed(name, summary))


def _why_failed(name: str, summary: Mapping[str, Any]) -> str:
    """Why a window's reply could not be used, as the score line says; "" of one that could."""
    head = f"{name}: "
    told = (str(what) for what in summary.get("failed", ()))
    return next((what.removeprefix(head) for what in told if what.startswith(head)), "")


def _moments(
    lines: Mapping[str, Mapping[str, Any]],
    windows: Mapping[str, Window],
    judgings: Sequence[Mapping[str, Any]],
) -> Iterator[Moment]:
    """One a comment that counted; of a window without any, why."""
    for name, window in windows.items():
        if name.startswith("completeness"):
            continue
        line = lines[name]
        comments = comments_of(line, window, judgings[_turn_of(name)])
        if comments is None:
            told = _why_failed(name, judgings[_turn_of(name)])
            told = told or line.get("reason") or "the reply cannot be read"
            yield Moment(time_s=window.start, words=f"{name}: {told}"[:MOST_WORDS])
            continue
        for comment in comments:
            numbers = ", ".join(map(str, comment.frames))
            frames = f"frames {numbers}: " if numbers else ""
            words = f"{name}: {frames}{comment.text}"[:MOST_WORDS]
            yield Moment(time_s=window.when(comment), words=words)


def _solution(truth: VgiTruth) -> list[Pane]:
    """The goal, what has to hold, and the solution as the judge was told it."""
    facts: list[Fact] = [("task", truth.task.replace("_", " ")), ("domain", truth.domain)]
    facts += [(f"has to hold, {at}", entry) for at, entry in enumerate(truth.checklist, 1)]
    told = (("tiers", truth.tiers), ("answer", truth.answer), ("solution", truth.gt_text))
    facts += [(name, text) for name, text in told if text]
    panes = [Pane(role="target", title="Goal", body=Words(text=truth.goal, facts=tuple(facts)))]
    if truth.gt_image is not None:
        panes.insert(0, Pane(role="target", title="A solution", body=Picture(image=truth.gt_image)))
    return panes


def _rubric(
    truth: Any,
    summary: Mapping[str, Any],
    lines: Mapping[str, Mapping[str, Any]],
    turn: int,
    *,
    several: bool,
) -> list[Fact]:
    """Violations by entry with the judge's reasons, completeness, windows that failed."""
    if "windows" not in summary:
        return []
    ends = f"#{turn}" if turn else ""
    head = f"judging {turn + 1}: " if several else ""
    facts: list[Fact] = []
    if several:
        names = ("final", "rubric", "completeness", "success")
        facts += [(head + name, number(summary[name])) for name in names if name in summary]
    reasons = read_reasons(lines.get(f"polish{ends}", {}).get("reply"), "violations")
    checklist = truth.checklist if isinstance(truth, VgiTruth) else ()
    labels = summary.get("labels") or ()
    for at, count in enumerate(summary.get("violations") or (), 1):
        told = "1 violation" if count == 1 else f"{count} violations"
        if at <= len(labels) and labels[at - 1]:
            told += f" ({', '.join(labels[at - 1])})"
        given, why = reasons.get(at, (None, ""))
        told += f": {why}" if why and given == count else ""
        entry = checklist[at - 1] if at <= len(checklist) else f"entry {at}"
        facts.append((f"{head}{at}. {entry}", told[:MOST_WORDS]))
    told_of_tier = read_reasons(lines.get(f"completeness{ends}", {}).get("reply"), "tier")
    _, why = told_of_tier.get(None, (None, ""))
    if why and summary.get("completeness") is not None:
        facts.append((f"{head}completeness, why", why[:MOST_WORDS]))
    if summary.get("nominated"):
        numbers = ", ".join(map(str, summary["nominated"]))
        facts.append((f"{head}frames for a closer look", numbers))
    facts += [(f"{head}window without a comment", what) for what in summary.get("failed", ())]
    return facts


def _votes(seen: Seen, summary: Mapping[str, Any]) -> list[Fact]:
    """Of a painted answer: how the votes went, and each in the judge's own words."""
    votes = summary.get("votes")
    if not isinstance(votes, Mapping):
        return []
    facts = [(f"votes {name}", number(count)) for name, count in votes.items()]
    names = [f"vote/{at}" for at in range(sum(votes.values()))]
    return facts + reply_facts(seen.judgements, names)
