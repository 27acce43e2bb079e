"""`vgen-eval show`: everything a name may mean, or one run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from vgen_eval.cards import LoadedCard
    from vgen_eval.plugins import Catalog

__all__ = ["command"]

KINDS = ("task", "model", "suite")


@click.command("show")
@click.argument("name", metavar="NAME|RUN")
@click.option("--failed", is_flag=True, help="Of a run: its failed samples, with kind and reason.")
@click.option("--sample", metavar="ID", help="Of a run: one sample's answers, scores, judge.")
@click.option(
    "-o",
    "--to",
    "file",
    metavar="FILE",
    help="With --sample, of a video: its frames, as a sheet (.png) or moving (.webp, .gif).",
)
@click.option("--output", default="results", metavar="DIR", help="Results folder (results).")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(
    name: str, failed: bool, sample: str | None, file: str | None, output: str, as_json: bool
) -> int:
    """Show a task, a model, a suite, a plugin or a run; all of them that have the name.

    A run is named by its folder, or by the start of its id.
    """
    from vgen_eval.cli import terminal
    from vgen_eval.cli.finding import find_run, match_runs, runs_of
    from vgen_eval.errors import UsageError
    from vgen_eval.plugins import Catalog

    terminal.guard_stdout()
    runs = match_runs(name, Path(output))
    if sample is not None:
        from vgen_eval.cli.show_sample import show_sample

        return show_sample(find_run(name, Path(output)), sample, file, as_json=as_json)
    if file is not None:
        raise UsageError("-o writes the frames of one sample", cure="--sample ID names it")
    if failed:
        return _show_failed(name, Path(output), as_json=as_json)
    catalog = Catalog.discover()
    shown = [*_named(name, catalog)] if not runs or "/" not in name else []
    if not shown and not runs:
        from vgen_eval.cli.show_component import describe_components

        shown = [*describe_components(name, catalog)]
    if not shown and not runs:
        runs = runs_of(name, Path(output))
    if not shown and not runs:
        raise _unknown(name, catalog, Path(output))
    if len(runs) > 1 and not shown:
        find_run(name, Path(output))  # says which they are
    from vgen_eval.cli.show_run import describe_run

    shown += [describe_run(run) for run in runs]
    if as_json:
        terminal.say_json([record for record, _ in shown])
        return 0
    for index, (_, lines) in enumerate(shown):
        terminal.say(*([""] if index else []), *(terminal.clean(line) for line in lines))
    return 0


def _show_failed(name: str, output: Path, *, as_json: bool) -> int:
    from vgen_eval.cli import terminal
    from vgen_eval.cli.finding import find_run
    from vgen_eval.cli.show_run import describe_failed

    record, lines = describe_failed(find_run(name, output))
    if as_json:
        terminal.say_json(record)
    else:
        terminal.say(*(terminal.clean(line) for line in lines))
    return 0


def _named(name: str, catalog: Catalog) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Record and lines of every card and plugin that the name means."""
    from vgen_eval.cli.show_card import describe_card, describe_plugin

    for loaded, distribution, protocol in _cards(name, catalog):
        yield describe_card(loaded, distribution, protocol, catalog)
    for plugin in catalog.plugins:
        if plugin.name.lower() == name.lower():
            report = next(r for r in catalog.survey() if r.name == plugin.name)
            yield describe_plugin(report)


def _cards(name: str, catalog: Catalog) -> Iterator[tuple[LoadedCard, str, str | None]]:
    """The cards of that name with their distribution and the protocol asked for."""
    from vgen_eval.cards import load_card
    from vgen_eval.engine.models import is_path
    from vgen_eval.engine.naming import card_file

    bare, at, protocol = name.partition("@")
    if is_path(bare):
        path = card_file(bare)
        if path is not None:
            yield load_card(path), "local", protocol or None
        return
    for kind in ("task",) if at else KINDS:
        wanted = bare.removeprefix("suite:") if kind == "suite" else bare
        owned = (n for p, h in catalog.heads(kind) for n in (h.name, f"{p.name}:{h.name}"))
        if wanted in owned:
            notices: list[str] = []
            plugin, head = catalog.find(kind, wanted, notices=notices)
            _tell(notices)
            yield load_card(head.path), plugin.name, protocol or None


def _tell(notices: list[str]) -> None:
    from vgen_eval.cli import terminal

    terminal.note(*(f"note: {notice}" for notice in notices))


def _unknown(name: str, catalog: Catalog, output: Path) -> Exception:
    from vgen_eval.errors import UsageError, nearest
    from vgen_eval.store.run import find_runs

    known = {head.name for kind in KINDS for _, head in catalog.heads(kind)}
    known |= {plugin.name for plugin in catalog.plugins}
    known |= {run.name for run in find_runs(output)}
    return UsageError(
        f"no task, model, suite, plugin or run '{name}'.{nearest(name.partition('@')[0], known)}",
        cure="vgen-eval list tasks, list models and runs list show what there is",
    )
