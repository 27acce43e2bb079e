"""Which place of a run's protocol a KEY of an ablation means, and which places none can mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from vgen_eval.engine.plan import Job
from vgen_eval.engine.tasks import NamedMetric
from vgen_eval.errors import UsageError, nearest

__all__ = ["ALIASES", "PROTOCOL", "answer_place", "resolve_key"]

PROTOCOL = "protocol"
ALIASES: Mapping[str, str] = {"binariser": "method"}
"""Other words for options."""

ANSWER_FIELDS = ("decoder", "reencode", "background", "fit")
PROTOCOL_FIELDS = ("failure_value", "failure_options", "calibration", "primary")
"""What a short name may mean where no component has such an option."""

_ASKED = ("input", "seed", "sampling", "attempts")
_ASKED_OF_ANSWER = ("form", "prompt", "prefix", "choices", "choice_scoring")
"""What a run asks and of whom: kept answers say nothing of another one."""
_UNREAD = ("title", "source", "extends", "select_by")
_UNREAD_OF_ANSWER = ("encoder", "encoder_options")
"""What changes no number over all attempts."""
_INDEX = re.compile(r"\[(\d+)\]")


def answer_place(job: Job) -> int:
    """Where the run's answer form stands among the answers of its protocol."""
    forms = [answer.form for answer in job.task.protocol.answers]
    return forms.index(job.codec.answer.form)


def resolve_key(key: str, job: Job, *, metric: str | None = None) -> str:
    """The dotted path below the protocol that a key means for a run; `protocol` for itself.

    A short name is that of an option of the run's decoder, or of the metric that reports
    `metric` (the primary), or else a field of the answer or the protocol. UsageError for any
    other, and for a key that kept answers say nothing of.
    """
    if key == PROTOCOL:
        return key
    if "." in key or "[" in key:
        path = _INDEX.sub(r".\1", key.removeprefix(f"{PROTOCOL}."))
        _check_reads(key, path, job)
        return path
    word = ALIASES.get(key, key)
    metric = metric or job.task.primary.name
    found = list(_places(word, job, metric))
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"'{key}' is an option of the decoder and of a metric of {job.task.ref.label}",
            cure=f"name one: {', '.join(f'{PROTOCOL}.{path}' for path in found)}",
        )
    for at, named in enumerate(job.task.metrics):
        if word in _options(named.metric):
            reported = ", ".join(value.name for value in named.values)
            raise UsageError(
                f"'{key}' is an option of metric '{named.key}' of {job.task.ref.label}, which "
                f"does not report '{metric}'",
                cure=f"--metric, one of {reported}; or {PROTOCOL}.metrics.{at}.options.{word}",
            )
    _check_reads(key, word, job)
    _check_reads(key, f"answers.{answer_place(job)}.{word}", job)
    raise UsageError(
        f"nothing in {job.task.ref.label} is called '{key}'.{nearest(word, _known(job))}",
        cure="an option of its decoder or metrics, or a full key: protocol.metrics.0.options.NAME",
    )


def _places(word: str, job: Job, metric: str) -> Iterator[str]:
    place, found = answer_place(job), False
    if word in _options(job.codec.decoder):
        found = True
        yield f"answers.{place}.options.{word}"
    for at, named in enumerate(job.task.metrics):
        if word in _options(named.metric) and _reports(named, metric):
            found = True
            yield f"metrics.{at}.options.{word}"
    if found or any(word in _options(named.metric) for named in job.task.metrics):
        return
    if word in ANSWER_FIELDS:
        yield f"answers.{place}.{word}"
    elif word in PROTOCOL_FIELDS:
        yield word


def _reports(named: NamedMetric, metric: str) -> bool:
    return any(value.name == metric for value in named.values)


def _options(component: object) -> tuple[str, ...]:
    found: tuple[str, ...] = component.Options.__struct_fields__  # type: ignore[attr-defined]
    return found


def _known(job: Job) -> list[str]:
    parts = [job.codec.decoder, *(named.metric for named in job.task.metrics)]
    options = [name for part in parts for name in _options(part)]
    return [PROTOCOL, *ALIASES, *ANSWER_FIELDS, *PROTOCOL_FIELDS, *options]


def _check_reads(key: str, path: str, job: Job) -> None:
    """UsageError where the place is about what was asked, or about nothing that is read."""
    head, *below = path.split(".")
    place = answer_place(job)
    asked, unread = head in _ASKED, head in _UNREAD
    if head == "answers" and below:
        if below[0].isdigit() and int(below[0]) != place:
            raise UsageError(
                f"{key}: the answers of {job.path.name} are read by answers.{place}",
                cure=f"name that one: {PROTOCOL}.answers.{'.'.join([str(place), *below[1:]])}",
            )
        asked = below[1:2] != [] and below[1] in _ASKED_OF_ANSWER
        unread = below[1:2] != [] and below[1] in _UNREAD_OF_ANSWER
    if asked:
        raise UsageError(
            f"{key}: says what a model is shown or asked, not how its answers are read",
            cure=f"run the task again with --set {PROTOCOL}.{path}=...",
        )
    if unread:
        raise UsageError(f"{key}: no number hangs on it")
