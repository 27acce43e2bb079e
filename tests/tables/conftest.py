"""Real runs of the samples, made once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import vgen_eval
from tablekit import find
from vgen_eval.results.reading import Run

COUNTING, SEMANTIC, REFERRING = "samples/counting", "samples/semantic", "samples/referring"


def seven(_request: Any) -> str:
    return "7"


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Oracle, classical and blind by pictures; one model that answers in words."""
    folder = tmp_path_factory.mktemp("results")
    vgen_eval.evaluate(
        tasks=[COUNTING, SEMANTIC, REFERRING], models=["oracle", "classical", "blind"],
        output=str(folder),
    )  # fmt: skip
    vgen_eval.evaluate(
        tasks=COUNTING, model=seven, forms=["text"], model_name="seven", bounds=False,
        output=str(folder),
    )  # fmt: skip
    return folder


@pytest.fixture(scope="session")
def variants(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One model, asked in several ways; three attempts, too."""
    folder = tmp_path_factory.mktemp("variants")
    ways: list[dict[str, Any]] = [
        {}, {"prompt": "short"}, {"limit": 5}, {"set": {"generation.seed": 1}}, {"attempts": 3},
    ]  # fmt: skip
    for way in ways:
        vgen_eval.evaluate(
            tasks=COUNTING, model="classical", bounds=False, output=str(folder), **way
        )
    return folder


@pytest.fixture
def counting(results: Path) -> Run:
    """The classical model's run of the counting task."""
    (run,) = find(results, task=COUNTING, model="classical")
    return run
