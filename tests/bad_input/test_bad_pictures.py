"""Pictures that are none: a data fault in the data set, a model failure among predictions."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import bad_data
import pytest
from badkit import Shell, lines_of, picture, runs_in, write

TASK = ("--tasks", "plug-data:toys/pictures", "--no-bounds")
WORDS = {
    "cut": "cannot be decoded", "empty": "the file is empty", "page": "not a picture (it begins",
    "bomb": "declares 12000x12000 pixels, over the limit",
}  # fmt: skip


def faulty() -> dict[str, bytes]:
    """One file of each fault, by name."""
    png = picture()
    size = (12000).to_bytes(4, "big")
    head = png[12:16] + size + size + png[24:29]
    crc = zlib.crc32(head).to_bytes(4, "big")
    return {
        "cut": png[: len(png) // 2],
        "empty": b"",
        "page": b"<html><body>502 Bad Gateway</body></html>",
        "bomb": png[:12] + head + crc + png[33:],
    }


@pytest.fixture(scope="module")
def data(home: Shell) -> Path:
    """A data root whose one folder holds a good picture and every faulty one."""
    root = home.folder / "data"
    for name, content in {"good": picture(), **faulty()}.items():
        write(root / f"pictures/{name}.png", content)
    return root


@pytest.mark.parametrize("form", ["text", "image"])
def test_a_faulty_picture_of_the_data_set_is_left_out_and_counted(
    home: Shell, data: Path, form: str
) -> None:
    model = {"text": "plug-bad:good", "image": "copy"}[form]
    words = (*TASK, "--model", model, "--data-root", data, "--output", f"out-{form}")
    done = home(*words, "--json")
    assert (done.code, done.err) == (0, "")
    (card,) = done.document["results"]
    counts = card["counts"]
    assert counts["statuses"] == {"bad_sample": 4, "ok": 1}
    assert (counts["expected"], counts["answered"], counts["data_fault"]) == (5, 1, 4)
    assert (counts["model_failure"], counts["infrastructure"], counts["not_run"]) == (0, 0, 0)
    assert card["complete"]
    assert card["scores"][0]["n"] == 1
    assert card["scores"][0]["value"] == 1.0
    (run,) = runs_in(home.folder / f"out-{form}")
    reasons = {line["sample"]: line.get("reason") for line in lines_of(run / "predictions.jsonl")}
    for name, said in WORDS.items():
        assert said in reasons[name]
        assert f"{name}.png" in reasons[name]
    again = home(*words)
    assert again.code == 0
    assert "left out of the score: 4 bad_sample" in again.out
    row = next(line for line in again.out.splitlines() if "toys/pictures@plain " in line)
    assert row.split()[2:4] == ["5/5", "4"]  # done, failed


def test_a_faulty_picture_among_predictions_is_the_models_failure(home: Shell, data: Path) -> None:
    for name, content in {**faulty(), "good": picture(), "stranger": b""}.items():
        # a data set of good pictures, and predictions that are not
        write(home.folder / f"good/pictures/{name}.png", picture())
        write(home.folder / f"mine/{name}.png", content)
    (home.folder / "good/pictures/stranger.png").unlink()
    write(home.folder / "good/pictures/silent.png", picture())
    done = home(
        "score", "--task", "plug-data:toys/pictures", "--predictions", "mine", "--model-name",
        "mine", "--data-root", "good", "--output", "scored", "--json",
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    (card,) = done.document["results"]
    assert card["counts"]["statuses"] == {"missing": 1, "ok": 1, "undecodable": 4}
    assert card["counts"]["missing_ids"] == ["silent"]
    assert card["counts"]["unknown_ids"] == ["stranger"]
    score = card["scores"][0]
    assert (score["n"], score["value"], score["answered_only"]) == (6, pytest.approx(1 / 6), 1.0)
    shown = home("show", f"scored/{card['run']}", "--failed")
    assert shown.code == 0
    for name, said in WORDS.items():
        (line,) = [line for line in shown.out.splitlines() if line.startswith(name)]
        assert said in line


def test_without_its_data_a_task_named_exactly_is_3_and_says_how_to_name_the_folder(
    home: Shell,
) -> None:
    words = (*TASK, "--model", "plug-bad:good")
    cure = "--data-root DIR or $VGEN_DATA"
    home(*words).refuses(3, "data not found: pictures", cure)
    home(*words, "--data-root", "gone").refuses(3, "gone/pictures is no folder", "--data-root")
    home(*words, "--json", VGEN_DATA="gone").refuses(3, "gone/pictures is no folder", "$VGEN_DATA")
    (home.folder / "bare/pictures").mkdir(parents=True)
    home(*words, "--data-root", "bare").refuses(3, "no pictures in ", "put some there")
    write(home.folder / "out.yaml", bad_data.task_card("toys/out", root="../.."))
    done = home("--tasks", "out.yaml", "--model", "plug-bad:good", "--data-root", "bare")
    done.refuses(3, "leads out of the data folder")


def test_without_its_data_a_task_of_all_is_skipped_with_the_reason(home: Shell) -> None:
    done = home("--tasks", "all", "--model", "copy", "--limit", "1", "--no-bounds", "--json",
                "--output", "all")  # fmt: skip
    assert (done.code, done.err) == (0, "")
    assert {r["task"] for r in done.document["results"]} == {
        "samples/counting",
        "samples/depth",
        "samples/normals",
        "samples/referring",
        "samples/semantic",
    }
    skips = {skip["task"]: skip for skip in done.document["skipped"]}
    fetched = {name: skip for name, skip in skips.items() if not name.startswith("samples/")}
    assert len(fetched) > 20
    assert all("data not found" in skip["reason"] for skip in fetched.values())
    skip = skips["plug-data:toys/pictures@plain"]
    assert "data not found: pictures (name the data folder" in skip["reason"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "coins", "output": "4"}', "'coins' has two different predictions"),
        ('{"id": "chelsea-eyes", "output": NaN}', "p.jsonl:2: "),
        ('["coins", "3"]', "p.jsonl:2: a line is an object that holds 'id' and 'output'"),
        ('{"sample": "coins"}', "a line holds 'id' and 'output', ['sample'] seen"),
        ('{"id": "coins", "output": "3", "attempt": -1}', "attempt -1 is no number from 0"),
    ],
)
def test_a_predictions_file_with_a_faulty_line_is_refused(
    home: Shell, line: str, said: str
) -> None:
    write(home.folder / "p.jsonl", '{"id": "coins", "output": "3"}\n' + line + "\n")
    done = home("score", "--task", "samples/counting", "--predictions", "p.jsonl", "--model-name",
                "m", "--output", "none", "--json")  # fmt: skip
    done.refuses(2, "p.jsonl:2: ", said)
    assert not (home.folder / "none/runs").exists()


def test_predictions_of_another_task_are_no_predictions(home: Shell) -> None:
    write(home.folder / "p.jsonl", json.dumps({"id": "coi\x1b[31mns", "output": "3"}) + "\n")
    words = ("score", "--task", "samples/counting", "--model-name", "m", "--predictions")
    home(*words, "p.jsonl").refuses(3, "no_predictions_matched", "found 'coi[31mns'")
    home(*words, "gone").refuses(3, "gone does not exist")
