"""An adapter that does as it is told, and the calls of it that tests look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from vgen_eval import BaseAdapter, NoOptions, Output, Request
from vgen_eval.cards.records import Limits
from vgen_eval.engine.calls import Caller
from vgen_eval.engine.stopping import Stop
from vgen_eval.engine.tries import Call

__all__ = ["Act", "Acting", "Served", "answer", "call_all", "raising", "requests", "statuses"]

Act = Callable[[Request, int], Any]


class Acting(BaseAdapter):
    """Does for each request what `act(request, call number)` says; notes the calls."""

    def __init__(self, act: Act) -> None:
        super().__init__(NoOptions())
        self.act = act
        self.calls: list[list[str]] = []

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        self.calls.append([request.id for request in requests])
        number = len(self.calls)
        for request in requests:
            yield from self.act(request, number)


def answer(request: Request, _number: int = 0) -> list[Output]:
    return [Output(id=request.id, answer=request.id)]


def requests(count: int) -> list[Request]:
    return [
        Request(
            id=f"r{n}", sample=f"r{n}", attempt=0, family="f", form="text", prompt="", images=()
        )
        for n in range(count)
    ]


def call_all(
    adapter: Any, count: int = 1, *, stop: Stop | None = None, **limits: Any
) -> list[Call]:
    read = Limits(**{"backoff_s": 0.0, "tries": 3, **limits})
    return list(Caller(adapter, read, stop=stop)(requests(count)))


def statuses(found: list[Call]) -> dict[str, str]:
    assert len({call.request.id for call in found}) == len(found)
    return {call.request.id: call.status for call in found}


def raising(fault: BaseException) -> Act:
    def act(request: Request, _number: int) -> Iterator[Output]:
        raise fault
        yield

    return act


class Served(Acting):
    """The same behind a service."""

    endpoint = "service.example"
