"""Pictures of an answer, in base64, in a data URI or at an address: which of them is the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from vgen_eval.errors import CallError, Undecodable
from vgen_eval.remote import fetch as fetch_file

from vgen_eval_plugins.models.payloads import from_base64, no_picture
from vgen_eval_plugins.models.wire import MAX_REPLY

__all__ = ["SEVERAL", "Fetcher", "Found", "fetcher", "open_picture", "pick"]

Fetcher = Callable[[str], bytes | str]
"""Address or data URI -> the bytes of a picture, or why they are none."""
LONGEST_S = 600.0
"""Of a fetch where the card sets no limit."""
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


def open_picture(text: str) -> bytes | str:
    """The bytes of a picture in base64, or why they are none: whatever type they are said to be."""
    try:
        data = from_base64(text)
    except CallError as exc:
        return exc.what
    return no_picture(data) or data


def fetcher(*, trusted: str, seconds: Callable[[], float | None]) -> Fetcher:
    """Reads data URIs, and fetches addresses: see `vgen_eval.remote.fetch`.

    `trusted`: the service's own address; `seconds`: the time that is left.
    """

    def get(url: str) -> bytes | str:
        if url.startswith("data:"):
            return open_picture(url)
        try:
            data = fetch_file(url, trusted=trusted, limit=MAX_REPLY, timeout=seconds() or LONGEST_S)
        except Undecodable as exc:  # an address that is not asked: no picture was seen
            raise CallError(f"the picture was not fetched: {exc.what}") from None
        return no_picture(data) or data

    return get


def pick(files: Sequence[bytes | str]) -> Found:
    """The last picture; where there is none, what the last file is instead."""
    pictures = [data for data in files if isinstance(data, bytes)]
    if pictures:
        *others, answer = pictures
        flags = (SEVERAL,) if others else ()
        return Found(answer=answer, others=tuple(others), flags=flags, made=len(pictures))
    faults = [fault for fault in files if isinstance(fault, str)]
    return Found(reason=faults[-1] if faults else None)
