"""From a folder of data to a task that is known to work: drafted, written, checked, measured."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.cards import check_card, convert, protocol
from vgen_eval.cards.records import TaskCard
from vgen_eval.drafts import Draft, DraftRequest, FaultyData
from vgen_eval.engine.naming import TASK_CARD, TaskRef, expand_tasks
from vgen_eval.errors import (
    NotRunnable,
    Problem,
    StorageError,
    UsageError,
    nearest,
)
from vgen_eval.making.card import UNKNOWN, component_home, make_card, write_yaml
from vgen_eval.making.placing import placed, refuse_to_overwrite
from vgen_eval.wording import plural

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog
    from vgen_eval.results.card import ResultCard
    from vgen_eval.types import AnswerForm

__all__ = ["MEASURED_AT_MOST", "READER", "FaultyData", "Made", "NewTask", "make_task"]

READER = "manifest"
MANIFEST = "manifest.jsonl"
PREVIEW = "preview.html"
MEASURED_AT_MOST = 200
"""Samples of which the ceiling is measured."""


class NewTask(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for."""

    folder: Path
    family: str | None
    like: str | None = None
    name: str | None = None
    title: str | None = None
    images: str | None = None
    targets: str | None = None
    hints: Mapping[str, Any] = {}
    facts: Mapping[str, str] = {}
    """licence, source, citation."""
    force: bool = False


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """What was made."""

    name: str
    like: str
    """The card whose protocols it has."""
    files: Mapping[str, Path]
    """card, manifest, preview."""
    draft: Draft
    unknown: tuple[str, ...]
    """Fields of the card that have to be filled in."""
    ceiling: Any
    """ResultCard of a perfect model, None where no answer form has one."""
    why_no_ceiling: str = ""
    measured: int = 0


def make_task(
    asked: NewTask, catalog: Catalog, *, tell: Callable[[str], None] = lambda _text: None
) -> Made:
    """Writes card, manifest and preview, and returns what they are; nothing is left of a failure.

    `tell` hears what takes time. UsageError for what cannot be told from the folder, FaultyData
    with every fault of the data.
    """
    try:
        return _make_task(asked, catalog, tell)
    except StorageError as exc:
        raise StorageError(
            exc.what, cure="mend the folder's permissions or make room, and ask again"
        ) from exc
    except OSError as exc:  # of the folder itself: what it holds was asked for, and was refused
        where = exc.filename or asked.folder
        raise UsageError(f"{where}: {exc.strerror or exc}") from exc


def _make_task(asked: NewTask, catalog: Catalog, tell: Callable[[str], None]) -> Made:
    folder = asked.folder.expanduser()
    if not folder.is_dir():
        raise UsageError(f"no folder '{asked.folder}'")
    files = {
        "card": folder / TASK_CARD, "manifest": folder / MANIFEST, "preview": folder / PREVIEW,
    }  # fmt: skip
    refuse_to_overwrite(files, force=asked.force)
    like = _find_like(asked, asked.like, catalog) if asked.like else None
    draft = _draft(asked, folder, like, catalog)
    if like is None:
        like = _find_like(asked, draft.like or f"samples/{asked.family}", catalog)
    name = asked.name or f"my/{_slug(folder)}"
    card = make_card(
        like,
        draft,
        catalog,
        name=name,
        reader=READER,
        title=asked.title or f"{like.card.family} on the pictures of {folder.resolve().name}",
        facts=asked.facts,
    )
    head = f"Made by vgen-eval task new; the protocols are those of {like.name}."
    lines = b"".join(jsonio.dumps(line) + b"\n" for line in draft.lines)
    written = {files["manifest"]: lines, files["card"]: write_yaml(card, head=head).encode()}
    with placed(written, later=(files["preview"],)):
        tell(f"checking the card and {plural(len(draft.lines), 'sample')}")
        problems = check_card(files["card"], catalog, all_data=True)
        if problems:
            raise FaultyData([_by_file(p, draft, folder) for p in problems], draft.left_out)
        made = Made(
            name=name,
            like=like.label,
            files=files,
            draft=draft,
            unknown=tuple(k for k, v in card["dataset"].items() if v == UNKNOWN),
            ceiling=None,
        )
        with tempfile.TemporaryDirectory(prefix="vgen-task-") as scratch:
            made = _measure(made, card, catalog, Path(scratch), tell)
    return made


def _by_file(problem: Problem, draft: Draft, folder: Path) -> Problem:
    """A fault of a line, told of the file it is about: the manifest is not there to look at."""
    if problem.line is None or Path(problem.file).name != MANIFEST:
        return problem
    line = draft.lines[problem.line - 1]
    named = [v for v in line.values() if isinstance(v, str) and (folder / v).is_file()]
    told = [name for name in named if name in problem.message]
    file = max(told, key=len) if told else ", ".join(named) or str(line["id"])
    return Problem(problem.message.removeprefix(f"{file}: "), file=file)


