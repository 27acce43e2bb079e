"""Loads and closes a model's adapter, as every command that calls a model does it."""

from __future__ import annotations

import logging

from vgen_eval.engine.models import Model, build_adapter, named_fault
from vgen_eval.engine.settings import Settings
from vgen_eval.engine.trust import refuse
from vgen_eval.types import Adapter

__all__ = ["close_adapter", "load_adapter"]

log = logging.getLogger(__name__)


def load_adapter(model: Model, settings: Settings) -> Adapter:
    """The adapter, ready for calls; NotRunnable with the cause for whatever it raises.

    Before and after it is loaded, what nobody allowed is refused: it may know its service late.
    """
    adapter = build_adapter(model, settings.device)
    refuse(model, adapter, settings)
    load = getattr(adapter, "load", None)
    if load is not None:
        with named_fault(f"model '{model.name}' cannot be loaded"):
            load()
        refuse(model, adapter, settings)
    return adapter


def close_adapter(model: Model, adapter: Adapter) -> None:
    """Closes it; what it raises is logged, since the answers are there."""
    close = getattr(adapter, "close", None)
    try:
        if close is not None:
            close()
    except KeyboardInterrupt:
        raise
    except BaseException:  # a plugin's code may raise anything, SystemExit too
        log.exception("model '%s': close failed", model.name)
