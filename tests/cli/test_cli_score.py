"""The score verb: predictions made elsewhere, and a run scored again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
from clikit import Command
from vgen_eval.imaging import Image, read_image

WORDS = ("score", "--task", "samples/counting", "--model-name", "mine", "--predictions")


def _write(path: Path, ids: list[str]) -> str:
    path.write_text("".join(json.dumps({"id": name, "output": "3"}) + "\n" for name in ids))
    return path.name


def test_predictions_made_elsewhere_say_what_was_found_and_what_not(
    vgen: Command, tmp_path: Path
) -> None:
    name = _write(tmp_path / "p.jsonl", ["coins", "chelsea-eyes", "no-such-sample"])
    done = vgen(*WORDS, name)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == (
        "  13 expected, 2 found, 11 missing (coins-bottom-row, chelsea-dogs, ...), "
        "1 not in the task (no-such-sample)"
    )
    document = json.loads(vgen(*WORDS, name, "--json").stdout)
    [card] = document["results"]
    assert card["counts"]["unknown_ids"] == ["no-such-sample"]
    assert len(card["counts"]["missing_ids"]) == 11
    shown = vgen("show", "mine").stdout  # no model of that name, but one run of one
    assert shown.splitlines()[0] == f"run {Path('results', card['run'])}"
    failed = vgen("show", str(Path("results", card["run"])), "--failed")
    assert len(failed.stdout.splitlines()) == 12


def test_several_models_are_scored_at_once_and_a_faulty_one_stops_no_other(
    vgen: Command, tmp_path: Path
) -> None:
    task = ("score", "--task", "samples/counting")
    first = ("--predictions", _write(tmp_path / "a.jsonl", ["coins"]), "--model-name", "lab/a")
    other = _write(tmp_path / "b.jsonl", ["coins", "chelsea-eyes"])
    done = vgen(*task, *first, "--predictions", other, "--model-name", "lab/b")
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()[:2]
    assert told[0].startswith("  lab/a: 13 expected, 1 found, 12 missing")
    assert told[1].startswith("  lab/b: 13 expected, 2 found, 11 missing")
    table = vgen("table", "--rows", "model", "--cols", "task").stdout
    assert all(any(line.startswith(n) for line in table.splitlines()) for n in ("lab/a", "lab/b"))
    done = vgen(*task, "--predictions", "gone", "--model-name", "lab/c", *first, "--json")
    document = json.loads(done.stdout)
    assert [card["model"] for card in document["results"]] == ["lab/a"]
    assert done.returncode == document["exit_code"] != 0
    assert done.stderr.startswith("error: lab/c: ")


def test_each_set_of_predictions_has_one_name_of_its_own(vgen: Command, tmp_path: Path) -> None:
    name = _write(tmp_path / "p.jsonl", ["coins"])
    done = vgen(*WORDS, name, "--predictions", name)
    assert done.returncode == 2
    assert "2 --predictions and 1 --model-name" in done.stderr
    done = vgen(*WORDS, name, "--predictions", name, "--model-name", "mine")
    assert done.returncode == 2
    assert "--model-name mine is given twice" in done.stderr


def test_a_run_that_is_scored_again_has_the_same_table(vgen: Command, tmp_path: Path) -> None:
    name = _write(tmp_path / "p.jsonl", ["coins", "chelsea-eyes"])
    [card] = json.loads(vgen(*WORDS, name, "--json").stdout)["results"]
    run = str(Path("results", card["run"]))
    done = vgen("score", run, "--json")
    assert done.returncode == 0, done.stderr
    [again] = json.loads(done.stdout)["results"]
    assert again["scores"] == card["scores"]
    assert again["counts"] == card["counts"]
    assert vgen("score", Path(run).name[:6]).returncode == 0


def test_predictions_that_are_not_there_are_two_lines(vgen: Command, tmp_path: Path) -> None:
    done = vgen(*WORDS, "nowhere")
    assert done.returncode in (2, 3)
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.splitlines()[1].startswith("--predictions is a folder of <sample id>.png")
    name = _write(tmp_path / "p.jsonl", ["no-such-sample"])
    assert vgen(*WORDS, name).returncode == 3


def test_a_run_that_lies_elsewhere_is_shown_where_it_lies(vgen: Command, tmp_path: Path) -> None:
    vgen("--tasks", "samples/counting", "--model", "copy", "--no-bounds", "--output", "kept")
    [run] = (tmp_path / "kept" / "runs" / "copy").rglob("run.json")
    done = vgen("score", str(run.parent))
    assert done.returncode == 0, done.stderr
    assert f"vgen-eval show {run.parent}" in done.stdout


def test_a_run_that_was_copied_is_named_as_it_lies(vgen: Command, tmp_path: Path) -> None:
    vgen("--tasks", "samples/counting", "--model", "copy", "--no-bounds", "--output", "kept")
    [run] = (tmp_path / "kept" / "runs" / "copy").rglob("run.json")
    shutil.copytree(run.parent, tmp_path / "alone")
    done = vgen("score", "alone")
    assert done.returncode == 0, done.stderr
    assert "show alone" in done.stdout or f"show {tmp_path / 'alone'}" in done.stdout


def test_what_unread_answers_are_flagged_as_is_told_of_all_answers(
    vgen: Command, tmp_path: Path
) -> None:
    said = {"astronaut-how-contrast": "A"}
    questions = Path(__file__).parents[2] / "task_cards" / "samples" / "perception.jsonl"
    ids = [json.loads(line)["id"] for line in questions.read_text().splitlines()]
    said |= {sample: "zebra" for sample in ids if sample not in said}
    rows = "".join(f"{sample},{answer}\n" for sample, answer in said.items())
    (tmp_path / "people.csv").write_text("id,answer\n" + rows)
    told = ("score", "--task", "samples/perception", "--format", "human", "--predictions")
    done = vgen(*told, "people.csv")
    count = len(said)
    assert f"{count - 1} of {count} answers are flagged no_option" in done.stdout


def test_predictions_never_borrow_the_name_of_an_installed_model(
    vgen: Command, tmp_path: Path
) -> None:
    name = _write(tmp_path / "p.jsonl", ["coins"])
    words = ("score", "--task", "samples/counting", "--predictions", name)
    [card] = json.loads(vgen(*words, "--model-name", "classical", "--json").stdout)["results"]
    assert card["run"].startswith("runs/predictions/classical/")
    assert card["model_info"]["distribution"] == "predictions"


def test_a_scale_of_depth_is_for_depth_that_was_made_elsewhere(
    vgen: Command, tmp_path: Path
) -> None:
    name = _write(tmp_path / "p.jsonl", ["coins"])
    for scale, words in (("1/1000", "takes no depth_map"), ("0", "'0' is no number above 0")):
        done = vgen(*WORDS, name, "--depth-scale", scale)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in done.stderr
    done = vgen("score", "some-run", "--depth-scale", "1/256")
    assert done.returncode == 2
    assert "--depth-scale goes with predictions made elsewhere" in done.stderr


def test_a_name_that_no_model_can_have_is_told_with_its_cure(vgen: Command, tmp_path: Path) -> None:
    name = _write(tmp_path / "p.jsonl", ["coins"])
    words = [word if word != "mine" else "My Model" for word in (*WORDS, name)]
    done = vgen(*words)
    assert done.returncode == 2
    cause, cure = done.stderr.splitlines()
    assert cause == "error: --model-name: 'My Model' is no name of a model"
    assert cure.startswith("small letters, digits and . _ - with slashes between")


def test_a_flag_that_most_answers_carry_is_told(vgen: Command, tmp_path: Path) -> None:
    """One of three masks is of another shape than its picture, then two are."""
    ids = ["coins-corner", "camera-tower", "coffee-spoon"]
    made = vgen("data", "export", "samples/referring", "--samples", ",".join(ids), "-o", "in")
    assert made.returncode == 0, made.stderr
    for name, square in (("few", 1), ("most", 2)):
        (tmp_path / name).mkdir()
        for at, sample in enumerate(ids):
            height, width = (60, 200) if at >= len(ids) - square else _size(tmp_path, sample)
            pixels = np.zeros((height, width, 3), np.uint8)
            pixels[: height // 3] = 255
            (tmp_path / name / f"{sample}.png").write_bytes(Image(pixels).png())
    words = ("score", "--task", "samples/referring", "--model-name", "masks", "--predictions")
    shown = vgen(*words, "most").stdout
    assert "  samples/referring@standard: 2 of 3 answers are flagged wrong_aspect" in shown
    assert "wrong_aspect" not in vgen(*words, "few").stdout


def _size(folder: Path, sample: str) -> tuple[int, int]:
    image = read_image(folder / "in/images" / f"{sample}.png")
    return image.height, image.width
