"""CSV and Parquet: a row an attempt, the columns of all runs, numbers that read back the same."""

from __future__ import annotations

import csv
import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest
from exportkit import FAULTY, Copied, export_runs, lines, runs_of
from vgen_eval.errors import MissingExtra
from vgen_eval.exporting import csv_text
from vgen_eval.results.card import read_card

FIXED = [
    "run", "model", "task", "protocol", "prompt", "sample", "group", "attempt", "status", "flags",
    "substitute",
]  # fmt: skip


def read_csv(folder: Path) -> tuple[list[str], list[dict[str, str]]]:
    with (folder / "scores.csv").open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        return list(reader.fieldnames or ()), list(reader)


@pytest.fixture(scope="module")
def table(
    results: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[str], list[dict[str, str]]]:
    """All runs as one CSV."""
    target = tmp_path_factory.mktemp("csv")
    done = export_runs("csv", runs_of(results), target)
    assert len(done.runs) == 10
    assert [file.path for file in done.files] == ["scores.csv", "columns.json"]
    return read_csv(target)


def test_columns_are_the_union_of_the_runs(table: tuple[list[str], Any]) -> None:
    head, _ = table
    assert head[: len(FIXED)] == FIXED
    rest = head[len(FIXED) :]
    tags = [name for name in rest if name.startswith("tag.")]
    values = [name for name in rest if name.startswith("value.")]
    assert rest == tags + values
    assert tags == sorted(tags)
    assert {"value.mae", "value.delta1", "value.depth_space.delta1", "value.iou"} <= set(values)
    assert len(set(head)) == len(head)


def test_there_is_a_row_for_every_attempt_in_the_datas_order(
    table: tuple[Any, list[dict[str, str]]], results: Path
) -> None:
    _, rows = table
    by_run: dict[str, list[tuple[str, str]]] = {}
    for row in rows:
        by_run.setdefault(row["run"], []).append((row["sample"], row["attempt"]))
    for path in runs_of(results):
        asked = json.loads((path / "run.json").read_text())
        wanted = [(s, str(a)) for s in asked["samples"] for a in range(asked["attempts"])]
        assert by_run[read_card(path).run] == wanted
    assert len(rows) == 3 * (10 + 17 + 13) + 26


def test_numbers_read_back_as_they_were_scored(
    table: tuple[list[str], list[dict[str, str]]], results: Path
) -> None:
    head, rows = table
    found = {(row["run"], row["sample"], row["attempt"]): row for row in rows}
    compared = 0
    for path in runs_of(results):
        run = read_card(path).run
        (scores,) = (path / "scores").glob("*.jsonl")
        for line in lines(scores):
            row = found[run, line["sample"], str(line["attempt"])]
            told = {k.removeprefix("value."): row[k] for k in head if k.startswith("value.")}
            wanted = line.get("values", {})
            for name, text in told.items():
                number = wanted.get(name)
                assert text == ("" if number is None else repr(number))
                assert not text or (math.isfinite(float(text)) and float(text) == number)
                compared += number is not None
            assert row["status"] == line["status"]
            assert row["flags"] == " ".join(line.get("flags", ()))
    assert compared > 500


def test_failures_say_what_their_numbers_are_of(
    table: tuple[Any, list[dict[str, str]]],
) -> None:
    _, rows = table
    of = {row["sample"]: row for row in rows if row["model"] == "counter"}
    refused, unread, unasked = (of[sample] for sample in FAULTY)
    assert (refused["status"], refused["substitute"]) == ("refused", "true")
    assert (unread["status"], unread["substitute"]) == ("undecodable", "true")
    assert (unasked["status"], unasked["substitute"]) == ("error", "false")
    assert refused["value.mae"] == "24.0"
    assert unasked["value.mae"] == ""
    assert of["coins-bottom-row"]["substitute"] == "false"
    assert of["coins-bottom-row"]["tag.photo"] == "coins"


