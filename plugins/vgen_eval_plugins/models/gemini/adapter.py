"""Drives Google's Gemini models through google-genai: text, pictures and choices."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec
from vgen_eval.cards.records import ModelCard
from vgen_eval.errors import MissingExtra, UsageError
from vgen_eval.types import AnswerForm, Output, Request

from vgen_eval_plugins.models.parts import shown, sound
from vgen_eval_plugins.models.payloads import MIME, encode
from vgen_eval_plugins.models.replies import date_of, read_object
from vgen_eval_plugins.models.service_adapter import (
    NO_KEY,
    Forcible,
    ServiceAdapter,
    ServiceOptions,
    planted_key,
)
from vgen_eval_plugins.models.wire import Line, Reply

__all__ = ["Gemini"]

BASE_URL = "https://generativelanguage.googleapis.com"
SHORTEST_DEADLINE_S = 10
"""The API takes no shorter deadline in X-Server-Timeout, which the SDK fills from the time-out."""


class GeminiOptions(ServiceOptions, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options of gemini."""

    base_url: Annotated[
        str, msgspec.Meta(description="Address of the service, without the API's version.")
    ] = BASE_URL
    prefill: Forcible = "no"
    api_version: Annotated[
        str, msgspec.Meta(description="Version of the API in its paths.", min_length=1)
    ] = "v1beta"


class Gemini(ServiceAdapter):
    """Answers of generateContent."""

    Options: ClassVar[type[msgspec.Struct]] = GeminiOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = ("image", "text", "choice")
    key_env: ClassVar[str | None] = "GEMINI_API_KEY"
    options: GeminiOptions

    @staticmethod
    @contextmanager
    def stub(card: ModelCard, folder: Path) -> Iterator[Mapping[str, Any]]:
        """A strict stand-in on loopback that gives every form."""
        from vgen_eval_plugins.standins.gemini import FULL_MODEL, GeminiService

        del folder
        with planted_key(card) as key, GeminiService(key=key) as service:
            service.continues = card.options.get("prefill") == "forced"
            yield {"model": FULL_MODEL, "base_url": service.url, "api_version": "v1beta"}

    def load(self) -> None:
        """Checks the card's call arguments, and makes the client.

        UsageError for an argument that the API has none of; MissingExtra, MissingKey.
        """
        try:
            from google import genai
        except ImportError:
            raise MissingExtra("api") from None
        line, key = self.connect("gemini", loggers=("google_genai",))
        self._configs: dict[str, Any] = {}
        for form in self.forms if self.card is None else self.card.answers:
            self._config(self.generation, form, seed=None, wants_json=False)
        try:
            self._client = self._make_client(genai, line, key=key)
        except ImportError as exc:
            raise UsageError(f"gemini: {exc}", cure="unset GOOGLE_GENAI_HTTP_CLIENT") from None

    def _make_client(self, genai: Any, line: Line, *, key: str | None) -> Any:
        from google.genai import client, types

        timeout = self.timeout
        headers = {}
        if timeout is not None:
            headers["X-Server-Timeout"] = str(max(SHORTEST_DEADLINE_S, math.ceil(timeout)))
        # all that the SDK would take from the environment is said: the key, which API, its
        # address and version, the mode in which it replays recordings
        return genai.Client(
            vertexai=False,
            api_key=key or NO_KEY,
            debug_config=client.DebugConfig(client_mode="api", replays_directory="", replay_id=""),
            http_options=types.HttpOptions(
                base_url=self.options.base_url,
                api_version=self.options.api_version,
                timeout=None if timeout is None else max(1, round(timeout * 1000)),
                headers=headers,
                httpx_client=line.open(_http_client()),
            ),
        )

    def answer(self, request: Request) -> Output:
        """What one call came to."""
        from vgen_eval_plugins.models.gemini.answers import read_response
        from vgen_eval_plugins.models.gemini.faults import read_fault

        service = self.line.service
        reply = self._ask(request)
        body = read_object(reply.text, host=service.host)
        if "error" in body and not body.get("candidates"):  # as some gateways do, under a 200
            raise read_fault(502, body, service=service, headers=reply.headers)
        return read_response(body, request, reported_date=date_of(reply.headers))

    def _ask(self, request: Request) -> Reply:
        """The response as it came; our own errors for everything else."""
        from google.genai import types

        from vgen_eval_plugins.models.gemini.faults import read_fault

        config = self._config(
            request.settings,
            request.form,
            seed=request.seed if self.sends_seed else None,
            wants_json=request.wants_json,
        )
        service = self.line.service
        contents = self._contents(types, request)
        try:
            return self.line.ask(
                lambda: self._client.models.generate_content(
                    model=self.model, contents=contents, config=config
                ),
                lambda reply: read_fault(
                    reply.status, reply.content, service=service, headers=reply.headers
                ),
            )
        except ValueError as exc:  # an argument that the SDK keeps for Google's other platform
            raise UsageError(f"generation: {exc}") from None

    def _contents(self, types: Any, request: Request) -> list[Any]:
        """The user's turn, and the beginning of the model's where it goes on with one."""
        form = self.options.image_format
        parts = [
            types.Part.from_text(text=sound(part))
            if isinstance(part, str)
            else types.Part.from_bytes(data=encode(part, form), mime_type=MIME[form])
            for part in shown(request)
        ]
        contents = [types.Content(role="user", parts=parts)]
        if self.forces_prefix(request):
            begun = types.Part.from_text(text=sound(request.prefix))
            contents.append(types.Content(role="model", parts=[begun]))
        return contents

    def _config(
        self,
        settings: Mapping[str, Any],
        form: AnswerForm,
        *,
        seed: int | None,
        wants_json: bool,
    ) -> Any:
        """The call's config; checked once for each form and settings."""
        from google.genai import types

        from vgen_eval_plugins.models.gemini.config import make_config

        key = f"{form} {wants_json} {json.dumps(dict(settings), sort_keys=True, default=repr)}"
        if key not in self._configs:
            self._configs[key] = make_config(
                types,
                settings,
                form,
                extra_body=self.options.extra_body,
                wants_json=wants_json,
            )
        config = self._configs[key]
        return config if seed is None else config.model_copy(update={"seed": seed})


def _http_client() -> type[Any]:
    """The client of httpx2 or httpx, whichever google-genai came with."""
    try:
        from httpx2 import Client
    except ImportError:
        from httpx import Client  # type: ignore[import-not-found,no-redef,unused-ignore]
    return Client
