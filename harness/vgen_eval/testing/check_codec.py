"""Checks of a decoder and its encoder: there and back, purity, garbage, sizes, failure value."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any

import numpy as np

from vgen_eval.answers import pack, unpack
from vgen_eval.engine.tasks import SKIP, Codec, Task
from vgen_eval.errors import NoValidTarget, Undecodable, UsageError
from vgen_eval.imaging import Image
from vgen_eval.testing.garbage import garbage
from vgen_eval.testing.outcome import Failed, Skipped, tell
from vgen_eval.testing.panes import fault_of_panes
from vgen_eval.testing.task_bench import TaskBench, scene_of
from vgen_eval.testing.values import on_grid, same, shortfall
from vgen_eval.types import Metric, Prediction, Sample, Scene, Value

__all__ = ["Bench"]

SCALES = (1.0, 0.5, 1.5)
OFF = 0.02
"""Part of the range that a truth may lose at the size that is seen."""
OFF_SCALED = 0.1
"""The same at half of that size and at one and a half times it: edges are resampled."""
SIZES = ((1, 1), (3, 5), (37, 53), (8, 200), (130, 97))
VIEWED = 2
"""Samples of which a view is asked."""
ARRAYS = ("image", "mask", "label_map", "depth_map", "normal_map")


class Bench(TaskBench):
    """One answer form of a protocol, with a few samples."""

    @cached_property
    def here(self) -> tuple[Task, Codec]:
        """The task under the protocol, and the codec of the form."""
        protocol, form = self.subject.protocol, self.subject.form
        return self.task(protocol), self.codec(protocol, form)

    @cached_property
    def few(self) -> list[Sample]:
        """Samples to try."""
        return self.some()

    def scene(self, sample: Sample, scale: float = 1.0) -> Scene:
        """The sample's scene."""
        task, codec = self.here
        return scene_of(sample, task.protocol.input, codec, scale=scale)

    def ideal(self, sample: Sample, scene: Scene) -> Any:
        """The encoded truth, as decoders take it."""
        codec = self.here[1]
        if codec.encoder is None:
            raise Skipped("the form has no encoder")
        try:
            written = codec.encoder.encode(sample.target, scene)
            kept = pack(codec.answer.form, written)
        except Exception as exc:
            raise Failed(f"sample '{sample.id}' cannot be encoded: {tell(exc)}") from exc
        return unpack(
            codec.answer.form, value=kept.value, data=kept.data,
            background=codec.answer.background,
        )  # fmt: skip


def check_encode_decode(bench: Bench) -> str:
    """Do truths come back?"""
    task, codec = bench.here
    if codec.judge is not None:
        raise Skipped("a judge measures what the decoder gives")
    told = []
    for scale in SCALES:
        got = _score(bench, scale)
        if got is None:
            raise Skipped("none of the samples has a truth to score")
        told.append(f"{scale:g}x {got:.4g}")
        off = shortfall(task.primary, got, floor=_failure_score(bench))
        if off is not None and off > (OFF if scale == 1.0 else OFF_SCALED):
            raise Failed(f"{task.primary.name} is {got:.4g} at {scale:g} times the seen size")
    return f"{task.primary.name} {', '.join(told)}"


def _score(bench: Bench, scale: float) -> float | None:
    """The primary value over the samples."""
    _, codec = bench.here
    pairs = []
    for sample in bench.few:
        scene = bench.scene(sample, scale)
        answer = bench.ideal(sample, scene)
        try:
            prediction = codec.decoder.decode(answer, scene)
        except Undecodable as exc:
            raise Failed(
                f"sample '{sample.id}' at {scale:g} times the seen size: {exc.what}"
            ) from exc
        pairs.append((prediction, sample))
    return _primary(bench, pairs)


def _failure_score(bench: Bench) -> float | None:
    """What failures score, where the primary value has no range of its own."""
    task, _ = bench.here
    if task.failure is None or None not in (task.primary.low, task.primary.high):
        return None
    return _primary(
        bench, [(task.failure.decode(None, bench.scene(sample)), sample) for sample in bench.few]
    )


def _primary(bench: Bench, pairs: list[tuple[Prediction, Sample]]) -> float | None:
    """The primary value of predictions: pooled, or the mean of theirs, as it is declared."""
    task = bench.here[0]
    for named in task.metrics:
        keys = {value.name: value.of.removeprefix(named.prefix) for value in named.values}
        if task.primary.name not in keys:
            continue
        with bench.blaming(named.info["name"], "metric"):
            return _value(task.primary, named.metric, keys[task.primary.name], pairs)
    return None


def _value(
    primary: Value, metric: Metric, key: str, pairs: list[tuple[Prediction, Sample]]
) -> float | None:
    """One value of predictions; None when none of them can be scored."""
    found = []
    for prediction, sample in pairs:
        try:
            found.append(metric.update(prediction.value, sample.target, sample.valid))
        except NoValidTarget:
            continue
    if not found:
        return None
    if primary.aggregation == "mean":
        values = [value for s in found if (value := metric.compute(s)[key]) is not None]
        return float(np.mean(values)) if values else None
    merged = found[0]
    for more in found[1:]:
        merged = metric.merge(merged, more)
    return metric.compute(merged)[key]


