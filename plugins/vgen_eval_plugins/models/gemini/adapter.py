"""Drives Google's Gemini models through google-genai: text, pictures and choices."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec
from vgen_eval.adapters import BaseAdapter
from vgen_eval.cards.records import ModelCard
from vgen_eval.errors import AccessDenied, CallError, MissingExtra, UsageError
from vgen_eval.remote import endpoint_of
from vgen_eval.types import AnswerForm, Output, Request

from vgen_eval_plugins.models.payloads import MIME, ImageFormat, encode
from vgen_eval_plugins.models.replies import date_of, is_http_fault, read_object
from vgen_eval_plugins.models.service import Service, connection_error, hush

__all__ = ["Gemini"]

EXTRA = "api"
BASE_URL = "https://generativelanguage.googleapis.com"
NO_KEY = "none"
"""Sent where the card names no key: the SDK wants one, and would look for it in the environment."""
SHORTEST_DEADLINE_S = 10
"""The API takes no shorter deadline in X-Server-Timeout, which the SDK fills from the time-out."""


class GeminiOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of gemini."""

    model: Annotated[
        str | None, msgspec.Meta(description="Name at the service; null: the card's checkpoint.")
    ] = None
    base_url: Annotated[
        str, msgspec.Meta(description="Address of the service, without the API's version.")
    ] = BASE_URL
    api_version: Annotated[
        str, msgspec.Meta(description="Version of the API in its paths.", min_length=1)
    ] = "v1beta"
    image_format: Annotated[
        ImageFormat, msgspec.Meta(description="How pictures are sent: png is exact, jpeg smaller.")
    ] = "png"
    concurrency: Annotated[
        int, msgspec.Meta(description="Calls at once at most.", ge=1, le=100)
    ] = 8
    extra_body: Annotated[
        Mapping[str, Any],
        msgspec.Meta(description="Further fields of every call, for what the SDK leaves out."),
    ] = {}


