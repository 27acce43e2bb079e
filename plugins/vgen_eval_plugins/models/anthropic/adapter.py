"""Drives Anthropic's models through its SDK: text over pictures, thinking kept apart."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec
from vgen_eval.adapters import BaseAdapter
from vgen_eval.cards.records import ModelCard
from vgen_eval.errors import CallError, MissingExtra, UsageError
from vgen_eval.remote import endpoint_of
from vgen_eval.types import AnswerForm, Output, Request

from vgen_eval_plugins.models.arguments import check_arguments, parameters_of
from vgen_eval_plugins.models.payloads import MIME, ImageFormat, encode
from vgen_eval_plugins.models.replies import date_of, is_http_fault, read_object
from vgen_eval_plugins.models.service import Service, connection_error, hush

__all__ = ["Anthropic"]

EXTRA = "api"
BASE_URL = "https://api.anthropic.com"
MAX_TOKENS = 4096
"""The API wants a limit; this one holds where the card's generation names none."""
NO_KEY = "none"
"""Sent where the card names no key: the SDK would look for one in the environment and in files."""
OURS: Mapping[str, str] = {
    "messages": "the prompt and the pictures of the sample",
    "model": "-M model=NAME",
    "stream": "off: an answer is read whole",
    "timeout": "limits.timeout_s",
    "extra_headers": "none are sent",
    "extra_query": "none is sent",
    "extra_body": "-M extra_body={...}",
    "seed": "the API takes none",
}
CURE = "what this SDK does not know of goes into the option extra_body, as the API has it"


class AnthropicOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of anthropic."""

    model: Annotated[
        str | None, msgspec.Meta(description="Name at the service; null: the card's checkpoint.")
    ] = None
    base_url: Annotated[str, msgspec.Meta(description="Address of the service.")] = BASE_URL
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


class Anthropic(BaseAdapter):
    """Answers of the Messages API; one request a call, and no try but the engine's."""

    Options: ClassVar[type[msgspec.Struct]] = AnthropicOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = ("text",)
    extra: ClassVar[str | None] = EXTRA
    key_env: ClassVar[str | None] = "ANTHROPIC_API_KEY"
    timeout_s: ClassVar[float | None] = 600.0
    deterministic = False

    def __init__(
        self,
        options: AnthropicOptions,
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

    @staticmethod
    @contextmanager
    def stub(card: ModelCard, folder: Path) -> Iterator[Mapping[str, Any]]:
        """A strict stand-in on loopback."""
        import os

        from vgen_eval_plugins.standins.anthropic import MODEL, AnthropicService

        del folder
        name = card.needs.key_env
        key = "stand-in-key-0123456789" if name else None
        if name and key:
            os.environ[name] = key
        with AnthropicService(key=key) as service:
            yield {"model": MODEL, "base_url": service.url}

    def load(self) -> None:
        """Checks the card's call arguments, and makes the client.

        UsageError for an argument that the API has none of; MissingExtra, MissingKey.
        """
        try:
            import anthropic
        except ImportError:
            raise MissingExtra(EXTRA) from None
        if self.model is None:
            raise UsageError(
                "anthropic: no model is named", cure="-M model=NAME, or options: {model}"
            )
        hush("anthropic", "httpx", "httpx2")
        card = self.card
        key_env = None if card is None else card.needs.key_env
        self._service = Service(host=self.endpoint or "", model=self.model, key_env=key_env)
        timeout = self.timeout
        more = {"open_telemetry": False}  # traces may hold requests, pictures and all
        client = anthropic.Anthropic(
            api_key=self.key() or NO_KEY,
            base_url=self.options.base_url,
            timeout=timeout,
            max_retries=0,
            # no redirect is followed: the key would go along
            http_client=anthropic.DefaultHttpxClient(follow_redirects=False, timeout=timeout),
            **{name: value for name, value in more.items() if name in _parameters(anthropic)},
        )
        # headers of ANTHROPIC_CUSTOM_HEADERS: no argument keeps the SDK from reading them
        client._custom_headers = {}
        given = {} if card is None else card.generation
        check_arguments(
            [name for name in given if card is None or name != "seed"],
            known=parameters_of(client.messages.create),
            ours=OURS,
            call="messages.create",
            cure=CURE,
        )
        self._client = client

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
        from vgen_eval_plugins.models.anthropic.answers import read_message
        from vgen_eval_plugins.models.anthropic.faults import read_fault

        headers, text = self._call(request)
        body = read_object(text, host=self._service.host)
        if "error" in body and "content" not in body:  # as some gateways do, under a 200
            raise read_fault(None, body, service=self._service, headers=headers)
        return read_message(
            body,
            request,
            request_id=headers.get("request-id"),
            reported_date=date_of(headers),
        )

    def _call(self, request: Request) -> tuple[Mapping[str, str], str]:
        """Headers and body of the response; our own errors for everything else."""
        import anthropic

        from vgen_eval_plugins.models.anthropic.faults import read_fault

        files = [encode(image, self.options.image_format) for image in request.images]
        try:
            raw = self._client.messages.with_raw_response.create(
                **{"max_tokens": MAX_TOKENS, **request.settings},
                model=self.model,
                messages=[{"role": "user", "content": self._content(request.prompt, files)}],
                extra_body=dict(self.options.extra_body) or None,
            )
        except anthropic.APIStatusError as exc:
            raise read_fault(
                exc.status_code,
                exc.body,
                service=self._service,
                headers=dict(exc.response.headers),
                sent=self._described(request, files),
            ) from None
        except anthropic.APIConnectionError as exc:
            raise connection_error(exc, service=self._service, seconds=self.timeout) from None
        except (TypeError, ValueError) as exc:  # a value that the SDK does not take
            raise UsageError(f"generation: {exc}") from None
        except Exception as exc:
            if not is_http_fault(exc):
                raise
            raise connection_error(exc, service=self._service, seconds=self.timeout) from None
        try:
            return dict(raw.headers), raw.http_response.content.decode()
        except UnicodeDecodeError:
            raise CallError(f"{self._service.host}: an answer that is no text") from None

    def _content(self, prompt: str, files: Sequence[bytes]) -> list[Mapping[str, Any]]:
        """Pictures first, as the provider advises, then the prompt."""
        media_type = MIME[self.options.image_format]
        content: list[Mapping[str, Any]] = [
            {
                "type": "image",
                "source": {
                    "type": "base64",
                    "media_type": media_type,
                    "data": base64.b64encode(data).decode(),
                },
            }
            for data in files
        ]
        # a lone surrogate is no text that JSON could carry, a blank prompt none that the API takes
        text = prompt.encode("utf-8", "replace").decode()
        if text.strip():
            content.append({"type": "text", "text": text})
        return content

    def _described(self, request: Request, files: Sequence[bytes]) -> list[str]:
        form = self.options.image_format
        return [
            f"{image.width}x{image.height}, {len(data) / 1e6:.1f} MB as {form}"
            for image, data in zip(request.images, files, strict=True)
        ]


def _parameters(anthropic: Any) -> frozenset[str]:
    return parameters_of(anthropic.Anthropic.__init__)
