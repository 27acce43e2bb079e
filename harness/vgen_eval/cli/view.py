"""`vgen-eval view`: the pictures behind the numbers, in a browser."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vgen_eval.viewer.site import Site

__all__ = ["command"]

TOKEN = "VGEN_EVAL_VIEW_TOKEN"  # noqa: S105  the name of the variable
DEFAULT = "results"
MOMENT_S = 1.0
NEEDED = ("starlette", "uvicorn", "jinja2")


@click.command("view")
@click.argument("folder", required=False, metavar="[FOLDER]", type=click.Path())
@click.option(
    "--host",
    default="127.0.0.1",
    metavar="HOST",
    help="Address to listen on (127.0.0.1: this machine alone); another one needs a token.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Port; 0: any that is free (8765, or the next that is free).",
)
@click.option("--data-root", metavar="DIR", help="Folder of the data sets ($VGEN_DATA).")
@click.option("--no-open", is_flag=True, help="Print the address, open no browser.")
def command(
    folder: str | None, host: str, port: int | None, data_root: str | None, no_open: bool
) -> int:
    """Look at runs in a browser: tables, galleries, samples, comparisons.

    FOLDER holds results (results); of a run, or of runs, the results around it
    are shown, opened at that run. It reads and never writes a run. Runs that are
    being written show up as they go. Ctrl-C ends it.

    \b
      vgen-eval view                        the folder results
      vgen-eval view /data/results --port 0
      vgen-eval view results/runs/MODEL/TASK/RUN
      vgen-eval view --host 0.0.0.0         for others, with a token in the address
    """
    from vgen_eval.cli import terminal
    from vgen_eval.cli.signals import Leaving

    _check(folder, data_root)
    results, run = _find(DEFAULT if folder is None else folder)
    terminal.guard_stdout()
    from vgen_eval.viewer.app import make_app
    from vgen_eval.viewer.memory import keep_small
    from vgen_eval.viewer.serving import address_of, listen, make_server, serve, token_for
    from vgen_eval.viewer.site import Site
    from vgen_eval.viewer.warming import Warmer, load_ahead

    keep_small()
    token = token_for(host, os.environ.get(TOKEN))
    with listen(host, port) as heard:
        site = Site.open(
            results,
            data_root=Path(data_root) if data_root else None,
            tell=_Progress(),
            host=host,
            port=heard.getsockname()[1],
            token=token,
            warmer=Warmer(),
        )
        terminal.redraw("")
        server = make_server(make_app(site))
        page = _page_of(site, run)
        address = address_of(site, page)
        with Leaving() as leaving, contextlib.suppress(KeyboardInterrupt):  # how a reader ends it
            # the address last: who waits for it has been told the rest
            terminal.note(_tell(site, folder, is_run=bool(page)), "Ctrl-C ends it.")
            terminal.say(address)
            load_ahead(site)
            if not no_open:
                _open(address)
            serve(server, heard, exit_code=lambda: leaving.exit_code or 0)
    return leaving.exit_code or 0


class _Progress:
    """Says on one line how far the index is, where that takes longer than a moment."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        from vgen_eval.cli import terminal

        if time.monotonic() - self._begun > MOMENT_S:
            terminal.redraw(f"indexing {terminal.plural(total, 'run')}, {done:,} done")


def _check(folder: str | None, data_root: str | None) -> None:
    """MissingExtra without its libraries; UsageError for what is no folder, or is not there."""
    from importlib.util import find_spec

    from vgen_eval.errors import MissingExtra, UsageError

    if any(find_spec(name) is None for name in NEEDED):
        raise MissingExtra("view")
    path = Path(DEFAULT if folder is None else folder)
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path}: no folder", cure="name the results folder, not a file")
    if folder is not None and not path.is_dir():
        raise UsageError(
            f"{folder}: no such folder.{_nearest(path)}",
            cure="name the folder that runs were written to, as --output of vgen-eval run",
        )
    if data_root is not None and not Path(data_root).is_dir():
        raise UsageError(f"--data-root {data_root}: no such folder", cure="name the data folder")


def _nearest(path: Path) -> str:
    """Folders beside it whose names are like its."""
    from vgen_eval.errors import nearest

    try:
        beside = [entry.name for entry in path.parent.iterdir() if entry.is_dir()]
    except OSError:
        return ""
    return nearest(path.name, beside)


def _find(folder: str) -> tuple[Path, Path | None]:
    """The results folder that is shown, and the run in it that was named.

    A folder of a run, or one of runs, is shown by the results folder above it.
    """
    from vgen_eval.store.run import is_run

    given = Path(folder)
    whole = given.resolve()
    run = whole if is_run(whole) else None
    if (given / "runs").is_dir() and run is None:
        return given, None
    above = next((one.parent for one in (whole, *whole.parents) if one.name == "runs"), None)
    if above is None:
        return given, run
    is_below = above.is_relative_to(Path.cwd())
    return above.relative_to(Path.cwd()) if is_below else above, run


def _page_of(site: Site, run: Path | None) -> str:
    """The address of the run's page; "" where no run was named, or it is not found."""
    from vgen_eval.viewer.staging import links

    if run is None:
        return ""
    for row in site.index.runs():
        if (site.results / row.path).resolve() == run:
            return links.run(row).lstrip("/")
    return ""


def _tell(site: Site, folder: str | None, *, is_run: bool) -> str:
    """ "12 runs, 106 samples in results", what of them asks for a look, and what was named."""
    from vgen_eval.cli import terminal

    tally = site.tally()
    text = f"{terminal.plural(tally.runs, 'run')}, {terminal.plural(tally.samples, 'sample')}"
    if tally.running:
        text += f", {tally.running} running"
    if tally.unreadable:
        text += f", {tally.unreadable} unreadable"
    text += f" in {site.results}"
    if folder is None or Path(folder).resolve() == site.results.resolve():
        return text
    return f"{text}, opened at {folder}" if is_run else f"{text}, which {folder} is part of"


def _open(address: str) -> None:
    """Opens a browser where there is a screen; where not, the address is printed already."""
    import sys
    import webbrowser

    if sys.platform == "linux" and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER")
    ):
        return
    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(address)
