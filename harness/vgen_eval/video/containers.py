"""Which container a video file is, by its first bytes, and whether its end is missing.

The reader is named to the library, never guessed by it: among those it would try are play lists,
which name other files and addresses.
"""

from __future__ import annotations

__all__ = ["is_cut", "name_container"]

_BOXES = (b"ftyp", b"moov", b"mdat", b"moof", b"styp", b"free", b"skip", b"wide")
_SEGMENT = b"\x18\x53\x80\x67"
_HEAD = 4096
_GIF_END = b"\x3b"


def name_container(data: bytes) -> str | None:
    """The library's name of the container: mov (MP4 too), matroska (WebM), gif, avi; else None."""
    if data[4:8] in _BOXES:
        return "mov"
    if data.startswith(b"\x1aE\xdf\xa3"):
        return "matroska"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    return "avi" if data.startswith(b"RIFF") and data[8:12] == b"AVI " else None


def is_cut(data: bytes, container: str) -> bool:
    """Does the file end before the place that it gives as its end?

    Only for containers whose reader does not notice: WebM says how long its segment is, a GIF ends
    in a semicolon. An MP4 is asked packet by packet.
    """
    if container == "gif":
        return not data.rstrip(b"\x00").endswith(_GIF_END)
    if container != "matroska":
        return False
    at = data.find(_SEGMENT, 0, _HEAD)
    if at < 0 or at + 4 >= len(data):
        return True
    size = _read_size(data, at + 4)
    return size is not None and size > len(data)


def _read_size(data: bytes, at: int) -> int | None:
    """Where the element whose size stands at `at` ends; None where the size is left open."""
    length = 9 - data[at].bit_length()  # a number's own length is in its leading zeros
    if length > 8 or at + length > len(data):
        return None
    value = int.from_bytes(data[at : at + length], "big") & ((1 << 7 * length) - 1)
    return None if value == (1 << 7 * length) - 1 else at + length + value
