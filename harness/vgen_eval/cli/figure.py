"""`vgen-eval figure`: samples of runs side by side as papers show them, chosen by a rule."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vgen_eval.cli import sample_options as option
from vgen_eval.cli.fractions import Number

if TYPE_CHECKING:
    from vgen_eval.viewer.drawing.render import Style
    from vgen_eval.viewer.figure.build import Figure

__all__ = ["command"]

LAYOUTS = ("editors", "gallery")
SUFFIXES = (".png", ".svg")


@click.command("figure", epilog=option.RULES)
@option.runs
@click.option(
    "--layout",
    type=click.Choice(LAYOUTS),
    default="editors",
    metavar="NAME",
    help="editors: answers over what they were read as; gallery: a row a sample (editors).",
)
@option.select("median:absrel")
@option.samples
@option.most(4)
@click.option("-o", "--to", "file", metavar="FILE", help="Picture to write: .png or .svg.")
@click.option("--error", "with_error", is_flag=True, help="Show where predictions are off, too.")
@click.option("--no-caption", is_flag=True, help="Leave the caption out of the picture.")
@click.option("--map", "colours", metavar="NAME", help="Colours of numbers (viridis for depth).")
@click.option("--range", "ends", metavar="LOW~HIGH", help="Ends of the colours (the truth's).")
@click.option(
    "--width",
    type=Number(min=1, max=40),
    default=7.0,
    metavar="INCHES",
    help="Width of the figure (7: two columns of a paper).",
)
@option.attempt
@option.task
@option.anyway
@option.data_root
@option.output
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout: its record.")
def command(
    *, runs: Sequence[str], layout: Any, select: str | None, samples: Sequence[str], n: int,
    file: str | None, with_error: bool, no_caption: bool, colours: str | None, ends: str | None,
    width: float, attempt: int, task: str | None, anyway: bool, data_root: str | None, output: str,
    as_json: bool,
) -> int:  # fmt: skip
    """Show chosen samples of runs side by side, for a paper.

    \b
      vgen-eval figure RUN RUN --select decides -n 3 -o figure.png
      vgen-eval figure RUN --layout gallery --select random:7 -n 12 -o all.svg
    """
    from vgen_eval.cli import terminal
    from vgen_eval.cli.reading import open_runs
    from vgen_eval.plugins import Catalog
    from vgen_eval.viewer.figure.build import build_figure
    from vgen_eval.viewer.gathering import gather

    terminal.guard_stdout()
    form = _check(file, select, samples, as_json=as_json)
    style = _style(colours, ends)
    catalog = Catalog.discover()
    found, code = open_runs(runs, Path(output), task=task, catalog=catalog)
    gathered = gather(
        found, catalog, n=n, select=select, samples=samples, task=task, attempt=attempt - 1,
        anyway=anyway, data_root=data_root,
    )  # fmt: skip
    figure = build_figure(gathered, layout=layout, width=width, style=style, with_error=with_error)
    terminal.note(*(f"note: {terminal.clean(text)}" for text in figure.record["notes"]))
    if file is not None:
        from vgen_eval.cli.writing import write_file
        from vgen_eval.viewer.figure.draw import draw_figure

        write_file(Path(file), draw_figure(figure, form, width=width, caption=not no_caption))
        notes = _tell_extent(figure, form, width, caption=not no_caption)
        terminal.note(*notes, f"written to {file}")
    if as_json:
        terminal.say_json({**figure.record, "exit_code": code})
    else:
        terminal.say(terminal.clean(figure.record["caption"]))
    return code


def _tell_extent(figure: Figure, form: str, width: float, *, caption: bool) -> list[str]:
    """A note where it is higher than a page, with how many samples fit; one where its letters
    are boxes."""
    from vgen_eval.viewer.figure.extent import MOST_RATIO, measure

    notes = []
    extent = measure(figure, width=width, caption=caption)
    if form == "png" and not extent.is_written:
        notes.append("note: letters that the font lacks are boxes; -o FILE.svg keeps them as text")
    if extent.height > MOST_RATIO * width:
        cure = f"-n {extent.fitting} fits a page" if extent.fitting else "higher than a page"
        if not extent.fitting and figure.record["layout"] == "editors":
            cure += ", --layout gallery is lower"
        notes.append(f"note: {extent.height:.1f} inches high, {width:g} wide; {cure}")
    return notes


def _check(file: str | None, select: str | None, samples: Sequence[str], *, as_json: bool) -> str:
    """The picture's format; UsageError where it is none, or nothing would come out."""
    from vgen_eval.cli.writing import refuse_pipe
    from vgen_eval.errors import UsageError

    option.check_choice(select, samples)  # before anything is read
    if file is None:
        if not as_json:
            raise UsageError("a figure is a file", cure="-o figure.png, or --json for its record")
        return ""
    suffix = Path(file).suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"{file}: no format '{suffix}'", cure="-o FILE.png or FILE.svg")
    refuse_pipe(file)
    return suffix[1:]


def _style(colours: str | None, ends: str | None) -> Style:
    """Colours as asked for; UsageError for a map that is none, or ends that are no range."""
    from vgen_eval.errors import UsageError, nearest
    from vgen_eval.viewer.drawing.maps import TABLES
    from vgen_eval.viewer.drawing.render import MOST, Style

    if colours is not None and colours not in TABLES:
        raise UsageError(
            f"--map: no colours '{colours}'.{nearest(colours, TABLES)}",
            cure=f"one of: {', '.join(TABLES)}",
        )
    low = high = None
    if ends is not None:
        try:
            low, high = (float(end) for end in ends.split("~"))
        except ValueError:
            low, high = 0.0, 0.0
        if not -MOST <= low < high <= MOST:
            raise UsageError(f"--range: '{ends}' is no range", cure="--range 0.5~10")
    return Style(map=colours or "", low=low, high=high)
