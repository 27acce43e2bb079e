"""One sample under several models: input and truth once, then what each of them made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vgen_eval.viewer import assets
from vgen_eval.viewer.absent import not_found
from vgen_eval.viewer.drawing.render import Style
from vgen_eval.viewer.labels import name_runs
from vgen_eval.viewer.looking import Look
from vgen_eval.viewer.pages.commands import report_command
from vgen_eval.viewer.pages.sample import Pairs, read_view
from vgen_eval.viewer.records import KEY_LENGTH, RunRow, SampleRow, key_of
from vgen_eval.viewer.site import Site
from vgen_eval.viewer.staging import links
from vgen_eval.viewer.staging.addresses import LiveMedia
from vgen_eval.viewer.staging.stage import Stage, build_stage
from vgen_eval.viewer.staging.templating import page

__all__ = ["MOST", "ROUTES", "show_models"]

MOST = 8
"""Runs side by side."""
BRIEF = ("target", "prediction", "error")
"""Roles of the panes that a comparison leads to."""
AT_FIRST = 4
"""Where none is chosen."""

Having = tuple[RunRow, SampleRow]


def show_models(request: Request) -> Response:
    """The runs chosen in `runs`, else the first few: models before ceilings and floors."""
    site: Site = request.app.state.site
    site.index.refresh()
    task = _task(site, request.path_params["task"])
    key = request.path_params["sample"][:KEY_LENGTH]
    found = site.index.models(task, key)
    if not found:
        not_found("no run of this task has a sample of this address")
    names = name_runs([run for run, _ in found])
    labels = {run.key: name for (run, _), name in zip(found, names, strict=True)}
    chosen = _chosen(found, request.query_params.getlist("runs"))
    looks = [site.looker.look(site.results / run.path, row.id, 0) for run, row in chosen]
    media = LiveMedia(
        {look.run: run.key for look, (run, _) in zip(looks, chosen, strict=True)},
        maps=assets.address_of(assets.MAPS),
    )
    run, row = chosen[0]
    here = links.models(run, row)
    view = read_view(request)
    brief = request.query_params.get("panes") == "errors"
    runs_pair: tuple[str, object] = ("runs", ",".join(one.key for one, _ in chosen))
    pairs = [runs_pair, *([("panes", "errors")] if brief else []), *view]
    stage = build_stage(
        looks, media, style=Style.read(request.query_params), here=here, pairs=pairs,
        labels=[labels[one.key] for one, _ in chosen],
    )  # fmt: skip
    if brief:
        stage, brief = _briefly(stage)
    return page(
        request,
        "models.html",
        page_class="page-sample",
        crumbs=((task, links.task(run)), (row.id, None)),
        id=row.id,
        task=task,
        primary=run.primary,
        looks=looks,
        stage=stage,
        layout="grid",
        brief=brief,
        all_panes=here + links.query_string([runs_pair, *view]),
        command=report_command(
            [one for one, _ in chosen], results=site.results.name, sample=row.id
        ),
        here=here,
        pairs=pairs,
        maps=media.maps,
        runs=_list_runs(found, chosen, labels),
        more=len(found) - len(chosen),
        shown=_list_shown(chosen, looks, labels, view),
    )  # fmt: skip


def _list_runs(
    found: Sequence[Having], chosen: Sequence[Having], labels: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The runs to choose from, and which of them are shown."""
    keys = {run.key for run, _ in chosen}
    return [
        {"run": run, "row": row, "label": labels[run.key], "chosen": run.key in keys}
        for run, row in found
    ]


def _list_shown(
    chosen: Sequence[Having], looks: Sequence[Look], labels: Mapping[str, str], view: Pairs
) -> list[dict[str, Any]]:
    """The attempts shown, each with the address of its own page."""
    return [
        {
            "run": run, "row": row, "look": look, "label": labels[run.key],
            "href": links.sample_with(run, row, view),
        }
        for (run, row), look in zip(chosen, looks, strict=True)
    ]  # fmt: skip


def _briefly(stage: Stage) -> tuple[Stage, bool]:
    """The stage with truth, predictions and errors alone; as it is where it has no such maps."""
    kept = [card for card in stage.cards if card.shown.pane.role in BRIEF]
    if not any(card.shown.pane.role == "prediction" for card in kept):
        return stage, False
    seen: set[int] = set()
    cards = []
    for card in kept:
        is_first = card.shown.pane.role != "target" and id(card.look) not in seen
        if is_first:
            seen.add(id(card.look))
        cards.append(msgspec.structs.replace(card, begins=is_first))
    return msgspec.structs.replace(stage, cards=tuple(cards)), True


def _task(site: Site, word: str) -> str:
    tasks = {key_of(run.task): run.task for run in site.index.runs() if run.task}
    if word[:KEY_LENGTH] not in tasks:
        not_found("no run is of the task of this address")
    return tasks[word[:KEY_LENGTH]]


def _chosen(found: Sequence[Having], asked: Sequence[str]) -> list[Having]:
    """Those asked for, in that order; else a few, those that are measured first."""
    wanted = [word[:KEY_LENGTH] for words in asked for word in words.split(",") if word]
    by_key: dict[str, Any] = {run.key: (run, row) for run, row in found}
    named = [by_key[key] for key in dict.fromkeys(wanted) if key in by_key]
    if wanted and not named:
        not_found("none of the runs asked for has this sample")
    if named:
        return named[:MOST]
    return sorted(found, key=lambda one: one[0].role != "model")[:AT_FIRST]


ROUTES = [Route("/t/{task}/s/{sample}", show_models)]
