"""Lines of a manifest: what they may say, and every fault of them at once."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from manifestkit import make_photo, open_manifest, save, write_lines
from vgen_eval.errors import CardError, MissingData
from vgen_eval.types import Item


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(tmp_path / "images" / "a.png", make_photo())
    return tmp_path


def line(**changes: Any) -> dict[str, Any]:
    made = {"id": "a", "image": "images/a.png", "count": 2, "query": "things", **changes}
    return {key: value for key, value in made.items() if value is not ...}


def faults(folder: Path, *lines: Any, **options: Any) -> list[str]:
    with pytest.raises(CardError) as caught:
        open_manifest(folder, *lines, **{"target": "count", **options}).index()
    return [f"{p.line}: {p.path}: {p.message}" for p in caught.value.problems]


def test_an_item_has_its_lines_id_group_and_tags(folder: Path) -> None:
    data = open_manifest(
        folder, line(), line(id=7, group="g", tags={"hard": "yes"}), "", target="count"
    )
    assert data.index() == [Item(id="a", group="a"), Item(id="7", group="g", tags={"hard": "yes"})]


def test_every_faulty_line_is_told_at_once_with_its_number(folder: Path) -> None:
    (folder / "folder.png").mkdir()
    found = faults(
        folder,
        line(),
        "{not json",
        line(id="b", imagee="x.png"),
        line(id="c", count=...),
        line(id="d", image="images/gone.png"),
        line(id="e", image="../a.png"),
        line(id="f", image="/etc/hostname"),
        line(id="g", image="folder.png"),
        line(id="", count=1),
        line(id="h", count=-1),
        line(id="i", images=["images/a.png"]),
        line(id="j", image=...),
        "[1]",
        line(id="k", points=[[1, 2]]),
        line(id="l", fields={"query": "again"}),
        line(id="m", fields={"two words": "x"}),
        line(id="n", sha256={"images/b.png": "0" * 64}),
    )
    expected = {
        2: "malformed",
        3: "unknown key. Nearest: image",
        4: "target",
        5: "no file 'images/gone.png'",
        6: "leads out",
        7: "leads out",
        8: "is a folder",
        9: "the id is empty",
        10: "count",
        11: "either image or images",
        12: "either image or images",
        13: "one object",
        14: "1 points for a count of 2",
        15: "given twice",
        16: "no prompt can name this",
        17: "no file of this line",
    }
    told = {int(text.partition(":")[0]): text for text in found}
    assert told.keys() == expected.keys()
    for number, words in expected.items():
        assert words in told[number]


def test_seven_and_the_text_seven_are_one_id(folder: Path) -> None:
    [fault] = faults(folder, line(id="7"), line(id=7))
    assert fault == "2: id: 7 is the id of line 1 again"


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_have_are_named(folder: Path, word: str) -> None:
    raw = f'{{"id": "a", "image": "images/a.png", "score": {word}}}'
    [fault] = faults(folder, raw, target="score")
    assert word in fault
    assert fault.startswith("1: ")


@pytest.mark.parametrize("number", [1 << 63, 1 << 64, 10**30, int("9" * 4000)])
@pytest.mark.parametrize("field", ["count", "id"])
def test_whole_numbers_beyond_64_bits_are_told_with_their_line(
    folder: Path, number: int, field: str
) -> None:
    [fault] = faults(folder, line(), line(id="b") | {field: number})
    assert fault.startswith(f"2: {field}: Expected int <= ") or "out of range" in fault
    assert len(fault) < 200


def test_a_number_of_any_length_is_a_fault_of_its_line(folder: Path) -> None:
    raw = '{"id": "b", "image": "images/a.png", "count": ' + "9" * 5000 + "}"
    [fault] = faults(folder, line(), raw)
    assert fault.startswith("2: ")


@pytest.mark.parametrize(
    "labels",
    [
        {"classes": [{"name": "a", "value": 1 << 62}, "b"]},
        {"classes": [{"name": "a", "value": [0, 1 << 62]}, "b"]},
        {"classes": ["a", "b"], "ignore": [1 << 62]},
        {"classes": ["a", "b"], "offset": -(1 << 62)},
        {"classes": ["a", "b\x1b[31m"]},
        {"classes": [{"name": "a\n"}, "b"]},
    ],
)
def test_label_tables_that_no_file_can_have_are_faults_of_the_card(
    folder: Path, labels: dict[str, Any]
) -> None:
    with pytest.raises(CardError, match=r"task\.yaml: dataset\.options\.labels"):
        open_manifest(folder, line(), target="labels", labels=labels)


def test_a_key_that_stands_twice_is_no_silent_choice(folder: Path) -> None:
    [fault] = faults(folder, '{"id": "a", "image": "images/a.png", "count": 2, "count": 3}')
    assert fault == "1: count: this key stands twice"


def test_several_faults_of_one_line_are_all_told(folder: Path) -> None:
    found = faults(folder, line(count="two", tags=["x"], depht="d.png"))
    assert [text.split(": ")[1] for text in found] == ["count", "tags", "depht"]


def test_links_are_followed_inside_and_refused_outside(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = save(tmp_path_factory.mktemp("elsewhere") / "x.png", make_photo())
    (folder / "out.png").symlink_to(outside)
    (folder / "outer").symlink_to(outside.parent)
    (folder / "in.png").symlink_to(folder / "images" / "a.png")
    (folder / "loop.png").symlink_to(folder / "loop.png")
    found = faults(
        folder,
        line(id="1", image="out.png"),
        line(id="2", image="outer/x.png"),
        line(id="3", image="in.png"),
        line(id="4", image="loop.png"),
    )
    assert [text[0] for text in found] == ["1", "2", "4"]
    assert "leads out" in found[0]
    assert "leads out" in found[1]


def test_a_pipe_is_refused_and_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe.png")
    [fault] = faults(folder, line(image="pipe.png"))
    assert "a pipe" in fault


def test_a_manifest_without_lines_or_without_itself_is_no_data(folder: Path) -> None:
    assert faults(folder, "") == ["None: : the manifest holds no line"]
    with pytest.raises(MissingData, match=r"other\.jsonl"):
        open_manifest(folder, target="count", manifest="other.jsonl").index()
    with pytest.raises(MissingData, match="leads out"):
        open_manifest(folder, target="count", manifest="../manifest.jsonl").index()


def test_a_byte_order_mark_is_no_part_of_the_first_line(folder: Path) -> None:
    path = write_lines(folder, line())
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert [item.id for item in open_manifest(folder, target="count").index()] == ["a"]


def test_twenty_thousand_lines_take_seconds_and_no_picture_is_opened(folder: Path) -> None:
    for number in range(100):
        (folder / "images" / f"{number}.png").write_bytes(b"never opened")
    lines = (line(id=str(n), image=f"images/{n % 100}.png") for n in range(20_000))
    data = open_manifest(folder, *lines, target="count")
    started = time.process_time()
    assert len(data.index()) == 20_000
    assert time.process_time() - started < 5
