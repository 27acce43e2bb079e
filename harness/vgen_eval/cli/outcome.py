"""What a run came to: the table, what was skipped and why, where everything is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.cli import logs, terminal
from vgen_eval.cli.numbers import duration, interval, number
from vgen_eval.cli.remarks import labels, print_remarks, tell_unscored
from vgen_eval.cli.suites import model_label, print_suites, task_label
from vgen_eval.engine.pricing import add_up, format_usd
from vgen_eval.results.card import ResultCard

if TYPE_CHECKING:
    from vgen_eval.engine.evaluate import Results
    from vgen_eval.engine.plan import Skip

__all__ = [
    "Table",
    "as_record",
    "explain_exit",
    "print_results",
    "print_skipped",
    "print_table",
]

NO_DATA = "data not found"
"""How the reasons begin of tasks whose data is not here."""


def print_results(
    results: Results,
    suites: Sequence[Mapping[str, Any]],
    *,
    output: str,
    seconds: float,
    before: int = 0,
    seen: bool = False,
) -> None:
    """Prints the table, unless its lines were `seen` as they came, and what belongs below it.

    before: how many of the predictions were there already.
    """
    if results and seen:
        print_remarks(results)
    elif results:
        print_table(results)
    print_suites(suites)
    print_skipped(results.skipped)
    if not results:
        return
    done = sum(card.counts.ended for card in results)
    scored = sum(card.counts.done for card in results)
    noun = "prediction" if scored == done else "attempt"
    complete = not results.stopped and all(card.complete for card in results)
    terminal.say(
        f"{'done in' if complete else 'incomplete after'} {duration(seconds)}   "
        f"{terminal.plural(len(results), 'result card')}, {terminal.plural(done, noun)}"
        + (f" ({'all' if before == done else f'{before:,}'} from before)" if before else "")
        + ("" if scored == done else f", {scored:,} of them scored")
        + _cost(results)
    )
    _print_where(results, output)


def _cost(results: Sequence[ResultCard]) -> str:
    """What the runs cost so far, where they cost anything."""
    paid = [card.volatile.get("cost_usd") or 0.0 for card in results]
    return f", {format_usd(add_up(paid))} so far" if any(paid) else ""


def _print_where(results: Sequence[ResultCard], output: str) -> None:
    files = "result_card.md, result_card.json, predictions.jsonl"
    for card in results[:1] if len(results) == 1 else ():
        terminal.say(f"{Path(output, card.run)}/   {files}")
    if len(results) > 1:
        terminal.say(f"{Path(output, 'runs')}/MODEL/TASK/RUN/   {files}")
    failed = next((card for card in results if card.counts.failed), None)
    shown = failed or results[0]
    rest = "--failed   lists the failed samples" if failed else "  shows the card"
    terminal.say(f"vgen-eval show {Path(output, shown.run)} {rest}")
    terminal.say(f"vgen-eval view {output}   shows questions, answers and errors side by side")


class Table:
    """One line a run: the primary metric, its interval and its bounds."""

    RIGHT = "llllrrlrllrr"

    def __init__(self, *, models: bool, prompts: bool, wide: bool) -> None:
        """Which columns there are: several models, several prompts, room for intervals."""
        self._models = models
        self._prompts = prompts
        self._wide = wide

    def head(self) -> list[str]:
        """The names of the columns."""
        return [
            "task", "model" if self._models else "", "answer", "prompt" if self._prompts else "",
            "done", "failed", "score", "", "", "95 %" if self._wide else "", "ceiling", "floor",
        ]  # fmt: skip

    def row(self, card: ResultCard) -> list[str]:
        """The cells of one run."""
        score = card.score()
        return [
            task_label(card),
            model_label(card) if self._models else "",
            card.answer,
            card.prompt or "-" if self._prompts else "",
            f"{card.counts.ended:,}/{card.counts.expected:,}",
            f"{card.counts.failed:,}",
            card.primary,
            number(score.value),
            score.unit,
            interval(score.ci95) if self._wide else "",
            number(card.ceiling.value) if card.ceiling else "-",
            number(card.floor.value) if card.floor else "-",
        ]


def print_table(cards: Sequence[ResultCard]) -> None:
    """Prints the table of all runs, and what its lines leave out."""
    table = Table(
        models=len({model_label(card) for card in cards}) > 1,
        prompts=len({card.prompt for card in cards}) > 1,
        wide=terminal.width() >= terminal.WIDE and any(interval(c.score().ci95) for c in cards),
    )
    rows = [table.head(), *(table.row(card) for card in cards)]
    terminal.say("", *terminal.fitted(rows, right=Table.RIGHT, indent="  "))
    print_remarks(cards)


def print_skipped(skipped: Sequence[Skip]) -> None:
    """Prints how many pairs were skipped, by reason."""
    groups: dict[str, list[str]] = {}
    for skip in skipped:
        reason = terminal.clean(skip.reason)
        if reason.startswith(NO_DATA) and not skip.exact:  # one line, however many folders it is
            reason = f"{NO_DATA} (vgen-eval data list)"
        groups.setdefault(reason, []).append(skip.task)
    if not groups:
        return
    rows: list[list[str]] = []
    for reason, tasks in groups.items():
        names = ", ".join(dict.fromkeys(tasks))
        who = names if len(tasks) <= 3 else terminal.plural(len(tasks), "pair")
        rows.append(["skipped" if not rows else "", who, reason])
    terminal.say(*terminal.fitted(rows, indent="  "), "")


# --- for programs, and why the exit code is what it is


def as_record(
    results: Results,
    suites: Sequence[Mapping[str, Any]],
    *,
    notices: Sequence[str],
    exit_code: int,
) -> dict[str, Any]:
    """The outcome as one JSON value."""
    return {
        "results": [msgspec.to_builtins(card) for card in results],
        "skipped": [msgspec.to_builtins(skip) for skip in results.skipped],
        "suites": list(suites),
        "notices": list(notices),
        "stopped": results.stopped,
        "stop_reason": results.stop_reason,
        "exit_code": exit_code,
    }


def explain_exit(results: Results, fail_over: float | None, *, output: str) -> None:
    """Says on stderr why the exit code is not 0."""
    log = logs.written()
    groups: dict[tuple[str, str], list[str]] = {}
    for skip in results.skipped:
        if skip.exact:
            groups.setdefault((skip.model, skip.reason), []).append(skip.task)
    for (model, reason), tasks in groups.items():
        terminal.note(
            f"error: {', '.join(dict.fromkeys(tasks))} cannot run with {model}: {reason}"
            + (f" (log: {log})" if log else "")
        )
    if not results and not results.stopped and not any(skip.exact for skip in results.skipped):
        terminal.note("error: nothing ran: every pair was skipped")
    unscored = sum(card.counts.infrastructure for card in results)
    if unscored:
        terminal.note(
            f"{terminal.plural(unscored, 'attempt')} failed in calling or scoring: no score yet.",
            "The same command with --retry-failed runs them again."
            + (f" (log: {log})" if log else ""),
            *tell_unscored(results, output),
        )
    label_of = labels(results)
    for card in results if fail_over is not None else ():
        asked = card.counts.expected - card.counts.data_fault
        failed = card.counts.failed - card.counts.bad_samples  # faulty data is no model's failure
        if asked and fail_over is not None and failed / asked > fail_over:
            terminal.note(
                f"{label_of(card)}: {failed:,} of {asked:,} failed, more than"
                f" --fail-over {fail_over:g}"
            )
