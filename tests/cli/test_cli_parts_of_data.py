"""A part of a task's data here: listed, run on, told with its share; and what hinders a dry run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lookalikes import cityscapes, diode, nyuv2
from vgen_eval.cards import load_card
from vgen_eval.cards.records import TaskCard
from vgen_eval.cli import main
from vgen_eval.plugins import Catalog

Output = pytest.CaptureFixture[str]
DEPTH = ("--tasks", "depth/nyuv2", "--model", "classical", "--no-bounds")
SERVICE = (
    "model: distant\nadapter: openai_compatible\nanswers: [image]\nlicence: CC0-1.0\n"
    "options: {model: m, base_url: https://far.example/v1}\nneeds: {key_env: FAR_KEY}\n"
)
GONE = (
    "model: elsewhere\nadapter: copy\nanswers: [image]\nlicence: CC0-1.0\n"
    "runnable: false\nreason: its weights lie nowhere\n"
)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three of the 654 samples of NYU Depth v2, flat, below the data folder."""
    root = tmp_path / "data"
    nyuv2.write_flat(root, samples=3, normals=False)
    monkeypatch.setenv("VGEN_DATA", str(root))
    monkeypatch.chdir(tmp_path)
    return root


def run(words: tuple[str, ...], output: Output, code: int = 0) -> tuple[str, str]:
    assert main(list(words)) == code
    return output.readouterr()


# --- ids


def test_ids_are_listed_one_a_line_those_that_are_here(data: Path, capfd: Output) -> None:
    words = ("data", "list", "depth/nyuv2", "--ids")
    assert run(words, capfd) == ("0000\n0001\n0002\n", "3 of 654 samples here\n")
    (data / "nyuv2/depth/0001.npy").unlink()
    assert run(words, capfd) == ("0000\n0002\n", "2 of 654 samples here\n")
    out, err = run((*words, "--missing"), capfd)
    assert (out.split()[:2], len(out.split())) == (["0001", "0003"], 652)
    assert err == "652 of 654 samples not here\n"
    assert json.loads(run((*words, "--json"), capfd)[0]) == ["0000", "0002"]


def test_samples_that_the_folder_does_not_name_are_counted_too(data: Path, capfd: Output) -> None:
    diode.write(data, samples=2)
    words = ("data", "list", "depth/diode-indoor", "--ids")
    out, err = run(words, capfd)
    here = len(out.split())
    assert err == f"{here} of 325 samples here\n"
    out, err = run((*words, "--missing"), capfd)
    assert (out, err) == (
        "", f"{325 - here} of 325 samples not here, {325 - here} of them not even by name\n"
    )  # fmt: skip


def test_ids_of_several_tasks_or_of_none_are_refused(data: Path, capfd: Output) -> None:
    assert "--ids is of one task, these are" in run(("data", "list", "--ids"), capfd, 2)[1]
    out, err = run(("data", "list", "depth/kitti", "--ids"), capfd, 3)
    assert out == ""
    assert "kitti is no folder" in err


def test_what_is_listed_can_be_run(data: Path, tmp_path: Path, capfd: Output) -> None:
    (tmp_path / "ids.txt").write_text(run(("data", "list", "depth/nyuv2", "--ids"), capfd)[0])
    out, _ = run((*DEPTH, "--samples", "@ids.txt"), capfd)
    assert "1 task, 3 of 654 samples" in out.splitlines()[0]
    (card,) = Path("results").rglob("result_card.md")
    assert "- complete: 3 of 654 samples\n" in card.read_text()


def test_a_limit_on_a_part_points_to_the_samples_that_are_here(data: Path, capfd: Output) -> None:
    _, err = run((*DEPTH, "--limit", "1"), capfd, 3)
    assert "the files of 1 sample are wanted" in err
    assert "or run on what is here: --samples ID,.. (vgen-eval data list depth/nyuv2 --ids)" in err


def test_a_count_that_falls_short_points_to_them_too(data: Path, capfd: Output) -> None:
    cityscapes.write(data)
    words = ("--tasks", "semantic/cityscapes", "--model", "classical", "--limit", "1")
    _, err = run(words, capfd, 3)
    assert "500 samples expected, 3 found" in err
    assert "--samples ID,.. (vgen-eval data list semantic/cityscapes --ids)" in err


