"""A model behind an HTTP service: asks it for each number, and says in our words what it says."""

from __future__ import annotations

import http.client
import json
import queue
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import urlsplit

import msgspec
from vgen_eval import BaseAdapter, Output, RateLimited, Request, Transient, Usage
from vgen_eval.errors import AccessDenied
from vgen_eval.remote import endpoint_of, retry_after

from toybench.parts import number_in


class Service(BaseAdapter):
    """Keeps its connections; those that failed are closed."""

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        base_url: str
        at_once: int = 24

    forms = ("text",)
    key_env = "TOYBENCH_SERVICE_KEY"
    timeout_s: ClassVar[float | None] = 1.5

    def __init__(self, options: Any, *, card: Any = None, device: str | None = None) -> None:
        super().__init__(options, card=card, device=device)
        self.endpoint = endpoint_of(options.base_url)
        self.concurrency = options.at_once
        self._free: queue.SimpleQueue[http.client.HTTPConnection] = queue.SimpleQueue()

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        for request in requests:
            status, headers, said = self._ask(request)
            name = headers.get("x-request-id")
            usage = Usage(**said["usage"]) if "usage" in said else None
            if status == 429:
                raise RateLimited("too many", retry_after=retry_after(headers), request_id=name)
            if status == 401:
                raise AccessDenied("status 401", cure="another key")
            if status != 200:
                raise Transient(f"status {status}", usage=usage, request_id=name)
            yield Output(
                id=request.id, answer=said["answer"], usage=usage, request_id=name,
                reported_model=said["model"],
            )  # fmt: skip

    def _ask(self, request: Request) -> tuple[int, Mapping[str, str], Mapping[str, Any]]:
        parts = urlsplit(self.options.base_url)
        try:
            connection = self._free.get_nowait()
        except queue.Empty:
            connection = http.client.HTTPConnection(
                parts.hostname or "", parts.port, timeout=self.timeout
            )
        key = self.key()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        body = json.dumps({"id": request.id, "number": number_in(request.images[0])})
        try:
            connection.request("POST", "/answers", body=body, headers=headers)
            answer = connection.getresponse()
            said = json.loads(answer.read())
        except TimeoutError:
            connection.close()
            raise TimeoutError("no answer in time") from None
        except (OSError, http.client.HTTPException, ValueError) as exc:
            connection.close()
            raise Transient(type(exc).__name__) from None
        self._free.put(connection)
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, said

    def close(self) -> None:
        while not self._free.empty():
            self._free.get().close()
