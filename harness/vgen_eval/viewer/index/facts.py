"""The row of a run: what its record, its card and the counts of its lines say together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from vgen_eval.distributions import bare_name
from vgen_eval.results.card import SCHEMA_VERSION, ResultCard
from vgen_eval.types import STATUS_GROUP
from vgen_eval.viewer.index.finding import Found
from vgen_eval.viewer.index.meaning import Meaning
from vgen_eval.viewer.records import RunRow, RunState, key_of
from vgen_eval.wording import plural

__all__ = ["Counts", "row_of", "row_unreadable", "tell_damaged"]

_FAILED = ("model_failure", "infrastructure")


class Counts(msgspec.Struct, kw_only=True):
    """Attempts by what their current lines say, kept up as lines come."""

    statuses: dict[str, int] = {}
    scored: dict[str, int] = {}
    """Of those with a score line alone."""
    unanswered: int = 0
    """That have a score, and no line of the answer that was scored: it went."""

    def add(self, status: str, scored: str, answered: str, by: int) -> None:
        """So many attempts more, or less (-1)."""
        if scored and not answered:
            self.unanswered += by
        for table, entry in ((self.statuses, status), (self.scored, scored)):
            if entry:
                table[entry] = table.get(entry, 0) + by
                if not table[entry]:
                    del table[entry]

    @property
    def ended(self) -> int:
        """That have a line; a score alone is of an answer that has to be asked for anew."""
        return sum(self.statuses.values()) - self.unanswered

    @property
    def failed(self) -> int:
        """Of these, whosever fault it was: as result cards count."""
        return sum(
            count
            for status, count in self.statuses.items()
            if STATUS_GROUP.get(status) in _FAILED or status == "bad_sample"
        )


def _text(record: Mapping[str, Any], *fields: str) -> str:
    node: Any = record
    for field in fields:
        node = node.get(field) if isinstance(node, Mapping) else None
    return node if isinstance(node, str) else ""


def _model(record: Mapping[str, Any]) -> str:
    return bare_name(_text(record, "model"))


def row_unreadable(found: Found, reason: str, record: Mapping[str, Any]) -> RunRow:
    """Of a run that is not read; what a damaged record says all the same stands in it."""
    return _row(found, record, state="unreadable", reason=reason)


def _row(found: Found, record: Mapping[str, Any], **more: Any) -> RunRow:
    samples = record.get("samples")
    attempts = record.get("attempts")
    count = len(samples) if isinstance(samples, list) else 0
    each = attempts if isinstance(attempts, int) and attempts > 0 else 1
    prompt = _text(record, "prompt", "variant")
    times = [found.stamps[name][0] for name in found.stamps if name.endswith(".jsonl")]
    times = times or [stamp[0] for stamp in found.stamps.values()] or [0]
    return RunRow(
        key=key_of(found.path),
        path=found.path,
        task=_text(record, "task"),
        model=_model(record),
        role=_text(record, "cards", "model", "role") or "model",
        family=_text(record, "cards", "task", "family"),
        answer=_text(record, "answer"),
        prompt=prompt or None,
        attempts=each,
        samples=count,
        expected=count * each,
        created=_text(record, "created"),
        changed=max(times) / 1e9,
        **more,
    )


def row_of(
    found: Found,
    record: Mapping[str, Any],
    card: ResultCard | None,
    counts: Counts,
    meaning: Meaning,
    *,
    fault: str = "",
    unread: str = "",
    damaged: int = 0,
) -> RunRow:
    """Of a run that nobody writes now.

    `fault`: why its card is not read; `unread`: the other schema that it is of; `damaged`: lines.
    """
    state, reason = _state(found, card, counts, fault, unread)
    if counts.unanswered and state in ("complete", "incomplete"):
        state = "stopped"
    told = (_tell_unanswered(counts), reason, tell_damaged(damaged))
    reason = "; ".join(filter(None, told))
    value, interval = _number(card)
    return _row(
        found,
        record,
        state=state,
        reason=reason,
        primary=meaning.primary,
        higher_is_better=meaning.higher_is_better,
        unit=meaning.unit,
        value=value,
        interval=interval,
        ended=counts.ended,
        failed=counts.failed,
    )


def tell_damaged(lines: int) -> str:
    """How many lines of a run are damaged; "" for none."""
    return f"{plural(lines, 'damaged line')} passed over" if lines else ""


def _tell_unanswered(counts: Counts) -> str:
    """How many predictions went that scores were made of, with the cure; "" for none."""
    gone, made = counts.unanswered, sum(counts.scored.values())
    what = f"the lines of {gone} of the {plural(made, 'prediction')} that were scored are gone"
    return f"{what}; the command that began it asks for them anew" if gone else ""


def _number(card: ResultCard | None) -> tuple[float | None, tuple[float, float] | None]:
    if card is None:
        return None, None
    try:
        score = card.score()
    except KeyError:
        return None, None
    low, high = score.ci95.low, score.ci95.high
    return score.value, None if low is None or high is None else (low, high)


def _state(
    found: Found, card: ResultCard | None, counts: Counts, fault: str, unread: str
) -> tuple[RunState, str]:
    again = f"vgen-eval score {found.folder}"
    again = again.encode("utf-8", "backslashreplace").decode()
    if fault:
        return "unreadable", fault
    if unread:
        what = f"its card is of schema {unread}, not read: {SCHEMA_VERSION} wanted"
        return "stopped", f"{what}; {again} writes one of its lines"
    if card is None:
        cure = "the command that began it goes on (a function without model_name begins anew)"
        return "stopped", f"it has no result card yet. {again} makes one of what is there; {cure}"
    made = {status: count for status, count in card.counts.statuses.items() if count}
    if made != counts.scored:
        have, had = sum(counts.scored.values()), sum(made.values())
        if have < had:
            what = f"{have} of the {plural(had, 'score')} that its card was made of are here"
        else:
            what = "its card is older than its lines: it went on and has not ended"
        return "stopped", f"{what}; {again}, or the command that began it"
    if card.complete:
        return "complete", ""
    parts = []
    if card.counts.not_run:
        parts.append(f"{plural(card.counts.not_run, 'attempt')} not made yet")
    if card.counts.infrastructure:
        parts.append(f"{plural(card.counts.infrastructure, 'attempt')} failed for want of service")
    told = " and ".join(parts) or "its card says so"
    cure = "the command that made it goes on"
    if card.counts.infrastructure:
        cure += ", with --retry-failed where attempts failed"
    return "incomplete", f"{told}; {cure}"
