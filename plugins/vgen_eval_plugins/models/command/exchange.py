"""One call and what the program says to it: answers in any order, errors, lines that are broken."""

from __future__ import annotations

from collections.abc import Sequence, Set

from vgen_eval.errors import CallError
from vgen_eval.types import Output, Request

from vgen_eval_plugins.models.command import protocol
from vgen_eval_plugins.models.command.lines import Bad, Message, Strays
from vgen_eval_plugins.models.service import words

__all__ = ["Exchange"]


class Exchange:
    """The requests of a call that are still open, and the faults met so far.

    A broken line may belong to any open request. So the call goes on until no more are open than
    lines were broken: those are the requests that will hear nothing.
    """

    def __init__(
        self, requests: Sequence[Request], *, asked: Set[str], name: str | None, strays: Strays
    ) -> None:
        """`asked`: every id that the program was asked, now or before; `name`: of the model."""
        self._open = {request.id: request for request in requests}
        self._asked = asked
        self._name = name
        self._strays = strays
        self._faults: list[CallError] = []
        self._broken: list[str] = []

    @property
    def is_waiting(self) -> bool:
        """May an answer still come?"""
        return len(self._open) > len(self._broken)

    def take(self, said: Message | Bad) -> Output | None:
        """The output in a message, None where it holds none."""
        if isinstance(said, Bad):
            self._broken.append(said.reason)
            return None
        name = said.get("id")
        if name is None and said["type"] == "error":
            self._faults += [protocol.fault_of(said, self._strays)] * bool(self._open)
            self._open.clear()  # of the whole call
            return None
        request = self._open.pop(name, None) if isinstance(name, str) else None
        if request is None:
            self._misaddressed(said, name)
            return None
        return self._read(said, request)

    def _read(self, said: Message, request: Request) -> Output | None:
        try:
            if said["type"] == "answer":
                return protocol.output_of(said, request, self._strays, name=self._name)
            if said["type"] == "error":
                self._faults.append(protocol.fault_of(said, self._strays))
            else:
                self._faults.append(CallError(protocol.unknown_type(said)))
        except CallError as exc:
            self._faults.append(exc)
        return None

    def _misaddressed(self, said: Message, name: object) -> None:
        kind = said["type"]
        if isinstance(name, str) and name in self._asked:
            self._strays.note("second or late answers", f"{kind} to '{words(name, longest=80)}'")
        elif kind in ("answer", "error"):
            shown = words(repr(name), longest=80)
            self._broken.append(f"an {kind} with the id {shown}, which was not asked")
        else:
            self._strays.note(protocol.unknown_type(said), "")

    def check(self) -> None:
        """Raises what went wrong, once nothing more is waited for."""
        if self._faults:
            raise self._faults[0]
        if self._open:
            raise CallError(f"the program broke the protocol: {self._broken[-1]}")