class Gemini(BaseAdapter):
    """Answers of generateContent; one request a call, and no try but the engine's."""

    Options: ClassVar[type[msgspec.Struct]] = GeminiOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = ("image", "text", "choice")
    extra: ClassVar[str | None] = EXTRA
    key_env: ClassVar[str | None] = "GEMINI_API_KEY"
    timeout_s: ClassVar[float | None] = 600.0
    deterministic = False

    def __init__(
        self,
        options: GeminiOptions,
        *,
        card: ModelCard | None = None,
        device: str | None = None,
    ) -> None:
        super().__init__(options, card=card, device=device)
        self.endpoint = endpoint_of(options.base_url)
        self.concurrency = options.concurrency
        checkpoint = None if card is None else card.checkpoint
        self.model = options.model or (checkpoint.repo if checkpoint else None)
        self._client: Any = None
        self._configs: dict[str, Any] = {}

    @staticmethod
    @contextmanager
    def stub(card: ModelCard, folder: Path) -> Iterator[Mapping[str, Any]]:
        """A strict stand-in on loopback that gives every form."""
        import os

        from vgen_eval_plugins.standins.gemini import FULL_MODEL, GeminiService

        del folder
        name = card.needs.key_env
        key = "stand-in-key-0123456789" if name else None
        if name and key:
            os.environ[name] = key
        with GeminiService(key=key) as service:
            yield {"model": FULL_MODEL, "base_url": service.url, "api_version": "v1beta"}

    def load(self) -> None:
        """Checks the card's call arguments, and makes the client.

        UsageError for an argument that the API has none of; MissingExtra, MissingKey.
        """
        try:
            from google import genai
            from google.genai import client as genai_client
            from google.genai import types
        except ImportError:
            raise MissingExtra(EXTRA) from None
        if self.model is None:
            raise UsageError("gemini: no model is named", cure="-M model=NAME, or options: {model}")
        hush("google_genai", "httpx", "httpx2")
        self._service = Service(
            host=self.endpoint or "", model=self.model, key_env=self.card_key_env
        )
        settings = {} if self.card is None else self.card.generation
        settings = {name: value for name, value in settings.items() if name != "seed"}
        for form in self.forms if self.card is None else self.card.answers:
            self._config(settings, form, seed=None)
        timeout = self.timeout
        headers = {}
        if timeout is not None:
            headers["X-Server-Timeout"] = str(max(SHORTEST_DEADLINE_S, math.ceil(timeout)))
        # all that the SDK would take from the environment is said: the key, which API, its
        # address and version, the mode in which it replays recordings. No redirect is followed,
        # since the key, in a header of Google's own, would go along
        self._client = genai.Client(
            vertexai=False,
            api_key=self.key() or NO_KEY,
            debug_config=genai_client.DebugConfig(
                client_mode="api", replays_directory="", replay_id=""
            ),
            http_options=types.HttpOptions(
                base_url=self.options.base_url,
                api_version=self.options.api_version,
                timeout=None if timeout is None else max(1, round(timeout * 1000)),
                headers=headers,
                client_args={"follow_redirects": False},
            ),
        )

    @property
    def card_key_env(self) -> str | None:
        """The variable that the card names for the key."""
        return None if self.card is None else self.card.needs.key_env

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """One call a request."""
        for request in requests:
            yield self._answer(request)

    def close(self) -> None:
        """Closes the client's connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _answer(self, request: Request) -> Output:
        from vgen_eval_plugins.models.gemini.answers import read_response

        headers, text = self._call(request)
        body = read_object(text, host=self._service.host)
        if "error" in body and not body.get("candidates"):  # as some gateways do, under a 200
            raise self._fault(502, body, headers)
        return read_response(body, request, reported_date=date_of(headers))

    def _call(self, request: Request) -> tuple[Mapping[str, str], str]:
        """Headers and body of the response; our own errors for everything else."""
        from google.genai import errors, types

        seed = request.seed if self._sends_seed else None
        config = self._config(request.settings, request.form, seed=seed)
        form = self.options.image_format
        parts = [
            types.Part.from_bytes(data=encode(image, form), mime_type=MIME[form])
            for image in request.images
        ]
        # a lone surrogate is no text that JSON or the SDK could carry
        prompt = request.prompt.encode("utf-8", "replace").decode()
        if prompt:
            parts.append(types.Part.from_text(text=prompt))
        try:
            response = self._client.models.generate_content(
                model=self.model,
                contents=[types.Content(role="user", parts=parts)],
                config=config,
            ).sdk_http_response
        except errors.APIError as exc:
            raise self._fault(exc.code, exc.details, getattr(exc.response, "headers", {})) from None
        except UnicodeDecodeError:
            raise CallError(f"{self._service.host}: an answer that is no text") from None
        except ValueError as exc:  # an argument that the SDK keeps for Google's other platform
            raise UsageError(f"generation: {exc}") from None
        except Exception as exc:
            if not is_http_fault(exc):
                raise
            raise connection_error(exc, service=self._service, seconds=self.timeout) from None
        return response.headers or {}, response.body or ""

    def _config(self, settings: Mapping[str, Any], form: AnswerForm, *, seed: int | None) -> Any:
        """The call's config; checked once for each form and settings."""
        from google.genai import types

        from vgen_eval_plugins.models.gemini.config import make_config

        key = f"{form} {json.dumps(dict(settings), sort_keys=True, default=repr)}"
        if key not in self._configs:
            self._configs[key] = make_config(
                types, settings, form, extra_body=self.options.extra_body
            )
        config = self._configs[key]
        return config if seed is None else config.model_copy(update={"seed": seed})

    @property
    def _sends_seed(self) -> bool:
        """Only where the card names a base of the seeds: not every model takes one."""
        return self.card is not None and "seed" in self.card.generation

    def _fault(
        self, status: int, body: Any, headers: Mapping[str, str]
    ) -> CallError | AccessDenied:
        from vgen_eval_plugins.models.gemini.faults import read_fault

        return read_fault(status, body, service=self._service, headers=headers)
