"""Lists of classes, palettes dealt out anew, other rules of nearness, pictures of a palette."""

from __future__ import annotations

import numpy as np
import pytest
from vgen_eval.cards import convert
from vgen_eval.errors import BadSample, CardError, NoValidTarget
from vgen_eval.imaging import Image
from vgen_eval.types import Scene
from vgen_eval_plugins.semantic.encoders import NearestColourEncoder
from vgen_eval_plugins.semantic.labels import LabelMap, present_classes, present_fields
from vgen_eval_plugins.semantic.nearest_colour import NearestColour, NearestColourOptions
from vgen_eval_plugins.semantic.palette_picture import draw_palette
from vgen_eval_plugins.semantic.palettes import listed_classes, shuffle_colours

PALETTE = {
    "road": {"rgb": "#ff0000", "word": "red", "called": "roads and sidewalks"},
    "sky": {"rgb": "#00ffff", "word": "cyan"},
    "car": {"rgb": "#ffffff", "word": "white"},
    "tree": {"rgb": "#00ff00", "word": "green"},
}
NAMES = tuple(PALETTE)


def scene(present: str | None = "road\ncar", size: int = 6) -> Scene:
    photo = np.random.default_rng(0).integers(0, 256, (size, size, 3), dtype=np.uint8)
    fields = {} if present is None else {"present": present}
    return Scene(image=Image(photo), size=(size, size), fields=fields)


def decoder(**options: object) -> NearestColour:
    read = convert(NearestColourOptions, {"palette": PALETTE, **options}, file="test")
    return NearestColour(read)


def test_an_oracle_lists_the_classes_of_the_truth_in_the_palettes_order():
    words = decoder(classes="oracle").fields(scene("car\nroad"))
    assert words["classes"] == "roads and sidewalks, car"
    assert words["pairs"] == "the roads and sidewalks red, the car white"
    assert words["encodings"] == "road : [255, 0, 0]\ncar : [255, 255, 255]"
    assert words["palette"] == "roads and sidewalks: red (#ff0000); car: white (#ffffff)"


def test_a_class_that_is_not_listed_cannot_be_found():
    answer = np.full((6, 6, 3), (0, 255, 255), np.uint8)  # the sky
    answer[0] = (250, 5, 0)
    found = decoder(classes="oracle").decode(answer, scene("road\ncar")).value
    assert found.classes == ("road", "car")
    assert found.labels[0].tolist() == [0] * 6
    assert set(found.labels[1:].ravel()) == {1}  # white is nearer than black
    assert decoder().decode(answer, scene()).value.classes == NAMES


def test_distractors_are_drawn_alike_every_time_and_differ_by_seed():
    names = tuple(f"c{at}" for at in range(40))
    here = scene("c3\nc20")
    one = listed_classes(names, "oracle+5", here, seed=0)
    assert one == listed_classes(names, "oracle+5", here, seed=0)
    assert {"c3", "c20"} < set(one)
    assert len(one) == 7
    assert one == tuple(sorted(one, key=names.index))
    assert one != listed_classes(names, "oracle+5", here, seed=1)
    assert len(listed_classes(names, "oracle+99", here, seed=0)) == 40


@pytest.mark.parametrize("present", [None, "boat"])
def test_a_sample_that_tells_no_class_of_the_palette_is_a_bad_one(present):
    with pytest.raises(BadSample):
        decoder(classes="oracle").fields(scene(present))


def test_a_truth_of_no_class_has_nothing_to_list():
    with pytest.raises(NoValidTarget, match="no pixel"):
        decoder(classes="oracle").fields(scene(""))
    assert decoder().fields(scene(""))["classes"].startswith("roads")


@pytest.mark.parametrize("rule", ["none", "oracle+0", "oracle+", "oracle-1"])
def test_other_rules_are_refused(rule):
    with pytest.raises(CardError, match="classes"):
        decoder(classes=rule)


def test_two_equal_colours_are_refused():
    with pytest.raises(CardError, match="share the colour #ff0000"):
        convert(
            NearestColourOptions,
            {"palette": {"a": "#ff0000", "b": [255, 0, 0]}},
            file="test",
        )


def test_an_unknown_field_of_a_pair_is_refused():
    with pytest.raises(CardError, match="no field 'colour'"):
        decoder(pair="{name} {colour}")


