"""Runs beside one another: the paired test, and the samples that decide it."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from vgen_eval.errors import UsageError, VgenEvalError
from vgen_eval.viewer.contrasts import Mark
from vgen_eval.viewer.index.lines import stamp_of
from vgen_eval.viewer.labels import name_runs
from vgen_eval.viewer.pages.commands import report_command
from vgen_eval.viewer.records import KEY_LENGTH, PAGE_SIZE, PairRow, Query, RunRow
from vgen_eval.viewer.site import Site
from vgen_eval.viewer.staging import links
from vgen_eval.viewer.staging.templating import number, page, score, tell_status
from vgen_eval.wording import plural

if TYPE_CHECKING:
    from vgen_eval.results.contrast import Contrast, Measure
    from vgen_eval.results.contrast_pairs import Pair
    from vgen_eval.statistics import Interval

__all__ = ["ROUTES", "Result", "show_comparison"]

MOST = 12
LEAST = 2
THUMB = 256
SMALL = 1000
"""Samples of all runs together, whose test a page waits for; of more it comes later."""
CURES = ("--anyway", "vgen-eval compare")
SIDES = (("input", "input"), ("prediction", "A"), ("target", "target"), ("prediction", "B"))
"""Layers of a row's pictures, and what is said of them."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What setting runs beside one another came to."""

    found: Any = None
    """A Contrast; None where it was refused."""
    refusal: VgenEvalError | None = None
    is_at_work: bool = False
    """Is it still being worked out?"""
    differing: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """What makes them no measure of the models alone: field, value of each run."""


