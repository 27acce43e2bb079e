"""What stands in a cell of a figure: a picture, words, or a word on a plain tile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from vgen_eval.types import STATUS_GROUP
from vgen_eval.viewer.drawing.render import Style
from vgen_eval.viewer.figure.pictures import draw_into
from vgen_eval.viewer.looking import Look, Shown
from vgen_eval.viewing import Bars, Words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Cell", "Place", "fill", "has", "notices_of", "plain", "status_of"]

Place = Literal["input", "answer", "target", "prediction", "error"]

_ELSE: Mapping[str, tuple[str, ...]] = {"prediction": ("prediction", "detail")}
"""Roles that are tried, of places where it is not the place's own alone."""


class Cell(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """One of a figure's cells."""

    kind: Literal["picture", "words", "tile", "empty"]
    array: NDArray[np.uint8] | None = None
    """uint8 (H, W, 3) of a picture."""
    text: str = ""
    """Of words and tiles, whole: how much of it is drawn is the drawing's to say."""
    under: str = ""
    """One line below it: a score."""
    asked: str = ""
    """Below it, on several lines: a question, a phrase."""


def fill(
    place: Place, look: Look, *, style: Style, ranges: Mapping[str, tuple[float, float]],
    box: tuple[int, int],
) -> tuple[Cell, Shown | None]:  # fmt: skip
    """The cell of that place for an attempt, and the pane in it; a failure is a word.

    `box`: pixels (width, height) that a picture fills, at one of its sides.
    """
    word = _failure(place, look)
    if word:
        return Cell(kind="tile", text=word), None
    for role in _ELSE.get(place, (place,)):
        for shown in look.of_role(role):
            text = _text_of(shown)
            if text is not None:
                return Cell(kind="words", text=text), shown
            array = draw_into(box, shown, look, style=style, ranges=ranges)
            return Cell(kind="picture", array=array), shown
    right = _right_of(look) if place == "target" else ""
    if right:
        return Cell(kind="words", text=right), None
    return Cell(kind="tile", text=_absent(place, look)), None


def has(place: Place, look: Look) -> bool:
    """Whether there is something to see of it."""
    return bool(look.of_role(place)) or (place == "target" and bool(_right_of(look)))


def _right_of(look: Look) -> str:
    """The truth, where it is one of the options that a pane shows."""
    for shown in look.panes:
        if isinstance(shown.pane.body, Bars):
            right = [bar.label for bar in shown.pane.body.bars if bar.right]
            if right:
                return plain("\n".join(right))
    return ""


def status_of(look: Look) -> str:
    """The attempt's status: of its score, else of its answer."""
    return str(look.facts.get("status", "not_run"))


def _failure(place: Place, look: Look) -> str:
    """The word in place of what a failed attempt has not; "" where there is something to see."""
    if place not in ("answer", "prediction", "error"):
        return ""
    status = status_of(look)
    if status == "ok" or (place == "answer" and look.of_role("answer")):
        return ""
    # a substitute measures the failure, and was seen by nobody
    return status.replace("_", " ")


def _absent(place: Place, look: Look) -> str:
    status = status_of(look)
    if place in ("input", "target"):
        is_faulty = STATUS_GROUP.get(status) == "data_fault"
        if is_faulty:
            return status.replace("_", " ")
        return "no truth to show" if look.of_role("input") else "data not here"
    return "nothing to show"


def _text_of(shown: Shown) -> str | None:
    """The words of a pane of words or bars; None for one that is drawn."""
    body = shown.pane.body
    if isinstance(body, Words):
        said = [body.text] if body.text else []
        facts = (fact for fact in body.facts if fact[0] != "question")  # it is below the input
        return plain("\n".join([*said, *(f"{name}: {value}" for name, value in facts)]))
    if isinstance(body, Bars):
        return plain("\n".join(_lines_of(body)))
    return None


def _lines_of(body: Bars) -> Iterator[str]:
    """A line a bar; a number where some bar has one."""
    has_numbers = any(bar.value is not None for bar in body.bars)
    for bar in body.bars:
        value = "no number" if bar.value is None else f"{bar.value:.3g}"
        marks = [word for word, is_so in (("truth", bar.right), ("taken", bar.chosen)) if is_so]
        told = f"  ({', '.join(marks)})" if marks else ""
        yield f"{bar.label}{f'  {value}' if has_numbers else ''}{told}"


def plain(text: str) -> str:
    """The text without what no file may hold, or what turns the rest around."""
    return "".join(char if char.isprintable() or char == "\n" else "\ufffd" for char in text)


def notices_of(looks: Sequence[Look]) -> list[str]:
    """What could not be shown of these attempts, each once."""
    return list(dict.fromkeys(notice for look in looks for notice in look.notices))
