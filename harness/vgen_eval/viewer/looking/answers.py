"""The raw answer as a pane, where it is one that people can look at, and its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vgen_eval.answers import clean
from vgen_eval.errors import MissingExtra, Undecodable
from vgen_eval.imaging import Geometry, Image
from vgen_eval.viewer.looking.reasons import say
from vgen_eval.viewer.looking.records import Frame
from vgen_eval.viewing import Film, Pane, Picture, Words

__all__ = ["TITLE", "answer_pane", "geometry_of", "place_of"]

TITLE = "Answer as it came"
OTHER_SHAPE = "of another shape than the picture that the model saw: stretched onto it"


def answer_pane(
    form: str, line: Mapping[str, Any], answer: Any, raw: bytes | None
) -> tuple[Pane | None, str]:
    """The pane of what the model gave, and why there is none ("").

    `answer`: as decoders take it; `raw`: the kept bytes. Arrays of numbers have no pane of their
    own: the prediction shows them.
    """
    if line.get("status") != "ok":
        return _without(line), ""
    if form == "image":
        return _picture(answer, raw)
    if form == "video":
        return (None, "") if raw is None else _film(raw)
    if isinstance(answer, Undecodable):
        return None, ""
    if form == "text":
        return Pane(role="answer", title=TITLE, body=Words(text=str(answer))), ""
    if form == "choice" and isinstance(answer, Mapping):
        return _choice(answer), ""
    return None, ""


def _without(line: Mapping[str, Any]) -> Pane | None:
    """Words in the place of an answer."""
    text = line.get("text")
    if not isinstance(text, str) or not text:
        return None
    facts = (("status", str(line.get("status"))),)
    return Pane(
        role="answer", title="Words in its place", body=Words(text=clean(text), facts=facts)
    )


def _picture(answer: Any, raw: bytes | None) -> tuple[Pane | None, str]:
    if raw is None:
        return None, ""
    if isinstance(answer, Undecodable):
        # the words of the one reader of pictures, and of the library below it, for a header that
        # declares too much
        is_large = any(words in answer.what for words in ("over the limit", "decompression bomb"))
        words = "too large: open the raw file" if is_large else "no picture: open the raw file"
        body = Words(text=words, facts=(("reason", clean(answer.what)),))
        return Pane(role="answer", title=TITLE, body=body), ""
    try:
        return Pane(role="answer", title=TITLE, body=Picture(image=Image(answer))), ""
    except (AttributeError, TypeError, ValueError) as exc:
        return None, f"the answer cannot be shown: {exc}"


def _film(raw: bytes) -> tuple[Pane | None, str]:
    from vgen_eval.video import Clip

    try:
        clip = Clip.open(raw, what="the answer")
    except Undecodable as exc:
        words = Words(text="no frames: open the raw file", facts=(("reason", clean(exc.what)),))
        return Pane(role="answer", title=TITLE, body=words), ""
    except MissingExtra as exc:
        return None, f"the video cannot be shown: {say(exc)}"
    return Pane(role="answer", title=TITLE, body=Film(clip=clip)), ""


def _choice(answer: Mapping[str, float | None]) -> Pane:
    """Words with their log-probabilities, the likeliest first; a dash for a chance of none."""
    ranked = sorted(answer.items(), key=lambda entry: _rank(entry[1]))
    facts = tuple(
        (str(word), "none" if number is None else f"{number:.4g}") for word, number in ranked
    )
    note = "log-probabilities that the model gave each word"
    return Pane(role="answer", title=TITLE, body=Words(facts=facts), note=note)


def _rank(number: float | None) -> float:
    return float("inf") if number is None else -float(number)


def geometry_of(line: Mapping[str, Any], fit: Any) -> Geometry | None:
    """How the first picture was shown, as the line has it; None where it does not say."""
    told = line.get("geometry")
    try:
        original, seen = told["original"][0], told["seen"][0]  # type: ignore[index]
        box = told["boxes"][0] if "boxes" in told else (0, 0, *seen)  # type: ignore[index,operator]
        numbers = [int(part) for part in (*original, *seen, *box)]
        if len(numbers) != 8 or min(*numbers[:4], *numbers[6:]) < 1 or min(numbers[4:6]) < 0:
            return None
        return Geometry(
            original=(numbers[0], numbers[1]), seen=(numbers[2], numbers[3]),
            box=(numbers[4], numbers[5], numbers[6], numbers[7]), fit=fit,
        )  # fmt: skip
    except (KeyError, IndexError, TypeError, ValueError):
        return None


def place_of(size: tuple[int, int], geometry: Geometry | None) -> tuple[Frame | None, str]:
    """Where an answer of (height, width) shows the original, and what is to be said of it.

    As decoders take it back: by the same cut, so to the pixel.
    """
    import numpy as np

    if geometry is None or min(size) < 1:
        return None, ""
    rows = np.broadcast_to(np.arange(size[0])[:, None], size)
    columns = np.broadcast_to(np.arange(size[1])[None], size)
    part_rows, part_columns = geometry.crop(rows), geometry.crop(columns)
    if not part_rows.size:
        return None, ""
    frame = (
        float(part_columns[0, 0]) / size[1],
        float(part_rows[0, 0]) / size[0],
        part_rows.shape[1] / size[1],
        part_rows.shape[0] / size[0],
    )
    is_stretched = geometry.fit == "stretch" and geometry.has_other_shape(size)
    return frame, OTHER_SHAPE if is_stretched else ""
