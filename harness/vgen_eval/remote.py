"""What every adapter of a service needs: waits that a service asks for, and files it points to.

A file is fetched over https alone and never from a private address, whatever a service says; the
one exception is the very origin that the user named.
"""

from __future__ import annotations

import contextlib
import email.utils
import http.client
import ipaddress
import math
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from vgen_eval.errors import Transient, Undecodable, UsageError
from vgen_eval.imaging import MAX_BYTES

__all__ = ["endpoint_of", "fetch", "is_loopback", "retry_after"]

REDIRECTS = 5
CHUNK = 1 << 16
DEFAULT_PORTS = {"https": 443, "http": 80}

_HOST = re.compile(r"[^\s\x00-\x20\x7f@\\/?#]+")
_NAME = re.compile(r"(?=.{1,254}$)([a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?")
"""What a service's name is made of: all that reads it reads it alike."""
_TWO_FORMS = re.compile("[\u00df\u03c2\u200c\u200d]")
"""Letters of names that IDNA 2003 and 2008 put differently: who is meant cannot be said."""
_NUMBERS = re.compile(r"([^.]*\.)*(\d+|0x[0-9a-f]*)\.?")
"""What is read as an IPv4 address: its last label is a number (WHATWG URL, section 3.5)."""
_NO_ADDRESS = re.compile(r"[\s\x00-\x20\x7f]")
_PATH = "/%:@!$&'()*+,;=~"
"""What stands in paths as it is, beside letters and digits (RFC 3986, section 3.3)."""


def retry_after(headers: Mapping[str, str], *, now: float | None = None) -> float | None:
    """Seconds that a service asks to wait, by `retry-after-ms` or `Retry-After`.

    Retry-After is seconds or an HTTP date in any of its three forms (RFC 9110, sections 10.2.3 and
    5.6.7); a date that is over is 0.
    None where there is none, or none that means anything (negative, NaN, a word): the engine then
    waits as after any fault. `now`: seconds since 1970, for dates.
    """
    lower = {str(name).lower(): str(value).strip() for name, value in headers.items()}
    millis = _seconds(lower.get("retry-after-ms"))
    if millis is not None:
        return millis / 1000
    text = lower.get("retry-after")
    seconds = _seconds(text)
    if seconds is not None or text is None:
        return seconds
    try:
        date = email.utils.parsedate_to_datetime(text)
        if date.tzinfo is None:  # the asctime form, which is in UTC as all of them are
            date = date.replace(tzinfo=UTC)
        until = date.timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, until - (time.time() if now is None else now))


def _seconds(text: str | None) -> float | None:
    try:
        number = float(text) if text else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def endpoint_of(base_url: str) -> str:
    """host[:port] of a service's address, the port where it is not the scheme's own.

    UsageError unless it is an http or https address without user, password, query or fragment,
    whose host is an IP address or a name of ASCII letters, digits, hyphens and dots: what is shown
    is then what is called. Other names are given in their ASCII form (punycode).
    """
    shown = _shown(base_url)
    if _NO_ADDRESS.search(base_url):  # urlsplit would pass over some of it in silence
        raise UsageError(f"base_url {shown!r} holds a blank or a line break")
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError as exc:
        why = exc if base_url.isascii() else "its host is no name"  # it may repeat a password
        raise UsageError(f"base_url {shown!a}: {why}") from None
    if parts.scheme not in DEFAULT_PORTS or not host:
        raise UsageError(f"base_url {shown!a} is no address", cure="https://HOST[:PORT]/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError(
            "base_url holds a user, a password or a query, which would be written down",
            cure="keep to https://HOST[:PORT]/PATH and name the key's variable: needs.key_env",
        )
    _check_host(host, shown, bracketed="[" in parts.netloc)
    host = f"[{host}]" if ":" in host else host
    return host if port in (None, DEFAULT_PORTS[parts.scheme]) else f"{host}:{port}"


