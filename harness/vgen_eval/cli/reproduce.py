"""`vgen-eval reproduce`: a paper's table with our own numbers in each cell."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vgen_eval.cli import model_options
from vgen_eval.cli.completing import complete_targets

if TYPE_CHECKING:
    from vgen_eval.engine.settings import Settings
    from vgen_eval.plugins import Catalog
    from vgen_eval.results.published import Table
    from vgen_eval.results.reproducing.finding import Library
    from vgen_eval.results.reproducing.planning import Outlook

__all__ = ["command"]

FAULTY = 2
LIST = "list"
MOST_UNUSED = 8
"""Runs of --use that it is said of why they give no number."""


@click.command(
    "reproduce", cls=model_options.Sectioned, options_metavar="[OPTIONS]",
    sections={
        "use": "Which numbers", "device": "How runs are made", "output": "What is kept",
        "max_calls": "Limits", "allow_host": "What cards of plugins and files may do",
        "dry_run": "What is shown",
    },
)  # fmt: skip
@click.argument(
    "target", required=False, metavar="PAPER:TABLE|FILE.yaml|list", shell_complete=complete_targets
)
@click.option(
    "--use", multiple=True, metavar="RUN|FOLDER",
    help="Take these runs, whatever they depart in; may be repeated.",
)  # fmt: skip
@click.option("--no-run", is_flag=True, help="Only what is there: no model is called.")
@click.option(
    "--limit", type=int, metavar="N",
    help="At most N samples of each task, in runs that are made now.",
)  # fmt: skip
@model_options.data_root
@model_options.device
@click.option("--batch-size", type=int, metavar="N", help="Requests a call at most.")
@click.option("--workers", type=int, metavar="N", help="Threads that load and score.")
@click.option("--output", metavar="DIR", help="Results folder (results).")
@click.option("--max-calls", type=int, metavar="N", help="Stop after so many calls, tries counted.")
@click.option("--max-tokens", type=int, metavar="N", help="Stop after so many tokens.")
@click.option("--max-cost", type=float, metavar="USD", help="Stop before it costs more.")
@model_options.allow_host
@model_options.allow_env
@click.option("--dry-run", is_flag=True, help="Say what each cell would take; call nothing.")
@click.option(
    "--format", "form", type=click.Choice(("terminal", "markdown", "latex", "csv")),
    metavar="FORMAT",
    help="terminal, markdown, latex or csv (as FILE is called, else terminal).",
)  # fmt: skip
@click.option("-o", "--to", "file", metavar="FILE", help="Write it there instead of to stdout.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@model_options.log_level
def command(
    *, target: str | None, use: Sequence[str], no_run: bool, dry_run: bool, form: str | None,
    file: str | None, as_json: bool, log_level: str, **given: Any,
) -> int:  # fmt: skip
    """Reproduce a published table, or a table of your own, and say in what runs depart from it.

    \b
      vgen-eval reproduce list                          the tables there are
      vgen-eval reproduce editors:table-2 --dry-run     what it would take
      vgen-eval reproduce editors:table-2               run what is missing, show all
      vgen-eval reproduce editors:table-2 --no-run      from the runs that are there
      vgen-eval reproduce editors:table-2 -o table.tex  for a paper, with booktabs

    Exit status 1 when a cell that ran is outside.
    """  # fmt: skip
    from vgen_eval.cli import logs, terminal
    from vgen_eval.cli.options import build_settings
    from vgen_eval.cli.reproduce_text import emit, form_of
    from vgen_eval.errors import CardError
    from vgen_eval.plugins import Catalog
    from vgen_eval.results.reproducing.asking import ask
    from vgen_eval.results.reproducing.planning import look
    from vgen_eval.results.reproducing.targets import open_target

    settings = build_settings({**given, "bounds": False}, None)
    logs.setup(log_level, Path(settings.output))
    terminal.guard_stdout()
    catalog = Catalog.discover()
    written = form_of(form, file)
    show = functools.partial(emit, form=written, file=file, to_stdout=not as_json)
    if target in (None, LIST):
        from vgen_eval.cli.reproduce_list import show_targets

        return show_targets(catalog, Path(settings.output), show=show, as_json=as_json)
    assert target is not None
    library = _open_library(settings, catalog, use)
    try:
        table = open_target(target, catalog, library.brought)
    except CardError as exc:
        terminal.note(*map(str, exc.problems), terminal.plural(len(exc.problems), "error"))
        return FAULTY
    is_apart = as_json or file is not None or written == "csv"  # notes would not be seen
    asked = ask(table, catalog, library.brought)
    outlook = look(asked, library, catalog, settings, may_run=not no_run)
    if dry_run:
        from vgen_eval.cli.reproduce_plan import show_outlook

        return show_outlook(table, outlook, library, show=show, as_json=as_json, is_apart=is_apart)
    quiet = as_json or written != "terminal"
    return _reproduce(table, outlook, library, catalog, may_run=not no_run, show=show,
                      as_json=as_json, quiet=quiet, is_apart=is_apart)  # fmt: skip


def _open_library(settings: Settings, catalog: Catalog, use: Sequence[str]) -> Library:
    from vgen_eval.cli.finding import find_run_paths
    from vgen_eval.results.reproducing.finding import Library

    output = Path(settings.output)
    named = find_run_paths(use, output) if use else []
    return Library(catalog, output=output, named=named)


def _reproduce(
    table: Table, outlook: Outlook, library: Library, catalog: Catalog, *, may_run: bool,
    show: Callable[..., None], as_json: bool, quiet: bool, is_apart: bool,
) -> int:  # fmt: skip
    from vgen_eval.cli import progress, terminal
    from vgen_eval.cli.reproduce_table import as_csv, table_sheet
    from vgen_eval.cli.signals import Signals
    from vgen_eval.engine.pipeline import Stop
    from vgen_eval.errors import VgenEvalError
    from vgen_eval.results.reproducing.planning import note_whole_runs
    from vgen_eval.results.reproducing.record import describe_table, has_outside
    from vgen_eval.results.reproducing.running import look_again, make_runs, settle_all
    from vgen_eval.results.reproducing.unused import why_unused

    settings, stop = outlook.settings, Stop()
    signals = Signals(stop)
    reason = None
    try:
        with signals:
            if may_run and any(jobs for _, jobs in outlook.groups):
                reporter = progress.make_reporter(quiet=quiet)
                with reporter:
                    reason = make_runs(outlook, library, catalog, reporter=reporter, stop=stop)
                if reporter.prints_table:
                    terminal.say("")
                look_again(outlook, library)
            settle_all(
                outlook, library, data_root=settings.data_root, workers=settings.workers,
                stopped=stop.soft.is_set,
            )  # fmt: skip
    except (VgenEvalError, KeyboardInterrupt):
        if signals.exit_code is None:
            raise
    notes = note_whole_runs(outlook)
    record = describe_table(
        table, outlook, output=Path(settings.output), faults=library.faults, notes=notes
    )  # fmt: skip
    code = signals.exit_code or int(has_outside(record) or reason is not None)
    if as_json:
        terminal.say_json({**record, "exit_code": code})
    show(table_sheet(record), as_csv(record))
    terminal.note(*(f"note: {note}" for note in notes if is_apart))
    terminal.note(*(f"note: left out: {fault}" for fault in library.faults))
    unused = list(why_unused(outlook, library))
    if unused:
        named = terminal.plural(len(library.named), "run")
        terminal.note(f"note: {len(unused):,} of {named} of --use give no number")
    terminal.note(*(f"note: {path}: {why}" for path, why in unused[:MOST_UNUSED]))
    if reason is not None:
        terminal.note(reason)
    return code
