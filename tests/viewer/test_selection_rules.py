"""Selection rules: what each takes, in what order, how it is told, and what it refuses."""

from __future__ import annotations

import random

import numpy as np
import pytest
from msgspec.structs import replace
from vgen_eval.errors import UsageError
from vgen_eval.viewer.records import SampleRow, key_of
from vgen_eval.viewer.selection import Candidates, choose, name_samples, parse

BETTER = {"iou": True, "error": False}


def run_of(label, numbers, *, primary="iou", names=(), **more):
    """A run of samples with one value each; `numbers`: id -> value, None for none."""
    rows = [
        SampleRow(
            run=key_of(label), key=key_of(name), id=name, group=name, at=at, status="ok",
            score=value, values={primary: value}, tags=more.get("tags", {}).get(name, {}),
        )
        for at, (name, value) in enumerate(numbers.items())
    ]  # fmt: skip
    return Candidates(
        label=label, names=names, primary=primary, directions=BETTER, rows=tuple(rows)
    )


IOUS = {"a": 0.1, "b": 0.9, "c": 0.5, "d": 0.3, "e": 0.5}
ONE = [run_of("qwen", IOUS)]


def refused(rule, runs=ONE, n=4):
    with pytest.raises(UsageError) as caught:
        choose(rule, runs, n)
    return f"{caught.value.what} | {caught.value.cure}"


def test_median_takes_the_nearest_first_and_ties_by_id():
    chosen = choose("median:iou", ONE, 4)
    assert chosen.ids == ("c", "e", "d", "a")  # .5, .5, then .2 away, and .4 away before b by id
    assert (
        chosen.words == "4 samples nearest the median iou (0.5) of qwen, of 5 samples; ties by id"
    )
    assert (chosen.n_considered, chosen.n_matched, chosen.seed) == (5, 5, None)


def test_the_median_of_an_even_number_lies_between_the_middle_two():
    chosen = choose("median:iou", [run_of("m", {"a": 0.0, "b": 1.0, "c": 4.0, "d": 9.0})], 1)
    assert chosen.ids == ("b",)
    assert "(2.5)" in chosen.words


@pytest.mark.parametrize("rule", ["worst:iou", "top:iou", "median:iou", "best-of:m"])
def test_where_all_are_equal_none_is_called_the_worst_or_the_best(rule):
    chosen = choose(rule, [run_of("m", dict.fromkeys("bca", 1.0))], 2)
    assert chosen.ids == ("a", "b")
    assert chosen.words == "2 samples, first by id: iou of m is 1 on all, of 3 samples"


def test_top_and_worst_follow_the_better_direction():
    assert choose("top:iou", ONE, 2).ids == ("b", "c")
    assert choose("worst:iou", ONE, 2).ids == ("a", "d")
    lower = [run_of("m", IOUS, primary="error")]
    assert choose("top:error", lower, 2).ids == ("a", "d")
    assert choose("worst:error", lower, 1).ids == ("b",)


@pytest.mark.parametrize("primary", ["iou", "error"])
@pytest.mark.parametrize("q", [0.0, 0.3, 0.5, 0.9, 1.0])
def test_top_with_a_quantile_takes_those_at_or_better_than_it(primary, q):
    draw = random.Random(3)
    numbers = {f"s{k:02}": draw.random() for k in range(37)}
    values = np.array(list(numbers.values()))
    if primary == "iou":
        wanted = {name for name, v in numbers.items() if v >= np.quantile(values, q) - 1e-12}
    else:
        wanted = {name for name, v in numbers.items() if v <= np.quantile(values, 1 - q) + 1e-12}
    chosen = choose(f"top:{primary}:q={q}", [run_of("m", numbers, primary=primary)], 99)
    assert set(chosen.ids) == wanted
    assert list(chosen.ids) == sorted(wanted, key=numbers.get, reverse=primary == "iou")


def test_primary_is_the_metric_that_ranks():
    assert choose("worst:primary", ONE, 1).ids == choose("worst:iou", ONE, 1).ids
    assert "worst iou of qwen" in choose("worst:primary", ONE, 1).words


FIRST = run_of(
    "qwen-edit",
    {"a": 0.1, "b": 0.9, "c": 0.5, "d": 0.7},
    tags={"a": {"class": "cup"}, "b": {"class": "cup"}, "c": {"class": "dog"}},
)
SECOND = run_of("mari-gold", {"a": 0.0, "b": 0.8, "c": 0.1, "d": 0.9}, names=("acme:mari-gold",))


