"""A model that fails in every known way, on purpose and in a known order."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, get_args

import msgspec
import numpy as np
from vgen_eval.adapters import BaseAdapter
from vgen_eval.cards.records import ModelCard
from vgen_eval.errors import RateLimited, Refused, Transient
from vgen_eval.types import FORMS, AnswerForm, Output, Request

from vgen_eval_plugins.baselines.blind import plain_answer

__all__ = ["KINDS", "Flaky", "FlakyOptions", "Kind", "kind_of"]

Kind = Literal[
    "ok", "wrong_size", "constant", "text_for_picture", "nothing", "exception", "refused",
    "transient", "rate_limited", "hang", "foreign_id", "twice", "no_output", "garbage_bytes",
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Every way: see `Flaky`."""


class FlakyOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which ways to fail."""

    kinds: Annotated[
        tuple[Kind, ...], msgspec.Meta(description="Ways to answer or to fail.", min_length=1)
    ] = KINDS
    salt: Annotated[int, msgspec.Meta(description="Deals the ways out differently.")] = 0
    hang_s: Annotated[
        float, msgspec.Meta(description="Seconds that a hanging call takes.", ge=0)
    ] = 3.0
    batch: Annotated[int, msgspec.Meta(description="Requests one call may hold.", ge=1)] = 1


def kind_of(sample: str, attempt: int, *, kinds: Sequence[Kind] = KINDS, salt: int = 0) -> Kind:
    """How `Flaky` treats this attempt at this sample: a hash of both picks one of `kinds`."""
    digest = hashlib.sha256(f"{salt}\n{attempt}\n{sample}".encode()).digest()
    return kinds[int.from_bytes(digest[:8], "big") % len(kinds)]


class Flaky(BaseAdapter):
    """Answers as `kind_of` says.

    ok: a centred box, or 5; wrong_size: the same in half the width (pictures, maps); constant: one
    grey picture; text_for_picture: prose; nothing: None; exception: an error of Python's;
    refused: Refused; transient, rate_limited: raised on the first call of a request, then ok;
    hang: ok after `hang_s`; foreign_id: an output under another id; twice: the same output two
    times; no_output: none at all; garbage_bytes: bytes that are no file.
    """

    version: ClassVar[int] = 2
    Options: ClassVar[type[msgspec.Struct]] = FlakyOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = FORMS
    concurrency = 4
    stub: ClassVar[Mapping[str, Any]] = {"kinds": ["ok"]}
    _lock: ClassVar[threading.Lock] = threading.Lock()  # of the class: an adapter is pickled

    def __init__(
        self, options: FlakyOptions, *, card: ModelCard | None = None, device: str | None = None
    ) -> None:
        super().__init__(options, card=card, device=device)
        self.max_batch = options.batch
        self._stumbled: set[str] = set()

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """Outputs, or the lack of them; raises what an adapter may, and what it may not."""
        for request in requests:
            kind = kind_of(
                request.sample,
                request.attempt,
                kinds=self.options.kinds,
                salt=self.options.salt,
            )
            self._stumble(kind, request)
            yield from self._outputs(kind, request)

    def _stumble(self, kind: Kind, request: Request) -> None:
        if kind == "exception":
            raise RuntimeError(f"this adapter fails on {request.sample} on purpose")
        if kind == "refused":
            raise Refused("this model declines on purpose")
        if kind == "hang":
            time.sleep(self.options.hang_s)
        if kind in ("transient", "rate_limited"):
            with self._lock:
                first = request.id not in self._stumbled
                self._stumbled.add(request.id)
            if first and kind == "transient":
                raise Transient("this fault passes")
            if first:
                raise RateLimited(retry_after=0.0)

    def _outputs(self, kind: Kind, request: Request) -> Iterator[Output]:
        if kind == "no_output":
            return
        output = Output(id=request.id, answer=self._answer(kind, request))
        if kind == "foreign_id":
            output = msgspec.structs.replace(output, id=f"not-{request.id}")
        yield output
        if kind == "twice":
            yield output

    def _answer(self, kind: Kind, request: Request) -> Any:
        if kind == "nothing":
            return None
        if kind == "text_for_picture":
            return "Here is the picture that you asked for."
        if kind == "garbage_bytes":
            return b"\x00\x01 no file of any kind"
        answer = _sound_answer(request)
        if isinstance(answer, np.ndarray) and answer.ndim >= 2 and request.form != "points":
            if kind == "wrong_size":
                return answer[:, ::2]
            if kind == "constant":
                few = request.form in ("mask", "label_map")
                return np.full_like(answer, 1 if few else 128)
        return answer


def _sound_answer(request: Request) -> Any:
    """An answer that every built-in decoder of the form can read."""
    if request.form == "text":
        return "5"
    answer = plain_answer(request)
    if request.form == "image":
        height, width = answer.shape[:2]
        answer[height // 4 : height - height // 4, width // 4 : width - width // 4] = 255
    return answer
