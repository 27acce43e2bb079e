"""A look at a task's truth: three samples with what a perfect model would answer, read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vgen_eval.answers import AnswerFault, pack, unpack
from vgen_eval.engine.request import prepare
from vgen_eval.errors import BadSample, NoValidTarget, Undecodable
from vgen_eval.imaging import Colour
from vgen_eval.making.drawing import draw
from vgen_eval.making.page import Panel, Row, render

if TYPE_CHECKING:
    from vgen_eval.engine.plan import Job
    from vgen_eval.types import Prediction, Sample

__all__ = ["make_preview", "pick"]

Colours = Mapping[str, Colour]


def pick(count: int) -> list[int]:
    """Places of the first, the middle and the last of so many, each once."""
    return sorted({0, count // 2, count - 1}) if count else []


def make_preview(job: Job, *, title: str, notes: Sequence[str], colours: Colours) -> str:
    """The HTML page of a job of a ceiling model: input, truth, its answer, the answer read back."""
    rows = []
    for place in pick(len(job.items)):
        item = job.items[place]
        heading = f"{place + 1:,} of {len(job.items):,}: {item.id}"
        try:
            rows.append(_row(job, job.task.dataset.load(item), heading, colours))
        except BadSample as exc:
            rows.append(Row(title=heading, notes=(exc.what,), prompt="", panels=()))
    return render(title, notes, rows)


def _row(job: Job, sample: Sample, heading: str, colours: Colours) -> Row:
    photo = sample.images[0].array if sample.images else None
    panels = [Panel("input", draw(image.array, image.array)) for image in sample.images]
    panels.append(Panel("truth", draw(sample.target, photo, colours=colours)))
    notes = [f"{name}: {text}" for name, text in sample.fields.items()]
    notes += [f"{name} = {text}" for name, text in sample.tags.items()]
    if sample.valid is not None:
        panels.append(Panel("known pixels, white", draw(sample.valid, photo)))
    try:
        prepared = prepare(job, sample)
    except (BadSample, NoValidTarget) as exc:  # a truth without any reading is legal
        return Row(title=heading, notes=(*notes, exc.what), prompt="", panels=tuple(panels))
    form = job.codec.answer.form
    try:
        packed = pack(form, prepared.ideal)
        answer = unpack(form, value=packed.value, data=packed.data)
        seen = prepared.scene.image.array
        panels.append(Panel(f"a perfect answer: {form}", draw(answer, seen, colours=colours)))
        found = job.codec.decoder.decode(answer, prepared.scene)
    except (AnswerFault, Undecodable) as exc:
        notes.append(f"the perfect answer cannot be read back: {exc}")
    else:
        panels.append(Panel("the answer, read back", draw(found.value, photo, colours=colours)))
        notes.append(_say_values(job, found, sample))
    return Row(
        title=heading,
        notes=tuple(filter(None, notes)),
        prompt=prepared.prompt,
        panels=tuple(panels),
    )


def _say_values(job: Job, found: Prediction, sample: Sample) -> str:
    """What the protocol's first metric says of this one sample: the one its answers are for."""
    named = job.task.metrics[0]
    try:
        statistics = named.metric.update(found.value, sample.target, sample.valid)
    except NoValidTarget as exc:
        return f"not scored: {exc}"
    values: Mapping[str, Any] = named.metric.compute(statistics)
    said = [f"{named.prefix}{k} {v:.4g}" for k, v in values.items() if v is not None]
    flags = f" ({', '.join(found.flags)})" if found.flags else ""
    return f"scored: {', '.join(said)}{flags}"
