"""A card's `generation` as google-genai's GenerateContentConfig, checked before any call."""

from __future__ import annotations

import logging
import typing
import warnings
from collections.abc import Mapping
from typing import Any

from vgen_eval.errors import UsageError, nearest
from vgen_eval.types import AnswerForm

from vgen_eval_plugins.models.arguments import check_arguments

__all__ = ["OURS", "TOP_LOGPROBS", "make_config"]

log = logging.getLogger(__name__)

CALL = "generate_content"
OURS: Mapping[str, str] = {
    "candidate_count": "one answer a request; `--attempts N` asks more than once",
    "response_logprobs": "asked for where the answer form is choice",
    "http_options": "options base_url and api_version, limits.timeout_s",
    "should_return_http_response": "the answer is read from the response itself",
    "automatic_function_calling": "off: nothing is called on a model's behalf",
    "automatic_continuation": "off: one request is one call",
    "continuation_token": "one request is one call",
    "seed": "the base of the seeds, which the engine derives",
}
"""Fields of the config that are not the card's -> where their values come from."""
CURE = "what this google-genai does not know yet goes into the option extra_body, as the API has it"
TOP_LOGPROBS = 20
"""The most that the API gives a position (REST reference, GenerationConfig.logprobs)."""


def make_config(
    types: Any,
    settings: Mapping[str, Any],
    form: AnswerForm,
    *,
    extra_body: Mapping[str, Any],
    wants_json: bool = False,
) -> Any:
    """types.GenerateContentConfig of the call arguments, for one form of answer.

    `types`: google.genai.types; `extra_body`: fields of the request beside them; `wants_json`: is
    a text to be an object of JSON, where the card says nothing of its type? UsageError for an
    argument that there is none of, at any depth, and for a value that a field does not take.
    """
    given = dict(settings)
    known = types.GenerateContentConfig.model_fields
    check_arguments(given, known=known, ours=OURS, call=CALL, cure=CURE)
    if form == "image":
        given.setdefault("response_modalities", ["TEXT", "IMAGE"])
    else:
        # settings of the picture: where a card that paints is asked for words
        given.pop("image_config", None)
    if form == "text" and wants_json:
        given.setdefault("response_mime_type", "application/json")
    if form == "choice":
        given["response_logprobs"] = True
        given.setdefault("logprobs", TOP_LOGPROBS)
    given["automatic_function_calling"] = {"disable": True}
    given["should_return_http_response"] = True
    if "automatic_continuation" in known:
        given["automatic_continuation"] = False
    if extra_body:
        given["http_options"] = {"extra_body": dict(extra_body)}
    return _validated(types.GenerateContentConfig, given)


def _validated(kind: Any, given: Mapping[str, Any]) -> Any:
    import pydantic

    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            config = kind(**given)
    except pydantic.ValidationError as exc:
        fault = exc.errors()[0]
        raise UsageError(_fault_words(kind, fault), cure=CURE) from None
    # an enum value that this SDK does not know is sent all the same: the API may know it
    for warning in told:
        log.warning("generation: %s", warning.message)
    return config


def _fault_words(kind: Any, fault: Mapping[str, Any]) -> str:
    where = [part for part in fault["loc"] if isinstance(part, (str, int))]
    path = "generation." + ".".join(str(part) for part in where)
    if fault["type"] != "extra_forbidden":
        return f"{path}: {fault['msg']}, {fault.get('input')!r:.80} seen"
    for part in where[:-1]:
        kind = _inner(kind, part)
    known = getattr(kind, "model_fields", {})
    return f"{path}: {CALL} takes none.{nearest(str(where[-1]), known)}"


def _inner(kind: Any, part: str | int) -> Any:
    """The model behind a field's annotation, through Optional and list; None when it is none."""
    fields = getattr(kind, "model_fields", {})
    annotation = fields[part].annotation if part in fields else kind
    stack = [annotation]
    while stack:
        found = stack.pop()
        if hasattr(found, "model_fields"):
            return found
        stack.extend(typing.get_args(found))
    return None
