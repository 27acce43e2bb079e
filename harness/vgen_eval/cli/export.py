"""`vgen-eval export`: runs in the formats that others read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vgen_eval.cli.completing import complete_runs, complete_tasks

if TYPE_CHECKING:
    from vgen_eval.results.export import Exported

__all__ = ["command"]

MOST_NAMED = 2
MOST_FILES = 10
"""Files that are listed; of more, the number is told."""


def _complete_formats(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    from vgen_eval.plugins import Catalog

    return [name for name in Catalog.discover().names("exporter") if name.startswith(incomplete)]


@click.command("export")
@click.argument("format", metavar="FORMAT", shell_complete=_complete_formats)
@click.argument("runs", nargs=-1, metavar="[RUN|FOLDER]...", shell_complete=complete_runs)
@click.option("-o", "--to", metavar="DIR", help="Folder to write into; made if need be.")
@click.option(
    "--task",
    metavar="NAME[@PROTOCOL]",
    shell_complete=complete_tasks,
    help="Only runs of that task.",
)
@click.option("--hub-dataset", metavar="OWNER/NAME", help="Benchmark data set of the Hub.")
@click.option("--task-id", metavar="ID", help="Task in that data set's eval.yaml.")
@click.option("--set", "set", multiple=True, metavar="KEY=VALUE", help="Option of the format.")
@click.option("--output", default="results", metavar="DIR", help="Results folder (results).")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(
    *,
    format: str,
    runs: Sequence[str],
    to: str | None,
    task: str | None,
    hub_dataset: str | None,
    task_id: str | None,
    set: Sequence[str],
    output: str,
    as_json: bool,
) -> int:
    """Write runs in the format of others; no RUN means all of the results folder.

    \b
    FORMAT is one of, or a plugin's (vgen-eval list exporters; vgen-eval show FORMAT)
      every-eval-ever    a record a run, a line a sample (0.3.0)
      csv, parquet       per-sample scores of all runs in one table
      hf-eval-results    .eval_results/*.yaml for a model's repository on the Hub

    Runs that the format cannot hold are left out and told: exit status 1, 3 when none is left.
    """  # fmt: skip
    from vgen_eval.cli import logs, terminal
    from vgen_eval.cli.finding import find_run_paths
    from vgen_eval.cli.options import read_pairs
    from vgen_eval.distributions import HOME
    from vgen_eval.errors import UsageError
    from vgen_eval.plugins import Catalog

    catalog = Catalog.discover()
    catalog.component("exporter", format, home=HOME)  # its name before all that it would need
    if not to or to.startswith("--"):
        what = "no folder to write into is named" if to is None else f"-o: '{to}' is no folder"
        raise UsageError(what, cure=f"vgen-eval export {format} -o DIR, or --to DIR")
    options = read_pairs(set, option="--set")
    for key, value in (("hub_dataset", hub_dataset), ("task_id", task_id)):
        if value is not None and options.setdefault(key, value) != value:
            raise UsageError(f"'{key}' is given twice")
    logs.setup("warning", Path(output))
    terminal.guard_stdout()
    paths = find_run_paths(runs, Path(output), task=task)
    from vgen_eval.results.export import export

    done = export(format, paths, target=Path(to).expanduser(), options=options, catalog=catalog)
    code = (1 if done.files else 3) if done.left_out else 0
    if as_json:
        terminal.say_json(_record(done, code))
    elif done.files:
        _tell(done)
    terminal.note(*_left_out(done.left_out))
    if code == 3:
        terminal.note("error: nothing was exported")
    return code


def _left_out(lines: Sequence[str]) -> Iterator[str]:
    """What was left out; several runs with one reason by their number and the first two."""
    from vgen_eval.cli import terminal
    from vgen_eval.cli.compare_table import shorten

    reasons: dict[str, list[str]] = {}
    for line in lines:
        run, _, reason = line.partition(": ")
        reasons.setdefault(reason, []).append(run)
    for reason, runs in reasons.items():
        who = runs[0]
        if len(runs) > 1:
            more = ", ..." if len(runs) > MOST_NAMED else ""
            count = terminal.plural(len(runs), "run")
            who = f"{count} ({', '.join(runs[:MOST_NAMED])}{more})"
        yield shorten(f"left out: {who}: {reason}")


def _record(done: Exported, code: int) -> dict[str, Any]:
    import msgspec

    record: dict[str, Any] = msgspec.to_builtins(done)
    return {**record, "exit_code": code}


def _tell(done: Exported) -> None:
    from vgen_eval.cli import terminal
    from vgen_eval.cli.numbers import size

    rows = [[file.path, size(file.bytes)] for file in done.files[:MOST_FILES]]
    lines = terminal.fitted(rows, right="lr", indent="  ")
    more = len(done.files) - len(rows)
    terminal.say(
        f"{done.format}   {terminal.plural(len(done.runs), 'run')}   "
        f"{terminal.plural(len(done.files), 'file')}   {terminal.clean(done.target)}",
        *lines,
        *([f"  and {more:,} more"] if more else []),
    )
