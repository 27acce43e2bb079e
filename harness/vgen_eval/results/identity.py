"""What a result hangs on, as flat facts: so that two results can be told apart, field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from vgen_eval.results.card import ResultCard

__all__ = ["GROUPS", "MODEL", "Difference", "differences", "differing_groups", "facts"]

MODEL = "model"
"""Before the facts of the model."""

VERSIONS = "versions"

GROUPS = "samples.groups"
"""The field under which other groups of the same samples are told."""


class Difference(msgspec.Struct, frozen=True):
    """One fact in which two results differ; None where one of them has no such fact."""

    field: str
    first: Any
    second: Any


def facts(card: ResultCard) -> dict[str, Any]:
    """Every fact that a result hangs on, by its dotted field: `metrics.affine_depth.options.fit`.

    Of the task and its data, the protocol with every option of its components, the prompt, the
    samples, the model, and, below `versions.`, the libraries. Nothing that may differ between two
    runs of the same.
    """
    protocol, model, data = card.protocol_info, card.model_info, card.dataset_info
    return dict(
        _flat(
            {
                "task": card.task,
                "task_version": card.task_info.get("version"),
                "protocol": card.protocol,
                "data": {
                    "reader": data.get("reader"),
                    "options": data.get("options"),
                    "revision": data.get("revision"),
                    "fingerprint": data.get("fingerprint"),
                },
                "samples": {
                    "rule": card.selection.get("rule"),
                    "n": card.selection.get("samples"),
                },
                "attempts": card.selection.get("attempts"),
                "prompt": {"variant": card.prompt, "text": protocol.get("prompt_text")},
                "answer": {"form": card.answer, **(protocol.get("answer") or {})},
                **{key: protocol.get(key) for key in _OF_THE_PROTOCOL},
                # what a decoder was calibrated to comes of the answers: it is a result
                "calibration": {"samples": (protocol.get("calibration") or {}).get("samples")},
                MODEL: {
                    "name": card.model,
                    **{key: model.get(key) for key in _OF_THE_MODEL},
                },
                VERSIONS: card.versions,
            }
        )
    )


_OF_THE_PROTOCOL = (
    "choices", "input", "decoder", "judge", "metrics", "failure_value", "seed_rule",
    "seed_base",
)  # fmt: skip
_OF_THE_MODEL = (
    "distribution", "adapter", "adapter_version", "checkpoint", "options", "generation", "facts",
)  # fmt: skip


def _flat(value: Any, field: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        yield field, value
        return
    for key, inner in value.items():
        yield from _flat(inner, f"{field}.{key}" if field else str(key))


def differences(
    first: Mapping[str, Any], second: Mapping[str, Any], *, leave: Sequence[str] = ()
) -> tuple[Difference, ...]:
    """The facts that differ, in the order of the first; `leave`: fields, with all below them."""
    found = []
    for field in dict.fromkeys((*first, *second)):
        if any(field == name or field.startswith(f"{name}.") for name in leave):
            continue
        one, other = first.get(field), second.get(field)
        if one != other:
            found.append(Difference(field, one, other))
    return tuple(found)


def differing_groups(groups: Sequence[Mapping[str, str]]) -> tuple[str | None, ...] | None:
    """`sample: group` of each run for the first sample that is not of one group in all of them.

    None where there is no such sample. `groups`: sample -> group of each run. Intervals and
    p-values are of groups: of runs that differ here they would hang on which is named first.
    """
    for sample in dict.fromkeys(sample for each in groups for sample in each):
        if len({each[sample] for each in groups if sample in each}) > 1:
            return tuple(f"{sample}: {each[sample]}" if sample in each else None for each in groups)
    return None
