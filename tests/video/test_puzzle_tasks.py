"""The shipped puzzles: pairs, ceiling, floor, metric, and what happens without PyAV."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from vgen_eval.engine.evaluate import evaluate
from vgen_eval.errors import BadSample, MissingExtra
from vgen_eval.types import Item
from vgen_eval_plugins.video.puzzles.reader import PuzzleOptions, Puzzles
from vgen_eval_plugins.video.puzzles.unsolved import UnsolvedValue
from vgen_eval_plugins.video.puzzles.verdict import FAULTS, Puzzle, Unsolved, Verdict

SMALL = {"width": 320, "height": 192}


def reader(puzzle: str, **options: object) -> Puzzles:
    made = PuzzleOptions(puzzle=puzzle, **{**SMALL, **options})  # type: ignore[arg-type]
    return Puzzles(made, root=None, folder=Path())


@pytest.mark.parametrize("puzzle", ["maze", "hanoi"])
def test_the_two_styles_of_a_puzzle_are_one_pair_with_one_truth(puzzle: str) -> None:
    data = reader(puzzle, sizes=(2, 3), seeds=2)
    items = data.index()
    assert len(items) == 8
    assert len({item.id for item in items}) == 8
    assert [item.tags["level"] for item in items] == ["1"] * 4 + ["2"] * 4
    for plain, real in zip(items[::2], items[1::2], strict=True):
        assert plain.group == real.group == plain.tags["pair"] == real.tags["pair"]
        assert (plain.tags["style"], real.tags["style"]) == ("abstract", "real")
        a, b = data.load(plain), data.load(real)
        assert a.images[0].sha256 != b.images[0].sha256
        if puzzle == "maze":
            assert a.target.maze == b.target.maze
        else:
            assert (a.target.start, a.target.goal, a.target.colours) == (
                b.target.start,
                b.target.goal,
                b.target.colours,
            )


def test_an_item_of_another_data_set_is_a_bad_sample() -> None:
    with pytest.raises(BadSample, match="no puzzle"):
        reader("maze").load(Item(id="x", group="x"))


@pytest.mark.parametrize(
    ("puzzle", "options", "reason"),
    [
        ("maze", {"sizes": (40,)}, "go to 16"),
        ("hanoi", {"sizes": (7,)}, "go to 6"),
        ("maze", {"styles": ("real", "real")}, "twice"),
    ],
)
def test_options_that_cannot_be_drawn_are_refused(
    puzzle: str, options: dict[str, object], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        reader(puzzle, **options)


@pytest.mark.parametrize("task", ["samples/maze", "samples/hanoi"])
def test_the_truth_scores_one_and_a_blind_answer_nothing(task: str, tmp_path: Path) -> None:
    (card,) = evaluate(tasks=task, model="oracle", output=tmp_path)
    assert card.score().value == 1.0
    assert card.counts.statuses == {"ok": 4}
    (floor,) = evaluate(tasks=task, model="blind", output=tmp_path)
    assert floor.score().value == 0.0
    assert floor.counts.infrastructure == 0


@pytest.mark.parametrize("puzzle", ["maze", "hanoi"])
def test_without_the_library_there_is_no_index(
    puzzle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(MissingExtra, match="'video'") as caught:
        reader(puzzle).index()
    assert caught.value.cure == "pip install 'vgen-eval[video]'"


class Trace:
    """A prediction that comes to a given verdict."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict

    def check(self, target: object) -> Verdict:
        return self.verdict


def test_the_metric_counts_solved_progress_and_faults() -> None:
    metric = Puzzle(Puzzle.Options())
    found = [
        metric.update(Trace(Verdict(1.0)), None, None),
        metric.update(Trace(Verdict(0.5, ("jumped",))), None, None),
        metric.update(Trace(Verdict(0.25, ("goal_not_reached",))), None, None),
        metric.update(Unsolved(), None, None),
    ]
    assert [metric.flags(statistics) for statistics in found] == [
        [], ["jumped"], ["goal_not_reached"], ["goal_not_reached"],
    ]  # fmt: skip
    total = found[0]
    for more in found[1:]:
        total = metric.merge(total, more)
    assert metric.compute(total) == {
        "solved": 0.25, "progress": 1.75 / 4, "rule_broken": 0.25, "goal_not_reached": 0.5,
    }  # fmt: skip
    assert set(FAULTS) < set(total)


def test_the_failure_value_reads_no_answer() -> None:
    made = UnsolvedValue(UnsolvedValue.Options())
    assert made.decode(None, None) == made.decode(b"x", None)  # type: ignore[arg-type]
