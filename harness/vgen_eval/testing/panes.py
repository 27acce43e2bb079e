"""What is wrong with the panes of a view: their roles, their bodies, their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from vgen_eval.viewing import Body, ClassMap, Directions, Pane, Role, ScalarMap
from vgen_eval.wording import plural

__all__ = ["fault_of_panes"]

_GIVEN = ("input", "answer")
"""Roles that the viewer itself fills."""
_ROLES = tuple(role for role in get_args(Role) if role not in _GIVEN)
_ON_GRID = ("target", "prediction", "error")


def fault_of_panes(panes: Sequence[Any], size: tuple[int, int]) -> str:
    """What is wrong with the first pane that breaks the contract; "" for none.

    `size`: (height, width) of the target's grid, on which maps lie.
    """
    for pane in panes:
        if not isinstance(pane, Pane):
            return f"panes() gave {type(pane).__name__}, no Pane"
        fault = _fault(pane, size)
        if fault:
            return f"pane '{pane.title}': {fault}"
    return ""


def _fault(pane: Pane, size: tuple[int, int]) -> str:
    body = pane.body
    if pane.role not in _ROLES:
        return f"its role is {pane.role!r:.40}, one of {', '.join(_ROLES)} wanted"
    if not isinstance(body, get_args(Body)):
        return f"its body is {type(body).__name__}, no kind of body"
    if isinstance(body, ClassMap):
        shape, fault = np.shape(body.ids), _fault_of_classes(body)
    elif isinstance(body, ScalarMap | Directions):
        shape, fault = np.shape(body.values), _fault_of_numbers(body)
    else:
        return ""
    if not fault and pane.role in _ON_GRID and shape[:2] != size:
        return f"it is {shape[:2]}, the target's grid {size}"
    return fault


def _fault_of_numbers(body: ScalarMap | Directions) -> str:
    wanted = "(H, W)" if isinstance(body, ScalarMap) else "(H, W, 3)"
    values = body.values
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    shape = np.shape(values)
    fits = len(shape) == 2 if isinstance(body, ScalarMap) else len(shape) == 3 and shape[2] == 3
    return "" if kind == "f" and fits else f"floats {wanted} wanted, {kind or 'no array'} {shape}"


def _fault_of_classes(body: ClassMap) -> str:
    ids = body.ids
    if getattr(getattr(ids, "dtype", None), "kind", "") not in "iu" or np.ndim(ids) != 2:
        return f"whole numbers (H, W) wanted, {type(ids).__name__} {np.shape(ids)}"
    classes = plural(len(body.classes), "class", "classes")
    low, high = int(ids.min(initial=0)), int(ids.max(initial=-1))
    if low < -1 or high >= len(body.classes):
        return f"class {low if low < -1 else high} of {classes}"
    if body.colours and len(body.colours) != len(body.classes):
        return f"{plural(len(body.colours), 'colour')} for {classes}"
    unknown = [name for name in (*body.patterned, *body.notes) if name not in body.classes]
    return f"'{unknown[0]}' is none of its classes" if unknown else ""
