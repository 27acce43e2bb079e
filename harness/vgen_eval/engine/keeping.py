"""Keeps answers: the file first, then the line, then the index; and reads them back."""

from __future__ import annotations

import logging
import threading
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from vgen_eval.answers import AnswerFault, Packed, clean, pack, unpack
from vgen_eval.engine.plan import Job
from vgen_eval.engine.request import Prepared
from vgen_eval.engine.scorer import score_key
from vgen_eval.engine.tries import Call, volatile_of
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import recompress
from vgen_eval.store.index import ResponseIndex
from vgen_eval.store.journal import read_lines
from vgen_eval.store.run import RunStore
from vgen_eval.types import STATUS_GROUP, Output, Request, Status

__all__ = ["Asked", "Hit", "Keeper"]

log = logging.getLogger(__name__)

Line = Mapping[str, Any]

_DROPPED: Mapping[str, tuple[str, ...]] = {
    "all": (),
    "failed": ("answered",),
    "none": ("answered", "model_failure"),
}
"""`keep` -> groups of scored attempts whose raw answers are deleted."""

_PICTURES = (".png", ".jpg", ".webp", ".gif", ".bmp", ".tif")


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
    flags: tuple[str, ...] = ()


class Keeper:
    """Writes the prediction lines of one run, and reads its answers as decoders take them."""

    def __init__(
        self, job: Job, store: RunStore, index: ResponseIndex | None, keep: str, *,
        reuse: bool = True,
    ) -> None:  # fmt: skip
        """`reuse`: may answers be taken from other runs?"""
        self._form = job.codec.answer.form
        self._background = job.codec.answer.background
        self._reencode = job.codec.answer.reencode
        self._store = store
        self._index = index if job.model.reusable else None
        self._run = self._index.name_of(store.path) if self._index is not None else ""
        self._keep = keep
        self._reuse = reuse
        self._files = _Files(job, store, _DROPPED[keep]) if keep != "all" else None

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
        flags = tuple(line.get("flags", ()))
        return Hit(self._index.name_of(source.path), answer, data, flags)

    def write_hit(self, asked: Asked, hit: Hit) -> tuple[Line, Any]:
        """Writes the line of an answer taken from another run; it cost nothing."""
        line = _line(asked, "ok")
        if hit.data is not None:
            self._use(hit.answer["file"])
            self._store.put_file(hit.answer["file"], hit.data)
        line["answer"] = dict(hit.answer)
        if hit.flags:
            line["flags"] = list(hit.flags)
        line["volatile"] = {"cached": hit.run, "tries": 0, "cost_usd": 0.0}
        self._store.append_prediction(line)
        return line, self._unpack(hit.answer, hit.data)

    def write_call(self, asked: Asked, call: Call) -> tuple[Line, Any]:
        """Writes what a call came to; gives the line, and the answer to decode if there is one."""
        line = _line(asked, call.status)
        volatile = volatile_of(call)
        answer: Any = None
        if call.output is not None:
            answer = self._keep_output(line, volatile, call.output)
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

    def _keep_output(self, line: dict[str, Any], volatile: dict[str, Any], output: Output) -> Any:
        """Writes an output into its line, what came beside the answer into `volatile`."""
        if output.source is not None:
            line["source"] = clean(output.source)
        flags = dict.fromkeys(_words(flag) for flag in _listed(output.flags))
        if flags:
            line["flags"] = list(flags)
        answer = self._keep_answer(line, output)
        if output.text is not None:
            # words in the place of an answer are what the model gave
            (volatile if line["status"] == "ok" else line).setdefault("text", _words(output.text))
        if output.thinking is not None:
            volatile["thinking"] = _words(output.thinking)
        if output.answer_s is not None:
            volatile["answer_s"] = output.answer_s
        pictures = [
            kept
            for picture in _listed(output.pictures)
            if (kept := self._keep_picture(line["sample"], picture)) is not None
        ]
        if pictures:
            volatile["pictures"] = pictures
        return answer

    def _keep_picture(self, sample: str, picture: Any) -> dict[str, Any] | None:
        """Keeps a picture that is evidence; None, with a line in the log, when it is none."""
        try:
            packed = pack("image", picture)
            if packed.data is None or packed.suffix not in _PICTURES:
                raise AnswerFault("undecodable", "not a picture file")
        except AnswerFault as fault:
            log.warning("%s: a picture beside the answer is passed over: %s", sample, fault.reason)
            return None
        return self._put(packed)

    def _keep_answer(self, line: dict[str, Any], output: Output) -> Any:
        raw = output.answer
        try:
            packed = pack(self._form, raw)
        except AnswerFault as fault:
            line["status"] = fault.status
            told = raw is None and output.reason is not None
            line["reason"] = _words(output.reason) if told else fault.reason
            if fault.text is not None:
                line["text"] = fault.text
            return None
        if packed.redacted:
            line["flags"] = list(dict.fromkeys((*line.get("flags", ()), "redacted")))
        line["answer"] = self._put(packed)
        answer: Any = raw
        if self._form != "image" or type(raw).__name__ != "ndarray" or raw.shape[2:] != (3,):
            # the pixels of an array were just written and need not be read back
            answer = self._unpack(line["answer"], packed.data, line.get("source"))
        elif self._reencode is not None:
            answer = recompress(raw, self._reencode)
        if self._form == "image" and not isinstance(answer, Undecodable):
            line["answer"] = {**line["answer"], "size": list(answer.shape[:2])}
        return answer

    def _put(self, packed: Packed) -> dict[str, Any]:
        if packed.data is not None:
            self._use(packed.sha256 + packed.suffix)
        return self._store.put(packed)

    def _use(self, name: str) -> None:
        """Before a file is written: from here on no other attempt deletes it."""
        if self._files is not None:
            self._files.use(name)

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
            found = unpack(
                self._form,
                value=answer.get("value"),
                data=data,
                what=source or "answer",
                background=self._background,
            )
            if self._form == "image" and self._reencode is not None:
                return recompress(found, self._reencode)
            return found
        except Undecodable as exc:
            return exc

    def tidy(self, line: Line, status: Status) -> None:
        """Deletes the raw answer of a scored attempt, and its evidence, where `keep` says so."""
        # what could not be scored stays under `none` too: a resume scores it without a call
        if self._files is not None and STATUS_GROUP[status] in _DROPPED[self._keep]:
            for kept in _kept_by(line):
                self._files.leave(kept)


