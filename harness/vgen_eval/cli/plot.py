"""`vgen-eval plot`: figures of runs, for a page or a paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vgen_eval.cli.completing import complete_runs, complete_tasks

if TYPE_CHECKING:
    from vgen_eval.results.figures.chosen import Chosen

__all__ = ["command"]

KINDS = ("efficiency", "tags", "errors", "attempts", "confusion")
OF_SAMPLES = ("errors", "confusion")
"""Those that read more of a run than its card."""
SUFFIXES = (".png", ".svg")


@click.command("plot")
@click.argument("kind", type=click.Choice(KINDS), metavar="KIND")
@click.argument("runs", nargs=-1, metavar="[RUN|FOLDER]...", shell_complete=complete_runs)
@click.option("-o", "--to", "file", metavar="FILE", help="Picture to write: .png or .svg.")
@click.option(
    "--task",
    metavar="NAME[@PROTOCOL]",
    shell_complete=complete_tasks,
    help="Runs of that task alone; a part of its name will do.",
)
@click.option("--metric", metavar="NAME", help="Value to show (the primary).")
@click.option("--tag", "tags", multiple=True, metavar="NAME", help="tags: the tags to show.")
@click.option("--seconds", is_flag=True, help="efficiency: seconds an image, not images a minute.")
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=12,
    metavar="N",
    help="confusion: classes to show, those with the most pixels (12).",
)
@click.option("--anyway", is_flag=True, help="Draw runs together that differ in more than models.")
@click.option("--data-root", metavar="DIR", help="confusion: folder of the data sets ($VGEN_DATA).")
@click.option("--output", default="results", metavar="DIR", help="Results folder (results).")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout: its numbers.")
def command(
    kind: str, runs: Sequence[str], file: str | None, task: str | None, metric: str | None,
    tags: Sequence[str], seconds: bool, top: int, anyway: bool, data_root: str | None,
    output: str, as_json: bool,
) -> int:  # fmt: skip
    """Draw runs of one task, one column of a paper wide.

    \b
      efficiency   the value against images a minute (model time)
      tags         the value by the tags of samples, with intervals
      errors       how the value of single samples is spread
      attempts     the best of p attempts, picked by the truth
      confusion    which classes one run took for which, with each class's IoU
    """
    from vgen_eval.cli import terminal
    from vgen_eval.cli.reading import open_runs
    from vgen_eval.plugins import Catalog
    from vgen_eval.results.figures.chosen import choose

    terminal.guard_stdout()
    form = _check(file, as_json=as_json)
    catalog = Catalog.discover() if kind in OF_SAMPLES else None
    found, code = open_runs(runs, Path(output), catalog=catalog)
    leave = ("attempts",) if kind == "attempts" else ()
    chosen = choose(found, metric=metric, task=task, anyway=anyway, leave=leave)
    read, draw = _kind(kind, tags=tags, seconds=seconds, top=top, data_root=data_root)
    record = read(chosen)
    terminal.note(*(f"note: {text}" for text in record["notes"]))
    if file is not None:
        from vgen_eval.cli.writing import write_file

        write_file(Path(file), draw(record, form))
        terminal.note(f"written to {file}")
    if as_json:
        terminal.say_json({**record, "exit_code": code})
    return code


def _check(file: str | None, *, as_json: bool) -> str:
    """The picture's format; UsageError where it is none, or nothing would come out."""
    from vgen_eval.errors import UsageError

    if file is None:
        if not as_json:
            raise UsageError("a figure is a file", cure="-o figure.png, or --json for its numbers")
        return ""
    suffix = Path(file).suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"{file}: no format '{suffix}'", cure="-o FILE.png or FILE.svg")
    return suffix[1:]


def _kind(
    kind: str, *, tags: Sequence[str], seconds: bool, top: int, data_root: str | None
) -> tuple[Callable[[Chosen], dict[str, Any]], Callable[[Any, str], bytes]]:
    """What reads the record of that figure, and what draws it."""
    from vgen_eval.plugins import Catalog

    if kind == "efficiency":
        from vgen_eval.results.figures.efficiency import draw_efficiency, read_efficiency

        return partial(read_efficiency, seconds=seconds), draw_efficiency
    if kind == "tags":
        from vgen_eval.results.figures.tags import draw_tags, read_tags

        return partial(read_tags, tags=tags), draw_tags
    if kind == "attempts":
        from vgen_eval.results.figures.attempts import draw_attempts, read_attempts

        return read_attempts, draw_attempts
    if kind == "errors":
        from vgen_eval.results.figures.errors import draw_errors, read_errors

        return partial(read_errors, catalog=Catalog.discover()), draw_errors
    from vgen_eval.results.figures.confusion import draw_confusion

    return partial(_read_confusion, top=top, data_root=data_root), draw_confusion


def _read_confusion(chosen: Chosen, *, top: int, data_root: str | None) -> dict[str, Any]:
    """Of one run: it is counted again from its kept answers."""
    from vgen_eval.errors import UsageError
    from vgen_eval.plugins import Catalog
    from vgen_eval.results.confusion import count_confusion
    from vgen_eval.results.figures.confusion import read_confusion

    if len(chosen.runs) > 1:
        raise UsageError(
            f"a confusion matrix is of one run, {len(chosen.runs)} are meant",
            cure="name one: vgen-eval plot confusion RUN -o FILE",
        )
    (run,) = chosen.runs.values()
    found = count_confusion(run, Catalog.discover(), data_root=data_root)
    return read_confusion(chosen, found, top=top)
