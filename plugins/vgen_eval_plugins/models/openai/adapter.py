"""Drives services that speak OpenAI's protocol: OpenAI itself, vLLM, vLLM-Omni, SGLang, others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from vgen_eval.cards.records import ModelCard
from vgen_eval.errors import CallError, MissingExtra, UsageError
from vgen_eval.types import AnswerForm, Output, Request

from vgen_eval_plugins.models.arguments import check_arguments, parameters_of
from vgen_eval_plugins.models.openai import chat, images, videos
from vgen_eval_plugins.models.openai.faults import fault_under_200, read_fault
from vgen_eval_plugins.models.pictures import Fetcher, fetcher
from vgen_eval_plugins.models.replies import read_object
from vgen_eval_plugins.models.service import words
from vgen_eval_plugins.models.service_adapter import (
    NO_KEY,
    ServiceAdapter,
    ServiceOptions,
    planted_key,
)
from vgen_eval_plugins.models.wire import Reply

__all__ = ["OpenAICompatible", "OpenAIOptions"]

BASE_URL = "https://api.openai.com/v1"


# msgspec takes a pattern only on the bare type
Size = Annotated[str, msgspec.Meta(pattern=r"^(auto|input|[1-9][0-9]*x[1-9][0-9]*)$")]


class OpenAIOptions(ServiceOptions, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options of openai_compatible."""

    base_url: Annotated[
        str, msgspec.Meta(description="Address of the service, up to and with its /v1.")
    ] = BASE_URL
    concurrency: Annotated[
        int,
        msgspec.Meta(
            description="Calls at once at most.", ge=1, le=1000, extra={"provenance": True}
        ),
    ] = 16
    api: Annotated[
        Literal["images", "chat"],
        msgspec.Meta(description="Where pictures are made: /images/edits, or chat messages."),
    ] = "images"
    detail: Annotated[
        Literal["auto", "low", "high", "original"] | None,
        msgspec.Meta(description="How closely chat models look; null: not said."),
    ] = None
    prefill: Annotated[
        Literal["no", "shown", "forced"],
        msgspec.Meta(
            description="Where a protocol begins the model's turn for it: forced, it is sent as "
            "the last message with continue_final_message, which vLLM, SGLang and llama.cpp take; "
            "shown, as the last message alone, after which other services begin anew or go on; "
            "no, not at all. All but forced flag the answer prefix_not_forced."
        ),
    ] = "shown"
    size: Annotated[
        Size | None,
        msgspec.Meta(
            description="Size of pictures and videos: WxH, auto, or input for that of the input, "
            "each side rounded to a multiple of 16 and the ratio kept within 1:3 and 3:1, as GPT "
            "image models take it; null: not said."
        ),
    ] = None


