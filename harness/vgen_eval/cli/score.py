"""`vgen-eval score`: kept answers scored again, or predictions that another program made."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vgen_eval.cli import model_options
from vgen_eval.cli.completing import complete_tasks
from vgen_eval.cli.fractions import Fraction

if TYPE_CHECKING:
    from vgen_eval.errors import VgenEvalError
    from vgen_eval.plugins import Catalog
    from vgen_eval.results.card import ResultCard

__all__ = ["command"]

USAGE = "vgen-eval score RUN, or score --task NAME --predictions PATH --model-name NAME"
MOST_NAMED = 2


def _complete_formats(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    from vgen_eval.plugins import Catalog

    return [name for name in Catalog.discover().names("importer") if name.startswith(incomplete)]


@click.command("score")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--task",
    metavar="NAME[@PROTOCOL]",
    shell_complete=complete_tasks,
    help="Task that the predictions answer.",
)
@click.option(
    "--predictions",
    multiple=True,
    metavar="PATH",
    help="Folder or file of predictions; once a model.",
)
@click.option(
    "--model-name",
    multiple=True,
    metavar="NAME",
    help="What to call what made them, in the order of --predictions.",
)
@click.option(
    "--format",
    metavar="NAME",
    shell_complete=_complete_formats,
    help="Their format, where another program's: qbench-raw, human, or a plugin's.",
)
@click.option("--answer", metavar="FORM", help="Their answer form, where a task takes several.")
@model_options.judge
@click.option(
    "--depth-scale",
    type=Fraction(),
    metavar="X",
    help="Metres a step, where depth is whole numbers: 1/1000 for millimetres.",
)
@click.option(
    "--ablate",
    multiple=True,
    metavar="KEY=a,b,..",
    help="Read the RUNs again under each value of a protocol, an option, a field.",
)
@click.option("--metric", metavar="NAME", help="Value that --ablate compares (the primary).")
@click.option("--set", "set", multiple=True, metavar="KEY=VALUE", help="Override of the card.")
@click.option("--data-root", metavar="DIR", help="Folder of the data sets (else $VGEN_DATA).")
@click.option("--output", default="results", metavar="DIR", help="Results folder (results).")
@click.option("--workers", type=int, metavar="N", help="Threads that load and score.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@click.option(
    "--log-level",
    type=click.Choice(("debug", "info", "warning", "error")),
    default="warning",
    metavar="LEVEL",
    help="debug, info, warning or error (warning): what stderr shows.",
)
def command(
    *,
    runs: Sequence[str],
    output: str,
    workers: int | None,
    as_json: bool,
    log_level: str,
    ablate: Sequence[str],
    metric: str | None,
    **given: Any,
) -> int:
    """Score again what a RUN kept, or score predictions made elsewhere.

    \b
      vgen-eval score RUN
      vgen-eval score RUN... --ablate fit=depth_lsq,disparity_lsq_clamped
      vgen-eval score --task NAME --predictions PATH --model-name NAME
      vgen-eval score --task NAME --predictions A --model-name a --predictions B --model-name b
      vgen-eval score --task NAME --predictions PATH --format qbench-raw

    \b
    FORMAT is one of, or a plugin's (vgen-eval list importers); PATH names the model if you do not
      qbench-raw    Q-Bench's published logits, with the opinion scores in the file
      human         people's answers: CSV or JSON lines of id, answer, seconds

    No model is called but the judge of predictions, where answers are judged.
    """  # fmt: skip
    from vgen_eval.cli import logs, outcome, terminal
    from vgen_eval.cli.finding import find_run

    if ablate or metric is not None:
        _check_ablation(runs, given, workers, is_asked=bool(ablate))
        from vgen_eval.cli.ablate import ablate as compare_readings

        logs.setup(log_level, Path(output))
        terminal.guard_stdout()
        return compare_readings(
            ablate, runs, metric=metric, data_root=given["data_root"], output=Path(output),
            workers=workers, as_json=as_json,
        )  # fmt: skip
    _check_words(runs, given, workers)
    logs.setup(log_level, Path(output))
    terminal.guard_stdout()
    started = time.monotonic()
    cards, faults, stopped = _score(runs, given, output, workers, quiet=as_json)
    from vgen_eval.engine.evaluate import Results

    results = Results(cards, stopped=stopped is not None)
    code = results.exit_code() if stopped is None else stopped
    if faults and stopped is None:
        code = faults[0].exit_code
    if as_json:
        notices = [str(fault) for fault in faults]
        terminal.say_json(outcome.as_record(results, [], notices=notices, exit_code=code))
        return code
    if cards and not runs:
        several = len(given["model_name"]) > 1
        for card in cards:
            name = f"{card.model}: " if several else ""
            terminal.say(terminal.clean(f"  {name}{_coverage(card)}"))
    elif cards:  # the runs lie where they lie, whatever --output says
        output = str(find_run(runs[0], Path(output)).parents[len(Path(cards[0].run).parts) - 1])
    outcome.print_results(results, [], output=output, seconds=time.monotonic() - started)
    outcome.explain_exit(results, None, output=output)
    return code


def _check_ablation(
    runs: Sequence[str], given: dict[str, Any], workers: int | None, *, is_asked: bool
) -> None:
    """UsageError unless the words are those of an ablation."""
    from vgen_eval.errors import UsageError

    if not is_asked:
        raise UsageError("--metric goes with --ablate", cure=USAGE)
    if workers is not None and workers < 1:
        raise UsageError(f"--workers: {workers} must be at least 1")
    extra = [n for n, value in given.items() if value not in (None, (), "") and n != "data_root"]
    if extra or not runs:
        what = f"--{extra[0].replace('_', '-')}" if extra else "--ablate"
        raise UsageError(f"{what}: an ablation is of runs", cure="score RUN... --ablate KEY=a,b")


def _check_words(runs: Sequence[str], given: dict[str, Any], workers: int | None) -> None:
    """UsageError unless the words are those of the one form or of the other."""
    from vgen_eval.errors import UsageError
    from vgen_eval.wording import plural

    if workers is not None and workers < 1:
        raise UsageError(f"--workers: {workers} must be at least 1")
    if given["format"] is not None:
        _check_format(given)
    needed = ("task", "predictions", "model_name")
    extra = [n for n, value in given.items() if value not in (None, (), "") and n != "data_root"]
    options = [f"--{name.replace('_', '-')}" for name in extra]
    if runs and extra:
        raise UsageError(
            f"{options[0]} goes with predictions made elsewhere, not with a run",
            cure=USAGE,
        )
    missing = [f"--{name.replace('_', '-')}" for name in needed if not given[name]]
    if not runs and missing:
        what = "no run named" if len(missing) == len(needed) else f"{missing[0]} is missing"
        raise UsageError(
            what,
            cure=USAGE,
        )
    sets, names = given["predictions"], given["model_name"]
    if len(sets) != len(names):
        raise UsageError(
            f"{plural(len(sets), '--predictions', '--predictions')} and "
            f"{plural(len(names), '--model-name')}: each set of predictions has one name",
            cure="--predictions A --model-name a --predictions B --model-name b",
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"--model-name {twice} is given twice", cure="a name of its own for each")


def _check_format(given: dict[str, Any]) -> None:
    """Names the models after their files where they have no names; UsageError for other words."""
    from vgen_eval.engine.formats import name_after
    from vgen_eval.errors import UsageError

    for name in ("answer", "depth_scale"):
        if given[name] is not None:
            raise UsageError(
                f"--{name.replace('_', '-')}: what a file holds says its --format",
                cure="leave one of the two out",
            )
    if not given["model_name"]:
        given["model_name"] = tuple(name_after(Path(path)) for path in given["predictions"])


def _score(
    runs: Sequence[str], given: dict[str, Any], output: str, workers: int | None, *, quiet: bool
) -> tuple[list[ResultCard], list[VgenEvalError], int | None]:
    """The cards, why some sets have none, and the exit code of the signal that ended it early."""
    from vgen_eval.cli import progress, terminal
    from vgen_eval.cli.finding import find_run
    from vgen_eval.cli.signals import Signals
    from vgen_eval.engine.pipeline import Stop
    from vgen_eval.errors import VgenEvalError
    from vgen_eval.plugins import Catalog

    stop = Stop()
    # scoring is quick: without a terminal the table at the end says it all
    reporter = progress.make_reporter(quiet=quiet or not terminal.is_terminal(sys.stderr))
    shared: dict[str, Any] = {"workers": workers, "reporter": reporter, "stop": stop}
    signals = Signals(stop)
    catalog = Catalog.discover()
    paths = [find_run(word, Path(output)) for word in runs]
    cards: list[ResultCard] = []
    faults: list[VgenEvalError] = []
    try:
        with signals, reporter:
            for path in paths:
                from vgen_eval.engine.rescore import rescore

                if stop.soft.is_set():
                    break
                card = rescore(path, catalog, data_root=given["data_root"], **shared)
                cards += [] if card is None else [card]
            if not paths:
                _import(given, output, catalog, shared, cards, faults)
    except (VgenEvalError, KeyboardInterrupt) as exc:
        if signals.exit_code is None:
            raise
        terminal.note(str(exc) or "stopped")
    if stop.soft.is_set() and len(cards) < len(paths):
        terminal.note("stopped: runs that were not finished keep their old scores")
    return cards, faults, signals.exit_code


def _import(
    given: dict[str, Any], output: str, catalog: Catalog, shared: dict[str, Any],
    cards: list[ResultCard], faults: list[VgenEvalError],
) -> None:  # fmt: skip
    """Adds the card of each set of predictions, or its fault: one that is faulty stops no other."""
    from vgen_eval.cli import terminal
    from vgen_eval.cli.options import read_pairs
    from vgen_eval.engine.importing import import_predictions
    from vgen_eval.errors import VgenEvalError

    overrides = read_pairs(given["set"], option="--set")
    sets = list(zip(given["predictions"], given["model_name"], strict=True))
    for path, name in sets:
        if shared["stop"].soft.is_set():
            return
        try:
            cards += import_predictions(
                task=given["task"], predictions=Path(path).expanduser(), model_name=name,
                catalog=catalog, output=output, answer=given["answer"],
                depth_scale=given["depth_scale"], judge=given["judge"],
                data_root=given["data_root"], overrides=overrides, format_name=given["format"],
                **shared,
            )  # fmt: skip
        except VgenEvalError as exc:
            if len(sets) == 1 or shared["stop"].soft.is_set():
                raise
            faults.append(exc)
            terminal.note(*filter(None, (f"error: {name}: {exc}", exc.cure)))


def _coverage(card: ResultCard) -> str:
    """How far the predictions and the task go together; result_card.json lists all that do not."""
    counts = card.counts
    missing = counts.statuses.get("missing", 0)
    found = counts.expected - missing - counts.not_run
    return (
        f"{_of_set(card)}{counts.expected:,} expected, {found:,} found, "
        f"{missing:,} missing{_first(counts.missing_ids)}, "
        f"{len(counts.unknown_ids):,} not in the task{_first(counts.unknown_ids)}"
    )


def _of_set(card: ResultCard) -> str:
    """ "50 of the 1,169 of this set: " where predictions are of a part of it."""
    held, whole = card.selection.get("samples"), card.selection.get("of")
    if not isinstance(held, int) or not isinstance(whole, int) or held >= whole:
        return ""
    return f"{held:,} of the {whole:,} of this set: "


def _first(ids: Sequence[str]) -> str:
    """ " (first, second, ...)"; "" for none."""
    if not ids:
        return ""
    return f" ({', '.join(ids[:MOST_NAMED])}{', ...' if len(ids) > MOST_NAMED else ''})"
