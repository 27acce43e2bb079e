"""Pictures with opinion scores: the seven sets' layouts, and lists that are faulty."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vgen_eval
from lookalikes.files import write_png
from lookalikes.opinion_scores import SETS, write
from vgen_eval.cards import convert, load_card
from vgen_eval.cards.records import TaskCard
from vgen_eval.errors import BadSample, CardError, MissingData
from vgen_eval.plugins import Catalog
from vgen_eval_plugins.datasets.opinion_scores import OpinionScores

SIZES = {
    "koniq": 10_073, "spaq": 11_125, "livefb": 39_810, "livec": 1169, "cgiqa": 6000,
    "agiqa": 2982, "kadid": 10_125,
}  # fmt: skip
"""Pictures of each set as the paper used it."""


def task_card(name: str) -> TaskCard:
    _, head = Catalog.discover().find("task", f"quality/{name}")
    card = load_card(head.path).record
    assert isinstance(card, TaskCard)
    return card


def reader_of(root: Path, options: dict[str, Any]) -> OpinionScores:
    given = convert(OpinionScores.Options, options, file="test")
    return OpinionScores(given, root=root, folder=root)


def listed(root: Path, records: Sequence[Any], **options: Any) -> OpinionScores:
    (root / "set.json").write_text(json.dumps(records))
    return reader_of(root, {"file": "set.json", **options})


@pytest.mark.parametrize("name", sorted(SETS))
def test_the_layout_of_each_set_is_read(tmp_path: Path, name: str) -> None:
    card, expected = task_card(name), write(tmp_path, name)
    assert card.dataset.n == SIZES[name]
    reader = reader_of(tmp_path / str(card.dataset.root), dict(card.dataset.options))
    items = {item.id: item for item in reader.index()}
    assert len(items) == (6000 if name == "cgiqa" else len(expected))
    chosen = [items[truth["id"]] for truth in expected]
    assert reader.look(chosen) == []
    assert reader.verify(chosen) == []
    for item, truth in zip(chosen, expected, strict=True):
        sample = reader.load(item)
        assert (sample.target.score, sample.target.part) == (truth["score"], truth["part"])
        assert sample.group == truth["group"]
        assert sample.tags == ({"part": truth["part"]} if truth["part"] else {})
        gap = np.abs(sample.images[0].array.astype(int) - truth["picture"])
        assert gap.max() <= (12 if truth["lossy"] else 0)
    scores = [reader.load(item).target for item in chosen]
    assert all(0 <= target.quality <= 1 for target in scores)


def test_parts_are_told_by_their_place_in_the_list(tmp_path: Path) -> None:
    write(tmp_path, "cgiqa")
    reader = reader_of(tmp_path / "cgiqa", dict(task_card("cgiqa").dataset.options))
    parts = [item.tags["part"] for item in reader.index()]
    assert parts == ["game"] * 3000 + ["movie"] * 3000


def test_records_past_the_last_part_are_refused(tmp_path: Path) -> None:
    records = [{"img_path": f"{at}.png", "gt_score": at} for at in range(6)]
    parts = {"game": 3, "movie": 2}
    with pytest.raises(CardError, match=r"record 6: its parts hold 5 records, and there are 6"):
        listed(tmp_path, records, parts=parts).index()
    # what is here of a longer list has its parts all the same
    tags = [item.tags["part"] for item in listed(tmp_path, records[:4], parts=parts).index()]
    assert tags == ["game", "game", "game", "movie"]


@pytest.mark.parametrize("protocol", ["qbench", "qbench_ensemble", "painted", "painted_bar"])
def test_knowing_the_opinions_correlates_wholly(tmp_path: Path, protocol: str) -> None:
    ids = [truth["id"] for truth in write(tmp_path, "agiqa", samples=8)]
    (card,) = vgen_eval.evaluate(
        tasks=f"quality/agiqa@{protocol}", models=["oracle"], data_root=str(tmp_path),
        samples=ids, output=str(tmp_path / "out"), bounds=False,
    )  # fmt: skip
    found = {score.metric: score.value for score in card.scores if score.subset == "all"}
    assert found["srcc"] == 1.0
    assert found["krcc"] == pytest.approx(1.0)
    assert found["plcc"] == pytest.approx(1.0, abs=1e-3)


def test_a_blind_model_has_no_correlation_and_the_card_says_why(tmp_path: Path) -> None:
    ids = [truth["id"] for truth in write(tmp_path, "livec", samples=5)]
    (card,) = vgen_eval.evaluate(
        tasks="quality/livec", models=["blind"], data_root=str(tmp_path), samples=ids,
        output=str(tmp_path / "out"), bounds=False,
    )  # fmt: skip
    assert card.complete
    assert card.score().value is None
    assert card.score().reason == "constant_input: every prediction is the same"


@pytest.mark.parametrize("score", [None, "", "n/a", True, [3], "nan", {"mean": 3}])
def test_a_score_that_is_none_is_the_sample_s_fault_and_names_its_record(
    tmp_path: Path, score: Any
) -> None:
    write_png(tmp_path / "a.png", np.zeros((8, 8, 3), np.uint8))
    records = [{"img_path": "a.png", "gt_score": score}, {"img_path": "b.png", "gt_score": "3.5 "}]
    reader = listed(tmp_path, [*records, {"img_path": "c.png", "gt_score": 1}])
    with pytest.raises(BadSample, match=r"set.json: record 1 \(a.png\): 'gt_score' is no number"):
        reader.load(reader.index()[0])
    (fault, *_) = reader.verify(reader.index())
    assert "record 1 (a.png)" in fault.message


def test_a_score_that_is_missing_is_one_that_is_none(tmp_path: Path) -> None:
    reader = listed(tmp_path, [{"img_path": "a.png"}, {"img_path": "b.png", "gt_score": 1}])
    with pytest.raises(BadSample, match="no number: None"):
        reader.load(reader.index()[0])


def test_a_picture_listed_twice_is_refused_with_the_cure_or_counted_as_asked(
    tmp_path: Path,
) -> None:
    records = [
        {"img_path": n, "gt_score": s} for n, s in (("a.png", 1), ("b.png", 2), ("a.png", 3))
    ]
    with pytest.raises(CardError, match=r"record 3: 'a.png' stands in the list before"):
        listed(tmp_path, records).index()
    first = listed(tmp_path, records, duplicates="first")
    assert [item.id for item in first.index()] == ["a.png", "b.png"]
    both = listed(tmp_path, records, duplicates="keep").index()
    assert [(item.id, item.group) for item in both] == [
        ("a.png", "a.png"), ("b.png", "b.png"), ("a.png#2", "a.png"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["{", "[]", '{"img_path": "a"}', "[3]", ""])
def test_a_list_that_is_none_is_missing_data(tmp_path: Path, text: str) -> None:
    (tmp_path / "set.json").write_text(text)
    with pytest.raises(MissingData, match=r"set\.json"):
        reader_of(tmp_path, {"file": "set.json"}).index()


def test_what_is_not_there_is_missing_data_or_told_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"gone\.json"):
        reader_of(tmp_path, {"file": "gone.json"}).index()
    reader = listed(tmp_path, [{"img_path": "a.png", "gt_score": 1}])
    assert [problem.path for problem in reader.look(reader.index())] == ["a.png"]
    out = listed(tmp_path, [{"img_path": "../a.png", "gt_score": 1}])
    assert len(out.look(out.index())) == 1
    nameless = listed(tmp_path, [{"gt_score": 1}])
    with pytest.raises(CardError, match="record 1: names no picture"):
        nameless.index()


def test_a_list_may_begin_with_a_mark_and_a_picture_is_one_however_its_path_is_written(
    tmp_path: Path,
) -> None:
    records = [{"img_path": "./b//a.png", "gt_score": 1}, {"img_path": "c.png", "gt_score": 2}]
    (tmp_path / "set.json").write_text(json.dumps(records), "utf-8-sig")
    reader = reader_of(tmp_path, {"file": "set.json"})
    assert [(item.id, item.group) for item in reader.index()] == [
        ("b/a.png", "b/a.png"), ("c.png", "c.png"),
    ]  # fmt: skip
    twice = listed(tmp_path, [*records, {"img_path": "b/./a.png", "gt_score": 1}])
    with pytest.raises(CardError, match=r"record 3: 'b/a\.png' stands in the list before"):
        twice.index()


@pytest.mark.parametrize("depth", [300, 900, 100_000])
def test_a_list_that_is_nested_too_deep_is_named(tmp_path: Path, depth: int) -> None:
    text = '[{"img_path": "a.png", "gt_score": ' + "[" * depth + "]" * depth + "}]"
    write_png(tmp_path / "a.png", np.zeros((4, 4, 3), np.uint8))
    (tmp_path / "set.json").write_text(text)
    reader = reader_of(tmp_path, {"file": "set.json"})
    with pytest.raises((BadSample, MissingData), match=r"set\.json.*(no number: list|too deep)"):
        reader.load(reader.index()[0])


@pytest.mark.parametrize("group", ["(", "x", "(a)(b)"])
def test_a_pattern_of_groups_has_one_bracket(tmp_path: Path, group: str) -> None:
    with pytest.raises(CardError, match=r"pattern|brackets"):
        reader_of(tmp_path, {"file": "set.json", "group": group})


@pytest.mark.parametrize("name", sorted(SIZES))
def test_every_set_is_asked_as_the_paper_asks_and_all_words_at_once(name: str) -> None:
    card = task_card(name)
    assert card.default_protocol == "qbench"
    for label in ("qbench", "qbench_ensemble", "qbench_argmax"):
        (answer,) = card.protocols[label].answers
        assert answer.prompt == {"mid": "Rate the quality of the image."}
        assert answer.prefix == "The quality of the image is"
        assert answer.choices == ("good", "fine", "high", "poor", "bad", "low")
    (answer,) = card.protocols["qbench"].answers
    assert answer.options == {"temperature": 100, "positive": ["good"], "negative": ["poor"]}
    assert card.protocols["qbench"].failure_value == "no_quality"
    (metric,) = card.protocols["qbench"].metrics
    assert metric.options == ({"by_part": True} if name == "cgiqa" else {})
    for label in ("painted", "painted_bar"):
        (painted,) = card.protocols[label].answers
        assert set(painted.prompt) == {"short", "mid", "long"}