class _Files:
    """How many attempts still want each kept file: equal bytes are kept once, under one name."""

    def __init__(self, job: Job, store: RunStore, dropped: Sequence[str]) -> None:
        """`dropped`: groups of scored attempts that want theirs no more."""
        self._store = store
        self._lock = threading.Lock()
        rows = job.rows()
        done = array("q", [0]) * len(rows)  # hash of the prediction that the score is of
        for _, score in read_lines(store.scores_path(job.score_digest)):
            row = rows.of(score)
            if row >= 0:
                is_dropped = STATUS_GROUP.get(score["status"]) in dropped
                done[row] = hash(score["of"]) if is_dropped else 0
        self._users: Counter[str] = Counter()
        for line in store.predictions(rows):
            if done[rows.of(line)] != hash(score_key(line, job.codec)):
                names = (kept["file"] for kept in _kept_by(line))
                outputs = store.path / "outputs"
                self._users.update(name for name in names if (outputs / name).exists())

    def use(self, name: str) -> None:
        """One more attempt wants it."""
        with self._lock:
            self._users[name] += 1

    def leave(self, kept: Mapping[str, Any]) -> None:
        """One wants it no more; the last one deletes it."""
        name = kept["file"]
        with self._lock:
            self._users[name] -= 1
            if self._users[name] <= 0:
                del self._users[name]
                self._store.drop(kept)


def _kept_by(line: Line) -> list[Mapping[str, Any]]:
    """The files of a line: its answer, and the pictures that came beside it."""
    entries = (line.get("answer", {}), *line.get("volatile", {}).get("pictures", ()))
    return [entry for entry in entries if "file" in entry]


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
    geometry = asked.prepared.geometry()
    if geometry is not None:
        line["geometry"] = geometry
    return line


def _words(said: Any) -> str:
    """What a service said, as JSON holds it, without keys."""
    return clean(said if isinstance(said, str) else str(said))


def _listed(given: Any) -> Sequence[Any]:
    """The entries of a list; what is none stands for a list of one."""
    if given is None or isinstance(given, (list, tuple)):
        return given or ()
    return [given]
