"""What a task shows and asks, written to a folder for a program that runs elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, get_args

import msgspec

from vgen_eval import jsonio
from vgen_eval.engine.models import from_function
from vgen_eval.engine.plan import Job, make_plan
from vgen_eval.engine.request import make_request, prepare
from vgen_eval.engine.settings import Settings
from vgen_eval.errors import BadSample, UsageError
from vgen_eval.paths import confined
from vgen_eval.store.run import write_atomic
from vgen_eval.types import AnswerForm, Request

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["QUESTIONS", "HandedOut", "hand_out"]

QUESTIONS = "questions.jsonl"


class HandedOut(msgspec.Struct, frozen=True, kw_only=True):
    """What was written."""

    task: str
    form: str
    """The answer form that the prompts ask for."""
    prompt: str | None
    target: str
    samples: int
    pictures: int
    faults: tuple[str, ...]
    """Samples that cannot be read, and why."""


def hand_out(settings: Settings, catalog: Catalog, *, target: Path) -> HandedOut:
    """Writes the pictures as a model sees them and, a line a sample, what it is asked. No truth.

    UsageError where the settings mean several tasks or prompts; MissingData without the data.
    """
    anyone = from_function(_unasked, name=None, forms=get_args(AnswerForm))
    plan = make_plan(settings, catalog, [anyone])
    if not plan.jobs:
        raise UsageError("; ".join(f"{skip.task}: {skip.reason}" for skip in plan.skipped))
    if len(plan.jobs) > 1:
        told = [f"{job.task.ref.label} {job.variant or ''}".rstrip() for job in plan.jobs]
        raise UsageError(
            f"one task and one prompt are wanted, not {', '.join(told[:3])}"
            + (", ..." if len(told) > 3 else ""),
            cure=f"vgen-eval data export {plan.jobs[0].task.ref.label} --prompt VARIANT -o DIR",
        )
    (job,) = plan.jobs
    lines, faults, pictures = [], [], 0
    for line, fault in _samples(job, target):
        if line is None:
            faults.append(fault)
            continue
        lines.append(jsonio.dumps(line) + b"\n")
        pictures += len(line["images"])
    write_atomic(target / QUESTIONS, b"".join(lines))
    return HandedOut(
        task=job.task.ref.label,
        form=job.codec.answer.form,
        prompt=job.variant,
        target=str(target),
        samples=len(lines),
        pictures=pictures,
        faults=tuple(faults),
    )


def _samples(job: Job, target: Path) -> Iterator[tuple[dict[str, Any] | None, str]]:
    """A line of each sample, its pictures written; None, with the reason, for a faulty one."""
    for item in job.items:
        try:
            request = make_request(job, prepare(job, job.task.dataset.load(item)), 0)
            names = list(_write(request, target))
        except (BadSample, ValueError, OSError) as exc:
            yield None, f"{item.id}: {exc}"
            continue
        line = {"id": item.id, "images": names, "prompt": request.prompt}
        yield line | ({"choices": list(request.choices)} if request.choices else {}), ""


def _write(request: Request, target: Path) -> Iterator[str]:
    """The names of the request's pictures, each written."""
    for at, image in enumerate(request.images):
        name = f"images/{request.sample}{f'.{at}' if at else ''}.png"
        write_atomic(confined(target, name), image.png())
        yield name


def _unasked(_request: Request) -> NoReturn:
    """Stands for the model that is elsewhere."""
    raise AssertionError("nothing is asked")
