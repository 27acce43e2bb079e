"""Kept answers read under several values of one choice: the numbers of runs made so, and ranks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kit
import numpy as np
import pytest
import scipy.stats
import vgen_eval
from vgen_eval.cli import main
from vgen_eval.engine.ablation import read_variants, resolve_key
from vgen_eval.engine.rescore import reopen
from vgen_eval.errors import NotRunnable, UsageError
from vgen_eval.plugins import Catalog
from vgen_eval.results.comparing import compare, rank_moves
from vgen_eval.statistics import kendall_tau, ranks

FITS = ["disparity_lsq_clamped", "depth_lsq"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Runs of the built-in depth samples, by model."""
    out = tmp_path_factory.mktemp("runs")
    return {
        model: out / vgen_eval.evaluate(
            tasks="samples/depth", model=model, output=str(out), bounds=False
        )[0].run
        for model in ("classical", "blind", "copy")
    }  # fmt: skip


def read(path: Path, key: str, values: list[Any]) -> list[Any]:
    (row,) = read_variants([path], Catalog.discover(), key=key, values=values)
    return row


def test_each_reading_is_what_a_run_under_it_gives(runs, tmp_path):
    for fit, reading in zip(FITS, read(runs["classical"], "fit", FITS), strict=True):
        (card,) = vgen_eval.evaluate(
            tasks="samples/depth", model="classical", output=str(tmp_path), bounds=False,
            set={"protocol.metrics.0.options.fit": fit},
        )  # fmt: skip
        value = reading.job.task.primary
        found = compare(reading.summary, value, reading.summary, value)
        assert found.value == card.score().value
        assert found.difference == 0


def test_protocols_of_the_task_may_be_compared(runs):
    one, other = read(runs["classical"], "protocol", ["standard", "depth_space"])
    assert (one.job.task.ref.protocol, other.job.task.ref.protocol) == ("standard", "depth_space")


def test_the_run_stays_as_it_was(runs):
    folder = runs["classical"]
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    read(folder, "fit", FITS)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_a_difference_is_that_of_the_samples_and_its_interval_is_paired(toys):
    rule = {"tuned": {"form": "text", "prompt": {"mid": "?"}, "decoder": "toybench:shifted"}}
    path = kit.task(toys, n=40, protocol={"answers": [rule["tuned"]]})
    card = kit.run(toys, tasks=path, model=kit.model(toys, off=3))
    base, other = read(kit.run_folder(toys, card), "shift", [3, 4])
    value = base.job.task.primary
    found = compare(base.summary, value, other.summary, value)
    assert (found.value, found.difference, found.n) == (1.0, 1.0, 40)
    assert (found.interval.low, found.interval.high) == (1.0, 1.0)  # each sample is one worse
    rmse = base.job.task.metrics[0].values[1]
    pooled = compare(base.summary, rmse, other.summary, rmse)
    assert pooled.difference == 1.0
    assert pooled.interval.clusters == 40


def test_only_samples_that_both_have_scored_are_compared(toys):
    answer = {"form": "text", "prompt": {"mid": "?"}, "decoder": "toybench:number"}
    path = kit.task(toys, n=12, protocol={"answers": [answer], "failure_value": "skip"})
    card = kit.run(toys, tasks=path, model=kit.model(toys))
    base, other = read(
        kit.run_folder(toys, card), "decoder", ["toybench:number", "toybench:odd_only"]
    )
    value = base.job.task.primary
    assert compare(base.summary, value, other.summary, value).n == 7  # 0 and the odd ones


def test_names_are_found_where_they_stand(runs, toys):
    job = reopen(runs["classical"], Catalog.discover())
    assert resolve_key("fit", job) == "metrics.0.options.fit"
    assert resolve_key("weights", job) == "answers.0.options.weights"
    assert resolve_key("reencode", job) == "answers.0.reencode"
    assert resolve_key("failure_value", job) == "failure_value"
    assert resolve_key("protocol.metrics.1.options.fit", job) == "metrics.1.options.fit"
    with pytest.raises(UsageError, match=r"is called 'weigths'.* Nearest: weights"):
        resolve_key("weigths", job)


@pytest.mark.parametrize(
    ("key", "values", "words"),
    [
        ("fit", ["depth_lsq", "nothing"], "nothing"),
        ("protocol", ["standard", "standrad"], "no protocol 'standrad'"),
    ],
)
def test_a_value_that_the_card_refuses_ends_it_before_anything_is_read(runs, key, values, words):
    with pytest.raises(UsageError, match=words):
        read(runs["classical"], key, values)


def test_answers_that_were_not_kept_cannot_be_read_again(tmp_path):
    (card,) = vgen_eval.evaluate(
        tasks="samples/depth", model="classical", output=str(tmp_path), keep="none", bounds=False
    )
    with pytest.raises(NotRunnable, match="10 answers were not kept"):
        read(tmp_path / card.run, "fit", FITS)


def test_places_share_the_mean_of_ties_and_know_their_direction():
    assert ranks([0.5, 0.9, 0.5, 0.1], higher_is_better=True) == [2.5, 1, 2.5, 4]
    assert ranks([0.5, 0.9, 0.5, 0.1], higher_is_better=False) == [2.5, 4, 2.5, 1]


@pytest.mark.parametrize("seed", range(5))
def test_tau_is_that_of_scipy(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 5, 12).tolist(), rng.integers(0, 5, 12).tolist()
    wanted = scipy.stats.kendalltau(x, y).statistic
    assert kendall_tau(x, y) == pytest.approx(wanted, abs=1e-12)
    assert kendall_tau([1, 1], [1, 2]) is None


def test_moves_name_the_pairs_that_turned_round():
    found = rank_moves([1, 2, 3], [2, 1, 3])
    assert (found.largest, found.swapped) == (1, ((0, 1),))
    assert found.tau == pytest.approx(1 / 3)


def test_the_command_prints_a_table_and_a_document(runs, capsys):
    words = ["score", *map(str, runs.values()), "--ablate", "fit=disparity_lsq_clamped,depth_lsq"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "order of 3 runs, samples/depth@standard" in text
    assert max(map(len, text.splitlines())) <= 100
    assert main([*words, "--metric", "absrel", "--json"]) == 0
    record = json.loads(capsys.readouterr().out, parse_constant=lambda _: pytest.fail("no JSON"))
    assert (record["key"], record["values"]) == ("fit", FITS)
    assert [row["values"][0]["metric"] for row in record["runs"]] == ["absrel"] * 3
    assert len(record["ranking"][0]["places"]) == 2


@pytest.mark.parametrize(
    "words",
    [
        ["--ablate", "fit=depth_lsq"],
        ["--ablate", "fit"],
        ["--ablate", "fit=depth_lsq,depth_lsq"],
        ["--ablate", "fit=depth_lsq,midas", "--task", "samples/depth"],
        ["--metric", "absrel"],
    ],
)
def test_words_that_mean_nothing_are_refused(runs, words, capsys):
    assert main(["score", str(runs["blind"]), *words]) == 2
    assert "error:" in capsys.readouterr().err
