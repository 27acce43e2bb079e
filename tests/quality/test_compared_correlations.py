"""Two runs whose value is a correlation, compared: rows change sides, resamples are weights."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from vgen_eval.cli import main
from vgen_eval.engine.importing import import_predictions
from vgen_eval.plugins import Catalog

CATALOG = Catalog.discover()
N = 10


def rows(seed: int, noise: float) -> tuple[Any, Any]:
    mos = np.linspace(10, 90, N)
    gap = mos / 10 + np.random.default_rng(seed).normal(0, noise, N)
    return mos, gap


def write(path: Path, seed: int, noise: float) -> Path:
    mos, gap = rows(seed, noise)
    path.write_text(
        "".join(
            json.dumps({"img_path": f"{at}", "gt_score": m, "logit_good": g, "logit_poor": 0.0})
            for at, (m, g) in enumerate(zip(mos.tolist(), gap.tolist(), strict=True))
        )
    )
    return path


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    found = []
    for name, seed, noise in (("first", 1, 1.0), ("second", 2, 6.0)):
        path = write(tmp_path / f"{name}.json", seed, noise)
        (card,) = import_predictions(
            task="quality/livec@qbench", predictions=path, model_name=name, catalog=CATALOG,
            output=str(tmp_path / "out"), format_name="qbench-raw",
        )  # fmt: skip
        found.append(str(tmp_path / "out" / card.run))
    return found


def test_the_difference_of_correlations_is_tested_by_exchanging_rows(
    runs: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    # the two files are other data to the harness, though their opinions are the same
    assert main(["compare", *runs, "--anyway", "--json"]) == 0
    (measure,) = json.loads(capfd.readouterr().out)["measures"]
    (part,) = measure["parts"]
    (pair,) = part["pairs"]
    (mos, one), (_, two) = rows(1, 1.0), rows(2, 6.0)

    def gap(exchanged: Any) -> float:
        mine, theirs = np.where(exchanged, one, two), np.where(exchanged, two, one)
        found = [stats.spearmanr(each, mos).statistic for each in (mine, theirs)]
        return float(found[0] - found[1])

    observed = gap(np.zeros(N, bool))
    assert pair["difference"] == pytest.approx(observed)
    every = [gap(np.array(which)) for which in itertools.product((False, True), repeat=N)]
    share = np.mean([abs(each) >= abs(observed) - 1e-12 for each in every])
    assert pair["test"]["exact"] is True
    assert pair["test"]["p_value"] == pytest.approx(share)
    assert pair["interval"]["low"] <= observed <= pair["interval"]["high"]


def test_a_run_is_read_again_under_other_temperatures(
    runs: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["score", runs[0], "--ablate", "temperature=100,1", "--metric", "plcc", "--json"]
    assert main(words) == 0
    assert '"temperature"' in capfd.readouterr().out
