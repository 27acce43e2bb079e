"""The rules of Every Eval Ever 0.3.0 as JSON Schema, and those that a schema cannot say."""

from __future__ import annotations

import hashlib
import json
import math
import re
from pathlib import Path
from typing import Any

import jsonschema

__all__ = ["AGGREGATE", "INSTANCE", "check_tree", "strict"]

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
COUNT = {"type": "integer", "minimum": 0}
FLAG = {"type": "boolean"}
TEXTS = {"type": "array", "items": TEXT}
DETAILS = {"type": "object", "additionalProperties": TEXT}
UUID4 = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
BOUND = {"oneOf": [NUMBER, {"enum": ["Infinity", "-Infinity"]}]}


def _record(required: dict[str, Any], optional: dict[str, Any], *, closed: bool) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **optional},
        **({"additionalProperties": False} if closed else {}),
    }


def _choice(*words: str) -> dict[str, Any]:
    return {"enum": list(words)}


RELATIONS = _choice("first_party", "third_party", "collaborative", "other")
MODEL = _record(
    {
        "name": TEXT,
        "id": TEXT,
        "additional_details": {
            **_record(
                {
                    "deployment_type": _choice("self_deployed", "externally_managed", "unknown"),
                    "model_availability": _choice("open_weights", "closed_weights", "unknown"),
                },
                {},
                closed=False,
            ),
            "additionalProperties": TEXT,
        },
    },
    {
        "developer": TEXT,
        "inference_platform": TEXT,
        "inference_engine": _record({}, {"name": TEXT, "version": TEXT}, closed=False),
    },
    closed=False,
)


def _source(kind: str, required: dict[str, Any], optional: dict[str, Any]) -> dict[str, Any]:
    head = {"dataset_name": TEXT, "source_type": {"const": kind}, **required}
    return _record(head, {**optional, "additional_details": DETAILS}, closed=False)


SOURCE = {
    "oneOf": [
        _source("url", {"url": {**TEXTS, "minItems": 1}}, {}),
        _source(
            "hf_dataset",
            {},
            {"hf_repo": TEXT, "hf_split": TEXT, "samples_number": COUNT, "sample_ids": TEXTS},
        ),
        _source("other", {}, {}),
    ]
}
METRIC = {
    **_record(
        {"lower_is_better": FLAG},
        {
            "evaluation_description": TEXT,
            "metric_id": TEXT,
            "metric_name": TEXT,
            "metric_kind": TEXT,
            "metric_unit": TEXT,
            "metric_parameters": {"type": "object"},
            "score_type": _choice("binary", "continuous", "levels"),
            "level_names": TEXTS,
            "has_unknown_level": FLAG,
            "min_score": BOUND,
            "max_score": BOUND,
            "additional_details": DETAILS,
        },
        closed=False,
    ),
    "allOf": [
        {
            "if": {"required": ["score_type"], "properties": {"score_type": {"const": kind}}},
            "then": {"required": wanted},
        }
        for kind, wanted in (
            ("continuous", ["min_score", "max_score"]),
            ("levels", ["level_names", "has_unknown_level"]),
        )
    ],
}
SHARE = {"type": "number", "minimum": 0, "maximum": 1}
UNCERTAINTY = _record(
    {},
    {
        "standard_error": _record({"value": NUMBER}, {"method": TEXT}, closed=False),
        "confidence_interval": _record(
            {"lower": NUMBER, "upper": NUMBER},
            {"confidence_level": SHARE, "method": TEXT},
            closed=False,
        ),
        "standard_deviation": NUMBER,
        "num_samples": COUNT,
        "num_bootstrap_samples": COUNT,
    },
    closed=True,
)
GENERATION = _record(
    {},
    {
        "generation_args": _record(
            {},
            {
                "temperature": NUMBER,
                "top_p": NUMBER,
                "top_k": NUMBER,
                "max_tokens": {"type": "integer", "minimum": 1},
                "execution_command": TEXT,
                "reasoning": FLAG,
                "prompt_template": TEXT,
                "max_attempts": COUNT,
            },
            closed=True,
        ),
        "additional_details": DETAILS,
    },
    closed=True,
)
RESULT = _record(
    {
        "evaluation_name": TEXT,
        "source_data": SOURCE,
        "metric_config": METRIC,
        "score_details": _record(
            {"score": NUMBER}, {"details": DETAILS, "uncertainty": UNCERTAINTY}, closed=False
        ),
    },
    {"evaluation_result_id": TEXT, "evaluation_timestamp": TEXT, "generation_config": GENERATION},
    closed=False,
)
AGGREGATE = _record(
    {
        "schema_version": {"const": "0.3.0"},
        "evaluation_id": TEXT,
        "retrieved_timestamp": {"type": "string", "pattern": r"^[0-9]+$"},
        "source_metadata": _record(
            {
                "source_type": _choice("documentation", "evaluation_run"),
                "source_organization_name": TEXT,
                "evaluator_relationship": RELATIONS,
            },
            {"source_name": TEXT, "additional_details": DETAILS},
            closed=False,
        ),
        "model_info": MODEL,
        "eval_library": _record(
            {"name": TEXT, "version": TEXT}, {"additional_details": DETAILS}, closed=False
        ),
        "evaluation_results": {"type": "array", "items": RESULT, "minItems": 1},
    },
    {
        "evaluation_timestamp": TEXT,
        "detailed_evaluation_results": _record(
            {
                "format": {"const": "jsonl"},
                "file_path": {
                    "type": "string",
                    "pattern": rf"^data/[^/]+/[^/]+/[^/]+/{UUID4}_samples\.jsonl$",
                },
            },
            {
                "hash_algorithm": _choice("sha256", "md5"),
                "checksum": TEXT,
                "total_rows": COUNT,
                "additional_details": DETAILS,
            },
            closed=False,
        ),
    },
    closed=True,
)
INSTANCE = _record(
    {
        "schema_version": {"const": "0.3.0"},
        "evaluation_id": TEXT,
        "model_id": TEXT,
        "evaluation_name": TEXT,
        "sample_id": TEXT,
        "interaction_type": {"const": "single_turn"},
        "input": _record({"raw": TEXT, "reference": TEXTS}, {"choices": TEXTS}, closed=False),
        # of a single turn
        "output": _record({"raw": TEXTS}, {"reasoning_trace": TEXTS}, closed=False),
        "answer_attribution": {
            "type": "array",
            "items": _record(
                {
                    "turn_idx": COUNT,
                    "source": TEXT,
                    "extracted_value": TEXT,
                    "extraction_method": TEXT,
                    "is_terminal": FLAG,
                },
                {},
                closed=False,
            ),
        },
        "evaluation": _record({"score": NUMBER, "is_correct": FLAG}, {}, closed=False),
    },
    {
        "evaluation_result_id": TEXT,
        "sample_hash": TEXT,
        "token_usage": {
            **_record(
                {"input_tokens": COUNT, "output_tokens": COUNT, "total_tokens": COUNT},
                {},
                closed=False,
            ),
            "additionalProperties": COUNT,
        },
        "performance": _record(
            {}, {"latency_ms": {**NUMBER, "minimum": 0}, "additional_details": DETAILS}, closed=True
        ),
        "error": TEXT,
        "metadata": DETAILS,
    },
    closed=True,
)


