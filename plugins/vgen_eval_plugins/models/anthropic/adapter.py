"""Drives Anthropic's models through its SDK: text over pictures, thinking kept apart."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec
from vgen_eval.cards.records import ModelCard
from vgen_eval.errors import MissingExtra, UsageError
from vgen_eval.imaging import Image
from vgen_eval.types import AnswerForm, Output, Request

from vgen_eval_plugins.models.arguments import check_arguments, parameters_of
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
from vgen_eval_plugins.models.wire import Reply

__all__ = ["Anthropic"]

BASE_URL = "https://api.anthropic.com"
MAX_TOKENS = 4096
"""The API wants a limit; this one holds where the card's generation names none."""
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


class AnthropicOptions(ServiceOptions, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options of anthropic."""

    base_url: Annotated[str, msgspec.Meta(description="Address of the service.")] = BASE_URL
    prefill: Forcible = "no"


class Anthropic(ServiceAdapter):
    """Answers of the Messages API."""

    Options: ClassVar[type[msgspec.Struct]] = AnthropicOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = ("text",)
    key_env: ClassVar[str | None] = "ANTHROPIC_API_KEY"

    @staticmethod
    @contextmanager
    def stub(card: ModelCard, folder: Path) -> Iterator[Mapping[str, Any]]:
        """A strict stand-in on loopback."""
        from vgen_eval_plugins.standins.anthropic import MODEL, AnthropicService

        del folder
        with planted_key(card) as key, AnthropicService(key=key) as service:
            service.continues = card.options.get("prefill") == "forced"
            yield {"model": MODEL, "base_url": service.url}

    def load(self) -> None:
        """Checks the card's call arguments, and makes the client.

        UsageError for an argument that the API has none of; MissingExtra, MissingKey.
        """
        try:
            import anthropic
        except ImportError:
            raise MissingExtra("api") from None
        line, key = self.connect("anthropic", loggers=("anthropic",))
        more = {"open_telemetry": False}  # traces may hold requests, pictures and all
        client = anthropic.Anthropic(
            api_key=key or NO_KEY,
            base_url=self.options.base_url,
            timeout=self.timeout,
            max_retries=0,
            http_client=line.open(anthropic.DefaultHttpxClient),
            **{name: value for name, value in more.items() if name in _parameters(anthropic)},
        )
        # headers of ANTHROPIC_CUSTOM_HEADERS: no argument keeps the SDK from reading them
        client._custom_headers = {}
        check_arguments(
            self.generation,
            known=parameters_of(client.messages.create),
            ours=OURS,
            call="messages.create",
            cure=CURE,
        )
        self._client = client

    def answer(self, request: Request) -> Output:
        """What one call came to."""
        from vgen_eval_plugins.models.anthropic.answers import read_message
        from vgen_eval_plugins.models.anthropic.faults import read_fault

        service = self.line.service
        reply = self._ask(request)
        body = read_object(reply.text, host=service.host)
        if "error" in body and "content" not in body:  # as some gateways do, under a 200
            raise read_fault(None, body, service=service, headers=reply.headers)
        return read_message(
            body,
            request,
            request_id=reply.headers.get("request-id"),
            reported_date=date_of(reply.headers),
        )

    def _ask(self, request: Request) -> Reply:
        """The response as it came; our own errors for everything else."""
        from vgen_eval_plugins.models.anthropic.faults import read_fault

        service = self.line.service
        pictures = [part for part in shown(request) if isinstance(part, Image)]
        files = [encode(picture, self.options.image_format) for picture in pictures]
        arguments = {"max_tokens": MAX_TOKENS, **request.settings}
        messages = self._messages(request, files)
        try:
            return self.line.ask(
                lambda: self._client.messages.with_raw_response.create(
                    model=self.model,
                    messages=messages,
                    extra_body=dict(self.options.extra_body) or None,
                    **arguments,
                ),
                lambda reply: read_fault(
                    reply.status,
                    reply.content,
                    service=service,
                    headers=reply.headers,
                    sent=self._described(pictures, files),
                ),
            )
        except (TypeError, ValueError) as exc:  # a value that the SDK does not take
            raise UsageError(f"generation: {exc}") from None

    def _messages(self, request: Request, files: Sequence[bytes]) -> list[Mapping[str, Any]]:
        """The user's turn, in its order, and the beginning of the model's where it goes on.

        `files`: those of the pictures. The order of a request without one, pictures first, is
        what the provider advises.
        """
        left = iter(files)
        content: list[Mapping[str, Any]] = []
        for part in shown(request):
            if not isinstance(part, str):
                content.append(self._picture(next(left)))
            elif part.strip():  # a blank text is none that the API takes
                content.append({"type": "text", "text": sound(part)})
        messages: list[Mapping[str, Any]] = [{"role": "user", "content": content}]
        if self.forces_prefix(request):
            # white space at the end of the last turn is refused
            messages.append({"role": "assistant", "content": sound(request.prefix).rstrip()})
        return messages

    def _picture(self, data: bytes) -> Mapping[str, Any]:
        source = {
            "type": "base64",
            "media_type": MIME[self.options.image_format],
            "data": base64.b64encode(data).decode(),
        }
        return {"type": "image", "source": source}

    def _described(self, pictures: Sequence[Image], files: Sequence[bytes]) -> list[str]:
        form = self.options.image_format
        return [
            f"{image.width}x{image.height}, {len(data) / 1e6:.1f} MB as {form}"
            for image, data in zip(pictures, files, strict=True)
        ]


def _parameters(anthropic: Any) -> frozenset[str]:
    return parameters_of(anthropic.Anthropic.__init__)
