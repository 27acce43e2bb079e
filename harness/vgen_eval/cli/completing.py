"""What the shell offers after --tasks, --model and `data`: the names in the cards."""

from __future__ import annotations

from typing import Any

import click

__all__ = ["complete_axes", "complete_data", "complete_models", "complete_runs", "complete_tasks"]


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


def complete_runs(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[Any]:
    """The ids of the runs in the results folder."""
    from pathlib import Path

    from vgen_eval.store.run import find_runs

    folder = Path(str(ctx.params.get("output") or "results"))
    return [run.name for run in find_runs(folder) if run.name.startswith(incomplete)]


def complete_axes(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[Any]:
    """What the rows and columns of a table can be."""
    from vgen_eval.results.tables.axes import DIMENSIONS

    return _offer(list(DIMENSIONS), incomplete)


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


def complete_targets(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[Any]:
    """Published tables, and `list`."""
    from vgen_eval.results.published import load_published

    names = ["list"]
    for table in load_published():
        names += [f"{table.paper}:{word}" for word in (table.table, *table.also)]
    return [name for name in names if name.startswith(incomplete)]
