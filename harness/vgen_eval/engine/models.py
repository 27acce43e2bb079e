"""Models as a run needs them: card, adapter, identity."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval import cards, jsonio
from vgen_eval.adapters import BaseAdapter, FunctionAdapter, function_card
from vgen_eval.cards.records import ModelCard, Needs
from vgen_eval.distributions import HOME, LOCAL, home_of, name_with
from vgen_eval.errors import CardError, NotRunnable, Problem, StorageError, UsageError
from vgen_eval.secrets import redact
from vgen_eval.types import Adapter, AnswerForm, Request
from vgen_eval.wording import describe

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog, Component

__all__ = [
    "BOUNDS",
    "Model",
    "adhoc_card",
    "build_adapter",
    "from_function",
    "is_path",
    "name_bounds",
    "named_fault",
    "read_options",
    "resolve_model",
]

BOUNDS = ("ceiling", "floor")
"""Roles of the models that stand beside a score."""


NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A model ready to be run: its card with overrides applied, and how to build its adapter."""

    name: str
    distribution: str
    card: ModelCard
    adapter: str
    """Qualified name of the adapter."""
    adapter_version: str
    build: Callable[[str | None], Adapter]
    card_digest: str
    options: Mapping[str, Any] | None = None
    """The adapter's options that can change an answer; None: all that the card names."""
    facts: Mapping[str, Any] = {}
    """What of it the card leaves open and the adapter found out: part of its identity."""
    trusted: bool = True
    """Is what its card says the user's word, or ours? Not that of a plugin or a file."""
    reusable: bool = True
    """May its answers be taken from another run by request digest?"""
    fresh: bool = False
    """Is each run a new one, because nothing vouches for the model being the same?"""

    @property
    def folder(self) -> str:
        """Its part of a run's path."""
        return name_with(self.distribution, self.name, between="/")

    @property
    def qualified(self) -> str:
        """distribution:name."""
        return f"{self.distribution}:{self.name}"

    @property
    def missing_key(self) -> str | None:
        """The environment variable that its card asks for and that is not set."""
        name = self.card.needs.key_env
        return name if name and not os.environ.get(name) else None

    def identity(self) -> dict[str, Any]:
        """All of the model that can change an answer."""
        card = cards.identity(self.card)
        if self.options is not None:
            card.pop("options", None)
            card |= {"options": dict(self.options)} if self.options else {}
        found = {
            "model": self.qualified,
            "card": card,
            "adapter": self.adapter,
            "adapter_version": self.adapter_version,
        }
        return {**found, "facts": dict(self.facts)} if self.facts else found

    def identity_digest(self) -> str:
        """sha256 of the identity."""
        return jsonio.digest(self.identity())


def name_bounds(catalog: Catalog) -> dict[str, str]:
    """ceiling, floor -> the built-in model of that role: known by role, never by name."""
    found: dict[str, str] = {}
    for plugin, head in catalog.heads("model"):
        if plugin.builtin:
            role = getattr(cards.load_card(head.path).record, "role", "")
            if role in BOUNDS:
                found.setdefault(role, f"{plugin.name}:{head.name}")
    return found


def is_path(name: str) -> bool:
    """A name is a path only if it ends in .yaml or starts with . or /."""
    return name.endswith(".yaml") or name.startswith((".", "/", "~"))


def resolve_model(
    name: str,
    catalog: Catalog,
    *,
    options: Mapping[str, Any],
    overrides: Mapping[str, Any],
    notices: list[str],
) -> Model:
    """The model of that name: a card, a card file, or an adapter with options.

    `options` are the adapter's (-M); `overrides` dotted card fields (--set). Raises UsageError
    for unknown names, CardError for bad options, NotRunnable for what cannot run here.
    """
    if is_path(name):
        path = Path(name).expanduser()
        if not path.is_file():
            raise UsageError(f"no card file '{name}'")
        loaded = cards.load_card(path)
        distribution = LOCAL
    else:
        try:
            plugin, head = catalog.find("model", name, notices=notices)
        except UsageError:
            component = _adapter_of_that_name(name, catalog)
            if component is None:
                raise
            adhoc = adhoc_card(component, {**_as_options(overrides), **options})
            digest, distribution = cards.card_digest(adhoc), component.dist
            return _assemble(
                adhoc, component, options, overrides, digest, distribution, trusted=True
            )
        loaded = cards.load_card(head.path)
        distribution = plugin.name
    card = loaded.record
    if not isinstance(card, ModelCard):
        raise UsageError(f"{name} is a {loaded.kind} card, not a model card")
    if not card.runnable:
        raise NotRunnable(f"model '{name}' cannot be run: {card.reason or 'no reason given'}")
    home = home_of(distribution)
    component = catalog.component("adapter", card.adapter, home=home)
    return _assemble(
        card, component, options, overrides, loaded.card_digest, distribution,
        trusted=distribution == HOME, folder=loaded.path.parent,
    )  # fmt: skip


