"""Pictures of the tower: flat shapes on white, or turned and painted discs on a wooden stand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import cv2
import numpy as np

from vgen_eval_plugins.video.puzzles.hanoi import HanoiTruth, Pegs
from vgen_eval_plugins.video.puzzles.seeing import PAINTS
from vgen_eval_plugins.video.puzzles.textures import (
    clouds,
    develop,
    grain_of_wood,
    lay,
    shadow_of,
    to_part,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    RGB = NDArray[np.uint8]
    Plane = NDArray[np.float32]

__all__ = ["Places", "draw_discs", "places"]

Places = Mapping[int, tuple[float, float]]
"""Disc -> x, y of its middle, in pixels."""
_FINE = 2


def places(truth: HanoiTruth, pegs: Pegs) -> dict[int, tuple[float, float]]:
    """Where each disc lies in a state."""
    return {
        disc: (truth.pegs[peg], truth.slot(level))
        for peg, stack in enumerate(pegs)
        for level, disc in enumerate(stack)
    }


def draw_discs(
    truth: HanoiTruth, at: Places, *, extra: Mapping[str, tuple[float, float]] = {}
) -> RGB:
    """uint8 (H, W, 3): the stand with discs at these places.

    `extra`: further discs as wide as the second largest, by their colours.
    """
    canvas = _stand(truth).astype(np.float32)
    real = truth.style == "real"
    shown = [(truth.colours[disc], truth.widths[disc], place) for disc, place in at.items()]
    shown += [(colour, truth.widths[-2], place) for colour, place in extra.items()]
    if real:
        for _, width, place in shown:
            _darken(canvas, truth, width, place)
    for colour, width, place in shown:
        _paint(canvas, truth, width, place, PAINTS[colour], shaded=real)
    return np.clip(np.rint(canvas), 0, 255).astype(np.uint8)


def _box(truth: HanoiTruth, width: float, place: tuple[float, float], reach: float) -> tuple[
    slice, slice, Plane, Plane
]:  # fmt: skip
    """Rows and columns around a disc, and x, y of their pixels from its middle."""
    x, y = place
    half_w, half_h = width / 2 + reach, truth.thickness / 2 + reach
    rows = slice(max(0, int(y - half_h)), max(0, min(truth.size[1], int(y + half_h) + 2)))
    columns = slice(max(0, int(x - half_w)), max(0, min(truth.size[0], int(x + half_w) + 2)))
    dy, dx = np.mgrid[rows, columns].astype(np.float32)
    return rows, columns, dx - np.float32(x), dy - np.float32(y)


def _outside(dx: Plane, dy: Plane, width: float, thickness: float) -> Plane:
    """Pixels outside of the disc's outline, negative inside: a box with round corners."""
    round_by = 0.42 * thickness
    ax = np.abs(dx) - (width / 2 - round_by)
    ay = np.abs(dy) - (thickness * 0.47 - round_by)
    far = np.hypot(np.maximum(ax, 0), np.maximum(ay, 0)) + np.minimum(np.maximum(ax, ay), 0)
    return np.asarray(far - round_by, np.float32)


def _darken(canvas: Plane, truth: HanoiTruth, width: float, place: tuple[float, float]) -> None:
    """The disc's soft shadow, to the right and below."""
    soft = 0.5 * truth.thickness
    rows, columns, dx, dy = _box(truth, width, place, 2 * soft)
    off = _outside(dx - 0.5 * soft, dy - 0.6 * soft, width, truth.thickness)
    dark = np.clip(0.5 - off / (1.6 * soft), 0, 1) ** 1.5
    canvas[rows, columns] *= (1 - 0.34 * dark)[..., None]


def _paint(
    canvas: Plane, truth: HanoiTruth, width: float, place: tuple[float, float],
    colour: tuple[int, int, int], *, shaded: bool,
) -> None:  # fmt: skip
    rows, columns, dx, dy = _box(truth, width, place, 2.0)
    cover = np.clip(0.5 - _outside(dx, dy, width, truth.thickness), 0, 1)
    paint = np.broadcast_to(np.asarray(colour, np.float32), (*cover.shape, 3))
    if shaded:
        along = np.clip(dx / (width / 2), -1, 1)
        up = np.clip(dy / (truth.thickness / 2), -1, 1)
        # a turned disc: bright a little left of the middle, dark to both sides, a rounded rim
        light = 0.50 + 0.52 * np.cos((along + 0.28) * 1.25) - 0.20 * np.clip(up, 0, 1) ** 2
        spot = np.exp(-(((along + 0.38) / 0.13) ** 2)) * np.exp(-(((up + 0.35) / 0.4) ** 2))
        rim = np.exp(-(((up + 0.72) / 0.16) ** 2)) * np.clip(np.cos(along * 1.4), 0, 1)
        paint = paint * light[..., None] + (95 * spot + 38 * rim)[..., None]
    under = canvas[rows, columns]
    canvas[rows, columns] = under + (np.clip(paint, 0, 255) - under) * cover[..., None]


