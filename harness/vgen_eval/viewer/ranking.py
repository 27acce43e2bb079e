"""The samples of runs in the order of a rule: what its words name, and what it goes by."""

from __future__ import annotations

import hashlib
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context

import msgspec

from vgen_eval.errors import UsageError, nearest
from vgen_eval.viewer.records import SampleRow
from vgen_eval.viewer.rules import PRIMARY, WRITTEN, Rule

__all__ = ["Candidates", "Known", "Ranked", "common", "rank"]

_HOLDS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "=": lambda a, b: a == b,
}


class Candidates(msgspec.Struct, frozen=True, kw_only=True):
    """A run and its samples, as rules see them."""

    label: str
    """What it is called in captions."""
    names: tuple[str, ...] = ()
    """What else it goes by, the model's name first: distribution:model, id or key of the run."""
    primary: str = ""
    directions: Mapping[str, bool] = {}
    """Value -> is more of it better? The primary's under its name."""
    aliases: Mapping[str, str] = {}
    """Name of a value -> the key that it has in the rows, where these differ: giou -> iou."""
    values: tuple[str, ...] = ()
    """Keys of all values, where the rows hold those alone that a rule asks for."""
    rows: tuple[SampleRow, ...]


Known = Mapping[str, tuple[SampleRow, ...]]
"""Sample -> its row in each run."""


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """Samples in the order of a rule, and its words."""

    found: Sequence[tuple[str, float | None]]
    words: str
    """With {n} for how many, as "4 samples"."""
    missed: str = ""
    """What nothing had, where nothing was found."""
    ties: bool = True


def common(runs: Sequence[Candidates]) -> Known:
    """The samples that every run has tried, by id."""
    each = [{row.id: row for row in run.rows if row.status != "not_run"} for run in runs]
    if len(each) == 1:
        return {name: (each[0][name],) for name in sorted(each[0])}
    names = sorted(set.intersection(*(set(rows) for rows in each))) if each else []
    return {name: tuple(rows[name] for rows in each) for name in names}


def _run_of(word: str, runs: Sequence[Candidates], rule: Rule) -> int:
    """The number of the run; UsageError where none or several are of that name."""
    at = _find_run(word, runs)
    if len(at) == 1:
        return at[0]
    labels = [run.label for run in runs]
    if at:
        raise UsageError(
            f"--select {rule.text}: '{word}' is {len(at)} of these runs",
            cure=f"one of: {', '.join(labels[k] for k in at)}",
        )
    names = {name for run in runs for name in (run.label, *run.names[:2])}
    raise UsageError(
        f"--select {rule.text}: no run of a model '{word}' here.{nearest(word, names)}",
        cure=f"one of: {', '.join(labels)}",
    )


def _find_run(word: str, runs: Sequence[Candidates]) -> list[int]:
    exact = [at for at, run in enumerate(runs) if run.label == word]
    return exact or [at for at, run in enumerate(runs) if word in run.names]


def _pair_of(rule: Rule, runs: Sequence[Candidates]) -> tuple[int, int]:
    """The two runs of A-B, whose names may hold a - too."""
    parts = rule.subject.split("-")
    splits = [("-".join(parts[:k]), "-".join(parts[k:])) for k in range(1, len(parts))]
    if not splits:
        raise UsageError(
            f"--select {rule.text}: '{rule.subject}' is no pair of models",
            cure=WRITTEN["advantage"],
        )
    for a, b in splits:
        if _find_run(a, runs) and _find_run(b, runs):
            first, second = _run_of(a, runs, rule), _run_of(b, runs, rule)
            if first == second:
                raise UsageError(f"--select {rule.text}: both are one run, {runs[first].label}")
            return first, second
    half = next((pair for pair in splits if any(_find_run(name, runs) for name in pair)), splits[0])
    return _run_of(half[0], runs, rule), _run_of(half[1], runs, rule)


class _Measure(msgspec.Struct, frozen=True):
    """A value of single samples of one run."""

    run: int
    name: str
    numbers: Mapping[str, float]
    """Sample -> value, of those that have one."""
    higher_is_better: bool | None


def _measure(word: str, runs: Sequence[Candidates], known: Known, rule: Rule) -> _Measure:
    """METRIC, METRIC@MODEL or `primary`; UsageError with the nearest where there is none."""
    at, name = 0, word
    if not _has(runs[0], word) and "@" in word:
        name, _, model = word.rpartition("@")
        at = _run_of(model, runs, rule)
    return _measure_of(name, at, runs, known, rule)


