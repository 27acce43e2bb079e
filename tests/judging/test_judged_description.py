"""The judge of descriptions beside labels: a real task, its own judge, five scripted rounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import vgen_eval
from vgen_eval.cli import main

LABELS = {
    "chelsea-blur": 2, "astronaut-noise": 1, "coffee-jpeg": 0, "chelsea-dark": 2,
    "coffee-contrast": 0, "astronaut-none": 1,
}  # fmt: skip
VOTES = {
    "chelsea-blur": (2, 2, 1, 2, 2),
    "astronaut-noise": (2, 0, 1, 1, 1),
    "coffee-jpeg": (1, 0, 0, 1, 0),
    "chelsea-dark": (1, 1, 2, 2, 2),
    "coffee-contrast": (0, 1, 0, 0, 0),
    "astronaut-none": (1, 1, 2, 1, 1),
}
"""Means over 1: 2 2 1 1 0 1; over 3: 1.67 1 .33 1.33 .33 1.33; over 5: 1.8 1 .4 1.6 .2 1.2."""


def scripted(folder: Path, name: str, rules: list[dict[str, str]], role: str) -> str:
    card = {
        "model": name, "adapter": "scripted", "role": role, "answers": ["text"],
        "licence": "CC0-1.0", "options": {"rules": rules},
    }  # fmt: skip
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(card))
    return str(path)


def test_agreement_with_people_grows_with_rounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = [
        {"sample": sample, "question": f"completeness/{at}", "reply": f"Score: {vote}"}
        for sample, votes in VOTES.items()
        for at, vote in enumerate(votes)
    ]
    [card] = vgen_eval.evaluate(
        tasks="samples/description",
        models=[scripted(tmp_path, "teller", [{"reply": "It is blurry."}], "model")],
        judge=scripted(tmp_path, "marker", [*rules, {"reply": "Score: 1"}], "judge"),
        set={"protocol.answers[0].judge.options.rounds": 5},
        output=str(tmp_path / "out"),
        bounds=False,
    )
    human = tmp_path / "said.csv"
    human.write_text("id,label\n" + "".join(f"{one},{label}\n" for one, label in LABELS.items()))
    words = [
        "check", "judge", str(tmp_path / "out" / card.run), "--human", str(human),
        "--value", "completeness", "--rounds", "1,3,5,7", "--json",
    ]  # fmt: skip
    assert main(words) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    agreement = {
        row["variant"]: one["value"]
        for row in rows
        for one in row["measures"]
        if one["name"] == "agreement"
    }
    # of one round the second, third and fourth are wrong, of three the fourth, of five none
    assert agreement == pytest.approx({"as made": 1.0, "rounds=1": 3 / 6, "rounds=3": 5 / 6})
    [seven] = [row for row in rows if row["variant"] == "rounds=7"]
    assert seven["reason"].startswith("never asked: completeness/5, of ")


@pytest.mark.parametrize("rounds", [1, 3])
def test_an_answer_that_is_not_there_weighs_as_one_answer_whatever_the_rounds(
    tmp_path: Path, rounds: int
) -> None:
    silent = {"sample": "coffee-jpeg", "reply": " "}
    [card] = vgen_eval.evaluate(
        tasks="samples/description",
        models=[scripted(tmp_path, "teller", [silent, {"reply": "It is blurry."}], "model")],
        judge=scripted(tmp_path, "marker", [{"reply": "Score: 2"}], "judge"),
        set={"protocol.answers[0].judge.options.rounds": rounds},
        output=str(tmp_path / "out"),
        bounds=False,
    )
    assert card.counts.expected == 6
    assert card.counts.answered == 5
    assert card.score().value == pytest.approx(6 * 5 / 6, abs=1e-12)
    assert card.score().answered_only == pytest.approx(6.0, abs=1e-12)


def test_predictions_are_judged_by_who_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = tmp_path / "told.jsonl"
    told.write_text("".join(f'{{"id": "{one}", "output": "Blurry."}}\n' for one in LABELS))
    marker = scripted(tmp_path, "marker", [{"reply": "Score: 2"}], "judge")
    words = [
        "score", "--task", "samples/description", "--predictions", str(told),
        "--model-name", "told", "--output", str(tmp_path / "out"), "--json",
    ]  # fmt: skip
    assert main([*words, "--judge", marker]) == 0
    [result] = json.loads(capsys.readouterr().out)["results"]
    assert result["protocol_info"]["judge"]["model"] == "local:marker"
    values = {score["metric"]: score["value"] for score in result["scores"]}
    assert values["completeness"] == 2
    assert main(words) == 0
    [own] = json.loads(capsys.readouterr().out)["results"]
    assert own["protocol_info"]["judge"]["model"] == "vgen-eval:word-matcher"
