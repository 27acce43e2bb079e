"""A model card's adapter on the bench: built, loaded and asked, without the engine between."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgen_eval import cards
from vgen_eval.answers import AnswerFault, pack, unpack
from vgen_eval.cards.records import ModelCard
from vgen_eval.engine.models import adhoc_card
from vgen_eval.errors import (
    BrokenPlugin,
    CallError,
    CardError,
    MissingExtra,
    NotRunnable,
    RateLimited,
    Refused,
    Transient,
    UsageError,
)
from vgen_eval.testing import toys
from vgen_eval.testing.cures import OUTPUT, STUB, cure_of, cure_of_answer
from vgen_eval.testing.network import Attempts, block, unblock
from vgen_eval.testing.outcome import Failed, Skipped, Unavailable, tell
from vgen_eval.types import AnswerForm, NoOptions, Output, Request

if TYPE_CHECKING:
    from vgen_eval.testing.child import Printed
    from vgen_eval.testing.children import Spec

__all__ = ["ModelBench", "difference"]

BATCH = 4
"""The largest batch that is tried."""


class ModelBench:
    """Builds a model's adapter as a run does, its stub's options put in where it has one."""

    def __init__(self, spec: Spec, printed: Printed) -> None:
        from vgen_eval.plugins import Catalog

        self.catalog = Catalog.discover()
        self.plugin = self.catalog.plugin(spec.plugin)
        self.subject = spec.subject
        self.name = spec.subject.name or spec.subject.adapter
        self.printed = printed
        self.alive: Callable[[], None] = lambda: None
        """Tells that a step is done: time is measured from one to the next."""
        self.attempts = Attempts(beyond=[], here=[])
        self.pictures: tuple[str, ...] = toys.PICTURES
        """The ordinary ones that are asked about; fewer where an answer takes long."""
        self._stack = contextlib.ExitStack()
        self._declined: dict[str, dict[str, str]] = {}
        self.network_fault: BaseException | None = None
        self.has_answered = False

    @cached_property
    def card(self) -> ModelCard:
        """The model card, or the one of an adapter that is named without a card."""
        if self.subject.adapter and not self.subject.name:
            own = f"{self.plugin.name}:{self.subject.adapter}"
            try:
                return adhoc_card(self.catalog.component("adapter", own, home=self.plugin.name))
            except UsageError as exc:
                raise Unavailable("it names no answer forms, and no card uses it") from exc
        _, head = self.catalog.find("model", f"{self.plugin.name}:{self.name}")
        card = cards.load_card(head.path).record
        assert isinstance(card, ModelCard)
        return card

    @cached_property
    def kind(self) -> Any:
        """The adapter's class; what is needed to look at it must be there."""
        self.attempts = block()
        try:
            component = self.catalog.component("adapter", self.card.adapter, home=self.plugin.name)
        except BrokenPlugin:
            raise
        except NotRunnable as exc:
            raise Unavailable(_words(exc)) from exc
        except UsageError as exc:
            raise Unavailable(f"{exc.what}: see package::cards_valid") from exc
        if self.card.needs.key_env is not None and getattr(component.obj, "stub", None) is None:
            unblock()
        return component.obj

    @property
    def tried(self) -> list[str]:
        """Hosts beyond this machine that were tried."""
        return self.attempts.beyond

    @property
    def stub(self) -> Any:
        """Options under which the adapter loads no weights, or what makes them; None without."""
        return getattr(self.kind, "stub", None)

    @property
    def is_online(self) -> bool:
        """Is it asked for real, over the network?"""
        return self.card.needs.key_env is not None and self.stub is None

    @cached_property
    def is_light(self) -> bool:
        """May it be loaded again and again?"""
        return self.stub is not None or self.card.checkpoint is None

    @cached_property
    def given(self) -> Mapping[str, Any]:
        """The options of the stub, entered until `leave`."""
        stub = self.stub
        if stub is None or isinstance(stub, Mapping):
            return stub or {}
        try:
            folder = Path(tempfile.mkdtemp(prefix="stub-", dir=Path.cwd()))
            options = self._stack.enter_context(stub(self.card, folder))
        except MissingExtra as exc:
            raise Unavailable(_words(exc)) from exc
        except KeyboardInterrupt:
            raise
        except BaseException as exc:
            cure = cure_of(exc, package=self.plugin.package) or STUB
            raise Failed(f"its stub raised {tell(exc)}", cure=cure) from exc
        self.alive()
        if not isinstance(options, Mapping):
            raise Failed(f"its stub gave {type(options).__name__}, no options", cure=STUB)
        return options

    def leave(self) -> BaseException | None:
        """Leaves the stub; what that raised."""
        adapter = self.__dict__.pop("adapter", None)
        if adapter is not None:
            with contextlib.suppress(Exception):  # told by close_releases
                close(adapter)
        try:
            self._stack.close()
        except BaseException as exc:
            return exc
        return None

    @cached_property
    def options(self) -> Any:
        """The adapter's options: the card's, under the stub's; its key must be there."""
        given = self.given
        key = self.card.needs.key_env
        if key is not None and not os.environ.get(key):
            raise Unavailable(f"it needs a key: {key} is not set")
        self.printed_before = self.printed.size()
        kind = getattr(self.kind, "Options", None) or NoOptions
        own = cards.convert(kind, self.card.options, file=f"model {self.name}", path="options")
        if not given:
            return own
        try:
            return cards.convert(kind, {**self.card.options, **given}, file="stub", path="options")
        except CardError as exc:
            raise Failed(
                f"what its stub gives are no options of it: {exc.what}", cure=STUB
            ) from exc

    def build(self) -> Any:
        """The adapter, not loaded yet."""
        return self.kind(self.options, card=self.card, device="cpu")

    @cached_property
    def adapter(self) -> Any:
        """The adapter that the checks share, loaded."""
        adapter = self.build()
        try:
            load(adapter)
        except NotRunnable as exc:
            self.network_fault = exc if self.tried else None
            raise Unavailable(_words(exc)) from exc
        except Exception as exc:
            self.blame_network(exc)
            raise
        self.alive()
        return adapter

    def blame_network(self, exc: BaseException) -> None:
        """Unavailable when the fault came with an attempt to go online: `offline` tells of it."""
        if self.tried:
            self.network_fault = exc
            raise Unavailable(f"it wants the network ({self.tried[0]}): see offline") from exc

    @property
    def forms(self) -> tuple[AnswerForm, ...]:
        """The forms that the card declares; without those that cards_valid refuses already."""
        given = getattr(self.kind, "forms", None) or self.card.answers
        return tuple(form for form in self.card.answers if form in given) or self.card.answers

    def request(self, form: AnswerForm, name: str, **more: Any) -> Request:
        """A fresh request: nothing of it is shared with another."""
        settings = {k: v for k, v in self.card.generation.items() if k != "seed"}
        ideal = self.card.role == "ceiling"
        return toys.make_request(form, name, settings=settings, ideal=ideal, **more)

    def requests(self, form: AnswerForm) -> list[Request]:
        """The ordinary requests of a form that it does not decline; Skipped when none is left."""
        declined = self.declined(form)
        names = [name for name in self.pictures if name not in declined]
        if not names:
            raise Skipped(f"form {form}: every request was declined, see forms_honoured")
        return [self.request(form, name) for name in names]

    def declined(self, form: AnswerForm) -> dict[str, str]:
        """Sample -> what the adapter said when it declined an ordinary request about it."""
        if form not in self._declined:
            found: dict[str, str] = {}
            for name in self.pictures:
                try:
                    self.ask([self.request(form, name)])
                except CallError as exc:
                    if not self.declines(exc):
                        raise
                    found[name] = tell(exc)
            self._declined[form] = found
        return {k: said for k, said in self._declined[form].items() if k in self.pictures}

    def note_declined(self, form: AnswerForm, found: dict[str, str]) -> None:
        """Keep what `declined` would find out."""
        self._declined[form] = found

    def declines(self, exc: CallError) -> bool:
        """Is it the model's own word, and nothing that a connection or a key would change?"""
        if self.stub is not None:  # what it needs is here
            return isinstance(exc, (Refused, Transient, RateLimited)) and not self.tried
        if isinstance(exc, Refused):
            return not self.tried
        if not isinstance(exc, (Transient, RateLimited)) or self.card.needs.key_env is not None:
            return False
        return not self.attempts.beyond and not self.attempts.here

    def ask(self, requests: Sequence[Request], *, adapter: Any = None) -> list[Output]:
        """What one call gives."""
        given = (adapter or self.adapter).generate(list(requests))
        if not isinstance(given, Iterable):
            raise Failed(f"generate() gave {type(given).__name__}, no outputs", cure=OUTPUT)
        outputs = list(given)
        self.alive()
        return outputs

    def digests(self, form: AnswerForm, calls: Sequence[Sequence[Request]]) -> dict[str, Any]:
        """Sample -> the answer as it is kept, over several calls."""
        return {
            output.id.partition("#")[0]: keep(form, output.answer)
            for call in calls
            for output in self.ask(call)
        }

    def alone(self, form: AnswerForm) -> dict[str, Any]:
        """Sample -> its answer, each request in a call of its own."""
        return self.digests(form, [[request] for request in self.requests(form)])

    def compare(self, form: AnswerForm, a: dict[str, Any], b: dict[str, Any], words: str) -> None:
        """Failed, with the first sample whose answers differ; `words`: between what."""
        for sample, first in a.items():
            second = b.get(sample)
            if first != second:
                which = f", form {form}" if len(self.forms) > 1 else ""
                raise Failed(
                    f"sample '{sample}' differs between {words} "
                    f"({difference(form, first, second)}{which})"
                )


