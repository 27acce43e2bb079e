"""A judge run again under other options over the replies that a run kept; nobody is asked."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval import cards
from vgen_eval.distributions import HOME
from vgen_eval.engine.judges import Judging, NeverAsked
from vgen_eval.engine.keeping import Keeper
from vgen_eval.engine.models import Model
from vgen_eval.engine.plan import Job
from vgen_eval.engine.request import Prepared, prepare
from vgen_eval.engine.scorer import score_attempt
from vgen_eval.errors import VgenEvalError
from vgen_eval.judging import Judge
from vgen_eval.results.judging.settings import Attempt, Judged, Numbers
from vgen_eval.results.lines import open_lines
from vgen_eval.store.run import RunStore
from vgen_eval.store.transcript import Transcript
from vgen_eval.types import Item, Value
from vgen_eval.wording import describe

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["NoReplay", "Replayer"]


class NoReplay(Exception):
    """The judge cannot be replayed so; the message says why."""


class Replayer:
    """Runs whose judges are replayed; the data and the replies of each are opened once."""

    def __init__(self, catalog: Catalog, *, data_root: str | None = None) -> None:
        self._catalog = catalog
        self._data_root = data_root
        self._jobs: dict[str, Job] = {}
        self._transcripts: dict[str, Transcript] = {}

    def numbers(
        self, judged: Judged, changes: Mapping[str, Any], value: Value, wanted: Collection[str]
    ) -> Numbers:
        """What the attempts at the `wanted` samples come to under changed options of the judge.

        Attempts that no judge saw keep their numbers. NoReplay where the judge has no such
        options, where it would ask what was never asked, and where the data is not there.
        """
        judge, model = self._judge(judged.job, changes)
        job, store = self._open(judged), RunStore(judged.run.path)
        # where every attempt counts as judged, a question that was never asked is told apart from
        # a judge that came to nothing
        everything = {(item.id, at) for item in job.items for at in range(job.attempts)}
        judging = Judging(
            judge,
            model,
            self._transcript(store),
            family=job.task.ref.card.family,
            judged=everything,
        )
        job = msgspec.structs.replace(job, codec=msgspec.structs.replace(job.codec, judge=judge))
        found: dict[Attempt, float] = {}
        for line in self._score(job, store, judging, wanted):
            number = line.get("values", {}).get(value.of)
            if number is not None and math.isfinite(number):
                found[line["sample"], line["attempt"]] = float(number)
        return found

    def _open(self, judged: Judged) -> Job:
        """The run's job with its data; NoReplay where that cannot be opened."""
        key = str(judged.run.path)
        if key not in self._jobs:
            try:
                self._jobs[key] = open_lines(
                    judged.run.path, judged.run.card, self._catalog,
                    data_root=self._data_root, with_data=True,
                )  # fmt: skip
            except VgenEvalError as exc:
                raise NoReplay(f"a replay needs the data: {exc.what}") from exc
        return self._jobs[key]

    def _transcript(self, store: RunStore) -> Transcript:
        """The run's replies: no replay adds any."""
        key = str(store.judgements_path)
        if key not in self._transcripts:
            self._transcripts[key] = Transcript(store)
        return self._transcripts[key]

    def _judge(self, job: Job, changes: Mapping[str, Any]) -> tuple[Judge, Model]:
        """The job's judge with other options, and who was asked."""
        info = job.codec.info.get("judge")
        if info is None or job.judge is None:
            raise NoReplay("no judge: metrics measured alone")
        component = self._catalog.component("judge", info["name"], home=HOME).obj
        missing = [key for key in changes if key not in component.Options.__struct_fields__]
        if missing:
            raise NoReplay(f"judge '{info['name']}' has no option '{missing[0]}'")
        try:
            options = cards.convert(
                component.Options, {**info["options"], **changes}, file=info["name"], path="options"
            )
            return component(options), job.judge
        except VgenEvalError as exc:
            raise NoReplay(exc.what) from exc

    def _score(
        self, job: Job, store: RunStore, judging: Judging, wanted: Collection[str]
    ) -> Iterator[Mapping[str, Any]]:
        """The score lines that the kept answers of these samples come to."""
        keeper = Keeper(job, store, None, keep="all")
        items = {item.id: item for item in job.items}
        prepared = None
        for line in store.predictions(job.rows()):
            if line["sample"] not in wanted:
                continue
            try:
                if prepared is None or prepared.sample.id != line["sample"]:
                    prepared = _prepare(job, items[line["sample"]])
                yield score_attempt(
                    job.task, job.codec, line, keeper.read(line),
                    prepared.sample, prepared.scene, judging,
                )  # fmt: skip
            except NeverAsked as exc:
                raise NoReplay(f"never asked: {exc.question}, of {line['sample']}") from exc
            except VgenEvalError as exc:
                raise NoReplay(f"no replay: {exc.what}") from exc


def _prepare(job: Job, item: Item) -> Prepared:
    """The sample as it was judged; NoReplay where it cannot be read any more."""
    try:
        return prepare(job, job.task.dataset.load(item))
    except VgenEvalError:
        raise
    # readers are anyone's code
    except (Exception, SystemExit) as exc:
        raise NoReplay(f"no replay: {item.id}: {describe(exc)}") from exc
