"""Keeps answers: the file first, then the line, then the index; and reads them back."""

from __future__ import annotations

import logging
import math
import numbers
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from vgen_eval.answers import AnswerFault, clean, pack, unpack
from vgen_eval.engine.calls import Call
from vgen_eval.engine.plan import Job
from vgen_eval.engine.request import Prepared
from vgen_eval.errors import Undecodable
from vgen_eval.store.index import ResponseIndex
from vgen_eval.store.run import RunStore
from vgen_eval.types import STATUS_GROUP, Request, Status

__all__ = ["Asked", "Hit", "Keeper"]

log = logging.getLogger(__name__)

Line = Mapping[str, Any]

_DROPPED: Mapping[str, tuple[str, ...]] = {
    "all": (),
    "failed": ("answered",),
    "none": ("answered", "model_failure"),
}
"""`keep` -> groups of scored attempts whose raw answers are deleted."""


class Asked(msgspec.Struct, frozen=True):
    """A request on its way, with its digest and the sample it was made of."""

    prepared: Prepared
    request: Request
    digest: str


class Hit(msgspec.Struct, frozen=True):
    """An answer that another run holds already."""

    run: str
    answer: Mapping[str, Any]
    data: bytes | None


class Keeper:
    """Writes the prediction lines of one run, and reads its answers as decoders take them."""

    def __init__(
        self, job: Job, store: RunStore, index: ResponseIndex | None, keep: str, *,
        reuse: bool = True,
    ) -> None:  # fmt: skip
        """`reuse`: may answers be taken from other runs?"""
        self._form = job.codec.answer.form
        self._background = job.codec.answer.background
        self._store = store
        self._index = index if job.model.reusable else None
        self._run = self._index.name_of(store.path) if self._index is not None else ""
        self._keep = keep
        self._reuse = reuse

    def look_up(self, digest: str) -> Hit | None:
        """The same request's answer in another run, bytes checked; None when there is none."""
        found = self._index.find(digest) if self._index is not None and self._reuse else None
        if found is None or self._index is None:
            return None
        source, line = found
        answer = line["answer"]
        data = source.get(answer) if "file" in answer else None
        if "file" in answer and data is None:
            return None
        return Hit(self._index.name_of(source.path), answer, data)

    def write_hit(self, asked: Asked, hit: Hit) -> tuple[Line, Any]:
        """Writes the line of an answer taken from another run; it cost nothing."""
        line = _line(asked, "ok")
        if hit.data is not None:
            self._store.put_file(hit.answer["file"], hit.data)
        line["answer"] = dict(hit.answer)
        line["volatile"] = {"cached": hit.run, "tries": 0, "cost_usd": 0.0}
        self._store.append_prediction(line)
        return line, self._unpack(hit.answer, hit.data)

    def write_call(self, asked: Asked, call: Call) -> tuple[Line, Any]:
        """Writes what a call came to; gives the line, and the answer to decode if there is one."""
        line = _line(asked, call.status)
        volatile = _volatile(call)
        answer: Any = None
        if call.output is not None:
            if call.output.source is not None:
                line["source"] = clean(call.output.source)
            answer = self._keep_answer(line, call.output.answer)
        else:
            line["kind"] = call.kind
            # the words of a fault differ from run to run; a refusal's reason is the answer
            (line if call.status == "refused" else volatile)["reason"] = call.reason
        line["volatile"] = volatile
        offset = self._store.append_prediction(line)
        if self._index is not None and line["status"] == "ok":
            self._index.add(
                asked.digest, run=self._run, line=offset, sha256=line["answer"]["sha256"]
            )
        return line, answer

    def _keep_answer(self, line: dict[str, Any], raw: Any) -> Any:
        try:
            packed = pack(self._form, raw)
        except AnswerFault as fault:
            line["status"] = fault.status
            line["reason"] = fault.reason
            if fault.text is not None:
                line["text"] = fault.text
            return None
        line["answer"] = self._store.put(packed)
        if self._form == "image" and type(raw).__name__ == "ndarray" and raw.shape[2:] == (3,):
            return raw  # the pixels that were just written need not be read back
        return self._unpack(line["answer"], packed.data, line.get("source"))

    def read(self, line: Line) -> Any:
        """The kept answer of a line, None when the attempt gave none.

        Undecodable, as a value, when its bytes cannot be read as the form.
        """
        if line["status"] != "ok":
            return None
        answer = line["answer"]
        data = self._store.get(answer) if "file" in answer else None
        return self._unpack(answer, data, line.get("source"))

    def _unpack(
        self, answer: Mapping[str, Any], data: bytes | None, source: str | None = None
    ) -> Any:
        if "file" in answer and data is None:
            return Undecodable(f"the kept answer {answer['file']} is gone or altered")
        try:
            value = answer.get("value")
            return unpack(
                self._form,
                value=value,
                data=data,
                what=source or "answer",
                background=self._background,
            )
        except Undecodable as exc:
            return exc

    def tidy(self, line: Line, status: Status) -> None:
        """Deletes the raw answer of a scored attempt where `keep` says so."""
        # what could not be scored stays under `none` too: a resume scores it without a call
        dropped = _DROPPED[self._keep]
        if "answer" in line and STATUS_GROUP[status] in dropped:
            self._store.drop(line["answer"])


def _line(asked: Asked, status: Status) -> dict[str, Any]:
    request = asked.request
    line: dict[str, Any] = {
        "sample": request.sample,
        "attempt": request.attempt,
        "form": request.form,
        "status": status,
        "request": asked.digest,
        "seed": request.seed,
    }
    if asked.prepared.geometry is not None:
        line["geometry"] = asked.prepared.geometry
    return line


def _volatile(call: Call) -> dict[str, Any]:
    """What may differ between two equal runs."""
    facts: dict[str, Any] = {
        "finished": round(time.time(), 3),
        "seconds": round(call.seconds, 6),
        "tries": call.tries,
        "batch": call.batch,
    }
    output = call.output
    if output is None:
        return facts
    if output.usage is not None:
        for name in output.usage.__struct_fields__:
            amount = getattr(output.usage, name)
            if _is_amount(amount):
                facts[name] = float(amount) if name == "cost_usd" else int(amount)
            elif amount is not None:
                log.warning("%s: usage.%s is %r: passed over", call.request.id, name, amount)
    if output.request_id is not None:
        facts["request_id"] = clean(str(output.request_id))
    if output.reported_model is not None:
        facts["reported_model"] = clean(str(output.reported_model))
    return facts


def _is_amount(value: Any) -> bool:
    """Records do not check their fields when they are made, and NaN is no cost."""
    return isinstance(value, numbers.Real) and math.isfinite(value) and float(value) >= 0
