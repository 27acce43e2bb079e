"""The messages that the harness and a program exchange, version 1; docs/command.md describes them.

One JSON object a line. The harness writes hello, generate and close; the program writes ready, and
for each request of a generate an answer or an error.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from vgen_eval.cards.records import ModelCard
from vgen_eval.errors import (
    CallError,
    NotRunnable,
    RateLimited,
    Refused,
    Transient,
    Undecodable,
    nearest,
)
from vgen_eval.imaging import load_array
from vgen_eval.types import FORMS, AnswerForm, Output, Request, Usage

from vgen_eval_plugins.models.command.lines import Message, Strays
from vgen_eval_plugins.models.parts import UNFORCED
from vgen_eval_plugins.models.payloads import from_base64
from vgen_eval_plugins.models.service import words

__all__ = [
    "CLOSE",
    "PROTOCOL",
    "Ready",
    "fault_of",
    "generate",
    "hello",
    "output_of",
    "read_ready",
    "unknown_type",
]

PROTOCOL = 1
"""Version of the protocol; a change that old programs would not understand raises it."""

KINDS = ("refused", "transient", "rate_limited", "error")
"""What an error may be."""

_ARRAYS = ("depth_map", "normal_map", "mask", "label_map")

Words = Annotated[str, msgspec.Meta(max_length=200)]
Batch = Annotated[int, msgspec.Meta(ge=1, le=4096)]


class Ready(msgspec.Struct, frozen=True):
    """What a program says of itself once it can answer."""

    protocol: int
    name: Words | None = None
    """Of the model; kept with each answer."""
    forms: tuple[AnswerForm, ...] | None = None
    """Answer forms that it can give; None: it does not say."""
    max_batch: Batch = 1
    deterministic: bool = False
    versions: Mapping[str, Words] = {}


class _Answer(msgspec.Struct, frozen=True):
    """The fields of an answer beside the one that is named as the form."""

    id: str
    text: str | int | float | None = None
    thinking: str | None = None
    reason: str | None = None
    flags: tuple[Words, ...] = ()
    pictures: tuple[str, ...] = ()
    usage: Usage | None = None
    request_id: str | None = None
    prefixed: bool = False
    """Does it go on from the request's prefix?"""


class _Fault(msgspec.Struct, frozen=True):
    message: str = ""
    kind: str = "error"
    id: str | None = None
    retry_after: Annotated[float, msgspec.Meta(ge=0)] | None = None
    usage: Usage | None = None
    request_id: str | None = None


# --- to the program ---------------------------------------------------------------------------


def hello(
    card: ModelCard | None, *, config: Mapping[str, Any], device: str | None, process: int
) -> bytes:
    """The first line: who asks, and what the card says of the model."""
    checkpoint = None if card is None else msgspec.to_builtins(card.checkpoint)
    return _line(
        {
            "type": "hello",
            "protocol": PROTOCOL,
            "model": None if card is None else card.model,
            "checkpoint": checkpoint,
            "config": config,
            "device": device,
            "process": process,
        }
    )


def generate(requests: Iterable[Request]) -> bytes:
    """A call: its requests, pictures as PNG in base64."""
    return _line({"type": "generate", "requests": [_ask(request) for request in requests]})


def _ask(request: Request) -> Message:
    asked = {
        "id": request.id,
        "family": request.family,
        "form": request.form,
        "prompt": request.prompt,
        "images": [base64.b64encode(image.png()).decode() for image in request.images],
        "choices": request.choices,
        "fields": request.fields,
        "settings": request.settings,
        "seed": request.seed,
    }
    # only where they say something: most programs need know nothing of them
    if request.parts:
        asked["parts"] = _parts(request)
    if request.prefix:
        asked["prefix"] = request.prefix
    if request.choice_scoring:
        asked["choice_scoring"] = request.choice_scoring
    if request.wants_json:
        asked["wants_json"] = True
    return asked


def _parts(request: Request) -> list[str | int]:
    """Words as they are, a picture as its place among the request's images."""
    places = {image.sha256: at for at, image in enumerate(request.images)}
    made: list[str | int] = []
    for part in request.parts:
        if isinstance(part, str):
            made.append(part)
        elif part.sha256 in places:
            made.append(places[part.sha256])
        else:
            raise CallError("parts: a picture that is none of the request's images")
    return made


def _line(message: Message) -> bytes:
    # in ASCII: a program may read its stdin in whatever encoding, and a lone surrogate of a prompt
    # has no other spelling
    try:
        text = json.dumps(message, separators=(",", ":"), default=dict, allow_nan=False)
    except (TypeError, ValueError) as exc:
        raise CallError(f"{message['type']}: a value that JSON does not hold: {exc}") from None
    return text.encode("ascii") + b"\n"


