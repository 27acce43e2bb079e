"""Predictions that another program made, as a model: read, checked, run through the one path."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval import cards
from vgen_eval.adapters import BaseAdapter
from vgen_eval.cards.names import NAME
from vgen_eval.cards.records import ModelCard
from vgen_eval.distributions import IMPORTED
from vgen_eval.engine.evaluate import Results, run_plan
from vgen_eval.engine.formats import (
    AnswersAdapter,
    ReadFile,
    find_format,
    open_imported,
    read_file,
)
from vgen_eval.engine.models import Model
from vgen_eval.engine.naming import TaskRef, expand_tasks
from vgen_eval.engine.pipeline import Stop
from vgen_eval.engine.plan import make_plan
from vgen_eval.engine.prediction_files import make_rules
from vgen_eval.engine.predictions import Entry, Predictions, read_predictions
from vgen_eval.engine.session import Reporter
from vgen_eval.engine.settings import Settings
from vgen_eval.engine.tasks import Task, open_task
from vgen_eval.errors import MissingData, NoPrediction, NotRunnable, UsageError
from vgen_eval.types import NoOptions, Output, Request
from vgen_eval.wording import part_of, plural

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["import_predictions"]

log = logging.getLogger(__name__)


class PredictionsAdapter(BaseAdapter):
    """Answers from what was read; NoPrediction for what is not there."""

    def __init__(self, predictions: Predictions) -> None:
        super().__init__(NoOptions())
        self._predictions = predictions

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """The stored answer of each request."""
        for request in requests:
            entry = self._predictions.entries.get((request.sample, request.attempt))
            if entry is None:
                raise NoPrediction("no prediction for this sample")
            source = None if entry.file is None else entry.file.name
            yield Output(id=request.id, answer=self._read(entry), source=source)

    def _read(self, entry: Entry) -> Any:
        if entry.file is None:
            return entry.value
        return self._predictions.rules.read(self._predictions.form, entry.file)


def import_predictions(
    *,
    task: str,
    predictions: Path,
    model_name: str,
    catalog: Catalog,
    output: str = "results",
    answer: str | None = None,
    depth_scale: float | None = None,
    judge: str | None = None,
    data_root: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    format_name: str | None = None,
    workers: int | None = None,
    reporter: Reporter | None = None,
    stop: Stop | None = None,
) -> Results:
    """Scores predictions from files as a run of a model of that name.

    `answer`: the form they have, where suffixes do not tell; `depth_scale`: metres per unit of
    depth files that hold whole numbers; `judge`: who judges, over the card's; `format_name`: the
    importer that reads them, to which overrides below `format.` go.

    Raises UsageError for what cannot be read, an id that stands twice with different answers
    among them, and MissingData when no prediction is of the task.
    """
    overrides = dict(overrides or {})
    _check_name(model_name)
    refs = list(expand_tasks([task], catalog, notices=[]))
    if len(refs) > 1:
        raise UsageError(f"predictions are of one task, '{task}' means {len(refs)}")
    (ref,) = refs
    protocol_overrides = {
        k.removeprefix("protocol."): v for k, v in overrides.items() if k.startswith("protocol.")
    }
    if format_name is not None:
        return _import_format(
            format_name, ref, predictions, model_name, catalog, overrides=overrides,
            protocol_overrides=protocol_overrides, reporter=reporter, stop=stop,
            settings=Settings(
                tasks=(task,), output=output, judge=judge, data_root=data_root, workers=workers
            ),
        )  # fmt: skip
    opened = open_task(ref, catalog, overrides=protocol_overrides, data_root=data_root)
    forms = [entry.form for entry in opened.protocol.answers]
    known = {item.id for item in opened.items}
    rules = make_rules(forms, answer=answer, depth_scale=depth_scale)
    found = read_predictions(predictions, rules=rules, known=known)
    if not found.entries:
        wanted = opened.items[0].id if opened.items else "ID"
        raise MissingData(
            f"no_predictions_matched: nothing in {predictions} is of {ref.label}"
            + (f" (found '{found.unknown[0]}', ...)" if found.unknown else ""),
            cure=f"files are named <sample id>.png, such as '{wanted}.png', or all with one word "
            f"more, '{wanted}_depth.png'; JSONL lines hold id and output",
        )
    settings = Settings(
        tasks=(task,),
        answer=found.form,
        attempts=found.attempts,
        judge=judge,
        output=output,
        data_root=data_root,
        set=overrides,
        workers=workers,
    )
    plan = make_plan(settings, catalog, [_model(model_name, found)])
    return run_plan(
        plan, settings, catalog, reporter=reporter, stop=stop, unknown_ids=found.unknown
    )


def _import_format(
    name: str, ref: TaskRef, path: Path, model_name: str, catalog: Catalog, *,
    overrides: Mapping[str, Any], protocol_overrides: Mapping[str, Any], settings: Settings,
    reporter: Reporter | None, stop: Stop | None,
) -> Results:  # fmt: skip
    """The same through an importer; a file with truths of its own needs no data set."""
    prefix = "format."
    own = {k.removeprefix(prefix): v for k, v in overrides.items() if k.startswith(prefix)}
    kept = {k: v for k, v in overrides.items() if not k.startswith(prefix)}
    reader = find_format(name, catalog, own)
    task: Task | NotRunnable
    try:
        task = open_task(ref, catalog, overrides=protocol_overrides, data_root=settings.data_root)
        known = {item.id for item in task.items}
    except NotRunnable as exc:
        task, known = exc, None
    protocol = cards.override(cards.protocol(ref.card, ref.protocol), protocol_overrides)
    read = read_file(reader, path, ref, known=known, protocol=protocol)
    for remark in read.held.remarks:
        log.warning("%s", remark)
    if read.held.samples is not None:
        if known is not None:
            _refuse_other_samples(read, known, ref)
        task = open_imported(ref, catalog, read, overrides=protocol_overrides)
        if len(task.items) < task.promised:
            held = part_of(len(task.items), task.promised, "sample")
            log.warning("%s holds %s of %s", path, held, ref.label)
    elif isinstance(task, NotRunnable):
        raise task
    unknown = read.unknown({item.id for item in task.items})
    if len(unknown) == len({sample for sample, _ in read.by_attempt}):
        raise MissingData(
            f"no_predictions_matched: nothing in {path} is of {ref.label} (found '{unknown[0]}', "
            f"...)", cure=f"ids are those of vgen-eval data list {ref.name} --ids",
        )  # fmt: skip
    settings = msgspec.structs.replace(
        settings, answer=read.held.form, attempts=read.attempts, set=kept
    )
    model = _read_model(model_name, read)
    plan = make_plan(settings, catalog, [model], given={ref.label: task})
    return run_plan(plan, settings, catalog, reporter=reporter, stop=stop, unknown_ids=unknown)


def _refuse_other_samples(read: ReadFile, known: Collection[str], ref: TaskRef) -> None:
    """MissingData where a file brings samples of which none is of the data set that is here."""
    held = read.held.samples or ()
    here = {_bare(name) for name in known}
    if here and not any(
        _bare(name) in here for sample in held for name in (sample.id, sample.group)
    ):
        raise MissingData(
            f"no_predictions_matched: none of the {plural(len(held), 'sample')} in {read.path} is "
            f"of {ref.label} (found '{held[0].id}', ...; of the task is '{min(known)}', ...)",
            cure="--task NAME of the set that the file is of; ids are those of vgen-eval data list "
            f"{ref.name} --ids",
        )


def _bare(name: str) -> str:
    """A picture's name without its folders, which files of the same set write in several ways."""
    return name.rpartition("/")[2].casefold()


