"""Options of the verbs that show chosen samples of runs, and what --help says of the rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from vgen_eval.cli.completing import complete_runs, complete_tasks

__all__ = [
    "RULES",
    "anyway",
    "attempt",
    "check_choice",
    "data_root",
    "most",
    "output",
    "runs",
    "samples",
    "select",
    "task",
]

runs = click.argument("runs", nargs=-1, metavar="RUN...", shell_complete=complete_runs)
samples = click.option(
    "--sample", "samples", multiple=True, metavar="ID", help="A sample by its id."
)
attempt = click.option(
    "--attempt", type=click.IntRange(min=1), default=1, metavar="K", help="Which attempt (1)."
)
task = click.option(
    "--task",
    metavar="NAME[@PROTOCOL]",
    shell_complete=complete_tasks,
    help="Runs of that task alone; a part of its name will do.",
)
anyway = click.option(
    "--anyway", is_flag=True, help="Show runs together that differ in more than models."
)
data_root = click.option("--data-root", metavar="DIR", help="Folder of the data sets ($VGEN_DATA).")
output = click.option(
    "--output", default="results", metavar="DIR", help="Results folder (results)."
)


def select(example: str) -> Callable[[Any], Any]:
    """`--select`, with a rule that fits what is made."""
    return click.option("--select", metavar="RULE", help=f"Which samples: {example}, decides, ...")


def most(count: int) -> Callable[[Any], Any]:
    """`-n`, by itself so many samples."""
    return click.option(
        "-n",
        "--n",
        "n",
        type=click.IntRange(min=1),
        default=count,
        metavar="N",
        help=f"Samples at most ({count}).",
    )


def check_choice(rule: str | None, named: Sequence[str]) -> None:
    """UsageError for a rule that is none, or one beside samples that are named."""
    from vgen_eval.errors import UsageError
    from vgen_eval.viewer.rules import parse

    if rule is None:
        return
    if named:
        raise UsageError("--select and --sample: one of them chooses", cure="leave one out")
    parse(rule)


RULES = """\b
RUN is a model's name, the id of a run or its start, or a folder.
A and B are names of models, METRIC is a value of single samples or primary.

\b
Rules:
  median:METRIC        nearest the median
  top:METRIC[:q=.9]    the best; with q none worse than that quantile
  worst:METRIC         the worst
  METRIC<=VALUE        also <, >, >=, =; by id
  advantage:A-B        where A is ahead of B, the farthest first;
                       :above-median where A is at its median or better,
                       :metric=METRIC by another value than the primary
  best-of:A            the best of one model
  decides[:METRIC]     where the runs lie farthest apart
  random:SEED          drawn
  ids:ID,ID            named
METRIC@MODEL is of another run than the first; :per-tag=TAG after a rule that
ranks takes one sample a value of the tag. Without a rule: decides of several
runs, worst:primary of one, or of runs that are equal; random:0 where no value
is of single samples.
"""
