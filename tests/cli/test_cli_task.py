"""The task verb: from a folder to a benchmark in one command, and predictions scored on it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from clikit import Command

HEIGHT, WIDTH = 48, 64


def _write(path: Path, array: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".npy":
        np.save(path, np.asarray(array))
    else:
        PIL.Image.fromarray(np.asarray(array)).save(path)


def _depth_m(seed: int) -> np.ndarray:
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    return (1.5 + 0.05 * rows + 0.2 * np.sin(columns / 9 + seed)).astype(np.float32)


def _mask(seed: int) -> np.ndarray:
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    return (columns - 20 - 4 * seed) ** 2 + (rows - 20) ** 2 < 150


@pytest.fixture
def rooms(tmp_path: Path) -> Path:
    folder = tmp_path / "my rooms"
    for seed in range(3):
        _write(folder / "rgb" / f"{seed}.png", np.full((HEIGHT, WIDTH, 3), 40 * seed, np.uint8))
        _write(folder / "depth" / f"{seed}.png", np.rint(_depth_m(seed) * 1000).astype(np.uint16))
    return folder


@pytest.fixture
def discs(tmp_path: Path) -> Path:
    folder = tmp_path / "discs"
    for seed in range(3):
        _write(folder / "images" / f"{seed}.png", np.full((HEIGHT, WIDTH, 3), 90, np.uint8))
        _write(folder / "masks" / f"{seed}.png", _mask(seed).astype(np.uint8) * 255)
    return folder


def test_a_folder_of_depth_is_a_benchmark_for_arrays_of_another_program(
    vgen: Command, rooms: Path, tmp_path: Path
) -> None:
    asked = vgen("task", "new", "my rooms", "--family", "depth")
    assert asked.returncode == 2
    assert asked.stdout == ""
    assert len(asked.stderr.splitlines()) == 2
    assert "--depth-scale 1/1000" in asked.stderr
    done = vgen("task", "new", "my rooms", "--family", "depth", "--depth-scale", "1/1000")
    assert done.returncode == 0, done.stderr
    assert "pictures: rgb/, 3 files" in done.stdout
    assert "'my rooms/task.yaml'" in done.stdout  # the next command can be pasted
    for seed in range(3):
        _write(tmp_path / "theirs" / f"{seed}.npy", _depth_m(seed) * 1.1)
    words = ("score", "--task", "./my rooms", "--predictions", "theirs", "--model-name", "theirs")
    scored = vgen(*words, "--answer", "depth_map", "--json")
    assert scored.returncode == 0, scored.stderr
    [card] = json.loads(scored.stdout)["results"]
    assert (card["answer"], card["counts"]["answered"]) == ("depth_map", 3)
    [delta1] = [s["value"] for s in card["scores"] if s["metric"] == "delta1"]
    assert delta1 == pytest.approx(1.0)


def test_a_folder_of_masks_is_a_benchmark_for_pictures_of_another_program(
    vgen: Command, discs: Path, tmp_path: Path
) -> None:
    done = vgen("task", "new", "discs", "--family", "referring", "--query", "the disc", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["samples"] == 3
    assert record["ceiling"]["values"]["giou"] == 1.0
    assert record["fill_in"] == ["dataset.licence", "dataset.source", "dataset.citation"]
    for seed in range(3):
        half = _mask(seed) & (np.arange(HEIGHT) < 20)[:, None]
        _write(
            tmp_path / "theirs" / f"{seed}.png", (half if seed else _mask(0)).astype(np.uint8) * 255
        )
    words = ("score", "--task", "discs/task.yaml", "--predictions", "theirs")
    [card] = json.loads(vgen(*words, "--model-name", "theirs", "--json").stdout)["results"]
    [giou] = [s["value"] for s in card["scores"] if s["metric"] == "giou"]
    shares = []
    for seed in range(3):
        truth = _mask(seed)
        found = truth & (np.arange(HEIGHT) < 20)[:, None] if seed else truth
        shares.append((truth & found).sum() / (truth | found).sum())
    assert giou == pytest.approx(np.mean(shares))


def test_a_folder_with_a_card_is_a_task_by_its_own_name(vgen: Command, discs: Path) -> None:
    vgen("task", "new", "discs", "--family", "referring", "--query", "it")
    ran = [
        vgen("--tasks", name, "--model", "copy", "--no-bounds", "--json")
        for name in ("discs", "./discs", "discs/", str(discs), "discs@standard", "./discs@standard")
    ]
    assert {done.returncode for done in ran} == {0}
    cards = [json.loads(done.stdout)["results"][0] for done in ran]
    assert {card["run"] for card in cards} == {cards[0]["run"]}
    assert "no plugin has one of that name" in ran[0].stderr
    shown = vgen("show", "./discs")
    assert shown.stdout.startswith("task my/discs")
    empty = vgen("--tasks", "./discs/images", "--model", "copy")
    assert empty.returncode == 2
    assert "no card file './discs/images': no task.yaml in that folder" in empty.stderr


def test_the_name_in_the_tables_points_to_the_folder(vgen: Command, discs: Path) -> None:
    vgen("task", "new", "discs", "--family", "referring", "--query", "it")
    done = vgen("--tasks", "my/discs@standard", "--model", "copy")
    assert done.returncode == 2
    assert "no task 'my/discs'" in done.stderr
    assert "named by its folder or its card: discs/task.yaml" in done.stderr
    gone = vgen("--tasks", "my/gone", "--model", "copy")
    assert "named by its folder or its card: FOLDER/task.yaml" in gone.stderr


def test_a_scale_is_spelled_alike_wherever_it_is_said(
    vgen: Command, rooms: Path, tmp_path: Path
) -> None:
    vgen("task", "new", "my rooms", "--family", "depth", "--depth-scale", "1/1000")
    words = ("score", "--task", "my rooms", "--predictions", "my rooms/depth")
    asked = vgen(*words, "--model-name", "truth")
    assert (asked.returncode, asked.stdout) == (2, "")
    assert "--answer depth_map --depth-scale 1/1000" in asked.stderr
    assert "--answer image" in asked.stderr
    done = vgen(*words, "--model-name", "truth", "--depth-scale", "1/1000", "--json")
    assert done.returncode == 0, done.stderr
    [card] = json.loads(done.stdout)["results"]
    assert next(s["value"] for s in card["scores"] if s["metric"] == "delta1") == 1.0


def test_what_looks_wrong_is_a_warning_and_no_guess(vgen: Command, rooms: Path) -> None:
    done = vgen("task", "new", "my rooms", "--family", "depth", "--depth-scale", "1000", "--json")
    assert done.returncode == 0, done.stderr
    [doubt] = json.loads(done.stdout)["check"]
    assert "m: is that so?" in doubt
    again = vgen("task", "new", "my rooms", "--family", "depth", "--depth-scale", "10", "--force")
    assert "warning: check: the largest depth seen is" in again.stderr
    assert "largest" not in again.stdout


@pytest.mark.parametrize("kind", ["npy", "png"])
def test_normals_in_the_frame_of_cameras_are_scored_in_it(
    vgen: Command, tmp_path: Path, kind: str
) -> None:
    folder = tmp_path / "walls"
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    for seed in range(3):
        _write(folder / "images" / f"{seed}.png", np.full((HEIGHT, WIDTH, 3), 90, np.uint8))
        vectors = np.dstack([np.sin(columns / 20 + seed), np.cos(rows / 20), -np.ones(rows.shape)])
        vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
        made = vectors if kind == "npy" else np.rint((vectors + 1) * 127.5).astype(np.uint8)
        _write(folder / "normals" / f"{seed}.{kind}", made)
    asked = vgen("task", "new", "walls", "--family", "normals")
    assert asked.returncode == 2
    assert "in the frame opengl 100% of the normals point away from the camera" in asked.stderr
    assert "--frame opencv (right down away)" in asked.stderr
    done = vgen("task", "new", "walls", "--family", "normals", "--frame", "opencv")
    assert done.returncode == 0, done.stderr
    assert "note      frame: opencv, x right, y down, z away from the camera" in done.stdout
    assert "answers are expected in the frame opencv too" in done.stdout
    assert "frame: opencv" in (folder / "preview.html").read_text()
    words = ("score", "--task", "walls", "--predictions", "walls/normals", "--model-name", "truth")
    scored = vgen(*words, "--json")
    assert scored.returncode == 0, scored.stderr
    [card] = json.loads(scored.stdout)["results"]
    assert next(s["value"] for s in card["scores"] if s["metric"] == "mean") < 0.5
    forced = vgen("task", "new", "walls", "--family", "normals", "--frame", "opengl", "--force")
    assert forced.returncode == 0, forced.stderr
    assert "warning: check: in the frame opengl 100%" in forced.stderr


@pytest.mark.parametrize("family", ["semantic", "referring"])
def test_the_truths_own_files_are_asked_about_before_they_are_scored(
    vgen: Command, tmp_path: Path, family: str
) -> None:
    folder, form = tmp_path / "data", {"semantic": "label_map", "referring": "mask"}[family]
    for seed in range(3):
        _write(folder / "images" / f"{seed}.png", np.full((HEIGHT, WIDTH, 3), 90, np.uint8))
        labels = _mask(seed).astype(np.uint8)
        labels[:, 60:] = 7 if family == "semantic" else 0
        labels[:3] = 255 if family == "semantic" else 0
        _write(folder / "targets" / f"{seed}.png", labels)
    said = ("--query", "it") if family == "referring" else ()
    assert vgen("task", "new", "data", "--family", family, *said).returncode == 0
    words = ("score", "--task", "data", "--predictions", "data/targets", "--model-name", "truth")
    asked = vgen(*words)
    assert (asked.returncode, asked.stdout) == (2, "")
    assert f"--answer {form}" in asked.stderr
    assert "--answer image" in asked.stderr
    done = vgen(*words, "--answer", form, "--json")
    [card] = json.loads(done.stdout)["results"]
    primary = {"semantic": "miou", "referring": "giou"}[family]
    assert next(s["value"] for s in card["scores"] if s["metric"] == primary) == 1.0
    assert "unknown_class" not in done.stdout + done.stderr
    assert vgen(*words, "--answer", "image").returncode == 0


def test_a_folder_whose_name_holds_an_at_sign_or_a_bracket_is_itself(
    vgen: Command, discs: Path
) -> None:
    odd = discs.rename(discs.with_name("a@b [1]"))
    done = vgen("task", "new", odd.name, "--family", "referring", "--query", "it")
    assert done.returncode == 0, done.stderr
    ran = vgen("--tasks", f"./{odd.name}", "--model", "copy", "--no-bounds")
    assert ran.returncode == 0, ran.stderr


def test_what_is_left_out_is_counted_and_warned_of(vgen: Command, discs: Path) -> None:
    for number in range(9):
        _write(discs / "images" / f"more{number}.png", np.zeros((HEIGHT, WIDTH, 3), np.uint8))
    done = vgen("task", "new", "discs", "--family", "referring", "--query", "it")
    assert done.returncode == 0, done.stderr
    assert "warning: left out, 9 in all:" in done.stderr
    assert "images/more0.png: no mask file" in done.stderr
    assert "and 4 more" in done.stderr


def test_faults_of_the_data_are_all_told_and_nothing_is_written(vgen: Command, discs: Path) -> None:
    _write(discs / "masks" / "1.png", np.zeros((4, 5), np.uint8))
    (discs / "masks" / "2.png").write_text("no picture")
    _write(discs / "images" / "alone.png", np.zeros((4, 5, 3), np.uint8))
    done = vgen("task", "new", "discs", "--family", "referring", "--query", "it")
    assert done.returncode == 2
    assert done.stdout.splitlines()[0] == (
        "masks/1.png: mask masks/1.png is 5x4, the picture 64x48"
    )
    assert done.stdout.splitlines()[1].startswith("masks/2.png: not a picture")
    assert "images/alone.png: no mask file" in done.stderr
    assert "2 faults; nothing was written" in done.stderr
    assert "manifest" not in done.stdout + done.stderr
    assert not (discs / "task.yaml").exists()


def test_check_reads_the_data_and_says_when_it_reads_a_part(vgen: Command, discs: Path) -> None:
    vgen("task", "new", "discs", "--family", "referring", "--query", "it")
    (line, *_) = (discs / "manifest.jsonl").read_text().splitlines()
    more = [json.dumps({**json.loads(line), "id": f"m{n}"}) for n in range(600)]
    (discs / "manifest.jsonl").write_text("\n".join(more) + "\n")
    card = discs / "task.yaml"
    card.write_text(card.read_text().replace("n: 3", "n: 600"))
    part = vgen("check", "discs")
    assert part.returncode == 0, part.stdout
    assert "500 of 600 samples were read (--all-data reads all)" in part.stderr
    whole = vgen("check", "discs", "--all-data")
    assert (whole.returncode, "samples were read" in whole.stderr) == (0, False)
    (discs / "masks" / "0.png").write_text("no picture")
    assert vgen("check", "discs").returncode == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nowhere", "--family", "depth"), "no folder 'nowhere'"),
        (("discs",), "--family is missing"),
        (("discs", "--family", "refering"), "Nearest: referring"),
        (("discs", "--family", "depth", "--depth-scale", "1/0"), "no number above 0"),
        (("discs", "--family", "depth", "--depth-scale", "nan"), "no number above 0"),
        (("discs", "--family", "referring", "--images", ".."), "no folder in discs"),
        (("discs", "--family", "semantic", "--classes", "gone.txt"), "gone.txt"),
        (("discs", "--family", "referring", "--name", "My Task", "--query", "it"), "My Task"),
    ],
)
def test_what_cannot_be_meant_is_told_in_a_few_lines(
    vgen: Command, discs: Path, words: tuple[str, ...], told: str
) -> None:
    done = vgen("task", "new", *words)
    assert done.returncode == 2
    assert told in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert not (discs / "task.yaml").exists()


def test_a_sample_without_any_reading_is_shown_and_the_task_is_made(
    vgen: Command, rooms: Path
) -> None:
    _write(rooms / "depth" / "0.png", np.zeros((HEIGHT, WIDTH), np.uint16))
    words = ("task", "new", "my rooms", "--family", "depth", "--depth-scale", "1/1000")
    done = vgen(*words)
    assert done.returncode == 0, done.stderr
    assert "(1 without a truth to score)" in done.stdout
    near = vgen(*words, "--max-depth", "0.1", "--force")
    assert near.returncode == 0, near.stderr
    assert "(3 without a truth to score)" in near.stdout


@pytest.mark.parametrize(
    ("closed", "mode", "told"),
    [
        ("depth/1.png", 0, "depth/1.png"),
        ("rgb/2.png", 0, "2.png"),
        ("depth", 0, "depth: Permission denied"),
        ("depth", 0o444, "depth/0.png: Permission denied"),
        (".", 0, "Permission denied"),
        (".", 0o333, "Permission denied"),
    ],
)
def test_what_may_not_be_read_is_named(
    vgen: Command, rooms: Path, closed: str, mode: int, told: str
) -> None:
    needed = os.R_OK | (os.X_OK if (rooms / closed).is_dir() else 0)
    (rooms / closed).chmod(mode)
    try:
        if os.access(rooms / closed, needed):
            pytest.skip("this user may read everything")
        words = ("--family", "depth", "--depth-scale", "1/1000")
        done = vgen("task", "new", "my rooms", *words)
    finally:
        (rooms / closed).chmod(0o755)
    assert done.returncode == 2, done.stderr
    assert told in done.stdout + done.stderr
    assert "Permission denied" in done.stdout + done.stderr
    assert not (rooms / "task.yaml").exists()


def test_a_folder_that_may_not_be_written_has_a_cure_that_helps(vgen: Command, rooms: Path) -> None:
    rooms.chmod(0o555)
    try:
        if os.access(rooms, os.W_OK):
            pytest.skip("this user may write everywhere")
        done = vgen("task", "new", "my rooms", "--family", "depth", "--depth-scale", "1/1000")
    finally:
        rooms.chmod(0o755)
    assert done.returncode == 1
    assert "Permission denied" in done.stderr
    assert "--output" not in done.stderr
    assert "permissions" in done.stderr