def _find_like(asked: NewTask, name: str, catalog: Catalog) -> TaskRef:
    """The task whose protocols are taken, which must be of the family asked for."""
    refs = list(expand_tasks([name], catalog, notices=[]))
    if len(refs) != 1:
        raise UsageError(f"--like names one task, '{name}' means {len(refs)}")
    if asked.family not in (None, refs[0].card.family):
        raise UsageError(
            f"{name} is of the family {refs[0].card.family}, not {asked.family}",
            cure="--like says the family too: leave --family out",
        )
    return refs[0]


def _families(catalog: Catalog) -> list[str]:
    """The families of the built-in samples."""
    heads = (head for plugin, head in catalog.heads("task") if plugin.builtin)
    return sorted({h.family for h in heads if h.name.startswith("samples/") and h.family})


def _draft(asked: NewTask, folder: Path, like: TaskRef | None, catalog: Catalog) -> Draft:
    from vgen_eval.distributions import HOME

    family = asked.family if like is None else like.card.family
    if family is None:
        raise UsageError("--family is missing", cure=f"one of: {', '.join(_families(catalog))}")
    if like is None and family not in _families(catalog):
        raise UsageError(
            f"no built-in task of the family '{family}'.{nearest(family, _families(catalog))}",
            cure="--like TASK takes the protocols of any other task",
        )
    reader = catalog.component("dataset", READER, home=HOME).obj
    request = DraftRequest(
        folder=folder,
        family=family,
        images=asked.images,
        targets=asked.targets,
        measures=None if like is None else _measures(like, catalog),
        hints=asked.hints,
    )
    draft: Draft = reader.draft(request)
    return draft


def _measures(like: TaskRef, catalog: Catalog) -> str | None:
    """What the metrics of a task's protocol are about, as the first of them says."""
    home = component_home(like)
    for metric in protocol(like.card, like.protocol).metrics:
        found = getattr(catalog.component("metric", metric.name, home=home).obj, "measures", None)
        if found is not None:
            return str(found)
    return None


def _slug(folder: Path) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")
    return name or "data"


def _unjudged_form(card: Mapping[str, Any]) -> AnswerForm | None:
    """The first answer form that is measured without asking anybody; None where none is."""
    record = convert(TaskCard, card, file=TASK_CARD)
    answers = protocol(record, record.default_protocol).answers
    return next((answer.form for answer in answers if answer.judge is None), None)


def _measure(
    made: Made,
    card: Mapping[str, Any],
    catalog: Catalog,
    scratch: Path,
    tell: Callable[[str], None],
) -> Made:
    """The ceiling, by the ordinary path, and the preview beside the card."""
    from vgen_eval.engine.models import name_bounds
    from vgen_eval.engine.plan import make_plan
    from vgen_eval.engine.settings import Settings
    from vgen_eval.making.preview import make_preview
    from vgen_eval.store.run import write_atomic

    limit = min(len(made.draft.lines), MEASURED_AT_MOST)
    form = _unjudged_form(card)
    if form is None:
        return msgspec.structs.replace(made, why_no_ceiling="its answers are judged")
    settings = Settings(
        tasks=(str(made.files["card"].absolute()),),
        models=(name_bounds(catalog)["ceiling"],),
        output=str(scratch),
        answer=form,
        keep="none",
        bounds=False,
    )
    plan = make_plan(settings, catalog)
    if not plan.jobs:
        return msgspec.structs.replace(made, why_no_ceiling=plan.skipped[0].reason)
    page = make_preview(
        plan.jobs[0],
        title=f"{made.name}: what the truth is, and what a perfect model would answer",
        notes=_notes(made),
        colours=made.draft.colours,
    )
    tell(f"measuring what a perfect model scores on {plural(limit, 'sample')}")
    ceiling = _run(msgspec.structs.replace(settings, limit=limit), catalog)
    write_atomic(made.files["preview"], page.encode())
    return msgspec.structs.replace(made, ceiling=ceiling, measured=limit)


def _run(settings: Any, catalog: Catalog) -> ResultCard:
    from vgen_eval.engine.evaluate import run_plan
    from vgen_eval.engine.plan import make_plan

    (card,) = run_plan(make_plan(settings, catalog), settings, catalog)
    if card.counts.infrastructure or not card.complete:
        raise NotRunnable(
            f"the perfect answers could not be scored: {dict(card.counts.statuses)}",
            cure="vgen-eval --log-level debug says why",
        )
    return card


def _notes(made: Made) -> list[str]:
    left = len(made.draft.left_out)
    return [
        f"{plural(len(made.draft.lines), 'sample')}; the first, the middle and the last are shown",
        *made.draft.guessed,
        *made.draft.notes,
        *(f"check: {doubt}" for doubt in made.draft.doubts),
        *([f"left out: {left:,}, the first of them: {made.draft.left_out[0]}"] if left else []),
    ]
