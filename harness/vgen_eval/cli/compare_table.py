"""What a comparison of runs says on a terminal, readable at 80 columns."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from vgen_eval.cli import terminal
from vgen_eval.cli.numbers import interval, number
from vgen_eval.results.contrast_facts import show_fact
from vgen_eval.results.contrast_pairs import LEVEL, Pair
from vgen_eval.wording import plural

if TYPE_CHECKING:
    from vgen_eval.results.contrast import Contrast, Measure, Part
    from vgen_eval.results.contrast_facts import Differing

__all__ = ["shorten", "table", "wrap"]

COLUMNS = 80
LONGEST_LABEL = 40
LONGEST_SUBSET = 14
LONGEST_SAMPLE = 40
MOST_APART = 3
"""Pairs whose farthest samples are shown; the document has all."""
MOST_LEFT_OUT = 10


def table(found: Contrast) -> list[str]:
    """The lines that say what `contrast` found."""
    runs = found.runs
    against = f"to run 1, {runs[0].label}" if found.pairing == "first" else "of every two runs"
    pairs = [pair for measure in found.measures for part in measure.parts for pair in part.pairs]
    intervals = ", with 95 % intervals" if any(interval(p.interval) for p in pairs) else ""
    lines = [
        f"{found.task}   {plural(len(runs), 'run')}",
        *wrap(f"differences: {against}, paired by sample{intervals}"),
        f"p: runs exchanged group by group, Holm-corrected for {plural(found.tests, 'test')}",
    ]
    if found.identity:
        lines += ["", "These differ in more than the model: no measure of the models alone."]
        lines += _facts(found.identity)
    if options := [one for one in found.model if _is_of_one_model(one, found)]:
        lines += ["", "What differs between runs of one model:", *_facts(options)]
    if found.versions:
        lines += ["", "Made with other versions:", *_facts(found.versions)]
    shared = _shared_reason(found)
    for measure in found.measures:
        lines += ["", *_measure(measure, found, shared)]
    if shared is not None:
        lines += ["", *wrap(f"no interval: {shared}")]
    lines += _apart(found)
    left_out = (f"left out: {one.what}: {one.reason}" for one in found.left_out)
    notes = [*_states(found), *map(shorten, left_out)]
    if notes:
        lines += ["", *(line for note in notes[:MOST_LEFT_OUT] for line in wrap(note))]
        if len(notes) > MOST_LEFT_OUT:
            lines.append(f"and {len(notes) - MOST_LEFT_OUT} more: --json")
    return lines


def shorten(text: str) -> str:
    """The text with paths below the current folder as they are from there."""
    return text.replace(f"{Path.cwd()}{os.sep}", "")


def wrap(text: str, indent: int = 0) -> list[str]:
    """The text in lines of 80 columns."""
    return textwrap.wrap(
        terminal.clean(text),
        COLUMNS,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4),
        break_on_hyphens=False,
    )


def _facts(facts: Sequence[Differing]) -> list[str]:
    return [
        line
        for one in facts
        for line in wrap(f"{one.field}: {' / '.join(show_fact(value) for value in one.values)}", 2)
    ]


def _is_of_one_model(one: Differing, found: Contrast) -> bool:
    """Do runs of one model differ in it?"""
    pairs = combinations(zip(found.runs, one.values, strict=True), 2)
    return any(a.model == b.model and first != second for (a, first), (b, second) in pairs)


def _shared_reason(found: Contrast) -> str | None:
    """The one reason for which several values have no interval; None where there is none."""
    reasons = [set(_no_interval(measure.parts[0])) for measure in found.measures]
    return next(iter(reasons[0]), None) if len(reasons) > 1 and _all_alike(reasons) else None


def _all_alike(reasons: Sequence[set[str]]) -> bool:
    return len(reasons[0]) == 1 and all(each == reasons[0] for each in reasons)


def _measure(measure: Measure, found: Contrast, told: str | None) -> Iterator[str]:
    """`told`: why there is no interval, where that is said elsewhere."""
    whole = measure.parts[0]
    unit = f" in {measure.unit}" if measure.unit else ""
    better = "higher" if measure.higher_is_better else "lower"
    over = f"{plural(whole.n, 'sample')} in {plural(whole.clusters, 'group')}"
    yield f"{measure.metric}{unit}, {better} is better   {over}"
    rows = [["", "run", "value", "95 %"]]
    for at, (run, value) in enumerate(zip(found.runs, whole.values, strict=True)):
        label = terminal.clip(run.label, LONGEST_LABEL)
        rows.append([str(at + 1), label, number(value.value), interval(value.interval)])
    yield from _aligned(rows, "r")
    rows = [["", _heading(whole), "p", "won", "tied", "lost", "second is"]]
    rows += [_row(pair, _name(pair), measure) for pair in whole.pairs]
    yield from _aligned(rows, "lllrrr")
    notes = [*_notes(whole), *(f"no interval: {r}" for r in _no_interval(whole) if r != told)]
    for note in dict.fromkeys(notes):
        yield from wrap(note, 2)
    if len(measure.parts) > 1:
        yield from _by(measure)


def _heading(*parts: Part) -> str:
    has_interval = any(interval(pair.interval) for part in parts for pair in part.pairs)
    return "difference, 95 %" if has_interval else "difference"


def _name(pair: Pair) -> str:
    return f"{pair.second + 1} - {pair.first + 1}"


def _row(pair: Pair, name: str, measure: Measure) -> list[str]:
    sign = "+" if pair.difference is not None and pair.difference > 0 else ""
    counts = (pair.wins, pair.ties, pair.losses)
    return [
        name,
        f"{sign}{number(pair.difference)} {interval(pair.interval)}".rstrip(),
        number(pair.p_corrected),
        *("-" if count is None else f"{count:,}" for count in counts),
        _verdict(pair, measure),
    ]


def _verdict(pair: Pair, measure: Measure) -> str:
    """better, worse, or not shown to be either."""
    if pair.difference is None or pair.p_corrected is None:
        return "-"
    if pair.p_corrected >= LEVEL:
        is_equal = not pair.difference and not pair.wins and not pair.losses
        return "equal" if is_equal else "not shown"
    return "better" if (pair.difference > 0) == measure.higher_is_better else "worse"


def _notes(part: Part) -> Iterator[str]:
    """What has to be said of numbers beside the numbers."""
    for pair in part.pairs:
        name = _name(pair)
        if pair.reason:
            yield f"no difference {name}: {pair.reason}"
        elif pair.test.reason:
            yield f"no test of {name}: {pair.test.reason}"
        elif pair.needed is not None:
            yield (
                f"{name}: were {number(pair.difference)} the true difference, it would take about "
                f"{plural(pair.needed.samples, 'sample')} ({plural(pair.needed.groups, 'group')}) "
                f"to show it 8 times in 10"
            )
    for value in part.values:
        if value.reason:
            yield f"no value: {value.reason}"


def _no_interval(part: Part) -> Iterator[str]:
    """Why values and differences have no interval, each reason once."""
    reasons = [value.interval.reason for value in part.values if value.value is not None]
    reasons += [pair.interval.reason for pair in part.pairs if pair.difference is not None]
    for reason in dict.fromkeys(reasons):
        if reason:
            yield reason


def _by(measure: Measure) -> Iterator[str]:
    tag = measure.parts[1].subset.partition("=")[0]
    heading = _heading(*measure.parts[1:])
    rows = [[terminal.clip(f"by {tag}", LONGEST_SUBSET), "n", "", heading, "p", "second is"]]
    for part in measure.parts[1:]:
        subset = terminal.clip(part.subset.partition("=")[2], LONGEST_SUBSET)
        for pair in part.pairs:
            name, told, p_value, *_, verdict = _row(pair, _name(pair), measure)
            rows.append([subset, f"{part.n:,}", name, told, p_value, verdict])
            subset = ""
    yield from _aligned(rows, "lr")


def _aligned(rows: list[list[str]], right: str) -> list[str]:
    """The rows below their heads, without a column that says nothing."""
    for at in range(len(rows[0])):
        if not any(row[at] for row in rows[1:]):
            rows[0][at] = ""
    return terminal.fitted(rows, right=right, indent="  ")


def _apart(found: Contrast) -> Iterator[str]:
    """The samples on which the runs are farthest apart, by the first measure."""
    pairs = [pair for pair in found.measures[0].parts[0].pairs if pair.farthest]
    for pair in pairs[:MOST_APART]:
        first, second = pair.first, pair.second
        yield ""
        rows = [[f"farthest apart, {_name(pair)}", f"run {first + 1}", f"run {second + 1}"]]
        rows += [
            [
                f"  {terminal.clip(far.sample, LONGEST_SAMPLE)}",
                number(far.first),
                number(far.second),
            ]
            for far in pair.farthest
        ]
        yield from terminal.fitted(rows, right="lrr")
    if len(pairs) > MOST_APART:
        yield from ("", f"and of {plural(len(pairs) - MOST_APART, 'more pair')}: --json")


def _states(found: Contrast) -> Iterator[str]:
    for at, run in enumerate(found.runs):
        if not run.complete:
            yield f"run {at + 1}, {run.label}: attempts without a score"
    most = max(run.samples for run in found.runs)
    least = min(part.n for measure in found.measures for part in measure.parts[:1])
    if least < most:
        yield f"of {plural(most, 'sample')}, {least:,} are common to all and scored by all"
