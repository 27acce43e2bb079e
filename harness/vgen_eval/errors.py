"""Every error the harness raises on purpose, as one tree.

VgenEvalError                 what went wrong, and the cure; knows its exit code
|-- UsageError            (2) an unknown name, a bad option, a setting that cannot be
|-- CardError             (2) a card or a run file that breaks its schema: all problems at once
|-- NotRunnable           (3) something named exactly cannot run here
|   |-- MissingExtra          an optional library: the exact pip command
|   |-- MissingData           a data root or a file of the data set
|   |-- MissingKey            an environment variable
|   |-- AccessDenied          a service that takes no call of ours: 401, 403, 404, no credit left
|   |-- BrokenPlugin          a plugin that raised, exited or is malformed
|   `-- RunLocked             another process writes this run
|-- StorageError          (1) the disk is full or the run directory cannot be written
`-- CallError                 what one model call came to; data, never the end of a run
    |-- RateLimited           try again after a while
    |-- Transient             try again
    |-- Refused               the model declined; not tried again
    `-- NoPrediction          imported predictions hold nothing for this attempt
Undecodable, NoValidTarget, BadSample, Unreadable, JudgeError: what one sample came to; data as well
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from vgen_eval.types import Usage

__all__ = [
    "AccessDenied",
    "BadSample",
    "BrokenPlugin",
    "CallError",
    "CardError",
    "JudgeError",
    "MissingData",
    "MissingExtra",
    "MissingKey",
    "NoPrediction",
    "NoValidTarget",
    "NotRunnable",
    "Problem",
    "RateLimited",
    "Refused",
    "RunLocked",
    "StorageError",
    "Transient",
    "Undecodable",
    "Unreadable",
    "UsageError",
    "VgenEvalError",
    "nearest",
]


def nearest(name: str, known: Iterable[str], *, limit: int = 3) -> str:
    """ " Nearest: a, b" for a message about an unknown name; "" when nothing is near."""
    import difflib

    pool = sorted(set(known))
    near = [candidate for candidate in pool if name and name in candidate]
    near.sort(key=lambda found: found.rpartition("/")[2] != name)  # samples/depth before depth/...
    near += [c for c in difflib.get_close_matches(name, pool, n=limit, cutoff=0.5) if c not in near]
    return f" Nearest: {', '.join(near[:limit])}" if near else ""


class VgenEvalError(Exception):
    """An error with a cause and, where one is known, a cure; `exit_code` is the CLI's."""

    exit_code: ClassVar[int] = 4

    def __init__(self, what: str, *, cure: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.cure = cure


class UsageError(VgenEvalError):
    """An unknown name, a bad option or a setting that cannot be."""

    exit_code = 2


class Problem:
    """One fault of a card: where it stands and what is wrong."""

    __slots__ = ("file", "line", "message", "path")

    def __init__(self, message: str, *, file: str, line: int | None = None, path: str = "") -> None:
        self.message = message
        self.file = file
        self.line = line
        self.path = path

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.path}: {self.message}" if self.path else f"{where}: {self.message}"


class CardError(VgenEvalError):
    """All faults found in a card, each with file, line and key."""

    exit_code = 2

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        more = f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
        file = self.problems[0].file
        named = file if file.endswith(".yaml") else "CARD, of the card that names it,"
        super().__init__(
            f"{self.problems[0]}{more}", cure=f"vgen-eval check {named} lists every problem"
        )


class NotRunnable(VgenEvalError):
    """Something named exactly cannot run on this machine."""

    exit_code = 3


class MissingExtra(NotRunnable):
    """An optional library is not installed."""

    def __init__(self, extra: str) -> None:
        super().__init__(
            f"this needs the extra '{extra}'", cure=f"pip install 'vgen-eval[{extra}]'"
        )


class MissingData(NotRunnable):
    """The data of a task is not where it was looked for."""


class MissingKey(NotRunnable):
    """An environment variable that holds a key is not set."""

    def __init__(self, variable: str) -> None:
        super().__init__(f"{variable} is not set", cure=f"export {variable}=...")


class AccessDenied(NotRunnable):
    """A service that will take no call of this run: a wrong key, an unknown model, no credit.

    Raised by adapters; it ends the model's run, and what is finished stays.
    """


class BrokenPlugin(NotRunnable):
    """A plugin could not be imported, or does not keep to the contract."""


class RunLocked(NotRunnable):
    """Another process is writing this run."""


class StorageError(VgenEvalError):
    """The run directory cannot be written; what was written before is intact."""

    exit_code = 1


class CallError(VgenEvalError):
    """What one model call came to, raised by adapters and handled by the engine.

    `usage` and `request_id`: what a call that gave no answer was billed for all the same.
    """

    def __init__(
        self, what: str, *, usage: Usage | None = None, request_id: str | None = None
    ) -> None:
        super().__init__(what)
        self.usage = usage
        self.request_id = request_id


class RateLimited(CallError):
    """The provider asks to wait; `retry_after` in seconds, None when it did not say."""

    def __init__(
        self,
        what: str = "rate limited",
        *,
        retry_after: float | None = None,
        usage: Usage | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(what, usage=usage, request_id=request_id)
        self.retry_after = retry_after


class Transient(CallError):
    """A fault that may pass: a dropped connection, a 500."""


class Refused(CallError):
    """The model or its provider declined, with the provider's reason."""


class NoPrediction(CallError):
    """Imported predictions hold nothing for this attempt."""


class Undecodable(VgenEvalError):
    """An answer that cannot be read as a measurement; the message says why.

    `kind`: in one word what it is at fault of, where such faults are counted by kind.
    """

    kind: str = ""


class Unreadable(VgenEvalError):
    """A judge's reply that says nothing of what it was asked; the message says why."""


class JudgeError(VgenEvalError):
    """A judge that came to no measurement; the message says why. The attempt gets no score."""


class NoValidTarget(VgenEvalError):
    """A sample whose ground truth holds nothing to score."""


class BadSample(VgenEvalError):
    """A sample whose own files or fields are faulty."""
