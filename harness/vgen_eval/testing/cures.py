"""What cures a fault that is the same wherever it shows: an exception's kind, an answer's type."""

from __future__ import annotations

from typing import Any

from vgen_eval.testing.outcome import place_of

__all__ = [
    "COPY", "CRASHED", "ENDED", "OUTPUT", "STUB", "cure_of", "cure_of_answer", "cure_of_hang",
]  # fmt: skip

OUTPUT = "yield Output(id=request.id, answer=...), once for each request"
COPY = "work on a copy: request.images[0].array.copy()"
ENDED = "raise an error of vgen_eval.errors instead of ending the process"
STUB = (
    "let stub(card, folder) make what it needs in the folder, give the options that use it, and "
    "take it back when the context ends; MissingExtra where a library is not here"
)
CRASHED = "the process itself was ended: a native library crashed, or memory ran out"


def cure_of(exc: BaseException, *, package: str = "") -> str:
    """What cures this kind of exception, whoever raised it; "" when that hangs on the check.

    package: the plugin's own, whose modules nobody installs.
    """
    place = place_of(exc)
    where = f" ({place})" if place else ""
    if isinstance(exc, SyntaxError):
        return f"mend that line{where}"
    if isinstance(exc, ModuleNotFoundError):
        root = (exc.name or "").partition(".")[0]
        if root and root == package:
            return f"correct the import{where}: the package has no such module"
        return (
            f"add {root or 'it'} to the dependencies in pyproject.toml; a heavy or optional library"
            " is imported inside the method that needs it, and MissingExtra raised without it"
        )
    if isinstance(exc, ImportError):
        return f"correct the import{where}"
    if isinstance(exc, UnboundLocalError):
        return f"give the name a value on every way to that line{where}"
    if isinstance(exc, NameError):
        return f"define or import {exc.name or 'the name'}{where}"
    if isinstance(exc, NotImplementedError):
        return f"write the method{where}"
    if isinstance(exc, SystemExit):
        return ENDED
    text = str(exc)
    if isinstance(exc, TypeError) and "Missing required argument 'id'" in text:
        return OUTPUT
    if isinstance(exc, ValueError) and "read-only" in text:
        return COPY
    return ""


def cure_of_hang(kind: str, timeout_s: float) -> str:
    """What cures a check of this kind of subject that is not done in time."""
    if kind == "package":
        return "do nothing on import: models load in load(), data sets in index() and load()"
    return (
        "let it end: give what it waits for a time limit of its own, and do less for small "
        f"pictures; --timeout allows more than {timeout_s:g} s"
    )


def cure_of_answer(form: str, answer: Any) -> str:
    """What makes this answer one of the form; "" when its type does not say."""
    dtype, shape = getattr(answer, "dtype", None), getattr(answer, "shape", None)
    if form != "image" or dtype is None or not shape:
        return ""
    import numpy as np

    try:
        array = np.asarray(answer)
    except (TypeError, ValueError, RuntimeError):  # a tensor on a device
        return "give a NumPy array: uint8 (H, W, 3), 0..255"
    fixes = []
    if array.ndim == 4 and len(array) == 1:
        fixes.append("take the picture out of its batch: picture[0]")
        array = array[0]
    if array.ndim == 3 and array.shape[2] not in (3, 4) and array.shape[0] in (1, 3, 4):
        fixes.append("put the channels last: picture.transpose(1, 2, 0)")
    if array.dtype.kind == "f":
        high = float(np.nanmax(array, initial=0.0)) if array.size else 0.0
        fixes.append(
            "give uint8 0..255: multiply by 255 and round, (picture * 255).round().astype(np.uint8)"
            if high <= 1.0
            else "give uint8 0..255: picture.round().clip(0, 255).astype(np.uint8)"
        )
    elif array.dtype != np.uint8:
        fixes.append(
            "give uint8 0..255: "
            + ("picture * np.uint8(255)" if array.dtype.kind == "b" else "picture.astype(np.uint8)")
        )
    return "; ".join(fixes)
