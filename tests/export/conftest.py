"""Real runs of the samples tasks, made once, and copies of them to spoil."""

from __future__ import annotations

from pathlib import Path

import pytest
import vgen_eval
from exportkit import Copied, copy_run, counter, runs_of
from vgen_eval.engine.rescore import rescore
from vgen_eval.plugins import Catalog


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """oracle, classical and blind on three tasks; `counter` on one, twice a sample."""
    folder = tmp_path_factory.mktemp("export") / "results"
    vgen_eval.evaluate(
        tasks=["samples/depth", "samples/referring", "samples/counting"],
        models=["oracle", "classical", "blind"],
        output=folder,
    )
    vgen_eval.evaluate(
        tasks="samples/counting", model=counter, model_name="counter", forms=["text"], bounds=False,
        output=folder, set={"limits.tries": 1}, attempts=2,
    )  # fmt: skip
    return folder


@pytest.fixture
def copied(results: Path, tmp_path: Path) -> Copied:
    """Copies the one run of a model and a task."""

    def copy(model: str, task: str, name: str = "copy") -> Path:
        (run,) = runs_of(results, model, task)
        return copy_run(run, tmp_path / name)

    return copy


@pytest.fixture
def halted(copied: Copied) -> Path:
    """A run of which four attempts were never made."""
    run = copied("classical", "counting", "halted")
    journal = run / "predictions.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:9]))
    card = rescore(run, Catalog.discover())
    assert card is not None
    assert card.counts.not_run == 4
    return run
