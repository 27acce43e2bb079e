"""The efficiency record: its fields, its file, and the rate that others read from it."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.results.quantiles import quantile
from vgen_eval.store.run import write_atomic

__all__ = [
    "BENCH_SCHEMA",
    "BenchRecord",
    "Calls",
    "Each",
    "Latency",
    "Memory",
    "Times",
    "json_schema",
    "measured_rate",
    "read_records",
    "summarise_latency",
    "summarise_times",
    "write_record",
]

log = logging.getLogger(__name__)

BENCH_SCHEMA = "1.0"


def _doc(text: str) -> msgspec.Meta:
    return msgspec.Meta(description=text)


class Calls(msgspec.Struct, frozen=True, kw_only=True):
    """What the measured calls came to; warm-up calls are none of them."""

    asked: int
    answered: Annotated[int, _doc("Calls that gave an answer: those that are timed.")]
    failed: Annotated[int, _doc("Calls without an answer: counted, and in no time.")]
    failures: Annotated[Mapping[str, int], _doc("By status: refused, no_answer, timeout, error.")]
    reasons: Annotated[tuple[str, ...], _doc("The first few reasons, in their order.")] = ()
    undecodable: Annotated[
        int, _doc("Answers that the decoder refuses: in the time of generating alone.")
    ] = 0
    samples: Annotated[int, _doc("Different samples; fewer than calls: each was asked again.")]
    warmup: Annotated[int, _doc("Calls before them, in no time and in no peak of the device.")]
    warmup_failed: int = 0


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds of one step over the calls that it was done for."""

    calls: int
    total_s: float
    mean_s: float
    median_s: float
    min_s: float
    max_s: float
    per_minute: Annotated[float | None, _doc("60 * calls / total_s, not the mean of rates.")]


class Latency(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds from request to answer of a service asked one call after the other."""

    calls: int
    mean_s: float
    p50_s: Annotated[float, _doc("Percentiles are linear between the two calls next to them.")]
    p90_s: float
    p99_s: float
    calls_per_minute: Annotated[float | None, _doc("Of sequential calls: no throughput.")]


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """Peaks in MiB; null with the reason below the same name."""

    allocator_peak_mib: Annotated[
        float | None,
        _doc("torch's allocator over the measured calls, summed over devices: tensors alone."),
    ] = None
    nvml_process_peak_mib: Annotated[
        float | None,
        _doc("NVML over the measured calls: all that this process and those it started hold."),
    ] = None
    resident_peak_mib: Annotated[
        float | None, _doc("Main memory of this process since its start, loading included.")
    ] = None
    reasons: Annotated[Mapping[str, str], _doc("Why a field is null.")] = {}
    adapter: Annotated[
        Mapping[str, Any] | None, _doc("What the adapter itself says of its memory.")
    ] = None


class Each(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One measured call."""

    sample: str
    seed: int
    status: str
    generate_s: float | None = None
    decode_s: float | None = None
    reason: str = ""


class BenchRecord(msgspec.Struct, frozen=True, kw_only=True):
    """How fast one model is on one task on one machine: volatile by nature."""

    schema_version: str = BENCH_SCHEMA
    digest: Annotated[str, _doc("Of what was asked, of libraries and machine; names the file.")]
    model: Annotated[str, _doc("distribution:name.")]
    task: str
    protocol: str
    answer: Annotated[str, _doc("Answer form.")]
    prompt: str | None
    batch: int = 1
    input: Annotated[
        Mapping[str, Any],
        _doc("How pictures were prepared, and the sizes (height, width) that the model saw."),
    ]
    calls: Calls
    load_s: Annotated[float, _doc("Libraries, weights, connections: in no other time.")]
    first_call_s: Annotated[float | None, _doc("The first warm-up call, which may compile.")]
    generate: Annotated[Times | None, _doc("From request to answer, the device synchronised.")]
    decode: Annotated[Times | None, _doc("From the answer's bytes to the measurement.")]
    images_per_minute: Annotated[
        float | None, _doc("60 * N / total seconds of generating; null for services.")
    ]
    images_per_minute_decoded: Annotated[float | None, _doc("The same, decoding included.")]
    latency: Annotated[Latency | None, _doc("Of services alone.")] = None
    reasons: Annotated[Mapping[str, str], _doc("Why a field is null.")] = {}
    memory: Memory
    synchronised: Annotated[str, _doc("Who waited for the device: adapter, torch.cuda, ...")]
    endpoint: str | None = None
    usage: Annotated[Mapping[str, float], _doc("Sums over all calls, warm-up too.")] = {}
    cost_usd: Annotated[
        float | None, _doc("US dollars of all calls, warm-up too; null where one's is not known.")
    ] = None
    device: str | None = None
    model_info: Annotated[Mapping[str, Any], _doc("Adapter, checkpoint, options, generation.")]
    versions: Mapping[str, str]
    hardware: Mapping[str, Any]
    started: str
    finished: str
    each: tuple[Each, ...]


def json_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a record."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"vgen-eval/bench/{BENCH_SCHEMA}",
        "title": "efficiency record of vgen-eval",
        **msgspec.json.schema(BenchRecord),
    }


