"""The numbers of a comparison against scipy and plain loops."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
import vgen_eval
from comparekit import Compare, groups_of, lines_of, run_path, score_values
from vgen_eval.cli import main
from vgen_eval.types import Request


def _by_group(run: Path, values: dict[str, float]) -> list[float]:
    groups = groups_of(run)
    sums: dict[str, float] = {}
    for sample, value in values.items():
        sums[groups[sample]] = sums.get(groups[sample], 0.0) + value
    return [sums[name] for name in sorted(sums)]


def _pair(record: dict[str, Any], metric: int = 0, pair: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = record["measures"][metric]["parts"][0]["pairs"][pair]
    return found


def test_a_mean_differs_as_a_plain_loop_says(output: Path, compare: Compare) -> None:
    runs = [run_path(output, name, "counting") for name in ("classical", "blind")]
    first, second = (score_values(run, "mae") for run in runs)
    gaps = {name: second[name] - first[name] for name in first}
    record = compare(*runs)
    pair = _pair(record)
    assert record["runs"][0]["label"] == "classical"
    part = record["measures"][0]["parts"][0]
    assert [v["value"] for v in part["values"]] == [
        pytest.approx(sum(values.values()) / 13) for values in (first, second)
    ]
    assert pair["difference"] == pytest.approx(sum(gaps.values()) / 13, rel=1e-12)
    assert (part["n"], part["clusters"], pair["n"]) == (13, 10, 13)
    assert pair["interval"]["low"] <= pair["difference"] <= pair["interval"]["high"]
    assert pair["wins"] == sum(gap < 0 for gap in gaps.values())  # lower is better
    assert pair["ties"] == sum(gap == 0 for gap in gaps.values())
    assert pair["losses"] == sum(gap > 0 for gap in gaps.values())
    far = sorted(gaps, key=lambda name: -abs(gaps[name]))[:5]
    assert [entry["sample"] for entry in pair["farthest"]] == far
    for entry in pair["farthest"]:
        assert (entry["first"], entry["second"]) == (
            first[entry["sample"]], second[entry["sample"]],
        )  # fmt: skip


def test_the_p_value_of_a_mean_is_scipys(output: Path, compare: Compare) -> None:
    runs = [run_path(output, name, "counting") for name in ("classical", "copy")]
    sums = [_by_group(run, score_values(run, "mae")) for run in runs]
    wanted = scipy.stats.permutation_test(
        sums, lambda a, b, axis: np.mean(b - a, axis=axis), permutation_type="samples",
        vectorized=True, n_resamples=np.inf,
    )  # fmt: skip
    test = _pair(compare(*runs))["test"]
    assert test["exact"]
    assert test["permutations"] == 2**10
    assert test["p_value"] == pytest.approx(wanted.pvalue, rel=1e-12)


def _miou(statistics: list[dict[str, Any]]) -> float:
    """Mean over the classes that are anywhere, in plain numbers."""
    names = ("intersection", "pred", "target")
    both, pred, target = (
        [sum(column) for column in zip(*(one[name] for one in statistics), strict=True)]
        for name in names
    )
    shares = [i / (p + t - i) for i, p, t in zip(both, pred, target, strict=True) if p + t - i > 0]
    return sum(shares) / len(shares)


def test_a_pooled_value_is_made_again_from_exchanged_statistics(
    output: Path, compare: Compare
) -> None:
    runs = [run_path(output, name, "semantic") for name in ("copy", "blind")]
    first, second = ([line["statistics"]["label_iou"] for line in lines_of(r)] for r in runs)
    observed = _miou(second) - _miou(first)
    as_large = 0
    for sides in itertools.product((False, True), repeat=len(first)):
        mine = [b if turned else a for a, b, turned in zip(first, second, sides, strict=True)]
        theirs = [a if turned else b for a, b, turned in zip(first, second, sides, strict=True)]
        as_large += abs(_miou(theirs) - _miou(mine)) >= abs(observed) * (1 - 1e-9)
    record = compare(*runs)
    assert record["measures"][0]["metric"] == "miou"
    assert record["measures"][0]["aggregation"] == "pooled"
    pair = _pair(record)
    assert pair["difference"] == pytest.approx(observed, rel=1e-12)
    assert pair["test"]["p_value"] == pytest.approx(as_large / 2**8, abs=1e-12)
    means = [np.mean(list(score_values(run, "miou").values())) for run in runs]
    assert pair["difference"] != pytest.approx(means[1] - means[0], rel=1e-3)


def test_p_values_are_holms_over_all_that_is_shown(output: Path, compare: Compare) -> None:
    runs = [run_path(output, name, "counting") for name in ("copy", "classical", "blind", "oracle")]
    record = compare(*runs, "--pairs", "all", "--metric", "mae", "--metric", "rmse")
    pairs = [p for m in record["measures"] for part in m["parts"] for p in part["pairs"]]
    assert record["tests"] == len(pairs) == 12
    raw = [pair["test"]["p_value"] for pair in pairs]
    order = sorted(range(12), key=raw.__getitem__)
    so_far = 0.0
    for rank, at in enumerate(order):
        so_far = max(so_far, min(1.0, raw[at] * (12 - rank)))
        assert pairs[at]["p_corrected"] == pytest.approx(so_far, rel=1e-12)


def test_what_a_difference_needs_is_the_closed_form(
    counted: dict[str, Path], compare: Compare
) -> None:
    pair = _pair(compare(counted["off"], counted["mixed"]))
    gaps = {name: value - 1 for name, value in score_values(counted["mixed"], "mae").items()}
    assert pair["p_corrected"] > 0.05
    groups = groups_of(counted["off"])
    sizes = [list(groups.values()).count(name) for name in sorted(set(groups.values()))]
    sums = _by_group(counted["off"], gaps)
    mean = sum(sums) / 13
    residuals = [s - size * mean for s, size in zip(sums, sizes, strict=True)]
    error = math.sqrt(10 / 9 * sum(r * r for r in residuals)) / 13
    deviation = error * math.sqrt(10)
    assert pair["deviation"] == pytest.approx(deviation, rel=1e-9)
    t = scipy.stats.t
    wanted = next(
        n for n in range(2, 10**6)
        if (t.ppf(0.975, n - 1) + t.ppf(0.8, n - 1)) * deviation / math.sqrt(n) <= abs(mean)
    )  # fmt: skip
    assert pair["needed"]["groups"] == max(wanted, 6)
    assert pair["needed"]["samples"] == math.ceil(max(wanted, 6) * 13 / 10)


def test_a_known_difference_is_found_and_needs_nothing(
    counted: dict[str, Path], compare: Compare
) -> None:
    pair = _pair(compare(counted["right"], counted["off"]))
    assert (pair["difference"], pair["wins"], pair["ties"], pair["losses"]) == (1.0, 0, 0, 13)
    assert (pair["interval"]["low"], pair["interval"]["high"]) == (1.0, 1.0)
    assert pair["p_corrected"] == 2 / 2**10
    assert pair["needed"] is None


def test_all_ties_are_equal_and_show_nothing(counted: dict[str, Path], compare: Compare) -> None:
    record = compare(counted["mixed"], counted["again"], "--metric", "all")
    for measure in record["measures"]:
        [pair] = measure["parts"][0]["pairs"]
        assert pair["difference"] == 0
        assert pair["p_corrected"] == 1
        assert pair["needed"] is None
        assert pair["farthest"] == []
        assert (pair["wins"], pair["ties"], pair["losses"]) == (0, 13, 0)


def test_a_tag_parts_the_samples(output: Path, compare: Compare) -> None:
    runs = [run_path(output, name, "counting") for name in ("oracle", "copy")]
    record = compare(*runs, "--by", "density")
    parts = record["measures"][0]["parts"]
    assert [part["subset"] for part in parts] == [
        "all", "density=dense", "density=medium", "density=none", "density=sparse",
    ]  # fmt: skip
    assert sum(part["n"] for part in parts[1:]) == parts[0]["n"] == 13
    total = sum(part["n"] * part["pairs"][0]["difference"] for part in parts[1:])
    assert total / 13 == pytest.approx(parts[0]["pairs"][0]["difference"], rel=1e-12)
    assert record["tests"] == 5


def test_what_is_needed_is_for_as_many_tests_as_are_shown(
    counted: dict[str, Path], compare: Compare
) -> None:
    alone = _pair(compare(counted["off"], counted["mixed"]))
    record = compare(counted["off"], counted["mixed"], counted["right"], "--metric", "all")
    pair, tests = _pair(record), record["tests"]
    assert tests == 2 * len(record["measures"])
    assert pair["difference"] == alone["difference"]
    t = scipy.stats.t
    wanted = next(
        n for n in range(2, 10**6)
        if (t.ppf(1 - 0.025 / tests, n - 1) + t.ppf(0.8, n - 1)) * pair["deviation"] / math.sqrt(n)
        <= abs(pair["difference"])
    )  # fmt: skip
    assert pair["needed"]["groups"] == wanted > alone["needed"]["groups"]


def test_few_groups_cannot_show_what_is_plain(tmp_path: Path, compare: Compare) -> None:
    runs = []
    for name, answer in (("none", "0"), ("million", "1000000")):
        [card] = vgen_eval.evaluate(
            tasks="samples/counting", model=lambda request, answer=answer: answer, model_name=name,
            forms=("text",), samples=["coins", "chelsea-eyes", "astronaut-stars"],
            output=str(tmp_path), bounds=False,
        )  # fmt: skip
        runs.append(tmp_path / card.run)
    pair = _pair(compare(*runs))
    assert pair["test"]["p_value"] == 2 / 2**3
    assert pair["needed"]["groups"] == 6  # 2 / 2^6 is the first below 0.05


def test_every_pair_is_over_the_samples_that_all_have_scored(
    tmp_path: Path, compare: Compare, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(request: Request) -> str:
        if request.sample == "coins":
            raise RuntimeError("no connection")
        return "4"

    runs = {}
    for name, function in (("one", lambda _: "1"), ("five", lambda _: "5"), ("fails", fails)):
        [card] = vgen_eval.evaluate(
            tasks="samples/counting", model=function, model_name=name, forms=("text",),
            output=str(tmp_path), bounds=False,
        )  # fmt: skip
        runs[name] = tmp_path / card.run
    record = compare(*runs.values())
    part = record["measures"][0]["parts"][0]
    assert [run["complete"] for run in record["runs"]] == [True, True, False]
    assert [part["n"], *(pair["n"] for pair in part["pairs"])] == [12, 12, 12]
    one, five = (score_values(runs[name], "mae") for name in ("one", "five"))
    gaps = [five[name] - one[name] for name in one if name != "coins"]
    assert part["pairs"][0]["difference"] == pytest.approx(sum(gaps) / 12)
    assert main(["compare", *map(str, runs.values())]) == 0
    text = capsys.readouterr().out
    assert "run 3, fails: attempts without a score" in text
    assert "of 13 samples, 12 are common to all and scored by all" in text
