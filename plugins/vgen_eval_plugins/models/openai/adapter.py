"""Drives services that speak OpenAI's protocol: OpenAI itself, vLLM, vLLM-Omni, SGLang, others."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from vgen_eval.adapters import BaseAdapter
from vgen_eval.cards.records import ModelCard
from vgen_eval.errors import CallError, MissingExtra, UsageError
from vgen_eval.remote import endpoint_of, is_loopback
from vgen_eval.types import AnswerForm, Output, Request

from vgen_eval_plugins.models.arguments import check_arguments, parameters_of
from vgen_eval_plugins.models.openai import chat, images, videos
from vgen_eval_plugins.models.openai.calling import Line
from vgen_eval_plugins.models.openai.pictures import Fetcher, fetcher
from vgen_eval_plugins.models.payloads import ImageFormat
from vgen_eval_plugins.models.service import Service, hush

__all__ = ["OpenAICompatible", "OpenAIOptions"]

log = logging.getLogger(__name__)

EXTRA = "api"
BASE_URL = "https://api.openai.com/v1"
NO_KEY = "none"
"""What the SDK gets where the card names no key; it is not sent."""


# msgspec takes a pattern only on the bare type
Size = Annotated[str, msgspec.Meta(pattern=r"^(auto|input|[1-9][0-9]*x[1-9][0-9]*)$")]


class OpenAIOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a service is called."""

    model: Annotated[
        str | None, msgspec.Meta(description="Name at the service; null: the card's checkpoint.")
    ] = None
    base_url: Annotated[
        str, msgspec.Meta(description="Address of the service, up to and with its /v1.")
    ] = BASE_URL
    concurrency: Annotated[
        int, msgspec.Meta(description="Calls at once at most.", ge=1, le=1000)
    ] = 16
    api: Annotated[
        Literal["images", "chat"],
        msgspec.Meta(description="Where pictures are made: /images/edits, or chat messages."),
    ] = "images"
    image_format: Annotated[
        ImageFormat, msgspec.Meta(description="How pictures are sent: png is exact, jpeg smaller.")
    ] = "png"
    detail: Annotated[
        Literal["auto", "low", "high", "original"] | None,
        msgspec.Meta(description="How closely chat models look; null: not said."),
    ] = None
    size: Annotated[
        Size | None,
        msgspec.Meta(
            description="Size of pictures and videos: WxH, auto, or input for that of the input; "
            "null: not said."
        ),
    ] = None
    extra_body: Annotated[
        Mapping[str, Any],
        msgspec.Meta(description="Further fields of every call, for what the protocol leaves out."),
    ] = {}


