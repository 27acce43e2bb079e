"""`vgen-eval check judge` as it is typed: its table, its document, its errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jurykit import judge_card, make_run, task_card, write_lines
from vgen_eval.cli import main

ALL_GOOD = {"*": [1, 1, 1]}
Say = Callable[..., tuple[int, str, str]]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Say:
    """`vgen-eval check judge WORDS`: exit code, stdout and stderr."""

    def run(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["check", "judge", *map(str, words)])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def run(room: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(room)
    whole = {f"s{at:02d}": [at % 2, 1, at % 3 == 0] for at in range(12)}
    votes = {name: [float(vote) for vote in each] for name, each in whole.items()}
    judge = judge_card(room, {"wan": votes}, {"wan": ALL_GOOD})
    return make_run(room, "wan", task_card(room, rounds=3), judge)


@pytest.fixture
def human(room: Path) -> Path:
    path = room / "said.csv"
    path.write_text("id,label\n" + "".join(f"s{at:02d},{at % 2}\n" for at in range(12)))
    return path


def test_the_table_fits_80_columns(said: Say, run: Path, human: Path) -> None:
    code, out, err = said(run, "--human", human, "--by", "all")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    assert out.startswith("room/scenes   mark beside what people said\n")
    for words in ("rounds=1", "whole_only", "AUC, 95 %", "by domain", "by level", "quadratic"):
        assert words in out
    assert "\ndoubtful: never asked: sure, of s00\n" in out


def test_the_table_of_preferences_fits_80_columns(said: Say, room: Path, run: Path) -> None:
    judge = judge_card(room, {"kling": ALL_GOOD}, {"kling": ALL_GOOD})
    other = make_run(room, "kling", task_card(room, rounds=3), judge)
    lines = [{"id": f"s{at:02d}", "ranking": ["kling", "wan"]} for at in range(12)]
    # two judges: their cards differ, so no pair is of one way of judging
    human = write_lines(room / "said.jsonl", lines)
    code, out, _ = said(run, other, "--human", human, "--by", "domain")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "setting 1: judge juryroom:panel, asked of local:clerk" in out
    assert "no pair of answers that were both judged so" in " ".join(out.split())


def test_the_document_has_what_the_table_has(said: Say, run: Path, human: Path) -> None:
    code, out, _ = said(run, "--human", human, "--json")
    record: dict[str, Any] = json.loads(out)
    assert code == record["exit_code"] == 0
    assert record["kind"] == "labels"
    rows = {row["variant"]: row for row in record["rows"]}
    # the first votes are the labels
    measures = {one["name"]: one["value"] for one in rows["rounds=1"]["measures"]}
    assert measures["agreement"] == measures["auc"] == measures["alpha_interval"] == 1.0
    assert rows["doubtful"]["reason"] == "never asked: sure, of s00"


def test_rounds_and_value_and_band_are_taken(said: Say, run: Path, human: Path) -> None:
    code, out, _ = said(
        run, "--human", human, "--json", "--rounds", "1,9", "--value", "lack", "--tie-band", "0",
    )  # fmt: skip
    assert code == 0
    record = json.loads(out)
    assert record["value"] == "lack"
    variants = [row["variant"] for row in record["rows"]]
    assert variants[:3] == ["as made", "rounds=1", "rounds=9"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "no run named"),
        (("RUN",), "--human FILE is missing"),
        (("RUN", "--human", "gone.csv"), "gone.csv: no such file"),
        (("RUN", "--human", "HUMAN", "--value", "marks"), "reports no 'marks'. Nearest: mark"),
        (("RUN", "--human", "HUMAN", "--value", "spread"), "'spread' has no numbers of single"),
        (("RUN", "--human", "HUMAN", "--by", "domains"), "no tag 'domains'. Nearest: domain"),
        (("RUN", "--human", "HUMAN", "--rounds", "1,x"), "--rounds: 'x' is no number of votes"),
        (("RUN", "--human", "HUMAN", "--rounds", "0"), "--rounds: '0' is no number of votes"),
        (("RUN", "--human", "HUMAN", "--rounds", "9" * 5000), "error: --rounds: '999"),
        (("RUN", "--human", "HUMAN", "--tie-band", "nan"), "--tie-band: 'nan' is no number"),
        (("RUN", "--human", "HUMAN", "--tie-band", "inf"), "--tie-band: inf is no size of a"),
        (("RUN", "--human", "HUMAN", "--tie-band", "-1"), "--tie-band: -1.0 is not in the range"),
        (("RUN", "--human", "HUMAN", "--only", "x"), "--only is an option of `check plugin NAME`"),
        (("RUN", "--human", "HUMAN", "--all-data"), "--all-data is an option of `check CARD`"),
        (("0123abcd", "--human", "HUMAN"), "no run '0123abcd'"),
    ],
)
def test_mistakes_are_told_with_a_cure(
    said: Say, run: Path, human: Path, words: tuple[str, ...], told: str
) -> None:
    names = {"RUN": run, "HUMAN": human}
    code, out, err = said(*(names.get(word, word) for word in words))
    assert (code, out) == (2, "")
    assert told in err
    assert "cure" in err or err.count("\n") > 1


def test_labels_as_large_as_numbers_get_are_measured(said: Say, run: Path, room: Path) -> None:
    human = room / "large.csv"
    signs = ("", "-")
    lines = [f"s{at:02d},{signs[at % 2]}1.7e{300 + at % 9}\n" for at in range(12)]
    human.write_text("id,label\n" + "".join(lines))
    code, out, _ = said(run, "--human", human, "--json")
    assert code == 0
    [row] = [one for one in json.loads(out)["rows"] if one["variant"] == "as made"]
    values = {one["name"]: one["value"] for one in row["measures"]}
    assert values["alpha_interval"] is None or -1 <= values["alpha_interval"] <= 1


def test_a_reply_that_was_changed_is_told_once_whatever_is_replayed(
    said: Say, run: Path, human: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = run / "judgements.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    at = next(at for at, line in enumerate(lines) if line["question"] == "whole/2")
    lines[at]["reply"] = "0.125"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, _, _ = said(run, "--human", human, "--rounds", "1,2")
    assert code == 0
    told = [one for one in caplog.records if "a reply that was changed" in one.message]
    assert len(told) == 1


def test_options_of_a_judge_go_with_a_judge_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "card.yaml", "--human", "said.csv"]) == 2
    assert "--human is an option of `check judge RUN...`" in capsys.readouterr().err
    assert main(["check", "plugin", "acme", "--tie-band", "0"]) == 2
    assert "--tie-band is an option of `check judge RUN...`" in capsys.readouterr().err


def test_runs_of_two_tasks_are_refused(said: Say, room: Path, run: Path, human: Path) -> None:
    path = Path(task_card(room))
    path.write_text(path.read_text().replace("room/scenes", "room/others"))
    judge = judge_card(room, {"kling": ALL_GOOD}, {"kling": ALL_GOOD})
    other = make_run(room, "kling", str(path), judge)
    code, _, err = said(run, other, "--human", human)
    assert code == 2
    assert "these runs are of 2 tasks: room/scenes, room/others" in err


def test_a_run_that_cannot_be_read_is_left_out_and_makes_the_exit_code(
    said: Say, room: Path, run: Path, human: Path
) -> None:
    judge = judge_card(room, {"kling": ALL_GOOD}, {"kling": ALL_GOOD})
    broken = make_run(room, "kling", task_card(room, rounds=3), judge)
    (broken / "result_card.json").unlink()
    code, out, err = said(run, broken, "--human", human)
    assert code == 3
    assert "left out: " in err
    assert "wan" in out
