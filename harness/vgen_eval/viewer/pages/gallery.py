"""The gallery: a run's samples as cards, 60 a page, sorted and filtered by the address."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from vgen_eval.errors import UsageError
from vgen_eval.viewer.charts import Chart, histogram
from vgen_eval.viewer.index.naming import ValueNames
from vgen_eval.viewer.pages.gallery_rule import GRAMMAR, Choice, Refused, tell_choice, tell_refusal
from vgen_eval.viewer.pages.marks import mark_run
from vgen_eval.viewer.pages.media import thumb_of
from vgen_eval.viewer.records import CHOSEN, PAGE_SIZE, Facets, Query, RunRow, SampleRow
from vgen_eval.viewer.rules import parse
from vgen_eval.viewer.site import Site
from vgen_eval.viewer.staging import links
from vgen_eval.viewer.staging.templating import count, group_of, page, score, tell_status

__all__ = ["LAYERS", "ROUTES", "show_gallery"]

LAYERS = ("prediction", "answer", "error", "target", "input")
"""What thumbnails can show; the first that there is, where none is chosen."""
WIDTH = 256
LONGEST_ID = 37
"""Letters of an id on a card: two lines."""
OTHERS = ("id", "status", "order")
"""What cards are sorted by that is no value."""
MOST_TAGS, MOST_VALUES = 12, 25
"""That can be ticked; what else is filtered by stays in the address."""


def show_gallery(request: Request) -> Response:
    """One page of cards, the filters beside them."""
    site: Site = request.app.state.site
    run = site.run(request.path_params["run"])
    mark = mark_run(site, run)  # before what is shown: what comes meanwhile is told
    given = request.query_params.multi_items()
    if any(name in ("low", "high") for name, _ in given):
        return RedirectResponse(links.gallery(run, _tidy(given)), status_code=303)
    query = Query.read(given)
    names = site.index.names(run)
    query = _by_card(query, run, names)
    choice, refused = _choose(site, run, query)
    rows, total = ([], 0) if refused else site.index.samples(run, query)
    pages = max(1, -(-total // PAGE_SIZE))
    if query.page > pages:
        return RedirectResponse(links.gallery(run, query, page=pages), status_code=303)
    facets = site.index.facets(run)
    has_primary = _has_primary(site, run)
    by_value = query.sort not in OTHERS if query.sort else has_primary and bool(run.primary)
    if site.warmer is not None and query.page < pages:
        site.warmer.put(_next_thumbs(site, run, query))
    return page(
        request,
        "gallery.html",
        status=400 if refused else 200,
        page_class="page-gallery",
        crumbs=((f"{run.model}, {run.task}", links.run(run)), ("Samples", None)),
        run=run,
        query=query,
        cards=[_card(run, row, query, names, has_primary=has_primary) for row in rows],
        total=total,
        so_far=_so_far(run, facets),
        pages=pages,
        first=(query.page - 1) * PAGE_SIZE + 1,
        boxes=_boxes(facets, query),
        chart=_chart(facets, run),
        chips=_chips(run, query, None if total or refused else site),
        choice=choice,
        refused=refused,
        grammar=GRAMMAR,
        n_default=CHOSEN,
        siblings=_siblings(site, run),
        values=_values(site, run, rows, names),
        layers=LAYERS,
        has_primary=has_primary,
        by_value=by_value,
        all_equal=by_value and not query.select and _are_equal(site, run, query, rows, names),
        bounds=query.score.partition("~")[::2],
        live=links.since(run),
        mark=mark,
    )


def _so_far(run: RunRow, facets: Facets) -> int | None:
    """Samples that a run which goes on has come to; None of others."""
    return run.samples - facets.statuses.get("not_run", 0) if run.state == "running" else None


def _next_thumbs(site: Site, run: RunRow, query: Query) -> Iterator[Callable[[], object]]:
    """What makes the pictures of the next page."""
    folder = (site.results / run.path).resolve()
    rows, _ = site.index.samples(run, msgspec.structs.replace(query, page=query.page + 1))
    for row in rows:
        yield partial(thumb_of, site, folder, row.id, layer=query.layer, width=WIDTH)


def _are_equal(
    site: Site, run: RunRow, query: Query, rows: Sequence[SampleRow], names: ValueNames
) -> bool:
    """Has every sample that the query leaves the same value? Two at least; some may have none."""

    def first(way: str) -> list[float | None]:
        found, _ = site.index.samples(run, msgspec.structs.replace(query, dir=way, page=1))
        return [_value(run, row, query.sort, names) for row in found[:2]]

    shown = {_value(run, row, query.sort, names) for row in rows} - {None}
    if len(shown) > 1:  # as nearly always: no other page is looked at
        return False
    least = first("asc")
    return len(least) > 1 and None not in least and least == first("desc")


def _value(run: RunRow, row: SampleRow, by: str, names: ValueNames) -> float | None:
    """Of a sample: what the list is sorted by; "" is the primary."""
    is_own = by in ("", run.primary) or names.key(by) not in row.values
    return row.score if is_own else row.values[names.key(by)]


def _choose(site: Site, run: RunRow, query: Query) -> tuple[Choice | None, Refused | None]:
    """What the query's rule took, or why it takes nothing; neither where it has none."""
    try:
        chosen = site.index.selection(run, query)
    except UsageError as exc:
        return None, tell_refusal(exc)
    if chosen is None:
        return None, None
    return tell_choice(chosen, query, results=site.results.name), None


def _tidy(given: Sequence[tuple[str, str]]) -> Query:
    """What the form says: its two ends as one range, nothing that is empty."""
    ends = dict(given)
    low, high = ends.get("low", "").strip(), ends.get("high", "").strip()
    pairs = [(name, value) for name, value in given if name not in ("low", "high", "score", "page")]
    return Query.read([*pairs, ("score", f"{low}~{high}" if low or high else "")])


