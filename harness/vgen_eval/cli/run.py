"""`vgen-eval run`: tasks with models; the same command again goes on where it ended."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vgen_eval.cli import model_options
from vgen_eval.cli.completing import complete_models, complete_tasks

if TYPE_CHECKING:
    from vgen_eval.engine.plan import Plan
    from vgen_eval.engine.settings import Settings
    from vgen_eval.plugins import Catalog

__all__ = ["command"]

NOT_THE_MODELS = "error,timeout,judge_error,bad_sample"


@click.command(
    "run",
    cls=model_options.Sectioned,
    options_metavar="--tasks NAME --model NAME [OPTIONS]",
    sections={
        "tasks": "What is run",
        "device": "How",
        "output": "What is kept, what is done again",
        "max_calls": "Limits",
        "allow_host": "What cards of plugins and files may do",
        "dry_run": "What is shown",
    },
)
@click.option(
    "--tasks",
    "--task",
    "tasks",
    multiple=True,
    metavar="NAME,..",
    shell_complete=complete_tasks,
    help="Names, globs, card files, suite:NAME, or all; name@protocol for a protocol.",
)
@click.option(
    "--model",
    "--models",
    "models",
    multiple=True,
    metavar="NAME,..",
    shell_complete=complete_models,
    help="Names of models or adapters, or card files.",
)
@model_options.model_args
@click.option(
    "--set",
    "set",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override of a card: generation.seed=1, protocol.input.long_side=1024.",
)
@click.option("--config", metavar="FILE", help="YAML file of these options; the words here win.")
@model_options.judge
@model_options.answer
@click.option("--prompt", multiple=True, metavar="VARIANT,..", help="short, mid, long.")
@click.option("--samples", multiple=True, metavar="ID,..", help="Only these; @FILE reads ids.")
@click.option("--limit", type=int, metavar="N", help="At most N samples a task.")
@click.option("--attempts", type=int, metavar="N", help="Repeats of each sample.")
@click.option("--bounds/--no-bounds", default=None, help="Ceiling and floor beside the models.")
@model_options.device
@click.option("--batch-size", type=int, metavar="N", help="Requests a call at most.")
@click.option("--workers", type=int, metavar="N", help="Threads that load and score.")
@model_options.data_root
@click.option("--output", metavar="DIR", help="Results folder (results).")
@click.option("--keep", metavar="all|failed|none", help="Raw answers to keep once scored (all).")
@click.option("--fresh", is_flag=True, default=None, help="Another run beside one that is there.")
@click.option(
    "--retry-failed",
    is_flag=False,
    flag_value=NOT_THE_MODELS,
    metavar="[=KIND,..]",
    help=f"Run failed attempts again; without kinds: {NOT_THE_MODELS}.",
)
@click.option("--max-calls", type=int, metavar="N", help="Stop after so many calls, tries counted.")
@click.option("--max-tokens", type=int, metavar="N", help="Stop after so many tokens.")
@click.option("--max-cost", type=float, metavar="USD", help="Stop before it costs more.")
@click.option(
    "--fail-over",
    type=float,
    metavar="SHARE",
    help="Exit with 1 when more than this share of a run failed.",
)
@model_options.allow_host
@model_options.allow_env
@click.option("--dry-run", is_flag=True, help="Say what would happen; call nothing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@model_options.log_level
def command(
    *, config: str | None, dry_run: bool, as_json: bool, log_level: str, **given: Any
) -> int:
    """Run tasks with models and write a result card for each pair.

    What is already there is not done again: the same command goes on with its run.
    """  # fmt: skip
    from vgen_eval.cli import logs, terminal
    from vgen_eval.cli.options import build_settings

    settings = build_settings(given, config)
    logs.setup(log_level, Path(settings.output))
    terminal.guard_stdout()
    from vgen_eval.engine.plan import make_plan
    from vgen_eval.plugins import Catalog

    catalog = Catalog.discover()
    plan = make_plan(settings, catalog, looks_only=dry_run)
    terminal.note(*(f"note: {notice}" for notice in plan.notices))
    if dry_run:
        from vgen_eval.cli.dry_run import show_plan

        return show_plan(plan, settings, as_json=as_json)
    return _run(plan, settings, catalog, as_json=as_json)


def _run(plan: Plan, settings: Settings, catalog: Catalog, *, as_json: bool) -> int:
    from vgen_eval.cli import outcome, progress, terminal
    from vgen_eval.cli.signals import Signals
    from vgen_eval.cli.suites import summarise_suites
    from vgen_eval.engine.evaluate import run_plan
    from vgen_eval.engine.pipeline import Stop
    from vgen_eval.errors import NotRunnable, RunLocked, VgenEvalError

    started = time.monotonic()
    stop = Stop()
    reporter = progress.make_reporter(quiet=as_json)
    signals = Signals(stop)
    try:
        with signals, reporter:
            results = run_plan(plan, settings, catalog, reporter=reporter, stop=stop)
    except (VgenEvalError, KeyboardInterrupt) as exc:
        if not as_json and reporter.cards and not reporter.prints_table:
            outcome.print_table(reporter.cards)
        if isinstance(exc, KeyboardInterrupt) and signals.exit_code is not None:
            _say_kept(plan)
            return signals.exit_code
        if isinstance(exc, NotRunnable) and not isinstance(exc, RunLocked):
            _say_kept(plan, unless_none=True)
        raise
    code = results.exit_code(settings.fail_over)
    if results.stopped:
        code = signals.exit_code or code
    suites = summarise_suites(results, settings.tasks, catalog)
    if as_json:
        terminal.say_json(outcome.as_record(results, suites, notices=plan.notices, exit_code=code))
    else:
        outcome.print_results(
            results,
            suites,
            output=settings.output,
            seconds=time.monotonic() - started,
            before=reporter.found,
            seen=reporter.prints_table,
        )
    outcome.explain_exit(results, settings.fail_over, output=settings.output)
    if results.stopped:
        _say_kept(plan, how=results.stop_reason)
    return code


def _say_kept(plan: Plan, *, how: str | None = None, unless_none: bool = False) -> None:
    """Says how far it is and how it goes on; `how`: the words of a budget that do."""
    from vgen_eval.cli import dry_run, terminal

    kept = sum(dry_run.count_finished(job) for job in plan.jobs)
    total = sum(job.size for job in plan.jobs)
    if how is not None:
        terminal.note(how, f"kept {kept:,} of {total:,}.")
    elif not unless_none or 0 < kept < total:
        terminal.note(f"kept {kept:,} of {total:,}. Run the same command to go on.")