def test_all_of_a_task_is_told_without_a_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Output
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("--tasks", "samples/counting", "--model", "oracle", "--no-bounds", "--answer", "text")
    assert "1 task, 13 samples" in run(words, capfd)[0].splitlines()[0]
    (card,) = Path("results").rglob("result_card.md")
    assert "- complete: 13 samples\n" in card.read_text()


# --- bad samples


def test_a_sample_that_cannot_be_decoded_is_done_and_counted_as_failed(
    data: Path, capfd: Output
) -> None:
    (data / "nyuv2/images/0001.png").write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    words = (*DEPTH, "--samples", "0000,0001")
    for shown in (run(words, capfd)[0], run(words, capfd)[0]):
        row = next(line for line in shown.splitlines() if "depth/nyuv2@editors   " in line)
        assert row.split()[2:4] == ["2/2", "1"]
        assert "left out of the score: 1 bad_sample" in shown
        assert "--failed   lists the failed samples" in shown
    listed = run(("runs", "list"), capfd)[0]
    assert listed.splitlines()[1].split()[5:7] == ["2/2", "1"]
    (card,) = Path("results").rglob("result_card.md")
    assert "- complete: 2 of 654 samples, 1 attempt without sound data\n" in card.read_text()


# --- dry runs


def test_a_dry_run_without_its_model_tells_what_of_the_data_is_missing_too(
    data: Path, tmp_path: Path, capfd: Output
) -> None:
    (tmp_path / "gone.yaml").write_text(GONE)
    words = ("--tasks", "depth/nyuv2,depth/kitti", "--model", "gone.yaml", "--dry-run")
    out, err = run(words, capfd, 3)
    assert "its weights lie nowhere" in out
    assert "0003: no file 'images/0003.png'" in out
    assert "kitti is no folder" in out
    assert err == "error: nothing can run: every pair is skipped\n"
    here = ("--tasks", "depth/nyuv2", "--samples", "0000", "--model", "gone.yaml", "--dry-run")
    out, _ = run(here, capfd, 3)
    assert "no file" not in out
    document = json.loads(run((*words, "--json"), capfd, 3)[0])
    assert {skip["model"] for skip in document["skipped"]} == {"gone.yaml", "any model"}


def test_a_dry_run_without_data_tells_that_a_key_is_missing_too(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Output
) -> None:
    monkeypatch.delenv("FAR_KEY", raising=False)
    (tmp_path / "far.yaml").write_text(SERVICE)
    words = ("--tasks", "depth/nyuv2", "--limit", "1", "--model", "far.yaml", "--dry-run")
    out, _ = run(words, capfd, 3)
    assert "missing: FAR_KEY is not set" in out
    assert "the files of 1 sample are wanted" in out


def test_a_run_that_is_no_dry_one_still_ends_with_the_first_fault(
    data: Path, tmp_path: Path, capfd: Output
) -> None:
    (tmp_path / "gone.yaml").write_text(GONE)
    out, err = run(("--tasks", "depth/nyuv2", "--model", "gone.yaml"), capfd, 3)
    assert out == ""
    assert "its weights lie nowhere" in err


# --- how archives are unpacked


def test_data_that_is_fetched_by_hand_tells_archives_and_folders(data: Path, capfd: Output) -> None:
    story = " ".join(run(("data", "list", "semantic/cityscapes"), capfd)[0].split())
    for word in ("leftImg8bit_trainvaltest.zip", "gtFine_trainvaltest.zip", "gtFine/val/<city>/"):
        assert word in story
    story = " ".join(run(("data", "list", "normals/nyuv2"), capfd)[0].split())
    for word in ("nyu_depth_v2_labeled.mat", "splits.mat", "nyuv2/normals_gt/"):
        assert word in story
    (record,) = json.loads(run(("data", "list", "depth/nyuv2@editors", "--json"), capfd)[0])
    assert record["unpack"].startswith("No archive: nyu_depth_v2_labeled.mat")


def test_tasks_on_the_same_files_tell_the_same_folder() -> None:
    catalog = Catalog.discover()
    told = {}
    for _, head in catalog.heads("task"):
        card = load_card(head.path).record
        assert isinstance(card, TaskCard)
        if card.dataset.unpack:
            assert f"{card.dataset.root}/" in card.dataset.unpack, head.name
            told[head.name] = card.dataset.unpack
    assert told["semantic/cityscapes"] == told["semantic/cityscapes-7"]
    assert {"depth/nyuv2", "normals/nyuv2", "normals/nyuv2-dsine"} <= told.keys()
