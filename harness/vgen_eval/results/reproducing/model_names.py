"""The models of a table: their cards, whether they can be run here or not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from vgen_eval import cards
from vgen_eval.cards.records import ModelCard
from vgen_eval.engine.models import HOME, LOCAL, Model, is_path, read_options
from vgen_eval.errors import UsageError, VgenEvalError

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["NamedModel", "find_model", "pair_options"]


class NamedModel(msgspec.Struct, frozen=True):
    """A model card that a table names."""

    word: str
    """As the table names it."""
    distribution: str
    card: ModelCard

    def as_model(self) -> Model:
        """It as a model that answers nothing."""
        return Model(
            name=self.card.model,
            distribution=self.distribution,
            card=self.card,
            adapter=self.card.adapter,
            adapter_version="",
            build=_no_adapter,
            card_digest="",
        )


def _no_adapter(_device: str | None) -> NoReturn:
    raise UsageError("comparing asks no model")


def find_model(name: str, catalog: Catalog) -> NamedModel:
    """The card of that name, a file's or an installed one's, runnable or not.

    UsageError with the nearest; CardError for a file that is no card.
    """
    if is_path(name):
        path, distribution = Path(name).expanduser(), LOCAL
        if not path.is_file():
            raise UsageError(f"no card file '{name}'")
    else:
        plugin, head = catalog.find("model", name)
        path, distribution = head.path, plugin.name
    loaded = cards.load_card(path)
    if not isinstance(loaded.record, ModelCard):
        raise UsageError(f"{name} is a {loaded.kind} card, not a model card")
    return NamedModel(name, distribution, loaded.record)


def pair_options(
    model: NamedModel, ours: Mapping[str, Any], catalog: Catalog
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of the model's card, and those of a run: where either is no default.

    Options that cannot change an answer are left out. As they are written, where its adapter is
    not installed or does not take them.
    """
    own = model.card.options
    home = HOME if model.distribution == LOCAL else model.distribution
    try:
        kind = catalog.component("adapter", model.card.adapter, home=home).obj
        read = [
            read_options(kind, msgspec.structs.replace(model.card, options=dict(options)))
            for options in (own, ours)
        ]
    except VgenEvalError:
        return dict(own), dict(ours)
    named = {key for options in read for key in cards.identity(options)}
    first, second = (
        {key: value for key, value in msgspec.to_builtins(options).items() if key in named}
        for options in read
    )
    return first, second
