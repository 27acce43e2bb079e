"""What is left of a run: attempts to generate, and answers that only lack their score."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.engine.lost import Lost
from vgen_eval.engine.plan import Job
from vgen_eval.engine.scorer import score_key
from vgen_eval.store.journal import read_lines
from vgen_eval.store.run import RunStore
from vgen_eval.types import Item

__all__ = ["Rescoring", "Todo", "Work"]

GENERATE, SCORE, FINISHED, SKIPPED = 0, 1, 2, 3

_SCORING_FAULTS = ("error", "bad_sample", "judge_error")
"""Statuses of the score of a good answer that the next run makes again."""


class Work(msgspec.Struct, frozen=True):
    """One sample: attempts to generate, and prediction lines that only lack their score."""

    item: Item
    generate: tuple[int, ...]
    score: tuple[Mapping[str, Any], ...]
    again: tuple[int, ...] = ()
    """Those of `generate` that were made before: they are asked for, and never looked up."""


class Todo:
    """What a resume has to do. A line that is there and scored is never touched."""

    def __init__(self, job: Job, store: RunStore, *, retry: Sequence[str] = ()) -> None:
        """`retry`: statuses whose attempts are made again."""
        self._job = job
        self._store = store
        self._rows = job.rows()
        self._states = bytearray(len(self._rows))
        self._offsets = array("q", [-1]) * len(self._rows)
        self._undecodable = bytearray(len(self._rows))
        self._misjudged = bytearray(len(self._rows))
        self._read(frozenset(retry))

    def _read(self, retry: frozenset[str], /) -> None:
        scored = self._made_of()
        for offset, line in read_lines(self._store.predictions_path):
            row = self._rows.of(line)
            if row < 0:
                continue
            self._offsets[row] = offset
            is_scored = scored[row] == hash(score_key(line, self._job.codec))
            again = is_scored and self._undecodable[row] and "undecodable" in retry
            self._states[row] = GENERATE if again else self._state(line, retry, scored=is_scored)

    def _made_of(self) -> array[int]:
        """Of each attempt's score: a hash of the prediction it was made of; 0 for none.

        A score that failed to be made counts as none.
        """
        made = array("q", [0]) * len(self._rows)
        for _, record in read_lines(self._store.scores_path(self._job.score_digest)):
            row = self._rows.of(record)
            if row >= 0:
                failed = record["status"] in _SCORING_FAULTS and record["of"].startswith("ok:")
                made[row] = 0 if failed else hash(record["of"])
                self._undecodable[row] = record["status"] == "undecodable"
                self._misjudged[row] = record["status"] == "judge_error"
        return made

    def _state(self, line: Mapping[str, Any], retry: frozenset[str], *, scored: bool) -> int:
        status = line["status"]
        if status in retry:
            return GENERATE
        if scored:
            return FINISHED
        # an answer that was thrown away after scoring is no loss; one that vanished before is
        lost = status == "ok" and not self._store.intact(line["answer"])
        return GENERATE if lost else SCORE

    @property
    def misjudged(self) -> frozenset[tuple[str, int]]:
        """Sample and attempt of those whose judge came to nothing so far."""
        attempts = self._job.attempts
        return frozenset(
            (self._job.items[row // attempts].id, row % attempts)
            for row, is_so in enumerate(self._misjudged)
            if is_so
        )

    @property
    def finished(self) -> int:
        """Attempts that need nothing."""
        return self._states.count(FINISHED)

    @property
    def needs_model(self) -> bool:
        """Whether anything is to be generated."""
        return GENERATE in self._states

    def __bool__(self) -> bool:
        return GENERATE in self._states or SCORE in self._states

    def __iter__(self) -> Iterator[Work]:
        attempts = self._job.attempts
        for at, item in enumerate(self._job.items):
            rows = range(at * attempts, (at + 1) * attempts)
            generate = tuple(r - rows.start for r in rows if self._states[r] == GENERATE)
            score = tuple(self._line(r) for r in rows if self._states[r] == SCORE)
            if generate or score:
                again = tuple(a for a in generate if self._offsets[rows.start + a] >= 0)
                yield Work(item, generate, score, again)

    def _line(self, row: int) -> dict[str, Any]:
        with self._store.predictions_path.open("rb") as file:
            file.seek(self._offsets[row])
            line: dict[str, Any] = jsonio.loads(file.readline())
        return line


class Rescoring(Todo):
    """Everything that was answered, to be scored anew; what was not kept keeps its old score.

    NotRunnable when an answer that was not kept has no score to keep either.
    """

    stand: str | None = None
    """In words, the answers that are lost and whose old scores stand."""

    def _read(self, _retry: frozenset[str], /) -> None:
        digest = self._job.score_digest
        for at in range(len(self._states)):
            self._states[at] = SKIPPED
        gone, lost = Lost(self._store), dict[int, Mapping[str, Any] | None]()
        for offset, line in read_lines(self._store.predictions_path):
            row = self._rows.of(line)
            if row < 0:
                continue
            self._offsets[row] = offset
            is_gone = gone.has(line)
            self._states[row] = SKIPPED if is_gone else SCORE
            lost.pop(row, None)
            if is_gone:
                lost[row] = None
        for score in self._store.scores(digest, self._rows):
            if self._rows.of(score) in lost:
                lost[self._rows.of(score)] = score
        kept = [record for record in lost.values() if record is not None]
        if len(kept) < len(lost):
            raise gone.fault(
                len(lost) - len(kept),
                so="and no score stands in their place under today's decoder and metrics",
                cure="run the task and the model again: what is lost is asked for anew "
                "(--keep all keeps the answers)",
            )
        for record in kept:
            self._store.append_score(digest, dict(record))
        self.stand = gone.told(len(kept)) if kept else None
