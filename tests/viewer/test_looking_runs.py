"""Views that fail, runs that are damaged, and attempts that are held."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looking_kit import (
    WithViews,
    copy_of,
    every_family,
    lines_of,
    look,
    looker,
    own_depth,
    pane,
    run_of,
)
from vgen_eval.errors import UsageError
from vgen_eval.viewer.looking import Look, Looker
from vgen_eval.viewing import ClassMap, Pane, Picture, ScalarMap, Words


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return every_family(tmp_path_factory.getbasetemp())


class Raising:
    version = 1
    measures = "depth"

    def panes(self, seen: Any) -> Any:
        raise RuntimeError("views are anyone's code")


class Odd:
    version = 1
    measures = "depth"

    def panes(self, seen: Any) -> Any:
        good = Pane(role="target", title="good", body=ScalarMap(values=np.ones((4, 6))))
        thin = Pane(role="error", title="thin", body=ScalarMap(values=np.ones(4)))
        whole = Pane(role="error", title="whole", body=ScalarMap(values=np.ones((2, 2), int)))  # type: ignore[arg-type]
        ids = Pane(role="error", title="ids", body=ClassMap(ids=np.array([[7]]), classes=("a",)))
        long = Pane(role="error", title="long", body=ScalarMap(values=np.ones((10, 90))))
        return [good, thin, whole, ids, "no pane", long]


def test_a_view_that_fails_leaves_the_rest_and_the_scores(results: Path) -> None:
    run = run_of(results, "depth")
    sample = lines_of(run / "predictions.jsonl")[0]["sample"]
    found = Looker(WithViews({"depth": Raising})).look(run, sample)  # type: ignore[arg-type]
    assert any("the view of 'depth' failed: RuntimeError" in notice for notice in found.notices)
    assert pane(found, "input")
    assert isinstance(pane(found, "prediction").pane.body, Words)
    assert not found.complete


def test_panes_that_cannot_be_drawn_are_left_out(results: Path) -> None:
    run = run_of(results, "depth")
    sample = lines_of(run / "predictions.jsonl")[0]["sample"]
    found = Looker(WithViews({"depth": Odd})).look(run, sample)  # type: ignore[arg-type]
    assert len([notice for notice in found.notices if "cannot be drawn" in notice]) == 4
    assert pane(found, "target")
    assert pane(found, "error").frame is None  # of another shape: out of step


# --- runs ---------------------------------------------------------------------------------


def test_a_run_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    for record in (None, b"{", b'{"samples": 3}'):
        run = tmp_path / "run"
        run.mkdir(exist_ok=True)
        if record is not None:
            (run / "run.json").write_bytes(record)
        found = looker().look(run, "a")
        assert found.panes == ()
        assert len(found.notices) == 1
        assert found.facts["status"] == "not_run"


def test_of_another_schema_what_can_be_read_is_shown(results: Path, tmp_path: Path) -> None:
    run = copy_of(results, "depth", tmp_path)
    record = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**record, "schema": 99}))
    found = look(run)
    assert any("schema 99" in notice for notice in found.notices)
    assert isinstance(pane(found, "answer").pane.body, Picture)


def test_samples_and_attempts_that_were_not_asked_for_are_refused(results: Path) -> None:
    run = run_of(results, "depth")
    first = lines_of(run / "predictions.jsonl")[0]["sample"]
    with pytest.raises(UsageError, match="no sample 'elsewhere'"):
        looker().look(run, "elsewhere")
    for attempt in (-1, 1, 99):
        with pytest.raises(UsageError, match="no attempt"):
            looker().look(run, first, attempt)


def test_a_look_is_named_as_it_was_asked_for(results: Path, tmp_path: Path) -> None:
    run = run_of(results, "depth")
    (tmp_path / "link").symlink_to(run)
    one = looker()
    sample = lines_of(run / "predictions.jsonl")[0]["sample"]
    first, second = one.look(run, sample), one.look(tmp_path / "link", sample)
    assert (first.run, second.run) == (run, tmp_path / "link")
    assert first.panes is second.panes


def test_runs_of_the_same_data_share_a_sample_that_was_loaded(
    results: Path, tmp_path: Path
) -> None:
    run = run_of(results, "depth")
    other = copy_of(results, "depth", tmp_path)
    one = looker()
    sample = lines_of(run / "predictions.jsonl")[0]["sample"]
    first, second = (pane(one.look(each, sample), "input").pane.body for each in (run, other))
    assert isinstance(first, Picture)
    assert isinstance(second, Picture)
    assert first.image is second.image


def test_an_attempt_is_made_once_for_all_who_ask(results: Path) -> None:
    run = run_of(results, "depth")
    sample = lines_of(run / "predictions.jsonl")[0]["sample"]
    one = looker()
    found: list[Look] = []
    threads = [
        threading.Thread(target=lambda: found.append(one.look(run, sample))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len({id(each) for each in found}) == 1


def test_no_more_is_held_than_was_said(results: Path) -> None:
    run = run_of(results, "depth")
    one, two = (line["sample"] for line in lines_of(run / "predictions.jsonl"))
    small = looker(most_bytes=1)
    first = small.look(run, one)
    assert small.look(run, one) is first
    assert small.look(run, two) is not first
    assert small.look(run, one) is not first
    large = looker()
    kept = large.look(run, one)
    large.look(run, two)
    assert large.look(run, one) is kept


def test_what_a_running_run_appends_is_seen(tmp_path: Path) -> None:
    run = own_depth(tmp_path / "own", "oracle")
    path = run / "predictions.jsonl"
    (scores,) = (run / "scores").glob("*.jsonl")
    (first, second), scored = path.read_text().splitlines(), scores.read_text()
    path.write_text(f"{first}\n{second[:100]}")
    scores.write_text("")
    one = looker()
    early, late = (json.loads(line)["sample"] for line in (first, second))
    assert one.look(run, early).facts["status"] == "ok"
    assert one.look(run, late).facts["status"] == "not_run"
    stamps = one.stamp(run, early), one.stamp(run, late)
    path.write_text(f"{first}\n{second}\n")
    assert one.look(run, late).facts["status"] == "ok"
    assert one.stamp(run, late) != stamps[1]
    assert one.look(run, early).score is None
    scores.write_text(scored)
    assert one.look(run, early).score is not None
    assert one.stamp(run, early) != stamps[0]


def test_a_later_line_supersedes_and_damaged_ones_are_passed_over(tmp_path: Path) -> None:
    run = own_depth(tmp_path / "own", "oracle")
    path = run / "predictions.jsonl"
    one = looker()
    assert one.look(run, "near").facts["status"] == "ok"
    again = {"sample": "near", "attempt": 0, "form": "image", "status": "error", "kind": "X"}
    with path.open("ab") as file:
        file.write(b'{"sample": "near\xff"}\n[1]\nnull\n')
        file.write(json.dumps(again).encode() + b"\n")
    assert (one.look(run, "near").line or {})["status"] == "error"
    path.write_text(json.dumps({**again, "status": "refused"}) + "\n")  # another, shorter file
    assert (one.look(run, "near").line or {})["status"] == "refused"
    assert one.look(run, "far").line is None


@pytest.mark.parametrize(
    "line",
    [
        {"status": "ok"},
        {"status": "ok", "answer": 3},
        {"status": "ok", "form": "image", "answer": {"file": "../../x", "sha256": "0"}},
        {"status": "ok", "form": "image", "answer": {"sha256": "0", "value": [1]}},
        {"status": "nonsense", "form": "spoon", "volatile": 3, "flags": "x", "geometry": [1]},
        {"status": "ok", "form": "points", "answer": {"sha256": "0", "value": "abc"}},
    ],
)
def test_lines_that_somebody_changed_never_raise(tmp_path: Path, line: dict[str, Any]) -> None:
    run = own_depth(tmp_path / "own", "oracle", limit=1)
    (run / "predictions.jsonl").write_text(
        json.dumps({"sample": "near", "attempt": 0, **line}) + "\n"
    )
    found = look(run, "near")
    assert pane(found, "target")


def test_layers_fall_back_to_what_there_is(results: Path) -> None:
    found = look(run_of(results, "depth"))
    for layer, role in {"": "prediction", "error": "error", "nonsense": "prediction"}.items():
        shown = found.layer(layer)
        assert shown is not None
        assert shown.pane.role == role
    words = look(run_of(results, "answers")).layer("error")
    assert words is not None
    assert words.pane.role == "prediction"