def _boxes(facets: Facets, query: Query) -> dict[str, Any]:
    """What can be ticked, group by group, and the filters in force that no box stands for."""
    groups = [
        ("Status", "status", [(name, tell_status(name), n) for name, n in facets.statuses.items()]),
        ("Flags", "flag", [(name, name, n) for name, n in facets.flags.items()]),
    ]
    groups += [
        (tag, "tag", [(f"{tag}={value}", value, n) for value, n in values.items()])
        for tag, values in list(facets.tags.items())[:MOST_TAGS]
    ]
    shown, seen = [], set()
    for title, name, values in groups:
        held = getattr(query, name)
        boxes = [
            {"name": name, "value": value, "text": text, "count": count, "on": value in held}
            for at, (value, text, count) in enumerate(values)
            if at < MOST_VALUES or value in held
        ]
        seen |= {(name, box["value"]) for box in boxes}
        if boxes:
            shown.append({"title": title, "boxes": boxes, "more": len(values) - len(boxes)})
    kept = [
        (name, value)
        for name in ("status", "flag", "tag")
        for value in getattr(query, name)
        if (name, value) not in seen
    ]
    return {"groups": shown, "kept": kept, "tags_more": max(len(facets.tags) - MOST_TAGS, 0)}


def _by_card(query: Query, run: RunRow, names: ValueNames) -> Query:
    """The query, its order by the name that the card has for the value."""
    sort = names.title(query.sort)
    return msgspec.structs.replace(query, sort="" if sort == run.primary else sort)


def _card(
    run: RunRow, row: SampleRow, query: Query, names: ValueNames, *, has_primary: bool
) -> dict[str, Any]:  # fmt: skip
    """What a card shows, and its full name."""
    by = names.title(parse(query.select).metric if query.select else query.sort)
    shown = _value(run, row, by, names)
    name = by if by and names.key(by) in row.values else run.primary
    is_bare = not has_primary and name == run.primary
    unit = run.unit if name == run.primary else ""
    value = score(shown, unit)
    parts = [row.id, *([] if is_bare else [f"{name} {value}"]), f"status {tell_status(row.status)}"]
    parts += [f"flag {flag}" for flag in row.flags]
    return {
        "row": row,
        "short": _shorten(row.id),
        "value": "" if row.status == "not_run" or is_bare else score(shown),
        "label": ", ".join(parts),
        "group": group_of(row.status),
        "href": links.sample(run, row, query),
        "thumb": links.thumb(run.key, row.key, layer=query.layer, width=WIDTH),
        "thumb_dense": links.thumb(run.key, row.key, layer=query.layer, width=2 * WIDTH),
    }


def _values(site: Site, run: RunRow, rows: Sequence[SampleRow], names: ValueNames) -> list[str]:
    """Values that samples can be sorted by, as the card calls them, the primary left out."""
    found: dict[str, None] = {}
    for some in (rows, () if rows else site.index.samples(run, Query())[0]):
        found |= {
            name: None for row in some for name, value in row.values.items() if value is not None
        }
    return sorted({names.title(name) for name in found} - {run.primary})


def _has_primary(site: Site, run: RunRow) -> bool:
    """Has any sample a value of the primary? While there is none yet, it may come."""
    rows = site.index.samples(run, Query())[0]
    return not any(row.status == "ok" for row in rows) or rows[0].score is not None


def _shorten(name: str) -> str:
    """A long id without its middle: its ends tell it from others."""
    if len(name) <= LONGEST_ID:
        return name
    half = (LONGEST_ID - 1) // 2
    return f"{name[:half]}…{name[-half:]}"


def _siblings(site: Site, run: RunRow) -> list[RunRow]:
    """The runs of this model on this task, where they differ in the prompt."""
    found = [
        other
        for other in site.index.runs()
        if (other.model, other.task, other.answer) == (run.model, run.task, run.answer)
        and other.prompt is not None
    ]
    return found if len({other.prompt for other in found}) > 1 else []


def _chips(run: RunRow, query: Query, site: Site | None = None) -> list[dict[str, Any]]:
    """Each filter, and the list without it; with a site, how many that has."""
    found: list[dict[str, Any]] = []
    for name in ("status", "flag", "tag", "score", "q"):
        held = getattr(query, name)
        for value in held if isinstance(held, tuple) else ((held,) if held else ()):
            rest: Any = tuple(v for v in held if v != value) if isinstance(held, tuple) else ""
            without = links.gallery(run, query, **{name: rest, "page": 1})
            chip: dict[str, Any] = {"text": _tell(run, name, value), "href": without, "count": None}
            if site is not None:
                lighter = msgspec.structs.replace(query, **{name: rest, "page": 1})
                chip["count"] = site.index.samples(run, lighter)[1]
            found.append(chip)
    if query.select:
        without = links.gallery(run, query, select="", n=0, page=1)
        text = f"rule {query.select}, {count(query.n or CHOSEN)} at most"
        found.append({"text": text, "href": without, "count": None})
    return found


def _tell(run: RunRow, name: str, value: str) -> str:
    if name == "status":
        return tell_status(value)
    if name == "score":
        low, _, high = value.partition("~")
        if low and high:
            return f"{run.primary} {low} to {high}"
        return f"{run.primary} at least {low}" if low else f"{run.primary} at most {high}"
    return {"flag": f"flag {value}", "tag": value, "q": f"id has {value}"}[name]


def _chart(facets: Facets, run: RunRow) -> Chart | None:
    return histogram(facets.edges, facets.counts, name=run.primary) if facets.counts else None


ROUTES = [Route("/r/{run}/s", show_gallery)]
