"""Puts a judge's questions to its model: each once, its reply kept before it is used.

The judge itself is pure (`vgen_eval.judging`): it is run anew on every resume and re-score, and
what it asked before is answered from the transcript.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from vgen_eval import jsonio
from vgen_eval.answers import clean
from vgen_eval.cards.records import ModelCard
from vgen_eval.engine.calling import count_callers
from vgen_eval.engine.calls import Caller
from vgen_eval.engine.limits import Gate
from vgen_eval.engine.models import Model
from vgen_eval.engine.stopping import Stop
from vgen_eval.engine.tries import Call, volatile_of
from vgen_eval.errors import (
    JudgeError,
    NotRunnable,
    NoValidTarget,
    StorageError,
)
from vgen_eval.imaging import Image
from vgen_eval.judging import Case, Judge, Question, Reply
from vgen_eval.store.transcript import Transcript
from vgen_eval.types import STATUS_GROUP, Adapter, Prediction, Request
from vgen_eval.wording import describe, plural

__all__ = ["Judging", "NeverAsked", "Unasked"]

log = logging.getLogger(__name__)

Attempt = tuple[str, int]
"""Sample and attempt."""

MOST_TURNS, MOST_QUESTIONS = 1000, 10_000
"""About one answer: beyond them a judge has lost its way."""

SEEDS = 1_000_003
"""Between the seeds of two rounds."""


class Unasked(Exception):
    """The run was stopped before the judge had asked all that it wanted to."""


class NeverAsked(NotRunnable):
    """The transcript has no reply to a question, and no model is asked."""

    def __init__(self, sample: str, question: str) -> None:
        super().__init__(
            f"{sample}: judgements.jsonl has no reply to what the judge asks today ({question}), "
            "and scoring asks no model",
            cure="the scores stand as they were; move the run's folder `scores` away, and the "
            "command that made the run asks the judge what is missing",
        )
        self.question = question


class Judging:
    """One run's judge at work; several threads may judge, each its own attempt."""

    def __init__(
        self,
        judge: Judge,
        model: Model,
        transcript: Transcript,
        *,
        family: str,
        adapter: Adapter | None = None,
        caller: Caller | None = None,
        gate: Gate | None = None,
        stop: Stop | None = None,
        judged: Collection[Attempt] = (),
        anew: Collection[Attempt] = (),
    ) -> None:
        """Without an adapter and a caller the transcript alone replies.

        `judged`: attempts that have a score now, which must not be lost. `anew`: those that are
        asked about again, whatever the transcript has of them.
        """
        self._judge = judge
        self._card: ModelCard = model.card
        self._name = model.name
        self._digest = model.identity_digest()
        self._transcript = transcript
        self._family = family
        self._adapter = adapter
        self._caller = caller
        self.gate = gate
        """Before the service that the judge is asked at."""
        self.at_once = 1 if adapter is None else count_callers(adapter, model.card)
        """Attempts that may be judged at once."""
        self._stop = stop or Stop()
        self._judged = judged
        self._anew = anew

    def judge(self, case: Case) -> Prediction:
        """The measurement.

        JudgeError when it comes to none; Unasked when the run was stopped; NotRunnable when the
        judge's model cannot go on.
        """
        try:
            return self._finish(case)
        except (JudgeError, NotRunnable, NoValidTarget, StorageError, Unasked, KeyboardInterrupt):
            raise
        except BaseException as exc:  # a way of judging is anyone's code
            log.warning("%s: its judge failed", case.sample, exc_info=True)
            raise JudgeError(f"the judge raised {describe(exc)}") from exc

    def _finish(self, case: Case) -> Prediction:
        """Runs the judge to its end, within bounds."""
        asking = self._judge.judge(case)
        names: set[str] = set()
        turns = 0
        try:
            questions = next(asking)
            while True:
                turns += 1
                for question in questions:
                    if question.name in names:
                        raise JudgeError(f"the judge asks '{question.name}' twice")
                    names.add(question.name)
                if turns > MOST_TURNS or len(names) > MOST_QUESTIONS:
                    raise JudgeError(f"the judge does not end: {plural(len(names), 'question')}")
                if self._stop.soft.is_set() and not questions:
                    raise Unasked("nothing")
                questions = asking.send(self._replies(case, questions))
        except StopIteration as end:
            prediction = end.value
        finally:
            asking.close()
        if not isinstance(prediction, Prediction):
            raise JudgeError(f"the judge gave {type(prediction).__name__}, no Prediction")
        return prediction

    def _replies(self, case: Case, questions: Sequence[Question]) -> list[Reply]:
        """In the questions' order; what is not in the transcript is asked, all of it at once."""
        requests = {entry.name: self._request(case, entry) for entry in questions}
        digests = {entry.name: self._digest_of(case, entry) for entry in questions}
        is_anew = (case.sample, case.attempt) in self._anew
        lines = {
            name: self._transcript.find(digest, of_now=is_anew) for name, digest in digests.items()
        }
        left = [entry for entry in questions if lines[entry.name] is None]
        faults: list[str] = []
        for question, call in self._ask(case, left, requests):
            line = _line(case, question, digests[question.name], call)
            if STATUS_GROUP[call.status] == "infrastructure":
                faults.append(f"{question.name}: {call.reason}")
                continue
            lines[question.name] = self._transcript.add(line)
        if faults:
            raise JudgeError(f"judge {self._name}: {faults[0]}")
        replies = []
        for question in questions:
            found = lines[question.name]
            if found is None:
                raise Unasked(question.name)
            reason = str(found.get("reason", ""))
            replies.append(Reply(name=question.name, text=found.get("reply"), reason=reason))
        return replies

    def _ask(
        self, case: Case, questions: Sequence[Question], requests: Mapping[str, Request]
    ) -> Iterator[tuple[Question, Call]]:
        if not questions:
            return
        if self._caller is None or self._adapter is None:
            raise self._unasked(case, questions[0])
        by_id = {requests[entry.name].id: entry for entry in questions}
        size = max(1, self._adapter.max_batch)
        for start in range(0, len(questions), size):
            if self._stop.soft.is_set():
                return
            part = [requests[entry.name] for entry in questions[start : start + size]]
            try:
                for call in self._caller(part):
                    yield by_id[call.request.id], call
            except NotRunnable as exc:  # the judge's key or service, not those of who is judged
                cure = exc.cure and exc.cure.replace("-M ", "--set judge.options.")
                raise NotRunnable(f"judge {self._name}: {exc.what}", cure=cure) from exc

    def _unasked(self, case: Case, question: Question) -> Exception:
        """What a question without an answer comes to where no model is asked."""
        if (case.sample, case.attempt) in self._judged:
            return NeverAsked(case.sample, question.name)
        return JudgeError(f"judge {self._name} was not asked yet: {question.name}")

    def _request(self, case: Case, question: Question) -> Request:
        own = {k: v for k, v in self._card.generation.items() if k != "seed"}
        base = int(self._card.generation.get("seed", 0))
        parts = question.parts
        return Request(
            id=f"{case.sample}#{case.attempt}/{question.name}",
            sample=case.sample,
            attempt=case.attempt,
            family=self._family,
            form="text",
            prompt="\n".join(part for part in parts if isinstance(part, str)),
            images=tuple(part for part in parts if isinstance(part, Image)),
            parts=parts,
            wants_json=question.wants_json,
            fields={"question": question.name, "round": str(question.round)},
            settings={**own, **question.settings},
            seed=base + SEEDS * question.round,
        )

    def _digest_of(self, case: Case, question: Question) -> str:
        """sha256 over all that can change the reply, and whose it is."""
        return jsonio.digest(
            {
                "judge": self._digest,
                "sample": case.sample,
                "attempt": case.attempt,
                "question": question.name,
                "round": question.round,
                "parts": _shown(question),
                "settings": dict(question.settings),
                "wants_json": question.wants_json,
            }
        )


def _shown(question: Question) -> list[Any]:
    """Words as they are, pictures by the digest of their pixels."""
    return [
        part if isinstance(part, str) else {"image": part.sha256, "size": [part.height, part.width]}
        for part in question.parts
    ]


def _line(case: Case, question: Question, digest: str, call: Call) -> dict[str, Any]:
    """A line of the transcript."""
    output = call.output
    answer = None if output is None else output.answer
    line: dict[str, Any] = {
        "sample": case.sample,
        "attempt": case.attempt,
        "question": question.name,
        "round": question.round,
        "digest": digest,
        "asked": _shown(question),
    }
    if isinstance(answer, str):
        line["reply"] = clean(answer)
    else:
        told = call.reason if output is None else output.reason
        line["reason"] = clean(told or "no reply")
    flags = () if output is None else tuple(output.flags)
    if flags:
        line["flags"] = [clean(str(flag)) for flag in flags]
    line["volatile"] = volatile_of(call)
    if output is not None and output.thinking is not None:
        line["volatile"]["thinking"] = clean(output.thinking)
    return line