def _read_model(name: str, read: ReadFile) -> Model:
    """The answers of a file as a model; where the file lies is no part of what it is."""
    facts = read.options()
    who = "People's answers" if read.held.role == "human" else "Predictions of another program"
    card = cards.convert(
        ModelCard,
        {
            "model": name,
            "title": f"{who}, read as {facts['format'].rpartition(':')[2]}",
            "adapter": "predictions",
            "role": read.held.role,
            "answers": [read.held.form],
            "options": {**facts, "file": str(read.path.resolve())},
            "licence": "unknown",
        },
        file="--model-name",
    )
    return Model(
        name=card.model,
        distribution=IMPORTED,
        card=card,
        adapter="predictions",
        adapter_version="1",
        options=facts,
        build=lambda _device: AnswersAdapter(read),
        card_digest=cards.card_digest(card),
        reusable=False,
    )


def _check_name(name: str) -> None:
    """UsageError for a name that no model can have."""
    if re.fullmatch(NAME, name) is None:
        raise UsageError(
            f"--model-name: '{name[:80]}{'...' * (len(name) > 80)}' is no name of a model",
            cure="small letters, digits and . _ - with slashes between, such as lab/my-model; "
            "10 parts at most, of 100 characters",
        )


def _identity(found: Predictions) -> dict[str, Any]:
    scale = found.rules.depth_scale
    facts: dict[str, Any] = {"sha256": found.digest}
    return facts if scale is None else {**facts, "depth_scale": scale}


def _model(name: str, found: Predictions) -> Model:
    card = cards.convert(
        ModelCard,
        {
            "model": name,
            "title": "Predictions made by another program",
            "adapter": "predictions",
            "answers": [found.form],
            "options": _identity(found),
            "licence": "unknown",
        },
        file="--model-name",
    )
    return Model(
        name=card.model,
        distribution=IMPORTED,
        card=card,
        adapter="predictions",
        adapter_version="1",
        build=lambda _device: PredictionsAdapter(found),
        card_digest=cards.card_digest(card),
        reusable=False,
    )
