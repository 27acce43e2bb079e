"""Log-probabilities of choices, out of the likeliest tokens that the API gives a position."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from vgen_eval.errors import CallError
from vgen_eval.types import Output

from vgen_eval_plugins.models.likelihoods import read_choices

__all__ = ["read_choice"]


def read_choice(
    output: Output, candidate: Mapping[str, Any], choices: Sequence[str], *, text: str
) -> Output:
    """The output with choice -> log-probability, as `read_choices` finds it.

    Read at the first position whose chosen token is no blank. CallError where the response holds
    no log-probabilities.
    """
    tokens = _first_position(candidate.get("logprobsResult"))
    if not tokens:
        raise CallError(
            "the service gave no log-probabilities: this model cannot answer choices",
            usage=output.usage,
            request_id=output.request_id,
        )
    answer, flags = read_choices(tokens, choices)
    reason = None
    if answer is None:
        likeliest = sorted(tokens, key=lambda token: -tokens[token])[:5]
        reason = f"no choice among the {len(tokens)} likeliest tokens: {likeliest}"
    return msgspec.structs.replace(
        output, answer=answer, reason=reason, text=text, flags=(*output.flags, *flags)
    )


def _first_position(result: Any) -> Mapping[str, float]:
    """Token -> log-probability at the first position that is no blank; empty where none is."""
    if not isinstance(result, Mapping):
        return {}
    chosen = result.get("chosenCandidates") or []
    top = result.get("topCandidates") or []
    for at in range(max(len(chosen), len(top))):
        first = chosen[at : at + 1]
        rows = [*first, *(top[at].get("candidates") or [] if at < len(top) else [])]
        known = {
            row["token"]: float(row["logProbability"])
            for row in rows
            if isinstance(row.get("token"), str) and _is_number(row.get("logProbability"))
        }
        said = first[0].get("token", "") if first else next(iter(known), "")
        if known and said.strip():
            return known
    return {}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)
