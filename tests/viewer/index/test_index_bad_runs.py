"""Runs that are damaged, foreign, closed or elsewhere: a row says so, and nothing is raised."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from indexkit import DIGEST, card_of, prediction, record_of, score, text, write_run
from vgen_eval.viewer.index import Index
from vgen_eval.viewer.records import Query, RunRow, key_of


def rows_of(results: Path) -> tuple[Index, dict[str, RunRow]]:
    """The rows beside that of a good run, which none of the others may harm."""
    write_run(results / "good", record_of(["x"]), scores=[score("x", {"good": 0.5})])
    index = Index(results)
    index.refresh()
    found = {row.path: row for row in index.runs()}
    good = found.pop("good")
    assert index.samples(good, Query())[0][0].score == 0.5
    assert not index.refresh(0)
    return index, found


def test_no_results_are_no_runs(tmp_path: Path) -> None:
    index = Index(tmp_path / "not here")
    index.refresh()
    assert index.runs() == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "damaged"),
        ('{"schema": 1, "task": "toys/depth', "damaged"),
        ("[]", "no mapping"),
        ('{"schema": 7, "task": "toys/depth@standard", "model": "acme:m"}', "schema 7, 1 wanted"),
        ('{"task": "toys/depth@standard", "model": "acme:m"}', "'run' is missing"),
        ('{"task": "toys/depth@standard", "model": "acme:m", "samples": 3}', "damaged"),
        (json.dumps(record_of(["x", "x"])), "a sample is there twice"),
    ],
)
def test_a_damaged_or_foreign_record_is_unreadable_and_says_why(
    tmp_path: Path, content: str, reason: str
) -> None:
    run = write_run(tmp_path / "bad", record_of(["x"]), predictions=[prediction("x")])
    (run / "run.json").write_text(content)
    index, rows = rows_of(tmp_path)
    row = rows["bad"]
    assert row.state == "unreadable"
    assert reason in row.reason
    assert str(run) in row.reason
    told = json.loads(content) if content.endswith("}") else {}
    assert row.task == told.get("task", "")
    assert index.samples(row, Query()) == ([], 0)
    assert index.sample(row, key_of("x")) is None


def test_a_mended_record_is_read(tmp_path: Path) -> None:
    run = write_run(tmp_path / "bad", record_of(["x"]), predictions=[prediction("x")])
    whole = (run / "run.json").read_bytes()
    (run / "run.json").write_bytes(whole[:100])
    index, _ = rows_of(tmp_path)
    (run / "run.json").write_bytes(whole)
    assert index.refresh(0)
    assert {row.path: row.state for row in index.runs()}["bad"] == "stopped"


@pytest.mark.parametrize(
    ("change", "state", "reason"),
    [
        ({"schema_version": "9.0"}, "stopped", "schema 9.0"),
        ({"schema_version": "0.9"}, "stopped", "schema 0.9"),
        ({"schema_version": "<b>"}, "unreadable", "schema <b>"),
        ({"counts": 3}, "unreadable", "damaged"),
    ],
)
def test_a_card_that_is_not_read_leaves_the_samples(
    tmp_path: Path, change: dict[str, object], state: str, reason: str
) -> None:
    lines = [score("x", {"good": 0.25})]
    card = {**card_of(lines), **change}
    write_run(tmp_path / "bad", record_of(["x"]), scores=lines, card=card)
    index, rows = rows_of(tmp_path)
    row = rows["bad"]
    assert (row.state, row.value, row.model) == (state, None, "painter")
    assert reason in row.reason
    assert index.samples(row, Query())[0][0].score == 0.25
    assert index.card(row) is None


def test_damaged_lines_are_counted_and_passed_over(tmp_path: Path) -> None:
    run = write_run(tmp_path / "bad", record_of(["x", "y", "z"]), scores=[])
    (run / "predictions.jsonl").write_bytes(
        text([prediction("x")]).encode()
        + b'{"sample":"y","attempt":0,"sta\n\xff\xfe\n[1]\n\n'
        + b'{"sample":3,"attempt":0,"status":"ok"}\n'
        + b'{"sample":"y","attempt":0,"status":"so so"}\n'
        + b'{"sample":"z","attempt":99,"status":"ok"}\n'
        + b"[" * 100_000
        + b"\n"
        + text([prediction("z", status="refused")]).encode()
        + b'{"sample":"y","attempt":0,"status":"ok"}'
    )
    index, rows = rows_of(tmp_path)
    found = {row.id: row.status for row in index.all_samples(rows["bad"])}
    assert found == {"x": "ok", "y": "not_run", "z": "refused"}
    assert "7 damaged lines passed over" in rows["bad"].reason


def test_values_that_are_no_numbers_damage_their_line_alone(tmp_path: Path) -> None:
    lines = [score("x", {"good": 0.5}), score("y"), score("z", {"good": 1.0})]
    lines[1]["values"] = {"good": "high"}
    write_run(tmp_path / "bad", record_of(["x", "y", "z"]), predictions=(), scores=lines)
    index, rows = rows_of(tmp_path)
    found = [(row.status, row.score) for row in index.all_samples(rows["bad"])]
    assert found == [("ok", 0.5), ("not_run", None), ("ok", 1.0)]


@pytest.mark.parametrize(
    ("left", "gone"), [(text([prediction("x")]) + '{"sample":"y","atte', 2), ("", 3), (None, 3)]
)
@pytest.mark.parametrize("with_card", [True, False])
def test_a_run_that_lost_predictions_that_were_scored_is_not_complete(
    tmp_path: Path, left: str | None, gone: int, with_card: bool
) -> None:
    lines = [score(name, {"good": 0.5}) for name in "xyz"]
    card = card_of(lines) if with_card else None
    run = write_run(tmp_path / "bad", record_of([*"xyz"]), scores=lines, card=card)
    index, rows = rows_of(tmp_path)
    assert (rows["bad"].state, rows["bad"].ended) == ("complete" if with_card else "stopped", 3)
    assert "gone" not in rows["bad"].reason
    whole = (run / "predictions.jsonl").read_text()
    (run / "predictions.jsonl").unlink()
    if left is not None:
        (run / "predictions.jsonl").write_text(left)
    index.refresh(0)
    row = index.run(rows["bad"].key)
    assert row is not None
    assert (row.state, row.ended) == ("stopped", 3 - gone)
    told = f"the lines of {gone} of the 3 predictions that were scored are gone"
    assert told in row.reason
    assert ("no result card" in row.reason) is not with_card
    # what comes back is counted, as appended lines are
    with (run / "predictions.jsonl").open("a") as file:
        file.write("\n" + whole)
    index.refresh(0)
    row = index.run(row.key)
    assert row is not None
    assert (row.state, row.ended) == (rows["bad"].state, 3)
    assert "gone" not in row.reason


def test_samples_that_were_not_written_down_are_their_own_groups(tmp_path: Path) -> None:
    items = [{"id": "y", "group": "scene", "tags": {"a": "b"}}]
    run = write_run(tmp_path / "bad", record_of(["x", "y"]), items=items)
    with (run / "samples.jsonl").open("a") as file:
        file.write('{"id": "x", "gro')
    index, rows = rows_of(tmp_path)
    found = [(row.id, row.group, row.tags) for row in index.all_samples(rows["bad"])]
    assert found == [("x", "x", {}), ("y", "scene", {"a": "b"})]


def test_an_empty_run_folder_has_its_samples_as_not_run(tmp_path: Path) -> None:
    run = write_run(tmp_path / "bad", record_of(["x"]))
    (run / "predictions.jsonl").unlink()
    shutil.rmtree(run / "scores")
    index, rows = rows_of(tmp_path)
    assert (rows["bad"].state, rows["bad"].ended) == ("stopped", 0)
    assert [row.status for row in index.all_samples(rows["bad"])] == ["not_run"]


def test_two_runs_of_one_name_are_two(tmp_path: Path) -> None:
    record = record_of(["x"])
    write_run(tmp_path / "monday" / "runs" / "feed", record, scores=[score("x", {"good": 0.25})])
    write_run(tmp_path / "friday" / "runs" / "feed", record, scores=[score("x", {"good": 0.75})])
    index, rows = rows_of(tmp_path)
    assert sorted(rows) == ["friday/runs/feed", "monday/runs/feed"]
    assert len({row.key for row in rows.values()}) == 2
    assert [index.samples(row, Query())[0][0].score for row in rows.values()] == [0.75, 0.25]


def test_names_with_dots_markup_and_spaces_are_names(tmp_path: Path) -> None:
    hostile = "..", "a..b", "<script>alert(1)</script>", "%2e%2e", "a b\n\u202ec"
    record = record_of([*hostile, "../../etc/passwd"], run="../../../x", model="../../y")
    names = ["..a", "<script>", "a b\n", "%2e%2e"]
    for name in names:
        write_run(tmp_path / name, record, scores=[score(i, {"good": 1.0}) for i in hostile])
    index, rows = rows_of(tmp_path)
    assert sorted(rows) == sorted(names)
    for row in rows.values():
        assert index.folder(row) == tmp_path / row.path
        assert [found.id for found in index.all_samples(row)] == record["samples"]
        assert index.samples(row, Query(q="<SCRIPT"))[0][0].id == hostile[2]
        assert all(letter in "0123456789abcdefghijklmnopqrstuvwxyz-" for letter in row.slug)


def test_a_folder_that_is_no_text_is_told(tmp_path: Path) -> None:
    write_run(tmp_path / "here", record_of(["x"]))
    try:
        (tmp_path / "here").rename(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))
    except OSError:
        pytest.skip("this file system takes text alone")
    _, rows = rows_of(tmp_path)
    assert rows["\\xff\\xfe"].state == "unreadable"
    assert "rename the folder" in rows["\\xff\\xfe"].reason


@pytest.mark.parametrize("name", ["run.json", "predictions.jsonl", f"scores/{DIGEST}.jsonl"])
def test_a_link_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    results = tmp_path / "results"
    run = write_run(results / "bad", record_of(["x"]), scores=[score("x", {"good": 0.5})])
    (run / name).rename(tmp_path / "secret")
    (run / name).symlink_to(tmp_path / "secret")
    index, rows = rows_of(results)
    assert rows["bad"].state == "unreadable"
    assert rows["bad"].reason.startswith(f"{name}: a symbolic link leads out")
    assert index.samples(rows["bad"], Query()) == ([], 0)
    assert index.record(rows["bad"]) is None


def test_a_linked_run_is_refused_outside_and_found_once_inside(tmp_path: Path) -> None:
    results = tmp_path / "results"
    write_run(tmp_path / "outside", record_of(["x"]), scores=[])
    write_run(results / "inside", record_of(["x"]), scores=[])
    (results / "link-out").symlink_to(tmp_path / "outside")
    (results / "link-in").symlink_to(results / "inside")
    (results / "loop").symlink_to(results)
    (results / "nowhere").symlink_to(tmp_path / "gone")
    _, rows = rows_of(results)
    assert {path: row.state for path, row in rows.items()} == {
        "inside": "stopped",
        "link-out": "unreadable",
    }
    assert "leads out of the results folder" in rows["link-out"].reason


def test_a_results_folder_may_be_a_link_itself(tmp_path: Path) -> None:
    write_run(tmp_path / "real" / "a", record_of(["x"]), scores=[])
    (tmp_path / "link").symlink_to(tmp_path / "real")
    _, rows = rows_of(tmp_path / "link")
    assert [row.state for row in rows.values()] == ["stopped"]


@pytest.mark.parametrize("name", ["run.json", "samples.jsonl", "predictions.jsonl"])
def test_a_pipe_or_a_folder_in_place_of_a_file_is_told_and_not_waited_for(
    tmp_path: Path, name: str
) -> None:
    for kind in ("pipe", "folder"):
        run = write_run(tmp_path / kind, record_of(["x"]), items=[])
        (run / name).unlink()
        if kind == "pipe":
            os.mkfifo(run / name)
        else:
            (run / name).mkdir()
    _, rows = rows_of(tmp_path)
    for row in rows.values():
        assert (row.state, row.reason) == ("unreadable", f"{name} is no file: move it away")


def test_a_folder_that_may_not_be_listed_is_told(tmp_path: Path) -> None:
    run = write_run(tmp_path / "closed", record_of(["x"]))
    run.chmod(0)
    try:
        if os.access(run, os.R_OK):
            pytest.skip("who runs this may read everything")
        _, rows = rows_of(tmp_path)
        assert rows["closed"].state == "unreadable"
        assert "mend its permissions" in rows["closed"].reason
    finally:
        run.chmod(0o755)


def test_a_primary_of_a_plugin_that_is_not_here_has_no_number_and_breaks_nothing(
    tmp_path: Path,
) -> None:
    record = record_of(["x"])
    protocol = {"metrics": [{"name": "gone:metric"}, "no mapping", {}], "primary": "best"}
    record["identity"]["task"] |= {"task": "gone:toys/depth", "protocol": protocol}
    write_run(tmp_path / "bad", record, scores=[score("x", {"other": 0.5})])
    index, rows = rows_of(tmp_path)
    row = rows["bad"]
    assert (row.primary, row.higher_is_better, row.state) == ("best", True, "stopped")
    (sample,), _ = index.samples(row, Query())
    assert (sample.score, sample.values) == (None, {"other": 0.5})


def test_reasons_of_a_megabyte_are_cut(tmp_path: Path) -> None:
    lines = [prediction("x", status="refused", reason="no " * 400_000)]
    write_run(tmp_path / "bad", record_of(["x"]), predictions=lines)
    index, rows = rows_of(tmp_path)
    assert len(index.samples(rows["bad"], Query())[0][0].reason) == 1000


def test_a_run_that_could_not_be_read_is_read_whole_once_it_can(tmp_path: Path) -> None:
    ids = ["x", "y", "z"]
    run = write_run(tmp_path / "bad", record_of(ids), predictions=[prediction("x")])
    (run / "predictions.jsonl").rename(tmp_path / "aside")
    (run / "predictions.jsonl").mkdir()
    index, rows = rows_of(tmp_path)
    assert rows["bad"].state == "unreadable"
    (run / "predictions.jsonl").rmdir()
    (tmp_path / "aside").rename(run / "predictions.jsonl")
    assert index.refresh(0)
    statuses = [row.status for row in index.all_samples(rows["bad"])]
    assert statuses == ["ok", "not_run", "not_run"]
