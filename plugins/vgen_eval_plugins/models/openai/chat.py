"""/chat/completions: what is asked, and what of its answer is text, thinking, picture or choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vgen_eval.errors import CallError, Refused
from vgen_eval.types import Output, Request, Usage

from vgen_eval_plugins.models.likelihoods import read_choices
from vgen_eval_plugins.models.openai.calling import Reply, billed, date_of, dig, whole
from vgen_eval_plugins.models.openai.pictures import Fetcher, pick
from vgen_eval_plugins.models.payloads import ImageFormat, data_uri
from vgen_eval_plugins.models.service import words

__all__ = ["CALL", "OURS", "ask_choice", "ask_text", "read_choice", "read_picture", "read_text"]

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
REFUSALS = ("content_filter", "refusal", "safety")


def ask_text(request: Request, *, image_format: ImageFormat, detail: str | None) -> dict[str, Any]:
    """The conversation: the pictures in their order, then the prompt."""
    parts: list[dict[str, Any]] = []
    for image in request.images:
        shown: dict[str, str] = {"url": data_uri(image, image_format)}
        if detail is not None:
            shown["detail"] = detail
        parts.append({"type": "image_url", "image_url": shown})
    if request.prompt or not parts:
        # a lone surrogate is no text that JSON could carry
        prompt = request.prompt.encode("utf-8", "replace").decode()
        parts.append({"type": "text", "text": prompt})
    return {"messages": [{"role": "user", "content": parts}]}


def ask_choice(given: Mapping[str, Any]) -> dict[str, Any]:
    """What the form choice asks for beside the conversation; `given`: the card's arguments."""
    asked: dict[str, Any] = {"logprobs": True, "top_logprobs": TOP}
    if not {"max_tokens", "max_completion_tokens"} & set(given):
        asked["max_completion_tokens"] = CHOICE_TOKENS
    return asked


def read_text(body: Any, request: Request, reply: Reply) -> Output:
    """The answer in words; thinking is kept apart, whether in a field of its own or in tags."""
    usage, message, facts = _open(body, reply)
    del usage
    text, thinking = _words_of(message)
    finish = _finish(body)
    flags = ("truncated",) if text and finish == "length" else ()
    return Output(
        id=request.id, answer=text or None, reason=None if text else finish,
        thinking=thinking, flags=flags, **facts,
    )  # fmt: skip


def read_choice(body: Any, request: Request, reply: Reply) -> Output:
    """Choice -> log-probability at the first place whose token is no blank."""
    usage, message, facts = _open(body, reply)
    text, thinking = _words_of(message)
    places = dig(body, "choices", 0, "logprobs", "content")
    tokens = _first_place(places if isinstance(places, list) else [])
    if not tokens:
        what = "the service gave no log-probabilities: this model cannot answer choices"
        raise CallError(what, usage=usage, request_id=facts["request_id"])
    answer, flags = read_choices(tokens, request.choices)
    reason = None
    if answer is None:
        likeliest = sorted(tokens, key=lambda token: -tokens[token])[:5]
        reason = f"no choice among the {len(tokens)} likeliest tokens: {likeliest}"
    return Output(
        id=request.id, answer=answer, reason=reason, text=text or None, thinking=thinking,
        flags=flags, **facts,
    )  # fmt: skip


def read_picture(body: Any, request: Request, reply: Reply, *, fetch: Fetcher) -> Output:
    """The picture of an answer that is a message; words in its place are kept as words.

    Pictures come as `message.images` (OpenRouter) or as parts of `content` (vLLM-Omni).
    """
    usage, message, facts = _open(body, reply)
    text, thinking = _words_of(message)
    content = dig(message, "content")
    parts = [*_list(dig(message, "images")), *_list(content)]
    urls = [dig(part, "image_url", "url") for part in parts]
    with billed(usage, facts["request_id"]):
        found = pick([fetch(url) for url in urls if isinstance(url, str)])
    facts["usage"] = _with_images(usage, found.made)
    reason = found.reason or (None if found.answer else _finish(body))
    return Output(
        id=request.id, answer=found.answer, reason=reason, text=text or None, thinking=thinking,
        pictures=found.others, flags=found.flags, **facts,
    )  # fmt: skip


def _open(body: Any, reply: Reply) -> tuple[Usage | None, Any, dict[str, Any]]:
    """Usage, message and the facts of an Output; Refused where the answer is a refusal."""
    usage = read_usage(dig(body, "usage"))
    request_id = reply.request_id or _text(dig(body, "id"))
    message = dig(body, "choices", 0, "message")
    refusal = _text(dig(message, "refusal"))
    finish = _finish(body)
    if refusal or finish in REFUSALS:
        said = refusal or _words_of(message)[0]
        reason = words(said) if refusal else ": ".join(filter(None, (finish, words(said))))
        raise Refused(reason, usage=usage, request_id=request_id)
    facts = {
        "usage": usage,
        "request_id": request_id,
        "reported_model": _text(dig(body, "model")),
        "reported_date": date_of(dig(body, "created")),
    }
    return usage, message, facts


def _finish(body: Any) -> str:
    """Why the answer ended, as a reason for there being none."""
    if dig(body, "choices", 0) is None:
        return "no choice in the answer"
    return _text(dig(body, "choices", 0, "finish_reason")) or "no finish reason"


def _words_of(message: Any) -> tuple[str, str | None]:
    """The text of a message, and its thinking."""
    content = dig(message, "content")
    if isinstance(content, list):
        texts = [dig(part, "text") for part in content if dig(part, "type") == "text"]
        content = "".join(text for text in texts if isinstance(text, str))
    text = content if isinstance(content, str) else ""
    thinking = _text(dig(message, "reasoning")) or _text(dig(message, "reasoning_content"))
    if thinking is None and ("</think>" in text or text.lstrip().startswith("<think>")):
        # a server without a reasoning parser; the opening tag may be part of its template
        inside, _, text = text.partition("</think>")
        thinking = inside.strip().removeprefix("<think>").strip() or None
        text = text.lstrip()
    return text, thinking


def _first_place(places: Sequence[Any]) -> dict[str, float]:
    """Token -> log-probability at the first place whose own token is no blank."""
    for place in places:
        own = _text(dig(place, "token")) or ""
        if own.strip():
            rows = [place, *_list(dig(place, "top_logprobs"))]
            known = [(dig(row, "token"), dig(row, "logprob")) for row in rows]
            return {
                token: float(logprob)
                for token, logprob in known
                if isinstance(token, str) and isinstance(logprob, (int, float))
            }
    return {}


def read_usage(told: Any) -> Usage | None:
    """`usage` of a chat answer; None where the service says nothing."""
    if not isinstance(told, Mapping):
        return None
    cost = told.get("cost")  # OpenRouter's, in US dollars
    return Usage(
        input_tokens=whole(told.get("prompt_tokens")),
        cached_tokens=whole(dig(told, "prompt_tokens_details", "cached_tokens")),
        input_image_tokens=whole(dig(told, "prompt_tokens_details", "image_tokens")),
        output_tokens=whole(told.get("completion_tokens")),
        thinking_tokens=whole(dig(told, "completion_tokens_details", "reasoning_tokens")),
        image_tokens=whole(dig(told, "completion_tokens_details", "image_tokens")),
        cost_usd=float(cost) if isinstance(cost, (int, float)) and cost >= 0 else None,
    )


def _with_images(usage: Usage | None, made: int) -> Usage | None:
    import msgspec

    if not made:
        return usage
    return msgspec.structs.replace(usage or Usage(), images=made)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