def summarise_times(seconds: Sequence[float]) -> Times | None:
    """Total, mean, median, extremes and rate; None for no call."""
    if not seconds:
        return None
    ordered, total = sorted(seconds), math.fsum(seconds)
    return Times(
        calls=len(seconds),
        total_s=total,
        mean_s=total / len(seconds),
        median_s=quantile(ordered, 0.5),
        min_s=ordered[0],
        max_s=ordered[-1],
        per_minute=_per_minute(len(seconds), total),
    )


def summarise_latency(seconds: Sequence[float]) -> Latency | None:
    """Percentiles of sequential calls; None for no call."""
    if not seconds:
        return None
    ordered, total = sorted(seconds), math.fsum(seconds)
    return Latency(
        calls=len(seconds),
        mean_s=total / len(seconds),
        p50_s=quantile(ordered, 0.5),
        p90_s=quantile(ordered, 0.9),
        p99_s=quantile(ordered, 0.99),
        calls_per_minute=_per_minute(len(seconds), total),
    )


def _per_minute(calls: int, total_s: float) -> float | None:
    return 60 * calls / total_s if total_s > 0 else None


def write_record(folder: Path, record: BenchRecord) -> Path | None:
    """Writes `<digest>.json` into the folder, over one of the same digest; StorageError.

    None, and nothing written, where it measured nothing and would replace one that did.
    """
    path = folder / f"{record.digest}.json"
    if record.generate is None and _measured(path):
        return None
    write_atomic(path, jsonio.pretty(msgspec.to_builtins(record)).encode())
    return path


def _measured(path: Path) -> bool:
    try:
        return msgspec.json.decode(path.read_bytes(), type=BenchRecord).generate is not None
    except (OSError, ValueError):
        return False


def read_records(folder: Path) -> list[BenchRecord]:
    """The records below a folder, newest last; what cannot be read is passed over with a word."""
    found = []
    for path in sorted(folder.rglob("*.json")):
        try:
            found.append(msgspec.json.decode(path.read_bytes(), type=BenchRecord))
        except (OSError, ValueError) as exc:
            log.warning("%s: no efficiency record that can be read: %s", path, exc)
    return sorted(found, key=lambda record: record.finished)


def measured_rate(results: Path, folder: str, *, task: str, identity: str) -> float | None:
    """Answers a minute that the model gives one after the other, by its newest record.

    `folder`: the model's, `Model.folder`; `task`: that of a task, whose record is taken where
    there is one; `identity`: digest of the model, as another of its name tells nothing. None where
    nothing was measured.
    """
    place = results / "bench" / folder
    for records in (read_records(place / task), read_records(place)):
        timed = [
            record.generate.per_minute
            for record in records
            if record.generate is not None and record.model_info.get("identity_digest") == identity
        ]
        if timed:
            return timed[-1]
    return None
