"""Numbers on the way to a browser, read back as the format is described; values in words."""

from __future__ import annotations

import gzip
import math
import tracemalloc
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import pytest
from drawing_kit import look_of, pane, photo, scalar
from vgen_eval.viewer.drawing.fields import MOST_SIDE, field_of, has_field, read_value, steps_of
from vgen_eval.viewer.drawing.maps import ABOVE, BELOW
from vgen_eval.viewer.drawing.numbers import colour_numbers
from vgen_eval.viewing import ClassMap, Directions, Words

RNG = np.random.default_rng(7)


class Field:
    """A field as a browser reads it, one pixel at a time."""

    def __init__(self, data: bytes, head: Mapping[str, Any]) -> None:
        self.data, self.head = gzip.decompress(data), head
        self.width, self.height = head["width"], head["height"]
        self.size = self.width * self.height

    def level(self, plane: int, row: int, column: int) -> int:
        """Sum of the row's differences up to the pixel, modulo 65536."""
        start = 2 * plane * self.size
        total = 0
        for at in range(row * self.width, row * self.width + column + 1):
            total += self.data[start + at] + 256 * self.data[start + self.size + at]
        return total % 65536

    def number(self, plane: int, row: int, column: int) -> float | None:
        level = self.level(plane, row, column)
        low, high = self.head["low"], self.head["high"]
        return None if level == 0 else low + (level - 1) * (high - low) / 65534


def field(body: Any) -> Field:
    return Field(*field_of(look_of(pane("prediction", body)).panes[0]))


def spots(height: int, width: int, count: int = 1000) -> list[tuple[int, int]]:
    rows, columns = RNG.integers(0, height, count), RNG.integers(0, width, count)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_thousand_numbers_come_back_within_half_a_step(dtype: Any) -> None:
    values = RNG.gamma(2.0, 2.0, (60, 80)).astype(dtype)
    values[RNG.random(values.shape) < 0.1] = np.nan
    found = field(scalar(values, unit="m", reverse=True))
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    assert found.head == {
        "kind": "scalar", "width": 80, "height": 60, "low": low, "high": high, "unit": "m",
        "bits": 16, "body": "sequential", "reverse": True, "full": [80, 60], "reduced": False,
        "filled": False,
    }  # fmt: skip
    half = (high - low) / 65534 / 2
    for row, column in spots(60, 80):
        number = found.number(0, row, column)
        if math.isnan(values[row, column]):
            assert number is None
        else:
            assert number == pytest.approx(float(values[row, column]), abs=half * 1.001)


def floats(found: Field) -> np.ndarray[Any, Any]:
    """What four planes of bytes hold."""
    size = found.size
    planes = np.frombuffer(found.data[: 4 * size], np.uint8).reshape(4, size).T
    return np.ascontiguousarray(planes).view("<f4").reshape(found.height, found.width)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_far_number_leaves_the_others_their_digits(dtype: Any) -> None:
    values = RNG.uniform(1, 6, (60, 80)).astype(dtype)
    values[RNG.random(values.shape) < 0.1] = np.nan
    values[3, 4] = 1e4
    found = field(scalar(values, unit="m"))
    assert found.head["bits"] == 32
    # the same at each pixel, and nothing where nothing is
    assert np.array_equal(floats(found), values.astype(np.float32), equal_nan=True)


def test_steps_are_sent_while_they_carry_four_digits_of_most_numbers() -> None:
    values = np.ones((40, 40), np.float32)
    values[0] = 2.0
    for far, bits in ((6.5, 16), (7.7, 32)):  # steps of 8.4e-5 and 1.02e-4 of the median
        values[1, 1] = far
        assert field(scalar(values)).head["bits"] == bits
    # mostly nothing but 0: no step is fine enough
    assert field(scalar(np.eye(40, dtype=np.float32))).head["bits"] == 32
    # more than float32 holds
    huge = np.full((9, 9), 1e30)
    huge[0, 0] = 1e300
    assert field(scalar(huge)).head["bits"] == 16