def strict(text: str | bytes) -> Any:
    """The value of strict JSON: no NaN, no infinity, no key twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        assert len(found) == len(pairs), "a key stands twice"
        return found

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, object_pairs_hook=once, parse_constant=refuse)


def _bound(value: Any) -> float:
    return float(value) if not isinstance(value, str) else float(value.replace("inity", ""))


def check_tree(target: Path) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Every record below the folder with its lines; AssertionError for what breaks the format."""
    files = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    found = []
    for name in sorted(name for name in files if name.endswith(".json")):
        assert re.fullmatch(rf"data/[^/]+/[^/]+/[^/]+/{UUID4}\.json", name), name
        record = strict((target / name).read_bytes())
        jsonschema.validate(record, AGGREGATE)
        developer, model = name.split("/")[2:4]
        assert record["model_info"]["id"] == f"{developer}/{model}"
        for result in record["evaluation_results"]:
            metric, score = result["metric_config"], result["score_details"]["score"]
            assert math.isfinite(score)
            assert _bound(metric["min_score"]) <= score <= _bound(metric["max_score"])
        lines = []
        if "detailed_evaluation_results" in record:
            detail = record["detailed_evaluation_results"]
            assert detail["file_path"] == f"{name.removesuffix('.json')}_samples.jsonl"
            assert detail["file_path"] in files
            data = (target / detail["file_path"]).read_bytes()
            assert hashlib.sha256(data).hexdigest() == detail["checksum"]
            lines = [strict(line) for line in data.splitlines()]
            assert len(lines) == detail["total_rows"] > 0
        for line in lines:
            jsonschema.validate(line, INSTANCE)
            assert line["evaluation_id"] == record["evaluation_id"]
            assert line["model_id"] == record["model_info"]["id"]
        results = {result["evaluation_result_id"] for result in record["evaluation_results"]}
        assert len(results) == len(record["evaluation_results"])
        assert {line["evaluation_result_id"] for line in lines} <= results
        files -= {name, f"{name.removesuffix('.json')}_samples.jsonl"}
        found.append((record, lines))
    assert not files, f"files of no record: {files}"
    return found
