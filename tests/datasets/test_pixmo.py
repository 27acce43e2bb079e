"""PixMo's rows: which are chosen, what is left out and told, and what a sample of them is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from countkit import PIXMO, Pictures, picture, row, sha256, write_rows
from releasekit import item_of, load_all
from vgen_eval.errors import BadSample, CardError, MissingData
from vgen_eval_plugins.datasets.pixmo_count import PixMoCount
from vgen_eval_plugins.datasets.pixmo_points import PixMoPoints
from vgen_eval_plugins.datasets.prepared_counts import make_ids


@pytest.fixture
def service() -> Iterator[Pictures]:
    with Pictures() as pictures:
        yield pictures


def points(root: Path, service: Pictures, **options: Any) -> PixMoPoints:
    return PixMoPoints(PixMoPoints.Options(trusted=service.url, **options), root=root, folder=root)


def count(root: Path, service: Pictures, **options: Any) -> PixMoCount:
    return PixMoCount(PixMoCount.Options(trusted=service.url, **options), root=root, folder=root)


def prepared(reader: Any) -> tuple[list[Any], dict[str, Any], list[str]]:
    """Samples in order, what prepared.json says of the part, and what was said on the way."""
    said: list[str] = []
    reader.prepare(said.append)
    record = json.loads((reader._release.root / "prepared.json").read_text())
    return load_all(reader), record[reader.part], said


def test_a_label_of_a_picture_is_a_sample_with_points_in_pixels(
    tmp_path: Path, service: Pictures
) -> None:
    places = [{"x": 0.0, "y": 100.0}, {"x": 50.0, "y": 25.0}]
    write_rows(
        tmp_path,
        [
            row(service, 1, " red Balls ", 2, points=places),
            row(service, 1, "cats", 0),
            row(service, 2, "people", 12),
        ],
    )
    samples, record, said = prepared(points(tmp_path, service))
    head = sha256(picture(1))[:12]
    assert [sample.id for sample in samples] == [
        f"{head}/red-balls", f"{head}/cats", f"{sha256(picture(2))[:12]}/people",
    ]  # fmt: skip
    balls, cats, people = samples
    assert balls.group == cats.group != people.group
    assert balls.fields == {"query": "red Balls"}
    assert balls.target.count == 2
    # the picture is 50 wide and 40 high
    assert balls.target.points.tolist() == [[0.0, 40.0], [25.0, 10.0]]
    assert cats.target.count == 0
    assert cats.target.points.shape == (0, 2)
    assert people.tags == {"count": "11-20", "collection": "counting"}
    assert balls.images[0].array.shape == (40, 50, 3)
    assert record["samples"] == 3
    assert record["pictures"] == 2
    assert record["left_out"] == {}
    assert said == ["PixMo-Points, counting: 3 samples on 2 pictures"]


def test_a_collection_is_chosen_and_one_folder_holds_several(
    tmp_path: Path, service: Pictures
) -> None:
    rows = [row(service, 1, "a", 1), row(service, 2, "b", 1, collection_method="pointing")]
    write_rows(tmp_path, rows)
    assert [s.fields["query"] for s in prepared(points(tmp_path, service))[0]] == ["a"]
    pointing = points(tmp_path, service, collection="pointing")
    with pytest.raises(MissingData, match="nothing was prepared for 'pointing'"):
        pointing.index()
    assert [s.fields["query"] for s in prepared(pointing)[0]] == ["b"]
    both = points(tmp_path, service, collection="all")
    assert [s.fields["query"] for s in prepared(both)[0]] == ["a", "b"]
    assert [s.fields["query"] for s in load_all(points(tmp_path, service))] == ["a"]
    assert service.asked == ["/1.png", "/2.png"]  # each once


def test_pictures_are_taken_in_a_seeded_order_whatever_the_files_order(
    tmp_path: Path, service: Pictures
) -> None:
    rows = [row(service, number, f"label {number}", 1) for number in range(30)]

    def chosen(name: str, given: list[dict[str, Any]], **options: Any) -> set[str]:
        write_rows(tmp_path / name, given)
        return {s.id for s in prepared(points(tmp_path / name, service, **options))[0]}

    ten = chosen("ten", rows, count=10)
    assert len(ten) == 10
    assert chosen("turned", rows[::-1], count=10) == ten
    assert chosen("three", rows, count=3) < ten < chosen("all", rows, count=None)
    assert chosen("other", rows, count=10, seed=1) != ten


def test_more_pictures_are_chosen_when_too_many_links_are_dead(
    tmp_path: Path, service: Pictures, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vgen_eval_plugins.datasets.pixmo.SPARE", 1)
    rows = [row(service, number, "x", 1) for number in range(12)]
    service.gone = {f"/{number}.png" for number in range(12) if number not in (4, 9)}
    write_rows(tmp_path, rows)
    samples, record, _ = prepared(points(tmp_path, service, count=2))
    assert {s.group for s in samples} == {sha256(picture(4)), sha256(picture(9))}
    assert record["left_out"]["dead links"] <= 10
    assert sum(1 for lost in record["lost"] if "status 404" in lost["why"]) == len(record["lost"])


FAULTS = {
    "rows whose count is not that of their points": {"count": 3},
    "rows with a point outside the picture": {"points": [{"x": 101.0, "y": 5.0}]},
    "rows with points that are none": {"points": [{"x": None, "y": 5.0}]},
    "rows without a label": {"label": "  "},
    "rows without a count": {"count": None},
    "rows without an address": {"image_url": ""},
    "rows without a sha256": {"image_sha256": None},
    "dead links": {"image_url": "https://127.0.0.1/private.png"},
    "other pictures": {"image_sha256": "ab" * 32},
}


@pytest.mark.parametrize("kind", sorted(FAULTS))
def test_what_is_left_out_is_counted_and_told(tmp_path: Path, service: Pictures, kind: str) -> None:
    fault = {**row(service, 2, "bad", 1), **FAULTS[kind]}
    write_rows(tmp_path, [row(service, 1, "good", 2), fault])
    samples, record, said = prepared(points(tmp_path, service))
    assert [s.fields["query"] for s in samples] == ["good"]
    assert record["left_out"] == {kind: 1}
    assert said[-1].endswith(f"left out: 1 {kind}")


@pytest.mark.parametrize(
    ("place", "kept"), [(-0.01, 0), (0.0, 1), (100.0, 1), (float("nan"), 0), (float("inf"), 0)]
)
def test_points_on_the_border_are_inside(
    tmp_path: Path, service: Pictures, place: float, kept: int
) -> None:
    fault = row(service, 2, "border", 1, points=[{"x": place, "y": 50.0}])
    write_rows(tmp_path, [row(service, 1, "good", 2), fault])
    assert len(prepared(points(tmp_path, service))[0]) == 1 + kept


def test_the_same_row_twice_is_one_sample_and_two_counts_of_a_label_are_two(
    tmp_path: Path, service: Pictures
) -> None:
    rows = [row(service, 1, "x", 2), row(service, 1, "x", 2), row(service, 1, "X", 3)]
    write_rows(tmp_path, rows)
    samples, record, _ = prepared(points(tmp_path, service))
    head = sha256(picture(1))[:12]
    assert {s.id: s.target.count for s in samples} == {f"{head}/x": 3, f"{head}/x-2": 2}
    assert record["left_out"] == {"repeated rows": 1}


def test_ids_are_unique_for_any_labels() -> None:
    labels = ["a", "a", "a-2", "A!", "?", "?", "!", "Ü ß", "x" * 90, "x" * 91]
    ids = make_ids("f" * 64, labels)
    assert len(set(ids)) == len(ids)
    assert ids[:2] == ["ffffffffffff/a", "ffffffffffff/a-2"]
    assert max(map(len, ids)) <= 13 + 40 + 3


def test_splits_of_pixmo_count_have_counts_and_train_has_points_too(
    tmp_path: Path, service: Pictures
) -> None:
    schema = PIXMO.remove(PIXMO.get_field_index("collection_method"))
    test = PIXMO.remove(PIXMO.get_field_index("points"))
    write_rows(tmp_path, [row(service, 1, "dogs", 7)], name="test-00000-of-00001", schema=test)
    write_rows(
        tmp_path, [row(service, 2, "cups", 3, points=[])], name="validation-00000-of-00001",
        schema=schema,
    )  # fmt: skip
    places = [{"x": 49.5, "y": 3.0}]
    write_rows(
        tmp_path,
        [
            row(service, 3, "cats", 1, points=places),
            row(service, 4, "out", 1, points=[{"x": 51.0, "y": 3.0}]),
            row(service, 5, "off", 2, points=places),
        ],
        schema=schema,
    )
    (dogs,), _, _ = prepared(count(tmp_path, service))
    assert (dogs.fields["query"], dogs.target.count, dogs.target.points) == ("dogs", 7, None)
    (cups,), _, _ = prepared(count(tmp_path, service, split="validation"))
    assert (cups.target.count, cups.target.points) == (3, None)
    (cats,), record, _ = prepared(count(tmp_path, service, split="train"))
    assert np.array_equal(cats.target.points, [[49.5, 3.0]])
    assert record["left_out"] == {
        "rows with a point outside the picture": 1,
        "rows whose count is not that of their points": 1,
    }
    assert load_all(count(tmp_path, service))[0].id == dogs.id


LISTS = pa.struct([("x", pa.list_(pa.float32())), ("y", pa.list_(pa.float32()))])


@pytest.mark.parametrize(
    ("points_column", "kept"),
    [
        ({"x": [49.5, 1.0], "y": [3.0, 2.0]}, [[49.5, 3.0], [1.0, 2.0]]),
        ({"x": None, "y": None}, None),
        (None, None),
        ({"x": [], "y": []}, None),
        ({"x": [49.5, 1.0], "y": [3.0]}, "rows with points that are none"),
        ({"x": [49.5, None], "y": [3.0, 2.0]}, "rows with points that are none"),
    ],
)
def test_points_may_be_stored_as_two_lists(
    tmp_path: Path, service: Pictures, points_column: Any, kept: Any
) -> None:
    schema = PIXMO.set(PIXMO.get_field_index("points"), pa.field("points", LISTS))
    schema = schema.set(schema.get_field_index("count"), pa.field("count", pa.int32()))
    good = row(service, 1, "good", 3, points={"x": [1.0] * 3, "y": [2.0] * 3})
    write_rows(tmp_path, [good, row(service, 2, "cats", 2, points=points_column)], schema=schema)
    samples, record, _ = prepared(count(tmp_path, service, split="train"))
    assert samples[0].target.points.tolist() == [[1.0, 2.0]] * 3
    if isinstance(kept, str):
        assert record["left_out"] == {kept: 1}
        return
    found = samples[1].target
    assert found.count == 2
    assert (None if found.points is None else found.points.tolist()) == kept


def test_what_was_not_prepared_is_missing_data(tmp_path: Path, service: Pictures) -> None:
    write_rows(tmp_path, [row(service, 1, "x", 2)])
    with pytest.raises(MissingData, match=r"no file 'index.jsonl'") as caught:
        points(tmp_path, service).index()
    assert "data prepare" in (caught.value.cure or "")
    points(tmp_path, service, count=5).prepare(str)
    with pytest.raises(MissingData, match=r"prepared with .*5.*asked for with .*500"):
        points(tmp_path, service).index()


@pytest.mark.parametrize("bad", ["cut", "text", "empty", "none", "shard", "column"])
def test_files_that_are_damaged_or_not_there_are_missing_data(
    tmp_path: Path, service: Pictures, bad: str
) -> None:
    rows = [row(service, 1, "x", 2)]
    path = write_rows(tmp_path, rows)
    if bad == "cut":
        path.write_bytes(path.read_bytes()[:-10])
    elif bad == "text":
        path.write_text("<html>not found</html>")
    elif bad == "empty":
        path.write_bytes(b"")
    elif bad == "none":
        path.unlink()
    elif bad == "shard":
        path.rename(path.with_name("train-00000-of-00002.parquet"))
    else:
        write_rows(tmp_path, rows, schema=PIXMO.remove(PIXMO.get_field_index("count")))
    wanted = {"none": r"holds no train-\*", "shard": "train-00001-of-00002", "column": "'count'"}
    with pytest.raises(MissingData, match=wanted.get(bad, "cannot be read as Parquet")):
        points(tmp_path, service).prepare(str)
    assert not (tmp_path / "index.jsonl").exists()


def test_a_release_without_rows_prepares_nothing_and_says_so(
    tmp_path: Path, service: Pictures
) -> None:
    write_rows(tmp_path, [])
    reader = points(tmp_path, service)
    reader.prepare(str)
    with pytest.raises(MissingData, match="no sample of 'counting' could be prepared"):
        reader.index()


def test_every_fault_of_an_index_is_told_at_once(tmp_path: Path, service: Pictures) -> None:
    write_rows(tmp_path, [row(service, 1, "x", 2), row(service, 2, "y", 1)])
    reader = points(tmp_path, service)
    reader.prepare(str)
    good, other = (tmp_path / "index.jsonl").read_text().splitlines()
    line = json.loads(other)
    bad = [
        good,
        good,
        "{",
        json.dumps({**line, "id": "p", "count": 5}),
        json.dumps({**line, "id": "q", "points": [[900.0, 1.0]]}),
        json.dumps({**line, "id": "r", "sha256": "../../secret"}),
    ]
    (tmp_path / "index.jsonl").write_text("\n".join(bad) + "\n")
    with pytest.raises(CardError) as caught:
        points(tmp_path, service).index()
    assert [problem.line for problem in caught.value.problems] == [2, 3, 4, 5, 6]
    told = " ".join(str(problem) for problem in caught.value.problems)
    for words in ("stands twice", "1 points for a count of 5", "outside", "no name of a prepared"):
        assert words in told


@pytest.mark.parametrize("bad", ["cut", "other", "gone", "empty"])
def test_a_picture_that_was_changed_is_a_bad_sample(
    tmp_path: Path, service: Pictures, bad: str
) -> None:
    write_rows(tmp_path, [row(service, 1, "x", 2), row(service, 2, "y", 1)])
    reader = points(tmp_path, service)
    reader.prepare(str)
    first, second = reader.index()
    path = tmp_path / "images" / f"{first.group}.png"
    data = path.read_bytes()
    if bad == "gone":
        path.unlink()
    else:
        path.write_bytes({"cut": data[:-20], "other": picture(9), "empty": b""}[bad])
    with pytest.raises(BadSample, match=r"sha256 is not its name|no file"):
        reader.load(first)
    assert reader.load(second).target.count == 1
    assert [problem.path for problem in reader.verify(reader.index())] == [first.id]
    looked = [problem.path for problem in reader.look(reader.index())]
    assert looked == ([first.id] if bad in ("gone", "empty") else [])


def test_an_unknown_sample_is_a_bad_one(tmp_path: Path, service: Pictures) -> None:
    write_rows(tmp_path, [row(service, 1, "x", 2)])
    reader = points(tmp_path, service)
    reader.prepare(str)
    with pytest.raises(BadSample, match="no sample 'nobody'"):
        reader.load(item_of("nobody"))


def test_the_fingerprint_is_of_the_part_alone(tmp_path: Path, service: Pictures) -> None:
    rows = [row(service, 1, "a", 1), row(service, 2, "b", 1, collection_method="pointing")]
    write_rows(tmp_path, rows)
    points(tmp_path, service).prepare(str)
    before = points(tmp_path, service).fingerprint()
    points(tmp_path, service, collection="pointing").prepare(str)
    assert points(tmp_path, service).fingerprint() == before
    write_rows(tmp_path, [row(service, 1, "a", 3)])
    points(tmp_path, service).prepare(str)
    assert points(tmp_path, service).fingerprint() != before


def test_options_that_cannot_be_are_refused() -> None:
    for options in (PixMoPoints.Options, PixMoCount.Options):
        with pytest.raises(ValueError, match="1 or more"):
            options(count=0)
