"""Panes as pictures: alignment, overlays, classes, marks, cards, and styles out of addresses."""

from __future__ import annotations

import io
import time
import tracemalloc
from typing import Any

import numpy as np
import PIL.Image
import pytest
from drawing_kit import look_of, pane, photo, scalar
from vgen_eval.errors import UsageError
from vgen_eval.imaging import Image
from vgen_eval.viewer.drawing.bands import PIXELS
from vgen_eval.viewer.drawing.legend import colours_of, legend_of
from vgen_eval.viewer.drawing.maps import HATCH, PAPER, TABLES, class_colour
from vgen_eval.viewer.drawing.overlays import DOTS
from vgen_eval.viewer.drawing.render import Style, draw, encode_png, encode_webp
from vgen_eval.viewing import (
    Bar,
    Bars,
    ClassMap,
    Directions,
    Mark,
    Marks,
    Picture,
    Words,
)

HEIGHT, WIDTH = 48, 64


def checker() -> np.ndarray[Any, Any]:
    """One pixel black, one white."""
    return (np.add.outer(np.arange(HEIGHT), np.arange(WIDTH)) % 2).astype(np.int64)


def all_kinds(mask: np.ndarray[Any, Any]) -> dict[str, Any]:
    """The same black and white picture as every kind of map."""
    normals = np.zeros((*mask.shape, 3))
    normals[..., 2] = np.where(mask > 0, 1.0, -1.0)
    return {
        "picture": Picture(image=Image(np.repeat(mask[..., None] * 255, 3, 2).astype(np.uint8))),
        "scalar": scalar(mask, low=0.0, high=1.0),
        "classes": ClassMap(ids=mask, classes=("a", "b"), colours=((0, 0, 0), (255, 255, 255))),
        "directions": Directions(values=normals),
    }


def test_a_checker_of_single_pixels_is_drawn_to_the_pixel_in_every_kind() -> None:
    mask = checker()
    for name, body in all_kinds(mask).items():
        look = look_of(pane("prediction", body))
        drawn = draw(look.panes[0], look, style=Style(map="gray"))
        assert drawn.shape == (HEIGHT, WIDTH, 3)
        assert np.array_equal(drawn[..., 2] > 127, mask > 0), name


