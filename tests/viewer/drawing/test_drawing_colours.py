"""Tables of colours, the colours beside them, and numbers through them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from drawing_kit import look_of, pane, scalar
from vgen_eval.viewer.drawing.maps import (
    ABOVE,
    BELOW,
    FIXED,
    HATCH,
    PAPER,
    TABLES,
    class_colour,
    table,
)
from vgen_eval.viewer.drawing.numbers import colour_directions, colour_numbers, hatch
from vgen_eval.viewer.drawing.ranges import range_of, shared_ranges
from vgen_eval.viewer.drawing.render import Style, draw
from vgen_eval.viewing import Directions


@pytest.mark.parametrize("name", ["viridis", "cividis", "turbo", "inferno"])
def test_published_maps_are_as_published(name: str) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    published = matplotlib.colormaps[name](np.arange(256))[:, :3]
    assert np.array_equal(table(name), np.rint(published * 255).astype(np.uint8))


def test_every_map_has_256_colours_of_its_own() -> None:
    assert set(TABLES) == {"viridis", "cividis", "gray", "turbo", "inferno", "diverging"}
    for name, triples in TABLES.items():
        assert len(triples) == 256
        assert all(0 <= part <= 255 for triple in triples for part in triple)
        assert len(set(triples)) >= 200, name
    assert TABLES["gray"] == tuple((level, level, level) for level in range(256))


def test_the_diverging_map_is_gray_in_the_middle_and_no_side_is_brighter() -> None:
    light = table("diverging").astype(float) @ [0.2126, 0.7152, 0.0722]
    middle = table("diverging")[127:129].astype(int)
    assert np.ptp(middle, axis=1).max() <= 2
    assert light.argmax() in (127, 128)
    assert abs(light[0] - light[255]) < 25
    blue, orange = table("diverging")[20].astype(int), table("diverging")[235].astype(int)
    assert blue[2] > blue[0] + 60
    assert orange[0] > orange[2] + 60


@pytest.mark.parametrize("colour", [BELOW, ABOVE])
def test_numbers_beyond_the_ends_have_a_colour_that_no_map_has(
    colour: tuple[int, int, int],
) -> None:
    for name in TABLES:
        apart = np.sqrt(((table(name).astype(float) - colour) ** 2).sum(axis=1)).min()
        assert apart > 60, name


def test_class_colours_differ_in_hue_and_in_lightness() -> None:
    first = np.array([class_colour(at) for at in range(20)], float)
    apart = np.sqrt(((first[:, None] - first[None]) ** 2).sum(axis=2))
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > 25
    light = first @ [0.2126, 0.7152, 0.0722]
    assert np.abs(np.diff(light)).min() > 3  # neighbours are told apart without hue
    assert len({class_colour(at) for at in range(160)}) == 160
    assert FIXED["paper"] == (PAPER,)


def place(value: float, low: float, high: float, scale: str) -> int:
    """As the docstring of `numbers` says it, number by number."""
    ways = {
        "linear": lambda v: v,
        "log": math.log,
        "inverse": lambda v: -1 / v,
    }
    way = ways[scale]
    return math.floor(255 * (way(value) - way(low)) / (way(high) - way(low)) + 0.5)


@pytest.mark.parametrize("scale", ["linear", "log", "inverse"])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_number_has_the_colour_of_its_place(scale: str, reverse: bool) -> None:
    rng = np.random.default_rng(1)
    values = rng.uniform(0.5, 8.0, (9, 11))
    low, high = 1.0, 6.0
    rgb, is_there = colour_numbers(values, (low, high), name="turbo", scale=scale, reverse=reverse)
    assert is_there.all()
    for row in range(9):
        for column in range(11):
            value = values[row, column]
            if value < low:
                wanted = BELOW
            elif value > high:
                wanted = ABOVE
            else:
                at = place(value, low, high, scale)
                wanted = TABLES["turbo"][255 - at if reverse else at]
            assert tuple(rgb[row, column].tolist()) == wanted


def test_a_scale_that_has_no_zero_is_linear_there() -> None:
    values = np.array([[0.0, 0.5, 1.0]])
    for scale in ("log", "inverse"):
        rgb, _ = colour_numbers(values, (0.0, 1.0), name="gray", scale=scale)
        assert rgb[0, :, 0].tolist() == [0, 128, 255]


def test_nothing_is_hatched_in_pixels_of_the_screen() -> None:
    values = np.full((32, 64), np.nan)
    values[:, 32:] = 1.0
    look = look_of(pane("prediction", scalar(values, low=0.0, high=2.0)))
    for side in (None, 32):
        drawn = draw(look.panes[0], look, long_side=side)
        half = drawn.shape[1] // 2
        for row in range(drawn.shape[0]):
            for column in range(half):
                wanted = HATCH[0] if (row + column) % 8 < 4 else HATCH[1]
                assert tuple(drawn[row, column].tolist()) == wanted
        assert (drawn[:, half:] == TABLES["viridis"][128]).all()
    assert np.array_equal(hatch(8, 8), hatch(16, 16)[8:, 8:])


def test_directions_are_drawn_as_half_of_n_plus_one() -> None:
    vectors = np.array([[[1, 0, 0], [0, 2.0, 0], [0, 0, -1], [np.nan, 0, 0], [0, 0, 0]]], float)
    rgb, is_there = colour_directions(vectors)
    assert rgb[0, :3].tolist() == [[255, 128, 128], [128, 255, 128], [128, 128, 0]]
    assert is_there.tolist() == [[True, True, True, False, False]]
    look = look_of(pane("target", Directions(values=vectors)))
    assert draw(look.panes[0], look)[0, 4].tolist() == list(HATCH[1])


# --- ranges -------------------------------------------------------------------------------


def test_prediction_and_target_share_the_range_of_the_target() -> None:
    rng = np.random.default_rng(2)
    truth = rng.uniform(1, 5, (40, 50))
    truth[0, :5] = np.nan
    guess = truth * 40
    look = look_of(
        pane("prediction", scalar(guess, unit="m"), shares="depth"),
        pane("target", scalar(truth, unit="m"), shares="depth"),
    )
    ranges = shared_ranges([look])
    known = np.sort(truth[np.isfinite(truth)])
    low, high = ranges["depth"]
    assert low == pytest.approx(np.quantile(known, 0.02))
    assert high == pytest.approx(np.quantile(known, 0.98))
    for shown in look.panes:
        assert range_of(shown, ranges) == (low, high)
    drawn = {shown.name: draw(shown, look) for shown in look.panes}
    inside = (truth > low) & (truth < high)
    assert (drawn["prediction"][inside] == ABOVE).all()
    assert not (drawn["target"][inside] == ABOVE).all(axis=1).any()


def test_without_a_target_a_range_is_of_all_attempts() -> None:
    first = look_of(pane("prediction", scalar(np.linspace(0, 1, 101)[None]), shares="depth"))
    second = look_of(pane("prediction", scalar(np.linspace(3, 4, 101)[None]), shares="depth"))
    assert shared_ranges([first, second]) == {"depth": (pytest.approx(0.02), pytest.approx(3.98))}


def test_ends_of_the_pane_itself_win() -> None:
    look = look_of(pane("error", scalar([[0.0, 9.0]], kind="error", low=0.0, high=0.5)))
    assert range_of(look.panes[0], {"": (3.0, 4.0)}) == (0.0, 0.5)


def test_a_diverging_range_is_symmetric_and_an_error_begins_at_0() -> None:
    values = np.linspace(-1, 3, 401)[None]
    diverging = look_of(pane("error", scalar(values, kind="diverging"))).panes[0]
    end = float(np.quantile(np.abs(values), 0.98))
    assert range_of(diverging) == (pytest.approx(-end), pytest.approx(end))
    error = look_of(pane("error", scalar(np.abs(values), kind="error"))).panes[0]
    assert range_of(error) == (0.0, pytest.approx(end))


@pytest.mark.parametrize(
    "values", [[[2.0, 2.0]], [[0.0, 0.0]], [[np.nan, np.inf]], [[-1e300, 1e300]]]
)
def test_there_is_always_room_between_the_ends(values: list[list[float]]) -> None:
    look = look_of(pane("prediction", scalar(values)))
    low, high = range_of(look.panes[0]) or (0.0, 0.0)
    assert low < high
    assert draw(look.panes[0], look).shape == (1, 2, 3)


def test_a_reader_may_ask_for_other_colours_and_ends() -> None:
    look = look_of(pane("prediction", scalar([[1.0, 2.0, 3.0]])))
    drawn = draw(look.panes[0], look, style=Style(map="gray", low=1.0, high=3.0))
    assert drawn[0, :, 0].tolist() == [0, 128, 255]