def _as_options(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The adapter's options among dotted card fields."""
    prefix = "options."
    return {k.removeprefix(prefix): v for k, v in overrides.items() if k.startswith(prefix)}


def _adapter_of_that_name(name: str, catalog: Catalog) -> Component | None:
    try:
        return catalog.component("adapter", name, home=HOME)
    except UsageError:
        return None


def adhoc_card(component: Component, options: Mapping[str, Any] = NO_OPTIONS) -> ModelCard:
    """The card of an adapter that is named itself.

    Its provider's key is used as long as its provider is called: another address gets none.
    """
    forms = tuple(getattr(component.obj, "forms", ()))
    if not forms:
        raise UsageError(
            f"adapter '{component.qualified}' names no answer forms: give a model card instead"
        )
    key_env = None if options.get("base_url") else getattr(component.obj, "key_env", None)
    return ModelCard(
        model=component.name.lower(),
        adapter=component.qualified,
        answers=forms,
        needs=Needs(extra=getattr(component.obj, "extra", None), key_env=key_env),
        licence="unknown",
    )


def _assemble(
    card: ModelCard,
    component: Component,
    options: Mapping[str, Any],
    overrides: Mapping[str, Any],
    digest: str,
    distribution: str,
    *,
    trusted: bool,
    folder: Path | None = None,
) -> Model:
    changed = {f"options.{key}": value for key, value in options.items()} | dict(overrides)
    if changed:
        card = cards.override(card, changed)
    seed = card.generation.get("seed", 0)
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise UsageError(f"generation.seed is a whole number, {seed!r} seen")
    kind = component.obj
    read = read_options(kind, card, folder=folder)
    version = str(getattr(kind, "version", 1))
    if component.dist != HOME:
        version += f" of {component.dist} {component.dist_version}"
    return Model(
        name=card.model,
        distribution=distribution,
        card=card,
        adapter=component.qualified,
        adapter_version=version,
        build=lambda device: _build(kind, read, card, device),
        card_digest=digest,
        options=cards.identity(read),
        facts=_identify(kind, read, card),
        trusted=trusted,
        reusable=card.role == "model",
    )


def read_options(kind: Any, card: ModelCard, *, folder: Path | None = None) -> msgspec.Struct:
    """The card's options as the adapter's record, CardError with every fault.

    An option `folder` that is not given means the folder of the card, where there is a file of it.
    """
    options: msgspec.Struct = cards.convert(
        getattr(kind, "Options", None) or BaseAdapter.Options,
        card.options,
        file=f"model {card.model}",
        path="options",
    )
    if folder is not None and getattr(options, "folder", "") is None:
        return msgspec.structs.replace(options, folder=str(folder.resolve()))
    return options


def _identify(kind: Any, options: Any, card: ModelCard) -> Mapping[str, Any]:
    """What the adapter says of the model beyond its card; NotRunnable when it cannot say."""
    identify = getattr(kind, "identify", None)
    if identify is None:
        return {}
    with named_fault(f"model '{card.model}' cannot be identified"):
        facts = jsonio.plain(identify(options, card), "identify")
        if not isinstance(facts, dict):
            raise TypeError(f"a mapping is wanted, {type(facts).__name__} given")
        return facts


@contextlib.contextmanager
def named_fault(what: str) -> Iterator[None]:
    """What an adapter raises within, SystemExit too, ends its model's run with a named cause."""
    try:
        yield
    except (CardError, NotRunnable, StorageError, UsageError, KeyboardInterrupt):
        raise
    except BaseException as exc:
        raise NotRunnable(
            redact(f"{what}: {describe(exc)}"), cure="see the log for the traceback"
        ) from exc


def build_adapter(model: Model, device: str | None) -> Adapter:
    """The model's adapter, not loaded yet; NotRunnable when its own code fails."""
    with named_fault(f"model '{model.name}' cannot be loaded"):
        return model.build(device)


def _build(kind: Any, options: Any, card: ModelCard, device: str | None) -> Adapter:
    adapter = kind(options, card=card, device=device)
    for attribute in ("generate", "max_batch", "concurrency", "deterministic"):
        if not hasattr(adapter, attribute):
            raise CardError(
                [Problem(f"the adapter has no '{attribute}'", file=f"model {card.model}")]
            )
    return adapter  # type: ignore[no-any-return]


def from_function(
    function: Callable[[Request], Any], *, name: str | None, forms: Sequence[AnswerForm]
) -> Model:
    """A plain function, request -> answer, as a model.

    Without a name it is asked anew each time: what it calls may have changed unseen. A name
    vouches for it, and its runs are resumed while its own code and what it holds are the same:
    an object that counts its calls is another model after them.
    """
    if not forms:
        raise UsageError('a plain function needs its answer forms: evaluate(forms=["image"], ...)')
    # read like any card: a name becomes a path, a form a key
    made = msgspec.to_builtins(function_card(function, name=name, forms=forms))
    card = cards.convert(ModelCard, made, file="a plain function")
    return Model(
        name=card.model,
        distribution=LOCAL,
        card=card,
        adapter="function",
        adapter_version="1",
        build=lambda _device: FunctionAdapter(function),
        card_digest=cards.card_digest(card),
        reusable=False,
        fresh=name is None,
    )
