"""What the shell offers after --tasks, --model and `data`: the names in the cards."""

from __future__ import annotations

from typing import Any

import click

__all__ = ["complete_data", "complete_models", "complete_tasks"]


def complete_tasks(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[Any]:
    """Task names, and suites with their prefix."""
    names = ["all", *_names("task"), *(f"suite:{name}" for name in _names("suite"))]
    return _offer(names, incomplete)


def complete_data(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[Any]:
    """Task names, and the folders below the data folder that hold their data."""
    from vgen_eval.data.naming import roots_of
    from vgen_eval.plugins import Catalog

    return _offer([*_names("task"), *roots_of(Catalog.discover())], incomplete)


def complete_models(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[Any]:
    """Model names."""
    return _offer(_names("model"), incomplete)


def _names(kind: str) -> list[str]:
    from vgen_eval.plugins import Catalog

    return [
        head.name if plugin.builtin else f"{plugin.name}:{head.name}"
        for plugin, head in Catalog.discover().heads(kind)
    ]


def _offer(names: list[str], incomplete: str) -> list[Any]:
    # the word may be a comma list whose last part is being typed
    done, comma, last = incomplete.rpartition(",")
    return [done + comma + name for name in names if name.startswith(last)]
