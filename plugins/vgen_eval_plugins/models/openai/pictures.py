"""Pictures of an answer, wherever they stand: in base64, in a data URI, at an address."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from vgen_eval.errors import CallError, Undecodable
from vgen_eval.remote import fetch as fetch_file

from vgen_eval_plugins.models.payloads import from_base64, no_picture

__all__ = ["SEVERAL", "Fetcher", "Found", "fetcher", "pick"]

Fetcher = Callable[[str], bytes]
"""Address or data URI -> bytes."""
SEVERAL = "several_images"
"""Flag: the answer held more than one picture, and the last of them was taken."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The picture that is the answer, and what came beside it."""

    answer: bytes | None = None
    reason: str | None = None
    """Why there is none, where something came in its place."""
    others: tuple[bytes, ...] = ()
    flags: tuple[str, ...] = ()
    made: int = 0


def fetcher(*, trusted: str, seconds: Callable[[], float | None]) -> Fetcher:
    """Reads data URIs, and fetches addresses: see `vgen_eval.remote.fetch`.

    `trusted`: the service's own address; `seconds`: the time that is left.
    """

    def get(url: str) -> bytes:
        if url.startswith("data:"):
            return from_base64(url)
        try:
            return fetch_file(url, trusted=trusted, timeout=seconds() or 600.0)
        except Undecodable as exc:  # an address that is not asked: no picture was seen
            raise CallError(f"the picture was not fetched: {exc.what}") from None

    return get


def pick(files: Sequence[bytes]) -> Found:
    """The last file that is a picture by its bytes; what is none says why."""
    pictures = [data for data in files if no_picture(data) is None]
    if pictures:
        *others, answer = pictures
        flags = (SEVERAL,) if others else ()
        return Found(answer=answer, others=tuple(others), flags=flags, made=len(pictures))
    return Found(reason=no_picture(files[-1]) if files else None)
