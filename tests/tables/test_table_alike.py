"""Runs that agree in all that a result hangs on: the newest is shown, the others are told."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
from tablekit import changed, scored
from vgen_eval.results.figures.chosen import choose
from vgen_eval.results.reading import Run, name_apart, read_run
from vgen_eval.results.tables.build import make_table

OLD = {"finished": "2020-01-01T00:00:00Z"}


def alike_note(runs: list[Run], **words: list[str]) -> str:
    (note,) = (note.text for note in make_table(runs, **words).notes if "alike" in note.text)
    return note


def copied(run: Run, folder: Path) -> Run:
    """The run once more, in another folder."""
    return read_run(Path(shutil.copytree(run.path, folder / run.path.name)))


def test_alike_in_everything_names_both(counting: Run, tmp_path: Path) -> None:
    again = changed(copied(counting, tmp_path), volatile=OLD)
    runs = [again, counting]
    name_apart(runs)
    assert again.name != counting.name
    assert alike_note(runs) == (
        "classical, samples/counting@standard: 2 runs alike in everything; "
        f"the newest is shown, {counting.name}, not {again.name}"
    )


def test_other_answers_are_told_with_both_values(counting: Run, tmp_path: Path) -> None:
    older = copied(counting, tmp_path)
    runs = [
        scored(older, 9.25, content_digest="0" * 64, volatile=OLD),
        scored(counting, 8.5),
    ]
    name_apart(runs)
    told = (
        "classical, samples/counting@standard: 2 runs alike in everything but their answers; "
        f"the newest is shown, mae 8.5 in {runs[1].name}, not mae 9.25 in {runs[0].name}"
    )
    assert alike_note(runs) == told
    assert told in choose(runs).notes
    (cell,) = (cell for _, _, cell in make_table(runs).filled())
    assert cell.value == 8.5


def test_runs_of_one_name_are_told_by_their_paths(counting: Run, tmp_path: Path) -> None:
    older = changed(copied(counting, tmp_path), content_digest="0" * 64, volatile=OLD)
    older.name = counting.name
    value = f"{counting.card.score().value:.6g}"
    assert f"not mae {value} in {older.path}" in alike_note([older, counting])


def test_versions_and_answers_are_both_told(counting: Run) -> None:
    older = changed(counting, content_digest="0" * 64, volatile=OLD, versions={"numpy": "1.26.4"})
    note = alike_note([older, counting])
    assert "alike but for versions (numpy 1.26.4 and " in note
    assert ") and their answers; the newest is shown, mae " in note


def test_many_values_are_one_note_with_the_first_that_differs(counting: Run) -> None:
    older = changed(
        counting, content_digest="0" * 64, volatile=OLD,
        scores=tuple(
            msgspec.structs.replace(score, value=1.5) if score.metric != "mae" else score
            for score in counting.card.scores
        ),
    )  # fmt: skip
    note = alike_note([older, counting], cols=["metric"])
    assert "not " in note
    assert " 1.5 in " in note
    assert note.endswith("more values differ")
