"""The models of a table: their cards, whether they can be run here or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from vgen_eval import cards
from vgen_eval.cards.records import ModelCard
from vgen_eval.distributions import IMPORTED, LOCAL, home_of
from vgen_eval.engine.models import Model, is_path, read_options
from vgen_eval.errors import UsageError, VgenEvalError, nearest

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Brought", "NamedModel", "find_model", "how_to_bring", "no_models", "pair_options"]

Brought = Callable[[], Mapping[str, tuple[str, ...]]]
"""Gives name -> answer forms of the models that runs are here of, be there a card or not."""


def no_models() -> Mapping[str, tuple[str, ...]]:
    """Where no run is looked at."""
    return {}


class NamedModel(msgspec.Struct, frozen=True):
    """A model that a table names."""

    word: str
    """As the table names it."""
    distribution: str
    card: ModelCard
    is_brought: bool = False
    """Is it known by runs that are here alone: predictions, or a function without a card?"""

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


def find_model(name: str, catalog: Catalog, brought: Brought = no_models) -> NamedModel:
    """The card of that name, a file's or an installed one's, runnable or not.

    Where no card is so called, the model of that name that runs are here of. UsageError with the
    nearest; CardError for a file that is no card.
    """
    if is_path(name):
        path, distribution = Path(name).expanduser(), LOCAL
        if not path.is_file():
            raise UsageError(f"no card file '{name}'")
    else:
        try:
            plugin, head = catalog.find("model", name)
        except UsageError as exc:
            if name in (known := brought()):
                return _without_card(name, known[name])
            near = nearest(name, known) if "Nearest" not in exc.what else ""
            raise UsageError(
                exc.what + near, cure="vgen-eval list models shows those that have a card; "
                f"predictions take any name: {how_to_bring(name, 'TASK')}",
            ) from exc  # fmt: skip
        path, distribution = head.path, plugin.name
    loaded = cards.load_card(path)
    if not isinstance(loaded.record, ModelCard):
        raise UsageError(f"{name} is a {loaded.kind} card, not a model card")
    return NamedModel(name, distribution, loaded.record)


def _without_card(name: str, forms: tuple[str, ...]) -> NamedModel:
    card = {"model": name, "adapter": "predictions", "answers": list(forms), "licence": "unknown"}
    read = cards.convert(ModelCard, card, file="a run's model")
    return NamedModel(name, IMPORTED, read, is_brought=True)


def how_to_bring(name: str, task: str) -> str:
    """The command that scores predictions as the model of that name."""
    return f"vgen-eval score --task {task} --predictions DIR --model-name {name}"


def pair_options(
    model: NamedModel, ours: Mapping[str, Any], catalog: Catalog
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of the model's card, and those of a run: where either is no default.

    Options that cannot change an answer are left out. As they are written, where its adapter is
    not installed or does not take them.
    """
    own = model.card.options
    home = home_of(model.distribution)
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
