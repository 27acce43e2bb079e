"""What a Messages response came to: the text, the thinking beside it, or the reason for none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vgen_eval.errors import Refused
from vgen_eval.types import Output, Request, Usage

__all__ = ["TRUNCATED", "read_message", "read_usage"]

TRUNCATED = "truncated"
"""Flag: the answer ended at the limit of tokens."""
CUT_SHORT = ("max_tokens", "model_context_window_exceeded")


def read_message(
    body: Mapping[str, Any], request: Request, *, request_id: str | None, reported_date: str | None
) -> Output:
    """The Output of a response, `answer` None with the stop reason where it holds no text.

    Refused, with the usage, where the provider's classifiers stopped it: its words so far are no
    answer.
    """
    usage = read_usage(body.get("usage"))
    stop = body.get("stop_reason")
    stop = stop if isinstance(stop, str) and stop else None
    if stop == "refusal":
        raise Refused(_refusal(body.get("stop_details")), usage=usage, request_id=request_id)
    blocks = [block for block in _list(body.get("content")) if isinstance(block, Mapping)]
    text = _joined(blocks, "text")
    model = body.get("model")
    return Output(
        id=request.id,
        answer=text or None,
        usage=usage,
        request_id=request_id,
        reported_model=model if isinstance(model, str) else None,
        reported_date=reported_date,
        reason=None if text else (stop or "no content and no stop reason"),
        flags=(TRUNCATED,) if stop in CUT_SHORT else (),
        thinking=_joined(blocks, "thinking") or None,
    )


def read_usage(told: Any) -> Usage | None:
    """Tokens as `usage` has them; what was read from a cache or put into one is input as well."""
    if not isinstance(told, Mapping):
        return None
    cached = _count(told, "cache_read_input_tokens")
    read = [_count(told, "input_tokens"), _count(told, "cache_creation_input_tokens"), cached]
    known = [count for count in read if count is not None]
    details = told.get("output_tokens_details")
    usage = Usage(
        input_tokens=sum(known) if known else None,
        cached_tokens=cached,
        output_tokens=_count(told, "output_tokens"),
        thinking_tokens=_count(details, "thinking_tokens"),
    )
    return None if usage == Usage() else usage


def _refusal(details: Any) -> str:
    if not isinstance(details, Mapping):
        return "refusal"
    told = (details.get("category"), details.get("explanation"))
    return ": ".join(["refusal", *(word for word in told if isinstance(word, str) and word)])


def _joined(blocks: Sequence[Mapping[str, Any]], kind: str) -> str:
    found = (block.get(kind) for block in blocks if block.get("type") == kind)
    return "".join(text for text in found if isinstance(text, str))


def _count(told: Any, name: str) -> int | None:
    value = told.get(name) if isinstance(told, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
