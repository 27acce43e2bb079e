"""What the adapters of services share: who is called, with which key, one request a call."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from vgen_eval.adapters import BaseAdapter
from vgen_eval.cards.records import ModelCard
from vgen_eval.errors import CallError, UsageError
from vgen_eval.remote import endpoint_of, is_loopback
from vgen_eval.types import Output, Request

from vgen_eval_plugins.models.parts import UNFORCED, has_prefix, shown, sound
from vgen_eval_plugins.models.payloads import ImageFormat
from vgen_eval_plugins.models.service import Service, hush
from vgen_eval_plugins.models.wire import Line

__all__ = ["NO_KEY", "Forcible", "ServiceAdapter", "ServiceOptions", "planted_key", "prompt_of"]

log = logging.getLogger(__name__)

NO_KEY = "none"
"""What an SDK gets where the card names no key: it would look for one in the environment."""


class ServiceOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How any service is called."""

    model: Annotated[
        str | None, msgspec.Meta(description="Name at the service; null: the card's checkpoint.")
    ] = None
    base_url: Annotated[str, msgspec.Meta(description="Address of the service.")]
    concurrency: Annotated[
        int,
        msgspec.Meta(
            description="Calls at once at most.", ge=1, le=1000, extra={"provenance": True}
        ),
    ] = 8
    image_format: Annotated[
        ImageFormat, msgspec.Meta(description="How pictures are sent: png is exact, jpeg smaller.")
    ] = "png"
    prefill: Annotated[
        Literal["no", "shown", "forced"],
        msgspec.Meta(description="What becomes of a turn that a protocol begins for the model."),
    ] = "no"
    extra_body: Annotated[
        Mapping[str, Any],
        msgspec.Meta(description="Further fields of every call, for what the SDK leaves out."),
    ] = {}


Forcible = Annotated[
    Literal["no", "forced"],
    msgspec.Meta(
        description="Where a protocol begins the model's turn for it: forced, that turn is sent, "
        "and this model goes on with it; no, it is left out, since newer models refuse it, and "
        "the answer is flagged prefix_not_forced."
    ),
]
"""`prefill` of services of which each model either goes on with a turn or refuses one."""


class ServiceAdapter(BaseAdapter):
    """Calls a service, with no try but the engine's; subclasses write `load` and `answer`."""

    options: ServiceOptions

    extra: ClassVar[str | None] = "api"
    timeout_s: ClassVar[float | None] = 600.0
    deterministic = False

    def __init__(
        self, options: ServiceOptions, *, card: ModelCard | None = None, device: str | None = None
    ) -> None:
        super().__init__(options, card=card, device=device)
        self.endpoint = endpoint_of(options.base_url)
        self.concurrency = options.concurrency
        checkpoint = None if card is None else card.checkpoint
        self.model = options.model or (checkpoint.repo if checkpoint else None)
        self._line: Line | None = None
        self._client: Any = None

    @property
    def generation(self) -> Mapping[str, Any]:
        """The card's call arguments, without the base of the seeds."""
        given = {} if self.card is None else self.card.generation
        return {name: value for name, value in given.items() if name != "seed"}

    @property
    def sends_seed(self) -> bool:
        """Only where the card names a base of the seeds: not every service takes one."""
        return self.card is not None and "seed" in self.card.generation

    @property
    def line(self) -> Line:
        """The line to the service, once there is one."""
        if self._line is None:
            raise CallError("the adapter is not loaded")
        return self._line

    def connect(self, name: str, *, loggers: Sequence[str]) -> tuple[Line, str | None]:
        """A line to the service, and the key; `name`: the adapter's, `loggers`: the SDK's.

        UsageError where no model is named, MissingKey where the variable is not set.
        """
        if self.model is None:
            raise UsageError(
                f"{name}: no model is named", cure="-M model=NAME, or options: {model}"
            )
        hush(*loggers, "httpx", "httpx2", "httpcore", "httpcore2")
        key_env = None if self.card is None else self.card.needs.key_env
        service = Service(host=self.endpoint or "", model=self.model, key_env=key_env)
        key = self.key()
        in_clear = self.options.base_url.lower().startswith("http:")
        if key is not None and in_clear and not is_loopback(service.host):
            log.warning("%s: plain http shows the key in %s on the way", service.host, key_env)
        self._line = Line(service, seconds=self.timeout)
        return self._line, key

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """One call a request."""
        _ = self.line  # CallError before `load` and after `close`
        for request in requests:
            if all(isinstance(part, str) and not part.strip() for part in shown(request)):
                raise CallError("the request holds neither a picture nor a word")
            if request.choice_scoring.startswith("closed_set"):
                raise CallError(
                    "the protocol scores choices by all of their tokens, and a service gives the "
                    "probabilities of the first token alone: ask for words (--answer text)"
                )
            output = self.answer(request)
            if request.prefix and not self.forces_prefix(request):
                flags = (*output.flags, UNFORCED)
                output = msgspec.structs.replace(output, flags=flags)
            yield output

    def forces_prefix(self, request: Request) -> bool:
        """Does the model go on with the turn that the request begins?"""
        return has_prefix(request) and self.options.prefill == "forced"

    def answer(self, request: Request) -> Output:
        """What one call came to."""
        raise NotImplementedError(f"{type(self).__name__}.answer")

    def close(self) -> None:
        """Closes the client's connections."""
        if self._line is not None:
            self._line.close()
            self._line = self._client = None


def prompt_of(request: Request) -> str:
    """The prompt as JSON can carry it: a lone surrogate is no text."""
    return sound(request.prompt)


@contextlib.contextmanager
def planted_key(card: ModelCard) -> Iterator[str | None]:
    """The key that a stand-in asks for, put where the card looks for it; None: it names none."""
    name = card.needs.key_env
    if name:
        os.environ[name] = "stand-in-key-0123456789"
    yield os.environ[name] if name else None
