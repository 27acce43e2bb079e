"""Runs whose files somebody altered, locked away or replaced by folders: told, or made anew."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path

import kit
import pytest
from vgen_eval import ResultCard
from vgen_eval.engine.rescore import rescore
from vgen_eval.errors import NotRunnable, StorageError
from vgen_eval.plugins import Catalog

TUNED = {
    "form": "text", "prompt": {"mid": "{query}?"}, "decoder": "toybench:tuned",
    "encoder": "toybench:number",
}  # fmt: skip


def pictures(folder: Path) -> ResultCard:
    return kit.run(
        folder, tasks=kit.task(folder, n=3, protocol={"answers": [kit.IMAGE]}),
        model=kit.model(folder, card={"answers": ["image"]}),
    )  # fmt: skip


def calibrated(folder: Path) -> ResultCard:
    protocol = {"answers": [TUNED], "calibration": {"samples": 3}}
    return kit.run(
        folder, tasks=kit.task(folder, n=6, protocol=protocol), model=kit.model(folder, off=4)
    )


# --- kept answers


def test_an_altered_answer_without_a_score_is_called_damaged_with_its_path(toys: Path) -> None:
    folder = kit.run_folder(toys, pictures(toys))
    kept = sorted((folder / "outputs").iterdir())[0]
    kept.write_bytes(b"something else")
    shutil.rmtree(folder / "scores")
    with pytest.raises(NotRunnable) as caught:
        rescore(folder, Catalog.discover())
    assert f"kept answers: {kept.resolve()} is damaged" in caught.value.what
    assert "not kept" not in caught.value.what
    cure = caught.value.cure or ""
    assert cure.startswith("put the file back from a copy, or run the task and the model again")


def test_the_cure_of_a_damaged_answer_works(toys: Path) -> None:
    card = pictures(toys)
    folder = kit.run_folder(toys, card)
    kept = sorted((folder / "outputs").iterdir())[0]
    kept.write_bytes(b"something else")
    shutil.rmtree(folder / "scores")
    kit.asked()
    again = pictures(toys)
    assert len(kit.asked()) == 1
    assert again.scores == card.scores
    assert kept.read_bytes() != b"something else"


def test_an_altered_answer_with_a_score_is_told_and_its_score_stands(
    toys: Path, caplog: pytest.LogCaptureFixture
) -> None:
    card = pictures(toys)
    folder = kit.run_folder(toys, card)
    kept = sorted((folder / "outputs").iterdir())
    kept[0].write_bytes(b"something else")
    kept[1].unlink()
    with caplog.at_level(logging.WARNING):
        again = rescore(folder, Catalog.discover())
    assert again is not None
    assert again.scores == card.scores
    assert f"{kept[0].name} is damaged (other bytes than were written), others were not" in (
        caplog.text
    )
    assert "the old scores stand" in caplog.text


# --- what the decoder was calibrated to


@pytest.mark.parametrize("damage", ["not JSON", "null", "[]", '{"of": 1, "decoder": 2}', ""])
def test_a_calibration_file_that_is_none_is_made_again(toys: Path, damage: str) -> None:
    card = calibrated(toys)
    (kept,) = kit.run_folder(toys, card).rglob("*.calibration.json")
    whole = kept.read_text()
    kept.write_text(damage)
    assert calibrated(toys).content_digest == card.content_digest
    assert kept.read_text() == whole


def test_a_calibration_that_its_decoder_does_not_take_is_made_again(toys: Path) -> None:
    card = calibrated(toys)
    (kept,) = kit.run_folder(toys, card).rglob("*.calibration.json")
    whole = kept.read_text()
    kept.write_text(json.dumps(json.loads(whole) | {"decoder": {"another": "thing"}}))
    assert calibrated(toys).content_digest == card.content_digest
    assert kept.read_text() == whole


def test_a_folder_in_the_place_of_a_calibration_is_named_with_the_cure(toys: Path) -> None:
    card = calibrated(toys)
    (kept,) = kit.run_folder(toys, card).rglob("*.calibration.json")
    kept.unlink()
    kept.mkdir()
    for again in (
        lambda: calibrated(toys),
        lambda: rescore(kit.run_folder(toys, card), Catalog.discover()),
    ):
        with pytest.raises(StorageError, match=r"cannot write .*calibration.json") as caught:
            again()
        assert caught.value.cure == "a folder stands in its place: move that away"


@pytest.mark.parametrize("name", ["predictions.jsonl", "scores"])
def test_a_folder_in_the_place_of_a_journal_is_named_with_the_cure(toys: Path, name: str) -> None:
    card = calibrated(toys)
    folder = kit.run_folder(toys, card)
    path = folder / name
    if name == "scores":
        (path,) = path.glob("*.jsonl")
    path.unlink()
    path.mkdir()
    for again in (lambda: calibrated(toys), lambda: rescore(folder, Catalog.discover())):
        with pytest.raises((NotRunnable, StorageError), match=path.name) as caught:
            again()
        assert "folder" in (caught.value.cure or "")