def test_advantage_takes_where_the_first_is_ahead_the_farthest():
    chosen = choose("advantage:qwen-edit-mari-gold", [FIRST, SECOND], 4)
    assert chosen.ids == ("c", "a", "b")  # d: behind
    assert chosen.numbers == pytest.approx((0.4, 0.1, 0.1))
    assert choose("advantage:acme:mari-gold-qwen-edit", [FIRST, SECOND], 4).ids == ("d",)


def test_advantage_above_the_median_leaves_out_where_the_first_is_poor():
    chosen = choose("advantage:qwen-edit-mari-gold:above-median", [FIRST, SECOND], 4)
    assert chosen.ids == ("b",)
    assert "qwen-edit at its median (0.6) or better" in chosen.words


def test_per_tag_takes_one_a_value_and_none_without_the_tag():
    rule = "advantage:qwen-edit-mari-gold:per-tag=class"
    assert choose(rule, [FIRST, SECOND], 4).ids == ("c", "a")
    assert "one for each class" in choose(rule, [FIRST, SECOND], 4).words
    assert choose("worst:iou:per-tag=class", [FIRST], 4).ids == ("a", "c")


def test_advantage_where_lower_is_better_is_the_smaller_value():
    first = run_of("p", {"a": 1.0, "b": 5.0}, primary="error")
    second = run_of("q", {"a": 4.0, "b": 4.0}, primary="error")
    assert choose("advantage:p-q", [first, second], 3).ids == ("a",)


@pytest.mark.parametrize(
    ("rule", "ids"),
    [
        ("iou<=.5", ("a", "c", "d", "e")), ("iou<0.5", ("a", "d")), ("iou > .5", ("b",)),
        ("iou>=0.5", ("b", "c", "e")), ("iou=.9", ("b",)), ("primary=.9", ("b",)),
    ],
)  # fmt: skip
def test_comparisons_take_what_holds_by_id(rule, ids):
    chosen = choose(rule, ONE, 9)
    assert chosen.ids == ids
    assert chosen.n_matched == len(ids)
    assert choose(rule, ONE, 1).ids == ids[:1]


def test_best_of_is_one_models_best():
    assert choose("best-of:mari-gold", [FIRST, SECOND], 2).ids == ("d", "b")


def test_random_is_the_same_for_a_seed_nested_and_blind_to_the_order_of_runs():
    numbers = {f"s{k}": 0.5 for k in range(50)}
    backwards = dict(reversed(numbers.items()))
    few = choose("random:7", [run_of("m", numbers)], 4)
    assert few.ids == choose("random:7", [run_of("m", backwards)], 4).ids
    assert choose("random:7", [run_of("m", numbers)], 12).ids[:4] == few.ids
    assert choose("random:8", [run_of("m", numbers)], 4).ids != few.ids
    assert few.seed == 7
    assert few.words == "4 samples drawn at random (seed 7), of 50 samples"


def test_decides_takes_where_the_runs_are_farthest_apart():
    third = run_of("z", {"a": 0.9, "b": 0.9, "c": 0.5, "d": 0.7})
    chosen = choose("decides", [FIRST, SECOND, third], 2)
    assert chosen.ids == ("a", "c")
    assert chosen.numbers == pytest.approx((0.9, 0.4))
    assert "needs" not in refused("decides", [FIRST])
    assert "one run decides no ranking" in refused("decides", [FIRST])


def test_only_samples_that_every_run_has_tried_are_looked_at():
    part = run_of("z", {"a": 0.2, "b": None, "x": 1.0})
    chosen = choose("random:1", [FIRST, part], 9)
    assert sorted(chosen.ids) == ["a", "b"]
    assert chosen.n_considered == 2
    # b has no number there: it is compared with none
    assert choose("decides", [FIRST, part], 9).ids == ("a",)


def test_metric_at_model_is_of_another_run():
    assert choose("worst:iou@acme:mari-gold", [FIRST, SECOND], 1).ids == ("a",)
    assert choose("top:iou@mari-gold", [FIRST, SECOND], 1).ids == ("d",)
    assert choose("iou@mari-gold>.85", [FIRST, SECOND], 9).ids == ("d",)


def test_a_metric_whose_name_holds_an_at_is_itself():
    run = run_of("m", {"a": 1.0, "b": 0.0}, primary="ap@50")
    assert choose("ap@50<=.5", [run], 3).ids == ("b",)