def _measure_of(
    name: str, at: int, runs: Sequence[Candidates], known: Known, rule: Rule
) -> _Measure:
    run = runs[at]
    if not _has(run, name):
        names = [*_values_of(run), *run.aliases, PRIMARY]
        raise UsageError(
            f"--select {rule.text}: {run.label} has no value '{name}'.{nearest(name, names)}",
            cure=_told(at, runs, known),
        )
    told = run.primary if name == PRIMARY and run.primary else name
    key = run.aliases.get(told, told)
    numbers = _numbers(name, at, runs, known)
    if not numbers:
        raise UsageError(
            f"--select {rule.text}: {told} says nothing of single samples of {run.label}",
            cure=_told(at, runs, known),
        )
    return _Measure(at, told, numbers, run.directions.get(told, run.directions.get(key)))


def _numbers(name: str, at: int, runs: Sequence[Candidates], known: Known) -> dict[str, float]:
    """Sample -> its value, of those that have one."""
    run = runs[at]
    is_primary, key = name in (PRIMARY, run.primary), run.aliases.get(name, name)
    found = {}
    for sample, rows in known.items():
        number = rows[at].score if is_primary else rows[at].values.get(key)
        if number is not None and math.isfinite(number):
            found[sample] = number
    return found


def _told(at: int, runs: Sequence[Candidates], known: Known) -> str:
    """What the rule may name instead: values that some sample has."""
    names = dict.fromkeys((*_values_of(runs[at]), *runs[at].aliases, PRIMARY))
    some = [name for name in names if _numbers(name, at, runs, known)]
    return f"one of: {', '.join(some)}" if some else "no value is of single samples: random:SEED"


def _has(run: Candidates, name: str) -> bool:
    return name in (PRIMARY, run.primary) or name in run.aliases or name in _values_of(run)


def _values_of(run: Candidates) -> list[str]:
    """The values that some sample has, in the order of the rows'."""
    found: dict[str, None] = dict.fromkeys(run.values)
    for row in () if found else run.rows:
        found.update(dict.fromkeys(k for k, v in row.values.items() if v is not None))
    return list(found)


def _better(measure: _Measure, rule: Rule) -> bool:
    if measure.higher_is_better is None:
        raise UsageError(
            f"--select {rule.text}: whether more of {measure.name} is better is not known",
            cure=f"median:{measure.name}, or {measure.name}<=VALUE",
        )
    return measure.higher_is_better


def _median(rule: Rule, runs: Sequence[Candidates], known: Known) -> Ranked:
    measure = _measure(rule.metric, runs, known, rule)
    middle = statistics.median(measure.numbers.values())
    found = sorted(measure.numbers.items(), key=lambda one: (abs(one[1] - middle), one[0]))
    of = runs[measure.run].label
    words = f"{{n}} nearest the median {measure.name} ({_short(middle)}) of {of}"
    return _unless_all_equal(measure, of, Ranked(found=found, words=words))


def _unless_all_equal(measure: _Measure, of: str, ranked: Ranked) -> Ranked:
    """The same; where no sample is better than another the words say that, and not "the worst"."""
    ends = set(measure.numbers.values())
    if len(ends) > 1 or len(measure.numbers) < 2:
        return ranked
    words = f"{{n}}, first by id: {measure.name} of {of} is {_short(ends.pop())} on all"
    return msgspec.structs.replace(ranked, words=words, ties=False)


def _top(rule: Rule, runs: Sequence[Candidates], known: Known) -> Ranked:
    measure = _measure(rule.metric, runs, known, rule)
    sign = 1 if _better(measure, rule) else -1
    found = sorted(measure.numbers.items(), key=lambda one: (-sign * one[1], one[0]))
    words = f"{{n}} with the best {measure.name} of {runs[measure.run].label}"
    if rule.quantile is not None:
        bound = sign * _quantile([sign * v for v in measure.numbers.values()], rule.quantile)
        found = [one for one in found if sign * one[1] >= sign * bound]
        told = _bound(bound, measure.numbers.values(), ">=" if sign > 0 else "<=")
        words += f", none worse than its {rule.quantile:g} quantile ({told})"
    ranked = Ranked(found=found, words=words)
    return _unless_all_equal(measure, runs[measure.run].label, ranked)


def _worst(rule: Rule, runs: Sequence[Candidates], known: Known) -> Ranked:
    measure = _measure(rule.metric, runs, known, rule)
    sign = 1 if _better(measure, rule) else -1
    found = sorted(measure.numbers.items(), key=lambda one: (sign * one[1], one[0]))
    of = runs[measure.run].label
    ranked = Ranked(found=found, words=f"{{n}} with the worst {measure.name} of {of}")
    return _unless_all_equal(measure, of, ranked)


def _best_of(rule: Rule, runs: Sequence[Candidates], known: Known) -> Ranked:
    at = _run_of(rule.subject, runs, rule)
    measure = _measure_of(PRIMARY, at, runs, known, rule)
    sign = 1 if _better(measure, rule) else -1
    found = sorted(measure.numbers.items(), key=lambda one: (-sign * one[1], one[0]))
    of = runs[at].label
    ranked = Ranked(found=found, words=f"{{n}} on which {of} is at its best by {measure.name}")
    return _unless_all_equal(measure, of, ranked)