CLOSE = _line({"type": "close"})


# --- from the program -------------------------------------------------------------------------


def read_ready(message: Message, strays: Strays) -> Ready:
    """What the program says of itself; NotRunnable when it is of another version or malformed."""
    if message["type"] == "error":
        said = message.get("message")
        raise NotRunnable(f"it says that it cannot start: {words(str(said or 'no reason given'))}")
    if message["type"] != "ready":
        raise NotRunnable(f"its first message is '{words(message['type'])}', ready is wanted")
    version = message.get("protocol")
    if version != PROTOCOL:
        raise NotRunnable(
            f"it speaks version {version!r:.20} of the protocol, this vgen-eval speaks {PROTOCOL}",
            cure="docs/command.md: its ready message names the version that hello names",
        )
    _note_unknown(message, Ready, strays)
    try:
        return msgspec.convert(message, Ready)
    except msgspec.ValidationError as exc:
        raise NotRunnable(f"its ready message is malformed: {exc}") from None


def output_of(message: Message, request: Request, strays: Strays, *, name: str | None) -> Output:
    """The output of an answer to the request; CallError when it is malformed.

    Bytes that are no array become an Undecodable in the answer's place.
    """
    _note_unknown(message, _Answer, strays, more=FORMS)
    answer = _convert(message, _Answer)
    form = request.form
    others = [f for f in FORMS if f not in (form, "text") and message.get(f) is not None]
    if others and message.get(form) is None:
        raise CallError(f"the program answered '{others[0]}' where '{form}' was asked")
    return Output(
        id=request.id,
        answer=_value(form, answer.text if form == "text" else message.get(form)),
        usage=answer.usage,
        request_id=answer.request_id,
        reported_model=name,
        reason=answer.reason,
        flags=answer.flags + ((UNFORCED,) if request.prefix and not answer.prefixed else ()),
        text=None if form == "text" or answer.text is None else str(answer.text),
        thinking=answer.thinking,
        pictures=tuple(from_base64(picture) for picture in answer.pictures),
    )


def _value(form: AnswerForm, value: Any) -> Any:
    if value is None or form == "text":
        return value
    if form == "choice":
        if not isinstance(value, dict) or not all(map(_is_logprob, value.values())):
            raise CallError("the program's choice is no map of words to log-probabilities")
        return value
    if form == "points":
        if not isinstance(value, list):
            raise CallError("the program's points are no list of [x, y]")
        return value
    if not isinstance(value, str):
        raise CallError(f"the program's {form} is {type(value).__name__}: base64 is wanted")
    data = from_base64(value, what=f"the program's {form}")
    if form not in _ARRAYS:
        return data
    try:
        return load_array(data, what=f"the program's {form}")
    except Undecodable as exc:
        return exc


def _is_logprob(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def fault_of(message: Message, strays: Strays) -> CallError:
    """The error that a program tells of, to be raised; CallError, raised, for a malformed one."""
    _note_unknown(message, _Fault, strays)
    fault = _convert(message, _Fault)
    what = words(fault.message) or "the program gives no reason"
    billed: dict[str, Any] = {"usage": fault.usage, "request_id": fault.request_id}
    if fault.kind == "rate_limited":
        return RateLimited(what, retry_after=fault.retry_after, **billed)
    if fault.kind == "refused":
        return Refused(what, **billed)
    if fault.kind == "transient":
        return Transient(what, **billed)
    if fault.kind != "error":
        strays.note(f"unknown kind of error '{words(fault.kind, longest=40)}'", what)
    return CallError(what, **billed)


def unknown_type(message: Message) -> str:
    """Words for a message of a type that no program writes."""
    kind = words(message["type"], longest=40)
    return f"a message of unknown type '{kind}'.{nearest(kind, ('answer', 'error', 'ready'))}"


def _convert(message: Message, record: type[Any]) -> Any:
    try:
        return msgspec.convert(message, record)
    except msgspec.ValidationError as exc:
        raise CallError(f"the program's {message['type']} is malformed: {exc}") from None


def _note_unknown(
    message: Message, record: type[msgspec.Struct], strays: Strays, more: Sequence[str] = ()
) -> None:
    """A field that is misspelt would vanish otherwise."""
    known = {*record.__struct_fields__, *more}
    for key in message.keys() - known - {"type"}:
        name = words(key, longest=40)
        strays.note(f"unknown field '{name}'{nearest(name, known)}", f"in {message['type']}")
