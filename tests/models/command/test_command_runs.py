"""From a model card of a program to a result card, on the command line."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commandkit import alive, wait_until, write_program
from vgen_eval_plugins.models.command.adapter import REFERENCE

CARD = """
model: acme/painter
adapter: command
answers: [{forms}]
options: {{program: [python, predict.py]{more}}}
licence: CC0-1.0
"""
Vgen = Callable[..., "subprocess.CompletedProcess[str]"]


def write_card(folder: Path, *, forms: str = "text", more: str = "") -> None:
    (folder / "card.yaml").write_text(CARD.format(forms=forms, more=more))


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "vgen_eval.cli", "--model", "./card.yaml", "--no-bounds", *words]


def cards(folder: Path) -> dict[str, dict[str, Any]]:
    """Task -> its result card."""
    found = [json.loads(path.read_text()) for path in folder.glob("results/**/result_card.json")]
    return {card["task"]: card for card in found}


@pytest.fixture
def vgen(tmp_path: Path) -> Vgen:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*words), cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )

    return run


def test_the_reference_program_is_run_from_card_to_result_card(vgen: Vgen, tmp_path: Path) -> None:
    write_card(tmp_path, forms="depth_map, normal_map, label_map, mask, text")
    shutil.copy(REFERENCE, tmp_path / "predict.py")
    done = vgen("--tasks", "suite:samples", "--limit", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    found = cards(tmp_path)
    families = ("depth", "normals", "semantic", "referring", "counting")  # it knows no other
    for card in [found[f"samples/{family}"] for family in families]:
        assert card["model"] == "acme/painter"
        assert card["counts"]["statuses"] == {"ok": card["counts"]["expected"]}


def test_a_program_that_is_killed_costs_one_sample_and_the_run_goes_on(tmp_path: Path) -> None:
    write_card(tmp_path)
    body = """
with open("pids", "a") as file: file.write(f"{os.getpid()}\\n")
ready()
for r in requests():
    time.sleep(0.15)
    reply(r, text="5")
"""
    write_program(tmp_path / "predict.py", body)
    words = ("--tasks", "samples/counting", "--answer", "text")
    with subprocess.Popen(
        command(*words), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        lines = "results/**/predictions.jsonl"
        wait_until(lambda: any(p.stat().st_size for p in tmp_path.glob(lines)))
        [first] = map(int, (tmp_path / "pids").read_text().split())
        time.sleep(0.05)  # into the next request
        os.kill(first, signal.SIGKILL)
        said = "".join(run.communicate(timeout=60))
    [card] = cards(tmp_path).values()
    expected = card["counts"]["expected"]
    assert card["counts"]["statuses"].get("ok", 0) >= expected - 1
    assert run.returncode == (card["counts"]["statuses"].get("error", 0) > 0), said
    pids = [int(line) for line in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 2
    assert not any(map(alive, pids))


def test_a_program_that_cannot_be_started_is_exit_3_with_its_own_words(
    vgen: Vgen, tmp_path: Path
) -> None:
    write_card(tmp_path)
    write_program(tmp_path / "predict.py", "sys.exit('the licence has run out')")
    done = vgen("--tasks", "samples/counting", "--limit", "2")
    assert done.returncode == 3
    assert "the licence has run out" in done.stderr
    assert not cards(tmp_path)


@pytest.mark.parametrize(
    ("body", "signals"),
    [("ready()\nfor r in requests(): time.sleep(60)", 2), ("time.sleep(60)", 3)],
    ids=["asked", "starting"],
)
def test_a_run_that_is_dropped_leaves_no_program(tmp_path: Path, body: str, signals: int) -> None:
    write_card(tmp_path)
    write_program(tmp_path / "predict.py", f"open('pid', 'w').write(str(os.getpid()))\n{body}")
    with subprocess.Popen(
        command("--tasks", "samples/counting", "--answer", "text"),
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as run:  # fmt: skip
        wait_until(lambda: (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text()))
        time.sleep(0.5)
        for _ in range(signals):
            run.send_signal(signal.SIGINT)
            time.sleep(0.3)
        run.communicate(timeout=30)
    assert run.returncode == 130
    pid = int((tmp_path / "pid").read_text())
    wait_until(lambda: not alive(pid))


def test_a_program_that_ends_again_and_again_is_exit_3_and_a_later_run_goes_on(
    vgen: Vgen, tmp_path: Path
) -> None:
    write_card(tmp_path)
    body = """
ready()
for number, r in enumerate(requests()):
    if number == 2: sys.exit("out of memory")
    reply(r, text="5")
"""
    write_program(tmp_path / "predict.py", body)
    words = ("--tasks", "samples/counting", "--answer", "text")
    done = vgen(*words, "-M", "restarts=1")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "started again 1 times and is given up" in done.stderr
    assert count_answers(tmp_path) == 4
    assert vgen(*words, "-M", "restarts=1").returncode == 3
    assert count_answers(tmp_path) == 8


def count_answers(folder: Path) -> int:
    lines = folder.glob("results/**/predictions.jsonl")
    return sum(path.read_text().count('"status":"ok"') for path in lines)
