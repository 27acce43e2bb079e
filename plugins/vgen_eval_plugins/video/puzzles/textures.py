"""What makes a drawing look like a photograph: uneven paint, soft shadow, grain, a lens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    RGB = NDArray[np.uint8]
    Plane = NDArray[np.float32]
    """(H, W, 3) of 0 to 255, or (H, W) of 0 to 1."""

__all__ = ["clouds", "develop", "draw_ball", "grain_of_wood", "lay", "shadow_of", "to_part"]


def clouds(rng: np.random.Generator, height: int, width: int, *, size: float) -> Plane:
    """(height, width) of -1 to 1, smooth over about `size` pixels, with finer detail in it."""
    total = np.zeros((height, width), np.float32)
    for octave in range(3):
        step = max(1.0, size / 2**octave)
        rows, columns = int(height / step) + 3, int(width / step) + 3
        coarse = rng.standard_normal((rows, columns)).astype(np.float32)
        fine = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
        total += np.asarray(fine, np.float32) / 2**octave
    return np.asarray(total / max(1e-6, float(np.abs(total).max())), np.float32)


def grain_of_wood(rng: np.random.Generator, height: int, width: int, *, size: float) -> Plane:
    """(height, width) of -1 to 1: fibres along the rows, a few dark lines among them."""
    rows, columns = max(2, int(height / max(1.0, size / 10))), max(2, int(width / (size * 2)) + 2)
    coarse = rng.standard_normal((rows, columns)).astype(np.float32)
    fibres = np.asarray(
        cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR), np.float32
    )
    bent = 0.6 * fibres + 0.8 * clouds(rng, height, width, size=size * 2)
    lines = np.sin(bent * 2.2 + np.linspace(0, height / size * 4, height)[:, None])
    mixed = 0.55 * lines + 0.45 * fibres
    return np.asarray(mixed / np.abs(mixed).max(), np.float32)


def to_part(mask: NDArray[np.uint8]) -> Plane:
    """A mask of 0 to 255 as 0 to 1."""
    return np.asarray(mask.astype(np.float32) / 255, np.float32)


def shadow_of(mask: Plane, *, shift: tuple[float, float], blur: float) -> Plane:
    """(H, W) of 0 to 1: the mask moved by (dx, dy) pixels and blurred."""
    height, width = mask.shape
    move = np.array([[1, 0, shift[0]], [0, 1, shift[1]]], np.float32)
    moved = cv2.warpAffine(mask, move, (width, height))
    return np.asarray(cv2.GaussianBlur(moved, (0, 0), max(0.3, blur)), np.float32)


def lay(canvas: Plane, colour: Plane | tuple[int, int, int], mask: Plane) -> Plane:
    """The canvas with the colour over it where the mask is 1."""
    over = np.asarray(colour, np.float32)
    return np.asarray(canvas + (over - canvas) * mask[..., None], np.float32)


def develop(canvas: Plane, rng: np.random.Generator) -> RGB:
    """A picture of it: darker corners, a slightly soft lens, the grain of a sensor."""
    height, width = canvas.shape[:2]
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
    corners = 1.0 - 0.16 * np.clip((x**2 + y**2) / 2, 0, 1) ** 1.5
    soft = cv2.GaussianBlur(canvas, (0, 0), 0.45) * corners[..., None].astype(np.float32)
    noise = rng.normal(0.0, 1.6, (height, width, 1)) + rng.normal(0.0, 0.6, canvas.shape)
    return np.asarray(np.clip(np.rint(soft + noise), 0, 255), np.uint8)


def draw_ball(
    picture: RGB, centre: tuple[float, float], radius: float, colour: tuple[int, int, int], *,
    shaded: bool,
) -> RGB:  # fmt: skip
    """A copy of the picture with a disc, or with a ball and its shadow, at (x, y) in pixels."""
    canvas = np.array(picture)
    x, y = centre
    height, width = canvas.shape[:2]
    reach = radius * 2.2 + 2
    left, right = max(0, int(x - reach)), min(width, int(x + reach) + 2)
    top, bottom = max(0, int(y - reach)), min(height, int(y + reach) + 2)
    if left >= right or top >= bottom:
        return canvas
    rows, columns = np.mgrid[top:bottom, left:right].astype(np.float32)
    under = canvas[top:bottom, left:right].astype(np.float32)
    away = np.hypot(columns - x, rows - y)
    cover = np.clip(radius + 0.5 - away, 0, 1)
    paint = np.broadcast_to(np.asarray(colour, np.float32), under.shape)
    if shaded:
        off = np.hypot(columns - x - 0.45 * radius, (rows - y - 0.55 * radius) * 1.1)
        under = under * (1 - 0.5 * np.clip(1.45 - off / (radius * 1.0), 0, 1)[..., None] ** 1.3)
        paint = _shade(columns - x, rows - y, radius, paint)
    laid = under + (paint - under) * cover[..., None]
    canvas[top:bottom, left:right] = np.clip(np.rint(laid), 0, 255).astype(np.uint8)
    return canvas


def _shade(dx: Plane, dy: Plane, radius: float, paint: Plane) -> Plane:
    """The paint on a ball lit from the upper left, with a small bright spot."""
    flat = (dx**2 + dy**2) / radius**2
    nz = np.sqrt(np.clip(1 - flat, 0, 1))
    light = np.clip((-0.5 * dx / radius - 0.6 * dy / radius + 0.63 * nz), 0, 1)
    spot = np.clip((-0.35 * dx / radius - 0.42 * dy / radius + 0.84 * nz), 0, 1) ** 40
    lit = paint * (0.5 + 0.62 * light)[..., None] + 165 * spot[..., None]
    return np.asarray(np.clip(lit, 0, 255), np.float32)
