"""Every Eval Ever 0.3.0: one record a run, and a line for each of its scored attempts."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from vgen_eval import jsonio
from vgen_eval.exporting import File, KeptRun, LeftOut

from vgen_eval_plugins.exporters.instances import Instances
from vgen_eval_plugins.exporters.naming import details, finished, run_uuid
from vgen_eval_plugins.exporters.record_parts import (
    SCHEMA,
    folder_name,
    generation,
    library,
    model_info,
    results,
)

__all__ = ["EveryEvalEver"]

log = logging.getLogger(__name__)


class RecordOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the record says of the one who measured, and when an answer counts as correct."""

    organization: Annotated[
        str, msgspec.Meta(description="Who ran it; part of the records' names.", min_length=1)
    ] = "unknown"
    relationship: Annotated[
        Literal["first_party", "third_party", "collaborative", "other"],
        msgspec.Meta(description="Of that one to the models' makers."),
    ] = "other"
    developer: Annotated[
        str, msgspec.Meta(description="Of models whose card names none.", min_length=1)
    ] = "unknown"
    threshold: Annotated[
        float | None,
        msgspec.Meta(description="Primary from which an answer is correct; null: by its bounds."),
    ] = None


class EveryEvalEver:
    """data/BENCHMARK/DEVELOPER/MODEL/UUID.json and UUID_samples.jsonl, after the format's 0.3.0.

    Each number of the card is a result; null ones are left out and named in `source_metadata`.
    Lines are the attempts that have a number of their own for the primary metric; the others are
    counted. `is_correct`, which the format demands, follows a rule that each line states. Pictures
    are told by their sha256, truths by the sample's name: neither is copied.
    """

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = RecordOptions

    def __init__(self, options: RecordOptions) -> None:
        self.options = options

    def export(self, runs: Sequence[KeptRun]) -> Iterator[File | LeftOut]:
        """Two files a run; a run whose primary has no value, or that names no time, is left out."""
        for run in runs:
            score = run.card.score()
            if score.value is None:
                yield LeftOut(run, f"its {score.metric} is null: {score.reason}")
            elif finished(run.card) is None:
                yield LeftOut(
                    run, "its card does not say when it ended", "vgen-eval score RUN makes it anew"
                )
            else:
                yield from self._export(run)

    def _export(self, run: KeptRun) -> Iterator[File]:
        card, options = run.card, self.options
        model = model_info(card, developer=options.developer)
        if model["developer"] == "unknown":
            log.warning("%s: who made %s is not known: --set developer=NAME", card.run, card.model)
        name = run_uuid(card.run, owner=options.organization)
        folder = f"data/{folder_name(card.task)}/{model['id']}"
        record = self._record(run, model, name)
        lines = Instances(run, record, name=name, threshold=options.threshold)
        if lines.any():
            digest = _Digest()
            path = f"{folder}/{name}_samples.jsonl"
            yield File(path, digest.of(lines.parts()))
            record["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": path,
                "hash_algorithm": "sha256",
                "checksum": digest.hex(),
                "total_rows": lines.count,
                "additional_details": details({"attempts_without_a_score": lines.without}),
            }
        else:
            log.warning("%s: no attempt has a number of its own: no file of samples", card.run)
        yield File(f"{folder}/{name}.json", [jsonio.pretty(record).encode()])

    def _record(self, run: KeptRun, model: Mapping[str, Any], name: str) -> dict[str, Any]:
        card, options = run.card, self.options
        ended = finished(card)
        assert ended is not None
        seconds = str(int(ended.timestamp()))
        nulls = [f"{s.metric} ({s.subset}, {s.selection})" for s in card.scores if s.value is None]
        if nulls:
            log.warning("%s: left out, being null: %s", card.run, ", ".join(nulls))
        return {
            "schema_version": SCHEMA,
            "evaluation_id": f"{card.task}@{card.protocol}/{model['id']}/{name}/{seconds}",
            "evaluation_timestamp": seconds,
            "retrieved_timestamp": seconds,
            "source_metadata": {
                "source_name": "vgen-eval",
                "source_type": "evaluation_run",
                "source_organization_name": options.organization,
                "evaluator_relationship": options.relationship,
                "additional_details": details(
                    {
                        "run": card.run,
                        "content_digest": card.content_digest,
                        "complete": card.complete,
                        "counts": msgspec.to_builtins(card.counts),
                        "null_scores": nulls or None,
                    }
                ),
            },
            "eval_library": library(card),
            "model_info": model,
            "evaluation_results": list(results(run, name, generation(card))),
        }


class _Digest:
    """sha256 of parts that pass by."""

    def __init__(self) -> None:
        self._sum = hashlib.sha256()

    def of(self, parts: Iterator[bytes]) -> Iterator[bytes]:
        """The parts, each taken in."""
        for part in parts:
            self._sum.update(part)
            yield part

    def hex(self) -> str:
        """Of all that passed so far."""
        return self._sum.hexdigest()
