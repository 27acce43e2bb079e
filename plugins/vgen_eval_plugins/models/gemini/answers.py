"""What a generateContent response came to: the answer, its evidence, or the reason for none.

The rule for pictures: the answer is the last picture that is no thought. Where all of them are
thoughts it is the last of these, flagged. The others are drafts, kept as evidence. MIME types are
not believed: a picture is what begins as one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from vgen_eval.errors import AccessDenied, Refused
from vgen_eval.types import Output, Request, Usage

from vgen_eval_plugins.models.likelihoods import first_place, with_choices
from vgen_eval_plugins.models.pictures import open_picture
from vgen_eval_plugins.models.replies import TRUNCATED, dig, items, told, total, whole, word

__all__ = ["REFUSALS", "THOUGHT_IMAGE", "read_response", "read_usage"]

REFUSALS = frozenset({
    "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "ESCALATION",
    "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
})  # fmt: skip
"""Finish reasons by which the provider declines (REST reference, FinishReason)."""
LOCKED_OUT = frozenset({"PUP_LIMITED_DISABLED"})
"""The account itself is limited: no call of the run will be taken."""
THOUGHT_IMAGE = "thought_image_used"
"""Flag: every picture was a thought, and the last of them was taken."""


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
    candidate = dig(body, "candidates", 0)
    parts = _sort_parts(items(dig(candidate, "content", "parts")))
    made = len(parts.finals) or min(len(parts.thoughts), 1)
    usage = read_usage(
        body.get("usageMetadata"), images=made or None, answered=bool(items(body.get("candidates")))
    )
    request_id = word(body.get("responseId"))
    finish = word(dig(candidate, "finishReason")) or ""
    reason = _reason(finish, dig(candidate, "finishMessage"))
    block = word(dig(body, "promptFeedback", "blockReason"))
    if block is not None:
        blocked = _reason(block, dig(body, "promptFeedback", "blockReasonMessage"))
        raise Refused(blocked, usage=usage, request_id=request_id)
    if finish in REFUSALS:
        raise Refused(reason, usage=usage, request_id=request_id)
    if finish in LOCKED_OUT:
        raise AccessDenied(f"the provider has limited this account: {reason}")
    output = Output(
        id=request.id,
        answer=None,
        usage=usage,
        request_id=request_id,
        reported_model=word(body.get("modelVersion")),
        reported_date=word(body.get("createTime")) or reported_date,
        reason=reason or ("no finish reason" if items(body.get("candidates")) else "no candidate"),
        text=parts.text or None,
        thinking=parts.thinking or None,
    )
    truncated = (TRUNCATED,) if finish == "MAX_TOKENS" else ()
    if request.form == "image":
        return _with_picture(output, parts, flags=truncated)
    output = msgspec.structs.replace(output, pictures=tuple(parts.thoughts) + tuple(parts.finals))
    if not parts.text:
        return output
    if request.form == "choice":
        return with_choices(
            output, _first_tokens(dig(candidate, "logprobsResult")), request.choices
        )
    return msgspec.structs.replace(
        output, answer=parts.text, reason=None, text=None, flags=truncated
    )


def _with_picture(output: Output, parts: _Parts, *, flags: tuple[str, ...]) -> Output:
    taken = parts.finals or parts.thoughts
    if not taken:  # bytes that are none say more than a finish reason
        return msgspec.structs.replace(
            output, reason=parts.faults[-1] if parts.faults else output.reason
        )
    *drafts, answer = taken
    evidence = (*parts.thoughts, *drafts) if parts.finals else tuple(drafts)
    flags = flags if parts.finals else (*flags, THOUGHT_IMAGE)
    return msgspec.structs.replace(
        output, answer=answer, reason=None, pictures=evidence, flags=flags
    )


def _sort_parts(parts: Sequence[Any]) -> _Parts:
    texts: dict[bool, list[str]] = {False: [], True: []}
    pictures: dict[bool, list[bytes]] = {False: [], True: []}
    faults: list[str] = []
    for part in parts:
        thought = dig(part, "thought") is True
        texts[thought].append(word(dig(part, "text")) or "")
        blob = dig(part, "inlineData") or dig(part, "inline_data")
        if not isinstance(blob, Mapping):
            continue
        found = open_picture(word(blob.get("data")) or "")
        if isinstance(found, str):
            faults.append(found)
        else:
            pictures[thought].append(found)
    return _Parts(
        text="".join(texts[False]),
        thinking="".join(texts[True]),
        finals=pictures[False],
        thoughts=pictures[True],
        faults=faults,
    )


def _first_tokens(result: Any) -> Mapping[str, float]:
    """Token -> log-probability at the first position that is no blank; empty where none is."""
    chosen, top = items(dig(result, "chosenCandidates")), items(dig(result, "topCandidates"))
    return first_place(
        (
            _row(dig(chosen, at)),
            [_row(row) for row in items(dig(top, at, "candidates"))],
        )
        for at in range(max(len(chosen), len(top)))
    )


def _row(given: Any) -> tuple[Any, Any]:
    return dig(given, "token"), dig(given, "logProbability")


def read_usage(given: Any, *, images: int | None = None, answered: bool = True) -> Usage | None:
    """Tokens as usageMetadata has them; None where it says nothing and no picture was made.

    Thoughts are counted beside the candidates there, and belong to the output here; what tools
    bring in is input. Where pictures were made (`images`) and no count of theirs is given, what
    no other modality accounts for is theirs: they are nearly all of such an answer, and cost a
    multiple of words. `answered`: is there a candidate? Counts of 0 are left out of the JSON.
    """
    read = total(
        whole(dig(given, "promptTokenCount")), whole(dig(given, "toolUsePromptTokenCount"))
    )
    written = whole(dig(given, "candidatesTokenCount"))
    thought = whole(dig(given, "thoughtsTokenCount"))
    everything = whole(dig(given, "totalTokenCount"))
    if written is None and read is not None and (not answered or everything == read):
        written = 0
    pictures = _tokens_of("IMAGE", dig(given, "candidatesTokensDetails"))
    if images and not pictures and written is not None:
        pictures = max(0, written - _told_of(dig(given, "candidatesTokensDetails")))
    return told(
        Usage(
            input_tokens=read,
            cached_tokens=whole(dig(given, "cachedContentTokenCount")),
            input_image_tokens=_tokens_of("IMAGE", dig(given, "promptTokensDetails")),
            output_tokens=total(written, thought),
            thinking_tokens=thought,
            image_tokens=pictures,
            images=images,
        )
    )


def _tokens_of(modality: str, details: Any) -> int | None:
    """Tokens of that modality; 0 where others are told and it is not, None where none is."""
    entries = items(details)
    if not entries:
        return None
    alike = [entry for entry in entries if dig(entry, "modality") == modality]
    return _told_of(alike)


def _told_of(details: Any) -> int:
    """Tokens of all modalities."""
    return total(0, *(whole(dig(entry, "tokenCount")) for entry in items(details))) or 0


def _reason(name: str, message: Any) -> str:
    """ "NO_IMAGE", or "NO_IMAGE: the provider's sentence"."""
    sentence = word(message)
    return f"{name}: {sentence}" if name and sentence else name
