"""Runs that public tools got wrong: ids twice, awkward names, what is missing, shards, resuming."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faultkit import (
    MASK,
    Files,
    Scored,
    picture,
    random_photo,
    read_run,
    run_command,
    score,
    write_model,
    write_predictions,
    write_task,
)
from linekit import COUNT, write_line_task, write_lines
from vgen_eval import Request, evaluate
from vgen_eval.engine.importing import import_predictions
from vgen_eval.errors import UsageError
from vgen_eval.plugins import Catalog
from vgen_eval.results.card import ResultCard
from vgen_eval_plugins.models.scripted import Scripted


def import_counts(folder: Path, task: str, predictions: Path) -> ResultCard:
    (card,) = import_predictions(
        task=task, predictions=predictions, model_name="theirs", catalog=Catalog.discover(),
        output=str(folder / "results"),
    )  # fmt: skip
    return card


# --- ids ----------------------------------------------------------------------------------


def test_an_id_that_stands_twice_in_the_data_is_an_error_with_its_name(tmp_path: Path) -> None:
    """https://github.com/UKGovernmentBEIS/inspect_ai/issues/972"""
    task = write_line_task(tmp_path, COUNT, {})
    lines = [{"id": name, "image": "photo.png", "count": 1} for name in ("7", 7, "8")]
    write_lines(tmp_path / "manifest.jsonl", lines)
    write_lines(tmp_path / "predictions" / "all.jsonl", [{"id": "8", "output": "1"}])
    done = run_command(tmp_path, task)
    assert done.returncode != 0
    assert "manifest.jsonl:2: id: 7 is the id of line 1 again" in done.stdout + done.stderr
    assert not (tmp_path / "results").exists()


def test_an_answer_that_stands_twice_counts_once_and_two_that_differ_not_at_all(
    tmp_path: Path,
) -> None:
    """https://github.com/UKGovernmentBEIS/inspect_ai/issues/972"""
    task = write_line_task(tmp_path, COUNT, {name: {"count": 1} for name in "123"})
    once = [{"id": "1", "output": "1"}, {"id": "2", "output": "0"}, {"id": "2", "output": "0"},
            {"id": "3", "output": "1"}]  # fmt: skip
    card = import_counts(tmp_path, task, write_lines(tmp_path / "once.jsonl", once))
    assert card.counts.statuses == {"ok": 3}
    assert (card.score().value, card.score().n) == (pytest.approx(2 / 3), 3)
    twice = [*once, {"id": "3", "output": "0"}]
    with pytest.raises(UsageError, match=r"twice\.jsonl:5: sample '3' has two different pred"):
        import_counts(tmp_path, task, write_lines(tmp_path / "twice.jsonl", twice))


AWKWARD = ("A fantasy landscape", "a fantasy landscape", "cat/dog", "../up", "x" * 300, "con",
           "tail. ")  # fmt: skip


def test_files_of_awkward_ids_are_apart_inside_the_run_and_found_by_their_lines(
    tmp_path: Path,
) -> None:
    """https://github.com/Vchitect/VBench/issues/58"""
    truth = picture(np.full((8, 8), 255, np.uint8))
    lines = {name: {"mask": "truth.png", "query": "it"} for name in AWKWARD}
    inside = tmp_path / "inside"
    task = write_line_task(inside, MASK, lines, files={"truth.png": truth})

    def paint(request: Request) -> np.ndarray:
        """As many white pixels as the sample's number, so that no two answers are one."""
        mask = np.zeros((8, 8), np.uint8)
        mask.flat[: 1 + AWKWARD.index(request.sample)] = 255
        return mask

    (card,) = evaluate(
        tasks=task, model=paint, forms=["mask"], output=str(inside / "results"), bounds=False,
        keep="all",
    )  # fmt: skip
    assert card.counts.statuses == {"ok": 7}
    outputs = inside / "results" / card.run / "outputs"
    files = [path for path in outputs.rglob("*") if path.is_file()]
    assert len({path.name.casefold() for path in files}) == 7
    assert all(len(path.name.encode()) <= 255 for path in files)
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]
    run = read_run(inside / "results", card)
    text = (outputs.parent / "predictions.jsonl").read_text()
    named = {line["sample"]: line["answer"]["file"] for line in map(json.loads, text.splitlines())}
    assert set(named) == set(AWKWARD)
    assert {outputs / name for name in named.values()} == set(files)
    for at, name in enumerate(AWKWARD, 1):
        assert run.statistics(name)["intersection"] == at


# --- what is missing ----------------------------------------------------------------------

FIVE: Files = {f"{at}.png": picture(np.full((8, 8), 255, np.uint8)) for at in range(5)}


def test_predictions_for_three_of_five_are_scored_over_five(tmp_path: Path) -> None:
    """https://github.com/Vchitect/VBench/issues/4"""
    three = {name: FIVE[name] for name in ("0.png", "1.png", "2.png")}
    run = score(tmp_path, MASK, FIVE, three, size=(8, 8))
    counts = run.card.counts
    assert counts.answered / counts.expected == 0.6
    assert counts.missing_ids == ("3", "4")
    assert (run.card.score("giou").value, run.card.score("giou").n) == (0.6, 5)
    assert run.card.score("giou").answered_only == 1.0


