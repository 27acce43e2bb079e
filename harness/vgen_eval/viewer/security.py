"""Who may ask, and what every answer carries: host, origin, token, method; headers, error pages."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from vgen_eval.viewer.pages.errors import answer, refuse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from vgen_eval.viewer.site import Site

__all__ = ["POLICY", "Guard", "is_loopback"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
PRIVATE = "no-cache, private"
"""Of whatever says nothing of its own: kept by nobody else, asked for anew."""
METHODS = ("GET", "HEAD")
STATIC = "/static/"
EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104  it needs a token


def is_loopback(host: str) -> bool:
    """Does this machine alone reach it?"""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.rstrip(".").lower() == "localhost"


class Guard:
    """ASGI middleware around everything; an error that a handler raises becomes a page here."""

    def __init__(self, app: ASGIApp, *, site: Site) -> None:
        self._app = app
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        begun = False

        async def send_guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                _complete(MutableHeaders(scope=message))
            await send(message)

        request = Request(scope, receive)
        refusal = self._refuse(request)
        if refusal is not None:
            await refusal(scope, receive, send_guarded)
            return
        try:
            await self._app(scope, receive, send_guarded)
        except Exception as exc:  # the last resort: no trace leaves the machine
            if begun:
                raise
            await answer(request, exc)(scope, receive, send_guarded)

    def _refuse(self, request: Request) -> Response | None:
        """What a request gets that no page sees; None: it may go on."""
        if not self._is_ours(request.headers):
            return _plain(
                421,
                f"This viewer answers to {self._names()}. Reached through a tunnel, it needs the "
                f"same port on both sides: ssh -L {self._site.port}:127.0.0.1:{self._site.port}",
            )
        if request.method not in METHODS:
            return _plain(405, "Only GET and HEAD: this viewer changes nothing.", allow="GET, HEAD")
        if not request.scope["path"].startswith("/"):
            return _plain(400, "A path is asked for here: GET /, not a whole address.")
        if request.headers.get("sec-fetch-site", "").strip().lower() == "cross-site":
            return self._cross_site(request)
        return self._check_token(request)

    def _is_ours(self, headers: Headers) -> bool:
        """Is the request's one Host a name of ours? Another's name may lead here: rebinding."""
        given = headers.getlist("host")
        if len(given) != 1:
            return False
        host, port = _split_host(given[0])
        if host is None or (80 if port is None else port) != self._site.port:
            return False
        if is_loopback(self._site.host):
            return is_loopback(host)
        if host == self._site.host.strip("[]").lower() or is_loopback(host):
            return True
        # bound to every address: an address of a machine cannot be rebound, its own name is known
        return self._site.host in EVERYWHERE and (_is_address(host) or host in _own_names())

    def _names(self) -> str:
        host = self._site.host
        name = f"[{host}]" if ":" in host and not host.startswith("[") else host
        return f"{name or 'this machine'}:{self._site.port}"

    def _cross_site(self, request: Request) -> Response:
        """Another site's page asked. A person who followed its link may go on from here."""
        followed = (
            request.headers.get("sec-fetch-mode") == "navigate"
            and request.headers.get("sec-fetch-dest") == "document"
        )
        if not followed:
            return _plain(403, "Another site may not ask this viewer.")
        link = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        what = "A link of another site led here. If you meant to follow it, go on."
        return refuse(request, 403, what, link=f"/{link.lstrip('/')}")

    def _check_token(self, request: Request) -> Response | None:
        """None with the right cookie; from the address once into the cookie; else a page."""
        token = self._site.token
        if token is None or request.url.path.startswith(STATIC):
            return None
        cookie = f"vgen_eval_view_{self._site.port}"
        if not _same(request.query_params.get("token", ""), token):
            if _same(request.cookies.get(cookie, ""), token):
                return None
            what = "Open the whole address that vgen-eval view printed: its end is the token."
            return refuse(request, 401, what)
        pairs = parse_qsl(request.url.query, keep_blank_values=True)
        rest = urlencode([(name, value) for name, value in pairs if name != "token"])
        path = "/" + request.url.path.lstrip("/")  # never //elsewhere
        found = RedirectResponse(path + (f"?{rest}" if rest else ""), status_code=303)
        found.set_cookie(cookie, token, httponly=True, samesite="strict", path="/")
        return found


def _complete(headers: MutableHeaders) -> None:
    """What every answer carries; a stricter policy of its own stays."""
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    headers.setdefault("cache-control", PRIVATE)
    del headers["access-control-allow-origin"]


def _plain(status: int, text: str, **headers: str) -> Response:
    return Response(f"{text}\n", status_code=status, media_type="text/plain", headers=headers)


def _same(given: str, token: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "replace"), token.encode())


def _split_host(text: str) -> tuple[str | None, int | None]:
    """Host and port of a Host header, IPv6 without its brackets; (None, None) where it is none."""
    if text.startswith("["):
        host, mark, rest = text[1:].partition("]")
        if not mark or (rest and not rest.startswith(":")):
            return None, None
        port = rest[1:]
    else:
        host, _, port = text.partition(":")
    if port and not (port.isascii() and port.isdigit() and len(port) <= 5):
        return None, None
    return host.rstrip(".").lower() or None, int(port) if port else None


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _own_names() -> set[str]:
    name = socket.gethostname().lower()
    return {name, f"{name}.local", socket.getfqdn().lower()}
