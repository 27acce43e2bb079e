"""`vgen-eval task new`: a task made of a folder of somebody's own pictures and truths."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vgen_eval.cli.fractions import Fraction
from vgen_eval.cli.verbs import VerbGroup

if TYPE_CHECKING:
    from vgen_eval.making.new import Made

__all__ = ["command"]

VERBS = ("new",)
SHOWN = 5
"""Of what was left out: the rest is counted."""
VALUES_SHOWN = 5
FAULTY = 2


@click.group(
    "task",
    cls=VerbGroup,
    invoke_without_command=True,
    subcommand_metavar="VERB [OPTIONS]",
    options_metavar="",
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Make a task of your own data."""  # fmt: skip
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@command.command("new", options_metavar="--family FAMILY [OPTIONS]")
@click.argument("folder", metavar="FOLDER")
@click.option(
    "--family",
    metavar="NAME",
    help="depth, normals, referring, semantic, counting, quality: what is asked.",
)
@click.option("--images", metavar="SUB", help="Sub-folder of the pictures (else guessed).")
@click.option("--targets", metavar="SUB", help="Sub-folder of the truths (else guessed).")
@click.option("--valid", metavar="SUB", help="Sub-folder of masks of the pixels that have a truth.")
@click.option(
    "--depth-scale", type=Fraction(), metavar="X", help="Metres a step: 0.001, or 1/256 as KITTI."
)
@click.option("--depth-key", metavar="KEY", help="Array of .npz files that hold several.")
@click.option("--max-depth", type=Fraction(), metavar="M", help="Metres; farther is no reading.")
@click.option(
    "--frame",
    metavar="NAME",
    help="Of normals and their answers: opengl (default), opencv, or 'right down away'.",
)
@click.option(
    "--classes",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="A name a line from value 0, or YAML or JSON of value: name or {name, colour}.",
)
@click.option(
    "--ignore",
    multiple=True,
    type=int,
    metavar="VALUE",
    help="Value of the files that is no truth; may be repeated.",
)
@click.option(
    "--queries",
    metavar="FILE",
    help="CSV or JSONL: id,query (referring); id,query,count; id,score; id,question,A,B,answer.",
)
@click.option("--query", metavar="TEXT", help="The query or question of every sample.")
@click.option(
    "--lower-is-better",
    is_flag=True,
    default=None,
    help="Of scores: the lowest is the best, as of some DMOS.",
)
@click.option("--like", metavar="TASK", help="Task whose protocols are taken (samples/FAMILY).")
@click.option("--name", metavar="NAME", help="Name of the task (my/<folder>).")
@click.option("--title", metavar="TEXT", help="One line: what it measures.")
@click.option("--licence", metavar="TEXT", help="Licence of the data.")
@click.option("--source", metavar="TEXT", help="Where the data comes from.")
@click.option("--citation", metavar="TEXT", help="How to cite it.")
@click.option("--force", is_flag=True, help="Write over what is there.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@click.option(
    "--log-level",
    type=click.Choice(("debug", "info", "warning", "error")),
    default="error",
    metavar="LEVEL",
    help="debug, info, warning or error (error): what stderr shows.",
)
def new(*, folder: str, as_json: bool, log_level: str, **given: Any) -> int:
    """Make a task of the pictures and truths in FOLDER.

    \b
      vgen-eval task new rooms --family depth --depth-scale 1/1000
      vgen-eval task new street --family semantic --classes names.txt
      vgen-eval task new pets --family referring --query "the cat"
      vgen-eval task new shelf --family counting --queries counts.csv
      vgen-eval task new photos --family quality --queries scores.csv

    A truth has its picture's name: images/a.jpg with depth/a.png, or a.jpg with a_depth.png. FOLDER
    gets a card (task.yaml), a list of samples (manifest.jsonl) and a page with three of them
    (preview.html). All data is read once, and a perfect model's score says what the protocol
    itself loses.
    """  # fmt: skip
    from vgen_eval.cli import logs, terminal
    from vgen_eval.cli.signals import Unwinding
    from vgen_eval.errors import CardError
    from vgen_eval.making.new import NewTask, make_task
    from vgen_eval.plugins import Catalog

    logs.setup(log_level, None)
    terminal.guard_stdout()
    started = time.monotonic()
    facts = {key: given.pop(key) for key in ("licence", "source", "citation")}
    own = {key: given.pop(key) for key in ("family", "like", "name", "title", "images", "targets",
                                           "force")}  # fmt: skip
    asked = NewTask(
        folder=Path(folder),
        hints={key: value for key, value in given.items() if value not in (None, ())},
        facts={key: value for key, value in facts.items() if value},
        **own,
    )
    unwinding = Unwinding()

    def tell(text: str) -> None:
        unwinding.check()
        terminal.note(f"{text} ...")

    try:
        with unwinding:
            made = make_task(asked, Catalog.discover(), tell=tell)
    except CardError as exc:
        return _tell_faults(exc, as_json=as_json)
    except KeyboardInterrupt:
        if unwinding.exit_code is None:
            raise
        terminal.note("error: interrupted; nothing was written")
        return unwinding.exit_code
    if as_json:
        terminal.say_json(_as_record(made))
        return 0
    _say_draft(made)
    _say_made(made, time.monotonic() - started)
    return 0


