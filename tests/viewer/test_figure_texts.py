"""Texts in figures: broken within their cells, rows as high as they need, what is left out told."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET

import msgspec
import numpy as np
import PIL.Image
import pytest
from vgen_eval.viewer.figure.build import Band, Figure
from vgen_eval.viewer.figure.cells import Cell
from vgen_eval.viewer.figure.draw import draw_figure
from vgen_eval.viewer.figure.extent import measure
from vgen_eval.viewer.figure.letters import break_lines, clip, fit_lines, fitting_size, width_of
from vgen_eval.viewer.figure.scales import Key

mpl = pytest.importorskip("matplotlib")

WORD = "Donaudampfschiff" * 19
ADDRESS = "https://example.org/" + "/".join(f"part-{at}?q={at * 7919}" for at in range(20))
CHINESE = "图片非常清晰,色彩自然。没有噪点,也没有压缩痕迹。" * 12
ENGLISH = "The picture is sharp and its colours look natural all over. " * 30
LONG = {"word": WORD, "address": ADDRESS, "Chinese": CHINESE, "English": ENGLISH}


def words(text: str, **more) -> Cell:
    return Cell(kind="words", text=text, **more)


PICTURE = Cell(kind="picture", array=np.full((200, 200, 3), 90, np.uint8), asked="what is it?")


def of_answers(*answers: str, **more) -> Figure:
    """A sample of a text task in the layout of editors: input and answers, truth and answers."""
    read = [words(text, under="exact_match 0.25") for text in answers]
    common = {"sample": "one", "aspect": 1.0}
    return Figure(
        heads=("input, truth", *(f"model {at}" for at in range(len(answers)))),
        bands=(
            Band(cells=(PICTURE, *map(words, answers)), title="one", **common),
            Band(cells=(words("yes"), *read), **common),
        ),
        blocks=(1,),
        record={"caption": "of answers"},
        **more,
    )


def inches(text: str, size: float) -> float:
    """As matplotlib itself measures a line that it draws."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    sheet = Sheet(dpi=300)
    FigureCanvasAgg(sheet)
    drawn = sheet.text(0, 0, text, fontsize=size, fontfamily="DejaVu Sans", parse_math=False)
    return drawn.get_window_extent().width / 300


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
@pytest.mark.parametrize("wide", [0.3, 0.74, 3.2])
def test_no_line_is_wider_than_its_cell(text, wide):
    lines = list(break_lines(text, wide, 5))
    assert "".join("".join(lines).split()) == "".join(text.split())  # no letter is lost
    assert max(inches(line, 5) for line in lines) <= wide


@pytest.mark.parametrize("text", ["Wide WAVES, i.e. moments", "rn mm llii 1,024", "(n + 1) / 2"])
def test_letters_are_measured_as_they_are_drawn(text):
    assert width_of(text, 6) == pytest.approx(inches(text, 6), rel=0.06)


def test_a_script_without_spaces_fills_its_lines():
    *full, _ = break_lines("ok " + CHINESE, 1.0, 5)
    assert all(width_of(line, 5) > 0.8 for line in full)
    assert not any(line.startswith((",", "。")) for line in full)


def test_an_address_is_broken_after_its_own_marks():
    *lines, _ = break_lines(ADDRESS, 1.5, 5)
    assert sum(line[-1] in "/-?=." for line in lines) == len(lines)


def test_a_million_letters_are_not_read_to_their_end(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "vgen_eval.viewer.figure.letters._fitting",
        lambda word, wide, size: seen.append(word) or 20,
    )
    assert len(fit_lines("x" * 1_000_000, 1, 5, 6)) == 6
    assert len(seen) < 10


@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
def test_what_is_left_out_is_counted(text):
    *kept, last = fit_lines(text, 1.5, 5, 4)
    assert len(kept) == 3
    shown, _, told = last.partition("…")
    count = int(re.fullmatch(r" ([\d,]+) more letters", told)[1].replace(",", ""))
    letters = "".join([*kept, shown]).replace(" ", "")
    assert len(letters) + count == len("".join(text.split()))
    assert "".join(text.split()).startswith(letters)


def test_what_is_left_out_is_counted_in_the_narrowest_cell():
    *_, last = fit_lines(ENGLISH, 0.3, 5, 3)
    assert last.endswith(" +1k")
    *_, last = fit_lines(ENGLISH[:500], 0.3, 5, 3)
    assert re.search(r"…\+3\d\d$", last)
    assert inches(last, 5) <= 0.3


def test_a_text_that_fits_is_whole():
    assert fit_lines("A. Yes\nB. No", 1, 5, 2) == ["A. Yes", "B. No"]


def test_words_are_made_smaller_before_they_are_broken():
    size = fitting_size("nothing to show", 0.3, 6.5, 4)
    assert 4 <= size < 6.5
    assert next(break_lines("nothing to show", 0.3, size)) == "nothing"
    assert fitting_size(WORD, 0.3, 6.5, 4) == 6.5  # would be broken all the same


def test_a_name_is_cut_in_its_middle():
    names = {clip(f"scene-of-a-long-name-{end}", 0.7, 5.5) for end in ("front", "back")}
    assert len(names) == 2
    assert all(name.startswith("scene") and "…" in name for name in names)


