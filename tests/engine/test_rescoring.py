"""Scoring kept answers again: equal to the first time, and the old scores stay until it is done."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import kit
import pytest
import vgen_eval
from vgen_eval import ResultCard
from vgen_eval.engine.pipeline import Stop
from vgen_eval.engine.rescore import rescore
from vgen_eval.errors import NotRunnable
from vgen_eval.plugins import Catalog

OPTIONS: dict[str, Any] = {"off": 1, "nothing": ["s001"], "refuse": ["s002"], "fail": ["s003"]}


def again(folder: Path, card: ResultCard, **more: Any) -> ResultCard:
    scored = rescore(kit.run_folder(folder, card), Catalog.discover(), **more)
    assert scored is not None
    return scored


@pytest.mark.parametrize("form", [kit.IMAGE, kit.PROTOCOL["answers"][0]])
def test_rescoring_equals_the_first_scoring(toys: Path, form: dict[str, Any]) -> None:
    card = kit.run(
        toys, tasks=kit.task(toys, n=8, bad=["s004"], protocol={"answers": [form]}),
        model=kit.model(toys, card={"answers": [form["form"]]}, **OPTIONS), attempts=2, bounds=True,
    )  # fmt: skip
    whole = kit.settled(toys, card)
    written = (kit.run_folder(toys, card) / "predictions.jsonl").read_bytes()
    kit.asked()
    second = again(toys, card)
    assert kit.asked() == []
    assert kit.settled(toys, second) == whole
    assert second.floor == card.floor
    assert (kit.run_folder(toys, card) / "predictions.jsonl").read_bytes() == written
    assert [p.suffix for p in (kit.run_folder(toys, card) / "scores").iterdir()] == [".jsonl"]


def test_built_in_runs_are_rescored_to_the_same_card(tmp_path: Path) -> None:
    for card in vgen_eval.evaluate(tasks="samples/*", model="copy", output=str(tmp_path)):
        again_ = rescore(tmp_path / card.run, Catalog.discover())
        assert again_ is not None
        assert again_.content_digest == card.content_digest
        assert again_.scores == card.scores
        assert (again_.ceiling, again_.floor) == (card.ceiling, card.floor)


def test_a_run_that_was_moved_is_rescored_where_it_is(toys: Path) -> None:
    card = kit.run(toys, tasks=kit.task(toys), model=kit.model(toys, **OPTIONS))
    (toys / "moved").mkdir()
    shutil.move(toys / "out", toys / "moved" / "results")
    second = rescore(toys / "moved" / "results" / card.run, Catalog.discover())
    assert second is not None
    assert second.run == card.run
    assert second.content_digest == card.content_digest


@pytest.mark.parametrize("place", ["alone", "a/b/c/d/e/f", "other/results/runs/x/y/z"])
def test_a_run_that_was_copied_is_rescored_where_it_is(toys: Path, place: str) -> None:
    card = kit.run(toys, tasks=kit.task(toys), model=kit.model(toys, **OPTIONS))
    copy = toys / place
    shutil.copytree(toys / "out" / card.run, copy)
    second = rescore(copy, Catalog.discover())
    assert second is not None
    assert (second.run, second.content_digest) == (copy.name, card.content_digest)


def test_answers_that_were_not_kept_keep_their_scores(toys: Path) -> None:
    card = kit.run(
        toys, tasks=kit.task(toys, n=4, protocol={"answers": [kit.IMAGE]}),
        model=kit.model(toys, card={"answers": ["image"]}, off=1), keep="none",
    )  # fmt: skip
    second = again(toys, card)
    assert kit.settled(toys, second) == kit.settled(toys, card)


def test_a_new_metric_changes_the_scores_and_no_answer(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toybench.parts

    card = kit.run(toys, tasks=kit.task(toys, n=4), model=kit.model(toys, off=1))
    monkeypatch.setattr(toybench.parts.Error, "version", 2)
    monkeypatch.setattr(
        toybench.parts.Error, "update",
        lambda self, pred, target, valid: {"n": 1, "abs": 5.0, "sq": 25.0},
    )  # fmt: skip
    second = again(toys, card)
    assert (card.score().value, second.score().value) == (1.0, 5.0)
    assert second.protocol_info["score_digest"] != card.protocol_info["score_digest"]


def test_a_stop_leaves_the_old_scores(toys: Path) -> None:
    card = kit.run(toys, tasks=kit.task(toys, n=8), model=kit.model(toys, off=1))
    before = {p.name: p.read_bytes() for p in kit.run_folder(toys, card).rglob("*.json*")}
    stop = Stop()
    stop.ask()
    assert rescore(kit.run_folder(toys, card), Catalog.discover(), stop=stop) is None
    after = {p.name: p.read_bytes() for p in kit.run_folder(toys, card).rglob("*.json*")}
    assert {name: after[name] for name in before} == before


CHILD = """
import sys
from pathlib import Path
import toybench.parts
from vgen_eval.engine.rescore import rescore
from vgen_eval.plugins import Catalog
toybench.parts.Error.delay_s = 0.05
rescore(Path(sys.argv[1]), Catalog.discover(), workers=1)
"""


def test_a_kill_midway_leaves_the_old_scores(toys: Path) -> None:
    card = kit.run(toys, tasks=kit.task(toys, n=30), model=kit.model(toys, off=1))
    folder = kit.run_folder(toys, card)
    before = {p.name: p.read_bytes() for p in folder.rglob("*.json*")}
    process = kit.child(CHILD, folder, site=toys / "site")
    assert process.stderr is not None
    deadline = time.monotonic() + 20
    while sum(p.stat().st_size for p in (folder / "scores").glob(".*")) < 500:
        assert process.poll() is None, process.stderr.read().decode()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.kill()
    process.wait()
    process.stderr.close()
    assert {p.name: p.read_bytes() for p in folder.rglob("*.json*") if p.name in before} == before
    assert kit.run(toys, tasks=kit.task(toys, n=30), model=kit.model(toys, off=1)).score().n == 30
    second = again(toys, card)
    assert kit.settled(toys, second) == kit.settled(toys, card)
    assert len(list((folder / "scores").iterdir())) == 1


def test_samples_whose_data_is_gone_lose_their_score_and_not_their_answer(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toybench.parts

    card = kit.run(toys, tasks=kit.task(toys, n=4), model=kit.model(toys, off=1))
    written = (kit.run_folder(toys, card) / "predictions.jsonl").read_bytes()

    def load(self: Any, item: Any) -> Any:
        raise vgen_eval.BadSample("gone")

    with monkeypatch.context() as patch:
        patch.setattr(toybench.parts.Numbers, "load", load)
        assert again(toys, card).counts.data_fault == 4
    assert (kit.run_folder(toys, card) / "predictions.jsonl").read_bytes() == written
    assert kit.settled(toys, again(toys, card)) == kit.settled(toys, card)


@pytest.mark.parametrize("damage", [b"{}", b'{"cards": {}}', b"no json"])
def test_a_damaged_run_file_is_named(toys: Path, damage: bytes) -> None:
    card = kit.run(toys, tasks=kit.task(toys, n=2), model=kit.model(toys))
    (kit.run_folder(toys, card) / "run.json").write_bytes(damage)
    with pytest.raises(NotRunnable, match=r"run\.json: damaged"):
        again(toys, card)


def test_a_data_set_that_lost_a_sample_is_named(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toybench.parts

    card = kit.run(toys, tasks=kit.task(toys, n=4), model=kit.model(toys))
    index = toybench.parts.Numbers.index
    monkeypatch.setattr(toybench.parts.Numbers, "index", lambda self: index(self)[:3])
    with pytest.raises(NotRunnable, match="sample 's003' is no longer in the data"):
        again(toys, card)


def test_answers_without_a_score_to_keep_are_refused_and_the_card_stands(toys: Path) -> None:
    card = kit.run(
        toys, tasks=kit.task(toys, n=3, protocol={"answers": [kit.IMAGE]}),
        model=kit.model(toys, card={"answers": ["image"]}), keep="none",
    )  # fmt: skip
    folder = kit.run_folder(toys, card)
    before = (folder / "result_card.json").read_bytes()
    shutil.rmtree(folder / "scores")
    with pytest.raises(NotRunnable, match="3 answers were not kept") as caught:
        again(toys, card)
    assert caught.value.cure is not None
    assert "run the task and the model again" in caught.value.cure
    assert (folder / "result_card.json").read_bytes() == before


def test_a_run_of_another_schema_is_named(toys: Path) -> None:
    card = kit.run(toys, tasks=kit.task(toys, n=2), model=kit.model(toys))
    record = kit.run_folder(toys, card) / "run.json"
    record.write_text(record.read_text().replace('"schema": 1', '"schema": 99'))
    with pytest.raises(NotRunnable, match="schema 99, 1 wanted"):
        again(toys, card)
