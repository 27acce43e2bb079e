"""A process without a network: connections beyond this machine fail and are written down."""

from __future__ import annotations

import errno
import socket
from typing import Any

import msgspec

__all__ = ["Attempts", "block", "unblock"]

_LOCAL = ("localhost", "::1", "0.0.0.0", "::")  # noqa: S104
_REAL = {name: getattr(socket.socket, name) for name in ("connect", "connect_ex")}
_LOOK_UP = socket.getaddrinfo


class Attempts(msgspec.Struct):
    """The hosts that were tried so far."""

    beyond: list[str] = []
    """Others than this machine: each try failed."""
    here: list[str] = []
    """On this machine: servers of its own are no network."""


def block() -> Attempts:
    """Blocks it from here on; what is given back grows by each host that is tried.

    A second time: what is tried goes to the new record alone.
    """
    attempts = Attempts(beyond=[], here=[])

    def refuse(host: Any) -> OSError:
        attempts.beyond.append(str(host))
        return OSError(errno.ENETUNREACH, "no network while the contract is checked")

    def guard(name: str) -> Any:
        def connect(self: socket.socket, address: Any) -> Any:
            if isinstance(address, tuple) and not _is_local(address[0]):
                raise refuse(address[0])
            attempts.here.append(str(address))
            return _REAL[name](self, address)

        return connect

    def getaddrinfo(host: Any, *more: Any, **named: Any) -> Any:
        if host is not None and not _is_local(host):
            raise refuse(host)
        return _LOOK_UP(host, *more, **named)

    socket.socket.connect = guard("connect")  # type: ignore[method-assign]
    socket.socket.connect_ex = guard("connect_ex")  # type: ignore[method-assign]
    socket.getaddrinfo = getaddrinfo
    return attempts


def unblock() -> None:
    """Undoes it."""
    for name, real in _REAL.items():
        setattr(socket.socket, name, real)
    socket.getaddrinfo = _LOOK_UP


def _is_local(host: Any) -> bool:
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    return text in ("", *_LOCAL) or text.removeprefix("::ffff:").startswith("127.")
