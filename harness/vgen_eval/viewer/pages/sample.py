"""One sample of a run: its pictures on one viewport, and all that the run's lines say of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vgen_eval.errors import UsageError
from vgen_eval.viewer import assets
from vgen_eval.viewer.absent import not_found
from vgen_eval.viewer.drawing.render import Style
from vgen_eval.viewer.labels import name_runs
from vgen_eval.viewer.looking import Look
from vgen_eval.viewer.pages.commands import report_command
from vgen_eval.viewer.pages.marks import mark_run
from vgen_eval.viewer.records import Query, RunRow, SampleRow, Walk, read_whole
from vgen_eval.viewer.site import Site
from vgen_eval.viewer.staging import links
from vgen_eval.viewer.staging.addresses import LiveMedia
from vgen_eval.viewer.staging.stage import build_stage
from vgen_eval.viewer.staging.templating import page
from vgen_eval.viewing import Words

__all__ = ["ROUTES", "VIEW", "Pairs", "read_view", "show_sample", "show_words"]

VIEW = ("z", "x", "y", "layout", "wipe", "sides", "map", "lo", "hi", "scale", "off", "opacity",
        "outline", "shift")  # fmt: skip
"""What an address says of how one looks: it goes along to the next sample."""
LONGEST_STATE = 2000
"""Letters of one part of the view: 500 classes that are hidden. A longer one is left out."""
FACTS = ("text", "thinking")
"""What came beside the answer."""
THUMB = 256

Pairs = list[tuple[str, object]]


def read_view(request: Request) -> Pairs:
    """The part of the address that is about the view, as it came.

    What is too long is left out whole: the beginning of a list may end in another number.
    """
    given = ((name, request.query_params.get(name, "")) for name in VIEW)
    return [(name, value) for name, value in given if 0 < len(value) <= LONGEST_STATE]


def show_sample(request: Request) -> Response:
    """One attempt at one sample of one run."""
    site: Site = request.app.state.site
    run, row = _find(site, request)
    mark = mark_run(site, run)  # before what is shown: what comes meanwhile is told
    query = Query.read(request.query_params.multi_items())
    attempt = _attempt(request.query_params.get("a", "1"), row)
    view = read_view(request)
    style = Style.read(request.query_params)
    look = _by_card(site, run, site.looker.look(site.results / run.path, row.id, attempt - 1))
    media = LiveMedia({look.run: run.key}, maps=assets.address_of(assets.MAPS))
    here = links.sample_with(run, row)
    listed = query.pairs(page=1)

    def pairs_of(number: int) -> Pairs:
        return [*listed, *([("a", number)] if number > 1 else []), *view]

    pairs = pairs_of(attempt)
    walk = site.index.walk(run, query, row)
    _warm(site, run, walk)

    return page(
        request,
        "sample.html",
        page_class="page-sample",
        crumbs=(
            (f"{run.model}, {run.task}", links.run(run)),
            ("Samples", links.gallery(run, query) + f"#s-{row.key}"),
            (row.id, None),
        ),
        run=run,
        row=row,
        look=look,
        media=media,
        maps=media.maps,
        stage=build_stage([look], media, style=style, here=here, pairs=pairs),
        here=here,
        pairs=pairs,
        walk=walk,
        before=_address(run, walk.before, [*listed, *view]),
        after=_address(run, walk.after, [*listed, *view]),
        attempt=attempt,
        attempts=[
            {"number": number, "href": here + links.query_string(pairs_of(number))}
            for number in range(1, look.attempts + 1)
        ],
        primary=_primary(look, run, row),
        finished=_moment(look.facts.get("finished")),
        settings=_settings(site, run),
        units=_units(site, run),
        judge=_judge(site, run),
        command=report_command(
            [run], results=site.results.name, sample=row.id, attempt=attempt
        ),
        models=_models(site, run, row, view),
        side_by_side=links.models(run, row),
        live=links.since(run),
        mark=mark,
    )  # fmt: skip


def _find(site: Site, request: Request) -> tuple[RunRow, SampleRow]:
    """The run and the sample of the address; NoSuchPage where there is none."""
    run = site.run(request.path_params["run"])
    row = site.index.sample(run, request.path_params["sample"])
    if row is None:
        not_found("the run has no sample of this address", cure="It may be of another run.")
    return run, row


def _address(run: RunRow, row: SampleRow | None, pairs: Pairs) -> str:
    """Of a sample's page; "" of none."""
    return "" if row is None else links.sample_with(run, row, pairs)


