"""`vgen-eval bench`: images per minute, latency and memory of one model on one task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vgen_eval.cli import model_options
from vgen_eval.cli.completing import complete_models, complete_tasks
from vgen_eval.cli.numbers import number

if TYPE_CHECKING:
    from vgen_eval.cli.signals import Unwinding
    from vgen_eval.results.bench import BenchRecord, Times

__all__ = ["command"]

NOTHING_MEASURED = 1


@click.command("bench", options_metavar="--model NAME --task NAME [OPTIONS]")
@click.option(
    "--model", "models", metavar="NAME", shell_complete=complete_models,
    help="Name of a model or adapter, or a card file.",
)  # fmt: skip
@click.option(
    "--task", "tasks", metavar="NAME[@PROTOCOL]", shell_complete=complete_tasks,
    help="Task whose samples are asked about.",
)  # fmt: skip
@click.option(
    "--samples", type=int, default=20, metavar="N",
    help="Calls that are timed (20); a task with fewer samples has them asked again.",
)  # fmt: skip
@click.option(
    "--warmup", type=int, default=3, metavar="N",
    help="Calls before them that are in no time (3, which is the least).",
)  # fmt: skip
@click.option(
    "--long-side", default="1024", metavar="N|card",
    help="Pictures are resized to it, smaller ones too (1024); card: as the protocol shows them.",
)  # fmt: skip
@model_options.model_args
@click.option(
    "--set", "set", multiple=True, metavar="KEY=VALUE",
    help="Override of a card: generation.num_inference_steps=20.",
)  # fmt: skip
@model_options.answer
@click.option("--prompt", multiple=True, metavar="VARIANT", help="short, mid, long.")
@model_options.device
@model_options.data_root
@model_options.allow_host
@model_options.allow_env
@click.option("--output", metavar="DIR", help="Results folder (results).")
@click.option("--json", "as_json", is_flag=True, help="The record on stdout.")
@model_options.log_level
def command(
    *, samples: int, warmup: int, long_side: str, as_json: bool, log_level: str, **given: Any
) -> int:
    """Measure how fast a model answers: one request a call, one call after the other.

    \b
      vgen-eval bench --model NAME --task samples/depth
      vgen-eval bench --model NAME --task NAME --samples 50 --device cuda

    Loading and warm-up are in no time, nothing is taken from earlier answers, and no call is
    tried again. The record is written below results/bench.
    """  # fmt: skip
    from vgen_eval.cli import logs, terminal
    from vgen_eval.cli.options import build_settings
    from vgen_eval.cli.signals import Unwinding
    from vgen_eval.engine.bench import Asked, plan_bench, run_bench
    from vgen_eval.plugins import Catalog

    _check_words(given)
    settings = build_settings(given, None)
    asked = Asked(samples=samples, warmup=warmup, long_side=_read_long_side(long_side))
    logs.setup(log_level, Path(settings.output))
    terminal.guard_stdout()
    job, notices = plan_bench(settings, Catalog.discover(), asked)
    terminal.note(*(f"note: {notice}" for notice in notices))
    unwinding = Unwinding()
    try:
        with unwinding:
            record, path = run_bench(job, asked, settings, on_progress=_progress(unwinding))
    except KeyboardInterrupt:
        terminal.redraw("")
        if unwinding.exit_code is None:
            raise
        terminal.note("error: interrupted; no record was written")
        return unwinding.exit_code
    terminal.redraw("")
    if as_json:
        import msgspec

        terminal.say_json(msgspec.to_builtins(record))
    else:
        terminal.say(*map(terminal.clean, _lines(record, path)))
    if record.generate is None:
        terminal.note(f"error: no call was answered: {'; '.join(record.calls.reasons)}")
        return NOTHING_MEASURED
    return 0


def _check_words(given: Mapping[str, Any]) -> None:
    from vgen_eval.errors import UsageError

    for option, name in (("--model", "models"), ("--task", "tasks")):
        if not given[name]:
            raise UsageError(
                f"{option} is missing", cure="vgen-eval bench --model NAME --task NAME"
            )


def _read_long_side(text: str) -> int | None:
    from vgen_eval.errors import UsageError

    if text == "card":
        return None
    if not text.isascii() or not text.isdigit() or int(text) < 8:
        raise UsageError(f"--long-side: '{text}' is no number from 8, and not `card`")
    return int(text)


def _progress(unwinding: Unwinding) -> Callable[[str, int, int], None]:
    """A line that is redrawn on a terminal; each call looks whether a signal came."""

    from vgen_eval.cli import terminal

    def tell(what: str, done: int, total: int) -> None:
        unwinding.check()
        terminal.redraw(f"{what}, {done} of {total} done" if total > 1 else what)

    return tell


def _lines(record: BenchRecord, path: Path | None) -> list[str]:
    from vgen_eval._version import __version__
    from vgen_eval.cli import terminal

    calls = record.calls
    turns = (
        "" if calls.samples == calls.asked else f" about {terminal.plural(calls.samples, 'sample')}"
    )
    long_side = record.input["asked_long_side"]
    shown = "as the protocol shows them"
    if long_side is not None:
        shown = f"long side {long_side}, smaller ones enlarged"
    return [
        f"vgen-eval {__version__}   bench   {record.task}@{record.protocol} with {record.model}"
        f" ({record.answer})",
        f"  batch 1, {terminal.plural(calls.asked, 'call')}{turns} one after the other; pictures "
        f"{shown}; {terminal.plural(calls.warmup, 'warm-up call')} left out",
        "",
        *terminal.fitted(_rows(record), indent="  "),
        "",
        f"record: {path or 'none written: the one before, of the same, measured something'}",
    ]


def _rows(record: BenchRecord) -> list[list[str]]:
    rows = []
    if record.latency is not None:
        late = record.latency
        told = f"p50 {_time(late.p50_s)}, p90 {_time(late.p90_s)}, p99 {_time(late.p99_s)}"
        rows.append(["latency", told, f"of {late.calls} sequential calls to {record.endpoint}"])
        rows.append(["images/min", "-", "a service: latency is no throughput"])
    elif record.generate is not None:
        rows.append(_row("generate", record.generate, record.images_per_minute))
    if record.decode is not None:
        rows.append(_row("decode", record.decode, None))
    if record.images_per_minute_decoded is not None and record.decode is not None:
        both = f"{number(record.images_per_minute_decoded)} images/min"
        rows.append(["generate + decode", both, f"of {record.decode.calls} that were decoded"])
    first = record.first_call_s
    started = "" if first is None else f"first call {_time(first)}"
    rows.append(["load", _time(record.load_s), started])
    if record.cost_usd is not None:
        rows.append(["cost", f"${record.cost_usd:,.4f}", "warm-up included"])
    return rows + _memory_rows(record) + _fault_rows(record)


def _row(name: str, times: Times, per_minute: float | None) -> list[str]:
    mean = f"{_time(times.mean_s)} each"
    spread = f"{_time(times.min_s)} to {_time(times.max_s)}, median {_time(times.median_s)}"
    if per_minute is None:
        return [name, mean, spread]
    return [name, f"{number(per_minute)} images/min", f"{mean}, {spread}"]


def _time(seconds: float) -> str:
    """Three figures, in the unit that fits."""
    if seconds >= 0.1:
        return f"{number(seconds)} s"
    return f"{number(1e3 * seconds)} ms" if seconds >= 1e-4 else f"{number(1e6 * seconds)} us"


def _memory_rows(record: BenchRecord) -> list[list[str]]:
    memory = record.memory
    named: Mapping[str, tuple[str, float | None]] = {
        "allocator_peak_mib": ("allocator", memory.allocator_peak_mib),
        "nvml_process_peak_mib": ("NVML", memory.nvml_process_peak_mib),
        "resident_peak_mib": ("main memory", memory.resident_peak_mib),
    }
    if record.endpoint is not None:
        return [["memory", "-", "of the service: not known here"]]
    return [
        [
            f"{name} peak",
            "-" if value is None else f"{value / 1024:.2f} GiB",
            memory.reasons.get(field, ""),
        ]
        for field, (name, value) in named.items()
    ]


def _fault_rows(record: BenchRecord) -> list[list[str]]:
    from vgen_eval.cli.terminal import plural

    calls = record.calls
    rows = []
    if calls.failed:
        told = ", ".join(f"{count} {status}" for status, count in calls.failures.items())
        rows.append(["failed", f"{calls.failed} of {calls.asked}", f"{told}: in no time"])
    if calls.undecodable:
        rows.append(["undecodable", f"{calls.undecodable} of {calls.answered}",
                     "in the time of generating, not of decoding"])  # fmt: skip
    if calls.warmup_failed:
        warm_up = plural(calls.warmup, "warm-up call")
        rows.append(["failed", f"{calls.warmup_failed} of {warm_up}", ""])
    return rows
