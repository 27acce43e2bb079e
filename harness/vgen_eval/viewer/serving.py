"""Listens for the viewer: a port that is free, an address to open, a server that ends quietly."""

from __future__ import annotations

import atexit
import contextlib
import errno
import logging
import os
import secrets
import select
import socket
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import quote

from vgen_eval.errors import NotRunnable, UsageError
from vgen_eval.viewer.security import is_loopback
from vgen_eval.viewer.site import DEFAULT_PORT

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

    from vgen_eval.viewer.site import Site

__all__ = ["address_of", "listen", "make_server", "make_token", "serve", "token_for"]

PATIENCE_S = 2.5
"""For requests in flight, once it is to end."""
TRIES = 50
"""Ports above the default one that are tried."""


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that is bound; `port` None: the default or the next that is free; 0: any.

    UsageError for a host that is none of this machine's; NotRunnable for a port that was asked
    for and is in use, or may not be taken.
    """
    wanted = range(DEFAULT_PORT, DEFAULT_PORT + TRIES) if port is None else (port,)
    family, bare = _family(host)
    for number in wanted:
        found = socket.socket(family, socket.SOCK_STREAM)
        try:
            # of a server that has just ended its port is free at once; of one that runs it is not
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind((bare, number))
            found.listen(128)
            return found
        except OSError as exc:
            found.close()
            if port is None and exc.errno in (errno.EADDRINUSE, errno.EACCES):
                continue
            raise _tell(exc, host, number) from exc
    raise NotRunnable(
        f"no port from {wanted[0]} to {wanted[-1]} is free on {host}",
        cure="--port 0 takes any that is free",
    )


def _family(host: str) -> tuple[socket.AddressFamily, str]:
    bare = host.strip("[]")
    try:
        found = socket.getaddrinfo(bare, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as exc:
        raise UsageError(
            f"--host {host}: no such host", cure="127.0.0.1 is this machine alone"
        ) from exc
    # localhost has both: the older one is what every tool tries
    family = next((entry[0] for entry in found if entry[0] == socket.AF_INET), found[0][0])
    return family, bare


def _tell(exc: OSError, host: str, port: int) -> Exception:
    if exc.errno == errno.EADDRINUSE:
        return NotRunnable(
            f"port {port} on {host} is in use",
            cure=f"leave --port out for the next free one from {DEFAULT_PORT}, or --port 0",
        )
    if exc.errno == errno.EACCES:
        return NotRunnable(
            f"port {port} on {host} may not be taken", cure="choose one above 1023, or --port 0"
        )
    return UsageError(
        f"--host {host}: cannot listen there: {exc.strerror or exc}",
        cure="127.0.0.1 is this machine alone, 0.0.0.0 every address of it",
    )


def make_token() -> str:
    """A token of 128 bits, safe in an address."""
    return secrets.token_urlsafe(16)


def token_for(host: str, chosen: str | None) -> str | None:
    """The token that was chosen; one that is made, where others reach the host; else none."""
    if chosen:
        return chosen
    return None if is_loopback(host) else make_token()


def address_of(site: Site, page: str = "") -> str:
    """What a browser opens, the token in it where there is one; `page`: below the first one."""
    host = site.host.strip("[]")
    if host in ("0.0.0.0", "::"):  # noqa: S104  a name to reach it by
        host = socket.gethostname()
    name = f"[{host}]" if ":" in host else host
    token = f"?token={quote(site.token, safe='')}" if site.token else ""
    return f"http://{name}:{site.port}/{page}{token}"


def make_server(app: ASGIApp) -> uvicorn.Server:
    """A server without a word of its own: `run(sockets=[...])` ends at Ctrl-C or `should_exit`."""
    import uvicorn

    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=1,
            proxy_headers=False,
            h11_max_incomplete_event_size=64 * 1024,
        )
    )


def serve(
    server: uvicorn.Server, heard: socket.socket, *, exit_code: Callable[[], int] = lambda: 0
) -> None:
    """Serves until a KeyboardInterrupt, which is the wish to end; a second one ends it at once.

    Requests in flight have `PATIENCE_S`. What is drawn then still cannot be stopped: the process,
    once it comes to its end, ends under it with `exit_code()`.
    """
    # a pipe, not an Event: a second signal may come while the first one is leaving a lock
    ended, end = os.pipe()
    faults: list[BaseException] = []

    def work() -> None:
        try:
            server.run(sockets=[heard])
        except BaseException as exc:  # told in the main thread
            faults.append(exc)
        finally:
            os.close(end)

    # a daemon, as are the threads that it begins: no end of the process waits for them
    thread = threading.Thread(target=work, name="serving", daemon=True)
    before = set(threading.enumerate())
    with contextlib.suppress(KeyboardInterrupt):
        try:
            thread.start()
            select.select([ended], [], [])
        except KeyboardInterrupt:
            # that tasks are cancelled is no error
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL + 1)
            server.should_exit = True
            select.select([ended], [], [], PATIENCE_S)
    os.close(ended)
    atexit.register(_end_under, before, exit_code)
    if faults:
        raise faults[0]


def _end_under(before: set[threading.Thread], exit_code: Callable[[], int]) -> None:
    """Ends the process where threads are at work in libraries that take no end of Python well."""
    if all(thread in before or not thread.is_alive() for thread in threading.enumerate()):
        return
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()
    os._exit(exit_code())