def _check_host(host: str, shown: str, *, bracketed: bool) -> None:
    """UsageError for a host that two programs could read differently."""
    address = f"base_url {shown!a}"
    if not host.isascii():
        try:
            name = "" if _TWO_FORMS.search(host) else host.encode("idna").decode().lower()
        except ValueError:
            name = ""
        known = _NAME.fullmatch(name) is not None
        raise UsageError(
            f"{address}: its host is not ASCII" + (f", its ASCII form is {name}" if known else ""),
            cure=f"write {name}   if that is who is meant" if known else "https://HOST[:PORT]/v1",
        )
    if bracketed or _NUMBERS.fullmatch(host):
        with contextlib.suppress(ValueError):
            if "%" not in host and ipaddress.ip_address(host):
                return
        raise UsageError(f"{address}: '{host}' is no IP address", cure="such as 127.0.0.1 or [::1]")
    if not _NAME.fullmatch(host):
        raise UsageError(
            f"{address}: '{host}' is no name of a host: letters, digits, hyphens and dots",
            cure="https://HOST[:PORT]/v1",
        )


def is_loopback(host: str) -> bool:
    """Is the host of an endpoint this machine, by its name?"""
    name = urlsplit(f"//{host}").hostname or ""
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def fetch(
    url: str, *, trusted: str | None = None, limit: int = MAX_BYTES, timeout: float = 60.0
) -> bytes:
    """The bytes of a file that a service points to, at most `limit` of them.

    `trusted`: the service's own address; its origin may be plain http and private. Redirects are
    held to the same rule. Undecodable for an address that is not to be asked, a status that is no
    success, or too large a file; Transient for what may pass.
    """
    deadline = time.monotonic() + timeout
    for _ in range(REDIRECTS + 1):
        found = _get(url, trusted=trusted, limit=limit, deadline=deadline)
        if isinstance(found, bytes):
            return found
        try:
            url = urljoin(url, found)
        except ValueError:
            raise Undecodable(f"{_shown(url)}: it moved to no address") from None
    raise Undecodable(f"{_shown(url)}: more than {REDIRECTS} redirects")


def _get(url: str, *, trusted: str | None, limit: int, deadline: float) -> bytes | str:
    """The file, or the address that it has moved to."""
    parts = _read_url(url)
    own = trusted is not None and _origin(parts) == _origin(_read_url(trusted))
    if parts.scheme != "https" and not own:
        raise Undecodable(f"{_shown(url)}: not fetched, https only")
    connection = _connection(parts, public=not own, timeout=_left(deadline, _shown(url)))
    try:
        connection.connect()
        with _cut_off(connection.sock, deadline):
            path = quote(parts.path or "/", safe=_PATH)
            query = f"?{quote(parts.query, safe=_PATH + '?')}" if parts.query else ""
            named = {"Accept": "*/*", "Accept-Encoding": "identity"}
            connection.request("GET", path + query, headers=named)
            return _answer(connection.getresponse(), _shown(url), limit=limit, deadline=deadline)
    except ssl.SSLCertVerificationError as exc:
        raise Undecodable(
            f"{_shown(url)}: its certificate cannot be verified: {exc.verify_message}"
        ) from None
    except (OSError, http.client.HTTPException) as exc:
        _left(deadline, _shown(url))  # what was cut off for its slowness says so
        raise Transient(f"{_shown(url)}: {type(exc).__name__}: {exc}") from None
    finally:
        connection.close()


def _answer(
    answer: http.client.HTTPResponse, what: str, *, limit: int, deadline: float
) -> bytes | str:
    if answer.status in (301, 302, 303, 307, 308):
        moved = answer.getheader("Location")
        if not moved:
            raise Undecodable(f"{what}: status {answer.status} to nowhere")
        return moved
    if answer.status in (408, 425, 429, 500, 502, 503, 504):
        raise Transient(f"{what}: status {answer.status}")
    if answer.status != 200:
        raise Undecodable(f"{what}: status {answer.status}")
    return _read(answer, what, limit=limit, deadline=deadline)


