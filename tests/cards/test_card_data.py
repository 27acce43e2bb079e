"""A check reads the data that a card brings along: its annotations, and the fields of prompts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from vgen_eval.cards import check_card
from vgen_eval.plugins import Catalog

CARD = """\
task: mine/eyes
version: 1
family: counting
dataset:
  reader: samples
  options: {annotations: eyes.jsonl, kind: counting}
  n: 1
  licence: CC0-1.0
  source: by hand
  citation: none
protocols:
  plain:
    answers:
      - form: text
        prompt: {mid: "How many: {query}?"}
        decoder: count_text
        encoder: count_text
    metrics: [{name: count_error}]
    primary: mae
    failure_value: zero_count
default_protocol: plain
"""
LINE = {
    "id": "eyes", "group": "chelsea", "image": "chelsea.png",
    "sha256": "596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb",
    "query": "eyes", "count": 2, "points": [[170, 113], [317, 135]], "tags": {},
}  # fmt: skip


def problems(folder: Path, card: str = CARD, lines: list[dict[str, object]] | None = None) -> str:
    path = folder / "eyes.yaml"
    path.write_text(card)
    if lines is not None:
        (folder / "eyes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return "\n".join(str(problem) for problem in check_card(path, Catalog.discover()))


def test_sound_annotations_have_no_problem(tmp_path: Path) -> None:
    assert problems(tmp_path, lines=[LINE]) == ""


def test_a_prompt_that_names_no_field_of_the_samples_is_told_with_its_line(tmp_path: Path) -> None:
    found = problems(tmp_path, CARD.replace("{query}", "{qery}"), [LINE])
    assert "eyes.yaml:15: protocols.plain.answers[0].prompt.mid" in found
    assert "the samples have no field 'qery'. Nearest: query" in found


def test_every_faulty_annotation_is_told(tmp_path: Path) -> None:
    found = problems(tmp_path, lines=[{**LINE, "count": 3}, {**LINE, "id": "b", "points": "x"}])
    assert "eyes.jsonl:1" in found
    assert "eyes.jsonl:2" in found


@pytest.mark.parametrize(
    ("lines", "message"),
    [(None, "eyes.jsonl"), ([LINE, {**LINE, "id": "b"}], "the data has 2 samples")],
)
def test_a_lost_file_and_a_wrong_number_are_told(
    tmp_path: Path, lines: list[dict[str, object]] | None, message: str
) -> None:
    assert message in problems(tmp_path, lines=lines)
