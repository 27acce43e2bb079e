"""What a report carries inside: pictures and clips as data, numbers as scripts of text."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping

import msgspec

from vgen_eval import jsonio
from vgen_eval.imaging import resize
from vgen_eval.store.run import RunStore
from vgen_eval.viewer.drawing.fields import field_of, has_field
from vgen_eval.viewer.drawing.render import Style, draw, encode_webp
from vgen_eval.viewer.looking import Look, Shown
from vgen_eval.viewer.strips import strip_of
from vgen_eval.viewing import ClassMap, Film, Marks

__all__ = ["Field", "ReportMedia"]

FRAME_SIDE = 320
"""Pixels of the long side of a frame in a strip."""
CLIPS: Mapping[str, bytes] = {"video/mp4": b"ftyp", "video/webm": b"\x1a\x45\xdf\xa3"}
"""Type -> what it begins with, an MP4 from its fifth byte on: those that browsers play."""
FIRST = ("target", "prediction")
"""Roles whose numbers are carried before those of others."""


class Field(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The numbers of one pane, as the page carries them."""

    id: str
    head: str
    """JSON, as `drawing.fields` describes it."""
    text: str
    """Base64 of its gzipped bytes."""
    rank: int
    """0: carried before those of rank 1."""

    @property
    def size(self) -> int:
        """Bytes in the page, nearly."""
        return len(self.text) + len(self.head) + 80


class ReportMedia:
    """Addresses inside a page: `vgen_eval.viewer.staging.addresses.Media` without a server."""

    maps = ""

    def __init__(
        self, *, ranges: Mapping[str, tuple[float, float]], side: int, start: str,
        known: dict[str, tuple[str, str]],
    ) -> None:  # fmt: skip
        """`ranges`: shared ones of the sample. `side`: most pixels of a picture's long side.

        `start`: what ids of numbers begin with. `known`: heads and texts of numbers that were
        encoded before, by the pane's key; grows.
        """
        self._known = known
        self._frames: dict[str, dict[int, str]] = {}
        self._ranges = ranges
        self._side = side
        self._start = start
        self.fields: dict[str, Field] = {}
        """By "#id"."""

    def image(self, look: Look, shown: Shown, style: Style) -> str:
        """The pane as WebP: without loss where colours are classes."""
        body = shown.pane.body
        array = draw(shown, look, style=style, ranges=self._ranges, long_side=self._side)
        lossless = isinstance(body, (ClassMap, Marks))
        return _data("image/webp", encode_webp(array, lossless=lossless))

    def field(self, look: Look, shown: Shown) -> str:  # noqa: ARG002
        """ "#id" of its numbers; "" where it has none."""
        if not has_field(shown):
            return ""
        name = f"{self._start}-{len(self.fields)}"
        if shown.key not in self._known:
            data, head = field_of(shown)
            self._known[shown.key] = (jsonio.dumps(dict(head)).decode(), _base64(data))
        head_text, text = self._known[shown.key]
        rank = 0 if shown.pane.role in FIRST else 1
        self.fields[f"#{name}"] = Field(id=name, head=head_text, text=text, rank=rank)
        return f"#{name}"

    def values(self, look: Look) -> str:  # noqa: ARG002
        """Nobody answers in a file."""
        return ""

    def file(self, look: Look, sha256: str) -> str:  # noqa: ARG002
        """Raw files stay where they are."""
        return ""

    def frame(self, look: Look, shown: Shown, index: int) -> str:  # noqa: ARG002
        """A frame of a clip as WebP; its strip is decoded in one pass."""
        body = shown.pane.body
        assert isinstance(body, Film)
        kept = self._frames.setdefault(shown.key, {})
        if index not in kept:
            kept |= frames_of(body, [index, *strip_of(body).indices])
        return kept[index]


def frames_of(film: Film, indices: Iterable[int]) -> dict[int, str]:
    """Index -> the frame as a data address."""
    found = {}
    for frame in film.clip.take(sorted(set(indices))):
        array = frame.image.array
        height, width = array.shape[:2]
        scale = min(1.0, FRAME_SIDE / max(height, width))
        if scale < 1:
            high, wide = max(1, round(height * scale)), max(1, round(width * scale))
            array = resize(array, height=high, width=wide, kind="photo")
        found[frame.index] = _data("image/webp", encode_webp(array))
    return found


def clip_of(look: Look, most: int) -> tuple[str, int]:
    """The clip that the model made as a data address, and its bytes; "" where it is none.

    "" too where it is larger than `most` bytes, or of a kind that browsers do not play.
    """
    if look.line is None or look.line.get("form") != "video":
        return "", 0
    answer = look.line.get("answer", {})
    if "file" not in answer:
        return "", 0
    data = RunStore(look.run).get(answer)
    if data is None:
        return "", 0
    if len(data) > most:
        return "", len(data)
    for kind, begin in CLIPS.items():
        if data[:4] == begin or data[4:8] == begin:
            return _data(kind, data), len(data)
    return "", len(data)


def _data(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{_base64(data)}"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
