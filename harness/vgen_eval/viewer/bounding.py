"""How many requests are answered at one time: each holds an attempt's pixels while it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["THREADS", "Bounding"]

THREADS = 8
"""Requests at one time; the others wait in line."""


class Bounding:
    """Gives the server's pool of threads this size."""

    def __init__(self, app: ASGIApp, threads: int = THREADS) -> None:
        self.app = app
        self.threads = threads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI has it."""
        from anyio.to_thread import current_default_thread_limiter

        # one for each loop, which is there only now
        limiter = current_default_thread_limiter()
        if limiter.total_tokens != self.threads:
            limiter.total_tokens = self.threads
        await self.app(scope, receive, send)