def load(adapter: Any) -> None:
    """As a run does it: an adapter need have no `load`."""
    if hasattr(adapter, "load"):
        adapter.load()


def close(adapter: Any) -> None:
    """As a run does it: an adapter need have no `close`."""
    if hasattr(adapter, "close"):
        adapter.close()


def keep(form: AnswerForm, answer: Any) -> Any:
    """The answer as a run keeps it; None for none."""
    if answer is None:
        return None
    try:
        return pack(form, answer)
    except AnswerFault as exc:
        cure = cure_of_answer(form, answer)
        raise Failed(f"form {form}: {exc.reason}", cure=cure) from exc


def difference(form: AnswerForm, a: Any, b: Any) -> str:
    """How two kept answers differ, in words."""
    if a is None or b is None:
        return "one of them is none"
    if a.data is None:
        return f"{a.value!r:.40} and {b.value!r:.40}"
    import numpy as np

    if form == "video":
        return f"{len(a.data)} and {len(b.data)} bytes"
    first, second = (np.asarray(unpack(form, data=kept.data)) for kept in (a, b))
    if first.shape != second.shape:
        return f"shapes {first.shape} and {second.shape}"
    most = np.nanmax(np.abs(first.astype(float) - second.astype(float)))
    return f"max {most:.4g} {'levels' if form == 'image' else 'apart'}"


def _words(exc: NotRunnable) -> str:
    return f"{exc.what} ({exc.cure})" if exc.cure else exc.what
