"""What a Messages response came to: the text, the thinking beside it, or the reason for none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vgen_eval.errors import Refused
from vgen_eval.types import Output, Request, Usage

from vgen_eval_plugins.models.replies import TRUNCATED, dig, items, told, total, whole, word

__all__ = ["read_message", "read_usage"]

CUT_SHORT = ("max_tokens", "model_context_window_exceeded")


def read_message(
    body: Mapping[str, Any], request: Request, *, request_id: str | None, reported_date: str | None
) -> Output:
    """The Output of a response, `answer` None with the stop reason where it holds no text.

    Refused, with the usage, where the provider's classifiers stopped it: its words so far are no
    answer.
    """
    usage = read_usage(body.get("usage"))
    stop = word(body.get("stop_reason"))
    if stop == "refusal":
        raise Refused(_refusal(body.get("stop_details")), usage=usage, request_id=request_id)
    blocks = items(body.get("content"))
    text = _joined(blocks, "text")
    return Output(
        id=request.id,
        answer=text or None,
        usage=usage,
        request_id=request_id,
        reported_model=word(body.get("model")),
        reported_date=reported_date,
        reason=None if text else (stop or "no content and no stop reason"),
        flags=(TRUNCATED,) if text and stop in CUT_SHORT else (),
        thinking=_joined(blocks, "thinking") or None,
    )


def read_usage(given: Any) -> Usage | None:
    """Tokens as `usage` has them; what was read from a cache or put into one is input as well."""
    cached = whole(dig(given, "cache_read_input_tokens"))
    fresh = whole(dig(given, "input_tokens"))
    kept = whole(dig(given, "cache_creation_input_tokens"))
    return told(
        Usage(
            input_tokens=total(fresh, kept, cached),
            cached_tokens=cached,
            cache_write_tokens=kept,
            output_tokens=whole(dig(given, "output_tokens")),
            thinking_tokens=whole(dig(given, "output_tokens_details", "thinking_tokens")),
        )
    )


def _refusal(details: Any) -> str:
    said = (word(dig(details, "category")), word(dig(details, "explanation")))
    return ": ".join(["refusal", *filter(None, said)])


def _joined(blocks: Sequence[Any], kind: str) -> str:
    found = (word(dig(block, kind)) for block in blocks if dig(block, "type") == kind)
    return "".join(filter(None, found))