def test_colours_are_dealt_out_anew_among_the_classes():
    shuffled = shuffle_colours(NAMES, seed=3)
    assert sorted(shuffled.values()) == sorted(NAMES)
    assert shuffled == shuffle_colours(NAMES, seed=3)
    assert any(shuffle_colours(NAMES, seed=s) != shuffled for s in range(5))
    for seed in range(20):
        moved = shuffle_colours(NAMES, seed=seed, derangement=True)
        assert all(name != other for name, other in moved.items())
    assert shuffle_colours(("alone",), seed=0, derangement=True) == {"alone": "alone"}


def test_prompt_decoder_encoder_and_picture_follow_the_same_deal():
    reader = decoder(palette_seed=1, derangement=True, palette_picture=True)
    here = scene()
    target = LabelMap(np.arange(36, dtype=np.int32).reshape(6, 6) % 4, NAMES)
    painted = NearestColourEncoder(reader.options).encode(target, here)
    assert np.array_equal(reader.decode(painted, here).value.labels, target.labels)
    assert not np.array_equal(decoder().decode(painted, here).value.labels, target.labels)
    first = reader.fields(here)["encodings"].splitlines()[0]
    assert first.startswith("road : ")
    assert first != "road : [255, 0, 0]"
    # the word goes with the colour, what the class is called stays
    assert reader.fields(here)["palette"].startswith("roads and sidewalks: ")
    assert "red" not in reader.fields(here)["palette"].split(";")[0]
    (page,) = reader.pictures(here)
    red, green, blue = (int(v) for v in first.split("[")[1].rstrip("]").split(","))
    assert (page.array[60, 110] == (red, green, blue)).all()


def test_a_palette_picture_is_white_with_a_swatch_and_a_name_a_class():
    entries = [(f"class number {at}", (at, 100, 200)) for at in range(30)]
    pages = draw_palette(entries)
    assert len(pages) == 2
    page = pages[0].array
    assert page.shape == (6 * 170, 4 * 220, 3)
    assert (page[0, 0] == 255).all()
    assert page[60, 110 + 220].tolist() == [1, 100, 200]
    assert page[60 + 170, 110].tolist() == [4, 100, 200]
    assert (page[125:165, 10:210] < 100).all(axis=2).any()  # its name, in black
    assert pages[1].array.shape == (2 * 170, 4 * 220, 3)
    assert decoder().pictures(scene()) == ()


def test_pages_of_a_list_are_drawn_once():
    reader = decoder(palette_picture=True, classes="oracle")
    assert reader.pictures(scene("road")) is reader.pictures(scene("road"))
    assert reader.pictures(scene("road")) is not reader.pictures(scene("sky"))


def test_the_printed_dot_product_takes_every_pixel_for_black():
    answer = np.random.default_rng(1).integers(1, 256, (6, 6, 3), dtype=np.uint8)
    found = decoder(decode="dot").decode(answer, scene()).value
    assert (found.labels == -1).all()  # the void is black


def test_lab_is_another_nearness():
    palette = {"dark": "#202020", "blue": "#0000ff"}
    read = convert(NearestColourOptions, {"palette": palette, "void": None}, file="test")
    lab = convert(
        NearestColourOptions, {"palette": palette, "void": None, "decode": "lab"}, file="test"
    )
    import skimage.color

    answer = np.random.default_rng(2).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    space = skimage.color.rgb2lab(answer)
    entries = skimage.color.rgb2lab(np.uint8([[[32, 32, 32], [0, 0, 255]]]))[0]
    wanted = np.linalg.norm(space[:, :, None] - entries, axis=3).argmin(axis=2)
    assert np.array_equal(NearestColour(lab).decode(answer, scene()).value.labels, wanted)
    assert not np.array_equal(NearestColour(read).decode(answer, scene()).value.labels, wanted)


def test_max_distance_goes_with_euclidean_alone():
    with pytest.raises(CardError, match="max_distance is one in RGB"):
        decoder(decode="lab", max_distance=10)


def test_present_classes_are_those_with_a_pixel():
    target = LabelMap(np.int32([[2, -1], [0, 2]]), NAMES)
    assert present_classes(target) == "road\ncar"
    assert present_fields(target) == {"present": "road\ncar"}
    assert present_fields(np.zeros((2, 2))) == {}
