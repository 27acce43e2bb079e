"""video/vgi from card to result: real clips, a scripted judge, numbers worked by hand."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import vgirun
from vgen_eval.engine.rescore import rescore
from vgen_eval.plugins import Catalog
from vgen_eval.results.card import ResultCard

HERE = Path(__file__).parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    vgirun.prepare(tmp_path)
    vgirun.CALLS.clear()
    return tmp_path


def values(card: ResultCard) -> dict[str, float | None]:
    """Of the headline: all samples, mean over attempts."""
    return {
        score.metric: score.value
        for score in card.scores
        if score.subset == "all" and score.selection == "mean"
    }


def transcript(folder: Path, card: ResultCard, out: str = "out") -> list[dict[str, Any]]:
    path = folder / out / card.run / "judgements.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_originals_way_to_the_digit(folder: Path) -> None:
    card = vgirun.run(folder)
    # maze 1: (1 + 1/2) / 2 = .75 at tier 2; maze 2 no video, maze 3 no answer: 0 and failures
    # sorting 1: 1; sorting 2: a failed window, 1 at tier 1 = .5, success open; sorting 3: .5 * .5
    found = values(card)
    assert found["final"] == pytest.approx((0.75 + 0 + 0 + 1 + 0.5 + 0.25) / 6)
    assert found["rubric"] == pytest.approx((0.75 + 0 + 0 + 1 + 1 + 0.5) / 6)
    assert found["completeness"] == pytest.approx((1 + 0 + 0 + 1 + 0.5 + 0.5) / 6)
    assert found["success"] == pytest.approx(1 / 5)
    assert found["success_of_all"] == pytest.approx(1 / 6)
    assert found["final_task_macro"] == pytest.approx((0.25 + 1.75 / 3) / 2)
    assert card.complete
    assert card.counts.statuses["undecodable"] == 1
    assert card.counts.statuses["no_answer"] == 1


def test_ours_gives_a_failed_window_no_score(folder: Path) -> None:
    card = vgirun.run(folder, "vgi_strict")
    found = values(card)
    assert found["final"] == pytest.approx((0.75 + 0 + 0 + 1 + 0.25) / 5)
    assert found["success"] == pytest.approx(1 / 5)
    assert "success_of_all" not in found
    # the other denominator is in the counts: 1 of 6 succeeds, the one without a verdict included
    successes = card.score("success").value * card.score("success").n
    assert successes / card.counts.expected == pytest.approx(1 / 6)
    assert card.counts.statuses["judge_error"] == 1
    assert not card.complete
    asked = Counter(line["question"] for line in transcript(folder, card))
    assert asked["window/1?1"] == 1
    assert asked["zoom/0"] == 1


def test_a_run_that_was_killed_amid_its_judging_goes_on_where_it_was(folder: Path) -> None:
    whole = vgirun.run(folder, out="whole")
    done = subprocess.run(
        [sys.executable, str(HERE / "vgirun.py"), str(folder), "9"],
        env={"PYTHONPATH": f"{HERE}:{HERE.parent}", "PATH": ""},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    (kept,) = (folder / "out").rglob("judgements.jsonl")
    before = [json.loads(line) for line in kept.read_text().splitlines()]
    resumed = vgirun.run(folder)
    after = transcript(folder, resumed)
    assert resumed.content_digest == whole.content_digest
    assert 0 < len(before) < len(after)
    assert after[: len(before)] == before
    names = [(line["sample"], line["question"]) for line in after]
    assert sorted(names) == sorted(
        (line["sample"], line["question"]) for line in transcript(folder, whole, "whole")
    )
    assert len(set(names)) == len(names)


def test_scores_are_made_again_without_a_call(folder: Path) -> None:
    first = vgirun.run(folder)
    lines = transcript(folder, first)
    vgirun.CALLS.clear()
    (folder / "clerk.yaml").unlink()
    again = rescore(folder / "out" / first.run, Catalog.discover())
    assert again is not None
    assert again.content_digest == first.content_digest
    assert values(again) == values(first)
    assert transcript(folder, first) == lines
    assert vgirun.CALLS == []


def test_breakdowns_are_by_task_domain_level_and_skill(folder: Path) -> None:
    card = vgirun.run(folder)
    easy = {"level=easy": (0.75 + 1) / 2, "level=mid": 0.25, "level=hard": 0.125}
    tasks = {"task=maze_square": 0.25, "domain=structured_puzzles": 0.25}
    for subset, value in {**easy, **tasks, "attribute_grounding=yes": 1.75 / 3}.items():
        assert card.score("final", subset=subset).value == pytest.approx(value), subset


def test_painted_answers_are_solved_by_most_votes(folder: Path) -> None:
    card = vgirun.run_pictures(folder)
    # maze 1 has three votes, sorting 1 one of three
    assert values(card) == pytest.approx(
        {
            "success": 1 / 6,
            "success_task_macro": 1 / 6,
            "success_domain_macro": 1 / 6,
        }
    )
    assert card.volatile["judge"]["calls"] == 18
    assert card.complete


def test_the_oracle_prompt_tells_the_answer_where_there_is_one(folder: Path) -> None:
    card = vgirun.run_pictures(folder, prompt=("oracle",))
    assert vgirun.PROMPTS["maze_square_lv2_001"].endswith("left 1")
    assert vgirun.PROMPTS["sorting_lv2_001"] == "Show how: sorting."
    assert card.score("success", subset="answer=yes").value == pytest.approx(1 / 3)
