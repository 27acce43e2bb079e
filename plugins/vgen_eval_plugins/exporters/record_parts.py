"""The parts of an Every Eval Ever record that a result card gives: model, data, metrics, scores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from vgen_eval.exporting import KeptRun
from vgen_eval.types import Value

from vgen_eval_plugins.exporters.naming import component, details, scrub, subset_of

if TYPE_CHECKING:
    from vgen_eval.results.card import ResultCard, Score

__all__ = [
    "SCHEMA", "evaluation_name", "folder_name", "generation", "library", "model_info", "result_id",
    "results",
]  # fmt: skip

SCHEMA = "0.3.0"

_AVAILABILITY = {"open_weights": "open_weights", "closed_weights": "closed_weights"}
_NUMBERS = ("temperature", "top_p", "top_k")
_TOKENS = ("max_tokens", "max_new_tokens", "max_output_tokens", "max_completion_tokens")


def model_info(card: ResultCard, *, developer: str) -> dict[str, Any]:
    """Who answered. `id` is developer/model, each a folder's name: the record lies below them."""
    info = card.model_info
    repo = (info.get("checkpoint") or {}).get("repo")
    maker = info.get("developer")
    owner, _, name = str(repo or card.model).rpartition("/")
    owner = owner or maker or developer
    availability = _AVAILABILITY.get(str(info.get("availability")), "unknown")
    checkpoint = {k: v for k, v in (info.get("checkpoint") or {}).items() if v is not None}
    return {
        "name": card.model,
        "id": f"{folder_name(owner)}/{folder_name(name)}",
        "developer": str(maker or developer),
        "inference_engine": {
            "name": str(info.get("adapter", "unknown")),
            "version": str(info.get("adapter_version", "unknown")),
        },
        "additional_details": {
            "deployment_type": _deployment(card, availability),
            "model_availability": availability,
            **details(
                {
                    "vgen_eval_name": f"{info.get('distribution', 'vgen-eval')}:{card.model}",
                    "title": info.get("title"),
                    "role": info.get("role"),
                    "availability": info.get("availability"),
                    "checkpoint": checkpoint or None,
                    "options": info.get("options") or None,
                    "facts": info.get("facts") or None,
                    "licence": info.get("licence"),
                    "source": info.get("source"),
                    "exposure": info.get("exposure") or None,
                    "card_digest": info.get("card_digest"),
                }
            ),
        },
    }


def folder_name(text: str) -> str:
    """The text as the name of a folder of the format: `data` is its root and nothing below it."""
    name = component(text)
    return "data_" if name == "data" else name


def _deployment(card: ResultCard, availability: str) -> str:
    """Who ran the model: the evaluator where no service was asked; a maker of closed weights."""
    if not card.volatile.get("endpoint"):
        return "unknown" if availability == "closed_weights" else "self_deployed"
    return "externally_managed" if availability == "closed_weights" else "unknown"


def library(card: ResultCard) -> dict[str, Any]:
    """The version that made the run, and what took part."""
    return {
        "name": "vgen-eval",
        "version": str(card.versions.get("vgen-eval", "unknown")),
        "additional_details": details(
            {
                "result_card_schema": card.schema_version,
                "metrics": card.protocol_info.get("metrics"),
                "plugins": list(card.plugins) or None,
                "versions": card.versions,
                "hardware": card.hardware,
            }
        ),
    }


