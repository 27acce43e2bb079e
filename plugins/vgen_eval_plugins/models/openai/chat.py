"""/chat/completions: what is asked, and what of its answer is text, thinking, picture or choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from vgen_eval.errors import Refused
from vgen_eval.imaging import Image
from vgen_eval.types import Output, Request, Usage

from vgen_eval_plugins.models.likelihoods import first_place, with_choices
from vgen_eval_plugins.models.openai.faults import request_id_of
from vgen_eval_plugins.models.parts import has_prefix, shown, sound
from vgen_eval_plugins.models.payloads import ImageFormat, data_uri
from vgen_eval_plugins.models.pictures import Fetcher, pick
from vgen_eval_plugins.models.replies import (
    TRUNCATED,
    billed,
    date_at,
    dig,
    items,
    number,
    told,
    total,
    whole,
    word,
)
from vgen_eval_plugins.models.service import words
from vgen_eval_plugins.models.thinking import split_thinking
from vgen_eval_plugins.models.wire import Reply

__all__ = [
    "CALL",
    "CONTINUED",
    "OURS",
    "ask_choice",
    "ask_text",
    "read_choice",
    "read_picture",
    "read_text",
]

CALL = "chat.completions.create"
OURS: Mapping[str, str] = {
    "messages": "the prompt and the pictures",
    "model": "options.model",
    "n": "attempts are calls of their own, --attempts",
    "stream": "answers are read whole",
    "stream_options": "answers are read whole",
    "logprobs": "the answer form choice asks for them",
    "timeout": "limits.timeout_s",
    "extra_headers": "none but its own",
    "extra_query": "none but its own",
    "extra_body": "options.extra_body",
}
TOP = 20
"""Tokens asked for at a place: the most that OpenAI gives, and vLLM unless told otherwise."""
CHOICE_TOKENS = 16
"""Room for a blank before the word; the first token is all that counts."""
CONTINUED: Mapping[str, Any] = {"continue_final_message": True, "add_generation_prompt": False}
"""The last message goes on: fields of vLLM, SGLang and llama.cpp, which take both or neither."""
REFUSALS = ("content_filter", "refusal", "safety")
THINKING_TAGS = ("<think>", "</think>")
"""Of servers without a reasoning parser; the opening one may be part of a model's template."""


def ask_text(
    request: Request, *, image_format: ImageFormat, detail: str | None, begin: bool
) -> dict[str, Any]:
    """The conversation: words and pictures in their order, and the answer's beginning after them.

    `begin`: is that beginning sent? Where an object of JSON is wanted, it is asked for if the words
    speak of it: OpenAI refuses the format without.
    """
    content = [_part(part, image_format, detail) for part in shown(request)]
    messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
    if begin and has_prefix(request):
        messages.append({"role": "assistant", "content": sound(request.prefix)})
    asked: dict[str, Any] = {"messages": messages}
    words_of = " ".join(part for part in shown(request) if isinstance(part, str))
    if request.wants_json and request.form == "text" and "json" in words_of.lower():
        asked["response_format"] = {"type": "json_object"}
    return asked


def _part(part: str | Image, image_format: ImageFormat, detail: str | None) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": sound(part)}
    picture = {"url": data_uri(part, image_format)}
    if detail is not None:
        picture["detail"] = detail
    return {"type": "image_url", "image_url": picture}


def ask_choice(given: Mapping[str, Any]) -> dict[str, Any]:
    """What the form choice asks for beside the conversation; `given`: the card's arguments."""
    asked: dict[str, Any] = {"logprobs": True, "top_logprobs": TOP}
    if not {"max_tokens", "max_completion_tokens"} & set(given):
        asked["max_completion_tokens"] = CHOICE_TOKENS
    return asked


def read_text(body: Any, request: Request, reply: Reply) -> Output:
    """The answer in words; thinking is kept apart, whether in a field of its own or in tags."""
    output = _open(body, request, reply)
    if not output.text:
        return msgspec.structs.replace(output, text=None)
    flags = (TRUNCATED,) if _finish(body) == "length" else ()
    return msgspec.structs.replace(output, answer=output.text, reason=None, text=None, flags=flags)


def read_choice(body: Any, request: Request, reply: Reply) -> Output:
    """Choice -> log-probability at the first place whose token is no blank."""
    output = _open(body, request, reply)
    places = items(dig(body, "choices", 0, "logprobs", "content"))
    tokens = first_place(
        (
            (dig(place, "token"), dig(place, "logprob")),
            [(dig(row, "token"), dig(row, "logprob")) for row in items(dig(place, "top_logprobs"))],
        )
        for place in places
    )
    return with_choices(output, tokens, request.choices)


