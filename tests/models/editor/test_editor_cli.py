"""diffusers_editor from a card file to a result card."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from vgen_eval.cli import main

COMMIT = "0123456789abcdef0123456789abcdef01234567"
BLOCK = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "diffusers":
            raise ImportError(f"no module named {name}")
sys.meta_path.insert(0, Block())
"""
CARD = """
model: tiny/{name}
adapter: diffusers_editor
checkpoint: {{{checkpoint}}}
answers: [image]
generation: {generation}
licence: none
"""


def run(folder: Path, *words: str, site: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The CLI in the folder, `site` run first by its interpreter."""
    place = folder / "site"
    place.mkdir(exist_ok=True)
    (place / "sitecustomize.py").write_text(site)
    paths = [str(place), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-m", "vgen_eval.cli", *words],
        cwd=folder, capture_output=True, text=True, timeout=300, check=False,
        env={
            **os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hf"), **variables,
        },
    )  # fmt: skip


def test_card_files_come_to_result_cards(
    tmp_path: Path,
    tiny_klein: Path,
    tiny_qwen: Path,
    tiny_pix2pix: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Two folders and a repository that is in the cache, offline."""
    from huggingface_hub import constants

    write_card(
        tmp_path, "klein", f"path: {tiny_klein}",
        "{num_inference_steps: 1, text_encoder_out_layers: [1, 2], seed: 4}",
    )  # fmt: skip
    write_card(
        tmp_path, "qwen", f"path: {tiny_qwen}",
        "{num_inference_steps: 1, true_cfg_scale: 4.0, negative_prompt: ' '}",
    )  # fmt: skip
    write_card(tmp_path, "hub", "repo: org/name", "{num_inference_steps: 1}")
    place = tmp_path / "hub" / "models--org--name"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text(COMMIT)
    (place / "snapshots").mkdir()
    (place / "snapshots" / COMMIT).symlink_to(tiny_pix2pix)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.chdir(tmp_path)
    words = [
        "--tasks", "samples/referring", "--model", "./klein.yaml,./qwen.yaml,./hub.yaml",
        "--limit", "1", "--no-bounds", "--set", "protocol.input.long_side=128", "--device", "cpu",
        "--json",
    ]  # fmt: skip
    assert main(words) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert sorted({entry["model"] for entry in results}) == ["tiny/hub", "tiny/klein", "tiny/qwen"]
    for name in ("hub", "klein", "qwen"):
        place = tmp_path / "results" / "runs" / "tiny" / name
        (found,) = (json.loads(path.read_text()) for path in place.glob("**/result_card.json"))
        assert found["task"] == "samples/referring"
        assert found["complete"]
        (file,) = place.glob("**/predictions.jsonl")
        (line,) = (json.loads(line) for line in file.read_text().splitlines())
        assert line["status"] == "ok"
        assert line["answer"]["file"].endswith(".png")


def write_card(folder: Path, name: str, checkpoint: str, generation: str) -> None:
    """A model card of that name in the folder."""
    text = CARD.format(name=name, checkpoint=checkpoint, generation=generation)
    (folder / f"{name}.yaml").write_text(text)


def test_without_the_library_the_extra_is_named(tmp_path: Path, tiny_klein: Path) -> None:
    done = run(
        tmp_path, "--tasks", "samples/counting", "--model", "diffusers_editor",
        "-M", f"model={tiny_klein}", "--answer", "image", "--no-bounds", site=BLOCK,
    )  # fmt: skip
    assert done.returncode == 3
    assert "this needs the extra 'diffusers'" in done.stderr
    assert "pip install 'vgen-eval[diffusers]'" in done.stderr


def test_a_revision_that_is_not_here_offline_is_told_with_its_cure(tmp_path: Path) -> None:
    done = run(
        tmp_path, "--tasks", "samples/counting", "--model", "diffusers_editor",
        "-M", "model=org/name", "--no-bounds", site="",
    )  # fmt: skip
    assert done.returncode == 3
    assert "org/name at 'main' is not on this machine" in done.stderr
    assert "hf download org/name --revision main" in done.stderr


def test_an_argument_that_the_pipeline_lacks_is_a_wrong_word(
    tmp_path: Path,
    tiny_klein: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write_card(tmp_path, "wrong", f"path: {tiny_klein}", "{num_inference_step: 1}")
    words = ["--tasks", "samples/counting", "--model", "./wrong.yaml", "--device", "cpu"]
    assert main([*words, "--no-bounds"]) == 2
    told = capsys.readouterr().err
    assert "generation.num_inference_step: Flux2KleinPipeline takes none" in told
    assert "Nearest: num_inference_steps" in told
