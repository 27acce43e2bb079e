"""In what a run departs from the protocol that a published figure is of, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.distributions import IMPORTED
from vgen_eval.engine.naming import TaskRef
from vgen_eval.engine.plan import Job
from vgen_eval.engine.tasks import open_recorded
from vgen_eval.pairing import pair, pick_variant
from vgen_eval.results.build import describe_protocol
from vgen_eval.results.card import Counts, ResultCard
from vgen_eval.results.identity import differences, facts
from vgen_eval.results.published import Row
from vgen_eval.results.reproducing.model_names import NamedModel, pair_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vgen_eval.plugins import Catalog

__all__ = ["Departure", "Reference", "make_reference"]

ALL = "all"
_NOWHERE = Path()
PROMPT, SAMPLES = "prompt", "samples"
_SHOWN_APART = (PROMPT, SAMPLES, "model", "versions", "calibration")
_NOT_THE_PAPERS = ("task", "data.fingerprint", "seed_base")
"""What a paper says nothing of, or what another field says as well."""


class Departure(msgspec.Struct, frozen=True):
    """One field in which a run is not as the paper's; null where one side has no such thing."""

    field: str
    paper: Any
    ours: Any

    @property
    def part(self) -> str:
        """What kind of thing it is: prompt, samples, model, metrics, ..."""
        return self.field.partition(".")[0]


class Reference(msgspec.Struct, frozen=True):
    """What the paper did for a cell, as its task card and its model card have it."""

    row: Row
    ref: TaskRef
    model: NamedModel
    card: ResultCard
    """The card of a run that follows the paper in everything; it holds no numbers."""
    job: Job
    """That run, of a model that answers nothing, on no samples."""
    promised: int | None
    """Samples of its part of the data."""
    samples: int | None
    rule: Any
    calibrated_on: int | None
    form: str

    def departures(self, ours: ResultCard, catalog: Catalog) -> tuple[Departure, ...]:
        """All of a run's, the paper's side first; none for one that follows it."""
        found = [
            Departure(each.field, each.first, each.second)
            for each in differences(
                _plain(self.card), _plain(ours), leave=(*_SHOWN_APART, *_NOT_THE_PAPERS)
            )
        ]
        found += [*self._of_calibration(ours), *self._of_prompt(ours), *self._of_samples(ours)]
        is_elsewhere = ours.model_info.get("distribution") == IMPORTED
        if not (is_elsewhere or self.model.is_brought):  # nothing says how it should be set
            found += self._of_model(ours, catalog)
        stated = self.row.versions.items()
        here = ours.versions
        found += [
            Departure(f"versions.{name}", version, here.get(name))
            for name, version in stated
            if here.get(name) != version
        ]
        return tuple(found)

    def _of_prompt(self, ours: ResultCard) -> Iterator[Departure]:
        sides = [
            {"variant": card.prompt, "text": card.protocol_info.get("prompt_text")}
            for card in (self.card, ours)
        ]
        if sides[0] != sides[1]:
            yield Departure(PROMPT, *sides)

    def _of_samples(self, ours: ResultCard) -> Iterator[Departure]:
        count, rule = ours.selection.get("samples"), ours.selection.get("rule")
        whole = rule in (ALL, {"unit": "image"})  # a limit that cuts nothing off is none
        same_count = self.samples in (None, count)
        # as many samples of another draw are other samples
        if not (same_count and (rule == self.rule or whole)):
            yield Departure(
                SAMPLES, {"n": self.samples, "rule": self.rule}, {"n": count, "rule": _short(rule)}
            )

    def _of_calibration(self, ours: ResultCard) -> Iterator[Departure]:
        found = ours.protocol_info.get("calibration")
        count = len(found.get("samples", ())) if isinstance(found, Mapping) else None
        wanted, here = self.calibrated_on, ours.selection.get("samples")
        if wanted is not None and isinstance(here, int):
            wanted = min(wanted, here)  # of fewer samples, which is told, all of them
        if count != wanted:
            yield Departure("calibration.samples", wanted, count)

    def _of_model(self, ours: ResultCard, catalog: Catalog) -> Iterator[Departure]:
        info = ours.model_info
        card = msgspec.to_builtins(self.model.card)
        options = pair_options(self.model, info.get("options") or {}, catalog)
        yield from _compare("model.options", *options)
        yield from _compare("model.generation", card["generation"], info.get("generation") or {})
        stated = {k: v for k, v in (card["checkpoint"] or {}).items() if v is not None}
        theirs = info.get("checkpoint") or {}
        yield from _compare("model.checkpoint", stated, {key: theirs.get(key) for key in stated})