def _read(answer: http.client.HTTPResponse, what: str, *, limit: int, deadline: float) -> bytes:
    declared = answer.length
    if declared is not None and declared > limit:
        raise Undecodable(f"{what}: {declared} bytes, over the limit of {limit}")
    data = bytearray()
    while chunk := answer.read1(CHUNK):
        data += chunk
        if len(data) > limit:
            raise Undecodable(f"{what}: over the limit of {limit} bytes")
        _left(deadline, what)
    _left(deadline, what)  # cut off, an answer without a length looks complete
    if declared is not None and len(data) < declared:
        raise http.client.IncompleteRead(bytes(data[:0]), declared - len(data))
    return bytes(data)


def _left(deadline: float, what: str) -> float:
    """Seconds until the deadline; Transient when it is over."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise Transient(f"{what}: the file took too long")
    return left


@contextlib.contextmanager
def _cut_off(connected: socket.socket, deadline: float) -> Iterator[None]:
    """Ends the connection at the deadline: a time-out of each read alone lets headers trickle."""

    def cut() -> None:
        with contextlib.suppress(OSError):
            # TLS sockets have a method of their own, which a reader in another thread trips over
            socket.socket.shutdown(connected, socket.SHUT_RDWR)

    timer = threading.Timer(max(0.0, deadline - time.monotonic()), cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _connection(parts: SplitResult, *, public: bool, timeout: float) -> http.client.HTTPConnection:
    """A connection to an address that was looked at: the name is not asked for a second time."""
    host = parts.hostname or ""
    port = parts.port or DEFAULT_PORTS[parts.scheme]
    try:
        known = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as exc:
        raise Transient(f"{host}: not found: {exc}") from None
    except ValueError as exc:  # a name that no host can have
        raise Undecodable(f"{host}: no host: {exc}") from None
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in known))
    if public and any(not _is_public(address) for address in addresses):
        raise Undecodable(f"{host}: not fetched, a private address")
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        connection = http.client.HTTPSConnection(
            host, port, timeout=timeout, context=ssl.create_default_context()
        )
    else:
        connection = http.client.HTTPConnection(host, port, timeout=timeout)

    def create(_address: Any, *more: Any, **named: Any) -> socket.socket:
        for address in addresses[:-1]:
            with contextlib.suppress(OSError):
                return socket.create_connection((address, port), *more, **named)
        return socket.create_connection((addresses[-1], port), *more, **named)

    # the connection is made to the address that was checked, and TLS checks the name
    connection._create_connection = create  # type: ignore[attr-defined]
    return connection


def _is_public(address: str) -> bool:
    found = ipaddress.ip_address(address.partition("%")[0])
    inside = _embedded(found) or found
    local = getattr(inside, "is_site_local", False)
    return inside.is_global and not inside.is_multicast and not local


def _embedded(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 address leads to: mapped, 6to4, NAT64, or the old notation."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address.ipv4_mapped or address.sixtofour:
        return address.ipv4_mapped or address.sixtofour
    if address.packed[:12] in (bytes(12), bytes.fromhex("0064ff9b") + bytes(8)):
        return ipaddress.IPv4Address(address.packed[12:])
    return None


def _read_url(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as exc:
        raise Undecodable(f"{_shown(url)}: no address: {exc}") from None
    host = parts.hostname or ""
    if parts.scheme not in DEFAULT_PORTS or not _HOST.fullmatch(host) or parts.username:
        raise Undecodable(f"{_shown(url)}: not fetched, https only")
    return parts


def _origin(parts: SplitResult) -> tuple[str, str, int]:
    return parts.scheme, parts.hostname or "", parts.port or DEFAULT_PORTS[parts.scheme]


def _shown(url: str) -> str:
    """The address without what may be secret: its query, which may be signed, and its user."""
    head = re.split(r"[?#]", url, maxsplit=1)[0]
    scheme, found, rest = head.partition("://")
    host, slash, path = rest.partition("/")
    bare = f"{scheme}{found}{host.rpartition('@')[2]}{slash}{path}" if found else head
    return bare[:200]
