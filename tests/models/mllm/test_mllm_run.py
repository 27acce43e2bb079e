"""From a model card to a result card, through the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mllmkit import script

MENDED = (
    "from vgen_eval_plugins.standins.vision_ops import mend_torchvision; mend_torchvision(); "
    "from vgen_eval.cli import main; raise SystemExit(main())"
)
BARE = "from vgen_eval.cli import main; raise SystemExit(main())"
COUNTING = ("--tasks", "samples/counting", "--limit", "2", "--no-bounds", "--json")

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def vgen(tmp_path: Path) -> Command:
    """Runs the command in a process of its own, offline, with an empty hub cache."""

    def run(*words: str, code: str = MENDED) -> subprocess.CompletedProcess[str]:
        own = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hub"), "OMP_NUM_THREADS": "1"}
        return subprocess.run(
            [sys.executable, "-c", code, *words],
            capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False,
            env=os.environ | own | {"VGEN_EVAL_PLUGINS": ""},
        )  # fmt: skip

    return run


def lines(folder: Path) -> list[dict[str, Any]]:
    """What a run wrote down of each attempt."""
    (file,) = folder.rglob("predictions.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_card_becomes_a_result_card(vgen: Command, tiny_mllm: Any, tmp_path: Path) -> None:
    words = ["h", "m", "</think>", "2", "4", "<|im_end|>"]
    script(tiny_mllm("qwen3_vl", thinking="always"), tmp_path / "model", words)
    (tmp_path / "card.yaml").write_text(
        "model: tiny/counter\nadapter: transformers_mllm\nanswers: [text, choice]\n"
        "checkpoint: {path: ./model}\noptions: {batch: 2}\n"
        "generation: {max_new_tokens: 8, seed: 3}\nneeds: {extra: transformers}\n"
        "licence: CC0-1.0\n"
    )
    done = vgen("run", *COUNTING, "--model", "./card.yaml", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    assert result["model"] == "tiny/counter"
    (card,) = (json.loads(path.read_text()) for path in tmp_path.rglob("result_card.json"))
    assert card["counts"]["statuses"] == {"ok": 2}
    found = lines(tmp_path / "results")
    assert [line["answer"]["value"] for line in found] == ["24", "24"]
    for line in found:
        kept = line["volatile"]
        assert kept["thinking"] == "hm"
        assert (kept["output_tokens"], kept["thinking_tokens"], kept["batch"]) == (6, 3, 2)
    (run,) = (json.loads(path.read_text()) for path in tmp_path.rglob("run.json"))
    assert set(run["model_identity"]["facts"]) == {"contents", "libraries"}


def test_a_model_is_named_without_a_card(vgen: Command, tiny_mllm: Any, tmp_path: Path) -> None:
    folder = tiny_mllm("llava")
    done = vgen(
        "run", *COUNTING, "--model", "transformers_mllm", "-M", f"model={folder}",
        "--set", "generation.max_new_tokens=3",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {line["status"] for line in lines(tmp_path / "results")} <= {"ok", "undecodable"}


def test_a_revision_that_is_not_here_offline_ends_with_3(vgen: Command) -> None:
    for revision in ("main", "0123456789abcdef0123456789abcdef01234567"):
        done = vgen(
            "run", *COUNTING, "--model", "transformers_mllm", "-M", "model=someone/tiny-vl",
            "-M", f"revision={revision}",
        )  # fmt: skip
        assert done.returncode == 3
        assert "someone/tiny-vl" in done.stdout + done.stderr
        assert "hf download someone/tiny-vl" in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_a_torchvision_that_does_not_fit_is_told(vgen: Command, tiny_mllm: Any) -> None:
    probe = "import torchvision"
    if (
        subprocess.run([sys.executable, "-c", probe], capture_output=True, check=False).returncode
        == 0
    ):
        pytest.skip("it fits here")
    done = vgen(
        "run", *COUNTING, "--model", "transformers_mllm", "-M", f"model={tiny_mllm('llava')}",
        code=BARE,
    )  # fmt: skip
    assert done.returncode == 3
    assert "torchvision does not fit torch" in done.stdout + done.stderr