def check_decoder_pure(bench: Bench) -> None:
    """Does the same answer give the same prediction?"""
    decoder = bench.here[1].decoder
    for sample in bench.few:
        scene = bench.scene(sample)
        answer = bench.ideal(sample, scene)
        before = copy.deepcopy(answer)
        first = copy.deepcopy(decoder.decode(answer, scene))
        if not same(answer, before):
            raise Failed(f"sample '{sample.id}': decode() changed the answer")
        if not same(first, decoder.decode(answer, scene)):
            raise Failed(f"sample '{sample.id}': a second decode() gives another prediction")


def _try(bench: Bench, what: str, answer: Any, scene: Scene) -> None:
    """Undecodable, or a prediction on the grid; Failed for anything else."""
    try:
        prediction = bench.here[1].decoder.decode(answer, scene)
    except Undecodable:
        return
    except Exception as exc:
        raise Failed(f"{what}: raised {tell(exc)}") from exc
    if not isinstance(prediction, Prediction):
        raise Failed(f"{what}: gave {type(prediction).__name__}, no Prediction")
    if not on_grid(prediction.value, scene.size):
        raise Failed(f"{what}: the prediction does not lie on the target's grid {scene.size}")


def check_decoder_rejects(bench: Bench) -> str:
    """Is garbage refused?"""
    scene = bench.scene(bench.few[0]) if bench.few else _blank_scene()
    count = 0
    for what, answer in garbage(bench.here[1].answer.form):
        _try(bench, what, answer, scene)
        count += 1
    return f"{count} kinds of garbage"


def _blank_scene() -> Scene:
    return Scene(image=Image(np.zeros((48, 64, 3), np.uint8)), size=(48, 64))


def check_odd_sizes(bench: Bench) -> None:
    """Do answers of other sizes come to the grid?"""
    form = bench.here[1].answer.form
    if form not in ARRAYS:
        raise Skipped(f"{form} has no size")
    sample = bench.few[0]
    scene = bench.scene(sample)
    answer = np.asarray(bench.ideal(sample, scene))
    for height, width in (*SIZES, (answer.shape[1], answer.shape[0])):
        rows = np.arange(height) * answer.shape[0] // height
        columns = np.arange(width) * answer.shape[1] // width
        _try(
            bench, f"an answer of {height}x{width}",
            np.ascontiguousarray(answer[rows][:, columns]), scene,
        )  # fmt: skip


def check_failure_value(bench: Bench) -> None:
    """Can a failure be scored?"""
    task, _ = bench.here
    if task.failure is None:
        raise Skipped(f"failures are left out ({SKIP})")
    for sample in bench.few:
        scene = bench.scene(sample)
        prediction = task.failure.decode(None, scene)
        if not isinstance(prediction, Prediction):
            raise Failed(f"it gave {type(prediction).__name__}, no Prediction")
        if not on_grid(prediction.value, scene.size):
            raise Failed(f"sample '{sample.id}': it does not lie on the target's grid")
        for named in task.metrics:
            try:
                named.metric.update(prediction.value, sample.target, sample.valid)
            except NoValidTarget:
                continue
            except Exception as exc:
                raise Failed(
                    f"sample '{sample.id}': metric '{named.key}' raised {tell(exc)}"
                ) from exc


def check_view(bench: Bench) -> str:
    """Does the view of what is measured give panes?"""
    from vgen_eval.viewing import Seen

    task, codec = bench.here
    view = _own_view(bench)
    if view is None or not bench.few:
        return ""
    metrics = {named.key: named.metric for named in task.metrics}
    count = 0
    for sample in bench.few[:VIEWED]:
        scene = bench.scene(sample)
        shown: list[tuple[Prediction | None, bool]] = [(None, False)]
        if codec.judge is None:
            shown.append((codec.decoder.decode(bench.ideal(sample, scene), scene), False))
        if task.failure is not None:
            shown.append((task.failure.decode(None, scene), True))
        for prediction, substitute in shown:
            seen = Seen(
                sample=sample, scene=scene, form=codec.answer.form, answer=None,
                prediction=prediction, substitute=substitute,
                score={"status": "ok"}, metrics=metrics,
            )  # fmt: skip
            before = copy.deepcopy((sample, prediction))
            try:
                panes = list(view.panes(seen))
            except Exception as exc:
                raise Failed(f"sample '{sample.id}': panes() raised {tell(exc)}") from exc
            fault = fault_of_panes(panes, scene.size)
            if fault:
                raise Failed(f"sample '{sample.id}': {fault}")
            if not same((sample, prediction), before):
                raise Failed(f"sample '{sample.id}': panes() changed what it was given")
            count += len(panes)
    return f"{count} panes"


def _own_view(bench: Bench) -> Any:
    """The plugin's own view of what the protocol's metrics measure; None where it has none."""
    for named in bench.here[0].metrics:
        measures = getattr(named.metric, "measures", None)
        if measures is None:
            continue
        try:
            component = bench.catalog.component("view", measures, home=bench.plugin.name)
        except UsageError:
            continue
        if bench.is_own(component.qualified):
            return component.obj()
    return None