def test_ids_are_shown_in_the_order_given_each_once():
    assert name_samples(["e", "a", "e"], ONE).ids == ("e", "a")
    assert choose("ids:e,a", ONE, 1).ids == ("e", "a")
    odd = [run_of("m", {"a,b": 1.0, "a": 0.0})]
    assert choose("ids:a,b", odd, 1).ids == ("a,b",)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("medan:iou", ("no rule 'medan:iou'", "Nearest: median", "median:METRIC")),
        ("median", ("is missing", "median:METRIC")),
        ("median:iuo", ("qwen has no value 'iuo'", "Nearest: iou", "primary")),
        ("iuo<=2", ("qwen has no value 'iuo'", "Nearest: iou")),
        ("iou<=two", ("'two' is no number",)),
        ("iou>.95", ("finds none of 5 samples", "iou of qwen is 0.1 to 0.9")),
        ("best-of:qwin", ("no run of a model 'qwin'", "Nearest: qwen")),
        ("best-of:", ("is missing", "best-of:MODEL")),
        ("top:iou:quantile=.9", ("no option 'quantile=.9'",)),
        ("top:iou:q=.9:q=.1", ("'q' is said twice", "top:METRIC")),
        ("top:iou:q=9", ("q is a part of 1",)),
        ("top:iou:q=", ("says nothing",)),
        ("random:x", ("'x' is no seed", "random:7")),
        ("ids:f", ("no sample 'f'", "5 samples")),
        ("worst:iou:per-tag=class", ("no sample has the tag 'class'", "have no tags")),
        ("median:iou@qwan", ("no run of a model 'qwan'", "Nearest: qwen")),
        ("advantage:qwen", ("no pair of models",)),
        ("advantage:qwen-flux", ("no run of a model 'flux'",)),
        ("advantage:qwen-qwen", ("both are one run",)),
        ("", ("no rule ''",)),
    ],
)
def test_what_cannot_be_is_refused_with_the_nearest_and_a_cure(rule, words):
    said = refused(rule)
    assert all(word in said for word in words), said


def test_a_model_of_two_runs_is_ambiguous():
    runs = [run_of("m one", IOUS, names=("m",)), run_of("m two", IOUS, names=("m",))]
    assert "'m' is 2 of these runs | one of: m one, m two" in refused("best-of:m", runs)
    assert choose("best-of:m two", runs, 1).ids == ("b",)


def test_a_value_of_unknown_direction_has_no_top():
    run = run_of("m", {"a": 1.0, "b": 2.0}, primary="spread")
    assert "whether more of spread is better is not known" in refused("top:spread", [run])
    assert choose("median:spread", [run], 2).ids == ("a", "b")


def test_a_metric_of_no_single_sample_names_those_that_are():
    run = run_of("m", {"a": None, "b": None})
    assert refused("median:iou", [run]) == (
        "--select median:iou: iou says nothing of single samples of m | "
        "no value is of single samples: random:SEED"
    )
    rows = (replace(row, values={"iou": None, "krcc": None, "mae": 1.0}) for row in run.rows)
    mixed = [replace(run, rows=tuple(rows))]
    for rule in ("median:iou", "median:krcc", "worst:primary", "median:nothing"):
        assert refused(rule, mixed).endswith("| one of: mae")
    assert choose("median:mae", mixed, 1).ids == ("a",)


def test_a_name_that_is_none_is_told_some_that_are():
    assert "there are 5 samples, such as a, b, c" in refused("ids:q")
    assert "there are 2 samples: a, b" in refused("ids:q", [run_of("m", {"a": 1.0, "b": 2.0})])


def test_runs_without_a_common_sample_are_refused():
    assert "no sample that every run has tried" in refused(
        "random:1", [FIRST, run_of("z", {"q": 1.0})]
    )


def test_a_sample_without_a_line_is_not_looked_at():
    rows = [
        SampleRow(run="r", key="k", id=name, group=name, at=0, status=status, score=score)
        for name, status, score in (("a", "not_run", None), ("b", "refused", 0.0))
    ]
    run = Candidates(label="m", primary="iou", directions=BETTER, rows=tuple(rows))
    assert choose("random:1", [run], 9).ids == ("b",)
    assert choose("worst:primary", [run], 9).ids == ("b",)


def test_the_rule_is_kept_as_given():
    assert choose(" iou <= .5 ", ONE, 1).rule == "iou <= .5"
    assert parse("top:iou:q=.9").quantile == 0.9
