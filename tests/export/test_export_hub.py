"""`.eval_results`: entries keep to the Hub's rules; what it cannot show honestly is left out."""

from __future__ import annotations

import math
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import vgen_eval
import yaml
from exportkit import Copied, edit, export_runs, runs_of
from vgen_eval.errors import UsageError
from vgen_eval.results.card import read_card

NAMES = {"hub_dataset": "owner/bench-1.0", "task_id": "depth"}


def check_entries(text: str) -> list[dict[str, Any]]:
    """The entries of a file; AssertionError for what the Hub would refuse."""
    entries = yaml.safe_load(text)
    assert isinstance(entries, list)
    assert entries
    for entry in entries:
        assert {"dataset", "value"} <= entry.keys() <= {
            "dataset", "value", "verifyToken", "date", "source", "notes",
        }  # fmt: skip
        data = entry["dataset"]
        assert {"id", "task_id"} <= data.keys() <= {"id", "task_id", "revision"}
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", data["id"])
        assert all(isinstance(word, str) and word for word in data.values())
        assert isinstance(entry["value"], (int, float))
        assert not isinstance(entry["value"], bool)
        assert math.isfinite(entry["value"])
        if "date" in entry:
            assert isinstance(entry["date"], str)
            date.fromisoformat(entry["date"])
        if "source" in entry:
            assert {"url"} <= entry["source"].keys() <= {"url", "name", "user", "org"}
            assert entry["source"]["url"].startswith(("https://", "http://"))
        assert isinstance(entry.get("notes", ""), str)
    return entries


def test_a_runs_primary_becomes_an_entry(results: Path, tmp_path: Path) -> None:
    (path,) = runs_of(results, "classical", "depth")
    done = export_runs("hf-eval-results", [path], tmp_path, **NAMES)
    assert [file.path for file in done.files] == [".eval_results/samples_depth@standard.yaml"]
    (entry,) = check_entries((tmp_path / done.files[0].path).read_text())
    score = read_card(path).score()
    assert entry["dataset"] == {"id": "owner/bench-1.0", "task_id": "depth"}
    assert entry["value"] == score.value
    assert entry["notes"].startswith("delta1, higher is better; ")
    assert "source" not in entry


def test_units_sources_revisions_and_other_metrics_are_told(results: Path, tmp_path: Path) -> None:
    paths = runs_of(results, "blind", "counting")
    export_runs(
        "hf-eval-results", paths, tmp_path, **NAMES, metric="rmse", revision="abc123",
        source_url="https://example.org/results", source_org="Lab",
    )  # fmt: skip
    (entry,) = check_entries(
        (tmp_path / ".eval_results/samples_counting@standard.yaml").read_text()
    )
    assert entry["value"] == read_card(paths[0]).score("rmse").value
    assert entry["notes"].startswith("rmse in objects, lower is better; ")
    assert entry["dataset"]["revision"] == "abc123"
    assert entry["source"] == {
        "url": "https://example.org/results", "name": "vgen-eval", "org": "Lab",
    }  # fmt: skip


def test_the_cards_own_data_set_is_taken_with_its_revision(copied: Copied, tmp_path: Path) -> None:
    hub = {"repo": "owner/own", "revision": "76d6003", "files": []}
    run = edit(copied("blind", "depth"), lambda card: card["dataset_info"].update(hub=hub))
    export_runs("hf-eval-results", [run], tmp_path / "a", task_id="depth")
    (entry,) = check_entries((tmp_path / "a/.eval_results/samples_depth@standard.yaml").read_text())
    assert entry["dataset"] == {"id": "owner/own", "task_id": "depth", "revision": "76d6003"}
    export_runs("hf-eval-results", [run], tmp_path / "b", **NAMES)
    (entry,) = check_entries((tmp_path / "b/.eval_results/samples_depth@standard.yaml").read_text())
    assert entry["dataset"] == {"id": "owner/bench-1.0", "task_id": "depth"}


def test_several_models_have_a_folder_each(results: Path, tmp_path: Path) -> None:
    done = export_runs("hf-eval-results", runs_of(results, task="depth"), tmp_path, **NAMES)
    assert sorted(file.path for file in done.files) == [
        f"{model}/.eval_results/samples_depth@standard.yaml"
        for model in ("blind", "classical", "oracle")
    ]
    for file in done.files:
        check_entries((tmp_path / file.path).read_text())


@pytest.mark.parametrize(
    ("options", "what", "cure"),
    [
        ({}, "under which id", "--task-id ID"),
        ({"task_id": "t"}, "no data set of the Hub is named", "--hub-dataset OWNER/NAME"),
        (
            {},
            "no data set of the Hub is named in the card of samples/counting, samples/depth and",
            "a benchmark; --task-id ID",
        ),
    ],
)
def test_names_that_are_not_known_are_asked_for(
    results: Path, tmp_path: Path, options: dict[str, str], what: str, cure: str
) -> None:
    with pytest.raises(UsageError, match=what) as caught:
        export_runs("hf-eval-results", runs_of(results, "blind"), tmp_path / "out", **options)
    assert cure in str(caught.value.cure)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "options",
    [
        {**NAMES, "hub_dataset": "no-owner"},
        {**NAMES, "hub_dataset": "a/b/../c"},
        {**NAMES, "task_id": "two words"},
        {**NAMES, "source_url": "results.html"},
    ],
)
def test_names_that_the_hub_cannot_have_are_refused(
    results: Path, tmp_path: Path, options: dict[str, str]
) -> None:
    with pytest.raises(UsageError, match="'vgen-eval:hf-eval-results'"):
        export_runs("hf-eval-results", runs_of(results, "blind"), tmp_path, **options)


def test_two_runs_under_one_id_are_both_left_out(results: Path, tmp_path: Path) -> None:
    done = export_runs("hf-eval-results", runs_of(results, "classical"), tmp_path, **NAMES)
    assert (done.files, done.runs) == ((), ())
    assert len(done.left_out) == 3
    assert all("3 runs of classical would be one number" in line for line in done.left_out)
    assert all("name one run" in line for line in done.left_out)


def test_incomplete_runs_and_values_that_are_null_or_missing_are_left_out(
    results: Path, copied: Copied, tmp_path: Path
) -> None:
    (incomplete,) = runs_of(results, "counter")
    done = export_runs("hf-eval-results", [incomplete], tmp_path, **NAMES)
    assert "it is not complete" in done.left_out[0]

    def null(card: Any) -> None:
        card["scores"][0] |= {"value": None, "reason": "nothing to score"}

    run = edit(copied("blind", "depth"), null)
    done = export_runs("hf-eval-results", [run], tmp_path, **NAMES)
    assert "its delta1 is null: nothing to score" in done.left_out[0]
    done = export_runs("hf-eval-results", [run], tmp_path, **NAMES, metric="mae")
    assert "it reports no 'mae'" in done.left_out[0]
    assert not list(tmp_path.rglob("*.yaml"))


def test_a_part_of_the_samples_is_no_number_of_the_benchmark(tmp_path: Path) -> None:
    vgen_eval.evaluate(
        tasks="samples/counting", model="blind", limit=4, bounds=False, output=tmp_path / "results"
    )
    paths = runs_of(tmp_path / "results")
    done = export_runs("hf-eval-results", paths, tmp_path / "out", **NAMES)
    assert "it is of 4 of 13 samples" in done.left_out[0]
