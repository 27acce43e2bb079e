"""How many decimals the numbers of a table have: published ones as printed, ours one more."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec

__all__ = ["Digits", "find_digits", "spell"]

MOST = 9
"""Decimals beyond which a number is written with an exponent."""
LARGEST = 1e15


class Digits(msgspec.Struct, frozen=True):
    """Decimals; None: an exponent is needed."""

    published: int | None
    ours: int | None
    """Of our number, its interval and the difference."""


def find_digits(cells: Sequence[Mapping[str, Any]]) -> list[Digits]:
    """Of each cell of a record: alike for one value throughout a row of the table."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for cell in cells:
        groups.setdefault(_key(cell), []).append(cell)
    found = {key: _of_group(group) for key, group in groups.items()}
    return [found[_key(cell)] for cell in cells]


def _key(cell: Mapping[str, Any]) -> tuple[str, str, str]:
    return cell["data"], cell["value"], cell["selection"]


def _of_group(cells: Sequence[Mapping[str, Any]]) -> Digits:
    figures = [cell["published"] for cell in cells if cell["published"] is not None]
    ours = [cell["ours"] for cell in cells if cell["ours"] is not None]
    numbers = [each[part] for each in ours for part in ("value", "low", "high")]
    largest = max((abs(n) for n in (*numbers, *figures) if n is not None), default=0.0)
    if not figures:
        places = _by_size(largest)
        return Digits(places, places)
    tolerances = (cell["tolerance"] for cell in cells if cell["tolerance"])
    printed = max(*map(_of_tolerance, tolerances), *map(_written, figures), 0)
    if printed + 1 > MOST or largest >= LARGEST:
        return Digits(None, None)
    return Digits(printed, printed + 1)


def _of_tolerance(tolerance: float) -> int:
    """0.05 is half a step of 0.1: one decimal."""
    digits, step = 0, 2 * tolerance
    while step < 1 - 1e-9 and digits <= MOST:
        step, digits = step * 10, digits + 1
    return digits


def _written(figure: float) -> int:
    """Decimals that the figure cannot be written without, however large its tolerance."""
    exponent = Decimal(repr(figure)).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _by_size(largest: float) -> int | None:
    """Three or four figures of the largest, where no figure of the paper says how many."""
    if largest == 0:
        return 3
    if largest >= LARGEST:
        return None
    places = min(3, max(0, 3 - math.floor(math.log10(largest))))
    if largest < 0.1:
        places = 2 - math.floor(math.log10(largest))
    return places if places <= MOST else None


def spell(number: float, places: int | None, *, signed: bool = False) -> str:
    """With that many decimals, thousands apart; nothing that rounds to zero has a sign."""
    sign = "+" if signed else ""
    text = f"{number:{sign}.3g}" if places is None else f"{number:{sign},.{places}f}"
    return text.lstrip("+-") if float(text.replace(",", "")) == 0 else text
