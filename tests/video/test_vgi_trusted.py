"""`check judge` over video/vgi: presets replayed, or made, in one table; numbers worked by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import vgirun
from vgen_eval.cli import main


def rows_of(
    folder: Path, capsys: pytest.CaptureFixture[str], *runs: str, by: str = "domain"
) -> dict[tuple[str, str], dict[str, Any]]:
    """(preset, subset) -> the row."""
    first = folder / "out" / runs[0]
    ids = [json.loads(line)["id"] for line in (first / "samples.jsonl").read_text().splitlines()]
    human = folder / "said.csv"
    human.write_text("id,label\n" + "".join(f"{one},{int('sorting' in one)}\n" for one in ids))
    words = [str(folder / "out" / run) for run in runs]
    capsys.readouterr()
    code = main(["check", "judge", *words, "--human", str(human), "--by", by, "--json"])
    assert code == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    found = {}
    for row in rows:
        name = row["setting"] if row["variant"] == "as made" else row["variant"]
        found[name, row["subset"]] = row
    return found


def auc(row: dict[str, Any]) -> float:
    [value] = [one["value"] for one in row["measures"] if one["name"] == "auc"]
    return float(value)


def test_presets_stand_side_by_side_whether_replayed_or_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vgirun.prepare(tmp_path)
    full = vgirun.run(tmp_path)
    even = vgirun.run(tmp_path, set={"protocol.answers[0].judge.options.preset": "even_2"})
    rows = rows_of(tmp_path, capsys, full.run, even.run)
    # finals of sorting 1, .5, .25 above those of the maze .75, 0, 0: 3 + 2 + 2 pairs of 9
    assert auc(rows["full", "all"]) == pytest.approx(7 / 9)
    # rubrics 1, 1, .5 and .75, 0, 0
    assert auc(rows["rubric_only", "all"]) == pytest.approx(8 / 9)
    # tiers 1, .5, .5 and 1, 0, 0
    assert auc(rows["completeness_only", "all"]) == pytest.approx(6.5 / 9)
    assert rows["even_2", "all"]["n"] == 6
    assert rows["no_window", "all"]["reason"].startswith("never asked: window/0, of ")
    assert rows["full", "domain=structured_puzzles"]["n"] == 3
    presets = {name for name, subset in rows if subset == "all"}
    assert presets == {
        "full", "no_zoom", "no_window", "even_2", "even_4", "even_8", "rubric_only",
        "completeness_only",
    }  # fmt: skip
