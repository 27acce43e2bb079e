"""Options that every verb has which calls a model, and help that shows options by headings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

__all__ = [
    "Sectioned",
    "allow_env",
    "allow_host",
    "answer",
    "data_root",
    "device",
    "judge",
    "log_level",
    "model_args",
]

model_args = click.option(
    "-M",
    "--model-args",
    "model_args",
    multiple=True,
    metavar="KEY=VALUE",
    help="Option of the adapter; may be repeated.",
)
answer = click.option(
    "--answer", metavar="FORM", help="Answer form, instead of the first that fits."
)
judge = click.option(
    "--judge", metavar="NAME", help="Model that judges, where answers are judged, over the card's."
)
device = click.option("--device", metavar="NAME", help="For local models: cpu, cuda, mps.")
data_root = click.option(
    "--data-root", metavar="DIR", help="Folder of the data sets (else $VGEN_DATA)."
)
allow_host = click.option(
    "--allow-host",
    multiple=True,
    metavar="HOST,..",
    help="Where cards of plugins and files may send a key.",
)
allow_env = click.option(
    "--allow-env",
    is_flag=True,
    default=None,
    help="Let cards of plugins and files build an environment and run it.",
)
log_level = click.option(
    "--log-level",
    type=click.Choice(("debug", "info", "warning", "error")),
    default="error",
    metavar="LEVEL",
    help="debug, info, warning or error (error): what stderr shows.",
)


class Sectioned(click.Command):
    """A command whose help has its options under headings."""

    def __init__(self, *args: Any, sections: Mapping[str, str], **more: Any) -> None:
        """`sections`: first option of a section -> its heading; the others follow it."""
        super().__init__(*args, **more)
        self.sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options in their order, in columns that all sections share."""
        found: dict[str, list[tuple[str, str]]] = {}
        heading = "Options"
        for param in self.get_params(ctx):
            heading = self.sections.get(param.name or "", heading)
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                found.setdefault(heading, []).append(record)
        wide = max(len(option) for rows in found.values() for option, _ in rows)
        for heading, rows in found.items():
            with formatter.section(heading):
                formatter.write_dl([(option.ljust(wide), text) for option, text in rows])