class OpenAICompatible(ServiceAdapter):
    """Chat, edits and videos over the official SDK, which neither retries nor reads variables."""

    Options: ClassVar[type[msgspec.Struct]] = OpenAIOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = ("image", "text", "choice", "video")
    key_env: ClassVar[str | None] = "OPENAI_API_KEY"
    options: OpenAIOptions

    @staticmethod
    @contextmanager
    def stub(card: ModelCard, folder: Path) -> Iterator[Mapping[str, Any]]:
        """A strict service on loopback in the place of the card's own."""
        from vgen_eval_plugins.standins.openai import OpenAIService

        del folder
        with planted_key(card) as key, OpenAIService(key=key) as service:
            model = card.options.get("model") or "tiny-vision"
            service.models = (str(model),)
            # what a card says in each call is for its own service to judge
            said = [*card.options.get("extra_body", ()), *card.generation]
            service.extras = dict.fromkeys(said, _anything)
            service.continues = card.options.get("prefill") == "forced"
            yield {"model": model, "base_url": f"{service.url}/v1"}

    def load(self) -> None:
        """Makes the client; UsageError for a call argument that the SDK's methods do not take."""
        try:
            import openai
        except ImportError:
            raise MissingExtra("api") from None
        line, key = self.connect("openai_compatible", loggers=("openai",))
        self._known = _arguments()
        self._check(() if self.card is None else self.card.generation)
        # the SDK takes the lack of a key only from each call
        self._no_key = {"Authorization": openai.Omit()} if key is None else {}
        self._client = openai.OpenAI(
            api_key=key or NO_KEY,
            base_url=self.options.base_url,
            timeout=self.timeout,
            max_retries=0,
            default_headers=_headers(openai.Omit(), key=key),
            http_client=line.open(openai.DefaultHttpxClient),
        )

    # --- calls ------------------------------------------------------------------------------

    def answer(self, request: Request) -> Output:
        """What the call of the request's form came to."""
        self._check(request.settings)
        if request.form == "video":
            return self._make_video(request)
        if request.form == "image" and self.options.api == "images":
            return self._edit(request)
        if request.form in ("image", "text", "choice"):
            return self._chat(request)
        raise CallError(f"openai_compatible answers no {request.form}")

    def _chat(self, request: Request) -> Output:
        given = self._settings(request, chat.CALL)
        asked = chat.ask_text(
            request,
            image_format=self.options.image_format,
            detail=self.options.detail,
            begin=self.options.prefill != "no",
        )
        continued = chat.CONTINUED if self.forces_prefix(request) else {}
        if request.form == "choice":
            asked |= chat.ask_choice(given)
        if request.form == "image":
            asked["modalities"] = ["image", "text"]
        if self.sends_seed:
            asked["seed"] = request.seed
        deadline = self.line.deadline()
        body, reply = self._ask(
            self._client.chat.completions.with_raw_response.create,
            extra_body={**continued, **self.options.extra_body} or None,
            **(asked | given),
        )
        if request.form == "choice":
            return chat.read_choice(body, request, reply)
        if request.form == "image":
            return chat.read_picture(body, request, reply, fetch=self._fetcher(deadline))
        return chat.read_text(body, request, reply)

    def _edit(self, request: Request) -> Output:
        asked = images.ask_edit(request, image_format=self.options.image_format)
        deadline = self.line.deadline()
        body, reply = self._ask(
            self._client.images.with_raw_response.edit,
            extra_body=self._extra_body(request),
            **(asked | self._settings(request, images.CALL) | self._size(request)),
        )
        return images.read_edit(body, request, reply, fetch=self._fetcher(deadline))

    def _make_video(self, request: Request) -> Output:
        asked = videos.ask_video(request, image_format=self.options.image_format)
        arguments = asked | self._settings(request, videos.CALL) | self._size(request)
        arguments |= {"model": self.model} | (self._extra_body(request) or {})
        jobs = videos.Jobs(self._client, self.line, headers=self._no_key)
        return videos.make_video(jobs, request, arguments)

    def _ask(self, method: Callable[..., Any], **arguments: Any) -> tuple[Any, Reply]:
        """The JSON object that a call answers, whatever type the answer says it is of."""
        import openai

        service = self.line.service
        try:
            reply = self.line.ask(
                lambda: method(model=self.model, extra_headers=self._no_key, **arguments),
                lambda reply: read_fault(reply, service=service),
            )
        except (openai.OpenAIError, TypeError, ValueError) as exc:
            raise CallError(f"{service.host}: not sent: {words(str(exc))}") from None
        body = read_object(reply.text, host=service.host)
        fault = fault_under_200(body, reply, service=service)
        if fault is not None:
            raise fault
        return body, reply

    def _fetcher(self, deadline: float | None) -> Fetcher:
        return fetcher(trusted=self.options.base_url, seconds=lambda: self.line.left(deadline))

    # --- arguments --------------------------------------------------------------------------

    def _has(self, form: AnswerForm) -> bool:
        return form in (self.forms if self.card is None else self.card.answers)

    def _calls(self) -> list[str]:
        """The calls that the card's answer forms lead to."""
        edits = self._has("image") and self.options.api == "images"
        chats = self._has("text") or self._has("choice") or (self._has("image") and not edits)
        found = {chat.CALL: chats, images.CALL: edits, videos.CALL: self._has("video")}
        return [call for call, used in found.items() if used]

    def _check(self, given: Any) -> None:
        """UsageError for an argument that none of the card's calls takes."""
        calls = self._calls()
        if self.options.size is not None and not {images.CALL, videos.CALL} & set(calls):
            raise UsageError(
                f"options.size: {chat.CALL} takes none",
                cure="a field of this service alone goes into options.extra_body",
            )
        if self.options.detail is not None and chat.CALL not in calls:
            raise UsageError(f"options.detail: {' and '.join(calls)} take none")
        ours = {chat.CALL: chat.OURS, images.CALL: images.OURS, videos.CALL: videos.OURS}
        known = {name for call in calls for name in self._known[call]} | {"seed"}
        set_by_us = {
            name: where
            for call in calls
            for name, where in ours[call].items()
            # what one call sets itself may be another's to take
            if not any(name in self._known[other] and name not in ours[other] for other in calls)
        }
        if self.options.size is not None:
            set_by_us["size"] = "options.size"
        check_arguments(
            given,
            known=known,
            ours=set_by_us,
            call=" or ".join(calls),
            cure="fields of this service alone go into options.extra_body",
        )

    def _settings(self, request: Request, call: str) -> dict[str, Any]:
        """The card's arguments that this call takes; a card of several forms has several calls."""
        known = self._known[call] - {"seed"}
        return {name: value for name, value in request.settings.items() if name in known}

    def _extra_body(self, request: Request) -> dict[str, Any] | None:
        """Fields that the SDK's methods have no argument for: edits and videos know no seed."""
        extra = dict(self.options.extra_body)
        return extra | ({"seed": request.seed} if self.sends_seed else {}) or None

    def _size(self, request: Request) -> dict[str, str]:
        if self.options.size is None:
            return {}
        if self.options.size != "input" or not request.images:
            return {"size": self.options.size}
        return {"size": images.near_size(request.images[0].width, request.images[0].height)}


def _arguments() -> Mapping[str, frozenset[str]]:
    """Call -> names of its arguments, as the installed SDK has them."""
    from openai.resources.chat.completions import Completions
    from openai.resources.images import Images

    return {
        chat.CALL: parameters_of(Completions.create),
        images.CALL: parameters_of(Images.edit),
        videos.CALL: videos.ARGUMENTS | frozenset(videos.OURS),
    }


def _headers(omit: Any, *, key: str | None) -> dict[str, Any]:
    """Every header that the SDK would take from the environment, undone.

    OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS (one of which may be a key) would
    go to whatever service the card names.
    """
    lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    named = [line.partition(":")[0].strip() for line in lines if ":" in line]
    return {
        **dict.fromkeys([*named, "OpenAI-Organization", "OpenAI-Project"], omit),
        "Accept": "application/json",
        "Content-Type": "application/json",
        "Authorization": omit if key is None else f"Bearer {key}",
    }


def _anything(value: Any, path: str) -> None:
    """The shape that every value has."""
