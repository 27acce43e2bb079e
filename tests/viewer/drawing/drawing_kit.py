"""Looks made of panes alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from vgen_eval.imaging import Image
from vgen_eval.viewer.looking import Look
from vgen_eval.viewer.looking.panes import WHOLE, Placed, show_panes
from vgen_eval.viewing import Body, ClassMap, Directions, Pane, Picture, ScalarMap

__all__ = ["look_of", "pane", "photo", "scalar"]


def pane(role: Any, body: Body, **more: Any) -> Pane:
    return Pane(role=role, title=role, body=body, **more)


def scalar(values: Any, **more: Any) -> ScalarMap:
    return ScalarMap(values=np.asarray(values, np.float64), **more)


def photo(height: int, width: int, seed: int = 0) -> Picture:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    return Picture(image=Image(pixels))


def look_of(*panes: Pane) -> Look:
    """The panes as they come out of a looker: all of them in step."""
    size = next(map(_size, panes))
    placed = [Placed(each, WHOLE if _size(each) else None) for each in panes]
    return Look(
        run=Path("runs/toy"), sample="a", attempt=0, attempts=1, panes=show_panes(placed, size=size)
    )


def _size(pane: Pane) -> tuple[int, int] | None:
    body = pane.body
    if isinstance(body, Picture):
        return body.image.height, body.image.width
    if isinstance(body, ScalarMap | Directions):
        return body.values.shape[0], body.values.shape[1]
    return body.ids.shape if isinstance(body, ClassMap) else None
