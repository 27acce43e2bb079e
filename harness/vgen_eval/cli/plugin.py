"""`vgen-eval plugin`: start a plugin package of one's own."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vgen_eval.cli.verbs import VerbGroup
from vgen_eval.scaffold import KINDS

if TYPE_CHECKING:
    from vgen_eval.scaffold import Kind

__all__ = ["command"]

_MAIN_FILE = {
    "model": "model.py",
    "task": "cards/shapes.yaml",
    "metric": "metric.py",
    "family": "tilt.py",
}


@click.group(
    "plugin",
    cls=VerbGroup,
    invoke_without_command=True,
    subcommand_metavar="VERB [OPTIONS]",
    options_metavar="",
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Start a plugin package of your own.

    `vgen-eval check plugin NAME` says whether an installed one keeps the contract.
    """  # fmt: skip
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@command.command("new")
@click.argument("name")
@click.option(
    "--kind", type=click.Choice(KINDS), default="model", help="What it brings (model).",
    metavar="|".join(KINDS),
)  # fmt: skip
@click.option("-o", "--to", "--folder", "folder", metavar="DIR", help="Where to write it (./NAME).")
def new(name: str, kind: Kind, folder: str | None) -> int:
    """Write a complete package that runs at once: typed, tested, ready to be changed.

    NAME is the distribution's: small letters, digits and hyphens.
    """  # fmt: skip
    from vgen_eval.cli import terminal
    from vgen_eval.plugins import Catalog
    from vgen_eval.scaffold.names import check_name, package_of
    from vgen_eval.scaffold.package import make_files, write_files

    check_name(name, Catalog.discover())
    target = Path(folder).expanduser() if folder else Path(name)
    made = make_files(name, kind)
    write_files(made, target)
    package = package_of(name)
    start = f"{package}/{_MAIN_FILE[kind]}"
    terminal.say(
        f"{target}: {terminal.plural(len(made), 'file')}. Begin with README.md and {start}.",
        "",
        "next:",
        f"  cd {shlex.quote(str(target))} && pip install -e '.[dev]'",
        f"  vgen-eval check plugin {name}",
        f"  vgen-eval --tasks {_tasks(name, kind)} --model {_model(name, kind)}",
    )
    return 0


def _tasks(name: str, kind: Kind) -> str:
    if kind == "model":
        return "'samples/*'"
    return f"{name}:horizon" if kind == "family" else f"{name}:shapes"


def _model(name: str, kind: Kind) -> str:
    return f"{name}:v1" if kind in ("model", "family") else "classical"
