"""Numbers of a pane as whole numbers on the way to a browser, and one of them in words.

A field is gzipped bytes and a head. Its planes stand one after the other, each row by row:

scalar      `bits` 16: uint16, 0: none, else low + (q - 1) * (high - low) / 65534. Each row as
            differences: d[0] = q[0], d[x] = (q[x] - q[x - 1]) mod 65536. All low bytes (H * W),
            then all high bytes.
            `bits` 32, where such a step is more than 1e-4 of the median |number|, as a few far
            numbers make it: float32, NaN: none. All lowest bytes (H * W), then the next ones, up to
            the highest.
            `filled` true: then H * W bytes, 1 where the number stands for one that is not there.
classes     id + 1, 0: none. uint8 up to 255 classes; above, uint16: all low bytes, then all high
            bytes. No differences.
directions  two planes u, v of uint16 as `scalar` has them, with low = -1 and high = 1: low bytes
            of u, high bytes of u, low bytes of v, high bytes of v. Octahedral: n / (|x|+|y|+|z|),
            u = x and v = y where z >= 0, else u = (1 - |y|) sign(x), v = (1 - |x|) sign(y), with
            sign(0) = 1. x right, y up, z toward.

The head: `kind` (scalar, classes, directions), `width`, `height` (of the field), `full` ([width,
height] of the pane), `reduced` (true: every number of the field stands for several), `low`,
`high`, `unit`, `bits` (8, 16 or 32), `count` (classes), and for scalar `body` (sequential,
diverging, error), `reverse` and `filled`. Served as the header `X-Field`, JSON.

What is below and above the ends of a map's colours is told by the numbers as they are sent: a
number counts as the end that it is half a step from, or nearer; to float32 the ends are rounded
like the numbers. See `Steps`.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.imaging import resize
from vgen_eval.viewer.drawing.bands import bands
from vgen_eval.viewer.looking.records import Shown
from vgen_eval.viewing import ClassMap, Directions, Picture, ScalarMap

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["MOST_SIDE", "Steps", "field_of", "has_field", "read_value", "steps_of"]

MOST_SIDE = 2048
"""Pixels of a field's side; of larger panes every n-th number is sent."""
LEVELS = 65534
"""Steps between the lowest and the highest number."""
COARSE = 1e-4
"""Of the median |number|: steps above it say less than four digits of most numbers."""
MOST_RANKED = 100_000
"""Numbers whose median is exact; of more every n-th."""
DASH = "-"
FILLED = "(open: filled as scored)"
"""After a number that stands where nothing was read."""


