"""Drafts of tasks from folders: what belongs together, what is asked for, what is left out."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from manifestkit import DEPTH_M, HEIGHT, WIDTH, draft, fill_folder, make_photo, save
from vgen_eval.cards import convert
from vgen_eval.drafts import Draft
from vgen_eval.errors import UsageError
from vgen_eval.prompting import fill
from vgen_eval_plugins.colours import as_rgb
from vgen_eval_plugins.manifest.palette import make_palette
from vgen_eval_plugins.semantic.nearest_colour import NearestColourOptions


def pairs(made: Draft, field: str) -> list[tuple[str, str, str]]:
    return [(line["id"], line["image"], line[field]) for line in made.lines]


@pytest.mark.parametrize(
    ("image", "target", "name"),
    [
        ("images/a.png", "depth/a.npy", "a"),
        ("rgb/a.jpg", "targets/a.npy", "a"),
        ("images/x/a.png", "depth/x/a.npy", "x/a"),
        ("images/a.png", "depth/a_depth.npy", "a"),
        ("images/rgb_0001.png", "depth/depth_0001.npy", "rgb_0001"),
        ("a.png", "a_depth.npy", "a"),
        ("a.png", "a.npy", "a"),
        ("Images/a.b.PNG", "Depths/a.b.npy", "a.b"),
    ],
)
def test_a_truth_is_found_by_its_pictures_name(
    tmp_path: Path, image: str, target: str, name: str
) -> None:
    fill_folder(tmp_path, image, target)
    assert pairs(draft(tmp_path, "depth"), "depth") == [(name, image, target)]


def test_what_has_no_partner_or_two_is_told_and_left_out(tmp_path: Path) -> None:
    fill_folder(
        tmp_path, "images/a.png", "depth/a.npy", "images/b.png", "depth/c.npy",
        "images/d.png", "images/d.jpg", "depth/d.npy",
        "images/e.png", "depth/e_depth.npy", "depth/depth_e.npy",
    )  # fmt: skip
    made = draft(tmp_path, "depth")
    assert [line["id"] for line in made.lines] == ["a"]
    told = "\n".join(made.left_out)
    for words in (
        "images/b.png: no depth file",
        "depth/c.npy: no picture",
        "images/d.jpg: 2 pictures have this name",
        "images/d.png: 2 pictures have this name",
        "images/e.png: 2 depth files",
    ):
        assert words in told


def test_a_file_that_leads_out_is_left_out(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = save(tmp_path_factory.mktemp("elsewhere") / "secret.png", make_photo())
    fill_folder(tmp_path, "images/a.png", "depth/a.npy", "depth/b.npy")
    (tmp_path / "images" / "b.png").symlink_to(outside)
    made = draft(tmp_path, "depth")
    assert [line["id"] for line in made.lines] == ["a"]
    assert "leads out" in made.left_out[0]


def test_folders_are_guessed_and_told_unless_several_fit(tmp_path: Path) -> None:
    fill_folder(tmp_path, "images/a.png", "depth/a.npy", "rgb/a.png")
    with pytest.raises(UsageError, match="images and rgb") as caught:
        draft(tmp_path, "depth")
    assert caught.value.cure == "--images images"
    made = draft(tmp_path, "depth", images="rgb")
    assert pairs(made, "depth") == [("a", "rgb/a.png", "depth/a.npy")]
    assert made.guessed[0] == "depth: depth/, 1 files"
    with pytest.raises(UsageError, match=r"'dept' is no folder.*Nearest: depth"):
        draft(tmp_path, "depth", images="rgb", targets="dept")
    with pytest.raises(UsageError, match="is no folder"):
        draft(tmp_path, "depth", images="..")


def test_an_empty_folder_says_what_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no picture"):
        draft(tmp_path, "depth")
    fill_folder(tmp_path, "images/a.png", "depth/b.npy")
    with pytest.raises(UsageError, match="nothing belongs together") as caught:
        draft(tmp_path, "depth")
    assert "name of its picture" in str(caught.value.cure)


# --- depth and normals


def test_whole_numbers_of_depth_are_asked_about_with_the_likely_answers(tmp_path: Path) -> None:
    fill_folder(tmp_path, "images/a.png")
    raw = np.full((HEIGHT, WIDTH), 5000, np.uint16)
    raw[0] = 65535
    save(tmp_path / "depth" / "a.png", raw)
    with pytest.raises(UsageError, match="up to 5,000") as caught:
        draft(tmp_path, "depth")
    assert "--depth-scale 1/1000 for millimetres (up to 5 m)" in str(caught.value.cure)
    assert "--depth-scale 1/256 as KITTI (up to 19.5 m)" in str(caught.value.cure)
    made = draft(tmp_path, "depth", depth_scale=0.001)
    assert made.options["depth"] == {"scale": 0.001, "invalid": [65535]}
    assert any(note.startswith("no reading: 0 and 65535") for note in made.guessed)
    said = draft(tmp_path, "depth", depth_scale=0.001, ignore=(7,))
    assert said.options["depth"] == {"scale": 0.001, "invalid": [7]}
    assert not any(note.startswith("no reading") for note in said.guessed)
    assert any("65535" in text for text in made.guessed)


def test_depth_that_looks_like_millimetres_is_told(tmp_path: Path) -> None:
    fill_folder(tmp_path, "images/a.png")
    save(tmp_path / "depth" / "a.npy", DEPTH_M * 1000)
    assert any("2,500 m: is that so?" in text for text in draft(tmp_path, "depth").doubts)


def test_8_bit_depth_is_asked_about_as_what_it_is(tmp_path: Path) -> None:
    fill_folder(tmp_path, "images/a.png")
    save(tmp_path / "depth" / "a.png", np.full((HEIGHT, WIDTH), 200, np.uint8))
    with pytest.raises(UsageError, match="up to 200: 8-bit depth, 255 steps") as caught:
        draft(tmp_path, "depth")
    assert "1/1000" not in str(caught.value.cure)


def test_a_frame_is_assumed_aloud_and_checked(tmp_path: Path) -> None:
    fill_folder(tmp_path, "images/a.png")
    save(tmp_path / "normals" / "a.npy", np.ones((HEIGHT, WIDTH, 3), np.float32))
    assert any("opengl" in text for text in draft(tmp_path, "normals").guessed)
    made = draft(tmp_path, "normals", frame="opencv")
    assert made.options["normals"] == {"frame": "opencv"}
    assert made.exchanges["frame"]["opengl"] == "opencv"
    assert made.notes[0] == "frame: opencv, x right, y down, z away from the camera"
    assert "100% of the normals point away" in made.doubts[0]
    with pytest.raises(UsageError, match="--frame"):
        draft(tmp_path, "normals", frame="sideways")


def test_normals_that_face_away_are_asked_about_with_the_frames_that_turn_them(
    tmp_path: Path,
) -> None:
    fill_folder(tmp_path, "images/a.png")
    away = np.tile(np.array([0, 0, -1], np.float32), (HEIGHT, WIDTH, 1))
    away[:9, :, 2] = 1
    save(tmp_path / "normals" / "a.npy", away)
    with pytest.raises(UsageError, match="opengl 62% of the normals point away") as caught:
        draft(tmp_path, "normals")
    assert str(caught.value.cure).startswith("--frame opencv (right down away)")
    assert draft(tmp_path, "normals", frame="opencv").doubts == ()
    assert "62%" in draft(tmp_path, "normals", frame="opengl").doubts[0]


def test_masks_of_known_pixels_stand_beside_the_truth(tmp_path: Path) -> None:
    fill_folder(tmp_path, "images/a.png", "depth/a.npy", "valid/a_mask.png")
    assert draft(tmp_path, "depth").lines[0]["valid"] == "valid/a_mask.png"


@pytest.mark.parametrize(
    ("place", "picture", "truth", "mask"),
    [
        ("indoors", "indoors/a.png", "indoors/a_depth.npy", "indoors/a_depth_mask.npy"),
        ("indoors", "indoors/a.png", "indoors/a_depth.npy", "indoors/a_mask.png"),
        (".", "a.png", "a_depth.npy", "a_valid.npy"),
        ("depth", "rgb/a.png", "depth/a.npy", "depth/a_mask.npy"),
        ("rgb", "rgb/a.png", "depth/a.npy", "rgb/a.valid.npy"),
        ("other", "rgb/a.png", "depth/a.npy", "other/a.npy"),
    ],
)
def test_a_mask_is_never_the_picture_or_the_truth_beside_it(
    tmp_path: Path, place: str, picture: str, truth: str, mask: str
) -> None:
    fill_folder(tmp_path, picture, truth, mask)
    where = {"images": "indoors", "targets": "indoors"} if place == "indoors" else {}
    made = draft(tmp_path, "depth", valid=place, **where)
    assert [(li["image"], li["depth"], li["valid"]) for li in made.lines] == [
        (picture, truth, mask)
    ]
    assert (made.left_out, made.doubts) == ((), ())


def test_a_folder_without_masks_is_none_of_masks(tmp_path: Path) -> None:
    fill_folder(tmp_path, "a.png", "a_depth.npy")
    with pytest.raises(UsageError, match="no mask there belongs to a picture"):
        draft(tmp_path, "depth", valid=".")


@pytest.mark.parametrize(
    ("place", "picture", "truth", "mask"),
    [
        ("normals_mask", "rgb/a.png", "depth/a.npy", "normals_mask/a.png"),
        ("masks", "rgb/a.png", "depth/a.npy", "masks/a.npy"),
        (".", "a.png", "a_depth.npy", "a_depth_mask.npy"),
        (".", "a.png", "a_depth.npy", "a_mask.png"),
        ("depth", "rgb/a.png", "depth/a.npy", "depth/a_mask.npy"),
        ("depth/valid", "rgb/a.png", "depth/a.npy", "depth/valid/a.npy"),
    ],
)
def test_masks_that_nobody_named_are_told(
    tmp_path: Path, place: str, picture: str, truth: str, mask: str
) -> None:
    fill_folder(tmp_path, picture, truth, mask)
    told = (f"there are masks in {place}: --valid {place}?",)
    assert draft(tmp_path, "depth").doubts == told
    assert draft(tmp_path, "depth", valid=place).doubts == ()


def test_a_photograph_of_a_mask_is_no_mask(tmp_path: Path) -> None:
    fill_folder(tmp_path, "man_with_mask.png", "man_with_mask_depth.npy")
    assert draft(tmp_path, "depth").doubts == ()


# --- classes


@pytest.fixture
def street(tmp_path: Path) -> Path:
    fill_folder(tmp_path, "images/a.png")
    raw = np.zeros((HEIGHT, WIDTH), np.uint8)
    raw[5:], raw[0] = 2, 255
    save(tmp_path / "labels" / "a.png", raw)
    return tmp_path


def test_without_names_the_values_found_are_the_classes(street: Path) -> None:
    made = draft(street, "semantic")
    assert made.options["labels"] == {
        "classes": [{"name": "class_0", "value": 0}, {"name": "class_2", "value": 2}],
        "ignore": [255],
    }
    assert any("255" in text for text in made.guessed)
    # an answer of numbers has those of the files
    assert made.additions["label_map"] == {"classes": {"class_0": 0, "class_2": 2}, "ignore": [255]}
    assert "0 class_0, 2 class_2" in made.prompts["label_map"]["mid"]


@pytest.mark.parametrize(
    ("text", "added", "numbered"),
    [
        ("0: a\n1: b\n2: c\n", {"ignore": [255]}, "0 a, 1 b, 2 c"),
        ("0: a\n2: b\n", {"classes": {"a": 0, "b": 2}, "ignore": [255]}, "0 a, 2 b"),
        ("0: a\n2: b\n9: a\n", {}, "0 a, 1 b"),  # two numbers of one class: the order counts
    ],
)
def test_answers_of_numbers_are_read_as_the_files_are(
    street: Path, text: str, added: dict[str, Any], numbered: str
) -> None:
    path = street / "names.yaml"
    path.write_text(text)
    made = draft(street, "semantic", classes=str(path))
    assert made.additions["label_map"] == added
    assert numbered in made.prompts["label_map"]["short"]


def test_of_two_values_255_is_a_class(tmp_path: Path) -> None:
    fill_folder(tmp_path, "images/a.png", "labels/a.png")
    raw = np.zeros((HEIGHT, WIDTH), np.uint8)
    raw[5:] = 255
    save(tmp_path / "labels" / "a.png", raw)
    made = draft(tmp_path, "semantic")
    assert [c["value"] for c in made.options["labels"]["classes"]] == [0, 255]
    assert "ignore" not in made.options["labels"]


def test_one_class_alone_is_refused_with_the_ways_out(tmp_path: Path) -> None:
    fill_folder(tmp_path, "images/a.png", "labels/a.png")
    with pytest.raises(UsageError, match="one class only, value 0") as caught:
        draft(tmp_path, "semantic")
    assert "--family referring" in str(caught.value.cure)
    assert "--classes" in str(caught.value.cure)


def test_several_masks_a_picture_are_no_pairs_and_an_example_of_each_is_shown(
    tmp_path: Path,
) -> None:
    fill_folder(tmp_path, "images/a.png", "masks/a_left.png", "masks/a_right.png")
    with pytest.raises(UsageError, match="nothing belongs together") as caught:
        draft(tmp_path, "semantic")
    assert "a picture is called images/a.png" in caught.value.what
    assert "a labels file is called masks/a_left.png" in caught.value.what


def test_every_value_without_a_class_is_in_the_cure(street: Path) -> None:
    path = street / "names.txt"
    path.write_text("sky\n")
    with pytest.raises(UsageError, match="no class has: 2, 255") as caught:
        draft(street, "semantic", classes=str(path))
    assert str(caught.value.cure).startswith("--ignore 2 --ignore 255 leaves them out")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("names.txt", "sky\nno\n1e3\n"),
        ("names.json", json.dumps(["sky", "no", "1e3"])),
        ("names.json", json.dumps({"sky": 0, "no": 1, "1e3": 2})),
        ("names.yaml", "0: sky\n1: no\n2: 1e3\n"),
        ("names.yaml", "0: {name: sky}\n1: {name: no}\n2: {name: 1e3}\n"),
        ("names.yml", "- {name: sky}\n- {name: no, value: 1}\n- 1e3\n"),
    ],
)
def test_names_of_classes_come_in_any_of_the_usual_files(
    street: Path, file: str, text: str
) -> None:
    path = street / file
    path.write_text(text)
    made = draft(street, "semantic", classes=str(path))
    table = [(entry["name"], entry["value"]) for entry in made.options["labels"]["classes"]]
    assert table == [("sky", 0), ("no", 1), ("1e3", 2)]
    assert list(made.replacements["palette"]) == ["sky", "no", "1e3"]
    assert made.options["labels"]["ignore"] == [255]


@pytest.mark.parametrize(
    ("text", "words"),
    [("sky\n\nroad\n", "names.txt:2: an empty line"), ("sky\n", "no class has: 2, 255")],
)
def test_lists_of_classes_that_do_not_fit_are_refused(street: Path, text: str, words: str) -> None:
    path = street / "names.txt"
    path.write_text(text)
    with pytest.raises(UsageError, match=words):
        draft(street, "semantic", classes=str(path))


@pytest.mark.parametrize(
    "text",
    ["a: &a [x, x]\nb: &b [*a, *a]\n0: [*b, *b]\n", "0: [a]\n", "- 3: a\n", "x: y\n", "{", "''"],
)
def test_yaml_that_lists_no_classes_is_refused_in_one_line(street: Path, text: str) -> None:
    path = street / "names.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        draft(street, "semantic", classes=str(path))
    assert len(caught.value.what) < 300
    assert "list of names" in str(caught.value.cure)


def test_braces_in_a_classes_name_are_no_field_of_the_prompt(street: Path) -> None:
    path = street / "names.json"
    path.write_text(json.dumps(["sky {x}", "100%", "b"]))
    prompts = draft(street, "semantic", classes=str(path)).prompts
    assert "0 sky {x}, 1 100%, 2 b" in fill(prompts["label_map"]["mid"], {})


@pytest.mark.parametrize(("count", "least"), [(1, 200), (7, 200), (26, 120), (150, 40)])
def test_colours_of_a_palette_lie_far_apart_and_from_black(count: int, least: float) -> None:
    names = [f"c{number}" for number in range(count)]
    options = convert(NearestColourOptions, {"palette": make_palette(names)}, file="")
    colours = [np.array(as_rgb(colour), float) for colour in options.palette.values()]
    assert len(colours) == count
    every = itertools.combinations([np.zeros(3), *colours], 2)
    assert min(float(np.linalg.norm(a - b)) for a, b in every) >= least


# --- queries and counts


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    fill_folder(tmp_path, "images/red_cat.png", "images/0002.png")
    return tmp_path


def test_queries_are_the_words_of_the_masks_names_or_said(pets: Path) -> None:
    fill_folder(pets, "masks/red_cat.png", "masks/0002_left_ear_1.png")
    made = draft(pets, "referring")
    assert [(line["group"], line["query"]) for line in made.lines] == [
        ("0002", "left ear"), ("red_cat", "red cat"),
    ]  # fmt: skip
    assert {line["query"] for line in draft(pets, "referring", query="it").lines} == {"it"}
    fill_folder(pets, "masks/0002.png")
    with pytest.raises(UsageError, match=r"0002\.png says nothing"):
        draft(pets, "referring")


def test_a_table_of_queries_names_pictures_and_masks(pets: Path) -> None:
    fill_folder(pets, "masks/red_cat.png", "masks/other.png")
    (pets / "queries.csv").write_text(
        'id,query,mask,author\nred_cat,"the ""red"" cat, {left}\n100% of it",,x\n'
        "red_cat,an ear,other.png,x\ngone,nothing,,x\n0002,no mask of it,,x\n"
    )
    made = draft(pets, "referring")
    assert [(li["id"], li["group"], li["mask"]) for li in made.lines] == [
        ("red_cat", "red_cat", "masks/red_cat.png"),
        ("red_cat-2", "red_cat", "masks/other.png"),
    ]
    assert made.lines[0]["query"] == 'the "red" cat, {left}\n100% of it'
    told = "\n".join(made.left_out)
    assert "no picture 'gone'" in told
    assert "no mask for '0002'" in told
    assert any("author" in text for text in made.guessed)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("counts.csv", "id;query;count\n0002;ears;4\nred_cat;cats;1\n"),
        ("counts.tsv", "image\tlabel\tcount\n0002.png\tears\t4\nred_cat.png\tcats\t1\n"),
        (
            "counts.jsonl",
            '{"id": "0002", "query": "ears", "count": 4}\n'
            '{"id": "red_cat", "query": "cats", "count": 1}\n',
        ),
    ],
)
def test_counts_come_from_a_table(pets: Path, file: str, text: str) -> None:
    (pets / file).write_text(text)
    made = draft(pets, "counting")
    assert [(li["image"], li["query"], li["count"]) for li in made.lines] == [
        ("images/0002.png", "ears", 4), ("images/red_cat.png", "cats", 1),
    ]  # fmt: skip


def test_points_alone_are_a_count(pets: Path) -> None:
    (pets / "points.jsonl").write_text('{"image": "0002.png", "points": [[1, 2], [3, 4]]}\n')
    [line] = draft(pets, "counting", query="dots").lines
    assert (line["count"], line["points"], line["query"]) == (2, [[1, 2], [3, 4]], "dots")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,count\n0002,4\n", "no query"),
        ("id,query,count\n0002,a,-1\n", "no whole number"),
        ("id,query,count\n0002,a,many\n", "no whole number"),
        ("id,query,count\n0002,a, b,4\n", "number of columns"),
        ("query,count\na,4\n", "no column 'id' or 'image'"),
        ("", "no row"),
    ],
)
def test_tables_that_cannot_be_meant_are_refused_with_their_line(
    pets: Path, text: str, words: str
) -> None:
    (pets / "counts.csv").write_text(text)
    with pytest.raises(UsageError, match=words):
        draft(pets, "counting")


def test_a_family_without_a_draft_is_refused_with_those_that_have_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Nearest: depth"):
        draft(tmp_path, "dept")
