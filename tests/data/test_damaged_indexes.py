"""A damaged index of data below the data root: its file, the line, the command that mends it."""

from __future__ import annotations

import json
from pathlib import Path

import datakit
import pytest
from lookalikes import countbench, refer_seg
from vgen_eval.cli import main
from vgen_eval_plugins.datasets.countbench import CountBench
from vgen_eval_plugins.datasets.refcoco import RefCoco

Output = pytest.CaptureFixture[str]
COUNT = ("--tasks", "counting/countbench", "--model", "oracle", "--no-bounds", "--samples")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder, which is the working folder's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VGEN_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def refuses(words: tuple[str, ...], output: Output) -> list[str]:
    assert main(list(words)) == 3
    out, err = output.readouterr()
    assert out == ""
    return err.splitlines()


@pytest.mark.parametrize("line", ["null", "[1, 2]", "7", '"text"', "{}", "not JSON"])
def test_a_line_of_a_prepared_file_that_is_no_sample_is_named_with_the_cure(
    root: Path, capfd: Output, line: str
) -> None:
    countbench.write(root, samples=3)
    place = root / "countbench"
    CountBench(CountBench.Options(), root=place, folder=place).prepare(lambda _: None)
    index = place / "index.jsonl"
    kept = index.read_text()
    index.write_text(f"{kept.splitlines()[0]}\n{line}\n")
    name = json.loads(kept.splitlines()[0])["id"]
    told, cure = refuses((*COUNT, name), capfd)
    assert told.startswith(f"error: {index.resolve()}:2: ")
    assert cure == "vgen-eval data prepare counting/countbench makes it anew"
    assert main(["data", "list", "counting/countbench"]) == 0
    story = capfd.readouterr().out
    assert "not prepared" in story
    assert "vgen-eval data prepare counting/countbench" in story
    # and so it does
    CountBench(CountBench.Options(), root=place, folder=place).prepare(lambda _: None)
    assert index.read_text() == kept


def test_every_fault_of_an_index_is_told_by_verify(root: Path, capfd: Output) -> None:
    card = datakit.write_card(root.parent)
    datakit.write_data(root)
    manifest = root / "cats/manifest.jsonl"
    manifest.write_text("null\n" + manifest.read_text() + "[]\n")
    words = ("--tasks", str(card), "--model", "oracle", "--no-bounds")
    told, cure = refuses(words, capfd)
    assert f"{manifest.resolve()}:1: " in told
    assert "(and 1 more)" in told
    assert cure == "mend it; vgen-eval data verify my/cats names every fault"
    assert main(["data", "verify", str(card)]) == 3
    out = capfd.readouterr().out
    assert [f"manifest.jsonl:{at}: " in out for at in (1, 2, 5)] == [True, False, True]
    assert main(["data", "verify", str(card), "--json"]) == 3
    (record,) = json.loads(capfd.readouterr().out)
    assert len(record["faults"]) == 2
    assert main(["data", "list", str(card), "--json"]) == 0
    (state,) = json.loads(capfd.readouterr().out)
    assert (state["state"], state["next"]) == ("faulty", "mend what the reason names")


def test_a_line_of_prepared_masks_is_told_by_its_number(root: Path, capfd: Output) -> None:
    refer_seg.write(root, samples=2)
    place = root / "refer_seg"
    RefCoco(RefCoco.Options(), root=place, folder=place).prepare(lambda _: None)
    (lines,) = place.rglob("*.jsonl")
    whole = lines.read_text().splitlines()
    lines.write_text("\n".join([whole[0], "null", *whole[2:]]) + "\n")
    words = ("--tasks", "referring/refcoco", "--model", "oracle", "--no-bounds", "--limit", "1")
    told, cure = refuses(words, capfd)
    assert f"{lines.resolve()} is no prepared file: line 2: " in told
    assert cure.startswith("vgen-eval data prepare referring/refcoco")


def test_what_was_not_prepared_names_the_task_in_its_cure(root: Path, capfd: Output) -> None:
    countbench.write(root, samples=3)
    told, cure = refuses((*COUNT, "any"), capfd)
    assert "index.jsonl" in told
    assert cure.startswith("vgen-eval data prepare counting/countbench makes it")