class Steps(msgspec.Struct, frozen=True):
    """How the numbers of a map are sent: between which ends, and how far apart."""

    low: float
    high: float
    size: float = 0.0
    """From one number to the next that can be sent; 0 where all are the same."""
    as_floats: bool = False
    """Are they sent as float32?"""

    def sent(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """The numbers as a browser reads them, NaN where there is none."""
        import numpy as np

        if self.as_floats:
            with np.errstate(over="ignore"):
                return values.astype(np.float32).astype(np.float64)
        numbers = values.astype(np.float64)
        steps = _quantise(numbers, np.isfinite(numbers), self.low, self.high).astype(np.float64)
        found = self.low + (steps - 1) * (self.high - self.low) / LEVELS
        return np.where(steps > 0, found, np.nan)

    def beyond(
        self, values: NDArray[Any], low: float, high: float
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which numbers are below and which above these ends, as a browser has them."""
        import numpy as np

        sent, slack = self.sent(values), self.size / 2
        if self.as_floats:
            with np.errstate(over="ignore"):
                low, high = float(np.float32(low)), float(np.float32(high))
        return sent < low - slack, sent > high + slack


def steps_of(body: ScalarMap) -> Steps:
    """Of the map as it is sent, larger ones reduced."""
    return _steps_of(_reduce(body.values))


def _steps_of(values: NDArray[Any]) -> Steps:
    import numpy as np

    numbers = values[np.isfinite(values)]
    if not numbers.size:
        return Steps(0.0, 0.0)
    low, high = float(numbers.min()), float(numbers.max())
    size = 2 * (high / 2 - low / 2) / LEVELS
    some = numbers[:: max(1, numbers.size // MOST_RANKED)].astype(np.float64)
    middle = float(np.median(np.abs(some)))
    most = float(np.finfo(np.float32).max)
    # halves in each: the difference of two large numbers may be more than a number holds
    if size > COARSE * middle and max(-low, high) <= most:
        return Steps(low, high, as_floats=True)
    return Steps(low, high, size)


def has_field(shown: Shown) -> bool:
    """Is it a map of numbers, classes or directions?"""
    return isinstance(shown.pane.body, ScalarMap | ClassMap | Directions)


def field_of(shown: Shown) -> tuple[bytes, Mapping[str, Any]]:
    """Gzipped bytes and the head; ValueError for a pane without numbers (see `has_field`)."""
    body = shown.pane.body
    if isinstance(body, ScalarMap):
        data, head = _scalar_field(body)
    elif isinstance(body, ClassMap):
        data, head = _class_field(body)
    elif isinstance(body, Directions):
        data, head = _direction_field(body)
    else:
        raise ValueError(f"pane '{shown.name}' has no numbers")
    head["full"] = [shown.width, shown.height]
    head["reduced"] = [head["width"], head["height"]] != head["full"]
    # level 5: of the time of 9 a quarter, at two per cent more bytes; no time in it
    return gzip.compress(data, 5, mtime=0), head


def _reduce(array: NDArray[Any]) -> NDArray[Any]:
    """The array, or of a larger one the numbers nearest to the middles of a coarser grid."""
    longest = max(array.shape[:2])
    if longest <= MOST_SIDE:
        return array
    height, width = (max(1, side * MOST_SIDE // longest) for side in array.shape[:2])
    return resize(array, height=height, width=width, kind="labels")


def _scalar_field(body: ScalarMap) -> tuple[bytes, dict[str, Any]]:
    import numpy as np

    values = _reduce(body.values)
    steps = _steps_of(values)
    if steps.as_floats:
        data, bits = _planes_of_floats(values), 32
    else:
        levels = np.empty(values.shape, np.uint16)
        for rows in bands(*values.shape):
            numbers = values[rows].astype(np.float64)
            levels[rows] = _quantise(numbers, np.isfinite(numbers), steps.low, steps.high)
        data, bits = _planes_of_differences(levels), 16
    head = {
        "kind": "scalar", "width": values.shape[1], "height": values.shape[0], "low": steps.low,
        "high": steps.high, "unit": body.unit, "bits": bits, "body": body.kind,
        "reverse": body.reverse, "filled": body.filled is not None,
    }  # fmt: skip
    if body.filled is not None:
        data += _reduce(body.filled.astype(np.uint8)).tobytes()
    return data, head


def _planes_of_floats(values: NDArray[Any]) -> bytes:
    """float32 with one NaN for all that is not finite: the lowest bytes of all, then the next."""
    import numpy as np

    numbers = np.empty(values.shape, "<f4")
    for rows in bands(*values.shape):
        numbers[rows] = np.where(np.isfinite(values[rows]), values[rows], np.nan)
    numbers[np.isnan(numbers)] = np.nan
    return _planes_of_bytes(numbers)


def _quantise(
    values: NDArray[Any], is_there: NDArray[Any], low: float, high: float
) -> NDArray[np.uint16]:
    """uint16: 0 for none, 1..65535 evenly over [low, high]."""
    import numpy as np

    parts = np.zeros(values.shape)
    # halves first: the difference of two large numbers may be more than a number holds
    half = high / 2 - low / 2
    if half > 0:
        np.divide(values / 2 - low / 2, half, out=parts, where=is_there)
    steps = np.rint(np.clip(parts, 0, 1) * LEVELS).astype(np.uint16) + np.uint16(1)
    return np.where(is_there, steps, np.uint16(0))


def _planes_of_differences(steps: NDArray[np.uint16]) -> bytes:

    differences = steps.astype("<u2")
    differences[:, 1:] -= steps[:, :-1]  # modulo 65536
    return _planes_of_bytes(differences)


def _planes_of_bytes(numbers: NDArray[Any]) -> bytes:
    """All lowest bytes, then the next ones, up to the highest."""
    import numpy as np

    each = numbers.reshape(-1, 1).view(np.uint8)
    return np.ascontiguousarray(each.T).tobytes()


def _class_field(body: ClassMap) -> tuple[bytes, dict[str, Any]]:
    import numpy as np

    ids = _reduce(body.ids)
    count = len(body.classes)
    if count <= 255:  # -1 is the highest number there, and one above it 0
        data, bits = (ids.astype(np.uint8) + np.uint8(1)).tobytes(), 8
    else:
        data, bits = _planes_of_bytes(ids.astype("<u2") + np.uint16(1)), 16
    head = {
        "kind": "classes", "width": ids.shape[1], "height": ids.shape[0], "bits": bits,
        "count": count,
    }  # fmt: skip
    return data, head


def _direction_field(body: Directions) -> tuple[bytes, dict[str, Any]]:
    import numpy as np

    values = _reduce(body.values)
    height, width = values.shape[:2]
    planes = np.empty((2, height, width), np.uint16)
    for rows in bands(height, width):
        u, v = to_octahedron(values[rows].astype(np.float64))
        is_there = np.isfinite(u)
        planes[0, rows] = _quantise(u, is_there, -1.0, 1.0)
        planes[1, rows] = _quantise(v, is_there, -1.0, 1.0)
    head = {
        "kind": "directions", "width": width, "height": height, "low": -1.0, "high": 1.0,
        "bits": 16,
    }  # fmt: skip
    return b"".join(_planes_of_differences(plane) for plane in planes), head


def to_octahedron(vectors: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """(H, W, 3) vectors of any length -> u, v in -1..1, NaN where there is none.

    Z. Cigolle et al., A Survey of Efficient Representations for Independent Unit Vectors, JCGT
    2014, section 3.3.
    """
    import numpy as np

    total = np.abs(vectors).sum(axis=2)
    is_there = np.isfinite(total) & (total > 0)
    total = np.where(is_there, total, 1.0)
    x, y, z = (np.where(is_there, vectors[..., axis], 0.0) / total for axis in range(3))
    sign_x, sign_y = np.where(x >= 0, 1.0, -1.0), np.where(y >= 0, 1.0, -1.0)
    u = np.where(z >= 0, x, (1 - np.abs(y)) * sign_x)
    v = np.where(z >= 0, y, (1 - np.abs(x)) * sign_y)
    return np.where(is_there, u, np.nan), np.where(is_there, v, np.nan)


def read_value(shown: Shown, x: float, y: float) -> str:
    """What the pane says at a point of the original, 0..1: "2.31 m", "road", "0.12 0.33 0.94".

    A dash where there is none; "" for panes without numbers, and out of step. Exact: of the
    pane's own array, to 6 digits.
    """
    body = shown.pane.body
    if shown.frame is None or not (0 <= x <= 1 and 0 <= y <= 1) or shown.width < 1:
        return ""
    left, top, width, height = shown.frame
    column = min(shown.width - 1, max(0, math.floor((left + x * width) * shown.width)))
    row = min(shown.height - 1, max(0, math.floor((top + y * height) * shown.height)))
    if isinstance(body, ScalarMap):
        said = _say_number(float(body.values[row, column]), body)
        is_filled = body.filled is not None and bool(body.filled[row, column])
        return f"{said} {FILLED}" if is_filled and said != DASH else said
    if isinstance(body, ClassMap):
        found = int(body.ids[row, column])
        return body.classes[found] if found >= 0 else body.none or DASH
    if isinstance(body, Directions):
        vector = [float(part) for part in body.values[row, column]]
        if not all(math.isfinite(part) for part in vector):
            return DASH
        return " ".join(f"{part:.3f}" for part in vector)
    if isinstance(body, Picture):
        return " ".join(str(int(part)) for part in body.image.array[row, column])
    return ""


def _say_number(value: float, body: ScalarMap) -> str:
    if not math.isfinite(value):
        return DASH
    sign = "+" if body.kind == "diverging" and value > 0 else ""
    return f"{sign}{value:.6g} {body.unit}".rstrip()