@lru_cache(maxsize=16)
def _stand(truth: HanoiTruth) -> RGB:
    picture = _real_stand(truth) if truth.style == "real" else _flat_stand(truth)
    picture.flags.writeable = False
    return picture


def _parts(truth: HanoiTruth) -> tuple[Plane, Plane]:
    """Masks of the board and of the three rods, drawn finely."""
    width, height = truth.size[0] * _FINE, truth.size[1] * _FINE
    board, rods = np.zeros((height, width), np.uint8), np.zeros((height, width), np.uint8)
    floor, top = round(truth.floor * _FINE), round(truth.top * _FINE)
    edge = round(0.035 * width)
    cv2.rectangle(board, (edge, floor), (width - 1 - edge, floor + round(0.055 * height)), 255, -1)
    half = max(1, round(0.0075 * width))
    for x in truth.pegs:
        middle = round((x + 0.5) * _FINE)
        cv2.rectangle(rods, (middle - half, top + half), (middle + half, floor), 255, -1)
        cv2.circle(rods, (middle, top + half), half, 255, -1)
    return to_part(board), to_part(rods)


def _average(fine: Plane, size: tuple[int, int]) -> Plane:
    return np.asarray(cv2.resize(fine, size, interpolation=cv2.INTER_AREA), np.float32)


def _flat_stand(truth: HanoiTruth) -> RGB:
    board, rods = _parts(truth)
    canvas = lay(np.full((*board.shape, 3), 255, np.float32), (28, 30, 36), np.maximum(board, rods))
    return np.clip(np.rint(_average(canvas, truth.size)), 0, 255).astype(np.uint8)


def _real_stand(truth: HanoiTruth) -> RGB:
    rng = np.random.default_rng([truth.seed, truth.discs, 13])
    board, rods = _parts(truth)
    height, width = board.shape
    y, x = np.mgrid[0 : 1 : height * 1j, 0 : 1 : width * 1j].astype(np.float32)
    wall = 1 + 0.05 * clouds(rng, height, width, size=width / 3) - 0.22 * (x - 0.3) ** 2 - 0.1 * y
    canvas = np.asarray(np.array([178, 184, 186]) * wall[..., None], np.float32)
    horizon = truth.floor / truth.size[1] - 0.02
    table = np.clip((y - horizon) * height / 3, 0, 1)
    wood = 1 + 0.16 * grain_of_wood(rng, height, width, size=height / 9)
    wood *= 0.86 + 0.55 * (y - horizon)
    canvas = lay(canvas, np.asarray(np.array([104, 84, 70]) * wood[..., None], np.float32), table)
    unit = truth.thickness * _FINE
    dark = shadow_of(board, shift=(unit * 0.15, unit * 0.5), blur=unit * 0.28)
    dark = np.maximum(dark, 0.5 * shadow_of(rods, shift=(unit * 0.4, unit * 0.2), blur=unit * 0.2))
    canvas = canvas * (1 - 0.45 * dark[..., None])
    plank = 1 + 0.20 * grain_of_wood(rng, height, width, size=height / 22)
    lit = np.asarray(cv2.GaussianBlur(board, (0, 0), 0.06 * unit), np.float32)
    edge = np.clip(np.gradient(lit, axis=0) * 0.10 * unit, -0.5, 0.5)
    plank = plank * (1 + edge)
    canvas = lay(
        canvas, np.asarray(np.array([176, 148, 120]) * plank[..., None], np.float32), board
    )
    half = max(1.0, 0.0075 * width)
    near = np.min(
        [np.abs(x * (width - 1) - (p + 0.5) * _FINE + half * 0.35) for p in truth.pegs], 0
    )
    steel = 232 - 120 * np.clip(near / (half * 1.4), 0, 1) ** 1.4
    canvas = lay(canvas, np.asarray(steel[..., None] * np.ones(3), np.float32), rods)
    return develop(_average(np.asarray(canvas, np.float32), truth.size), rng)
