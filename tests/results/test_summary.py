"""From scores to numbers: denominators, failures, attempts, subsets, bounds."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import Any

import kit
import msgspec
import numpy as np
import pytest
import vgen_eval
from vgen_eval import Request, ResultCard


def said(answers: dict[str, list[Any]]) -> Any:
    """A model that gives each sample's answers, attempt by attempt; an exception is raised."""

    def model(request: Request) -> Any:
        answer = answers[request.sample][request.attempt]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return model


def told(toys: Path, answers: list[Any], *, protocol: Any = None, **options: Any) -> ResultCard:
    """The card of a model that gives sample k the answers[k], one or several attempts."""
    several = [a if isinstance(a, list) else [a] for a in answers]
    task = kit.task(toys, n=len(answers), protocol=protocol, **options)
    return kit.run(
        toys, tasks=task, model=said({f"s{at:03d}": each for at, each in enumerate(several)}),
        forms=["text"], model_name="said", attempts=len(several[0]),
    )  # fmt: skip


REFUSAL = vgen_eval.Refused("no")


# --- denominators and failures ------------------------------------------------------------


def test_failures_are_scored_as_the_failure_value_in_one_number_and_left_out_of_the_other(
    toys: Path,
) -> None:
    answers = ["0", "2", REFUSAL, None, "seven", "5"]
    card = told(toys, answers, protocol={"failure_options": {"number": 10.0}})
    errors = [0, 1, 10 - 2, 10 - 3, 10 - 4, 0]
    mae, rmse = card.score("mae"), card.score("rmse")
    assert mae.value == pytest.approx(sum(errors) / 6)
    assert mae.answered_only == pytest.approx(1 / 3)
    assert rmse.value == pytest.approx(math.sqrt(sum(e * e for e in errors) / 6))
    assert rmse.answered_only == pytest.approx(math.sqrt(1 / 3))
    assert (mae.n, rmse.n) == (6, 6)
    assert card.counts.statuses == {"no_answer": 1, "ok": 3, "refused": 1, "undecodable": 1}
    assert (card.counts.answered, card.counts.model_failure) == (3, 3)
    assert card.complete
    for score in kit.scores(toys, card):
        assert score["substitute"] == (score["status"] != "ok")


def test_a_protocol_that_skips_failures_leaves_them_out_of_both_numbers(toys: Path) -> None:
    card = told(toys, ["1", REFUSAL, None, "5"], protocol={"failure_value": "skip"})
    for score in (card.score("mae"), card.score("rmse")):
        assert score.value == score.answered_only
        assert score.n == 2
    assert card.score("mae").value == 1.5
    assert card.counts.model_failure == 2
    assert card.complete


def test_data_faults_are_in_neither_denominator(toys: Path) -> None:
    card = told(toys, ["1", "1", "9", "4"], no_target=["s001"], bad=["s002"])
    assert card.score("mae").value == (1 + 1) / 2
    assert card.score("mae").n == 2
    assert card.counts.statuses == {"bad_sample": 1, "no_valid_target": 1, "ok": 2}
    assert card.counts.data_fault == 2
    assert card.complete


def test_nothing_to_score_is_null_with_a_reason(toys: Path) -> None:
    card = told(toys, ["1", "1"], no_target=["s000", "s001"])
    for score in card.scores:
        assert score.value is None
        assert score.reason == "no sample was scored"
        assert score.n == 0
    text = (kit.run_folder(toys, card) / "result_card.json").read_text()
    assert kit.strict(text)["scores"][0]["value"] is None