def read_picture(body: Any, request: Request, reply: Reply, *, fetch: Fetcher) -> Output:
    """The picture of an answer that is a message; words in its place are kept as words.

    Pictures come as `message.images` (OpenRouter) or as parts of `content` (vLLM-Omni).
    """
    output = _open(body, request, reply)
    message = dig(body, "choices", 0, "message")
    parts = [*items(dig(message, "images")), *items(dig(message, "content"))]
    urls = [word(dig(part, "image_url", "url")) for part in parts]
    with billed(output.usage, output.request_id):
        found = pick([fetch(url) for url in urls if url is not None])
    usage = output.usage
    if found.made:
        usage = _of_picture(usage or Usage(), made=found.made)
    return msgspec.structs.replace(
        output,
        answer=found.answer,
        reason=found.reason or (None if found.answer else output.reason),
        usage=usage,
        pictures=found.others,
        flags=found.flags,
    )


def _of_picture(usage: Usage, *, made: int) -> Usage:
    """The usage of an answer with pictures: theirs is what is not thought, unless it is told."""
    tokens = usage.image_tokens
    if not tokens and usage.output_tokens is not None:
        tokens = max(0, usage.output_tokens - (usage.thinking_tokens or 0))
    return msgspec.structs.replace(usage, images=made, image_tokens=tokens)


def _open(body: Any, request: Request, reply: Reply) -> Output:
    """What every form of answer has, with the words as `text`, and why it ended as `reason`.

    Refused, with the usage, where the answer is a refusal.
    """
    usage = read_usage(dig(body, "usage"))
    request_id = request_id_of(reply) or word(dig(body, "id"))
    message = dig(body, "choices", 0, "message")
    refusal = word(dig(message, "refusal"))
    finish = _finish(body)
    text, thinking = _words_of(message)
    if refusal or finish in REFUSALS:
        said = words(refusal or text or "")
        reason = said if refusal else ": ".join(filter(None, (finish, said)))
        raise Refused(reason, usage=usage, request_id=request_id)
    return Output(
        id=request.id,
        answer=None,
        usage=usage,
        request_id=request_id,
        reported_model=word(dig(body, "model")),
        reported_date=date_at(dig(body, "created")),
        reason=f"thinking did not end: {finish}" if text is None else finish,
        text=text or None,
        thinking=thinking,
    )


def _finish(body: Any) -> str:
    """Why the answer ended, as a reason for there being none."""
    if dig(body, "choices", 0) is None:
        return "no choice in the answer"
    return word(dig(body, "choices", 0, "finish_reason")) or "no finish reason"


def _words_of(message: Any) -> tuple[str | None, str | None]:
    """The text of a message, None where its thinking did not end; and its thinking."""
    content = dig(message, "content")
    parts = [dig(part, "text") for part in items(content) if dig(part, "type") == "text"]
    text = content if isinstance(content, str) else ""
    text += "".join(part for part in parts if isinstance(part, str))
    thinking = word(dig(message, "reasoning")) or word(dig(message, "reasoning_content"))
    if thinking is not None:
        return text, thinking
    return split_thinking(text, THINKING_TAGS, opened=False)


def read_usage(given: Any) -> Usage | None:
    """`usage` of a chat answer; None where the service says nothing.

    Reasoning is part of completion_tokens. Some services count it beside them (xAI): known by
    total_tokens, which holds both.
    """
    cost = number(dig(given, "cost"))  # OpenRouter's, in US dollars
    read, written = whole(dig(given, "prompt_tokens")), whole(dig(given, "completion_tokens"))
    thought = whole(dig(given, "completion_tokens_details", "reasoning_tokens"))
    if thought and whole(dig(given, "total_tokens")) == total(read, written, thought):
        written = total(written, thought)
    return told(
        Usage(
            input_tokens=read,
            cached_tokens=whole(dig(given, "prompt_tokens_details", "cached_tokens")),
            cache_write_tokens=whole(dig(given, "prompt_tokens_details", "cache_write_tokens")),
            input_image_tokens=whole(dig(given, "prompt_tokens_details", "image_tokens")),
            output_tokens=written,
            thinking_tokens=thought,
            image_tokens=whole(dig(given, "completion_tokens_details", "image_tokens")),
            cost_usd=cost if cost is not None and cost >= 0 else None,
        )
    )
