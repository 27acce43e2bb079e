"""Attempts whose decoder was calibrated on the run's first samples."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import vgen_eval
from vgen_eval.plugins import Catalog
from vgen_eval.viewer.looking import Look, Looker
from vgen_eval.viewing import Words

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))
import kit

TUNED = {
    "form": "text", "prompt": {"mid": "{query}?"}, "decoder": "toybench:tuned",
    "encoder": "toybench:number",
}  # fmt: skip
toys = kit.toys


def tuned_run(folder: Path, **more: Any) -> Path:
    protocol = {"answers": [TUNED], "calibration": {"samples": 3, **more}}
    task = kit.task(folder, protocol=protocol, n=5)
    card: vgen_eval.ResultCard = kit.run(folder, tasks=task, model=kit.model(folder, off=4))
    return kit.run_folder(folder, card)


def look(run: Path, sample: str) -> Look:
    return Looker(Catalog.discover()).look(run, sample)


def test_the_calibration_of_the_run_is_that_of_the_page(toys: Path) -> None:
    found = look(tuned_run(toys), "s004")
    assert found.notices == ()
    assert found.complete
    answer = found.find("answer")
    assert answer is not None
    assert isinstance(answer.pane.body, Words)
    assert answer.pane.body.text


def test_a_calibration_that_is_gone_is_told(toys: Path) -> None:
    run = tuned_run(toys)
    (kept,) = (run / "scores").glob("*.calibration.json")
    kept.unlink()
    found = look(run, "s004")
    assert any("is calibrated to is not known" in notice for notice in found.notices)
    assert any(f"vgen-eval score {run}" in notice for notice in found.notices)
    assert not found.complete


def test_samples_that_are_left_out_say_so(toys: Path) -> None:
    found = look(tuned_run(toys, exclude=True), "s000")
    assert found.facts["status"] == "no_valid_target"
    assert "calibrated on it" in found.facts["reason"]
    assert found.find("answer")


@pytest.mark.parametrize("record", ['{"of": {}, "decoder": {}}', "{", "[]"])
def test_a_calibration_that_was_changed_is_told(toys: Path, record: str) -> None:
    run = tuned_run(toys)
    (kept,) = (run / "scores").glob("*.calibration.json")
    kept.write_text(record)
    assert any("not known" in notice for notice in look(run, "s000").notices)
