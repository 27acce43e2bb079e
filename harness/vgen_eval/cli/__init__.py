"""The command line: a table of verbs; a verb's module is imported when the verb is used."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from vgen_eval._version import __version__

__all__ = ["PROGRAM", "VERBS", "cli", "main"]

PROGRAM = "vgen-eval"
COMPLETE = "_VGEN_EVAL_COMPLETE"
"""The variable through which click's shell completion asks."""

VERBS: Mapping[str, tuple[str, str]] = {
    "run": ("run", "Run tasks with models; the word may be left out."),
    "list": ("listing", "List tasks, models, plugins or components."),
    "show": ("show", "Show a task, a model, a plugin, a component or a run."),
    "check": ("check", "Check card files, or hold a plugin to its contract."),
    "data": ("data", "List, verify or prepare the data that tasks need."),
    "task": ("task", "Make a task of a folder of your own pictures and truths."),
    "score": ("score", "Score a run again, or predictions made elsewhere."),
    "reproduce": ("reproduce", "Reproduce a paper's table, and say where runs differ from it."),
    "compare": ("compare", "Compare runs sample by sample, or models over several tasks."),
    "table": ("table", "Put runs side by side: terminal, Markdown, LaTeX, CSV."),
    "plot": ("plot", "Draw runs: efficiency, tags, errors, attempts, confusion."),
    "figure": ("figure", "Show chosen samples of runs side by side, for a paper."),
    "report": ("report", "Write one page that opens from disk: numbers, samples, pictures."),
    "view": ("view", "Look at runs in a browser: tables, galleries, samples."),
    "export": ("export", "Write runs in the formats that others read."),
    "bench": ("bench", "Measure how fast a model answers, and the memory it takes."),
    "runs": ("runs", "List or delete runs."),
    "plugin": ("plugin", "Start a plugin package of your own."),
    "doctor": ("doctor", "Say what is installed, missing or broken here."),
    "completion": ("completion", "Print or install shell completion."),
}
"""Verb -> module in this package, and the line that help shows.

No module is named as a builtin is: it would become a name of this package and hide it.
"""

_OWN_OPTIONS = ("-h", "--help", "--version")


class Verbs(click.Group):
    """The verbs of the table, none imported before it is used."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Options without a verb are those of `run`."""
        if args and args[0].startswith("-") and args[0] not in _OWN_OPTIONS:
            args = ["run", *args]
        return super().make_context(info_name, args, parent, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The verbs, in the table's order."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The verb's command; None for a word that is no verb."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"{__name__}.{VERBS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with our own words for a word that is no verb."""
        if args[0] not in VERBS and not ctx.resilient_parsing:
            from vgen_eval.errors import UsageError, nearest

            raise UsageError(
                f"no verb '{args[0]}'.{nearest(args[0], VERBS)}",
                cure=f"{PROGRAM} --help shows them all",
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The table: click would import every verb for its help line."""
        with formatter.section("Verbs"):
            formatter.write_dl([(verb, text) for verb, (_, text) in VERBS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Verbs, and the options of `run`, whose word may be left out."""
        from click.shell_completion import CompletionItem

        if incomplete.startswith("-"):
            run = self.get_command(ctx, "run")
            assert run is not None
            return [
                *click.Command.shell_complete(self, ctx, incomplete),
                *run.shell_complete(click.Context(run, parent=ctx), incomplete),
            ]
        return [
            CompletionItem(verb, help=text)
            for verb, (_, text) in VERBS.items()
            if verb.startswith(incomplete)
        ]


@click.group(
    name=PROGRAM,
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"]},
    options_metavar="",
    subcommand_metavar="VERB [OPTIONS]",
)
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
def cli() -> None:
    """Measures how well generative and multimodal models see.

    \b
      vgen-eval list tasks                              what can be measured
      vgen-eval --tasks all --model NAME --dry-run      what a run would do
      vgen-eval --tasks all --model NAME                run it, or go on with it
      vgen-eval show RUN                                what it came to

    `vgen-eval VERB --help` says more of a verb.
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; `argv` without the program's name.

    0 done; 1 incomplete, or failures over --fail-over; 2 usage or invalid card; 3 something named
    exactly could not run; 4 internal error; 130 and 143 after signals; 141 when who read stdout
    went away. Without a stdout from the start the work is done all the same, in silence.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        _open_streams()
    for stream in (sys.stdout, sys.stderr):
        # a name that the terminal's encoding lacks is shown escaped, and never ends a run
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        if COMPLETE in os.environ:
            return _complete()
        with cli.make_context(PROGRAM, words or ["--help"]) as ctx:
            code = cli.invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as exc:
        return exc.exit_code
    # the last resort: whatever it is becomes two lines and an exit code
    except BaseException as exc:
        from vgen_eval.cli.faults import report

        return report(exc, words)
    finally:
        if argv is not None:  # called from somebody's program, which goes on
            for name in ("terminal", "logs"):
                module = sys.modules.get(f"{__name__}.{name}")
                if module is not None:
                    module.release()


def _open_streams() -> None:
    """Opens what the process was started without; it leads nowhere.

    Else the first file that is opened would be number 1, and hold what libraries print.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            os.set_inheritable(number, True)
            # the number is the process's own: no stream closes it
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115


def _complete() -> int:
    try:
        cli.main(prog_name=PROGRAM, complete_var=COMPLETE)
    except SystemExit as exc:
        return exc.code if isinstance(exc.code, int) else 0
    return 0
