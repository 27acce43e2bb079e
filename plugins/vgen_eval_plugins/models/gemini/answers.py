"""What a generateContent response came to: the answer, its evidence, or the reason for none.

The rule for pictures: the answer is the last picture that is no thought. Where all of them are
thoughts it is the last of these, flagged. The others are drafts, kept as evidence. MIME types are
not believed: a picture is what begins as one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from vgen_eval.errors import AccessDenied, CallError, Refused, Undecodable
from vgen_eval.types import Output, Request, Usage

from vgen_eval_plugins.models.gemini.choices import read_choice
from vgen_eval_plugins.models.payloads import from_base64, no_picture

__all__ = ["REFUSALS", "THOUGHT_IMAGE", "TRUNCATED", "read_response", "read_usage"]

REFUSALS = frozenset({
    "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "ESCALATION",
    "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
})  # fmt: skip
"""Finish reasons by which the provider declines (REST reference, FinishReason)."""
LOCKED_OUT = frozenset({"PUP_LIMITED_DISABLED"})
"""The account itself is limited: no call of the run will be taken."""
THOUGHT_IMAGE = "thought_image_used"
TRUNCATED = "truncated"
"""Flag: the answer ended at the limit of tokens."""


class _Parts(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a candidate, sorted."""

    text: str
    thinking: str
    finals: Sequence[bytes]
    thoughts: Sequence[bytes]
    faults: Sequence[str]
    """Why parts that should be pictures are none."""


def read_response(
    body: Mapping[str, Any], request: Request, *, reported_date: str | None
) -> Output:
    """The Output of a response, `answer` None with the finish reason where there is none.

    `body`: the response's JSON. Refused, with the usage, where the provider says why it declines.
    """
    candidates = _list(body.get("candidates"))
    candidate = _dict(candidates[0]) if candidates else {}
    parts = _sort_parts(_list(_dict(candidate.get("content")).get("parts")))
    made = len(parts.finals) or min(len(parts.thoughts), 1)
    usage = read_usage(_dict(body.get("usageMetadata")), images=made or None)
    request_id = _word(body.get("responseId"))
    reason = _reason(candidate.get("finishReason"), candidate.get("finishMessage"))
    finish = _word(candidate.get("finishReason")) or ""
    feedback = _dict(body.get("promptFeedback"))
    if feedback.get("blockReason"):
        blocked = _reason(feedback["blockReason"], feedback.get("blockReasonMessage"))
        raise Refused(blocked or "blocked", usage=usage, request_id=request_id)
    if finish in REFUSALS:
        raise Refused(reason or finish, usage=usage, request_id=request_id)
    if finish in LOCKED_OUT:
        raise AccessDenied(f"the provider has limited this account: {reason}")
    output = Output(
        id=request.id,
        answer=None,
        usage=usage,
        request_id=request_id,
        reported_model=_word(body.get("modelVersion")),
        reported_date=_word(body.get("createTime")) or reported_date,
        reason=reason or ("no finish reason" if candidates else "no candidate"),
        flags=(TRUNCATED,) if finish == "MAX_TOKENS" else (),
        thinking=parts.thinking or None,
    )
    if request.form == "image":
        return _with_picture(output, parts)
    output = msgspec.structs.replace(output, pictures=tuple(parts.thoughts) + tuple(parts.finals))
    if not parts.text:
        return output
    if request.form == "choice":
        return read_choice(output, candidate, request.choices, text=parts.text)
    return msgspec.structs.replace(output, answer=parts.text, reason=None)


def _with_picture(output: Output, parts: _Parts) -> Output:
    text = parts.text or None
    if parts.finals:
        *drafts, answer = parts.finals
        return msgspec.structs.replace(
            output, answer=answer, reason=None, text=text,
            pictures=(*parts.thoughts, *drafts),
        )  # fmt: skip
    if parts.thoughts:
        *drafts, answer = parts.thoughts
        return msgspec.structs.replace(
            output, answer=answer, reason=None, text=text, pictures=tuple(drafts),
            flags=(*output.flags, THOUGHT_IMAGE),
        )  # fmt: skip
    if parts.faults:  # a picture was meant: its bytes are at fault, not the model's will
        fault = Undecodable(parts.faults[-1])
        return msgspec.structs.replace(output, answer=fault, reason=None, text=text)
    return msgspec.structs.replace(output, text=text)


def _sort_parts(parts: Sequence[Any]) -> _Parts:
    texts: dict[bool, list[str]] = {False: [], True: []}
    pictures: dict[bool, list[bytes]] = {False: [], True: []}
    faults: list[str] = []
    for part in map(_dict, parts):
        thought = part.get("thought") is True
        text = part.get("text")
        if isinstance(text, str):
            texts[thought].append(text)
        blob = _dict(part.get("inlineData") or part.get("inline_data"))
        if not blob:
            continue
        try:
            data = from_base64(str(blob.get("data") or ""))
        except CallError as exc:
            faults.append(exc.what)
            continue
        fault = no_picture(data)
        if fault is None:
            pictures[thought].append(data)
        else:
            faults.append(fault)
    return _Parts(
        text="".join(texts[False]),
        thinking="".join(texts[True]),
        finals=pictures[False],
        thoughts=pictures[True],
        faults=faults,
    )


def read_usage(told: Mapping[str, Any], *, images: int | None = None) -> Usage | None:
    """Tokens as usageMetadata has them; None where it says nothing and no picture was made.

    Thoughts are counted beside the candidates there, and belong to the output here; what tools
    bring in is input.
    """
    read, tools = _count(told, "promptTokenCount"), _count(told, "toolUsePromptTokenCount")
    said, thought = _count(told, "candidatesTokenCount"), _count(told, "thoughtsTokenCount")
    usage = Usage(
        input_tokens=_total(read, tools),
        cached_tokens=_count(told, "cachedContentTokenCount"),
        input_image_tokens=_of_pictures(told.get("promptTokensDetails")),
        output_tokens=_total(said, thought),
        thinking_tokens=thought,
        image_tokens=_of_pictures(told.get("candidatesTokensDetails")),
        images=images,
    )
    return None if usage == Usage() else usage


def _of_pictures(details: Any) -> int | None:
    """Tokens of modality IMAGE; 0 where others are told and pictures are not."""
    entries = [_dict(entry) for entry in _list(details)]
    if not entries:
        return None
    return sum(
        _count(entry, "tokenCount") or 0 for entry in entries if entry.get("modality") == "IMAGE"
    )


def _total(*counts: int | None) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _count(told: Mapping[str, Any], name: str) -> int | None:
    value = told.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _reason(name: Any, message: Any) -> str | None:
    """ "NO_IMAGE", or "NO_IMAGE: the provider's sentence"."""
    word, sentence = _word(name), _word(message)
    return f"{word}: {sentence}" if word and sentence else word


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
