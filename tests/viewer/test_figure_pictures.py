"""Pictures in figures: pixels as they are drawn, frames of clips, what colours and marks mean."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET

import msgspec
import numpy as np
import PIL.Image
import pytest
import shown_kit as kit
from vgen_eval.viewer.drawing.maps import HATCH, MARKS
from vgen_eval.viewer.drawing.render import Style
from vgen_eval.viewer.figure.build import build_figure
from vgen_eval.viewer.figure.cells import Cell
from vgen_eval.viewer.figure.draw import draw_figure
from vgen_eval.viewer.figure.extent import measure
from vgen_eval.viewer.figure.pictures import draw_into
from vgen_eval.viewer.figure.scales import Key, Seen, list_colours, tell_colours
from vgen_eval.viewer.looking import Look, Shown
from vgen_eval.viewing import ClassMap, Film, Mark, Marks, Pane, ScalarMap

pytest.importorskip("matplotlib")
DEPTH = ("classical depth", "oracle depth")
NONE: dict[str, tuple[float, float]] = {}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return kit.make_runs(tmp_path_factory.mktemp("pictured"))


def look_of(body, role="prediction", size=(6, 4)) -> tuple[Shown, Look]:
    pane = Pane(role=role, title=role, body=body)
    shown = Shown(name=role, pane=pane, key="k", width=size[0], height=size[1], spread=(0.0, 9.0))
    return shown, Look(run=None, sample="a", attempt=0, attempts=1, panes=(shown,))


def seen_of(*bodies, of="prediction") -> Seen:
    seen = Seen()
    for body in bodies:
        seen.note(*look_of(body), of, Style(), NONE)
    return seen


@pytest.mark.parametrize("layout", ["editors", "gallery"])
@pytest.mark.parametrize("width", [3.3, 7.0])
def test_a_pixel_of_a_picture_is_one_of_the_file(runs, layout, width):
    gathered = kit.gathered(runs, *DEPTH, select="random:1", n=1)
    made = build_figure(gathered, layout=layout, width=width)
    data = draw_figure(made, "png", width=width)
    with PIL.Image.open(io.BytesIO(data)) as picture:
        drawn = np.asarray(picture.convert("RGB"))
    extent = measure(made, width=width)
    checked = 0
    for placed in extent.bands:
        for left, cell in zip(extent.lefts, placed.band.cells, strict=True):
            rows, columns = cell.array.shape[:2]
            most = (extent.side * 300, placed.high * 300)
            assert columns <= most[0] + 0.01
            assert rows <= most[1] + 0.01
            if columns < most[0] - 4:
                continue  # a small one, drawn larger
            around = drawn[
                round(placed.top * 300) - 3 : round((placed.top + placed.high) * 300) + 3,
                round(left * 300) - 3 : round((left + extent.side) * 300) + 3,
            ]
            inner = cell.array[3:-3, 3:-3]  # a white one has an edge on it
            views = np.lib.stride_tricks.sliding_window_view(around, inner.shape)
            assert any((view == inner).all() for view in views.reshape(-1, *inner.shape))
            checked += 1
    assert checked >= 2


def test_unsigned_errors_are_clipped_above_alone():
    error = ScalarMap(values=np.array([[0.0, 5.0], [60.0, 9.0]]), kind="error", low=0, high=45)
    (entry,) = list_colours(seen_of(error, of="error"), Style())
    assert entry["clipped"] == ["high"]
    assert tell_colours(entry) == "errors in inferno, 0 to 45, clipped above"


@pytest.mark.parametrize(
    ("values", "told"),
    [([1.0, 8.0], ""), ([-1.0, 8.0], ", clipped below"), ([-1.0, 99.0], ", clipped")],
)
def test_only_ends_that_numbers_lie_beyond_are_called_clipped(values, told):
    body = ScalarMap(values=np.array([[*values, np.nan]]), unit="m", low=0, high=10)
    (entry,) = list_colours(seen_of(body), Style())
    assert tell_colours(entry) == f"map viridis, 0 to 10 m{told}"


def test_a_legend_tells_classes_marks_and_the_hatch():
    classes = ClassMap(
        ids=np.array([[0, 1], [-1, 1]]), classes=("right", "wrong"), patterned=("wrong",),
        colours=((9, 9, 9), (200, 0, 200)), none="ignored",
    )  # fmt: skip
    marks = Marks(marks=(
        Mark(x=1, y=1, shape="ring", meaning="matched"),
        Mark(x=1, y=1, shape="cross", meaning="missed"),
        Mark(x=2, y=1, shape="cross", meaning="missed"),
    ))  # fmt: skip
    assert seen_of(classes, marks).legend() == [
        Key(name="right", colour=(9, 9, 9)),
        Key(name="wrong", colour=(200, 0, 200), shape="dotted"),
        Key(name="matched", colour=MARKS["ring"], shape="ring"),
        Key(name="missed", colour=MARKS["cross"], shape="cross"),
        Key(name="ignored", colour=HATCH[0], shape="hatch"),
    ]


def test_what_looks_alike_is_one_row_of_the_legend():
    points = [
        Marks(marks=(Mark(x=1, y=1, shape="dot", meaning=word),)) for word in ("true", "found")
    ]
    gaps = ScalarMap(values=np.array([[np.nan, 1.0]]))
    open_ = ClassMap(ids=np.array([[-1]]), classes=("a",), none="open")
    assert [key.name for key in seen_of(*points, gaps, open_).legend()] == [
        "true, found", "no number, open",
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["png", "svg"])
def test_every_kind_of_swatch_is_drawn(runs, form):
    made = build_figure(kit.gathered(runs, *DEPTH, n=1), layout="editors", width=7)
    shapes = ("plain", "dotted", "hatch", "ring", "square", "cross", "dot")
    keys = tuple(Key(name=shape, colour=(200, 30, 30), shape=shape) for shape in shapes)
    sizes = {len(draw_figure(msgspec.structs.replace(made, legend=(key,)), form)) for key in keys}
    assert len(sizes) == len(keys)


@pytest.fixture(scope="module")
def clip():
    pytest.importorskip("av")
    from vgen_eval.video import Clip, write_mp4

    frames = [np.full((120, 160, 3), 10 + 8 * at, np.uint8) for at in range(20)]
    return Clip.open(write_mp4(frames, fps=10))


@pytest.mark.parametrize(
    ("box", "count"), [((90, 68), 1), ((330, 250), 9), ((700, 525), 12), ((700, 100), 6)]
)
def test_a_clip_is_as_many_frames_as_can_be_seen(clip, box, count):
    shown, look = look_of(Film(clip=clip), size=(160, 120))
    drawn = draw_into(box, shown, look, style=Style(), ranges=NONE)
    assert drawn.shape[0] <= box[1]
    assert drawn.shape[1] <= box[0]
    levels = [int(level) for level in np.unique(drawn[:, :, 1] // 6) if level != 190 // 6]
    assert len(levels) == count
    if count > 1:  # from the first to the last
        assert abs(levels[0] * 6 - 10) < 8
        assert abs(levels[-1] * 6 - (10 + 8 * 19)) < 8


def test_where_no_error_is_shown_there_is_no_column_for_it(runs):
    names = ("hostile answers", "oracle answers")
    for layout in ("editors", "gallery"):
        made, plain = (
            build_figure(kit.gathered(runs, *names, n=1), layout=layout, width=7, with_error=asked)
            for asked in (True, False)
        )
        assert (made.heads, made.blocks) == (plain.heads, plain.blocks)
        assert [len(band.cells) for band in made.bands] == [len(band.cells) for band in plain.bands]
        assert any(note.startswith("--error: nothing is shown") for note in made.record["notes"])


def test_an_error_row_says_what_it_is(runs):
    made = build_figure(kit.gathered(runs, *DEPTH, n=1), layout="editors", width=7, with_error=True)
    cell = made.bands[2].cells[0]
    assert (cell.kind, cell.text) == ("empty", "error")
    said = ["".join(one.itertext()) for one in ET.fromstring(draw_figure(made, "svg")).iter()]
    assert "error" in said


def test_bars_of_two_kinds_say_which_is_which(runs):
    made = build_figure(kit.gathered(runs, *DEPTH, n=1), layout="gallery", width=7, with_error=True)
    tree = ET.fromstring(draw_figure(made, "svg"))
    said = ["".join(one.itertext()) for one in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert said.count("error") == said.count("prediction") == 2 + 1  # a column a model, and a bar


def test_a_picture_larger_than_its_place_is_reduced_not_thinned(runs):
    """Stripes of a pixel become grey: no pixel is left out."""
    made = build_figure(kit.gathered(runs, *DEPTH, n=1), layout="editors", width=7)
    stripes = np.zeros((900, 1400, 3), np.uint8)
    stripes[:, ::2] = 255
    cells = (Cell(kind="picture", array=stripes),) * 3
    made = msgspec.structs.replace(
        made, bands=(msgspec.structs.replace(made.bands[0], cells=cells),)
    )
    extent = measure(made)
    with PIL.Image.open(io.BytesIO(draw_figure(made, "png"))) as picture:
        drawn = np.asarray(picture.convert("L"))
    first = extent.bands[0]
    x, y = (int(300 * part) for part in (extent.lefts[0], first.top + first.high / 2))
    middle = drawn[y - 10 : y + 10, x + 100 : x + 400].astype(int)
    assert abs(middle.mean() - 127) < 8
    assert middle.std() < 60