def generation(card: ResultCard) -> dict[str, Any]:
    """How the model was asked: what the format has a place for, and everything else as text."""
    settings, protocol = card.model_info.get("generation", {}), card.protocol_info
    args: dict[str, Any] = {key: settings[key] for key in _NUMBERS if _is_number(settings.get(key))}
    limit = next((settings[key] for key in _TOKENS if key in settings), None)
    if isinstance(limit, int) and not isinstance(limit, bool) and limit >= 1:
        args["max_tokens"] = limit
    if protocol.get("prompt_text"):
        args["prompt_template"] = scrub(protocol["prompt_text"])
    kept = (
        "seed_rule", "seed_base", "input", "answer", "decoder", "calibration", "failure_value",
        "source",
    )  # fmt: skip
    return {
        "generation_args": args,
        "additional_details": details(
            {
                "settings": settings or None,
                "prompt_variant": card.prompt,
                "answer_form": card.answer,
                "attempts": card.selection.get("attempts"),
                "choices": protocol.get("choices") or None,
                **{key: protocol.get(key) for key in kept},
            }
        ),
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def results(run: KeptRun, name: str, asked: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Each number of the card that is one; `name`: the record's."""
    values = {value.name: value for value in run.values}
    data = _source_data(run.card)
    for score in run.card.scores:
        if score.value is not None:
            yield {
                "evaluation_result_id": result_id(name, score),
                "evaluation_name": evaluation_name(run.card, score),
                "source_data": data,
                "metric_config": _metric(run.card, score, score.value, values.get(score.metric)),
                "score_details": _score(score),
                "generation_config": asked,
            }


def evaluation_name(card: ResultCard, score: Score) -> str:
    """task@protocol, with the tag where the number is of some samples alone."""
    part = "" if score.subset == "all" else f" [{score.subset}]"
    return f"{card.task}@{card.protocol}{part}"


def result_id(name: str, score: Score) -> str:
    """By which lines name the result that they belong to."""
    return f"{name}:{score.metric}:{score.selection}:{score.subset}"


def _metric(card: ResultCard, score: Score, number: float, value: Value | None) -> dict[str, Any]:
    best = score.selection.removeprefix("best_of_")
    oracle = score.selection.startswith("best_of_")
    of = f", oracle best of {best} attempts by the truth" if oracle else ""
    unit = {"metric_unit": score.unit} if score.unit else {}
    return {
        "metric_id": f"{score.metric}.{score.selection}" if oracle else score.metric,
        "metric_name": f"{score.metric}{of}",
        "metric_kind": score.aggregation,
        **unit,
        "lower_is_better": not score.higher_is_better,
        "score_type": "continuous",
        "min_score": _bound(None if value is None else value.low, number, sign=-1),
        "max_score": _bound(None if value is None else value.high, number, sign=1),
        "evaluation_description": str(card.task_info.get("title") or card.task),
        "additional_details": details(
            {
                "primary": score.metric == card.primary,
                "selection": score.selection,
                "subset": score.subset,
            }
        ),
    }


def _bound(bound: float | None, score: float, *, sign: int) -> float | str:
    """The bound as the format has it; one that the score itself breaks is none."""
    if bound is None or (score - bound) * sign > 0:
        return "Infinity" if sign > 0 else "-Infinity"
    return bound


def _score(score: Score) -> dict[str, Any]:
    interval = score.ci95
    uncertainty: dict[str, Any] = {"num_samples": score.n}
    if interval.standard_error is not None:
        uncertainty["standard_error"] = {
            "value": interval.standard_error,
            "method": "clustered by group",
        }
    if interval.low is not None and interval.high is not None:
        uncertainty["confidence_interval"] = {
            "lower": interval.low,
            "upper": interval.high,
            "confidence_level": 0.95,
            "method": interval.method,
        }
        uncertainty["num_bootstrap_samples"] = interval.resamples
    return {
        "score": score.value,
        "uncertainty": uncertainty,
        "details": details(
            {
                "n": score.n,
                "answered_only": score.answered_only,
                "clusters": interval.clusters,
                "no_interval": interval.reason,
            }
        ),
    }


def _source_data(card: ResultCard) -> dict[str, Any]:
    """Where the data comes from: the Hub, an address, or words."""
    data = card.dataset_info
    told = {
        "reader": data.get("reader"),
        "revision": data.get("revision"),
        "fingerprint": data.get("fingerprint"),
        "samples": card.selection.get("samples"),
        "part": subset_of(card),
        "licence": data.get("licence"),
        "source": data.get("source"),
        "citation": data.get("citation"),
    }
    hub = data.get("hub") or {}
    source: dict[str, Any] = {"dataset_name": card.task, "source_type": "other"}
    if hub.get("repo"):
        source |= {"source_type": "hf_dataset", "hf_repo": hub["repo"]}
        source["samples_number"] = int(card.selection.get("samples", card.counts.expected))
        told["hub_revision"] = hub.get("revision")
    elif re.fullmatch(r"https?://\S+", str(data.get("source"))):
        source |= {"source_type": "url", "url": [data["source"]]}
    return {**source, "additional_details": details(told)}
