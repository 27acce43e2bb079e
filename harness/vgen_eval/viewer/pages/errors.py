"""Pages for what went wrong: what, why, what next; never a trace."""

from __future__ import annotations

import logging
import secrets

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from vgen_eval.errors import NotRunnable, UsageError
from vgen_eval.viewer.absent import NoSuchPage
from vgen_eval.viewer.staging.templating import page

__all__ = ["answer", "refuse"]

_log = logging.getLogger(__name__)

TITLES = {
    400: "This address cannot be read",
    401: "This viewer asks for its token",
    403: "Refused",
    404: "Not here",
    405: "Only for reading",
    409: "This cannot be shown",
    421: "Asked by another name",
    500: "This page failed",
}


def answer(request: Request, exc: Exception) -> Response:
    """The page for what a handler raised; what nobody foresaw is logged under a short id."""
    if isinstance(exc, HTTPException):
        return _say(request, exc.status_code, "There is no such page.", None)
    if isinstance(exc, NoSuchPage):
        return _say(request, 404, exc.what, exc.cure)
    if isinstance(exc, UsageError):
        return _say(request, 400, exc.what, exc.cure)
    if isinstance(exc, NotRunnable):
        return _say(request, 409, exc.what, exc.cure)
    mark = secrets.token_hex(4)
    _log.error("page failed, id %s: %s", mark, request.url.path, exc_info=exc)
    return _say(
        request,
        500,
        f"An error that was not foreseen, noted as {mark}.",
        "Where vgen-eval view was started, the log has it under this id.",
    )


def refuse(request: Request, status: int, what: str, *, link: str | None = None) -> Response:
    """The page for a request that no handler sees; `link`: where to go on, in the reader's hand."""
    return _say(request, status, what, None, link)


def _say(
    request: Request, status: int, what: str, cure: str | None, link: str | None = None
) -> Response:
    return page(
        request,
        "error.html",
        status=status,
        title=TITLES.get(status, "Error"),
        what=what,
        cure=cure,
        link=link,
    )