def _tell_faults(exc: Any, *, as_json: bool) -> int:
    from vgen_eval.cli import terminal

    problems, left_out = exc.problems, getattr(exc, "left_out", ())
    if as_json:
        rows = [
            {"file": p.file, "line": p.line, "path": p.path, "message": p.message} for p in problems
        ]
        terminal.say_json({"problems": rows, "left_out": list(left_out)})
    else:
        terminal.say(*(terminal.clean(str(problem)) for problem in problems))
    _tell_left_out(left_out)
    terminal.note(
        f"error: {terminal.plural(len(problems), 'fault')}; nothing was written",
        "mend these files or move them away, and ask again",
    )
    return FAULTY


def _say_draft(made: Made) -> None:
    from vgen_eval.cli import terminal

    for guess in made.draft.guessed:
        terminal.say(terminal.clean(f"  guessed   {guess}"))
    for note in made.draft.notes:
        terminal.say(terminal.clean(f"  note      {note}"))
    for doubt in made.draft.doubts:
        terminal.note(f"warning: check: {doubt}")
    _tell_left_out(made.draft.left_out)


def _tell_left_out(left: Sequence[str]) -> None:
    from vgen_eval.cli import terminal

    if left:
        terminal.note(f"warning: left out, {len(left):,} in all:")
        terminal.note(*(f"  {line}" for line in left[:SHOWN]))
        if len(left) > SHOWN:
            terminal.note(f"  and {len(left) - SHOWN:,} more")


def _say_made(made: Made, seconds: float) -> None:
    from vgen_eval.cli import terminal
    from vgen_eval.cli.numbers import duration

    samples = terminal.plural(len(made.draft.lines), "sample")
    rows = [
        ["wrote", str(made.files["card"]), f"{made.name}, protocols of {made.like}"],
        ["", str(made.files["manifest"]), samples],
    ]
    if made.ceiling is not None:
        rows.append(["", str(made.files["preview"]), "three of them: look at it"])
    terminal.say(*terminal.fitted(rows, indent="  "))
    if made.unknown:
        fields = ", ".join(f"dataset.{key}" for key in made.unknown)
        terminal.say(f"  fill in   {fields} in {terminal.clean(made.files['card'])}")
    if made.ceiling is None:
        terminal.note(f"note: no ceiling: {made.why_no_ceiling}")
    else:
        terminal.say(f"  a perfect model: {_ceiling(made)}")
    path = shlex.quote(str(made.files["card"]))
    terminal.say(
        f"done in {duration(seconds)}   next:",
        f"  vgen-eval --tasks {path} --model NAME",
        f"  vgen-eval score --task {path} --predictions DIR --model-name NAME",
    )


def _ceiling(made: Made) -> str:
    from vgen_eval.cli.numbers import number
    from vgen_eval.cli.terminal import plural

    card = made.ceiling
    scores = [s for s in card.scores if s.subset == "all" and s.selection == "mean"]
    scores.sort(key=lambda score: score.metric != card.primary)
    shown = scores[:VALUES_SHOWN]
    values = "   ".join(f"{s.metric} {number(s.value)} {s.unit}".rstrip() for s in shown)
    values += "   ..." if len(shown) < len(scores) else ""
    is_all = made.measured == len(made.draft.lines)
    part = "" if is_all else f"{plural(made.measured, 'sample')}, "
    faults = card.counts.data_fault
    odd = f"   ({faults:,} without a truth to score)" if faults else ""
    return f"{values}   ({part}{card.protocol}, {card.answer}){odd}"


def _as_record(made: Made) -> dict[str, Any]:
    card = made.ceiling
    return {
        "task": made.name,
        "protocols_of": made.like,
        **{key: str(path) for key, path in made.files.items()},
        "samples": len(made.draft.lines),
        "guessed": list(made.draft.guessed),
        "notes": list(made.draft.notes),
        "check": list(made.draft.doubts),
        "left_out": list(made.draft.left_out),
        "fill_in": [f"dataset.{key}" for key in made.unknown],
        "ceiling": None
        if card is None
        else {
            "protocol": card.protocol,
            "answer": card.answer,
            "samples": made.measured,
            "no_valid_target": card.counts.data_fault,
            "values": {
                s.metric: s.value
                for s in card.scores
                if s.subset == "all" and s.selection == "mean"
            },
        },
    }
