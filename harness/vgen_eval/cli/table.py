"""`vgen-eval table`: runs side by side, for a terminal, a page, a paper or a spreadsheet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vgen_eval.cli.completing import complete_axes, complete_runs, complete_tasks

if TYPE_CHECKING:
    from vgen_eval.results.tables.record import Table

__all__ = ["command"]

FORMATS = ("terminal", "markdown", "latex", "csv")
ALSO = {"md": "markdown", "tex": "latex", "text": "terminal", "txt": "terminal"}
SUFFIXES = {".md": "markdown", ".tex": "latex", ".csv": "csv", ".txt": "terminal"}


class Format(click.Choice[str]):
    """One of FORMATS, in either case, or another word for it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The format that the word means."""
        word = ALSO.get(str(value).lower(), str(value).lower())
        if word not in FORMATS:
            from vgen_eval.errors import nearest

            near = nearest(word, (*FORMATS, *ALSO))
            self.fail(f"'{value}' is none of {', '.join(FORMATS)}.{near}", param, ctx)
        return word


@click.command("table")
@click.argument("runs", nargs=-1, metavar="[RUN|FOLDER]...", shell_complete=complete_runs)
@click.option(
    "--rows",
    default="model",
    metavar="BY,..",
    shell_complete=complete_axes,
    help="model, task, prompt, protocol, family, metric, tag or tag:NAME (model).",
)
@click.option(
    "--cols",
    default="task",
    metavar="BY,..",
    shell_complete=complete_axes,
    help="The same, for the columns (task).",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Value to show, several times for several (each run's primary).",
)
@click.option(
    "--task",
    metavar="NAME[@PROTOCOL]",
    shell_complete=complete_tasks,
    help="Runs of that task alone; a part of its name will do.",
)
@click.option(
    "--format",
    "form",
    type=Format(FORMATS),
    metavar="FORMAT",
    help="terminal, markdown, latex or csv (as FILE ends, else terminal).",
)
@click.option("--no-intervals", is_flag=True, help="Leave the 95 % intervals out; csv has them.")
@click.option(
    "-o",
    "--to",
    "file",
    metavar="FILE",
    help="Write it there instead of to stdout: .md, .tex, .csv or .txt.",
)
@click.option("--output", default="results", metavar="DIR", help="Results folder (results).")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(
    runs: Sequence[str], rows: str, cols: str, metrics: Sequence[str], task: str | None,
    form: str | None, no_intervals: bool, file: str | None, output: str, as_json: bool,
) -> int:  # fmt: skip
    """Show what runs came to side by side; without RUN, all of the results folder.

    Runs that differ in protocol, samples, prompt, answer form or data never share a column: it is
    set apart, headed by what differs. So is the row of a model whose runs differ in a setting;
    predictions made elsewhere are one row by their name.

    \b
      vgen-eval table                                   models by tasks
      vgen-eval table --rows metric --cols model        all metrics of each task
      vgen-eval table RUN RUN --cols tag:place          by the tags of samples
      vgen-eval table -o table.tex                      for a paper, with booktabs
    """
    from vgen_eval.cli import terminal
    from vgen_eval.cli.reading import open_runs
    from vgen_eval.results.tables.bounds import with_bounds
    from vgen_eval.results.tables.build import make_table
    from vgen_eval.results.tables.one_task import of_task

    terminal.guard_stdout()
    form = form or _format_of(file)
    found, code = open_runs(runs, Path(output))
    found = with_bounds(of_task(found, task))
    table = make_table(found, rows=_split(rows), cols=_split(cols), metrics=metrics)
    text = _render(table, form, intervals=not no_intervals, to_file=file is not None)
    if file is not None:
        from vgen_eval.cli.writing import write_file

        write_file(Path(file), text.encode())
        terminal.note(f"written to {file}")
    if as_json:
        terminal.say_json({**table.record(), "exit_code": code})
    elif file is None:
        terminal.say(*text.rstrip("\n").split("\n"))
    return code


def _format_of(file: str | None) -> str:
    """As the file ends; UsageError where that is no format."""
    from vgen_eval.errors import UsageError

    if file is None or Path(file).is_dir():  # a folder is refused where it would be written
        return "terminal"
    suffix = Path(file).suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(
            f"{file}: no format '{suffix}'",
            cure=f"-o FILE{', '.join(SUFFIXES)}, or --format {'|'.join(FORMATS)}",
        )
    return SUFFIXES[suffix]


def _split(words: str) -> list[str]:
    return [word for word in words.split(",") if word.strip()]


def _render(table: Table, form: str, *, intervals: bool, to_file: bool) -> str:
    from vgen_eval.cli import terminal
    from vgen_eval.cli.table_text import table_lines
    from vgen_eval.results.tables.latex import render_latex
    from vgen_eval.results.tables.long_form import render_csv
    from vgen_eval.results.tables.markdown import render_markdown

    if form == "markdown":
        return render_markdown(table, intervals=intervals)
    if form == "latex":
        return render_latex(table, intervals=intervals)
    if form == "csv":
        return render_csv(table)
    width = 1 << 20 if to_file else terminal.width()
    return "\n".join(table_lines(table, intervals=intervals, columns=width)) + "\n"