@pytest.mark.parametrize("far", [6.0, 1e4])
def test_below_and_above_are_those_that_a_browser_has_there(far: float) -> None:
    values = RNG.uniform(1, 6, (60, 80))
    values[0, 0] = far
    ordered = np.sort(values.reshape(-1))
    low, high = float(ordered[800]), float(ordered[-800])
    # beside the ends by less than a step, and on them
    values[1, :4] = low - 1e-7, low + 1e-7, high - 1e-7, high + 1e-7
    body = scalar(values)
    steps = steps_of(body)
    rgb, _ = colour_numbers(values, (low, high), name="gray", steps=steps)
    sent, half = steps.sent(values), steps.size / 2
    near = np.float32 if steps.as_floats else float
    assert ((rgb == BELOW).all(axis=2) == (sent < near(low) - half)).all()
    assert ((rgb == ABOVE).all(axis=2) == (sent > near(high) + half)).all()
    on_end = (values == low) | (values == high)
    assert on_end.sum() == 2
    for colour in (BELOW, ABOVE):
        assert not (rgb[on_end] == colour).all(axis=1).any()
    # nobody who is a whole step beyond an end is within it
    clear = (values < low - 2 * half - 1e-5) | (values > high + 2 * half + 1e-5)
    assert ((rgb == BELOW) | (rgb == ABOVE)).all(axis=2)[clear].all()
    # and what a browser reckons from the bytes is what `sent` says
    found = field(body)
    if found.head["bits"] == 32:
        assert np.array_equal(floats(found), sent)
    else:
        for row, column in spots(60, 80, 100):
            assert found.number(0, row, column) == sent[row, column]