def test_columns_tell_units_and_directions(results: Path, tmp_path: Path) -> None:
    export_runs("csv", runs_of(results, "classical"), tmp_path)
    told = {c["column"]: c for c in json.loads((tmp_path / "columns.json").read_text())["columns"]}
    assert list(told) == read_csv(tmp_path)[0]
    (mae,) = told["value.mae"]["scores"]
    assert mae == {
        "task": "samples/counting@standard", "score": "mae", "aggregation": "mean",
        "unit": "objects", "higher_is_better": False, "low": 0.0, "high": None,
    }  # fmt: skip
    # one column, of two tasks, in two units
    assert {s["task"] for s in told["value.rmse"]["scores"]} == {
        "samples/counting@standard", "samples/depth@standard",
    }  # fmt: skip


def test_attempts_that_were_never_made_have_a_row(halted: Path, tmp_path: Path) -> None:
    export_runs("csv", [halted], tmp_path / "out")
    _, rows = read_csv(tmp_path / "out")
    assert len(rows) == 13
    not_run = [row for row in rows if row["status"] == "not_run"]
    assert len(not_run) == 4
    assert all(row["value.mae"] == "" for row in not_run)


def test_parquet_holds_what_csv_holds_in_types(results: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    runs = runs_of(results)
    export_runs("csv", runs, tmp_path)
    done = export_runs("parquet", runs, tmp_path)
    assert [file.path for file in done.files] == ["scores.parquet", "columns.json"]
    head, rows = read_csv(tmp_path)
    table = parquet.read_table(tmp_path / "scores.parquet")
    assert table.column_names == head
    types = {field.name: str(field.type) for field in table.schema}
    assert (types["attempt"], types["substitute"], types["value.mae"], types["tag.photo"]) == (
        "int64", "bool", "double", "string",
    )  # fmt: skip
    for ours, text in zip(table.to_pylist(), rows, strict=True):
        for name in head:
            told = ours[name]
            if told is None:
                assert text[name] == ""
            elif name == "flags":
                assert " ".join(told) == text[name]
            elif name.startswith("value."):
                assert told == float(text[name])
                assert math.isfinite(told)
            elif name == "substitute":
                assert str(told).lower() == text[name]
            else:
                assert str(told) == text[name]


def test_without_pyarrow_the_extra_is_named_and_csv_goes_on(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    runs = runs_of(results, "blind")
    with pytest.raises(MissingExtra, match="extra 'data'") as caught:
        export_runs("parquet", runs, tmp_path)
    assert caught.value.cure == "pip install 'vgen-eval[data]'"
    assert not list(tmp_path.iterdir())
    assert len(export_runs("csv", runs, tmp_path).files) == 2


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("plain, text", "plain, text"),
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\uff1d1", "'\uff1d1"),
        ("\t=1", "\\u0009=1"),
        ("\r\n=1", "\\u000d\\u000a=1"),
        ("a\x1b[31m", "a\\u001b[31m"),
        ("a\u202eb", "a\\u202eb"),
        ("a\udc80", "a\\udc80"),
        ("a\U000e0001", "a\\U000e0001"),
        ("\u00e9 \u4e2d \u200d", "\u00e9 \u4e2d \u200d"),
        ("", ""),
    ],
)
def test_a_text_in_csv_is_one_line_and_no_formula(text: str, cell: str) -> None:
    assert csv_text(text) == cell


def test_tags_and_names_of_samples_are_no_formulas_in_csv_and_numbers_stay(
    copied: Copied, tmp_path: Path
) -> None:
    run = copied("blind", "depth")
    path = run / "samples.jsonl"
    told = lines(path)
    tag = next(iter(told[0]["tags"]))
    told[0]["tags"][tag] = '=HYPERLINK("x")\nb'
    path.write_text("".join(json.dumps(line) + "\n" for line in told))
    export_runs("csv", [run], tmp_path / "out")
    _, rows = read_csv(tmp_path / "out")
    assert rows[0][f"tag.{tag}"] == '\'=HYPERLINK("x")\\u000ab'
    assert len((tmp_path / "out" / "scores.csv").read_text().splitlines()) == len(rows) + 1
