"""From a kept answer to a score line: decode, substitute on failure, update the metrics."""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Mapping
from typing import Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.answers import clean
from vgen_eval.engine.judges import Judging, Unasked
from vgen_eval.engine.tasks import Codec, Task
from vgen_eval.errors import JudgeError, NotRunnable, NoValidTarget, StorageError, Undecodable
from vgen_eval.imaging.image import buffer_of
from vgen_eval.judging import Case
from vgen_eval.types import STATUS_GROUP, Prediction, Sample, Scene, Status
from vgen_eval.wording import describe

__all__ = ["pixels_digest", "score_attempt", "score_key", "unscored"]

CALIBRATION_ONLY = "the decoder was calibrated on it, and the protocol leaves such samples out"

log = logging.getLogger(__name__)


def score_key(line: Mapping[str, Any], codec: Codec) -> str:
    """Ties a score to what it was made of: status, answer, and the decoder's calibration."""
    answer = line.get("answer")
    key = f"{line['status']}:{answer['sha256'] if answer else ''}"
    if codec.calibration is None:
        return key
    return f"{key}:{jsonio.digest(codec.calibration['decoder'])[:12]}"


def unscored(line: Mapping[str, Any], codec: Codec, status: Status, reason: str) -> dict[str, Any]:
    """The score line of an attempt that has no score."""
    record = {
        "sample": line["sample"],
        "attempt": line["attempt"],
        "of": score_key(line, codec),
        "status": status,
    }
    if reason:
        record["reason"] = reason
    return record


def score_attempt(
    task: Task, codec: Codec, line: Mapping[str, Any], answer: Any, sample: Sample, scene: Scene,
    judging: Judging | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The score line of a prediction line.

    `answer` as decoders take it, None when the attempt gave none; an Undecodable stands for an
    answer whose bytes could not be read. A model failure is scored as the protocol's failure
    value, through the same metrics. `judging`: who judges what the decoder gives, where the codec
    has a judge; what it raises because the run cannot go on is raised.
    """
    status: Status = line["status"]
    reason = line.get("reason", "")
    prediction: Prediction | None = None
    fault = ""
    try:
        if STATUS_GROUP[status] in ("infrastructure", "data_fault"):
            return unscored(line, codec, status, reason)
        if _is_left_out(task, codec, line):
            return unscored(line, codec, "no_valid_target", CALIBRATION_ONLY)
        if status == "ok":
            try:
                if isinstance(answer, Undecodable):
                    raise answer
                prediction = codec.decoder.decode(answer, scene)
                if judging is not None:
                    prediction = _judge(judging, line, prediction, sample, scene)
            except Undecodable as exc:
                status, reason = "undecodable", clean(exc.what)
                fault = exc.kind
        record = unscored(line, codec, status, reason)
        if fault:
            record["fault"] = clean(fault)
        substitute = prediction is None
        if prediction is None:
            if task.failure is None:
                return record
            prediction = task.failure.decode(None, scene)
        record["prediction"] = jsonio.plain(prediction.summary, "summary")
        record["substitute"] = substitute
        digest = pixels_digest(prediction.value)
        if digest is not None:
            record["sha256"] = digest
        record["statistics"], record["values"], flags = _measure(task, prediction, sample)
        flags = [*line.get("flags", ()), *prediction.flags, *flags]
        record["flags"] = jsonio.plain(list(dict.fromkeys(flags)), "flags")
        return record
    except NoValidTarget as exc:
        return unscored(line, codec, "no_valid_target", clean(exc.what))
    except JudgeError as exc:
        return unscored(line, codec, "judge_error", clean(exc.what))
    except (NotRunnable, StorageError, Unasked):
        raise
    # decoders and metrics are anyone's code: what they raise is this attempt's error, no more
    except (Exception, SystemExit) as exc:
        log.warning("%s: scoring failed", line["sample"], exc_info=True)
        return unscored(line, codec, "error", clean(f"scoring raised {describe(exc)}"))


def _judge(
    judging: Judging, line: Mapping[str, Any], prediction: Prediction, sample: Sample, scene: Scene
) -> Prediction:
    """What the judge makes of a prediction; the flags of both."""
    case = Case(
        sample=line["sample"],
        attempt=line["attempt"],
        prediction=prediction,
        scene=scene,
        images=sample.images,
        target=sample.target,
        fields=sample.fields,
        tags=sample.tags,
    )
    judged = judging.judge(case)
    return msgspec.structs.replace(
        judged,
        flags=(*prediction.flags, *judged.flags),
        summary={"answer": prediction.summary, **judged.summary},
    )


def _is_left_out(task: Task, codec: Codec, line: Mapping[str, Any]) -> bool:
    """Was the decoder calibrated on the sample, under a protocol that scores it no more?"""
    rule = task.protocol.calibration
    if rule is None or not rule.exclude or codec.calibration is None:
        return False
    return line["sample"] in codec.calibration["samples"]


def _measure(
    task: Task, prediction: Prediction, sample: Sample
) -> tuple[dict[str, Any], dict[str, float | None], list[str]]:
    statistics: dict[str, Any] = {}
    values: dict[str, float | None] = {}
    flags: list[str] = []
    for named in task.metrics:
        found = named.metric.update(prediction.value, sample.target, sample.valid)
        found = statistics[named.key] = jsonio.plain(found, f"statistics of {named.key}")
        for key, value in named.metric.compute(found).items():
            finite = value is not None and math.isfinite(value)
            values[named.prefix + key] = float(value) if finite and value is not None else None
        told = getattr(named.metric, "flags", None)
        flags += told(found) if told is not None else ()
    return statistics, values, flags


def pixels_digest(value: Any) -> str | None:
    """sha256 of what was scored, type and shape included; None where it is no array."""
    parts = [value]
    if isinstance(value, msgspec.Struct):
        parts = [getattr(value, name) for name in value.__struct_fields__]
    arrays = [part for part in parts if hasattr(part, "tobytes") and not part.dtype.hasobject]
    if not arrays:
        return None
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str} {array.shape}\n".encode())
        digest.update(buffer_of(array))
    return digest.hexdigest()