def _advantage(rule: Rule, runs: Sequence[Candidates], known: Known) -> Ranked:
    a, b = _pair_of(rule, runs)
    first, second = (_measure_of(rule.metric, at, runs, known, rule) for at in (a, b))
    sign = 1 if _better(first, rule) else -1
    ahead = {
        name: sign * (number - second.numbers[name])
        for name, number in first.numbers.items()
        if name in second.numbers
    }
    words = (
        f"{{n}} on which {runs[a].label} is ahead of {runs[b].label} the farthest in {first.name}"
    )
    if rule.above_median:
        middle = statistics.median(first.numbers.values())
        ahead = {
            name: gap for name, gap in ahead.items()
            if sign * first.numbers[name] >= sign * middle
        }  # fmt: skip
        told = _bound(middle, first.numbers.values(), ">=" if sign > 0 else "<=")
        words += f", {runs[a].label} at its median ({told}) or better"
    found = sorted(
        ((name, gap) for name, gap in ahead.items() if gap > 0), key=lambda one: (-one[1], one[0])
    )
    return Ranked(found=found, words=words, missed=f"{runs[a].label} is ahead on none")


def _compare(rule: Rule, runs: Sequence[Candidates], known: Known) -> Ranked:
    measure = _measure(rule.metric, runs, known, rule)
    holds = _HOLDS[rule.op]
    found = sorted(one for one in measure.numbers.items() if holds(one[1], rule.value))
    ends = measure.numbers.values()
    of = runs[measure.run].label
    what = f"{measure.name} {rule.op} {_bound(rule.value, ends, rule.op)} of {of}"
    return Ranked(
        found=found,
        words=f"{{n}}, first by id of {len(found):,} with {what}",
        missed=f"{measure.name} of {of} is {_short(min(ends))} to {_short(max(ends))}",
        ties=False,
    )


def _random(rule: Rule, runs: Sequence[Candidates], known: Known) -> Ranked:  # noqa: ARG001
    # by hash, so that the 4 lie within the 12, whatever else the runs hold
    names = sorted(known, key=lambda name: (_hash(rule.seed or 0, name), name))
    words = f"{{n}} drawn at random (seed {rule.seed})"
    return Ranked(found=[(name, None) for name in names], words=words, ties=False)


def _decides(rule: Rule, runs: Sequence[Candidates], known: Known) -> Ranked:
    if len(runs) < 2:
        raise UsageError(
            f"--select {rule.text}: one run decides no ranking", cure="name two runs or more"
        )
    each = [_measure_of(rule.metric, at, runs, known, rule) for at in range(len(runs))]
    apart = {}
    for name in known:
        numbers = [one.numbers[name] for one in each if name in one.numbers]
        if len(numbers) == len(runs):
            apart[name] = max(numbers) - min(numbers)
    found = sorted(
        ((name, gap) for name, gap in apart.items() if gap > 0), key=lambda one: (-one[1], one[0])
    )
    labels = [run.label for run in runs]
    told = f"{', '.join(labels[:-1])} and {labels[-1]}"
    return Ranked(
        found=found,
        words=f"{{n}} on which {told} lie farthest apart in {each[0].name}",
        missed="the runs are equal on all",
    )


_RULES: Mapping[str, Callable[[Rule, Sequence[Candidates], Known], Ranked]] = {
    "median": _median,
    "top": _top,
    "worst": _worst,
    "advantage": _advantage,
    "best-of": _best_of,
    "random": _random,
    "decides": _decides,
    "compare": _compare,
}


def rank(rule: Rule, runs: Sequence[Candidates], known: Known) -> Ranked:
    """Every sample that the rule takes, the first first; UsageError for what is not there."""
    return _RULES[rule.kind](rule, runs, known)


def _quantile(numbers: Sequence[float], q: float) -> float:
    """Linear between the two numbers beside it, as numpy's."""
    ordered = sorted(numbers)
    place = q * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _hash(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed}\n{name}".encode("utf-8", "surrogatepass")).digest()


def _short(number: float) -> str:
    return f"{number:.3g}"


def _bound(bound: float, numbers: Iterable[float], sign: str) -> str:
    """As short as it still parts the numbers as the bound does: those that are `sign` it."""
    others, holds = list(numbers), _HOLDS[sign]
    for digits in range(3, 17):
        for rounding in (ROUND_HALF_EVEN, ROUND_FLOOR, ROUND_CEILING):
            end = float(Context(prec=digits, rounding=rounding).create_decimal(repr(bound)))
            if all(holds(number, end) == holds(number, bound) for number in others):
                return f"{end:.{digits}g}"
    return repr(bound)
