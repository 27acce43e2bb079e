"""Samples, pages, filters, orders, walks, facets and pairs against the plain way."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from indexkit import Drawn, card_of, prediction, record_of, score, write_run
from vgen_eval.errors import UsageError
from vgen_eval.viewer.index import Index
from vgen_eval.viewer.records import PAGE_SIZE, Query, RunRow, SampleRow, key_of

CASES = [(0, 1), (1, 1), (2, 3), (3, 2)]


def opened(results: Path) -> Index:
    index = Index(results)
    assert index.refresh()
    return index


def the_run(index: Index) -> RunRow:
    (run,) = index.runs()
    return run


def drawn_run(folder: Path, seed: int, attempts: int, *, higher_is_better: bool = True) -> Drawn:
    drawn = Drawn(seed, attempts=attempts)
    write_run(
        folder,
        drawn.record(),
        items=drawn.items,
        predictions=drawn.predictions,
        scores=drawn.scores,
        card=card_of(drawn.scores, higher_is_better=higher_is_better),
    )
    return drawn


def all_pages(index: Index, run: RunRow, query: Query) -> list[SampleRow]:
    """Of every page one after the other; each is full but the last."""
    found: list[SampleRow] = []
    for page in itertools.count(1):
        again = Query.read([*query.pairs(), ("page", str(page))])
        rows, total = index.samples(run, again)
        found += rows
        if len(rows) < PAGE_SIZE:
            assert len(found) == total
            return found
    raise AssertionError


def keep(row: dict[str, Any], query: Query) -> bool:
    low, high = query.bounds()
    wanted: dict[str, set[str]] = {}
    for entry in query.tag:
        wanted.setdefault(entry.partition("=")[0], set()).add(entry)
    tags = {f"{name}={value}" for name, value in row["tags"].items()}
    number = row["score"]
    return (
        (not query.status or row["status"] in query.status)
        and (not query.flag or bool(set(query.flag) & set(row["flags"])))
        and all(entries & tags for entries in wanted.values())
        and (low is None or (number is not None and number >= low))
        and (high is None or (number is not None and number <= high))
        and query.q.lower() in row["id"].lower()
    )


def arrange(rows: list[dict[str, Any]], query: Query, *, higher: bool = True) -> list[int]:
    by = query.sort or "good"
    if by in ("id", "status", "order"):
        field = {"order": "at"}.get(by, by)
        ordered = sorted(rows, key=lambda row: row[field], reverse=query.dir == "desc")
        if query.dir == "desc" and by == "status":  # equals stay in the run's order
            ordered = sorted(ordered, key=lambda row: row["status"], reverse=True)
            groups = itertools.groupby(ordered, key=lambda row: row["status"])
            ordered = [row for _, g in groups for row in sorted(g, key=lambda row: row["at"])]
        return [row["at"] for row in ordered]
    with_number = [row for row in rows if row["values"][by] is not None]
    up = query.dir != "desc" if query.dir else (higher or by != "good")
    sign = 1 if up else -1
    with_number.sort(key=lambda row: (sign * row["values"][by], row["at"]))
    return [row["at"] for row in (*with_number, *(r for r in rows if r["values"][by] is None))]


@pytest.mark.parametrize(("seed", "attempts"), CASES)
def test_every_sample_is_what_its_current_lines_come_to(
    tmp_path: Path, seed: int, attempts: int
) -> None:
    drawn = drawn_run(tmp_path / "runs" / "a", seed, attempts)
    index = opened(tmp_path)
    rows = list(index.all_samples(the_run(index)))
    for row, wanted in zip(rows, drawn.expected(), strict=True):
        assert row.id == wanted["id"]
        assert row.key == key_of(row.id)
        assert (row.group, row.at, row.tags) == (wanted["group"], wanted["at"], wanted["tags"])
        assert (row.status, row.reason) == (wanted["status"], wanted["reason"])
        assert row.flags == tuple(wanted["flags"])
        found = {name: row.values.get(name) for name in ("bad", "good", "ugly")}
        assert found == pytest.approx(wanted["values"], abs=1e-12)
        assert row.score == found["good"]
        assert row.attempts == attempts


QUERIES = [
    Query(),
    Query(dir="asc"),
    Query(dir="desc"),
    Query(sort="ugly"),
    Query(sort="bad", dir="desc"),
    Query(sort="order", dir="desc"),
    Query(sort="id"),
    Query(sort="id", dir="desc"),
    Query(sort="status", dir="desc"),
    Query(status=("ok", "refused")),
    Query(flag=("gray",)),
    Query(flag=(",", "no_letter"), sort="status"),
    Query(tag=("place=in",)),
    Query(tag=("place=in", 'place=a "b", c', "k=v=y=z")),
    Query(score="0~0.5"),
    Query(score="~.25", sort="ugly"),
    Query(score="0.5~", status=("ok",), q="m1", flag=("flat", "gray")),
    Query(q="-A", tag=("k=v=x",), sort="bad"),
    Query(q="nothing has this"),
]


@pytest.mark.parametrize(("seed", "attempts"), CASES)
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: repr(query.pairs()))
def test_pages_are_those_of_a_sorted_and_filtered_list(
    tmp_path: Path, seed: int, attempts: int, query: Query
) -> None:
    drawn = drawn_run(tmp_path / "runs" / "a", seed, attempts)
    index = opened(tmp_path)
    run = the_run(index)
    rows = [row for row in drawn.expected() if keep(row, query)]
    assert [row.at for row in all_pages(index, run, query)] == arrange(rows, query)


def test_worst_first_is_largest_first_where_lower_is_better(tmp_path: Path) -> None:
    drawn = drawn_run(tmp_path / "runs" / "a", 5, 1, higher_is_better=False)
    index = opened(tmp_path)
    run = the_run(index)
    assert not run.higher_is_better
    found = [row.at for row in all_pages(index, run, Query())]
    assert found == arrange(drawn.expected(), Query(), higher=False)
    numbers = [row["score"] for row in drawn.expected() if row["score"] is not None]
    assert index.samples(run, Query())[0][0].score == max(numbers)


def test_a_page_beyond_the_last_is_empty(tmp_path: Path) -> None:
    drawn_run(tmp_path / "runs" / "a", 1, 1)
    index = opened(tmp_path)
    assert index.samples(the_run(index), Query(page=999)) == ([], 150)


def test_an_unknown_sort_names_the_nearest(tmp_path: Path) -> None:
    drawn_run(tmp_path / "runs" / "a", 1, 1)
    index = opened(tmp_path)
    with pytest.raises(UsageError, match=r"'goood' is no value of this run\. Nearest: good"):
        index.samples(the_run(index), Query(sort="goood"))


def test_a_query_of_anything_is_answered_or_refused_and_harms_no_index(tmp_path: Path) -> None:
    drawn_run(tmp_path / "runs" / "a", 1, 1)
    index = opened(tmp_path)
    run = the_run(index)
    before = index.path.stat()
    odd = "\ud800 \x00 ' \" % _ ; -- \U0001f600 " + "=" * 5000
    for query in (Query(status=(odd,)), Query(flag=(odd,)), Query(tag=(odd,)), Query(q=odd)):
        assert index.samples(run, query) == ([], 0)
    for query in (Query(tag=("t=x",) * 101), Query(flag=("f",) * 9000), Query(sort=odd)):
        with pytest.raises(UsageError):
            index.samples(run, query)
    assert index.samples(run, Query(score="-inf~1e999"))[1] > 0
    assert (index.run(odd), index.sample(run, odd), index.task(odd)) == (None, None, None)
    assert (index.path.stat().st_ino, index.path.stat().st_mtime) == (
        before.st_ino,
        before.st_mtime,
    )


@pytest.mark.parametrize("query", QUERIES[:12:2], ids=lambda query: repr(query.pairs()))
def test_a_walk_follows_the_list(tmp_path: Path, query: Query) -> None:
    drawn_run(tmp_path / "runs" / "a", 2, 3)
    index = opened(tmp_path)
    run = the_run(index)
    rows = all_pages(index, run, query)
    for place in (0, 1, len(rows) // 2, len(rows) - 1):
        walk = index.walk(run, query, rows[place].slug)
        assert (walk.place, walk.total, walk.unfiltered) == (place + 1, len(rows), 150)
        assert walk.before == (rows[place - 1] if place else None)
        assert walk.after == (rows[place + 1] if place + 1 < len(rows) else None)


def test_a_sample_that_the_filter_leaves_out_has_no_place(tmp_path: Path) -> None:
    drawn = drawn_run(tmp_path / "runs" / "a", 2, 1)
    index = opened(tmp_path)
    gone = next(row for row in drawn.expected() if row["status"] == "ok")
    walk = index.walk(the_run(index), Query(status=("refused",)), key_of(gone["id"]))
    assert (walk.place, walk.before, walk.after, walk.unfiltered) == (None, None, None, 150)
    assert walk.total == sum(row["status"] == "refused" for row in drawn.expected())


def test_facets_count_all_samples(tmp_path: Path) -> None:
    drawn = drawn_run(tmp_path / "runs" / "a", 3, 2)
    index = opened(tmp_path)
    facets = index.facets(the_run(index))
    rows = drawn.expected()
    assert facets.statuses == Counter(row["status"] for row in rows)
    assert facets.flags == Counter(flag for row in rows for flag in row["flags"])
    assert facets.tags == {
        name: Counter(row["tags"][name] for row in rows) for name in ("k=v", "place")
    }
    numbers = [row["score"] for row in rows if row["score"] is not None]
    assert (facets.edges[0], facets.edges[-1]) == (min(numbers), max(numbers))
    assert len(facets.edges) == len(facets.counts) + 1
    bins = zip(facets.edges, facets.edges[1:], facets.counts, strict=False)
    for low, high, count in bins:
        last = high == facets.edges[-1]
        assert count == sum(low <= n < high or (last and n == high) for n in numbers)


def test_one_number_makes_one_bin_and_none_makes_none(tmp_path: Path) -> None:
    ids = ["a", "b"]
    write_run(tmp_path / "x", record_of(ids), scores=[score(i, {"good": 0.5}) for i in ids])
    index = opened(tmp_path)
    assert (index.facets(the_run(index)).edges, index.facets(the_run(index)).counts) == (
        (0.5, 0.5),
        (2,),
    )
    (tmp_path / "x" / "scores" / "abcdef0123456789.jsonl").write_text("")
    assert index.refresh(0)
    assert index.facets(the_run(index)).edges == ()


def two_runs(folder: Path, *, higher: bool = True, yes_or_no: bool = False) -> tuple[Drawn, Drawn]:
    made = []
    for name, seed in (("a", 7), ("b", 8)):
        drawn = Drawn(seed)
        drawn.ids = [f"im{at:03}" for at in range(10 if name == "b" else 0, 150)]
        drawn.random.shuffle(drawn.ids)
        drawn.items = [{"id": i, "group": i, "tags": {"half": str(i > "im080")}} for i in drawn.ids]
        numbers = (0.0, 1.0) if yes_or_no else (None, 0.0, 0.25, 0.5, 0.75)
        drawn.predictions = []
        drawn.scores = [score(i, {"good": drawn.random.choice(numbers)}) for i in drawn.ids]
        card = card_of(drawn.scores, higher_is_better=higher)
        write_run(folder / name, drawn.record(), items=drawn.items, scores=drawn.scores, card=card)
        made.append(drawn)
    return made[0], made[1]


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("yes_or_no", [True, False])
def test_pairs_are_those_of_both_runs_and_counted(
    tmp_path: Path, higher: bool, yes_or_no: bool
) -> None:
    drawn = two_runs(tmp_path, higher=higher, yes_or_no=yes_or_no)
    index = opened(tmp_path)
    first, second = index.runs()
    a, b = ({line["sample"]: line["values"]["good"] for line in d.scores} for d in drawn)
    common = [name for name in drawn[0].ids if name in b]
    threshold = float(higher)
    if not yes_or_no:
        threshold = statistics.median(n for i in common for n in (a[i], b[i]) if n is not None)
    both = [i for i in common if a[i] is not None and b[i] is not None]

    def good(number: float) -> bool:
        return number >= threshold if higher else number <= threshold

    names = {
        (False, False): "both_bad", (True, False): "only_a",
        (False, True): "only_b", (True, True): "both_good",
    }  # fmt: skip
    counts = Counter(names[good(a[i]), good(b[i])] for i in both)
    signs = Counter((b[i] > a[i]) - (b[i] < a[i]) for i in both)
    pairing = index.pair(first, second, Query())
    assert pairing.common == pairing.total == len(common) == 140
    assert pairing.threshold == threshold
    ways = ("b_better", "a_better") if higher else ("a_better", "b_better")
    wanted = {**dict.fromkeys(names.values(), 0), **counts, "tie": signs[0]}
    wanted |= {ways[0]: signs[1], ways[1]: signs[-1]}
    assert pairing.counts == wanted
    for quadrant in names.values():
        part = index.pair(first, second, Query(quadrant=quadrant))
        assert (part.total, part.counts) == (counts[quadrant], wanted)


@pytest.mark.parametrize("dir_", ["", "asc", "desc"])
@pytest.mark.parametrize("sort", ["", "delta", "a", "b", "id"])
def test_pairs_come_in_the_order_asked_for(tmp_path: Path, sort: str, dir_: str) -> None:
    drawn = two_runs(tmp_path)
    index = opened(tmp_path)
    first, second = index.runs()
    a, b = ({line["sample"]: line["values"]["good"] for line in d.scores} for d in drawn)
    common = [name for name in drawn[0].ids if name in b]
    found = []
    for page in (1, 2, 3):
        rows = index.pair(first, second, Query(sort=sort, dir=dir_, page=page)).rows
        found += [row.first.id for row in rows]
        for row in rows:
            x, y = a[row.first.id], b[row.first.id]
            assert (row.first.score, row.second.score) == (x, y)
            assert row.second.id == row.first.id
            assert row.delta == (None if x is None or y is None else y - x)

    def number(name: str) -> float | None:
        if sort in ("", "delta"):
            return None if a[name] is None or b[name] is None else abs(b[name] - a[name])
        return a[name] if sort == "a" else b[name]

    if sort == "id":
        assert found == sorted(common, reverse=dir_ == "desc")
        return
    downwards = dir_ == "desc" if dir_ else sort in ("", "delta")
    sign = -1 if downwards else 1
    numbered = [name for name in common if number(name) is not None]
    numbered.sort(key=lambda name: sign * (number(name) or 0.0))
    assert found == [*numbered, *(name for name in common if number(name) is None)]


def test_pairs_are_filtered_by_tag_and_id(tmp_path: Path) -> None:
    drawn = two_runs(tmp_path)
    index = opened(tmp_path)
    pairing = index.pair(*index.runs(), Query(tag=("half=True",), q="5"))
    both = set(drawn[0].ids) & set(drawn[1].ids)
    assert pairing.total == sum(name > "im080" and "5" in name for name in both)
    assert pairing.common == 140


def test_an_unknown_sort_or_quadrant_of_pairs_is_named(tmp_path: Path) -> None:
    two_runs(tmp_path)
    index = opened(tmp_path)
    with pytest.raises(UsageError, match=r"sort: 'deltas'.*Nearest: delta"):
        index.pair(*index.runs(), Query(sort="deltas"))
    with pytest.raises(UsageError, match=r"quadrant: 'only_c'.*Nearest: only_"):
        index.pair(*index.runs(), Query(quadrant="only_c"))


def test_all_models_on_a_sample_are_those_of_its_task(tmp_path: Path) -> None:
    record = record_of(["s1", "s2"])
    write_run(tmp_path / "a", record, scores=[score("s1", {"good": 0.5})])
    write_run(tmp_path / "b", {**record, "model": "acme:other"}, scores=[])
    write_run(tmp_path / "c", {**record, "task": "toys/depth@strict"}, scores=[])
    write_run(tmp_path / "d", {**record, "samples": ["s2"]}, scores=[])
    index = opened(tmp_path)
    found = index.models("toys/depth@standard", index.runs()[0].key and key_of("s1") + "-s1")
    assert [(run.path, sample.id, sample.score) for run, sample in found] == [
        ("a", "s1", 0.5),
        ("b", "s1", None),
    ]
    assert [run.model for run, _ in found] == ["painter", "acme:other"]


def test_newest_gives_what_came_after_a_mark(tmp_path: Path) -> None:
    ids = [f"s{at}" for at in range(100)]
    run = write_run(tmp_path / "a", record_of(ids), predictions=map(prediction, ids[:70]))
    index = opened(tmp_path)
    rows, mark = index.newest(the_run(index), 0)
    assert mark == 70
    assert [row.id for row in rows] == ids[69:9:-1]
    assert index.newest(the_run(index), mark) == ([], mark)
    with (run / "predictions.jsonl").open("a") as file:
        file.write('{"sample":"s90","attempt":0,"status":"ok"}\n{"sample":"s3","att')
    index.refresh(0)
    rows, after = index.newest(the_run(index), mark)
    assert ([row.id for row in rows], after) == (["s90"], 71)
    with (run / "predictions.jsonl").open("a") as file:
        file.write('empt":0,"status":"refused"}\n')
    index.refresh(0)
    rows, last = index.newest(the_run(index), after)
    assert ([(row.id, row.status) for row in rows], last) == ([("s3", "refused")], 72)
    assert index.newest(the_run(index), 10**6) == ([], 72)


def test_keys_and_slugs_find_runs_samples_and_tasks(tmp_path: Path) -> None:
    write_run(tmp_path / "a", record_of(["nyuv2/0036"]), scores=[])
    index = opened(tmp_path)
    run = the_run(index)
    assert index.run(run.slug) == index.run(run.key) == run
    assert index.run("0123456789") is None
    sample = index.sample(run.slug, key_of("nyuv2/0036"))
    assert sample is not None
    assert index.sample(run, sample.slug) == sample
    assert index.sample(run, "0123456789-nothing") is None
    assert index.task(run.task_slug) == index.task(run.task) == run.task
    assert index.task("0123456789") is None
    assert index.folder(run) == tmp_path / "a"


def test_a_run_that_is_not_there_has_nothing(tmp_path: Path) -> None:
    index = Index(tmp_path)
    index.refresh()
    assert index.samples("0123456789", Query()) == ([], 0)
    assert index.facets("0123456789").statuses == {}
    assert index.walk("0123456789", Query(), "x").total == 0
    assert (index.card("0123456789"), index.record("0123456789")) == (None, None)
    assert index.pair("0123456789", "9876543210", Query()).total == 0
    assert index.newest("0123456789", 0) == ([], 0)
    assert list(index.all_samples("0123456789")) == []


def test_values_at_the_ends_of_floats_are_sorted_and_binned(tmp_path: Path) -> None:
    lines = [score("a", {"good": 1e308}), score("b", {"good": -1e308}), score("c", {"good": 0.0})]
    write_run(tmp_path / "a", record_of(["a", "b", "c"]), scores=lines)
    index = opened(tmp_path)
    rows, _ = index.samples(the_run(index), Query())
    assert [row.id for row in rows] == ["b", "c", "a"]
    facets = index.facets(the_run(index))
    assert sum(facets.counts) == 3
    assert all(map(math.isfinite, facets.edges))
