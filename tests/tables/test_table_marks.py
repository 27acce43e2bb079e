"""Which value is best, which are never, and what footnotes say."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tablekit import changed, find, look, scored
from vgen_eval.results.reading import Run
from vgen_eval.results.tables.bounds import with_bounds
from vgen_eval.results.tables.build import make_table
from vgen_eval.results.tables.latex import render_latex

COLUMN = "samples/counting"


def best(runs: list[Run]) -> set[str]:
    """Models whose value is marked."""
    return {cell.model for _, _, cell in make_table(runs).filled() if cell.best}


def test_the_lowest_error_is_best_and_so_is_what_holds_it(counting: Run) -> None:
    runs = [
        scored(counting, 2.0, low=1.5, high=2.5, model="a"),
        scored(counting, 2.4, low=1.9, high=3.0, model="b"),  # its interval holds 2.0
        scored(counting, 2.4, low=2.1, high=3.0, model="c"),  # its interval does not
        scored(counting, 2.1, model="d"),  # no interval: alone equal values tie
        scored(counting, 2.0, model="e"),
    ]
    assert best(runs) == {"a", "b", "e"}


def test_the_highest_is_best_where_higher_is_better(results: Path) -> None:
    (run,) = find(results, task="samples/referring", model="classical")
    runs = [scored(run, 0.3, model="a"), scored(run, 0.4, low=0.35, high=0.5, model="b")]
    assert best(runs) == {"b"}


def test_without_any_interval_nothing_is_best_and_the_caption_says_so(counting: Run) -> None:
    runs = [scored(counting, 1.0, model="a"), scored(counting, 2.0, model="b")]
    assert best(runs) == set()
    told = "No best is marked where groups are too few for an interval."
    assert told in make_table(runs).caption
    oracle = scored(counting, 0.0, low=0.0, high=0.0, model="o", model_info={"role": "ceiling"})
    assert best([*runs, oracle]) == set()  # its interval says nothing of the models
    more = [*runs, scored(counting, 3.0, low=2.5, high=3.5, model="c")]
    assert best(more) == {"a"}
    assert told not in make_table(more).caption
    assert told not in make_table(runs[:1]).caption


def test_ceiling_and_floor_are_never_marked(counting: Run) -> None:
    runs = [
        scored(counting, 0.0, model="a", model_info={"role": "ceiling"}),
        scored(counting, 1.0, model="b", model_info={"role": "floor"}),
        scored(counting, 2.0, low=1.5, high=2.5, model="c"),
        scored(counting, 3.0, low=2.6, high=3.5, model="d"),
    ]
    assert best(runs) == {"c"}


def test_one_value_alone_is_no_best(counting: Run) -> None:
    assert best([counting]) == set()


def test_an_incomplete_run_is_marked_and_not_ranked(counting: Run) -> None:
    runs = [
        scored(counting, 1.0, model="a", complete=False),
        scored(counting, 2.0, low=1.5, high=2.5, model="b"),
        scored(counting, 3.0, low=2.6, high=3.5, model="c"),
    ]
    table = make_table(runs)
    assert look(table, "a", COLUMN).marks == ("incomplete",)
    assert best(runs) == {"b"}
    assert [note.text for note in table.notes if note.mark == "‡"] == [
        "the run is incomplete, and not ranked"
    ]


def test_a_run_of_which_no_answer_was_scored_is_marked_and_not_ranked(counting: Run) -> None:
    counts = counting.card.counts
    none = msgspec.structs.replace(counts, answered=0, model_failure=counts.expected)
    runs = [
        scored(counting, 1.0, low=0.5, high=1.5, model="a", counts=none),
        scored(counting, 2.0, low=1.5, high=2.5, model="b"),
        scored(counting, 3.0, low=2.6, high=3.5, model="c"),
        scored(counting, None, reason="no sample was scored", model="d", counts=none),
    ]
    table = make_table(runs)
    assert best(runs) == {"b"}
    assert look(table, "a", COLUMN).marks == ("unanswered",)
    assert look(table, "d", COLUMN).marks == ("a",)  # its footnote says it
    told = "no answer of the run was scored: the value is that of failures, and not ranked"
    assert [note.text for note in table.notes if note.mark == "§"] == [told]
    assert r"\textsuperscript{\S{}}" in render_latex(table)


@pytest.mark.parametrize(
    ("task", "status", "told"),
    [
        ("counting", "reported", True),  # the family
        ("samples/counting", "reported", True),
        ("depth", "reported", False),
        ("counting", "suspected", False),
        ("counting", "none", False),
    ],
)
def test_reported_exposure_has_a_dagger_and_its_source(
    task: str, status: str, told: bool, counting: Run
) -> None:
    exposure = ({"task": task, "status": status, "source": "its paper, table 3"},)
    table = make_table([changed(counting, model_info={"exposure": exposure})])
    assert look(table, "classical", COLUMN).marks == (("exposure",) if told else ())
    notes = [note.text for note in table.notes if note.mark == "†"]
    assert len(notes) == int(told)
    assert all(f"classical, {task}: its paper, table 3" in note for note in notes)


def test_no_value_has_a_letter_for_each_reason(counting: Run) -> None:
    runs = [
        scored(counting, None, reason="no sample was scored", model="a"),
        scored(counting, None, reason="no sample was scored", model="b"),
        changed(counting, model="c", primary="mae_of_nothing"),
        scored(counting, 1.0, model="d"),
    ]
    table = make_table(runs)
    cells = {cell.model: cell for _, _, cell in table.filled()}
    assert cells["a"].marks == cells["b"].marks == ("a",)
    assert cells["c"].marks == ("b",)
    assert cells["c"].value is None
    assert [(note.mark, note.text) for note in table.notes if note.mark] == [
        ("a", "no value: no sample was scored"),
        ("b", "no value: the card holds no mae_of_nothing"),
    ]


def test_a_named_run_brings_its_ceiling_and_floor(counting: Run) -> None:
    runs = with_bounds([counting])
    assert [run.card.model for run in runs] == ["classical", "oracle", "blind"]
    assert with_bounds(runs) == runs


def test_a_run_outside_its_results_folder_brings_none(counting: Run, tmp_path: Path) -> None:
    moved = Run(tmp_path / "moved", counting.card)
    assert with_bounds([moved]) == [moved]