def test_a_folder_without_a_prediction_is_an_error_and_no_mean(tmp_path: Path) -> None:
    """https://github.com/Vchitect/VBench/issues/4"""
    task = write_task(tmp_path, MASK, FIVE, size=(8, 8))
    write_predictions(tmp_path, {"README.txt": b"none yet"})
    done = run_command(tmp_path, task)
    assert done.returncode == 3
    assert "no_predictions_matched" in done.stdout + done.stderr
    assert "nan" not in done.stdout.lower()
    assert not list(tmp_path.rglob("result_card.json"))


def test_shards_that_are_padded_with_the_first_samples_are_one_run(tmp_path: Path) -> None:
    """https://github.com/huggingface/accelerate/issues/350"""
    task = write_line_task(tmp_path, COUNT, {str(at): {"count": 1} for at in range(22)})
    for shard in range(3):
        own = [*range(22), 0, 1][shard::3]
        assert len(own) == 8
        lines = ({"id": str(at), "output": "1" if at % 3 == 0 else "0"} for at in own)
        write_lines(tmp_path / "shards" / f"shard_{shard}.jsonl", lines)
    card = import_counts(tmp_path, task, tmp_path / "shards")
    assert card.counts.statuses == {"ok": 22}
    assert card.score("accuracy").n == 22
    assert card.score("accuracy").value == pytest.approx(8 / 22, abs=1e-9)


# --- resuming -----------------------------------------------------------------------------


class Counter:
    """A task of n samples, and a model that is right about all of them."""

    def __init__(self, folder: Path, n: int) -> None:
        self._folder = folder
        self._samples = [str(at) for at in range(n)]
        self.show("photo.png", random_photo(8, 8))
        self.say({name: name for name in self._samples})

    def show(self, name: str, photo: bytes) -> None:
        """Every sample has this picture from now on."""
        truths = {at: {"count": int(at), "images": [name]} for at in self._samples}
        self._task = write_line_task(self._folder, COUNT, truths, files={name: photo})

    def say(self, said: Mapping[str, str], **card: Any) -> None:
        """The model has these answers from now on."""
        rules = [{"sample": at, "reply": reply} for at, reply in said.items()]
        self._model = write_model(
            self._folder, "counter", adapter="scripted", answers=["text"], options={"rules": rules},
            **card,
        )  # fmt: skip

    def run(self, **settings: Any) -> Scored:
        found = evaluate(
            tasks=self._task, model=self._model, output=str(self._folder / "results"),
            bounds=False, **settings,
        )  # fmt: skip
        assert found.exit_code() == 0
        (card,) = found
        return read_run(self._folder / "results", card)


def reused(run: Scored) -> tuple[int, int]:
    """Answers taken from other runs, and calls of the model."""
    return run.card.volatile["reused"], run.card.volatile["calls"]


def test_a_run_of_some_samples_is_no_run_of_them_all(tmp_path: Path) -> None:
    """https://github.com/huggingface/lighteval/issues/1040"""
    counter = Counter(tmp_path, 5)
    two = counter.run(limit=2)
    assert (two.card.score().n, reused(two)) == (2, (0, 2))
    whole = counter.run()
    assert (whole.card.score().n, reused(whole)) == (5, (2, 3))
    assert whole.number() == 1.0
    three = counter.run(limit=3)
    assert (three.card.score().n, reused(three)) == (3, (3, 0))
    seeds = (counter.run(limit=2, set={"protocol.sampling.seed": seed}) for seed in range(1, 20))
    other = next(run for run in seeds if set(run.lines) != set(two.lines))
    assert (other.card.score().n, reused(other)) == (2, (2, 0))
    assert len({run.card.run for run in (two, whole, three, other)}) == 4


def test_a_run_with_nothing_left_to_ask_asks_nothing_and_ends_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """https://github.com/EleutherAI/lm-evaluation-harness/issues/2141"""
    counter = Counter(tmp_path, 3)
    first = counter.run()
    predictions = tmp_path / "results" / first.card.run / "predictions.jsonl"
    written = predictions.read_bytes()
    monkeypatch.setattr(Scripted, "load", lambda self: pytest.fail("it was asked"))
    again = counter.run()
    assert (again.number(), again.card.score().n) == (1.0, 3)
    assert predictions.read_bytes() == written


def test_an_answer_is_that_of_its_own_model_picture_and_settings(tmp_path: Path) -> None:
    """https://github.com/EleutherAI/lm-evaluation-harness/issues/4063"""
    counter = Counter(tmp_path, 2)
    first = counter.run()
    assert (first.number(), reused(first)) == (1.0, (0, 2))
    counter.show("renamed.png", random_photo(8, 8))
    assert reused(counter.run()) == (2, 0)
    counter.show("photo.png", random_photo(8, 9))
    assert reused(counter.run()) == (0, 2)
    counter.show("photo.png", random_photo(8, 8))
    for change in ({"temperature": 0.7}, {"max_tokens": 65}, {"seed": 5}):
        counter.say({"0": "0", "1": "1"}, generation=change)
        assert reused(counter.run()) == (0, 2), change
    counter.say({"0": "7", "1": "7"})
    other = counter.run()
    assert (other.number(), reused(other)) == (0.0, (0, 2))
