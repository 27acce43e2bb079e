"""A judge that asks several times what number an answer says."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import ClassVar

import msgspec
from vgen_eval.errors import JudgeError, Unreadable
from vgen_eval.judging import Asking, Case, Question, put
from vgen_eval.types import Prediction

PROMPT = "What number is said in '{answer}'?"


class Votes:
    """The median of the numbers that the replies say; JudgeError where none says any."""

    version: ClassVar[int] = 1

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        rounds: int = 3
        re_asks: int = 1
        doubt: bool = False
        behaviour: str = ""
        """What it does wrong about the second sample."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def judge(self, case: Case) -> Asking:
        answer = case.prediction.value
        if self.options.behaviour and case.sample == "s001":
            return (yield from self._misbehave(case))
        questions = [
            Question(
                name=f"vote/{at}", round=at, parts=(PROMPT.format(answer=answer), *case.images)
            )
            for at in range(self.options.rounds)
        ]
        votes = yield from put(questions, _number, re_asks=self.options.re_asks)
        said = [vote for vote in votes if not isinstance(vote, Unreadable)]
        if not said:
            raise JudgeError("no vote can be read")
        if self.options.doubt:
            yield [Question(name="sure", parts=("Are you sure?",))]
        return Prediction(value=statistics.median(said), flags=("judged",), summary={"votes": said})

    def _misbehave(self, case: Case) -> Asking:
        behaviour = self.options.behaviour
        if behaviour == "raise":
            1 / 0  # noqa: B018
        if behaviour == "exit":
            raise SystemExit(3)
        if behaviour == "recursion":
            return (yield from self._misbehave(case))
        while behaviour == "forever":
            yield []
        while behaviour == "twice":
            yield [Question(name="vote/0", parts=("said in '1.0'",))]
        return None  # type: ignore[return-value]

    def prompts(self) -> Mapping[str, str]:
        return {"vote": PROMPT}

    def expected_calls(self) -> float:
        return self.options.rounds


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Unreadable(f"no number: {text[:20]}") from None