def _compare(field: str, paper: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterator[Departure]:
    sides = [_flat({field: jsonio.loads(jsonio.dumps(dict(side)))}) for side in (paper, ours)]
    for each in differences(*sides):
        if each.field != field:
            yield Departure(each.field, each.first, each.second)


def _flat(value: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, inner in value.items():
        field = f"{above}.{key}" if above else key
        found |= _flat(inner, field) if isinstance(inner, Mapping) else {field: inner}
    return found


def _plain(card: ResultCard) -> dict[str, Any]:
    """Its facts, and the part of the data that its protocol is about, as JSON has them."""
    part = card.protocol_info.get("data")
    found = {**facts(card), **_flat({"data.part": part or {}})}
    plain: dict[str, Any] = jsonio.loads(jsonio.dumps(found))
    return plain


def _short(rule: Any) -> Any:
    """A rule that names samples, without the names."""
    if isinstance(rule, Mapping) and "ids" in rule:
        return {**rule, "ids": len(rule["ids"])}
    return rule


def make_reference(
    row: Row, ref: TaskRef, model: NamedModel, catalog: Catalog, *, bare: bool = False
) -> Reference:
    """What the paper did for a cell of the row with this model; the data need not be here.

    `bare`: without what the row sets. Unpaired where the model gives nothing that the task takes.
    """
    prefix = "protocol."
    overrides = {} if bare else {k.removeprefix(prefix): v for k, v in row.set.items()}
    task = open_recorded(ref, catalog, overrides=overrides, items=(), fingerprint="")
    protocol = task.protocol
    answer = pair(protocol, model.card, form=row.answer)
    variant, prompt = pick_variant(answer, row.prompt)
    sampling = protocol.sampling
    attempts = max(protocol.attempts, row.least_attempts)
    rule: Any = ALL if sampling.unit == "example" else {"unit": "image"}
    if sampling.limit is not None:
        rule = {"limit": sampling.limit, "unit": sampling.unit, "seed": sampling.seed}
    data = ref.card.dataset
    promised = protocol.data.n if protocol.data.options else data.n
    codec = task.codec(answer)
    job = Job(
        task=task, model=model.as_model(), codec=codec, variant=variant, prompt=prompt, items=(),
        selection={}, attempts=attempts, identity={}, run_id="", path=_NOWHERE,
    )  # fmt: skip
    calibrates = protocol.calibration is not None and hasattr(codec.decoder, "calibrate")
    return Reference(
        row=row,
        ref=ref,
        model=model,
        card=_card(job, ref),
        job=job,
        promised=promised,
        samples=row.n_paper or sampling.limit or promised,
        rule=rule,
        calibrated_on=protocol.calibration.samples if calibrates and protocol.calibration else None,
        form=answer.form,
    )


def _card(job: Job, ref: TaskRef) -> ResultCard:
    """A result card without numbers."""
    dataset = msgspec.to_builtins(ref.card.dataset)
    return ResultCard(
        run="",
        complete=False,
        task=ref.name,
        protocol=ref.protocol,
        model=job.model.name,
        answer=job.codec.answer.form,
        prompt=job.variant,
        primary=job.task.protocol.primary,
        counts=Counts(
            expected=0, answered=0, model_failure=0, infrastructure=0, data_fault=0, not_run=0,
            statuses={}, flags={}, failure_value="",
        ),
        scores=(),
        content_digest="",
        task_info={"version": ref.card.version},
        protocol_info=describe_protocol(job),
        model_info={},
        dataset_info={**dataset, "reader": job.task.reader},
        selection={"attempts": job.attempts},
        plugins=(),
        versions={},
        hardware={},
        volatile={},
    )  # fmt: skip
