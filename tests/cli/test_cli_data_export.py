"""`vgen-eval data export`: what a model elsewhere is shown and asked, and what it never sees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import vgen_eval
from vgen_eval.cli import main
from vgen_eval.imaging import read_image
from vgen_eval.types import Request

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _lines(folder: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(folder, "questions.jsonl").read_text().splitlines()]


def test_it_is_what_a_model_here_is_given() -> None:
    seen: dict[str, tuple[str, str]] = {}

    def look(request: Request) -> str:
        seen[request.sample] = (request.images[0].sha256, request.prompt)
        return "3"

    vgen_eval.evaluate(
        tasks="samples/counting", model=look, forms=["text"], bounds=False, output="results"
    )
    assert main(["data", "export", "samples/counting", "--to", "in", "--answer", "text"]) == 0
    lines = _lines("in")
    assert [line["id"] for line in lines] == list(seen)
    for line in lines:
        (name,) = line["images"]
        image = read_image(Path("in", name))
        assert (image.sha256, line["prompt"]) == seen[line["id"]]
        assert set(line) == {"id", "images", "prompt"}


def test_answers_to_it_are_scored_by_their_ids() -> None:
    assert main(["data", "export", "samples/counting", "-o", "in", "--answer", "text"]) == 0
    answers = [{"id": line["id"], "output": "3"} for line in _lines("in")]
    Path("answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in answers))
    words = ["--task", "samples/counting", "--predictions", "answers.jsonl"]
    assert main(["score", *words, "--model-name", "far"]) == 0


def test_a_part_can_be_asked_for(capsys: Output) -> None:
    words = ["data", "export", "samples/semantic", "-o", "in", "--limit", "2", "--json"]
    assert main(words) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["samples"], record["form"], record["exit_code"]) == (2, "image", 0)
    assert len(list(Path("in/images").rglob("*.png"))) == record["pictures"] >= 2


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["samples/depth"], 2, "no folder to write into is named"),
        (["samples/*", "-o", "in"], 2, "one task and one prompt are wanted, not "),
        (["samples/depth", "-o", "in", "--answer", "choice"], 2, "takes no choice"),
        (["samples/dept", "-o", "in"], 2, "Nearest: samples/depth"),
        (["depth/nyuv2", "-o", "in"], 3, "data not found"),
    ],
)
def test_mistakes_write_nothing(words: list[str], code: int, said: str, capsys: Output) -> None:
    assert main(["data", "export", *words]) == code
    assert said in capsys.readouterr().err
    assert not Path("in").exists()
