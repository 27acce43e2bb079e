"""`score RUN... --ablate`: the table, the document, and the words that are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import vgen_eval
from clikit import Command
from vgen_eval.cli import main
from vgen_eval.cli.ablate_table import table


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Runs of three baselines on the counting samples; no test here changes them."""
    output = tmp_path_factory.mktemp("made")
    cards = vgen_eval.evaluate(
        tasks="samples/counting", models=["blind", "copy", "oracle"], output=str(output),
        bounds=False,
    )  # fmt: skip
    return [output / card.run for card in cards]


@pytest.fixture
def runs(made: list[Path]) -> list[str]:
    return [str(path) for path in made]


def test_a_table_and_a_document_say_the_same(vgen: Command, runs: list[str]) -> None:
    words = ("score", *runs, "--ablate", "protocol=standard,white_dots")
    done = vgen(*words)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "protocol: kept answers of 3 runs read under 2 values, no model asked"
    assert "samples/counting   mae in objects, lower is better   13 samples, 10 groups" in lines
    assert "order of 3 runs, samples/counting" in lines
    assert lines[-1] == "* as the run itself is scored"
    assert max(map(len, lines)) <= 80
    record = json.loads(vgen(*words, "--json").stdout)
    assert (record["key"], record["values"]) == ("protocol", ["standard", "white_dots"])
    assert (record["models_asked"], record["exit_code"]) == (0, 0)
    assert [run["label"] for run in record["runs"]] == ["blind", "copy", "oracle"]
    oracle = record["runs"][2]["values"]
    assert oracle[0]["value"] == 0.0
    assert oracle[0]["interval"]["clusters"] == 10
    assert len(record["ranking"][0]["moves"]) == 2


def test_a_run_named_twice_is_one(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(runs[0])
    words = ["--output", str(path.parents[4]), "--ablate", "protocol=standard,white_dots"]
    assert main(["score", runs[0], f"{path.parent}/../{path.parent.name}/{path.name}", path.name,
                 *words]) == 0  # fmt: skip
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("protocol: kept answers of 1 run read under 2 values")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--ablate", "protocol=standard"], "two values or more"),
        (["--ablate", "protocol=standard,standard"], "two values or more"),
        (["--ablate", "protocol"], "two values or more"),
        (["--ablate", "protocol=standard,nosuch"], "no protocol 'nosuch'"),
        (["--ablate", "protocol=a,b", "--ablate", "seed=1,2"], "one choice at a time"),
        (["--ablate", "min_area=1,2", "--workers", "0"], "--workers: 0"),
        (["--ablate", "min_area=1,2", "--task", "samples/counting"], "--task: an ablation"),
        (["--ablate", "protocol=standard,white_dots", "--metric", "delta1"], "no 'delta1'"),
        (["--metric", "mae"], "--metric goes with --ablate"),
    ],
)
def test_words_that_cannot_be_meant_are_an_error_of_use(
    runs: list[str], words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", runs[0], *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert told in said.err
    assert len(said.err.splitlines()) <= 2


def test_no_run_is_an_error_of_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--ablate", "fit=depth_lsq,log_lsq"]) == 2
    assert "an ablation is of runs" in capsys.readouterr().err


def test_values_that_nothing_can_be_scored_under_end_with_1(vgen: Command) -> None:
    done = vgen(
        "--tasks", "samples/depth", "--model", "blind", "--limit", "2", "--json", "--no-bounds"
    )
    [card] = json.loads(done.stdout)["results"]
    words = ("score", str(Path("results", card["run"])), "--ablate", "fit=depth_lsq,none")
    done = vgen(*words)
    assert done.returncode == 1
    assert "none: 2 without a score: scoring raised ValueError" in " ".join(done.stdout.split())
    assert "attempts have no score under some value" in done.stderr
    document = vgen(*words, "--json")
    assert (document.returncode, json.loads(document.stdout)["exit_code"]) == (1, 1)


def _cell(value: float | None, **more: object) -> dict[str, object]:
    interval = {"low": None, "high": None, "reason": None}
    counts = {"model_failure": 0, "infrastructure": 0, "not_run": 0}
    return {
        "task": "depth/nyuv2@editors", "metric": "delta1", "unit": "", "higher_is_better": True,
        "value": value, "difference": 0.0, "interval": interval, "n": 654, "samples": 654,
        "counts": counts, "dropped_options": [], "faults": [], **more,
    }  # fmt: skip


def test_long_names_and_intervals_stay_within_80_columns() -> None:
    interval = {"low": -0.0123, "high": -0.0101, "reason": None}
    labels = ["someone/a-model-with-a-really-long-name-2511-preview image", "b", "c", "d"]
    cells = [_cell(0.712), _cell(0.7, difference=-0.0112, interval=interval)]
    runs = [
        {"run": label, "label": label, "own": 0, "samples": 654, "groups": 654, "values": cells}
        for label in labels
    ]
    moves = {"tau": 0.5, "largest": 2.0, "swapped": [[0, 1], [0, 2], [0, 3]]}
    ranking = {
        "task": "depth/nyuv2@editors", "labels": labels, "places": [[1, 2, 3.5, 3.5], [4, 1, 2, 3]],
        "moves": [moves, moves],
        "left_out": [{"label": "e", "run": "e", "reason": "attempts without a score"}],
    }  # fmt: skip
    record = {
        "key": "fit", "values": ["disparity_lsq_clamped", [1, 2, 3]], "runs": runs,
        "ranking": [ranking],
    }  # fmt: skip
    lines = table(record)
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert "b > c = d" in text
    assert "[1,2,3]" in text
    assert "-0.0112 [-0.0123, -0.0101]" in text
    assert "no place: e (attempts without a score)" in text
