"""Lines of a run that came, the attempts that they are of, and the rows that these come to."""

from __future__ import annotations

import sqlite3
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import isnan
from typing import Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.store.regular import open_regular
from vgen_eval.types import Item
from vgen_eval.viewer.index.facts import Counts
from vgen_eval.viewer.index.finding import Found
from vgen_eval.viewer.index.known import Known
from vgen_eval.viewer.index.lines import Journal, Mark, Prediction, Score
from vgen_eval.viewer.index.parts import Part, join, pack, pack_flags, pack_tags, unpack
from vgen_eval.viewer.records import key_of

__all__ = ["Batch"]

LONGEST_REASON = 1000
"""Letters of a reason that lists show; the whole of it stands in the run."""
_PREDICTIONS, _SAMPLES = "predictions.jsonl", "samples.jsonl"


class Batch:
    """Lines that came, and the attempts that they are of."""

    def __init__(
        self, found: Found, record: Mapping[str, Any], scores: str, known: Known | None
    ) -> None:
        self.found = found
        self.ids: list[str] = record["samples"]
        self.attempts: int = record["attempts"]
        self.whole = known is None
        self.names = [] if known is None else list(known.names)
        self.counts = Counts()
        if known is not None:
            told = known.counts
            self.counts = Counts(
                statuses=dict(told.statuses),
                scored=dict(told.scored),
                unanswered=told.unanswered,
            )
        self.seq = 0 if known is None else known.seq
        self.marks = {} if known is None else dict(known.marks)
        self._parts: dict[int, Part] = {}
        self._seqs: dict[int, int] = {}
        self._said: dict[int, tuple[str, str]] = {}
        self._flags: dict[tuple[str, ...], tuple[str, ...]] = {}
        at_of = {sample: at for at, sample in enumerate(self.ids)}
        self._touched: list[int] = []
        self._predictions = self._lines(_PREDICTIONS, Prediction, at_of)
        self._scores = self._lines(scores, Score, at_of)
        if known is not None:  # few: those of which earlier ones are wanted have to be known first
            asked, judged = list(self._predictions), list(self._scores)
            self._predictions, self._scores = iter(asked), iter(judged)
            self._touched = sorted({at for at, _, _ in (*asked, *judged)})

    def _lines(
        self, name: str, kind: type[Any], at_of: Mapping[str, int]
    ) -> Iterator[tuple[int, int, Any]]:
        """Place of the sample, place in the file, line."""
        if name not in self.found.stamps:
            return
        journal: Journal[Any] = Journal(
            self.found.folder / name, kind, self.marks.get(name, Mark())
        )
        for offset, line in journal:
            at = at_of.get(line.sample, -1)
            if at >= 0 and 0 <= line.attempt < self.attempts:
                yield at, offset, line
        self.marks[name] = journal.mark

    def recall(self, db: sqlite3.Connection, number: int) -> None:
        """Fetches the attempts of the samples that the lines are of."""
        for at in self._touched:
            row = db.execute(
                "SELECT grp, tags, flags, vals, parts, seq FROM samples WHERE run = ? AND at = ?",
                (number, at),
            ).fetchone()
            if row is None:
                continue
            group, tags, flags, vals, parts, seq = row
            self._said[at] = (group, tags)
            self._seqs[at] = seq
            for part in msgspec.msgpack.decode(parts, type=list[Part]):
                if self.attempts == 1:
                    part.flags = tuple(jsonio.loads(f"[{flags[1:-1]}]"))
                    part.vals = vals
                self._parts[at * self.attempts + part.attempt] = part

    def apply(self) -> None:
        """Predictions first: scores win whatever the order, and the numbers of lines are kept."""
        for at, offset, line in self._predictions:
            part = self._part(at, line)
            before = part.states
            part.answered = sys.intern(line.status)
            part.asked_at = offset
            reason = line.reason or (line.volatile.reason if line.volatile is not None else None)
            part.excuse = (reason or "")[:LONGEST_REASON]
            self._count(part, before)
        for at, offset, line in self._scores:
            part = self._part(at, line)
            before = part.states
            part.scored = sys.intern(line.status)
            part.scored_at = offset
            part.reason = (line.reason or "")[:LONGEST_REASON]
            # a substitute's flags say nothing of an answer; the kind of its fault does
            flags = () if line.substitute else line.flags
            if line.fault:
                flags = (*flags, line.fault)
            part.flags = self._flags.setdefault(flags, flags)
            part.vals = pack(line.values, self.names)
            self._count(part, before)
        if self.whole:
            for states, count in Counter(part.states for part in self._parts.values()).items():
                self.counts.add(*states, count)

    def _part(self, at: int, line: Prediction | Score) -> Part:
        self.seq += 1
        self._seqs[at] = self.seq
        row = at * self.attempts + line.attempt
        part = self._parts.get(row)
        if part is None:
            part = self._parts[row] = Part(line.attempt)
        return part

    def _count(self, part: Part, before: tuple[str, str, str]) -> None:
        if self.whole:  # all are counted at the end
            return
        after = part.states
        if after != before:
            self.counts.add(*before, -1)
            self.counts.add(*after, 1)

    def rows(self, number: int, key: str | None) -> Iterator[tuple[Any, ...]]:
        """Of the table `samples`: all of the run, or those that lines came of."""
        column = self.names.index(key) if key in self.names and key is not None else -1
        said = self._describe() if self.whole else self._said
        encode = msgspec.msgpack.Encoder().encode
        places: Iterable[int] = range(len(self.ids)) if self.whole else self._touched
        for at in places:
            first = at * self.attempts
            parts = [
                self._parts[row]
                for row in range(first, first + self.attempts)
                if row in self._parts
            ]
            whole = join(parts)
            kept = parts
            if self.attempts == 1:  # the row holds these
                kept = [
                    Part(
                        p.attempt, p.answered, p.excuse, p.scored, p.reason, (), b"",
                        p.asked_at, p.scored_at,
                    )
                    for p in parts
                ]  # fmt: skip
            sample = self.ids[at]
            group, tags = said.get(at, (sample, ""))
            yield (
                number,
                at,
                key_of(sample),
                sample,
                group,
                tags,
                pack_flags(whole.flags),
                whole.status,
                whole.reason,
                _column(whole.vals, column),
                whole.vals,
                encode(kept),
                self._seqs.get(at, 0),
            )

    def _describe(self) -> dict[int, tuple[str, str]]:
        """Groups and tags as the run wrote them down; samples that it did not are their groups."""
        found: dict[int, tuple[str, str]] = {}
        at_of = {sample: at for at, sample in enumerate(self.ids)}
        decode = msgspec.json.Decoder(Item).decode
        seen: dict[str, str] = {}
        if _SAMPLES not in self.found.stamps:
            return found
        with open_regular(self.found.folder / _SAMPLES) as file:
            for line in file:
                try:
                    item = decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    continue
                tags = pack_tags(item.tags)
                if item.id in at_of:
                    found[at_of[item.id]] = (item.group, seen.setdefault(tags, tags))
        return found


def _column(vals: bytes, column: int) -> float | None:
    if column < 0 or len(vals) < 8 * (column + 1):
        return None
    value = unpack(vals[8 * column : 8 * column + 8])[0]
    return None if isnan(value) else value