def show_comparison(request: Request) -> Response:
    """The first run against another, and the values of all of them."""
    site: Site = request.app.state.site
    site.index.refresh()
    given = request.query_params
    runs = _runs(site, given.getlist("runs"))
    if len(given.getlist("runs")) > 1:  # a form's boxes: one address for one comparison
        return RedirectResponse(links.compare(runs), status_code=303)
    query = Query.read(given.multi_items())
    anyway = given.get("anyway") == "1"
    second = _second(runs, given.get("with", ""))
    result, marks = _look_at(site, runs)
    labels = name_runs(runs)
    shown = (runs[0], second)
    goes_on = not result.differing or anyway
    pairing = site.index.pair(*shown, query) if goes_on and _of_one_task(shown) else None
    if goes_on:  # after what the index gives at once: the two would hold one another up
        result = _test(site, runs, result, marks, anyway=anyway)

    def address(**changes: Any) -> str:
        pairs: list[tuple[str, object]] = [("runs", ",".join(run.key for run in runs))]
        pairs += [("with", second.key)] if second is not runs[1] else []
        pairs += [("anyway", 1)] if anyway else []
        return "/c" + links.query_string([*pairs, *query.pairs(**changes)])

    pages = max(1, -(-(pairing.total if pairing else 0) // PAGE_SIZE))
    found = page(
        request,
        "compare.html",
        page_class="page-compare",
        crumbs=((runs[0].task or "?", links.task(runs[0])), ("Compare", None)),
        task=runs[0].task,
        labels=labels,
        shown_labels=[labels[0], labels[runs.index(second)]],
        anyway=anyway,
        go_on=links.compare(runs, anyway=1),
        refusal=None if result.differing and not anyway else _said(result.refusal),
        differing=[{"field": field, "values": values} for field, values in result.differing],
        **_result(result.found, runs, labels, second, anyway=anyway),
        pairing=pairing,
        query=query,
        pages=pages,
        address=address,
        primary=runs[0].primary,
        higher=runs[0].higher_is_better,
        unit=runs[0].unit,
        rows=[] if pairing is None else _rows(pairing.rows, shown),
        at_work=result.is_at_work,
        command=report_command(runs, results=site.results.name, anyway=anyway) if goes_on else "",
        own=[(label, run.value) for label, run in zip(labels, runs, strict=True)],
    )
    if result.is_at_work:
        found.headers["refresh"] = "1"
    return found


def _said(refusal: VgenEvalError | None) -> dict[str, str | None] | None:
    """A refusal without a cure that is one of the command line."""
    if refusal is None:
        return None
    cure = refusal.cure if refusal.cure and not refusal.cure.startswith(CURES) else None
    return {"what": refusal.what, "cure": cure}


def _of_one_task(shown: Sequence[RunRow]) -> bool:
    return len({run.task for run in shown}) == 1 and bool(shown[0].task)


def _runs(site: Site, given: Sequence[str]) -> list[RunRow]:
    words = [word for words in given for word in words.split(",") if word]
    runs = [site.run(word) for word in dict.fromkeys(word[:KEY_LENGTH] for word in words)]
    if not LEAST <= len(runs) <= MOST:
        raise UsageError(
            f"{plural(len(runs), 'run')} to compare, {LEAST} to {MOST} are wanted",
            cure="Choose them by their boxes in a task's table.",
        )
    return runs


def _second(runs: Sequence[RunRow], word: str) -> RunRow:
    return next((run for run in runs[1:] if word and run.key == word[:KEY_LENGTH]), runs[1])


def _look_at(site: Site, runs: Sequence[RunRow]) -> tuple[Result, tuple[Mark, ...]]:
    """What their records and cards tell, and what a test of them hangs on; no lines are read."""
    from vgen_eval.results.reading import read_run

    found, marks = [], []
    for run in runs:
        path = site.results / run.path
        try:
            # before they are read: a change after that is seen. Of a run that is being written
            # they would never be the same twice, and there is nothing to test before it ends
            stamps = () if run.state == "running" else _stamps(path.resolve())
            found.append(read_run(path))
        except VgenEvalError as exc:
            return Result(refusal=exc), ()
        marks.append((str(found[-1].path), found[-1].card.content_digest, stamps))
    return Result(differing=_differing(found)), tuple(marks)


def _stamps(path: Path) -> tuple[object, ...]:
    """Of the files of a run, its answers aside."""
    found = []
    for folder in (path, path / "scores"):
        try:
            with os.scandir(folder) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
                found += [(e.name, stamp_of(e.stat())) for e in entries if e.is_file()]
        except OSError:  # who reads the run says it better
            continue
    return tuple(found)


def _test(
    site: Site, runs: Sequence[RunRow], result: Result, marks: tuple[Mark, ...], *, anyway: bool
) -> Result:
    """The same with values, differences and tests, or why there are none."""
    if result.refusal is not None:
        return result
    is_small = sum(run.samples for run in runs) <= SMALL
    replace = msgspec.structs.replace
    try:
        told = site.contrasts.ask(marks, anyway=anyway, is_small=is_small)
        return replace(result, found=told, is_at_work=told is None)
    except VgenEvalError as exc:
        return replace(result, refusal=exc)


def _differing(runs: Sequence[Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    from vgen_eval.results.contrast_facts import show_fact, tell_apart

    apart = tell_apart([run.facts for run in runs])
    return tuple((one.field, tuple(map(show_fact, one.values))) for one in apart.identity)


def _result(
    found: Contrast | None, runs: Sequence[RunRow], labels: Sequence[str], second: RunRow, *,
    anyway: bool,
) -> dict[str, Any]:  # fmt: skip
    """The table of values and differences; nothing where there is none."""
    if found is None or not found.measures:
        return {
            "measure": None, "part": None, "results": [], "tests": 0, "notes": [],
            "has_intervals": False,
        }  # fmt: skip
    measure = found.measures[0]
    part = measure.parts[0]
    by_second = {pair.second: pair for pair in part.pairs}
    paths = [side.run for side in found.runs]
    results = []
    for at, value in enumerate(part.values):
        run = next((r for r in runs if paths[at].endswith(r.path)), runs[min(at, len(runs) - 1)])
        is_other = at > 0 and run.key != second.key
        more = {"anyway": 1} if anyway else {}
        results.append(
            {
                "letter": chr(ord("A") + at),
                "label": labels[runs.index(run)],
                "href": links.compare(runs, **more, **{"with": run.key}) if is_other else "",
                "is_shown": at == 0 or run.key == second.key,
                "value": value.value,
                "interval": _interval(value.interval),
                **_difference(by_second.get(at), measure),
            }
        )
    notes = [pair.reason for pair in part.pairs if pair.reason]
    intervals = [*(value.interval for value in part.values), *(p.interval for p in part.pairs)]
    notes += [f"No interval: {one.reason}." for one in intervals if one.reason]
    notes += [f"Left out: {one.what}: {one.reason}." for one in found.left_out]
    return {
        "measure": measure,
        "part": part,
        "results": results,
        "has_intervals": any(one["interval"] or one["difference_interval"] for one in results),
        "tests": found.tests,
        "notes": list(dict.fromkeys(notes)),
    }


def _difference(pair: Pair | None, measure: Measure) -> dict[str, str]:
    if pair is None:
        return dict.fromkeys(("difference", "difference_interval", "p", "wins", "verdict"), "")
    from vgen_eval.results.contrast_pairs import LEVEL

    wins = (pair.wins, pair.ties, pair.losses)
    shown = pair.p_corrected is not None and pair.p_corrected < LEVEL and pair.difference
    better = bool(shown) and ((pair.difference or 0.0) > 0) == measure.higher_is_better
    return {
        "difference": _signed(pair.difference),
        "difference_interval": _interval(pair.interval),
        "p": "–" if pair.p_corrected is None else _probability(pair.p_corrected),
        "wins": ", ".join("–" if count is None else f"{count:,}" for count in wins),
        "verdict": ("better" if better else "worse") if shown else "not shown to differ",
    }


def _probability(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _signed(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return "–"
    return f"{'+' if value > 0 else ''}{number(value)}"


def _interval(found: Interval) -> str:
    low, high = found.low, found.high
    return "" if low is None or high is None else f"[{number(low)}, {number(high)}]"


def _rows(rows: Sequence[PairRow], shown: tuple[RunRow, RunRow]) -> list[dict[str, Any]]:
    largest = max((abs(row.delta) for row in rows if row.delta is not None), default=0.0)
    return [_row(row, shown, largest) for row in rows]


def _row(row: PairRow, shown: tuple[RunRow, RunRow], largest: float) -> dict[str, Any]:
    first, second = shown
    unit = first.unit
    width = 100 * abs(row.delta) / largest if row.delta and largest else 0.0
    is_more = row.delta is not None and row.delta > 0
    better = ""
    if row.delta:
        better = "B better" if is_more == first.higher_is_better else "A better"
    elif row.delta == 0:
        better = "tied"
    sides = {"A": (first, row.first), "B": (second, row.second)}
    shots = []
    for layer, name in SIDES:
        run, sample = sides.get(name, (first, row.first))
        text = name
        if name in sides:
            text = f"{name} {score(sample.score, unit)}"
            if sample.status != "ok":
                text += f", {tell_status(sample.status)}"
        shots.append(
            {"src": links.thumb(run.key, sample.key, layer=layer, width=THUMB), "text": text}
        )
    a, b = score(row.first.score, unit), score(row.second.score, unit)
    pair = f"{first.key},{second.key}"
    return {
        "id": row.first.id,
        "href": links.models(first, row.first)
        + links.query_string([("runs", pair), ("panes", "errors")]),
        "label": f"{row.first.id}: A {a}, B {b}, difference {_signed(row.delta)} {better}".rstrip(),
        "shots": shots,
        "left": f"{0 if is_more else -width:.1f}",
        "width": f"{width:.1f}",
        "side": "b-side" if better == "B better" else "a-side",
        "verdict": _verdict(row.delta, better, unit),
    }


def _verdict(delta: float | None, better: str, unit: str) -> str:
    """Who is ahead, and by how much; the sign is what the column's title is about."""
    if delta is None:
        return "–"
    if not better or better == "tied":
        return better
    return f"{better} by {number(abs(delta), unit)}"


ROUTES = [Route("/c", show_comparison)]
