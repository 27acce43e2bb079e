"""Judges: what they ask a model about an answer, and what they make of its replies.

A judge is pure. It yields questions, is sent the replies, and returns a measurement; who asks,
waits, pays, and writes the transcript is the engine. So a judge replayed on a transcript gives the
same measurement without a call.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

import msgspec

from vgen_eval.errors import Unreadable
from vgen_eval.imaging import Image
from vgen_eval.types import Prediction, Scene

__all__ = ["Asking", "Case", "Judge", "Question", "Reply", "put"]

Reading = TypeVar("Reading")


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a judge asks."""

    name: str
    """Unique among the questions about one answer, and stable: `completeness/2`, `window/0`."""
    parts: tuple[str | Image, ...]
    """Words and pictures in their order."""
    settings: Mapping[str, Any] = {}
    """Over those of the judge's model card, where the way of judging needs them."""
    wants_json: bool = False
    """Is one JSON object wanted?"""
    round: int = 0
    """Of several votes: which. Rounds have seeds of their own."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What came back for one question."""

    name: str
    """Of the question."""
    text: str | None
    """None: nothing came; `reason` says why."""
    reason: str = ""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """An answer to be judged, with all that a judge may be told."""

    sample: str
    attempt: int
    prediction: Prediction
    """What the decoder read off the answer."""
    scene: Scene
    images: tuple[Image, ...]
    """The sample's pictures as they are, not as the model was shown them."""
    target: Any
    fields: Mapping[str, str] = {}
    tags: Mapping[str, str] = {}


Asking = Generator[Sequence[Question], Sequence[Reply], Prediction]
"""Yields questions, all that can be asked at once; is sent their replies in the same order."""


class Judge(Protocol):
    """A way of judging. Built as `Judge(options)`.

    `measures`, where it has it, says what its measurement is, as decoders and metrics do.
    """

    version: ClassVar[int]
    Options: ClassVar[type[msgspec.Struct]]

    def __init__(self, options: Any) -> None: ...

    def judge(self, case: Case) -> Asking:
        """The measurement of one answer. JudgeError when the replies do not come to one."""
        ...

    def prompts(self) -> Mapping[str, str]:
        """Its prompts' templates by name: their digest stands in the result card."""
        ...

    # Optional: expected_calls(self) -> float, calls an answer takes, about: for `--dry-run`.
    # Two options that `check judge` knows by their names: preset, a Literal of ways of judging; and
    # rounds, votes or repeats, how often it is asked, the first n being the same whatever n is.


def put(
    questions: Sequence[Question], read: Callable[[str], Reading], *, re_asks: int = 3
) -> Generator[Sequence[Question], Sequence[Reply], list[Reading | Unreadable]]:
    """What the replies say: `read` makes it of a text, or raises Unreadable.

    A question whose reply cannot be read is put again, `re_asks` times at most, under a name of its
    own (`name?1`): `readings = yield from put(...)`. What is unreadable to the end stays so.
    """
    found: list[Reading | Unreadable] = [Unreadable("not asked")] * len(questions)
    left = list(range(len(questions)))
    for time in range(re_asks + 1):
        suffix = f"?{time}" if time else ""
        asked = [
            msgspec.structs.replace(questions[at], name=questions[at].name + suffix) for at in left
        ]
        replies = yield asked
        for at, reply in zip(left, replies, strict=True):
            found[at] = _reading(reply, read)
        left = [at for at in left if isinstance(found[at], Unreadable)]
        if not left:
            break
    return found


def _reading(reply: Reply, read: Callable[[str], Reading]) -> Reading | Unreadable:
    if reply.text is None:
        return Unreadable(reply.reason or "no reply")
    try:
        return read(reply.text)
    except Unreadable as exc:
        return exc
    except RecursionError:
        return Unreadable("nested too deeply")
