"""`vgen-eval report`: numbers and chosen samples of runs as one page that opens from disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from vgen_eval.cli import sample_options as option
from vgen_eval.cli.fractions import Number

__all__ = ["command"]

SUFFIXES = (".html", ".htm")
STDOUT = "/dev/stdout"


@click.command("report", epilog=option.RULES)
@option.runs
@click.option("-o", "--to", "file", metavar="FILE", help="Page to write: .html.")
@option.select("worst:primary")
@option.samples
@option.most(12)
@click.option(
    "--max-mb",
    type=Number(min=0.1, max=2000),
    default=25.0,
    metavar="MB",
    help="Size of the page at most (25).",
)
@option.attempt
@option.task
@option.anyway
@option.data_root
@option.output
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout: its record.")
def command(
    *, runs: Sequence[str], file: str | None, select: str | None, samples: Sequence[str], n: int,
    max_mb: float, attempt: int, task: str | None, anyway: bool, data_root: str | None,
    output: str, as_json: bool,
) -> int:  # fmt: skip
    """Write one page with the numbers of runs and chosen samples, for a colleague.

    \b
      vgen-eval report RUN -o page.html
      vgen-eval report RUN RUN --select advantage:A-B -n 20 -o page.html

    It holds everything it shows, needs no network and opens from disk.
    """
    from vgen_eval.cli import terminal
    from vgen_eval.cli.numbers import size
    from vgen_eval.cli.reading import open_runs
    from vgen_eval.cli.writing import write_file
    from vgen_eval.plugins import Catalog
    from vgen_eval.viewer.gathering import gather_tasks
    from vgen_eval.viewer.report.build import build_report
    from vgen_eval.wording import plural

    terminal.guard_stdout()
    place = _check(file, select, samples)
    catalog = Catalog.discover()
    found, code = open_runs(runs, Path(output), task=task, catalog=catalog)
    parts = gather_tasks(
        found, catalog, n=n, select=select, samples=samples, task=task, attempt=attempt - 1,
        anyway=anyway, data_root=data_root,
    )  # fmt: skip
    page, record = build_report(parts, catalog, most_bytes=int(max_mb * 1e6), anyway=anyway)
    write_file(place, page)
    notes = [f"note: {text}" for part in record["parts"] for text in part["notes"]]
    notes += [f"left out: {one['sample']}: {one['reason']}" for one in record["left_out"]]
    if record["without_numbers"]:
        count = len(record["without_numbers"])
        notes.append(f"note: no room for every value under the cursor of {plural(count, 'sample')}")
    notes += [
        f"note: no room for all of what was said: {one['sample']}, {one['reason']} more"
        for one in record["without_texts"]
    ]
    shown = sum(len(part["shown"]) for part in record["parts"])
    done = f"written to {file}, {size(len(page))}, {plural(shown, 'sample')}"
    terminal.note(*map(terminal.clean, notes), done)
    if as_json:
        terminal.say_json({**record, "exit_code": code})
    elif file != STDOUT:
        terminal.say(
            *(terminal.clean(f"{part['task']}: {part['selection']}") for part in record["parts"])
        )
    return code


def _check(file: str | None, select: str | None, samples: Sequence[str]) -> Path:
    """Where the page goes; UsageError where it is no page, before anything is read."""
    from vgen_eval.cli.writing import refuse_pipe
    from vgen_eval.errors import UsageError

    option.check_choice(select, samples)  # before anything is read
    if file is None:
        raise UsageError("a report is a file", cure="-o page.html")
    if file != STDOUT and Path(file).suffix.lower() not in SUFFIXES:
        raise UsageError(
            f"{file}: no format '{Path(file).suffix}'", cure="a report is a page: -o FILE.html"
        )
    refuse_pipe(file)
    return Path(file)
