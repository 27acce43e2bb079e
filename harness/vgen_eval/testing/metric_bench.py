"""A metric on the bench: true, shifted and failed predictions of real samples, scored."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from vgen_eval.engine.tasks import Codec, NamedMetric, Task
from vgen_eval.errors import NoValidTarget, Undecodable
from vgen_eval.testing.outcome import Unavailable, tell
from vgen_eval.testing.task_bench import TaskBench, scene_of
from vgen_eval.types import Sample, Statistics, Value

__all__ = ["Case", "MetricBench"]


class Case(msgspec.Struct, frozen=True, eq=False):
    """A prediction of a sample, and what it is."""

    kind: str
    """true, shifted or failed."""
    sample: Sample
    value: Any


class MetricBench(TaskBench):
    """One metric of a protocol, with predictions of a few samples."""

    @cached_property
    def here(self) -> tuple[Task, NamedMetric]:
        """The task under the protocol, and the metric."""
        task = self.task(self.subject.protocol)
        return task, task.metrics[self.subject.at]

    @property
    def metric(self) -> Any:
        """The metric itself."""
        return self.here[1].metric

    @property
    def values(self) -> tuple[Value, ...]:
        """What it declares, without the protocol's label."""
        return tuple(self.metric.values)

    @cached_property
    def cases(self) -> list[Case]:
        """Predictions of samples; those without a truth to score are left out."""
        task, _ = self.here
        codec = self._codec(task)
        found: list[Case] = []
        for sample in self.some():
            found += _cases(task, codec, sample)
        scored = {id(case.sample) for case in found if self.score(case) is not None}
        return [case for case in found if id(case.sample) in scored]

    def _codec(self, task: Task) -> Codec:
        # a picture of 8 bits loses more than the forms that are numbers already
        for answer in sorted(task.protocol.answers, key=lambda answer: answer.form == "image"):
            codec = self.codec(self.subject.protocol, answer.form)
            if codec.encoder is not None and codec.judge is None:
                return codec
        raise Unavailable(
            "no answer form of the protocol has an encoder and is measured without a judge"
        )

    def score(self, case: Case) -> Statistics | None:
        """Its statistics; None when its truth holds nothing to score."""
        try:
            return self.metric.update(  # type: ignore[no-any-return]
                copy.deepcopy(case.value), copy.deepcopy(case.sample.target),
                copy.deepcopy(case.sample.valid),
            )  # fmt: skip
        except NoValidTarget:
            return None

    @cached_property
    def scored(self) -> list[tuple[Case, Statistics]]:
        """Cases with their statistics."""
        return [(case, found) for case in self.cases if (found := self.score(case)) is not None]

    def compute(self, statistics: Statistics) -> dict[str, Any]:
        """The values of a copy: what compute() does to its argument is a check of its own."""
        return dict(self.metric.compute(copy.deepcopy(statistics)))

    def merge(self, a: Statistics, b: Statistics) -> Statistics:
        """Both, merged from copies."""
        return self.metric.merge(copy.deepcopy(a), copy.deepcopy(b))  # type: ignore[no-any-return]


def _cases(task: Task, codec: Codec, sample: Sample) -> Iterator[Case]:
    scene = scene_of(sample, task.protocol.input, codec)
    assert codec.encoder is not None
    try:
        answer = codec.encoder.encode(sample.target, scene)
        yield Case("true", sample, codec.decoder.decode(answer, scene).value)
        if isinstance(answer, np.ndarray) and answer.ndim >= 2:
            shifted = np.roll(answer, max(1, answer.shape[0] // 8), axis=0)
            yield Case("shifted", sample, codec.decoder.decode(shifted, scene).value)
    except Undecodable:
        pass
    except Exception as exc:
        raise Unavailable(
            f"sample '{sample.id}' does not go through the codec: {tell(exc)}: "
            "see the checks of the codec"
        ) from exc
    if task.failure is not None:
        try:
            yield Case("failed", sample, task.failure.decode(None, scene).value)
        except Exception as exc:
            raise Unavailable(
                f"the failure value raised {tell(exc)}: see the checks of the codec"
            ) from exc