class OpenAICompatible(BaseAdapter):
    """Chat, edits and videos over the official SDK, which neither retries nor reads variables."""

    Options: ClassVar[type[msgspec.Struct]] = OpenAIOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = ("image", "text", "choice", "video")
    extra: ClassVar[str | None] = EXTRA
    key_env: ClassVar[str | None] = "OPENAI_API_KEY"
    timeout_s: ClassVar[float | None] = 600.0
    deterministic = False

    def __init__(
        self, options: OpenAIOptions, *, card: ModelCard | None = None, device: str | None = None
    ) -> None:
        super().__init__(options, card=card, device=device)
        self.endpoint = endpoint_of(options.base_url)
        self.concurrency = options.concurrency
        checkpoint = None if card is None else card.checkpoint
        self.model = options.model or (checkpoint.repo if checkpoint else None)
        self._client: Any = None
        self._known: Mapping[str, frozenset[str]] = {}

    @staticmethod
    @contextmanager
    def stub(card: ModelCard, folder: Path) -> Iterator[Mapping[str, Any]]:
        """A strict service on loopback in the place of the card's own."""
        from vgen_eval_plugins.standins.openai import OpenAIService

        del folder
        name = card.needs.key_env
        if name:
            os.environ[name] = "stand-in-key-0123456789"
        with OpenAIService(key=os.environ[name] if name else None) as service:
            model = card.options.get("model") or "tiny-vision"
            service.models = (str(model),)
            # what a card says in each call is for its own service to judge
            said = [*card.options.get("extra_body", ()), *card.generation]
            service.extras = dict.fromkeys(said, _anything)
            yield {"model": model, "base_url": f"{service.url}/v1"}

    def load(self) -> None:
        """Makes the client; UsageError for a call argument that the SDK's methods do not take."""
        try:
            import openai
        except ImportError:
            raise MissingExtra(EXTRA) from None
        if self.model is None:
            raise UsageError(
                "openai_compatible: no model is named", cure="-M model=NAME, or options: {model}"
            )
        hush("openai", "httpx", "httpx2", "httpcore", "httpcore2")
        self._known = _arguments()
        self._check(() if self.card is None else self.card.generation)
        key_env = None if self.card is None else self.card.needs.key_env
        service = Service(host=self.endpoint or "", model=self.model, key_env=key_env)
        key = self.key()
        in_clear = self.options.base_url.startswith("http:") and not is_loopback(service.host)
        if key is not None and in_clear:
            log.warning("%s: plain http shows the key in %s on the way", service.host, key_env)
        headers = _headers(openai.Omit(), key=key)
        # the SDK takes the lack of a key only from each call
        no_key = {"Authorization": openai.Omit()} if key is None else {}
        self._line = Line(service, seconds=self.timeout, headers=no_key)
        self._client = openai.OpenAI(
            api_key=key or NO_KEY,
            base_url=self.options.base_url,
            timeout=self.timeout,
            max_retries=0,
            default_headers=headers,
            # a request that is sent elsewhere would take its pictures along
            http_client=openai.DefaultHttpxClient(timeout=self.timeout, follow_redirects=False),
        )

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """One call a request."""
        for request in requests:
            yield self._answer(request)

    def close(self) -> None:
        """Closes the client's connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    # --- calls ------------------------------------------------------------------------------

    def _answer(self, request: Request) -> Output:
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
            request, image_format=self.options.image_format, detail=self.options.detail
        )
        if request.form == "choice":
            asked |= chat.ask_choice(given)
        if request.form == "image":
            asked["modalities"] = ["image", "text"]
        if self._sends_seed:
            asked["seed"] = request.seed
        deadline = self._line.deadline()
        body, reply = self._line.ask_json(
            self._client.chat.completions.with_streaming_response.create,
            deadline=deadline,
            model=self.model,
            extra_body=dict(self.options.extra_body) or None,
            **(asked | given),
        )
        if request.form == "choice":
            return chat.read_choice(body, request, reply)
        if request.form == "image":
            return chat.read_picture(body, request, reply, fetch=self._fetcher(deadline))
        return chat.read_text(body, request, reply)

    def _edit(self, request: Request) -> Output:
        asked = images.ask_edit(request, image_format=self.options.image_format)
        deadline = self._line.deadline()
        body, reply = self._line.ask_json(
            self._client.images.with_streaming_response.edit,
            deadline=deadline,
            model=self.model,
            extra_body=self._extra_body(request),
            **(asked | self._settings(request, images.CALL) | self._size(request)),
        )
        return images.read_edit(body, request, reply, fetch=self._fetcher(deadline))

    def _make_video(self, request: Request) -> Output:
        asked = videos.ask_video(request, image_format=self.options.image_format)
        arguments = asked | self._settings(request, videos.CALL) | self._size(request)
        arguments |= {"model": self.model} | (self._extra_body(request) or {})
        return videos.make_video(self._line, videos.Jobs(self._client), request, arguments)

    def _fetcher(self, deadline: float | None) -> Fetcher:
        return fetcher(trusted=self.options.base_url, seconds=lambda: self._line.left(deadline))

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

    @property
    def _sends_seed(self) -> bool:
        """Only where the card names a base of the seeds: not every service takes one."""
        return self.card is not None and "seed" in self.card.generation

    def _extra_body(self, request: Request) -> dict[str, Any] | None:
        """Fields that the SDK's methods have no argument for: edits and videos know no seed."""
        extra = dict(self.options.extra_body)
        return extra | ({"seed": request.seed} if self._sends_seed else {}) or None

    def _size(self, request: Request) -> dict[str, str]:
        if self.options.size is None:
            return {}
        if self.options.size != "input" or not request.images:
            return {"size": self.options.size}
        return {"size": f"{request.images[0].width}x{request.images[0].height}"}


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
