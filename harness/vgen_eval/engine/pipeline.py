"""Runs one job: load -> generate -> decode and score, stages overlapped through bounded queues.

A finished attempt is on disk (answer, then line) before it is scored; what is on disk already
is not done again. Order of completion does not matter to anything that is kept.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec

from vgen_eval.answers import clean
from vgen_eval.engine.budget import Purse
from vgen_eval.engine.calling import count_callers, make_caller
from vgen_eval.engine.calls import Caller
from vgen_eval.engine.channel import Channel
from vgen_eval.engine.judges import Judging, Unasked
from vgen_eval.engine.keeping import Asked, Hit, Keeper, Line
from vgen_eval.engine.limits import Gate
from vgen_eval.engine.plan import Job
from vgen_eval.engine.request import Prepared, make_request, prepare, request_digest
from vgen_eval.engine.scorer import score_attempt, unscored
from vgen_eval.engine.stopping import Stop
from vgen_eval.engine.todo import Todo, Work
from vgen_eval.engine.tries import Call, Tries
from vgen_eval.errors import BadSample, NotRunnable, NoValidTarget, VgenEvalError
from vgen_eval.store.run import RunStore
from vgen_eval.types import Adapter, Status
from vgen_eval.wording import describe

__all__ = ["Pipeline", "Stop"]

log = logging.getLogger(__name__)

QUEUE = 64
"""Items that may wait between stages: the fewer, the more often threads wake each other."""

QUEUE_BYTES = 16 << 20
"""Bytes of pixels at which a queue is full whatever it may hold: large pictures are few."""


def _pixel_bytes(entry: Asked | _Answered) -> int:
    prepared = entry.prepared
    if not prepared.images:
        return 0
    pictures = sum(image.array.nbytes for image in prepared.images)
    return pictures + int(getattr(prepared.ideal, "nbytes", 0))


class _Answered(msgspec.Struct, frozen=True):
    """An attempt for the last stage: a call to write down, a hit, or a line without a score."""

    prepared: Prepared
    asked: Asked | None = None
    call: Call | None = None
    hit: Hit | None = None
    line: Line | None = None


class Pipeline:
    """One job on its way into one run directory, which its caller has locked."""

    def __init__(
        self,
        job: Job,
        store: RunStore,
        keeper: Keeper,
        *,
        workers: int | None = None,
        batch_size: int | None = None,
        stop: Stop,
        on_attempt: Callable[[str], None],
        gate: Gate | None = None,
        purse: Purse | None = None,
        scores: bool = True,
        judging: Judging | None = None,
    ) -> None:
        """`gate`: before the service that is called; `purse`: what its calls are paid from.

        Without `scores` answers are made and kept, and nothing else. `judging`: who judges them,
        where the codec has a judge.
        """
        self._scores = scores
        self._judging = judging
        self._job = job
        self._store = store
        self._keeper = keeper
        self._workers = workers or min(4, os.cpu_count() or 1)
        if judging is not None:
            self._workers = max(self._workers, judging.at_once)
        self._batch_size = batch_size
        self._asked_to_stop = stop
        self._stop = Stop()  # this job's: it may end before the others
        self._on_attempt = on_attempt
        self._gate = gate
        self._purse = purse
        self.calls = 0
        """Attempts that the model was asked for."""
        self.calling_s = 0.0
        """Seconds from start to end, where it was asked for any."""
        self.unfinished: list[Tries] = []
        """Tries of attempts that were then not made."""
        self._digest = job.score_digest
        self._model_digest = job.model.identity_digest()
        self._fault: BaseException | None = None
        self._end: NotRunnable | None = None
        self._finished = threading.Event()
        self._alive = 0
        self._lock = threading.Lock()

    def run(self, todo: Todo, adapter: Adapter | None) -> None:
        """Does what is left. Raises the first fault of the store; a stop just returns.

        NotRunnable where the model cannot go on: what was in flight is finished and kept before.
        `adapter` may be None when nothing is to be generated.
        """
        gates = (self._gate, self._purse, self._judging.gate if self._judging else None)
        wakers = [entry.wake for entry in gates if entry is not None]
        started = time.monotonic()
        try:
            # a stop of the command is one of each job, not the other way round
            with self._stop.heard_by(*wakers), self._asked_to_stop.heard_by(self._stop.finish):
                self._run(todo, adapter)
        finally:
            self.calling_s = time.monotonic() - started if self.calls else 0.0

    def _run(self, todo: Todo, adapter: Adapter | None) -> None:
        batch = max(1, min(self._batch_size or 1 << 30, adapter.max_batch)) if adapter else 1
        callers = count_callers(adapter, self._job.model.card) if adapter else 0
        self._loaded: Channel[Asked] = Channel(
            max(QUEUE, 2 * batch), producers=1, weight=_pixel_bytes, most=QUEUE_BYTES
        )
        self._answered: Channel[_Answered] = Channel(
            QUEUE,
            producers=1 + callers,
            consumers=self._workers,
            weight=_pixel_bytes,
            most=QUEUE_BYTES,
        )
        stages: list[tuple[str, Callable[[], None]]] = [("load", lambda: self._load(todo))]
        if adapter is not None:
            caller = self._caller(adapter)
            self.unfinished = caller.unfinished
            stages += [("generate", lambda: self._generate(caller, batch))] * callers
        stages += [("score", self._score)] * self._workers
        self._alive = len(stages)
        for name, body in stages:
            threading.Thread(target=self._guard, args=(body,), name=name, daemon=True).start()
        while not self._finished.wait(0.2):
            if self._asked_to_stop.hard.is_set():
                self._abort()
                self._finished.wait(1.0)  # the last stage finishes the line it is writing
                return
        fault = self._fault or self._end
        if fault is not None:
            raise fault

    def _caller(self, adapter: Adapter) -> Caller:
        return make_caller(
            adapter, self._job.model.card, self._job.codec.answer.form,
            stop=self._stop, gate=self._gate, purse=self._purse,
        )  # fmt: skip

    def _guard(self, body: Callable[[], None]) -> None:
        """Runs one thread of a stage; what it raises stops the others."""
        try:
            body()
        except BaseException as exc:
            with self._lock:
                self._fault = self._fault or exc
            self._abort()
        finally:
            with self._lock:
                self._alive -= 1
                if self._alive == 0:
                    self._finished.set()

    def _abort(self) -> None:
        self._loaded.abort()
        self._answered.abort()

    # --- stage 1: load --------------------------------------------------------------------

    def _load(self, todo: Todo) -> None:
        try:
            for work in todo:
                if self._stop.soft.is_set() or not self._load_one(work):
                    return
        finally:
            self._loaded.done()
            self._answered.done()

    def _load_one(self, work: Work) -> bool:
        """Sends the sample's attempts on; False when the pipeline was aborted."""
        try:
            prepared = self._prepare(work)
            asking = [self._ask(prepared, attempt) for attempt in work.generate]
        except NotRunnable:
            raise  # a library or the data is missing: no fault of this sample, nor of it alone
        except VgenEvalError as exc:
            no_target = isinstance(exc, NoValidTarget)  # an encoder found nothing to write
            self._write_fault(work, exc.what, "no_valid_target" if no_target else "bad_sample")
            return True
        # readers are anyone's code: what they raise spoils their sample, not the run
        except (Exception, SystemExit) as exc:
            log.warning("%s: loading failed", work.item.id, exc_info=True)
            self._write_fault(work, clean(describe(exc)), "bad_sample")
            return True
        for line in work.score:
            if not self._answered.put(_Answered(prepared, line=line)):
                return False
        for asked in asking:
            made_before = asked.request.attempt in work.again
            hit = None if made_before else self._keeper.look_up(asked.digest)
            if hit is not None:
                sent = self._answered.put(_Answered(prepared, asked=asked, hit=hit))
            else:
                sent = self._loaded.put(asked)
            if not sent:
                return False
        return True

    def _prepare(self, work: Work) -> Prepared:
        sample = self._job.task.dataset.load(work.item)
        if sample.id != work.item.id:
            raise BadSample(f"the reader gave sample '{sample.id}' for '{work.item.id}'")
        return prepare(self._job, sample)

    def _ask(self, prepared: Prepared, attempt: int) -> Asked:
        request = make_request(self._job, prepared, attempt)
        return Asked(prepared, request, request_digest(self._model_digest, request))

    def _write_fault(self, work: Work, reason: str, status: Status) -> None:
        for attempt in work.generate:
            line = {
                "sample": work.item.id,
                "attempt": attempt,
                "form": self._job.codec.answer.form,
                "status": status,
                "reason": reason,
            }
            self._store.append_prediction(line)
            self._write_unscored(line, reason, status)
        for scored in work.score:  # its answer is good and stays
            self._write_unscored(scored, reason, status)

    def _write_unscored(self, line: Line, reason: str, status: Status) -> None:
        record = unscored(line, self._job.codec, status, reason)
        self._store.append_score(self._digest, record)
        self._on_attempt(status)

    # --- stage 2: generate ----------------------------------------------------------------

    def _generate(self, caller: Caller, batch: int) -> None:
        try:
            while asked := self._loaded.take(batch):
                if self._stop.soft.is_set():
                    continue  # loaded, but not to be asked any more
                if not self._ask_model(caller, asked):
                    return
        finally:
            self._answered.done()

    def _ask_model(self, caller: Caller, asked: list[Asked]) -> bool:
        """Sends what the calls come to on; False when the pipeline was aborted."""
        by_id = {entry.request.id: entry for entry in asked}
        called = 0
        try:
            for call in caller([entry.request for entry in asked]):
                called += 1
                entry = by_id[call.request.id]
                if not self._answered.put(_Answered(entry.prepared, asked=entry, call=call)):
                    return False
        except NotRunnable as exc:
            self._give_up(exc)
        finally:
            with self._lock:
                self.calls += called
        return True

    def _give_up(self, fault: NotRunnable) -> None:
        """A model that cannot go on, the judge's or the one that is judged, ends the job."""
        with self._lock:
            self._end = self._end or fault
        self._stop.finish()

    # --- stage 3: write down, decode, score -----------------------------------------------

    def _score(self) -> None:
        for entry in self._answered:
            line, answer = self._settle(entry)
            if not self._scores or (self._judging is not None and self._end is not None):
                continue  # without its judge, or with the model gone, a resume scores it
            try:
                record = score_attempt(
                    self._job.task, self._job.codec, line, answer,
                    entry.prepared.sample, entry.prepared.scene, self._judging,
                )  # fmt: skip
            except Unasked:
                continue  # a resume goes on asking
            except NotRunnable as exc:
                self._give_up(exc)
                continue
            self._store.append_score(self._digest, record)
            self._keeper.tidy(line, record["status"])
            self._on_attempt(record["status"])

    def _settle(self, entry: _Answered) -> tuple[Line, Any]:
        """The attempt's line, on disk by now, and its answer."""
        if entry.line is not None:
            return entry.line, self._keeper.read(entry.line)
        assert entry.asked is not None
        if entry.hit is not None:
            return self._keeper.write_hit(entry.asked, entry.hit)
        assert entry.call is not None
        return self._keeper.write_call(entry.asked, entry.call)
