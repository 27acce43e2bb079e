"""`show RUN --sample ID`: what one sample came to, and the frames of a video."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import PIL.Image
import pytest
from vgen_eval import evaluate
from vgen_eval.cli import main

pytest.importorskip("av")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of judged texts, and one of a video."""
    output = tmp_path_factory.mktemp("shown")
    evaluate(tasks="samples/description", model="classical", limit=2, output=output)
    evaluate(tasks="samples/hanoi", model="oracle", limit=1, output=output)
    return output


def run_of(results: Path, task: str) -> tuple[Path, str]:
    (path,) = results.glob(f"runs/*/samples/{task}@*/*")
    return path, json.loads((path / "run.json").read_text())["samples"][0]


def shown(results: Path, task: str, capfd: pytest.CaptureFixture[str]) -> Any:
    path, sample = run_of(results, task)
    assert main(["show", str(path), "--sample", sample, "--json"]) == 0
    return json.loads(capfd.readouterr().out)


def test_a_sample_has_its_answer_score_and_what_the_judge_said(results, capfd):
    record = shown(results, "description", capfd)
    (attempt,) = record["attempts"]
    assert attempt["prediction"]["status"] == "ok"
    assert attempt["score"]["values"]["sum"] == 6.0
    assert {reply["reply"] for reply in attempt["judgements"]} == {"Score: 2"}


def test_it_is_told_in_lines(results, capfd):
    path, sample = run_of(results, "description")
    assert main(["show", str(path), "--sample", sample]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].startswith(f"sample {sample}")
    assert any(line.startswith("  judge       completeness/0, round 0: Score: 2") for line in lines)


@pytest.mark.parametrize(("name", "form"), [("f.png", "PNG"), ("f.webp", "WEBP"), ("f.gif", "GIF")])
def test_the_frames_of_a_video_are_a_sheet_or_move(name, form, results, tmp_path, capfd):
    path, sample = run_of(results, "hanoi")
    file = tmp_path / name
    assert main(["show", str(path), "--sample", sample, "-o", str(file)]) == 0
    assert f"written to {file}" in capfd.readouterr().err
    with PIL.Image.open(io.BytesIO(file.read_bytes())) as picture:
        assert picture.format == form
        assert getattr(picture, "n_frames", 1) == (1 if form == "PNG" else 40)


@pytest.mark.parametrize(
    ("task", "words", "told"),
    [
        ("hanoi", ["--sample", "hanoi-2"], "has no sample 'hanoi-2'. Nearest: hanoi-2-0-"),
        ("hanoi", ["--sample", "SAMPLE", "-o", "f.mp4"], "no format '.mp4'"),
        ("description", ["--sample", "SAMPLE", "-o", "f.png"], "has no video"),
        ("hanoi", ["-o", "f.png"], "-o writes the frames of one sample"),
    ],
)
def test_a_mistake_is_told(task, words, told, results, tmp_path, monkeypatch, capfd):
    path, sample = run_of(results, task)
    monkeypatch.chdir(tmp_path)
    assert main(["show", str(path), *(word.replace("SAMPLE", sample) for word in words)]) == 2
    assert told in capfd.readouterr().err
    assert not list(tmp_path.iterdir())
