"""A task card on the bench: its reader, its samples, its protocols, its ceiling and floor."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval import cards
from vgen_eval.answers import pack, unpack
from vgen_eval.cards.check_data import spread
from vgen_eval.cards.records import InputCard, TaskCard
from vgen_eval.engine.models import name_bounds
from vgen_eval.engine.naming import TaskRef
from vgen_eval.engine.tasks import Codec, Task, open_root, open_task
from vgen_eval.errors import (
    BrokenPlugin,
    CardError,
    NotRunnable,
    NoValidTarget,
    Undecodable,
    UsageError,
)
from vgen_eval.imaging import Image, prepare_image
from vgen_eval.testing.outcome import Failed, Unavailable, tell
from vgen_eval.types import Item, Sample, Scene

if TYPE_CHECKING:
    from vgen_eval.testing.child import Printed
    from vgen_eval.testing.children import Spec

__all__ = ["TaskBench", "scene_of", "spread"]

MOST_SAMPLES = 20
MOST_RUN = 5
"""Samples of the runs of ceiling and floor."""
CODEC_SAMPLES = 5


class TaskBench:
    """Opens a task as a run does; all of it lazily, so that a fault is its own check's."""

    def __init__(self, spec: Spec, printed: Printed) -> None:  # noqa: ARG002
        from vgen_eval.plugins import Catalog

        self.catalog = Catalog.discover()
        self.plugin = self.catalog.plugin(spec.plugin)
        self.subject = spec.subject
        name = spec.subject.task or spec.subject.name
        self.card_name = f"{self.plugin.name}:{name}"
        self._runs: dict[tuple[str, str, str, bool], Any] = {}
        self._tasks: dict[str, Task] = {}

    @cached_property
    def loaded(self) -> cards.LoadedCard:
        """The task card, read."""
        return cards.load_card(self.catalog.find("task", self.card_name)[1].path)

    @property
    def card(self) -> TaskCard:
        """The task card."""
        assert isinstance(self.loaded.record, TaskCard)
        return self.loaded.record

    @cached_property
    def reader(self) -> Any:
        """The data set, opened; Unavailable when its data is not here."""
        data = self.card.dataset
        try:
            kind = self.catalog.component("dataset", data.reader, home=self.plugin.name).obj
            options = cards.convert(kind.Options, data.options, file=self.card_name)
            return kind(options, root=open_root(data.root, None), folder=self.loaded.path.parent)
        except BrokenPlugin:
            raise
        except NotRunnable as exc:
            raise Unavailable(_words(exc)) from exc
        except UsageError as exc:
            raise Unavailable(f"{exc.what}: see package::cards_valid") from exc

    @cached_property
    def items(self) -> list[Item]:
        """The index; Unavailable when its data is not here."""
        reader = self.reader
        try:
            return list(reader.index())
        except NotRunnable as exc:
            raise Unavailable(_words(exc)) from exc

    @cached_property
    def samples(self) -> list[Sample]:
        """Samples spread over the index."""
        return [self.reader.load(item) for item in spread(self.items, MOST_SAMPLES)]

    def task(self, protocol: str) -> Task:
        """The task under a protocol, as a run opens it."""
        if protocol not in self._tasks:
            ref = TaskRef(
                name=self.card.task, distribution=self.plugin.name, card=self.card,
                card_digest=self.loaded.card_digest, folder=self.loaded.path.parent,
                protocol=protocol, exact=True,
            )  # fmt: skip
            try:
                task = open_task(ref, self.catalog, overrides={}, data_root=None)
            except (BrokenPlugin, CardError):
                raise
            except UsageError as exc:
                raise Unavailable(f"{exc.what}: see package::cards_valid") from exc
            except NotRunnable as exc:
                raise Unavailable(f"the task cannot be opened: {exc.what}") from exc
            except Exception as exc:  # a part that declares its values wrongly
                raise Unavailable(f"the task cannot be opened: {tell(exc)}") from exc
            self._tasks[protocol] = task
        return self._tasks[protocol]

    def codec(self, protocol: str, form: str) -> Codec:
        """Decoder and encoder of a form."""
        task = self.task(protocol)
        answer = next(a for a in task.protocol.answers if a.form == form)
        try:
            return task.codec(answer)
        except UsageError as exc:
            raise Unavailable(f"{exc.what}: see package::cards_valid") from exc

    def some(self, count: int = CODEC_SAMPLES) -> list[Sample]:
        """A few samples; Unavailable when none can be loaded: the task's checks say why."""
        home = f"task:{self.card.task}"
        items, reader = spread(self.items, count), self.reader
        try:
            found = [reader.load(item) for item in items]
        except (BrokenPlugin, CardError, Unavailable):
            raise
        except Exception as exc:
            reason = f"its samples cannot be loaded: {tell(exc)}: see {home}::loads"
            raise Unavailable(reason) from exc
        if not all(isinstance(image, Image) for sample in found for image in sample.images):
            raise Unavailable(f"its samples hold no pictures: see {home}::sample_pictures")
        return found

    def is_own(self, qualified: str) -> bool:
        """Does the part come from the plugin itself, so that it is checked by itself?"""
        return qualified.partition(":")[0] == self.plugin.name

    def rehearse(self, protocol: str, named_form: str) -> None:
        """Takes a truth through encoder, decoder and metrics, as a run would.

        What a part of the plugin itself raises is Unavailable: the checks of the part tell it.
        Failed for what another's raises, since nothing else here would.
        """
        task, codec = self.task(protocol), self.codec(protocol, named_form)
        assert codec.encoder is not None
        sample = self.some(1)[0]
        scene = scene_of(sample, task.protocol.input, codec)
        form = codec.answer.form
        try:
            with self.blaming(codec.info["encoder"]["name"], "encoder"):
                kept = pack(form, codec.encoder.encode(sample.target, scene))
            background = codec.answer.background
            with self.blaming(codec.info["decoder"]["name"], "decoder"):
                answer = unpack(form, value=kept.value, data=kept.data, background=background)
                value = codec.decoder.decode(answer, scene).value
            for named in task.metrics:
                with self.blaming(named.info["name"], "metric"):
                    named.metric.compute(named.metric.update(value, sample.target, sample.valid))
        except (NoValidTarget, Undecodable):  # a run counts them
            return

    @contextlib.contextmanager
    def blaming(self, qualified: str, kind: str) -> Iterator[None]:
        """What a part of that name raises inside: Unavailable, or Failed for another's part."""
        try:
            yield
        except (NoValidTarget, Undecodable):
            raise
        except Exception as exc:
            told = f"{kind} '{qualified}' raised {tell(exc)}"
            if self.is_own(qualified):
                home = "metric" if kind == "metric" else "codec"
                raise Unavailable(f"{told}: see the checks of the {home}") from exc
            raise Failed(told) from exc

    def run(self, protocol: str, form: str, role: str, *, whole: bool = False) -> Any:
        """The result card of the built-in model of that role, from an ordinary run.

        `whole`: of every sample, not of a few.
        """
        key = (protocol, form, role, whole)
        if key not in self._runs:
            from vgen_eval.engine.evaluate import evaluate

            with tempfile.TemporaryDirectory(prefix="vgen-check-run-") as folder:
                (card,) = evaluate(
                    tasks=f"{self.card_name}@{protocol}", model=self._bound(role), answer=form,
                    limit=None if whole else MOST_RUN, bounds=False, workers=1, output=folder,
                    catalog=self.catalog, fresh=True,
                )  # fmt: skip
                if card.counts.infrastructure:
                    path = Path(folder, card.run, "scores")
                    raise Failed(f"{protocol}, {form}: {_first_fault(path)}")
            self._runs[key] = card
        return self._runs[key]

    def _bound(self, role: str) -> str:
        name = name_bounds(self.catalog).get(role)
        if name is None:
            raise Unavailable(f"there is no built-in model of role {role}")
        return name


