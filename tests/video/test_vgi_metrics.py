"""VGI-Bench's averages, worked by hand."""

from __future__ import annotations

from typing import Any

import pytest
from vgen_eval.types import NoOptions
from vgen_eval_plugins.video.vgi.metrics import Vgi, VgiSuccess, VgiSuccessOfAll
from vgen_eval_plugins.video.vgi.records import VgiVerdict
from vgikit import truth_of, values_of

VIDEO, IMAGE = Vgi(NoOptions()), VgiSuccess(NoOptions())
OF_ALL = VgiSuccessOfAll(NoOptions())


def verdict(rubric: Any, completeness: Any, final: Any, success: Any) -> VgiVerdict:
    return VgiVerdict(rubric=rubric, completeness=completeness, final=final, success=success)


def of(task: str, *verdicts: VgiVerdict) -> list[tuple[VgiVerdict, Any]]:
    return [(entry, truth_of(task=task)) for entry in verdicts]


def test_means_are_over_instances_tasks_and_domains() -> None:
    one, none = verdict(1.0, 1.0, 1.0, True), verdict(0.5, 0.0, 0.0, False)
    pairs = [
        *of("maze_square", one, one, one, none),  # a structured puzzle: 3/4
        *of("euler_path", none, none),  # another: 0
        *of("sorting", verdict(0.5, 1.0, 0.5, False)),  # visual organization: 1/2
    ]
    values = values_of(VIDEO, pairs)
    assert values["final"] == pytest.approx(3.5 / 7)
    assert values["rubric"] == pytest.approx((3 + 1.5 + 0.5) / 7)
    assert values["completeness"] == pytest.approx(4 / 7)
    assert values["success"] == pytest.approx(3 / 7)
    assert values_of(OF_ALL, pairs) == {"success_of_all": pytest.approx(3 / 7)}
    assert values["final_task_macro"] == pytest.approx((0.75 + 0 + 0.5) / 3)
    assert values["final_domain_macro"] == pytest.approx((3 / 6 + 0.5) / 2)
    assert values["success_task_macro"] == pytest.approx(0.75 / 3)
    assert values["success_domain_macro"] == pytest.approx(0.5 / 2)


def test_what_is_open_leaves_its_mean_and_counts_as_no_success_of_all() -> None:
    pairs = of(
        "gears",
        verdict(1.0, 1.0, 1.0, True),
        verdict(0.5, 1.0, 0.5, None),  # a failed window: its numbers stay
        verdict(1.0, None, None, True),  # an open tier: the checklist decided
    )
    values = values_of(VIDEO, pairs)
    assert values["final"] == pytest.approx(0.75)
    assert values["rubric"] == pytest.approx(2.5 / 3)
    assert values["completeness"] == 1.0
    assert values["success"] == 1.0
    assert values_of(OF_ALL, pairs) == {"success_of_all": pytest.approx(2 / 3)}


def test_nothing_judged_is_none() -> None:
    nothing = of("gears", verdict(None, None, None, None))
    assert set(values_of(VIDEO, nothing).values()) == {None}
    assert values_of(OF_ALL, nothing) == {"success_of_all": 0.0}


def test_pictures_have_success_alone() -> None:
    pairs = of("gears", verdict(None, None, 1.0, True), verdict(None, None, 0.0, False))
    assert values_of(IMAGE, pairs) == {
        "success": 0.5, "success_task_macro": 0.5, "success_domain_macro": 0.5,
    }  # fmt: skip


def test_values_are_those_that_are_declared() -> None:
    for metric in (VIDEO, IMAGE, OF_ALL):
        values = values_of(metric, of("gears", verdict(1.0, 1.0, 1.0, True)))
        assert [value.of for value in metric.values] == list(values)