def test_numbers_that_fill_open_pixels_say_so() -> None:
    values = np.array([[1.0, 2.5, np.nan]], np.float32)
    body = scalar(values, unit="m", kind="diverging", filled=np.array([[False, True, True]]))
    shown = look_of(pane("error", body)).panes[0]
    said = [read_value(shown, x, 0.5) for x in (0.1, 0.5, 0.9)]
    assert said == ["+1 m", "+2.5 m (open: filled as scored)", "-"]
    found = Field(*field_of(shown))
    assert found.head["filled"]
    assert list(found.data[-3:]) == [0, 1, 1]
    assert len(found.data) == 3 * (found.head["bits"] // 8 + 1)


@pytest.mark.parametrize(
    "values",
    [[[3.0, 3.0, np.nan]], [[np.nan, np.inf, -np.inf]], [[-1e308, 0.0, 1e308]], [[0.0, 5e-324]]],
)
def test_odd_numbers_stay_what_they_are(values: list[list[float]]) -> None:
    found = field(scalar(values))
    span = found.head["high"] / 2 - found.head["low"] / 2
    for column, value in enumerate(values[0]):
        level = found.level(0, 0, column)
        assert (level == 0) == (not math.isfinite(value))
        if level:
            part = (level - 1) / 65534
            wanted = 0.0 if span == 0 else (value / 2 - found.head["low"] / 2) / span
            assert part == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize(("count", "bits"), [(2, 8), (255, 8), (256, 16), (300, 16)])
def test_ids_of_classes_come_back_as_they_are(count: int, bits: int) -> None:
    ids = RNG.integers(-1, count, (50, 40))
    found = field(ClassMap(ids=ids, classes=tuple(f"c{at}" for at in range(count))))
    assert (found.head["bits"], found.head["count"]) == (bits, count)
    for row, column in spots(50, 40):
        at = row * 40 + column
        level = found.data[at] + (256 * found.data[found.size + at] if bits == 16 else 0)
        assert level - 1 == ids[row, column]


def test_directions_come_back_within_a_hundredth_of_a_degree() -> None:
    vectors = RNG.normal(size=(50, 60, 3))
    vectors[0, :6] = [[0, 0, 1], [0, 0, -1], [1, 0, 0], [0, -1, 0], [-1, 0, 0], [0, 1, 0]]
    vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
    vectors[3, 4] = np.nan
    found = field(Directions(values=vectors))
    for row, column in [*spots(50, 60), *((0, at) for at in range(6)), (3, 4)]:
        u, v = found.number(0, row, column), found.number(1, row, column)
        if (row, column) == (3, 4):
            assert (u, v) == (None, None)
            continue
        assert u is not None
        assert v is not None
        z = 1 - abs(u) - abs(v)
        x, y = u, v
        if z < 0:
            x = (1 - abs(v)) * (1 if u >= 0 else -1)
            y = (1 - abs(u)) * (1 if v >= 0 else -1)
        got = np.array([x, y, z]) / math.sqrt(x * x + y * y + z * z)
        across = np.linalg.norm(np.cross(got, vectors[row, column]))
        assert got @ vectors[row, column] > 0
        assert math.degrees(math.asin(min(1.0, across))) < 0.01


def test_a_large_map_is_reduced_and_says_so() -> None:
    values = np.arange(3000, dtype=float)[None].repeat(12, axis=0)
    found = field(scalar(values))
    assert found.head["reduced"] is True
    assert found.head["full"] == [3000, 12]
    assert (found.width, found.height) == (MOST_SIDE, 8)
    for column in (0, 1000, 2047):
        number = found.number(0, 3, column)
        assert number == pytest.approx((column + 0.5) * 3000 / 2048 - 0.5, abs=1.0)


def test_equal_panes_give_equal_bytes() -> None:
    values = RNG.random((30, 30))
    first, second = (look_of(pane("prediction", scalar(values))).panes[0] for _ in range(2))
    assert field_of(first)[0] == field_of(second)[0]
    assert first.key == second.key


def test_words_have_no_numbers() -> None:
    shown = look_of(pane("answer", Words(text="3"))).panes[0]
    assert not has_field(shown)
    with pytest.raises(ValueError, match="no numbers"):
        field_of(shown)
    assert read_value(shown, 0.5, 0.5) == ""


def test_a_thousand_values_in_words_are_those_of_the_array() -> None:
    values = RNG.random((45, 37)) * 9
    shown = look_of(pane("prediction", scalar(values, unit="m"))).panes[0]
    for row, column in spots(45, 37):
        said = read_value(shown, (column + RNG.random()) / 37, (row + RNG.random()) / 45)
        assert said == f"{values[row, column]:.6g} m"


def test_what_a_pane_says_at_a_point() -> None:
    look = look_of(
        pane("input", photo(2, 2)),
        pane("prediction", scalar([[2.31, 1.0], [np.nan, -0.26]], unit="m")),
        pane("error", scalar([[0.26, -0.26], [0.0, np.nan]], unit="m", kind="diverging")),
        pane("target", ClassMap(ids=np.array([[0, 1], [-1, 1]]), classes=("road", "car"))),
        pane("detail", Directions(values=np.array([[[0.12, 0.33, 0.94]] * 2] * 2))),
    )
    said = [[read_value(shown, x, 0.1) for x in (0.0, 0.49, 0.5, 1.0)] for shown in look.panes]
    by_name = dict(zip([shown.name for shown in look.panes], said, strict=True))
    assert by_name["prediction"] == ["2.31 m", "2.31 m", "1 m", "1 m"]
    assert by_name["error"] == ["+0.26 m", "+0.26 m", "-0.26 m", "-0.26 m"]
    assert by_name["target"] == ["road", "road", "car", "car"]
    assert by_name["detail"][0] == "0.120 0.330 0.940"
    assert by_name["input"][0].count(" ") == 2
    assert read_value(look.panes[1], 0.1, 0.9) == "-"
    assert [read_value(s, 0.1, 0.9) for s in look.panes if s.name == "target"] == ["ignored"]
    assert read_value(look.panes[1], 1.5, 0.9) == ""


def test_a_value_is_read_where_the_original_lies_and_not_out_of_step() -> None:
    shown = look_of(pane("answer", scalar([[1.0, 2.0, 3.0, 4.0]]))).panes[0]
    framed = msgspec.structs.replace(shown, frame=(0.25, 0.0, 0.5, 1.0))
    assert [read_value(framed, x, 0.5) for x in (0.0, 0.49, 0.51, 1.0)] == ["2", "2", "3", "4"]
    assert read_value(msgspec.structs.replace(shown, frame=None), 0.5, 0.5) == ""


@pytest.mark.parametrize("kind", ["numbers", "floats", "directions"])
def test_a_large_field_is_made_in_little_memory(kind: str) -> None:
    values = RNG.random((MOST_SIDE, MOST_SIDE), np.float32) + 1
    body: Any = scalar(values)
    if kind == "floats":
        values[0, 0] = 1e9
    elif kind == "directions":
        body = Directions(values=np.stack([values] * 3, axis=2))
    shown = look_of(pane("prediction", body)).panes[0]
    tracemalloc.start()
    try:
        field_of(shown)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # what is sent, and it twice more on the way
    assert peak < 14 * values.size