def test_values_that_are_undefined_are_null_and_in_no_mean(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never 0: neither at once, nor read back from the lines."""
    import toybench.parts
    from vgen_eval.engine.rescore import rescore
    from vgen_eval.plugins import Catalog

    a = [1.0, 0.5, math.nan, None]
    b = [1.0, 1.0, 1.0, -math.inf]

    def compute(self: Any, statistics_: Any) -> Any:
        if statistics_["n"] != 1:
            return {"mae": None, "rmse": None}
        at = int(statistics_["abs"])
        return {"mae": a[at], "rmse": b[at]}

    monkeypatch.setattr(toybench.parts.Error, "compute", compute)
    values = [msgspec.structs.replace(v, aggregation="mean") for v in toybench.parts.Error.values]
    monkeypatch.setattr(toybench.parts.Error, "values", tuple(values))
    card = told(toys, [str(2 * n) for n in range(4)])
    written = {s["sample"]: s["values"] for s in kit.scores(toys, card)}
    assert [written[f"s{n:03d}"]["mae"] for n in range(4)] == [1.0, 0.5, None, None]
    again = rescore(kit.run_folder(toys, card), Catalog.discover())
    resumed = told(toys, [str(2 * n) for n in range(4)])
    for found in (card, again, resumed):
        assert found is not None
        assert (found.score("mae").value, found.score("mae").n) == (0.75, 2)
        assert (found.score("rmse").value, found.score("rmse").n) == (1.0, 3)


def test_infrastructure_has_no_score_and_leaves_the_card_incomplete(toys: Path) -> None:
    answers = {"s000": ["1"], "s001": [RuntimeError("down")], "s002": ["2"], "s003": [REFUSAL]}
    results = vgen_eval.evaluate(
        tasks=kit.task(toys, n=4), model=said(answers), forms=["text"], bounds=False,
        output=str(toys / "out"),
    )  # fmt: skip
    (card,) = results
    assert card.counts.infrastructure == 1
    assert (card.score().n, card.score().value) == (3, (1 + 0 + 3) / 3)
    assert not card.complete
    assert results.exit_code() == 1
    assert "**incomplete**" in (kit.run_folder(toys, card) / "result_card.md").read_text()


@pytest.mark.parametrize(("fail_over", "code"), [(None, 0), (0.5, 0), (0.49, 1), (0.0, 1)])
def test_too_many_failures_are_exit_code_1(toys: Path, fail_over: float | None, code: int) -> None:
    answers = {f"s{n:03d}": [REFUSAL if n % 2 else "1"] for n in range(5)}
    results = vgen_eval.evaluate(
        tasks=kit.task(toys, n=5, bad=["s004"]), model=said(answers), forms=["text"], bounds=False,
        output=str(toys / "out"),
    )  # fmt: skip
    assert results.exit_code(fail_over) == code


# --- pooled and mean ----------------------------------------------------------------------


def test_pooled_and_mean_iou_are_each_their_own(tmp_path: Path) -> None:
    """gIoU weighs pictures alike, cIoU weighs pixels: worked out from the model's own masks."""
    chosen = ["coffee-spoon", "coffee-cup"]

    def upper_half(request: Request) -> Any:
        height, width = request.images[0].height, request.images[0].width
        return np.repeat(np.arange(height)[:, None] < height // 2, width, axis=1)

    (card,) = vgen_eval.evaluate(
        tasks="samples/referring", model=upper_half, forms=["mask"], samples=chosen,
        bounds=False, output=str(tmp_path),
    )  # fmt: skip
    (file,) = (tmp_path / card.run / "scores").glob("*.jsonl")
    parts = [line["statistics"]["mask_iou"] for line in kit.lines(file)]
    assert len(parts) == 2
    each = [p["intersection"] / p["union"] for p in parts]
    pooled = sum(p["intersection"] for p in parts) / sum(p["union"] for p in parts)
    assert card.score("giou").value == pytest.approx(statistics.fmean(each))
    assert card.score("ciou").value == pytest.approx(pooled)
    assert abs(pooled - statistics.fmean(each)) > 1e-3
    assert (card.score("giou").aggregation, card.score("ciou").aggregation) == ("mean", "pooled")


def test_a_metric_whose_statistics_do_not_add_up_is_merged(toys: Path) -> None:
    protocol = {"metrics": [{"name": "toybench:middle"}], "primary": "median"}
    card = told(toys, ["0", "3", "9", "3", "4"], protocol=protocol)
    assert card.score("median").value == statistics.median([0, 2, 7, 0, 0])


def test_labels_tell_two_uses_of_a_metric_apart(toys: Path) -> None:
    protocol = {
        "metrics": [{"name": "toybench:error"}, {"name": "toybench:error", "label": "again"}],
        "primary": "again.mae",
    }
    card = told(toys, ["1", "1"], protocol=protocol)
    assert card.score("again.rmse").value == card.score("rmse").value == math.sqrt(0.5)
    with pytest.raises(vgen_eval.VgenEvalError, match="two metrics report 'mae'"):
        told(toys, ["1"], protocol={"metrics": [{"name": "toybench:error"}] * 2})


# --- subsets ------------------------------------------------------------------------------


def test_each_tag_that_divides_the_samples_is_a_subset(toys: Path) -> None:
    card = told(toys, ["0", "3", "2", "5", "5"])
    assert {s.subset for s in card.scores} == {"all", "parity=even", "parity=odd"}
    assert card.score("mae", subset="parity=even").value == pytest.approx(1 / 3)
    assert card.score("mae", subset="parity=odd").value == 2.0
    assert card.score("rmse", subset="parity=odd").value == 2.0
    assert [card.score("mae", subset=f"parity={p}").n for p in ("even", "odd")] == [3, 2]


# --- attempts -----------------------------------------------------------------------------


def test_attempts_are_averaged_and_their_best_is_labelled_oracle(toys: Path) -> None:
    answers = [["4", "1", "0"], ["1", "3", "9"], ["5", REFUSAL, "2"], [None, None, None]]
    card = told(toys, answers, protocol={"failure_options": {"number": 10.0}})
    errors = [[4, 1, 0], [0, 2, 8], [3, 8, 0], [7, 7, 7]]
    assert card.score("mae").value == pytest.approx(statistics.fmean(map(statistics.fmean, errors)))
    answered = [[4, 1, 0], [0, 2, 8], [3, 0]]
    assert card.score("mae").answered_only == pytest.approx(
        statistics.fmean(map(statistics.fmean, answered))
    )
    columns = [[row[a] for row in errors] for a in range(3)]
    rmse = [math.sqrt(statistics.fmean(e * e for e in column)) for column in columns]
    assert card.score("rmse").value == pytest.approx(statistics.fmean(rmse))
    for p in (1, 2, 3):
        best = [min(row[:p]) for row in errors]
        found = card.score("mae", selection=f"best_of_{p}")
        assert found.value == pytest.approx(statistics.fmean(best))
        picked = card.score("rmse", selection=f"best_of_{p}")
        assert picked.value == pytest.approx(math.sqrt(statistics.fmean(b * b for b in best)))
        assert found.n == picked.n == 4
    # answered: three samples, each with the best of what it answered
    only = card.score("mae", selection="best_of_3").answered_only
    assert only == pytest.approx(statistics.fmean([0, 0, 0]))
    text = (kit.run_folder(toys, card) / "result_card.md").read_text()
    assert "Oracle best-of-p" in text
    assert "not a score to rank by" in text


def test_the_curve_over_p_never_gets_worse(toys: Path) -> None:
    rng = np.random.default_rng(3)
    answers = [
        [REFUSAL if rng.random() < 0.3 else str(int(n + rng.integers(-9, 9))) for _ in range(8)]
        for n in range(15)
    ]
    card = told(toys, answers)
    curve = [card.score("mae", selection=f"best_of_{p}").value for p in range(1, 9)]
    assert curve == sorted(curve, reverse=True)  # type: ignore[type-var]
    assert curve[-1] != curve[0]
    failing = [all(isinstance(a, Exception) for a in row) for row in answers]
    assert card.score("mae", selection="best_of_8").n == 15
    assert sum(failing) < 15


def test_a_dataset_level_metric_picks_attempts_by_the_primary(toys: Path) -> None:
    metrics = {"metrics": [{"name": "toybench:error"}, {"name": "toybench:middle"}]}
    answers = [["4", "1"], ["1", "5"], ["9", "3"]]
    card = told(toys, answers, protocol={**metrics, "primary": "mae"})
    assert card.score("median", selection="best_of_2").value == statistics.median([1, 0, 1])
    assert card.score("median").value == statistics.fmean(
        [statistics.median([4, 0, 7]), statistics.median([1, 4, 1])]
    )


def test_each_mean_picks_its_own_best(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second metric that likes large errors: the primary's pick is not its pick."""
    import toybench.parts

    (value,) = toybench.parts.Middle.values
    liking = msgspec.structs.replace(value, aggregation="mean", higher_is_better=True)
    monkeypatch.setattr(toybench.parts.Middle, "values", (liking,))
    metrics = {"metrics": [{"name": "toybench:error"}, {"name": "toybench:middle"}]}
    card = told(toys, [["4", "1"], ["1", "5"]], protocol={**metrics, "primary": "mae"})
    assert card.score("mae", selection="best_of_2").value == statistics.fmean([1, 0])
    assert card.score("median", selection="best_of_2").value == statistics.fmean([4, 4])


def test_a_primary_without_a_number_a_sample_gives_no_best(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toybench.parts

    compute = toybench.parts.Middle.compute
    monkeypatch.setattr(
        toybench.parts.Middle, "compute",
        lambda self, s: {"median": None} if len(s["errors"]) < 2 else compute(self, s),
    )  # fmt: skip
    protocol = {"metrics": [{"name": "toybench:middle"}], "primary": "median"}
    card = told(toys, [["4", "1"], ["1", "5"]], protocol=protocol)
    found = card.score("median", selection="best_of_2")
    assert found.value is None
    assert found.reason == "median has no per-sample value to pick attempts by"
    assert card.score("median").value is not None


def test_an_interval_of_attempts_is_of_the_number_beside_it(toys: Path) -> None:
    """One attempt is always right and one never: their pooled squares are another number."""
    answers = [[str(n), str(n + 10)] for n in range(40)]
    card = told(toys, answers)
    rmse = card.score("rmse")
    assert rmse.value == pytest.approx(5.0)
    assert (rmse.ci95.low, rmse.ci95.high) == pytest.approx((5.0, 5.0))
    median = told(
        toys, answers, protocol={"metrics": [{"name": "toybench:middle"}], "primary": "median"}
    ).score("median")
    assert median.value == 5.0
    assert (median.ci95.low, median.ci95.high) == (5.0, 5.0)


def test_an_attempt_that_failed_by_infrastructure_is_in_no_number(toys: Path) -> None:
    card = told(toys, [["3", RuntimeError("down")], ["1", "1"]])
    assert card.score("mae").value == (3 + 0) / 2
    assert card.score("rmse").value == pytest.approx((math.sqrt(9 / 2) + 0) / 2)
    assert card.score("mae", selection="best_of_2").value == 1.5
    assert not card.complete


# --- intervals on cards -------------------------------------------------------------------


def test_groups_and_not_samples_are_resampled(toys: Path) -> None:
    answers = [str(n + n // 4) for n in range(48)]
    few = told(toys, answers, per_group=6).score("mae").ci95
    assert (few.low, few.reason, few.clusters) == (None, "8 groups, fewer than 10", 8)
    some = told(toys, answers, per_group=4).score("mae").ci95
    many = told(toys, answers, per_group=1).score("mae").ci95
    assert (some.clusters, many.clusters) == (12, 48)
    assert None not in (some.low, some.high, many.low, many.high)
    assert some.high - some.low > 1.5 * (many.high - many.low)  # type: ignore[operator]
    assert some.method == "expanded BCa bootstrap, clustered by group"


def test_counts_of_groups_add_up(toys: Path) -> None:
    card = told(
        toys, ["0", REFUSAL, RuntimeError("x"), "3", "4", "5"], bad=["s004"], no_target=["s005"]
    )
    counts = card.counts
    assert (counts.answered, counts.model_failure, counts.infrastructure, counts.data_fault) == (
        2, 1, 1, 2,
    )  # fmt: skip
    assert counts.not_run == 0
    assert sum(counts.statuses.values()) == counts.expected == 6
    assert counts.flags == {"round": 1}
    assert counts.failure_value == "toybench:fixed"


# --- bounds -------------------------------------------------------------------------------


def test_ceiling_and_floor_stand_on_the_card_and_are_runs_of_their_own(tmp_path: Path) -> None:
    for number in range(2):
        (card,) = vgen_eval.evaluate(
            tasks="samples/counting", model=["copy", "classical"][number], limit=6,
            output=str(tmp_path), attempts=2,
        )  # fmt: skip
        assert card.ceiling is not None
        assert card.floor is not None
        for bound, name in ((card.ceiling, "oracle"), (card.floor, "blind")):
            own = kit.strict((tmp_path / bound.run / "result_card.json").read_text())
            assert (bound.model, own["model"]) == (name, name)
            assert own["selection"]["samples"] == 6
            assert own["selection"]["attempts"] == 1
            (primary,) = [s for s in own["scores"] if (s["metric"], s["subset"]) == ("mae", "all")]
            assert bound.value == primary["value"]
    runs = sorted(p.parent.parent.parent.parent.name for p in tmp_path.rglob("run.json"))
    assert runs == ["blind", "classical", "copy", "oracle"]


def test_no_bounds_when_not_asked_for(tmp_path: Path) -> None:
    (card,) = vgen_eval.evaluate(
        tasks="samples/counting", model="copy", limit=3, output=str(tmp_path), bounds=False
    )
    assert (card.ceiling, card.floor) == (None, None)
    assert len(list(tmp_path.rglob("run.json"))) == 1


def test_a_form_without_an_encoder_has_no_ceiling(toys: Path) -> None:
    form = {"form": "video", "decoder": "toybench:anything"}
    task = kit.task(toys, protocol={"answers": [form]})
    card = kit.run(toys, tasks=task, model=lambda _: b"film", forms=["video"], bounds=True)
    assert card.complete
    assert card.ceiling is None
