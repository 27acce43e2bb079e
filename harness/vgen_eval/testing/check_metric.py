"""Checks of a metric, on statistics of real samples: true, shifted and failed predictions."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from vgen_eval import jsonio
from vgen_eval.errors import NoValidTarget
from vgen_eval.testing.metric_bench import Case, MetricBench
from vgen_eval.testing.outcome import Failed, Skipped, Unavailable, tell
from vgen_eval.testing.values import best_of, close, enlarge, leaves, same, shortfall, worse
from vgen_eval.types import Statistics
from vgen_eval.wording import plural

__all__ = ["Bench"]

Bench = MetricBench
LARGEST = 64 * 1024
"""Bytes of JSON that the statistics of one sample may take."""
PERFECT_OFF = 0.05
"""Part of a value's range that a true prediction may lose on its way through the codec."""


def check_scores(bench: Bench) -> str:
    """Can its samples be scored?"""
    if not bench.cases:
        raise Unavailable("none of the samples has a truth to score")
    kinds = {case.kind for case in bench.cases}
    for _, statistics in bench.scored:
        bench.compute(statistics)
    return f"{len(bench.scored)} predictions ({', '.join(sorted(kinds))})"


def check_statistics_plain(bench: Bench) -> None:
    """Are statistics plain numbers?"""
    for case, statistics in bench.scored:
        if not isinstance(statistics, dict):
            raise Failed(f"update() gave {type(statistics).__name__}, no dict")
        try:
            jsonio.finite(jsonio.plain(statistics, "statistics"))
        except ValueError as exc:
            raise Failed(f"sample '{case.sample.id}', {case.kind}: {exc}") from exc


def check_statistics_small(bench: Bench) -> str:
    """Do statistics stay small?"""
    most = 0
    for case, statistics in bench.scored:
        most = max(most, len(msgspec.json.encode(statistics, enc_hook=_plain)))
        if most > LARGEST:
            raise Failed(f"sample '{case.sample.id}': {most} bytes of JSON, over {LARGEST}")
        if not case.sample.images:
            continue
        picture = case.sample.images[0]
        size = (picture.height, picture.width)
        larger = msgspec.structs.replace(
            case.sample, target=enlarge(case.sample.target, size),
            valid=enlarge(case.sample.valid, size),
        )  # fmt: skip
        if same(larger.target, case.sample.target):
            continue  # a truth without pixels has no size
        grown = bench.score(Case(case.kind, larger, enlarge(case.value, size)))
        if grown is not None and leaves(grown) > leaves(statistics):
            held = plural(leaves(statistics), "entry", "entries")
            raise Failed(
                f"sample '{case.sample.id}': {held}, and {leaves(grown)} "
                "when its picture is twice as high and wide"
            )
    return f"{plural(most, 'byte')} at most"


def _plain(value: Any) -> Any:
    return jsonio.plain(value)