def _warm(site: Site, run: RunRow, walk: Walk) -> None:
    """The samples beside this one are made ahead."""
    if site.warmer is not None:
        site.warmer.put(
            partial(site.looker.look_ahead, site.results / run.path, other.id)
            for other in (walk.after, walk.before)
            if other is not None
        )


def _by_card(site: Site, run: RunRow, look: Look) -> Look:
    """The attempt, its values under the names that the run's card has for them."""
    values = site.index.names(run).titled(look.facts.get("values", {}))
    return msgspec.structs.replace(look, facts={**look.facts, "values": values})


def show_words(request: Request) -> Response:
    """All of one text of an attempt, as plain text that nothing is made of."""
    site: Site = request.app.state.site
    run, row = _find(site, request)
    attempt = _attempt(request.path_params["attempt"], row)
    look = site.looker.look(site.results / run.path, row.id, attempt - 1)
    name = request.path_params["name"]
    shown = look.find(name)
    text = look.facts.get(name) if name in FACTS else None
    if shown is not None and isinstance(shown.pane.body, Words):
        text = shown.pane.body.text
    if not isinstance(text, str):
        not_found("the attempt has no such text")
    headers = {"content-security-policy": "default-src 'none'; sandbox"}
    body = text.encode("utf-8", "backslashreplace")
    return Response(body, media_type="text/plain; charset=utf-8", headers=headers)


def _attempt(given: str, row: SampleRow) -> int:
    number = read_whole(given, most=max(1, row.attempts))
    if not number:
        raise UsageError(
            f"a: there is no attempt '{given[:20]}'", cure=f"attempts are 1 to {row.attempts}"
        )
    return number


def _primary(look: Look, run: RunRow, row: SampleRow) -> float | None:
    """Of the attempt, under the name that the run's card has for it; of the sample without one."""
    values: Mapping[str, float | None] = look.facts.get("values", {})
    return values.get(run.primary, row.score if look.attempts == 1 else None)


def _units(site: Site, run: RunRow) -> dict[str, str]:
    """Value -> its unit, as the run's card has them; {} where there is no card."""
    card = site.index.card(run)
    return {} if card is None else {score.metric: score.unit for score in card.scores}


def _moment(seconds: object) -> str:
    """Unix seconds as a date and time; "" for what is none."""
    if not isinstance(seconds, int | float):
        return ""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, OSError, ValueError):
        return ""


def _settings(site: Site, run: RunRow) -> dict[str, Any]:
    """What was asked of the model beside the prompt; {} where the run does not say."""
    record = site.index.record(run) or {}
    identity = record.get("model_identity")
    card = identity.get("card") if isinstance(identity, Mapping) else None
    generation = card.get("generation") if isinstance(card, Mapping) else None
    found: dict[str, Any] = {"answer": run.answer}
    if isinstance(generation, Mapping):
        found |= dict(generation)
    for name in ("versions", "hardware"):
        if isinstance(record.get(name), Mapping):
            found[name] = dict(record[name])
    if isinstance(record.get("created"), str):
        found["begun"] = record["created"]
    return found


def _judge(site: Site, run: RunRow) -> str:
    """Who judged its answers; "" where nobody did."""
    told = (site.index.record(run) or {}).get("judge")
    name = told.get("model") if isinstance(told, Mapping) else None
    return name if isinstance(name, str) else ""


def _models(site: Site, run: RunRow, row: SampleRow, view: Pairs) -> list[dict[str, Any]]:
    """Every run of the task that has this sample, the best first where scores are known."""
    found = site.index.models(run.task, row.key)
    labels = name_runs([other for other, _ in found])
    keys = [other.key for other, _ in found]
    after = keys[(keys.index(run.key) + 1) % len(keys)] if run.key in keys else ""
    return [
        {
            "run": other,
            "row": sample,
            "label": label,
            "href": links.sample_with(other, sample, view),
            "thumb": links.thumb(other.key, sample.key, width=THUMB),
            "is_this": other.key == run.key,
            "is_next": other.key == after and other.key != run.key,
        }
        for (other, sample), label in zip(found, labels, strict=True)
    ]


ROUTES = [
    Route("/r/{run}/s/{sample}", show_sample),
    Route("/r/{run}/s/{sample}/{attempt}/{name}.txt", show_words),
]