@pytest.mark.parametrize("side", [64, 32, 16])
@pytest.mark.parametrize(("row", "column"), [(0, 0), (20, 33), (47, 63)])
def test_all_layers_have_one_geometry_at_every_size(side: int, row: int, column: int) -> None:
    """A block that is seen at every size lies at the same place in every kind of pane."""
    step = WIDTH // side
    mask = np.zeros((HEIGHT, WIDTH), np.int64)
    top, left = row // step * step, column // step * step
    mask[top : top + step, left : left + step] = 1
    wanted = np.zeros((HEIGHT // step, WIDTH // step), bool)
    wanted[top // step, left // step] = True
    for name, body in all_kinds(mask).items():
        look = look_of(pane("prediction", body))
        drawn = draw(look.panes[0], look, style=Style(map="gray"), long_side=side)
        assert np.array_equal(drawn[..., 2] > 127, wanted), name


@pytest.mark.parametrize("side", [640, 320, 160])
def test_marks_lie_where_the_picture_has_the_thing(side: int) -> None:
    black = Picture(image=Image(np.zeros((480, 640, 3), np.uint8)))
    for x, y in ((100, 50), (320.5, 240.25), (600, 450)):
        dot = Marks(marks=(Mark(x=x, y=y, shape="dot", meaning="thing"),))
        look = look_of(pane("input", black), pane("prediction", dot))
        drawn = draw(look.panes[1], look, long_side=side).astype(float)
        light = drawn[..., 0] * (drawn[..., 0] > 60)
        rows, columns = np.indices(light.shape)
        scale = side / 640
        found_x = (light * columns).sum() / light.sum()
        found_y = (light * rows).sum() / light.sum()
        assert (found_x + 0.5) / scale - 0.5 == pytest.approx(x, abs=0.5 / scale)
        assert (found_y + 0.5) / scale - 0.5 == pytest.approx(y, abs=0.5 / scale)


@pytest.mark.parametrize("shape", ["ring", "square", "cross", "dot"])
def test_shapes_are_told_apart_without_colour(shape: Any) -> None:
    plain = Picture(image=Image(np.full((480, 480, 3), 90, np.uint8)))

    def drawn(one: Any) -> np.ndarray[Any, Any]:
        marks = Marks(marks=(Mark(x=240, y=240, shape=one, meaning="m"),))
        look = look_of(pane("input", plain), pane("prediction", marks))
        return (draw(look.panes[1], look) != 90).any(axis=2)

    for other in {"ring", "square", "cross", "dot"} - {shape}:
        apart = (drawn(shape) != drawn(other)).sum()
        assert apart > 0.2 * drawn(shape).sum()


def test_marks_with_places_that_cannot_be_are_passed_over() -> None:
    marks = tuple(
        Mark(x=x, y=1.0, shape="ring", meaning="m") for x in (float("nan"), float("inf"), 1e30)
    )
    look = look_of(pane("input", photo(20, 20)), pane("prediction", Marks(marks=marks)))
    assert np.array_equal(draw(look.panes[1], look), draw(look.panes[0], look))
    alone = look_of(pane("prediction", scalar([[1.0]])), pane("detail", Marks(marks=marks)))
    assert (draw(alone.panes[-1], alone) == PAPER).all()


# --- classes ------------------------------------------------------------------------------


def classes(ids: Any, **more: Any) -> ClassMap:
    names = more.pop("classes", ("road", "car", "sky"))
    return ClassMap(ids=np.asarray(ids), classes=names, **more)


def test_a_map_of_classes_lies_over_the_picture() -> None:
    picture = Picture(image=Image(np.full((2, 4, 3), 200, np.uint8)))
    body = classes(
        [[0, 0, -1, 1]] * 2, colours=((100, 0, 0), (0, 100, 0), (0, 0, 100)), opacity=0.5
    )
    look = look_of(pane("input", picture), pane("prediction", body))
    drawn = draw(look.panes[1], look)
    assert drawn[0, 0].tolist() == [150, 100, 100]
    assert drawn[0, 3].tolist() == [100, 150, 100]
    assert drawn[0, 2].tolist() in [list(colour) for colour in HATCH]
    opaque = draw(look.panes[1], look, style=Style(opacity=1.0))
    assert opaque[0, 0].tolist() == [100, 0, 0]
    hidden = draw(look.panes[1], look, style=Style(off=(0,)))
    assert hidden[0, 0].tolist() == [200, 200, 200]
    assert hidden[0, 3].tolist() == [100, 150, 100]


def test_where_a_clear_map_has_no_class_the_picture_is_seen() -> None:
    look = look_of(
        pane("input", photo(4, 4)), pane("prediction", classes([[-1] * 4] * 4, clear=True))
    )
    assert np.array_equal(draw(look.panes[1], look), draw(look.panes[0], look))


def test_without_a_picture_hidden_classes_are_gray() -> None:
    look = look_of(pane("prediction", classes([[0, 1]])))
    assert draw(look.panes[0], look, style=Style(off=(1, 99)))[0, 1].tolist() == list(PAPER)


def test_a_class_has_one_colour_in_all_panes() -> None:
    look = look_of(
        pane("target", classes([[0, 1, 2]])),
        pane("prediction", classes([[0, 1, 0]], classes=("sky", "car"))),
        pane("error", classes([[0, 0, 0]], classes=("missed",), colours=((1, 2, 3),))),
    )
    by_name = {shown.name: shown for shown in look.panes}
    road, car, sky = colours_of(by_name["target"], look)
    assert (road, car, sky) == tuple(class_colour(at) for at in range(3))
    assert colours_of(by_name["prediction"], look) == (sky, car)
    assert colours_of(by_name["error"], look) == ((1, 2, 3),)
    drawn = draw(by_name["prediction"], look)
    assert [tuple(colour.tolist()) for colour in drawn[0]] == [sky, car, sky]


def test_patterned_classes_have_dots() -> None:
    look = look_of(pane("error", classes(np.zeros((12, 12), int), patterned=("road", "nothing"))))
    drawn = draw(look.panes[0], look)
    assert len({tuple(colour) for row in drawn.tolist() for colour in row}) == 2


def test_ids_and_no_colours_survive_a_smaller_size() -> None:
    rng = np.random.default_rng(5)
    look = look_of(pane("prediction", classes(rng.integers(0, 3, (90, 120)))))
    drawn = draw(look.panes[0], look, long_side=40)
    colours = {class_colour(at) for at in range(3)}
    assert {tuple(colour) for row in drawn.tolist() for colour in row} <= colours


def test_the_legend_counts_pixels_and_puts_the_largest_first() -> None:
    body = classes([[1, 1, 1, 0, -1, 1, 1, 1]], notes={"car": "IoU 0.71"}, none="void")
    look = look_of(pane("prediction", body))
    rows = legend_of(look.panes[0], look)
    assert [(row.name, row.pixels, row.note) for row in rows] == [
        ("car", 6, "IoU 0.71"), ("road", 1, ""), ("void", 1, ""),
    ]  # fmt: skip
    assert rows[0].share == 0.75
    assert rows[0].hex == "#{:02x}{:02x}{:02x}".format(*class_colour(1))
    assert legend_of(look_of(pane("input", photo(2, 2))).panes[0], look) == ()


# --- sizes and keys -----------------------------------------------------------------------


def test_panes_are_reduced_and_never_enlarged() -> None:
    look = look_of(pane("input", photo(30, 90)))
    assert draw(look.panes[0], look).shape == (30, 90, 3)
    assert draw(look.panes[0], look, long_side=45).shape == (15, 45, 3)
    assert draw(look.panes[0], look, long_side=900).shape == (30, 90, 3)
    thin = look_of(pane("input", photo(1, 500)))
    assert draw(thin.panes[0], thin, long_side=50).shape == (1, 50, 3)


def test_a_sparse_map_stays_to_be_seen_when_it_is_small() -> None:
    values = np.full((512, 512), np.nan)
    values[::16, ::16] = 1.0
    look = look_of(pane("target", scalar(values, low=0.0, high=1.0)))
    drawn = draw(look.panes[0], look, long_side=32)
    assert (drawn == TABLES["viridis"][255]).all()


def test_a_large_map_is_drawn_in_good_time() -> None:
    values = np.random.default_rng(0).random((4000, 6000)).astype(np.float32)
    look = look_of(pane("target", scalar(values)))
    started = time.perf_counter()
    assert draw(look.panes[0], look, long_side=256).shape == (171, 256, 3)
    assert time.perf_counter() - started < 2.0


def test_a_tall_map_has_no_seam_where_its_parts_meet() -> None:
    height, width = 5 * PIXELS // 1000, 1000
    rows, columns = np.indices((height, width))
    hatched = np.where(((rows + columns) % 8 < 4)[..., None], *(np.uint8(c) for c in HATCH))
    values = np.broadcast_to(np.linspace(0, 1, height)[:, None], (height, width)).copy()
    values[:, ::3] = np.nan
    look = look_of(pane("prediction", scalar(values, low=0.0, high=1.0)))
    drawn = draw(look.panes[0], look, style=Style(map="gray"))
    levels = np.floor(255 * np.linspace(0, 1, height) + 0.5).astype(np.uint8)
    assert np.array_equal(drawn[:, 1], np.repeat(levels[:, None], 3, 1))
    assert np.array_equal(drawn[:, ::3], hatched[:, ::3])
    ids = np.zeros((height, width), np.int64)
    ids[:, ::3] = -1
    body = ClassMap(ids=ids, classes=("a",), colours=((0, 0, 0),), patterned=("a",))
    look = look_of(pane("prediction", body))
    drawn = draw(look.panes[0], look)
    dots = np.where((rows % DOTS < 2) & (columns % DOTS < 2), 255, 0)
    assert np.array_equal(drawn[:, 1::3, 0], dots[:, 1::3])
    assert np.array_equal(drawn[:, ::3], hatched[:, ::3])


def test_a_large_map_is_drawn_in_little_memory() -> None:
    side = 1600
    body = ClassMap(ids=np.zeros((side, side), np.uint8), classes=("a",), opacity=0.5)
    for each in (scalar(np.ones((side, side), np.float32)), body):
        look = look_of(pane("input", photo(side, side)), pane("prediction", each))
        tracemalloc.start()
        try:
            draw(look.panes[1], look)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        # its colours, and some rows at a time; at once it would be 40 bytes a pixel and more
        assert peak < 12 * side * side


def test_the_key_changes_with_what_is_shown_and_with_what_lies_below_it() -> None:
    values = np.arange(12.0).reshape(3, 4)
    keys = set()
    shared = pane("prediction", scalar(values), shares="d")
    for look in (
        look_of(pane("prediction", scalar(values))),
        look_of(pane("target", scalar(values))),
        look_of(pane("prediction", scalar(values + 1))),
        look_of(pane("prediction", scalar(values, reverse=True))),
        look_of(pane("prediction", scalar(values.T))),
        look_of(shared, pane("target", scalar(values), shares="d")),
        look_of(shared, pane("target", scalar(2 * values), shares="d")),
    ):
        keys.add((look.find("prediction") or look.panes[0]).key)
    assert len(keys) == 7
    marks = Marks(marks=(Mark(x=1, y=1, shape="dot", meaning="m"),))
    over = [
        look_of(pane("input", photo(3, 3, seed)), pane("prediction", marks)).panes[1].key
        for seed in (0, 0, 1)
    ]
    assert over[0] == over[1] != over[2]


# --- cards --------------------------------------------------------------------------------


def test_words_are_drawn_whatever_they_are() -> None:
    for text in ("", "3", "\x00\u202e\x1b[31m" * 50, "<script>" * 200_000, "ok " * 10):
        look = look_of(pane("answer", Words(text=text, facts=(("a\x07", "b" * 5000),))))
        started = time.perf_counter()
        drawn = draw(look.panes[0], look, long_side=256)
        assert time.perf_counter() - started < 1.0
        assert drawn.shape == (192, 256, 3)
        assert drawn.std() > 1


def test_bars_without_a_value_or_a_scale_are_drawn() -> None:
    bars = (
        Bar(label="good", value=0.9, right=True), Bar(label="bad", value=None, chosen=True),
        Bar(label="odd", value=float("nan")), Bar(label="far", value=99.0),
    )  # fmt: skip
    for body in (Bars(bars=bars), Bars(bars=bars, low=1.0, high=1.0), Bars(bars=())):
        look = look_of(pane("prediction", body))
        assert draw(look.panes[0], look).shape == (480, 640, 3)


def test_the_right_option_has_a_tick_and_not_only_a_colour() -> None:
    def drawn(*, right: bool) -> np.ndarray[Any, Any]:
        look = look_of(pane("prediction", Bars(bars=(Bar(label="a", value=0.5, right=right),))))
        return draw(look.panes[0], look)

    changed = (drawn(right=True) != drawn(right=False)).any(axis=2)
    assert 20 < changed.sum() < 2000


def test_a_clip_is_a_sheet_and_its_middle_frame_when_small() -> None:
    pytest.importorskip("av")
    from vgen_eval.video import Clip, write_mp4
    from vgen_eval.viewing import Film

    frames = [np.full((48, 64, 3), level, np.uint8) for level in (0, 60, 120, 180, 240)]
    data = write_mp4(frames, fps=5)
    look = look_of(pane("answer", Film(clip=Clip.open(data))))
    small = draw(look.panes[0], look, long_side=256)
    assert small.shape == (48, 64, 3)
    assert abs(float(small.mean()) - 120) < 8
    assert draw(look.panes[0], look).shape[1] > 200


# --- files and addresses ------------------------------------------------------------------


def test_files_hold_the_picture() -> None:
    pixels = photo(40, 50).image.array
    assert np.array_equal(np.asarray(PIL.Image.open(io.BytesIO(encode_png(pixels)))), pixels)
    lossless = PIL.Image.open(io.BytesIO(encode_webp(pixels, lossless=True)))
    assert np.array_equal(np.asarray(lossless.convert("RGB")), pixels)
    assert PIL.Image.open(io.BytesIO(encode_webp(pixels))).format == "WEBP"


def test_a_style_goes_into_an_address_and_comes_back() -> None:
    style = Style(map="turbo", low=0.25, high=4.0, scale="log", off=(3, 17), opacity=0.5)
    assert Style.read(dict(style.pairs())) == style
    assert Style().pairs() == []
    assert Style.read({}) == Style()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"map": "viridi"}, "Nearest: viridis"),
        ({"scale": "logg"}, "Nearest: log"),
        ({"lo": "x"}, "lo: 'x'"),
        ({"hi": "nan"}, "hi: 'nan'"),
        ({"lo": "3", "hi": "3"}, "3 is not below 3"),
        ({"opacity": "2"}, "0 to 1"),
        ({"off": "1,2"}, "off:"),
        ({"off": ".".join(["1"] * 9000)}, "off:"),
    ],
)
def test_a_style_that_cannot_be_says_why(given: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Style.read(given)
