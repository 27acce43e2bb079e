"""From a model card to a result card, through the command."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mllmkit import script
from vgen_eval.cli import main
from vgen_eval.errors import NotRunnable
from vgen_eval_plugins.models.mllm.loading import import_transformers

COUNTING = ("--tasks", "samples/counting", "--limit", "2", "--no-bounds", "--json")


def lines(folder: Path) -> list[dict[str, Any]]:
    """What a run wrote down of each attempt."""
    (file,) = folder.rglob("predictions.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_card_becomes_a_result_card(
    tiny_mllm: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["h", "m", "</think>", "2", "4", "<|im_end|>"]
    script(tiny_mllm("qwen3_vl", thinking="always"), tmp_path / "model", words)
    (tmp_path / "card.yaml").write_text(
        "model: tiny/counter\nadapter: transformers_mllm\nanswers: [text, choice]\n"
        "checkpoint: {path: ./model}\noptions: {batch: 2}\n"
        "generation: {max_new_tokens: 8, seed: 3}\nneeds: {extra: transformers}\n"
        "licence: CC0-1.0\n"
    )
    assert main(["run", *COUNTING, "--model", "./card.yaml", "--device", "cpu"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
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


def test_a_model_is_named_without_a_card(
    tiny_mllm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("-M", f"model={tiny_mllm('llava')}", "--set", "generation.max_new_tokens=3")
    assert main(["run", *COUNTING, "--model", "transformers_mllm", *words]) == 0
    assert {line["status"] for line in lines(tmp_path / "results")} <= {"ok", "undecodable"}


@pytest.mark.parametrize("revision", ["main", "0123456789abcdef0123456789abcdef01234567"])
def test_a_revision_that_is_not_here_offline_ends_with_3(
    revision: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    from huggingface_hub import constants

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    words = ("-M", "model=someone/tiny-vl", "-M", f"revision={revision}")
    assert main(["run", *COUNTING, "--model", "transformers_mllm", *words]) == 3
    told = "".join(capfd.readouterr())
    assert "hf download someone/tiny-vl" in told
    assert "Traceback" not in told


def test_a_torchvision_that_does_not_fit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unfit:
        """What importing a torchvision that was built for another torch comes to."""

        def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
            if name == "torchvision":
                raise RuntimeError("operator torchvision::nms does not exist")

    monkeypatch.delitem(sys.modules, "torchvision", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Unfit(), *sys.meta_path])
    with pytest.raises(NotRunnable, match=r"torchvision does not fit torch .*nms does not exist"):
        import_transformers()
