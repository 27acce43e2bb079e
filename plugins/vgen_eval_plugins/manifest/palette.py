"""Colours that lie far apart, for any number of classes, with words for the first ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vgen_eval_plugins.colours import as_rgb

__all__ = ["make_palette"]

_NAMED = (
    ("red", "#ff0000"), ("green", "#00ff00"), ("blue", "#0000ff"), ("yellow", "#ffff00"),
    ("magenta", "#ff00ff"), ("cyan", "#00ffff"), ("white", "#ffffff"), ("orange", "#ff8000"),
    ("violet", "#8000ff"), ("dark green", "#008000"), ("sky blue", "#0080ff"), ("grey", "#808080"),
    ("hot pink", "#ff0080"), ("dark red", "#800000"), ("dark blue", "#000080"),
    ("spring green", "#00ff80"), ("yellow-green", "#80ff00"), ("olive", "#808000"),
    ("purple", "#800080"), ("teal", "#008080"), ("salmon", "#ff8080"), ("light green", "#80ff80"),
    ("light blue", "#8080ff"), ("light yellow", "#ffff80"), ("light pink", "#ff80ff"),
    ("light cyan", "#80ffff"),
)  # fmt: skip
"""All of {0, 128, 255}^3 but black, which stands for no class: 127 levels apart at least."""

STEP = 17
"""Levels between the candidates beyond those with names."""


def make_palette(names: Sequence[str]) -> dict[str, dict[str, str] | str]:
    """Class -> {rgb, word}, or a bare "#rrggbb" where the words are used up."""
    paints: list[dict[str, str] | str] = []
    paints += ({"rgb": code, "word": word} for word, code in _NAMED[: len(names)])
    paints += _farther(len(names) - len(paints))
    return dict(zip(names, paints, strict=True))


def _farther(count: int) -> list[str]:
    """Colours taken one by one, each the farthest from black and all before it."""
    if count <= 0:
        return []
    levels = np.arange(0, 256, STEP)
    grid = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), -1).reshape(-1, 3)
    taken = [(0, 0, 0), *(as_rgb(code) for _, code in _NAMED)]
    gap = np.min([((grid - np.array(colour)) ** 2).sum(axis=1) for colour in taken], axis=0)
    found = []
    for _ in range(count):
        best = grid[int(gap.argmax())]
        gap = np.minimum(gap, ((grid - best) ** 2).sum(axis=1))
        found.append("#" + bytes(best.tolist()).hex())
    return found
