"""`vgen-eval score RUN... --ablate KEY=a,b`: reads the words, asks for the readings, says them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["ablate", "read_ablation"]

LEAST_VALUES = 2
EXAMPLE = "--ablate fit=depth_lsq,disparity_lsq_clamped"


def read_ablation(words: Sequence[str]) -> tuple[str, list[Any]]:
    """KEY and its values, of KEY=a,b,c; UsageError for fewer than two values, or a second key."""
    from vgen_eval.cards import parse_setting
    from vgen_eval.cli.options import split_commas
    from vgen_eval.engine.ablation import show_value
    from vgen_eval.errors import UsageError

    word = words[0]
    if len(words) > 1:
        raise UsageError(
            f"--ablate {word} and --ablate {words[1]}: one choice at a time",
            cure="ask for them one after the other",
        )
    key, _, rest = word.partition("=")
    key = key.strip()
    values = [parse_setting(f"{key}={part}")[1] for part in split_commas(rest) if part]
    shown = {show_value(value) for value in values}
    if not key or len(values) < LEAST_VALUES or len(shown) < len(values):
        raise UsageError(
            f"--ablate {word}: a key and two values or more, each once, are wanted", cure=EXAMPLE
        )
    return key, values


def ablate(
    words: Sequence[str], runs: Sequence[str], *, metric: str | None, data_root: str | None,
    output: Path, workers: int | None, as_json: bool,
) -> int:  # fmt: skip
    """Reads the runs under each value and says what it comes to; the exit code."""
    import sys

    from vgen_eval.cli import terminal
    from vgen_eval.cli.ablate_table import table
    from vgen_eval.cli.finding import find_run
    from vgen_eval.cli.signals import Signals
    from vgen_eval.engine.ablation import Stopped, read_variants
    from vgen_eval.engine.pipeline import Stop
    from vgen_eval.plugins import Catalog
    from vgen_eval.results.ablation import describe_ablation, is_incomplete

    key, values = read_ablation(words)
    paths = {path.resolve(): path for path in (find_run(word, output) for word in runs)}
    stop = Stop()
    signals = Signals(stop)
    watched = terminal.is_terminal(sys.stderr) and not as_json
    try:
        with signals:
            readings = read_variants(
                list(paths.values()), Catalog.discover(), key=key, values=values, metric=metric,
                data_root=data_root, workers=workers, stopped=stop.soft.is_set,
                told=terminal.redraw if watched else None,
            )  # fmt: skip
    except Stopped:
        terminal.note("stopped: nothing is kept of an ablation, and the runs are as they were")
        return signals.exit_code or 1
    finally:
        if watched:
            terminal.redraw("")
    record = describe_ablation(readings, key, values, metric)
    code = int(is_incomplete(record))
    if as_json:
        terminal.say_json({**record, "exit_code": code})
    else:
        terminal.say(*table(record))
    if code:
        terminal.note("attempts have no score under some value: those numbers are incomplete")
    return code
