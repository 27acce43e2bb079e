"""What is said below a table of runs: what its lines leave out, and which numbers to doubt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from vgen_eval.cli import terminal
from vgen_eval.cli.run_facts import list_failed
from vgen_eval.cli.suites import model_label, task_label
from vgen_eval.errors import NotRunnable
from vgen_eval.results.card import Counts, ResultCard
from vgen_eval.store.run import RunStore
from vgen_eval.types import STATUS_GROUP

__all__ = ["labels", "print_remarks", "tell_unscored"]


def print_remarks(cards: Sequence[ResultCard]) -> None:
    """Prints what the lines of the table leave out, and the empty line that ends it."""
    for line in _remarks(cards):
        terminal.say(f"  {line}")
    terminal.say("")


def _remarks(cards: Sequence[ResultCard]) -> Iterator[str]:
    """What a line of the table leaves out, and what would make one doubt its number."""
    label_of = labels(cards)
    for card in cards:
        label = label_of(card)
        score, counts = card.score(), card.counts
        if score.value is None:
            reason = terminal.clean(score.reason or "not known")
            yield f"{label}: no {card.primary}: {reason}"
        if not card.complete:
            left = counts.not_run + counts.infrastructure
            yield (
                f"{label}: incomplete: {left:,} of {terminal.plural(counts.expected, 'attempt')} "
                f"without a score ({_listed(_unscored(counts))})"
            )
        asked = counts.expected - counts.data_fault - counts.not_run
        if asked and counts.model_failure == asked:
            yield f"{label}: every attempt failed: {_listed(counts.statuses)}"
        # answers that could not be read count, too: what was the matter is among the flags
        answers = counts.answered + counts.statuses.get("undecodable", 0)
        for flag, count in counts.flags.items():
            if count == answers > 1:
                yield f"{label}: every answer is flagged {terminal.clean(flag)}"
            elif max(1, answers / 2) < count < answers:
                some = f"{count:,} of {terminal.plural(answers, 'answer')}"
                yield f"{label}: {some} are flagged {terminal.clean(flag)}"
        if counts.data_fault:
            faults = {s: counts.statuses.get(s, 0) for s in ("no_valid_target", "bad_sample")}
            yield f"{label}: left out of the score: {_listed(faults)}"


def labels(cards: Sequence[ResultCard]) -> Callable[[ResultCard], str]:
    """What a run is called below the table: its task, and what tells it from others there."""
    several = len({model_label(card) for card in cards}) > 1
    prompts = len({card.prompt for card in cards}) > 1

    def label(card: ResultCard) -> str:
        parts = [task_label(card), model_label(card) if several else ""]
        return " ".join(filter(None, [*parts, (card.prompt or "-") if prompts else ""]))

    return label


def _unscored(counts: Counts) -> Mapping[str, int]:
    """Attempts without a score, by what they came to."""
    kinds = {
        status: count
        for status, count in counts.statuses.items()
        if STATUS_GROUP.get(status) == "infrastructure"
    }
    return {**kinds, "not run": counts.not_run}


def tell_unscored(cards: Sequence[ResultCard], output: str) -> Iterator[str]:
    """Of each run that has attempts without a score, how many, and the commonest reason."""
    label_of = labels(cards)
    for card in cards:
        if not card.counts.infrastructure:
            continue
        path = Path(output, card.run)
        try:
            failed, _ = list_failed(path, RunStore(path).record)
        except (NotRunnable, KeyError, TypeError, OSError):
            failed = []
        told = Counter(
            entry["reason"] or entry["kind"] or entry["status"]
            for entry in failed
            if entry["group"] == "infrastructure"
        )
        line = f"  {label_of(card)}, {card.counts.infrastructure:,}"
        for reason, count in told.most_common(1):
            rest = card.counts.infrastructure - count
            line += f": {count:,} x {terminal.clean(reason)}"
            line += f"; {rest:,} x other reasons" if rest > 0 else ""
        yield line


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
