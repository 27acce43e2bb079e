"""`vgen-eval compare`: runs of one task sample by sample, or models over several tasks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vgen_eval.cli.completing import complete_tasks

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog
    from vgen_eval.results.across_cells import LeftOut
    from vgen_eval.results.reading import Run

__all__ = ["command"]


@click.command("compare")
@click.argument("runs", nargs=-1, metavar="RUN...")
@click.option(
    "--metric",
    multiple=True,
    metavar="NAME",
    help="Value to compare, or all (the primary); may be repeated.",
)
@click.option(
    "--pairs",
    type=click.Choice(("first", "all")),
    metavar="WHICH",
    help="first: each run against the first; all: against every other (first).",
)
@click.option("--by", metavar="TAG", help="Each value of a tag of the samples by itself, too.")
@click.option(
    "--anyway",
    is_flag=True,
    help="Compare runs that differ in more than the model, and say in what.",
)
@click.option(
    "--across",
    type=click.Choice(("tasks",)),
    metavar="tasks",
    help="Rank models over several tasks: one order, or each task its own?",
)
@click.option(
    "--task",
    metavar="NAME[@PROTOCOL]",
    shell_complete=complete_tasks,
    help="Only runs of that task, where the RUNs are of several.",
)
@click.option("--with-bounds", is_flag=True, help="With --across: rank ceiling and floor as well.")
@click.option("--output", default="results", metavar="DIR", help="Results folder (results).")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(
    *,
    runs: Sequence[str],
    metric: Sequence[str],
    pairs: str | None,
    by: str | None,
    anyway: bool,
    across: str | None,
    task: str | None,
    with_bounds: bool,
    output: str,
    as_json: bool,
) -> int:
    """Compare runs of one task, sample by sample; or models over several tasks.

    \b
      vgen-eval compare RUN RUN...
      vgen-eval compare --task samples/depth [RUN|FOLDER]...
      vgen-eval compare --across tasks [RUN|FOLDER]...

    A RUN is a run's folder, the start of its id, a folder that holds runs, or a model.
    """  # fmt: skip
    import msgspec

    from vgen_eval.cli import terminal
    from vgen_eval.errors import UsageError
    from vgen_eval.plugins import Catalog

    terminal.guard_stdout()
    if across is None and with_bounds:
        raise UsageError("--with-bounds goes with --across tasks")
    if across is None and not runs and task is None:
        raise UsageError(
            "no run named", cure="vgen-eval compare RUN RUN..., or --task NAME for all of its runs"
        )
    given = {
        "--metric": metric, "--pairs": pairs, "--by": by, "--anyway": anyway, "--task": task,
    }  # fmt: skip
    extra = [name for name, value in given.items() if value]
    if across is not None and extra:
        raise UsageError(
            f"{extra[0]} goes with runs of one task, not with --across tasks",
            cure="models are ranked by each task's primary, under one identity",
        )
    catalog = Catalog.discover()
    # ranks are of cards alone
    found, left_out = _read(runs, Path(output), task, None if across is not None else catalog)
    if across is not None:
        from vgen_eval.cli.across_table import table as across_table
        from vgen_eval.results.across import rank_across

        ranking = rank_across(found, with_bounds=with_bounds, left_out=left_out)
        record, lines = msgspec.to_builtins(ranking), across_table(ranking)
    else:
        from vgen_eval.cli.compare_table import table
        from vgen_eval.results.contrast import contrast

        beside = contrast(
            found, catalog, metrics=metric, pairing=_pairing(pairs), by=by,
            anyway=anyway, left_out=left_out,
        )  # fmt: skip
        record, lines = msgspec.to_builtins(beside), table(beside)
    if as_json:
        terminal.say_json({**record, "exit_code": 0})
    else:
        terminal.say(*map(terminal.clean, lines))
    return 0


def _pairing(word: str | None) -> Any:
    return word or "first"


def _read(
    words: Sequence[str], output: Path, task: str | None, catalog: Catalog | None
) -> tuple[list[Run], list[LeftOut]]:
    """The runs that the words mean, as `read_run` takes them, and those that cannot be read.

    NotRunnable where one of these was named itself, and not a folder around it.
    """
    from vgen_eval.cli.finding import find_run_paths, match_runs
    from vgen_eval.errors import NotRunnable
    from vgen_eval.results.across_cells import LeftOut
    from vgen_eval.results.reading import name_apart, read_run, say_fault

    named = [path.resolve() for word in words for path in match_runs(word, output)]
    left_out = [LeftOut(str(path), "named twice") for path in _twice(named)]
    runs: list[Run] = []
    paths = find_run_paths(words, output, task=task)
    for path in dict.fromkeys(path.resolve() for path in paths):
        try:
            runs.append(read_run(path, catalog))
        except NotRunnable as exc:
            if path in named:
                raise
            left_out.append(LeftOut(str(path), say_fault(exc).removeprefix(f"{path}: ")))
    name_apart(runs)
    return runs, left_out


def _twice(paths: Sequence[Path]) -> list[Path]:
    return [path for at, path in enumerate(paths) if path in paths[:at]]
