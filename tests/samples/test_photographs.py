"""Photographs of a package: annotations are checked all at once, pixels by their sha256."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skimage
import skimage.data
import skimage.draw
from vgen_eval.cards import convert
from vgen_eval.errors import BadSample, CardError, MissingData, UsageError
from vgen_eval.types import Item
from vgen_eval_plugins.samples.polygons import draw_mask
from vgen_eval_plugins.samples.reader import Samples

COINS = Path(skimage.__file__).parent / "data" / "coins.png"
SHA256 = hashlib.sha256(COINS.read_bytes()).hexdigest()
CARDS = Path(str(files("vgen_eval.task_cards")))


def counting_line(**changes: Any) -> dict[str, Any]:
    line = {
        "id": "coins", "group": "coins", "image": "coins.png", "sha256": SHA256, "query": "coins",
        "count": 2, "points": [[45, 54], [100, 56]], "tags": {"density": "sparse"},
    }  # fmt: skip
    return {key: value for key, value in {**line, **changes}.items() if value is not ...}


def referring_line(**changes: Any) -> dict[str, Any]:
    line = counting_line(count=..., points=..., polygons=[[[10, 10], [30, 10], [30, 20]]], holes=[])
    return {**line, **changes}


def reader(folder: Path, *lines: Any, kind: str = "counting", **options: Any) -> Samples:
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    (folder / "lines.jsonl").write_text(text, encoding="utf-8")
    return Samples(
        convert(
            Samples.Options,
            {"annotations": "lines.jsonl", "kind": kind, **options},
            file="card.yaml",
        ),
        root=None,
        folder=folder,
    )


def test_index_and_sample_hold_what_the_line_says(tmp_path: Path) -> None:
    data = reader(tmp_path, counting_line(), counting_line(id=7, group="g", query="things"))
    assert data.index() == [
        Item(id="coins", group="coins", tags={"density": "sparse"}),
        Item(id="7", group="g", tags={"density": "sparse"}),
    ]
    sample = data.load(data.index()[1])
    assert (sample.id, sample.group, sample.fields) == ("7", "g", {"query": "things"})
    assert sample.target.count == 2
    assert sample.target.points.tolist() == [[45, 54], [100, 56]]
    assert np.array_equal(sample.images[0].array[:, :, 0], skimage.data.coins())


def test_count_without_points_is_a_count(tmp_path: Path) -> None:
    data = reader(tmp_path, counting_line(points=...))
    target = data.load(data.index()[0]).target
    assert (target.count, target.points) == (2, None)


def test_all_faulty_lines_are_named_at_once(tmp_path: Path) -> None:
    data = reader(
        tmp_path,
        counting_line(),
        "{not json",
        counting_line(id="a", count=-1, points=...),
        counting_line(id="b", cuont=3),
        counting_line(id="c", count=5),
        "",
        counting_line(id="coins"),
        counting_line(id="d", image="../coins.png"),
        counting_line(id="e", sha256="short"),
        counting_line(id=""),
        counting_line(id="f", query=...),
    )
    with pytest.raises(CardError) as error:
        data.index()
    problems = error.value.problems
    assert [problem.line for problem in problems] == [2, 3, 4, 5, 7, 8, 9, 10, 11]
    assert all(problem.file.endswith("lines.jsonl") for problem in problems)
    messages = [str(problem) for problem in problems]
    assert "cuont" in messages[2]
    assert "2 points for a count of 5" in messages[3]
    assert "'coins' is that of line 1" in messages[4]


def test_ids_that_are_one_as_strings_clash(tmp_path: Path) -> None:
    data = reader(tmp_path, counting_line(id="7"), counting_line(id=7))
    with pytest.raises(CardError, match=r"lines\.jsonl:2: id: id 7 is that of line 1"):
        data.index()


def test_file_without_lines_is_faulty(tmp_path: Path) -> None:
    with pytest.raises(CardError, match="no annotation"):
        reader(tmp_path, "").index()


def test_other_photo_than_the_one_annotated_is_refused(tmp_path: Path) -> None:
    data = reader(tmp_path, counting_line(sha256="0" * 64))
    with pytest.raises(BadSample) as error:
        data.load(data.index()[0])
    for part in ("coins.png", SHA256, "0" * 64):
        assert part in str(error.value)


def test_points_outside_the_photo_are_refused(tmp_path: Path) -> None:
    data = reader(tmp_path, counting_line(count=1, points=[[500, 10]]))
    with pytest.raises(BadSample, match="outside"):
        data.load(data.index()[0])


def test_unknown_sample_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSample, match="no sample 'x'"):
        reader(tmp_path, counting_line()).load(Item(id="x", group="x"))


def test_absent_photo_package_and_file_are_missing_data(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"no-such\.png"):
        reader(tmp_path, counting_line(image="no-such.png")).index()
    with pytest.raises(MissingData, match="not installed"):
        reader(tmp_path, counting_line(), package="no_such_package_here").index()
    absent = Samples(
        Samples.Options(annotations="absent.jsonl", kind="counting"), root=None, folder=tmp_path
    )
    with pytest.raises(MissingData, match=r"absent\.jsonl"):
        absent.index()


@pytest.mark.parametrize("name", ["../lines.jsonl", "card/../../lines.jsonl", "link.jsonl"])
def test_annotations_outside_the_cards_folder_are_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "card"
    folder.mkdir()
    reader(tmp_path, counting_line())
    (folder / "link.jsonl").symlink_to(tmp_path / "lines.jsonl")
    options = Samples.Options(annotations=name, kind="counting")
    with pytest.raises(UsageError, match=r"annotations .* leads out"):
        Samples(options, root=None, folder=folder).index()
    absolute = Samples.Options(annotations=str(tmp_path / "lines.jsonl"), kind="counting")
    with pytest.raises(UsageError, match="leads out"):
        Samples(absolute, root=None, folder=folder).index()


@pytest.mark.parametrize(
    "options", [{"package": "skimage.data"}, {"subfolder": "../x"}, {"kind": "sound"}]
)
def test_options_that_lead_elsewhere_are_refused(tmp_path: Path, options: dict[str, str]) -> None:
    with pytest.raises(CardError):
        reader(tmp_path, counting_line(), **{"kind": "counting", **options})


def test_fingerprint_changes_with_the_annotations(tmp_path: Path) -> None:
    first = reader(tmp_path, counting_line()).fingerprint()
    assert first == reader(tmp_path, counting_line()).fingerprint()
    assert first != reader(tmp_path, counting_line(query="a coin")).fingerprint()


def test_reading_imports_no_part_of_the_photos_package(tmp_path: Path) -> None:
    reader(tmp_path, counting_line())
    code = (
        "import sys; from pathlib import Path\n"
        "from vgen_eval_plugins.samples.reader import Samples\n"
        "o = Samples.Options(annotations='lines.jsonl', kind='counting')\n"
        f"r = Samples(o, root=None, folder=Path({str(tmp_path)!r}))\n"
        "r.load(r.index()[0])\n"
        "assert 'skimage' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_mask_is_the_union_of_polygons_less_the_holes(tmp_path: Path) -> None:
    line = referring_line(
        polygons=[
            [[10, 10], [39, 10], [39, 29], [10, 29]],
            [[30, 20], [59, 20], [59, 49], [30, 49]],
        ],
        holes=[[[15, 15], [20, 15], [20, 20], [15, 20]]],
    )
    data = reader(tmp_path, line, kind="referring")
    target = data.load(data.index()[0]).target
    expected = np.zeros((303, 384), bool)
    expected[10:30, 10:40] = expected[20:50, 30:60] = True
    expected[15:21, 15:21] = False
    assert np.array_equal(target, expected)


def test_query_that_names_nothing_has_an_empty_mask(tmp_path: Path) -> None:
    data = reader(tmp_path, referring_line(polygons=[]), kind="referring")
    assert not data.load(data.index()[0]).target.any()


def test_polygon_of_two_corners_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CardError, match="length >= 3"):
        reader(tmp_path, referring_line(polygons=[[[1, 1], [2, 2]]]), kind="referring").index()


def test_polygons_fill_as_skimage_fills_them() -> None:
    rng = np.random.default_rng(0)
    angles = np.sort(rng.uniform(0, 2 * np.pi, 12))
    corners = np.stack([100 + 70 * np.cos(angles), 80 + 50 * np.sin(angles)], axis=1).astype(int)
    polygon = tuple((int(x), int(y)) for x, y in corners)
    mask = draw_mask([polygon], [], height=160, width=200)
    reference = skimage.draw.polygon2mask((160, 200), corners[:, ::-1])
    assert (mask & reference).sum() == reference.sum()  # the border belongs to ours
    assert (mask & ~reference).sum() <= 2 * 2 * (70 + 50)
