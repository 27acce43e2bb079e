"""diffusers_video from a card file to a result card: films that the exact checker reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from filmkit import frames
from vgen_eval.cli import main

CARD = """
model: tiny/film
adapter: diffusers_video
checkpoint: {{path: {folder}}}
answers: [video]
options: {{size: "area:96x64", fps: 8}}
generation: {{num_frames: 5, num_inference_steps: 1, seed: 3}}
licence: none
"""


def test_a_card_file_comes_to_a_result_card(
    tmp_path: Path,
    tiny_wan: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "film.yaml").write_text(CARD.format(folder=tiny_wan))
    words = ["--tasks", "samples/maze", "--model", "./film.yaml", "--limit", "2", "--no-bounds"]
    assert main([*words, "--device", "cpu", "--json"]) == 0
    json.loads(capsys.readouterr().out)
    [card] = list(tmp_path.rglob("result_card.json"))
    told = json.loads(card.read_text())
    assert told["counts"]["statuses"] == {"ok": 2}
    assert told["model_info"]["adapter"] == "vgen-eval:diffusers_video"
    assert told["volatile"]["usage"] == {"video_seconds": 2 * 5 / 8}
    films = list(tmp_path.rglob("*.mp4"))
    assert len(films) == 2
    for film in films:
        # 320x192 at the area of 96x64 is 101.2 x 60.7, to multiples of 16
        assert frames(film.read_bytes()).shape == (5, 64, 96, 3)
