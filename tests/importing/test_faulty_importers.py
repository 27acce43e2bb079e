"""Importers that break their contract are named; what is no file is not waited for."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from vgen_eval.cli import main
from vgen_eval.engine.formats import Format, ReadFile, read_file
from vgen_eval.engine.naming import expand_tasks
from vgen_eval.errors import BrokenPlugin
from vgen_eval.importing import Answer, Imported, Scope
from vgen_eval.plugins import Catalog
from vgen_eval.types import Sample

CATALOG = Catalog.discover()
INFO = {"name": "theirs:odd", "version": 1, "options": {}}


class Odd:
    """Gives what it was built with."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def read(self, path: Path, scope: Scope) -> Any:
        return self.given


def read(tmp_path: Path, given: Any) -> ReadFile:
    path = tmp_path / "file"
    path.write_text("x")
    (ref,) = expand_tasks(["samples/counting"], CATALOG, notices=[])
    return read_file(Format(Odd(given), INFO), path, ref, known=None)


def held(**changes: Any) -> Any:
    given: dict[str, Any] = {"form": "text", "answers": [Answer(sample="x", value="3")]}
    return Imported(**(given | changes))


def answer(**changes: Any) -> Any:
    given: dict[str, Any] = {"sample": "x", "value": "3"}
    return held(answers=[Answer(sample="y", value="3"), Answer(**(given | changes))])


def sample(**changes: Any) -> Any:
    given: dict[str, Any] = {"id": "x", "group": "x", "images": (), "target": 3}
    return Sample(**(given | changes))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: None, "NoneType, not Imported"),
        (lambda: held(answers={"x": "3"}), "answers that are dict"),
        (lambda: held(answers=["x"]), "answer 0: 'x', no Answer"),
        (lambda: held(remarks="x"), "remarks that are str"),
        (lambda: held(role="crowd"), "role 'crowd'"),
        (
            lambda: answer(sample="x\ud800"),
            r"answer 1: the sample's id 'x.ud800', which is no text",
        ),
        (lambda: answer(sample=3), "answer 1: the sample's id 3, which is no text"),
        (lambda: answer(sample=["x"]), "the sample's id list"),
        (lambda: answer(attempt=-1), "attempt -1, no number from 0"),
        (lambda: answer(attempt="1"), "attempt '1'"),
        (lambda: answer(seconds=math.nan), "seconds nan, no length of time"),
        (lambda: answer(seconds=-1), "seconds -1"),
        (lambda: answer(seconds="3"), "seconds '3'"),
        (lambda: held(samples=("x", None)), "sample 0: 'x', no Sample"),
        (lambda: held(samples="x"), "samples that are str"),
        (lambda: held(samples=(sample(id="\ud800"),)), "sample 0: the id"),
        (lambda: held(samples=(sample(group=None),)), "of group None"),
        (lambda: held(samples=(sample(), sample())), "sample 1: the id 'x' of another one"),
        (lambda: held(samples=(sample(tags={"part": 3}),)), "tags dict"),
    ],
)
def test_an_importer_that_breaks_the_contract_is_named(
    tmp_path: Path, make: Callable[[], Any], told: str
) -> None:
    with pytest.raises(BrokenPlugin, match=f"importer 'theirs:odd' gives .*{told}") as caught:
        read(tmp_path, make())
    assert caught.value.exit_code == 3


def test_what_keeps_to_the_contract_is_taken(tmp_path: Path) -> None:
    given = held(samples=(sample(tags={"part": "a"}), sample(id="\u00fc")), remarks=("well",))
    assert read(tmp_path, given).held is given


@pytest.mark.parametrize("more", [["--format", "human"], []])
def test_a_pipe_is_refused_and_not_waited_for(
    tmp_path: Path, more: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    pipe = tmp_path / "answers.csv"
    os.mkfifo(pipe)
    words = ["score", "--task", "samples/counting", "--predictions", str(pipe), "--model-name",
             "theirs", "--output", str(tmp_path / "out"), *more]  # fmt: skip
    assert main(words) == 2
    assert "is a pipe, a device or a socket" in capfd.readouterr().err


def test_a_pipe_in_a_folder_of_predictions_is_passed_over(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "answers.jsonl")
    words = ["score", "--task", "samples/counting", "--predictions", str(tmp_path), "--model-name",
             "theirs", "--output", str(tmp_path / "out")]  # fmt: skip
    assert main(words) == 3
    assert "no_predictions_matched" in capfd.readouterr().err
