"""What adapters build on: a base with defaults, and the adapter of a plain function."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from vgen_eval.cards.records import ModelCard
from vgen_eval.secrets import read_secret
from vgen_eval.types import AnswerForm, NoOptions, Output, Request

__all__ = ["BaseAdapter", "FunctionAdapter", "function_card"]

Stub = Mapping[str, Any] | Callable[[ModelCard, Path], AbstractContextManager[Mapping[str, Any]]]


class BaseAdapter:
    """Defaults of an adapter: one request a call, one call at a time, nothing to load.

    Built as `Adapter(options, card=, device=)`; subclasses write `generate`.
    """

    version: ClassVar[int] = 1
    """Raised when a change of the adapter's code changes answers."""
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = ()
    """Answer forms it can give, for models named without a card."""
    extra: ClassVar[str | None] = None
    """Extra of vgen-eval that it needs, for models named without a card."""
    key_env: ClassVar[str | None] = None
    """Environment variable of its own provider's key, for models named without a card."""
    timeout_s: ClassVar[float | None] = None
    """Seconds a call may take per request where the card says nothing; None: no limit."""
    stub: ClassVar[Stub | None] = None
    """Options under which it loads no weights of the card and still answers in every form, for
    `vgen-eval check plugin`; they go over the card's. Where they need something made first (a
    tiny model, a server on loopback): a static method `stub(card, folder)`, a context manager
    that makes it in the folder and gives the options. None: it has no such options."""
    max_batch: int = 1
    concurrency: int = 1
    deterministic: bool = True
    endpoint: str | None = None
    """host[:port] of the service that it calls; None: the model runs here."""

    @classmethod
    def identify(cls, options: Any, card: ModelCard) -> Mapping[str, Any]:  # noqa: ARG003
        """What of the model the card leaves open and can change an answer: JSON, part of its
        identity. The commit of a floating revision, the contents of a local folder, versions of
        libraries. Asked before every run and for `--dry-run`; nothing is loaded."""
        return {}

    @classmethod
    def lacks(cls, options: Any, card: ModelCard) -> Sequence[str]:  # noqa: ARG003
        """What of its own keeps the model from running here, each with its cure, for `show`:
        a program that is not there. Nothing is loaded, built or called; extras, keys and device
        memory are told without it."""
        return ()

    def __init__(
        self, options: Any, *, card: ModelCard | None = None, device: str | None = None
    ) -> None:
        self.options = options
        self.card = card
        self.device = device

    @property
    def timeout(self) -> float | None:
        """Seconds a call may take per request: the card's limit, or this adapter's."""
        limit = None if self.card is None else self.card.limits.timeout_s
        return self.timeout_s if limit is None else limit

    def key(self) -> str | None:
        """The key that the card's `needs.key_env` names; None when it names none.

        MissingKey when the variable is not set. From then on the key is cut out of all that is
        kept or shown.
        """
        name = None if self.card is None else self.card.needs.key_env
        return None if name is None else read_secret(name)

    def load(self) -> None:
        """Gets ready: weights, connections. Called once, before the first request."""

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """Outputs for the requests; the one method that must be written."""
        raise NotImplementedError(f"{type(self).__name__}.generate")

    def close(self) -> None:
        """Lets go of what `load` took. Called once, after the last request."""


class FunctionAdapter(BaseAdapter):
    """Drives a plain function: request -> answer."""

    def __init__(self, function: Callable[[Request], Any]) -> None:
        super().__init__(NoOptions())
        self.function = function

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """One call of the function a request."""
        for request in requests:
            yield Output(id=request.id, answer=self.function(request))


def function_card(
    function: Callable[[Request], Any], *, name: str | None, forms: Sequence[AnswerForm]
) -> ModelCard:
    """The model card of a plain function.

    Its identity holds a digest of the function's own code, default values and closure. What it
    calls, and what globals hold, is not seen.
    """
    state = repr(_stable(function))
    return ModelCard(
        model=name or getattr(function, "__name__", "function").strip("<>_").lower() or "function",
        adapter="function",
        answers=tuple(forms),
        options={"code": hashlib.sha256(state.encode()).hexdigest()[:16]},
        licence="unknown",
        availability="code",
    )


def _stable(value: Any, seen: frozenset[int] = frozenset()) -> Any:
    """The value in a shape whose repr is equal in every process and tells unlike ones apart.

    `seen`: the objects that hold this one; a function may close over itself.
    """
    if isinstance(value, (str, int, float, complex, bool, type(None), type(...))):
        return repr(value)
    if isinstance(value, bytes):  # a function may close over many megabytes
        return "bytes", hashlib.sha256(value).hexdigest()
    if hasattr(value, "co_code"):
        return value.co_code, value.co_names, _stable(value.co_consts, seen)
    if id(value) in seen:
        return "itself"
    seen |= {id(value)}
    if isinstance(value, (set, frozenset)):  # their order hangs on the process's hash seed
        return sorted(repr(_stable(entry, seen)) for entry in value)
    if isinstance(value, dict):
        return sorted((repr(key), repr(_stable(entry, seen))) for key, entry in value.items())
    return [_stable(part, seen) for part in _parts(value)]


def _parts(value: Any) -> Sequence[Any]:
    """What tells an object from others of its type, as far as that can be seen."""
    if isinstance(value, (tuple, list)):
        return value
    if hasattr(value, "__func__"):  # a bound method
        return value.__func__, value.__self__
    if hasattr(value, "__code__"):  # a function
        cells = [cell.cell_contents for cell in value.__closure__ or () if not _is_empty(cell)]
        return value.__code__, value.__defaults__, value.__kwdefaults__, cells
    if isinstance(value, functools.partial):
        return value.func, value.args, value.keywords
    if hasattr(value, "dtype") and hasattr(value, "tobytes"):  # an array
        return str(value.dtype), str(value.shape), value.tobytes()
    if hasattr(value, "__wrapped__"):
        return (value.__wrapped__,)
    own = getattr(value, "__dict__", None)
    call = getattr(vars(type(value)).get("__call__"), "__code__", None)
    return type(value).__qualname__, call, own if isinstance(own, dict) else None


def _is_empty(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:  # a name that its function has not bound yet
        return True
    return False
