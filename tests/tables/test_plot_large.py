"""Numbers that no axis can hold are left out of figures, and their captions say so."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tablekit import changed, find, scored
from vgen_eval.errors import NotRunnable
from vgen_eval.results.figures import style
from vgen_eval.results.figures.attempts import draw_attempts, read_attempts
from vgen_eval.results.figures.chosen import choose
from vgen_eval.results.figures.efficiency import draw_efficiency, read_efficiency
from vgen_eval.results.figures.tags import draw_tags, read_tags
from vgen_eval.results.reading import Run

pytest.importorskip("matplotlib")

HUGE = 1.7e308


def huge(run: Run, value: float = HUGE) -> Run:
    """The run under another name, all its values that large."""
    scores = (msgspec.structs.replace(score, value=value) for score in run.card.scores)
    return changed(run, model="huge", scores=tuple(scores))


@pytest.mark.parametrize("value", [HUGE, -HUGE, 2e100])
def test_efficiency_leaves_it_out(value: float, counting: Run) -> None:
    record = read_efficiency(choose([counting, huge(counting, value)]))
    assert [point["name"] for point in record["points"]] == ["classical"]
    assert record["caption"].endswith("; left out, too large to draw: huge")
    assert len(draw_efficiency(record, "png")) > 5000
    with pytest.raises(NotRunnable, match="huge: too large to draw"):
        read_efficiency(choose([huge(counting, value)]))


def test_so_do_an_interval_and_a_bound(counting: Run) -> None:
    wide = scored(counting, 1.0, low=0.0, high=HUGE, model="wide")
    floor = changed(huge(counting), model_info={"role": "floor"})
    record = read_efficiency(choose([counting, wide, floor]))
    assert (len(record["points"]), record["bounds"]) == (1, [])
    assert record["caption"].endswith("left out, too large to draw: wide; huge")


def test_tags_say_it_in_place_of_the_bar(counting: Run) -> None:
    record = read_tags(choose([counting, huge(counting)]), ["density"])
    assert record["caption"].endswith("huge, density=sparse")
    assert "; left out, too large to draw: huge, all; huge, density=dense; " in record["caption"]
    assert record["bars"][1]["values"][0]["value"] == HUGE
    svg = draw_tags(record, "svg").decode()
    assert svg.count("too large</text>") + svg.count(">too large<") >= 5
    assert len(draw_tags(read_tags(choose([huge(counting)]), ["density"]), "png")) > 5000


def test_attempts_leave_the_run_out(variants: Path) -> None:
    (run,) = (run for run in find(variants) if run.card.selection["attempts"] == 3)
    record = read_attempts(choose([run, huge(run)]))
    assert [curve["name"] for curve in record["curves"]] == ["classical"]
    assert record["caption"].endswith("left out, too large to draw: huge")
    assert len(draw_attempts(record, "png")) > 5000
    with pytest.raises(NotRunnable, match="huge: too large to draw"):
        read_attempts(choose([huge(run)]))


def test_the_largest_that_is_drawn_can_be(counting: Run) -> None:
    for value in (style.LARGEST, -style.LARGEST):
        chosen = choose([counting, huge(counting, value)])
        bars, points = read_tags(chosen, ["density"]), read_efficiency(chosen)
        assert "too large" not in bars["caption"] + points["caption"]
        assert len(draw_tags(bars, "png")) > 5000
        assert len(draw_efficiency(points, "png")) > 5000