def _triples(bench: Bench) -> Iterator[tuple[Statistics, Statistics, Statistics]]:
    """Statistics of unlike predictions, in threes."""
    found = [statistics for _, statistics in bench.scored]
    if len(found) < 2:
        raise Skipped("one prediction alone: nothing to merge")
    step = max(1, len(found) // 3)
    for at in range(min(len(found), 5)):
        yield found[at], found[(at + step) % len(found)], found[(at + 2 * step) % len(found)]


def check_merge_commutative(bench: Bench) -> None:
    """Does the order of merging matter?"""
    for a, b, _ in _triples(bench):
        first, second = bench.compute(bench.merge(a, b)), bench.compute(bench.merge(b, a))
        if not close(first, second):
            raise Failed(f"merge(a, b) gives {_show(first)}, merge(b, a) {_show(second)}")


def check_merge_associative(bench: Bench) -> None:
    """Does the bracketing matter?"""
    for a, b, c in _triples(bench):
        first = bench.compute(bench.merge(bench.merge(a, b), c))
        second = bench.compute(bench.merge(a, bench.merge(b, c)))
        if not close(first, second):
            raise Failed(f"(a + b) + c gives {_show(first)}, a + (b + c) {_show(second)}")


def _show(values: dict[str, Any]) -> str:
    return ", ".join(
        f"{key} {value:.6g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in values.items()
    )


def check_compute_of_merged(bench: Bench) -> None:
    """Are pooled values averages of some kind?"""
    merged = bench.scored[0][1]
    for _, more in bench.scored[1:]:
        merged = bench.merge(merged, more)
    once, twice = bench.compute(merged), bench.compute(bench.merge(merged, merged))
    for value in bench.values:
        got = once.get(value.of)
        if got is None:
            continue
        if not math.isfinite(got):
            raise Failed(f"{value.of} is {got} over all predictions")
        low, high = value.low, value.high
        if (low is not None and got < low - 1e-9) or (high is not None and got > high + 1e-9):
            raise Failed(f"{value.of} is {got:.6g}, outside of {low} to {high}")
        if value.aggregation == "pooled" and not close(got, twice.get(value.of)):
            raise Failed(
                f"{value.name} is {got:.6g}, and {twice.get(value.of)} of the same data twice over"
            )


def check_values_declared(bench: Bench) -> None:
    """Does it report what it declares?"""
    wanted = {value.of for value in bench.values}
    for _, statistics in bench.scored:
        given = set(bench.compute(statistics))
        if given - wanted:
            raise Failed(
                f"compute() gives {sorted(given - wanted)}, which `values` does not declare"
            )
        if wanted - given:
            raise Failed(f"compute() does not give {sorted(wanted - given)}")


def check_finite_or_none(bench: Bench) -> None:
    """Is each value a finite number or None?"""
    for case, statistics in bench.scored:
        for key, value in bench.compute(statistics).items():
            if value is not None and not (
                isinstance(value, (int, float, np.number)) and math.isfinite(value)
            ):
                raise Failed(f"sample '{case.sample.id}', {case.kind}: {key} is {value!r}")


def _means(bench: Bench, kind: str) -> dict[str, float]:
    """key -> mean of the values of one kind of prediction."""
    found: dict[str, list[float]] = {}
    for case, statistics in bench.scored:
        if case.kind == kind:
            for key, value in bench.compute(statistics).items():
                if value is not None and math.isfinite(value):
                    found.setdefault(key, []).append(float(value))
    return {key: float(np.mean(values)) for key, values in found.items()}


def check_perfect(bench: Bench) -> str:
    """Does the truth reach the best value?"""
    true, failed = _means(bench, "true"), _means(bench, "failed")
    told = []
    for value in bench.values:
        if value.of not in true or best_of(value) is None:
            continue
        off = shortfall(value, true[value.of], floor=failed.get(value.of))
        told.append(f"{value.of} {true[value.of]:.4g}")
        if off is not None and off > PERFECT_OFF:
            raise Failed(
                f"{value.name} of the truth is {true[value.of]:.4g}, its best {best_of(value):.4g}"
            )
    if not told:
        raise Skipped("its values declare no best")
    return ", ".join(dict.fromkeys(told))


def check_direction(bench: Bench) -> None:
    """Is the truth better than a failure?"""
    true, failed = _means(bench, "true"), _means(bench, "failed")
    if not failed:
        raise Skipped("there is no failure value that has values")
    for value in bench.values:
        if (
            value.of in true
            and value.of in failed
            and worse(value, true[value.of], failed[value.of])
        ):
            word = "higher" if value.higher_is_better else "lower"
            raise Failed(
                f"{value.name}: {true[value.of]:.4g} for the truth, {failed[value.of]:.4g} for the "
                f"failure value, and {word} is declared better"
            )


def check_edge_cases(bench: Bench) -> str:
    """What happens where there is nothing to score, or one class alone?"""
    case = bench.cases[0]
    told = []
    for what, pred, target, valid in _voids(case):
        told.append(what)
        statistics = _update(bench, pred, target, valid, what)
        values = {} if statistics is None else bench.compute(statistics)
        if any(value is not None for value in values.values()):
            raise Failed(f"{what}: update() raises no NoValidTarget")
    for what, pred, target in _lone_classes(case):
        told.append(what)
        statistics = _update(bench, pred, target, None, what)
        for key, value in bench.compute(statistics).items() if statistics is not None else ():
            if value is not None and not math.isfinite(value):
                raise Failed(f"{what}: {key} is {value}")
    if not told:
        raise Skipped("its truths have no pixels")
    return ", ".join(told)


def _voids(case: Case) -> Iterator[tuple[str, Any, Any, Any]]:
    """Samples without a pixel whose truth is known: what they are, pred, target, valid."""
    target = case.sample.target
    if case.sample.images:
        size = (case.sample.images[0].height, case.sample.images[0].width)
        if not same(enlarge(target, size), target):
            yield "no valid pixel", case.value, target, np.zeros(size, bool)
    if isinstance(target, np.ndarray) and target.dtype.kind == "f" and target.ndim >= 2:
        yield "a truth of NaN", case.value, np.full_like(target, np.nan), None
    if _has_labels(target):
        void = msgspec.structs.replace(target, labels=np.full_like(target.labels, -1))
        yield "a truth of ignored pixels", case.value, void, None


def _lone_classes(case: Case) -> Iterator[tuple[str, Any, Any]]:
    """Label maps in which all classes but one are absent: what they are, pred, target."""
    target = case.sample.target
    if not _has_labels(target):
        return
    first, last = (
        msgspec.structs.replace(target, labels=np.full_like(target.labels, label))
        for label in (0, len(target.classes) - 1)
    )
    yield "one class alone", first, first
    yield "a class that is absent", last, first


def _has_labels(target: Any) -> bool:
    return hasattr(target, "labels") and bool(getattr(target, "classes", None))


def _update(bench: Bench, pred: Any, target: Any, valid: Any, what: str) -> Statistics | None:
    """The statistics; None where there is nothing to score."""
    try:
        return bench.metric.update(pred, target, valid)  # type: ignore[no-any-return]
    except NoValidTarget:
        return None
    except Exception as exc:
        raise Failed(f"{what}: raised {tell(exc)}") from exc


def check_inputs_untouched(bench: Bench) -> None:
    """Does it leave what it is given as it is?"""
    for case in bench.cases:
        given = (case.value, case.sample.target, case.sample.valid)
        before = copy.deepcopy(given)
        statistics = bench.metric.update(*given)
        for what, now, then in zip(("prediction", "truth", "valid"), given, before, strict=True):
            if not same(now, then):
                raise Failed(f"sample '{case.sample.id}': update() changed the {what}")
        kept = copy.deepcopy(statistics)
        bench.metric.compute(statistics)
        bench.metric.merge(statistics, copy.deepcopy(kept))
        if not same(statistics, kept):
            raise Failed("compute() or merge() changed the statistics it was given")
