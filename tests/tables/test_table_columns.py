"""What may share a column, what is set apart, and under which head."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from tablekit import changed, find, head_names, look
from vgen_eval.errors import UsageError
from vgen_eval.results.figures.chosen import choose
from vgen_eval.results.reading import Run
from vgen_eval.results.tables.build import make_table

COUNTING = "samples/counting"


def test_models_by_tasks_hold_the_cards_numbers(results: Path) -> None:
    runs = [run for run in find(results) if run.card.model != "seven"]
    table = make_table(runs)
    rows, cols = head_names(table)
    assert rows == ["classical", "oracle (ceiling)", "blind (floor)"]
    assert sorted(cols) == [COUNTING, "samples/referring", "samples/semantic"]
    for row, col, cell in table.filled():
        (run,) = (r for r in runs if (r.card.model, r.card.task) == (row.labels[0], col.labels[0]))
        score = run.card.score()
        assert (cell.value, cell.low, cell.high) == (score.value, score.ci95.low, score.ci95.high)
        assert (cell.n, cell.run) == (score.n, run.card.run)
    counting = table.cols[cols.index(COUNTING)]
    assert counting.n == "13"
    assert counting.measure is not None
    assert (counting.measure.metric, counting.measure.unit) == ("mae", "objects")
    assert not counting.measure.higher_is_better


def test_answer_forms_never_share_a_column(results: Path) -> None:
    table = make_table(find(results, task=COUNTING))
    _, cols = head_names(table)
    assert cols == [f"{COUNTING}, answer.form image", f"{COUNTING}, answer.form text"]
    assert look(table, "seven", cols[1]).answer == "text"
    assert all(c.name != cols[0] for r, c, _ in table.filled() if r.name == "seven")
    (note,) = (note.text for note in table.notes if note.text.startswith(COUNTING))
    assert "set apart" in note
    assert "decoder.name" in note


def test_prompts_samples_and_attempts_are_set_apart_by_what_differs(variants: Path) -> None:
    table = make_table(find(variants))
    _, cols = head_names(table)
    assert len(cols) == 4
    told = {field for head in table.cols for field, _ in head.apart}
    assert told == {"samples.n", "attempts", "prompt.variant"}
    by_n = {
        (dict(head.apart)["samples.n"], dict(head.apart)["prompt.variant"]): head
        for head in table.cols
    }
    assert by_n["5", "mid"].n == "5"
    assert by_n["13", "short"].n == "13"


def test_an_override_makes_a_row_headed_by_what_differs(variants: Path) -> None:
    table = make_table(find(variants))
    rows, _ = head_names(table)
    assert sorted(rows) == ["classical, seed_base 0", "classical, seed_base 1"]
    (note,) = (note.text for note in table.notes if note.text.startswith("classical: "))
    assert "model.generation.seed" in note
    seeded = next(head for head in table.rows if head.apart[0][1] == "1")
    (cell,) = (cell for row, _, cell in table.filled() if row is seeded)
    assert cell.n == 13
    assert cell.prompt == "mid"


def test_prompts_as_columns_need_no_words_about_prompts(variants: Path) -> None:
    runs = [run for run in find(variants) if run.card.selection["attempts"] == 1]
    runs = [run for run in runs if run.card.selection["samples"] == 13]
    table = make_table(runs, cols=["prompt"])
    assert sorted(head_names(table)[1]) == ["mid", "short"]


def test_tasks_and_models_turn_round(results: Path) -> None:
    runs = [run for run in find(results) if run.card.model != "seven"]
    table, turned = make_table(runs), make_table(runs, rows=["task"], cols=["model"])
    assert head_names(turned) == head_names(table)[::-1]
    assert list(zip(*turned.cells, strict=True)) == list(table.cells)
    assert [head.measure for head in turned.rows] == [head.measure for head in table.cols]


def test_tags_come_from_the_card(counting: Run) -> None:
    table = make_table([counting], cols=["tag:density"])
    names = ["all", *(f"density={d}" for d in ("dense", "medium", "none", "sparse"))]
    assert head_names(table)[1] == names
    for name in names:
        assert look(table, "classical", name).value == counting.card.score(subset=name).value


def test_metrics_as_columns_are_all_or_those_named(counting: Run) -> None:
    known = list(dict.fromkeys(score.metric for score in counting.card.scores))
    assert head_names(make_table([counting], cols=["metric"]))[1] == known
    several = make_table([counting], metrics=["rmse", "mae"])
    assert head_names(several)[1] == [f"{COUNTING}, rmse", f"{COUNTING}, mae"] or (
        [head.labels for head in several.cols] == [(COUNTING, "rmse"), (COUNTING, "mae")]
    )


def test_runs_that_differ_in_versions_alone_give_the_newest(counting: Run) -> None:
    older = changed(
        counting, run="runs/older", versions={"numpy": "1.26.4"},
        volatile={"finished": "2020-01-01T00:00:00Z"},
    )  # fmt: skip
    table = make_table([older, counting])
    (cell,) = (cell for _, _, cell in table.filled())
    assert cell.run == counting.card.run
    (note,) = (note.text for note in table.notes if "alike" in note.text)
    assert "2 runs alike but for versions (numpy 1.26.4 and" in note


def test_data_of_another_fingerprint_is_another_column(counting: Run) -> None:
    other = changed(counting, model="other", dataset_info={"fingerprint": "f" * 64})
    table = make_table([counting, other])
    assert [len(head.apart) for head in table.cols] == [1, 1]
    assert {head.apart[0][0] for head in table.cols} == {"data.fingerprint"}
    assert all(value.startswith("#") for head in table.cols for _, value in head.apart)
    assert sum(cell is not None for line in table.cells for cell in line) == 2


@pytest.mark.parametrize(
    ("rows", "cols", "metrics", "told"),
    [
        (["modle"], ["task"], [], "Nearest: model"),
        (["model"], ["model"], [], "'model' stands 2 times"),
        (["model"], ["tag:"], [], "no 'tag:'"),
        (["model"], ["task:x"], [], "no 'task:x'"),
        (["model"], ["tag:densty"], [], "Nearest: density"),
        (["model"], ["task"], ["mea"], "Nearest: mae"),
    ],
)
def test_words_that_mean_nothing_are_told_with_the_nearest(
    rows: list[str], cols: list[str], metrics: list[str], told: str, counting: Run
) -> None:
    with pytest.raises(UsageError) as caught:
        make_table([counting], rows=rows, cols=cols, metrics=metrics)
    assert told in str(caught.value)


def test_a_metric_that_some_tasks_lack_leaves_their_runs_out_with_a_note(results: Path) -> None:
    runs = find(results, model="classical")
    table = make_table(runs, metrics=["giou"])
    assert head_names(table)[1] == ["samples/referring"]
    (left,) = (note.text for note in table.notes if "left out" in note.text)
    assert left == (
        "2 tasks have no giou, left out: samples/counting@standard, samples/semantic@standard"
    )
    fewer = make_table(
        [run for run in runs if run.card.task != "samples/semantic"], metrics=["giou"]
    )
    assert [note.text for note in fewer.notes] == [
        "1 task has no giou, left out: samples/counting@standard"
    ]


def test_tags_that_tasks_lack_are_one_line(results: Path) -> None:
    table = make_table(find(results, model="classical"), cols=["tag:density"])
    assert [note.text for note in table.notes if "left out" in note.text] == [
        "2 tasks have no tag:density, left out: samples/referring@standard, "
        "samples/semantic@standard"
    ]


def test_metrics_and_tags_of_several_tasks_are_laid_out_by_task_first(results: Path) -> None:
    runs = find(results, model="classical")
    tasks = {run.card.task for run in runs}
    for rows, cols in ((["model"], ["metric"]), (["model"], ["tag"]), (["metric"], ["model"])):
        table = make_table(runs, rows=rows, cols=cols)
        told, heads = (
            (table.rows_by, table.rows) if cols == ["model"] else (table.cols_by, table.cols)
        )
        assert told[0] == "task"
        came = [head.labels[0] for head in heads]
        assert set(came) == tasks
        assert sum(a != b for a, b in pairwise(came)) == len(tasks) - 1  # none in two places
        assert all(head.apart == () for head in heads)


def test_of_one_task_no_axis_and_no_head_says_it_but_the_caption(counting: Run) -> None:
    table = make_table([counting], cols=["metric"])
    assert table.cols_by == ("metric",)
    assert "Task: samples/counting@standard." in table.caption
    assert not any(line.startswith("Task:") for line in make_table([counting]).caption)


def test_predictions_made_elsewhere_are_one_row_by_their_name(theirs: Run) -> None:
    elsewhere = changed(theirs, task="samples/more", model_info={"options": {"sha256": "9" * 64}})
    table = make_table([theirs, elsewhere])
    assert head_names(table) == (["theirs"], [COUNTING, "samples/more"])
    assert list(choose([theirs]).runs) == ["theirs"]


def test_two_sets_of_one_name_and_task_are_told_apart_by_their_digests(theirs: Run) -> None:
    again = changed(theirs, model_info={"options": {"sha256": "9" * 64}})
    more = changed(theirs, task="samples/more", model_info={"options": {"sha256": "8" * 64}})
    told = f"theirs, model.predictions {theirs.card.model_info['options']['sha256'][:12]}"
    rows, _ = head_names(make_table([theirs, again]))
    assert rows == [told, "theirs, model.predictions 999999999999"]
    rows, _ = head_names(make_table([theirs, again, more]))
    assert len(rows) == 3  # of the other task nobody knows which of the two it is
    assert told in rows