@pytest.mark.parametrize("models", [1, 2, 3])
@pytest.mark.parametrize("width", [3.3, 7.0])
def test_a_figure_of_short_answers_is_low(models, width):
    extent = measure(of_answers(*["B"] * models), width=width)
    first, second = extent.bands
    assert first.high <= 0.8
    assert first.high_words < 0.2
    assert second.high < 0.2
    assert extent.height < 1.7


def test_a_figure_of_long_answers_has_an_end():
    extent = measure(of_answers(ENGLISH * 20, "B"))
    assert extent.bands[1].high < 1.2
    assert extent.bands[1].texts[1].lines[-1].endswith("more letters")
    assert extent.bands[1].texts[2].lines == ("B",)


@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
def test_nothing_is_drawn_outside_of_a_text_cell(text):
    """The pixels between two cells, and those below one, are white."""
    made = of_answers(text, text)
    extent = measure(made)
    with PIL.Image.open(io.BytesIO(draw_figure(made, "png"))) as picture:
        pixels = np.asarray(picture.convert("L"))
    for placed in extent.bands:
        rows = slice(round(300 * placed.top) + 2, round(300 * (placed.top + placed.high)))
        for at in (1, 2):
            edge = 300 * (extent.lefts[at] + extent.side)
            assert (pixels[rows, int(edge) + 3 : int(edge) + 9] == 255).all()


def test_a_sample_with_pictures_keeps_them_as_wide_as_their_columns():
    made = of_answers("B", "C")
    seen = msgspec.structs.replace(PICTURE, asked="")
    bands = (made.bands[0], msgspec.structs.replace(made.bands[1], cells=(seen, seen, seen)))
    extent = measure(msgspec.structs.replace(made, bands=bands))
    assert extent.bands[0].high == extent.bands[1].high == extent.side


def texts_of(svg: bytes) -> dict[str, tuple[float, float]]:
    """Text -> where it stands: x, y."""
    found = {}
    for one in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        style = f"{one.get('transform', '')}"
        place = re.search(r"translate\(([-\d.]+) ([-\d.]+)\)", style)
        x, y = place.groups() if place else (one.get("x"), one.get("y"))
        found["".join(one.itertext())] = (float(x), float(y))
    return found


def test_the_names_of_a_legend_stand_on_one_line_with_their_swatches():
    names = ("sky", "gypsum", "ones", "Ära", "wrong class")
    keys = tuple(Key(name=name, colour=(9 * at, 99, 99)) for at, name in enumerate(names))
    made = of_answers("B", legend=keys)
    where = texts_of(draw_figure(made, "svg"))
    assert len({where[name][1] for name in names}) == 1
    (row,) = measure(made).legend
    with PIL.Image.open(io.BytesIO(draw_figure(made, "png"))) as picture:
        pixels = np.asarray(picture.convert("RGB")).astype(int)
    left = round(300 * row[1][0]) + 12
    column = np.nonzero((pixels[:, left] == (9, 99, 99)).all(axis=-1))[0]
    foot = where["gypsum"][1] / 72 * 300
    capital = 5.5 * 0.73 / 72 * 300
    middle = foot - capital / 2
    assert column.mean() == pytest.approx(middle, abs=2)  # pixels


def gallery(names: tuple[str, ...], *, own: int = 3) -> Figure:
    cells = (PICTURE, words("yes"), *[words("B", under="accuracy 0.5")] * (own * len(names)))
    heads = ("input", "truth", *("answer", "prediction", "error")[:own] * len(names))
    return Figure(
        heads=heads,
        bands=(Band(sample="one", title="one", aspect=1.0, cells=cells),),
        blocks=tuple(range(2, len(heads), own)),
        models=names,
        record={"caption": "of a gallery"},
    )


@pytest.mark.parametrize("own", [2, 3])
def test_a_models_name_stands_over_all_of_its_columns(own):
    names = ("classical", "oracle (ceiling)", "blind (floor)")
    made = gallery(names, own=own)
    extent = measure(made)
    for at, (left, right, name) in enumerate(extent.models):
        assert name.lines == (names[at],)
        first = 2 + own * at
        assert left == extent.lefts[first]
        assert right == pytest.approx(extent.lefts[first + own - 1] + extent.side)
    svg = draw_figure(made, "svg")
    where = texts_of(svg)
    assert where["classical"][1] < where["prediction"][1]
    # and a line over those columns, a block each
    assert svg.count(b"stroke-width: 0.5") == 3


def test_a_score_that_has_no_room_keeps_its_number():
    made = of_answers(*["B"] * 7)
    extent = measure(made, width=3.3)
    assert all(under.lines == ("0.25",) for _, under in extent.bands[1].unders)
    wide = measure(made, width=7.0)
    assert all(under.lines == ("exact_match 0.25",) for _, under in wide.bands[1].unders)


def test_a_question_takes_the_room_beside_it():
    question = "How is the contrast of the picture, and what does one see of it?"
    cell = msgspec.structs.replace(PICTURE, asked=question)
    made = of_answers("B", "C", "D")
    bands = (msgspec.structs.replace(made.bands[0], cells=(cell, *made.bands[0].cells[1:])),)
    extent = measure(msgspec.structs.replace(made, bands=bands), width=3.3)
    assert extent.bands[0].asked[1].lines == (question,)