def _first_fault(scores: Path) -> str:
    """The first reason that a run's score lines give."""
    for path in sorted(scores.glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            record = msgspec.json.decode(line)
            if record.get("status") in ("error", "timeout"):
                return f"sample '{record.get('sample')}': {record.get('reason')}"
    return "attempts failed"


def scene_of(sample: Sample, rule: InputCard, codec: Codec, *, scale: float = 1.0) -> Scene:
    """The scene of a sample under an input rule, its picture seen `scale` times as large."""
    import numpy as np

    fit, choices = codec.answer.fit, sample.choices or codec.answer.choices
    if not sample.images:
        blank = Image(np.zeros((0, 0, 3), np.uint8))
        return Scene(image=blank, size=(0, 0), fields=sample.fields, choices=choices, fit=fit)
    first = sample.images[0]
    long_side, size = rule.long_side, rule.size
    if scale != 1.0:
        seen, _ = prepare_image(first, long_side=long_side, upsample=rule.upsample, size=size,
                                fit=rule.fit)  # fmt: skip
        if size is not None:
            size = (max(8, round(size[0] * scale)), max(8, round(size[1] * scale)))
        else:
            long_side = max(8, round(max(seen.height, seen.width) * scale))
    shown, box = prepare_image(
        first, long_side=long_side, upsample=rule.upsample or scale != 1.0, size=size,
        fit=rule.fit, pad=rule.pad,
    )  # fmt: skip
    return Scene(
        image=shown, size=(first.height, first.width), fields=sample.fields, choices=choices,
        box=box, fit=fit,
    )  # fmt: skip


def _words(exc: NotRunnable) -> str:
    return f"{exc.what} ({exc.cure})" if exc.cure else exc.what
